"""Studies over data sets, gaps and methods: what is tried, how it is scored, a store that goes on where it stopped."""

from gapkernel.studies.grid import PAPER_GRID, QUICK_GRID, Grid, powers_of_two, table_grid
from gapkernel.studies.method import (
    EM_TOLERANCE,
    FilledMethod,
    KernelMethod,
    MadeMethod,
    Method,
    Metric,
    PreparedMethod,
    answers_on_complete_rows,
    with_probabilities,
)
from gapkernel.studies.methods import METHODS, Choice, choose, on_laws, try_out
from gapkernel.studies.protocol import NestedCV, Protocol, fold_of, folds, nested, remove_by_row
from gapkernel.studies.running import duration, run
from gapkernel.studies.statistics import AllPairs, PairedTest, all_pairs, cell_tests, paired_test, sign_flip_pvalue
from gapkernel.studies.store import Store, versions
from gapkernel.studies.tasks import Study, Task, rounds_of, tasks_of

__all__ = [
    "EM_TOLERANCE",
    "METHODS",
    "PAPER_GRID",
    "QUICK_GRID",
    "AllPairs",
    "Choice",
    "FilledMethod",
    "Grid",
    "KernelMethod",
    "MadeMethod",
    "Method",
    "Metric",
    "NestedCV",
    "PairedTest",
    "PreparedMethod",
    "Protocol",
    "Store",
    "Study",
    "Task",
    "all_pairs",
    "answers_on_complete_rows",
    "cell_tests",
    "choose",
    "duration",
    "fold_of",
    "folds",
    "nested",
    "on_laws",
    "paired_test",
    "powers_of_two",
    "remove_by_row",
    "rounds_of",
    "run",
    "sign_flip_pvalue",
    "table_grid",
    "tasks_of",
    "try_out",
    "versions",
    "with_probabilities",
]
