"""Studies over data sets, gaps and candidates: what is tried, how it is scored, and a store from which they go on."""

from gapkernel.estimators.candidate import (
    Candidate,
    Grid,
    Metric as Metric,
    answers_on_complete_rows as answers_on_complete_rows,
    from_grid as from_grid,
)
from gapkernel.studies.candidates import (
    CANDIDATES,
    EM_TOLERANCE as EM_TOLERANCE,
    PAPER_GRID as PAPER_GRID,
    QUICK_GRID as QUICK_GRID,
    on_filled as on_filled,
    on_laws as on_laws,
    powers_of_two as powers_of_two,
    table_grid as table_grid,
)
from gapkernel.studies.protocol import (
    Choice as Choice,
    NestedCV,
    Protocol,
    choose,
    fold_of as fold_of,
    folds as folds,
    nested as nested,
    remove_by_row as remove_by_row,
    try_out as try_out,
)
from gapkernel.studies.statistics import (
    AllPairs as AllPairs,
    FriedmanNemenyi as FriedmanNemenyi,
    all_pairs as all_pairs,
    cell_tests,
    friedman_nemenyi,
    paired_test,
    sign_flip_pvalue as sign_flip_pvalue,
)
from gapkernel.studies.store import Store, duration as duration, run, versions as versions
from gapkernel.studies.study import Study, Task, rounds_of as rounds_of, tasks_of

__all__ = [
    "CANDIDATES",
    "Candidate",
    "Grid",
    "NestedCV",
    "Protocol",
    "Store",
    "Study",
    "Task",
    "cell_tests",
    "choose",
    "friedman_nemenyi",
    "paired_test",
    "run",
    "tasks_of",
]
