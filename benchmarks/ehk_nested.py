"""EHK_alpha on the paper's data, C and alpha (and epsilon) chosen inside the training folds only."""

import numpy as np
from datasets import FOLDER
from measure import report

from gapkernel.papers.kernel_extension.experiment import WIDE
from gapkernel.papers.kernel_extension.table2 import REGRESSION, NestedGridCV
from gapkernel.studies import tasks_of

PAPER = {"servo": 0.321, "horse_colic_24": 15.47, "horse_colic_23": 27.54, "credit_crx": 12.54}


def nested(name, repeats, n_folds=10):
    """Error in per cent over the outer folds; for servo the root mean square error over that of the mean, by fold."""
    protocol = NestedGridCV(grids=WIDE, n_folds=n_folds, data_dir=str(FOLDER))
    found = [
        protocol(task)
        for task in tasks_of(dataset=[name], method=["ehk_alpha"], repeat=range(repeats), fold=range(n_folds))
    ]
    losses = [one["loss"] for one in found]
    return np.mean(losses) if name in REGRESSION else 100 * np.average(losses, weights=[one["rows"] for one in found])


def run():
    """Measure and write the table."""
    lines = []
    for name, paper in PAPER.items():
        value, digits = (nested(name, 3), 3) if name in REGRESSION else (nested(name, 1), 2)
        lines.append((name, f"{value:.{digits}f}", f"{paper:.{digits}f}"))
        print(*lines[-1], flush=True)
    report(
        "ehk_nested",
        "EHK_alpha, nested cross-validation",
        ("data", "nested error", "paper, best of the grid"),
        lines,
        "Error in %. For servo the root mean square error over that of the mean, averaged over folds and three "
        "repeats. Ten outer folds; C and alpha, for servo also epsilon, chosen by five inner folds. The paper reports "
        "the best cell of its grid, which is optimistic. For servo, errors pooled over the folds under one root, with "
        "narrower grids, gave 0.392 to 0.416; the paper speaks of the mean over folds.",
    )


if __name__ == "__main__":
    run()
