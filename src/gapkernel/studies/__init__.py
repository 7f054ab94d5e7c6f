"""Studies over data sets, gaps and methods: what is tried, how it is scored, a store that goes on where it stopped."""

from gapkernel.studies.grid import PAPER_GRID, QUICK_GRID, Grid, powers_of_two as powers_of_two, table_grid
from gapkernel.studies.method import (
    EM_TOLERANCE as EM_TOLERANCE,
    FilledMethod as FilledMethod,
    KernelMethod as KernelMethod,
    MadeMethod as MadeMethod,
    Method,
    Metric as Metric,
    PreparedMethod as PreparedMethod,
    answers_on_complete_rows as answers_on_complete_rows,
    with_probabilities as with_probabilities,
)
from gapkernel.studies.methods import METHODS, Choice, choose, on_laws as on_laws, try_out as try_out
from gapkernel.studies.protocol import (
    NestedCV,
    Protocol,
    fold_of as fold_of,
    folds,
    nested,
    remove_by_row as remove_by_row,
)
from gapkernel.studies.running import duration as duration, run
from gapkernel.studies.statistics import (
    AllPairs,
    PairedTest,
    all_pairs,
    cell_tests,
    paired_test,
    sign_flip_pvalue as sign_flip_pvalue,
)
from gapkernel.studies.store import Store, versions as versions
from gapkernel.studies.tasks import Study, Task, rounds_of, tasks_of

__all__ = [
    "METHODS",
    "PAPER_GRID",
    "QUICK_GRID",
    "AllPairs",
    "Choice",
    "Grid",
    "Method",
    "NestedCV",
    "PairedTest",
    "Protocol",
    "Store",
    "Study",
    "Task",
    "all_pairs",
    "cell_tests",
    "choose",
    "folds",
    "nested",
    "paired_test",
    "rounds_of",
    "run",
    "table_grid",
    "tasks_of",
]
