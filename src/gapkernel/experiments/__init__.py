"""Studies over data sets, gaps and methods: tasks, a store, statistics, and the papers' experiments."""

from gapkernel.experiments.running import run
from gapkernel.experiments.statistics import FriedmanNemenyi, PairedTest, cell_tests, friedman_nemenyi, paired_test
from gapkernel.experiments.store import Store
from gapkernel.experiments.tasks import Study, Task

__all__ = [
    "FriedmanNemenyi",
    "PairedTest",
    "Store",
    "Study",
    "Task",
    "cell_tests",
    "friedman_nemenyi",
    "paired_test",
    "run",
]
