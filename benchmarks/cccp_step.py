"""The hinge of CCCPClassifier: how near the minimum its solvers come, and in what time."""

import time
import warnings

import numpy as np
from cccp import erased, usps
from measure import console, report
from threadpoolctl import threadpool_limits

from gapkernel.papers.missing_variables import CCCP, LBFGS, CCCPClassifier
from gapkernel.papers.missing_variables.completion_features import FeatureBlocks
from gapkernel.papers.missing_variables.losses import Labels, Margin
from gapkernel.papers.missing_variables.objective import IncompleteProblem

ROWS = 400
MINIMA = {1.0: 97.31583, 10.0: 10.49762}
"""For each C the lowest objective that any method ever reached, by a bundle method that knows its distance to it."""

SOLVERS = {"CCCP(), the default": CCCP(), "LBFGS()": LBFGS(), "LBFGS(1e-6)": LBFGS(1e-6), "LBFGS(1e-7)": LBFGS(1e-7)}

NOTES = """
{} of the USPS training images, up to 64 of 256 pixels erased, ten classes, 50 completions of an image, a basis function
for each. The objective is the hinge's; all solvers approach it by smooth losses. "Above" is the share by which it is
above the lowest value known. Before, CCCP had a bundle method for the hinge, which was to be within 1e-3 by default: it
came to 4.7e-4 in 6.2 s (C = 1) and 5.4e-4 in 16.3 s (C = 10) on this machine. Processor time of one thread, without
the density and the completions.
"""


def problem_of(X, y, C):
    """What `CCCPClassifier(loss="svm")` solves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one iteration is few
        model = CCCPClassifier(loss="svm", C=C, solver=LBFGS(max_iter=1), random_state=0).fit(X, y)
    blocks = FeatureBlocks(model.table_of(X), model.completions_, model._features)
    known = Labels(y[:, None] == model.classes_, np.ones(len(y)), np.zeros(len(y)))
    labels = [known[rows] for rows in blocks.slices]
    return IncompleteProblem(blocks, labels, Margin(), 1.0 / C, (len(model.classes_), model._features.size))


@threadpool_limits.wrap(limits=1)
def run():
    """Measure and write the table."""
    X, y, _, _ = usps()
    rows = np.random.default_rng(0).permutation(len(X))[:ROWS]
    gaps, lines = erased(X[rows], 64, np.random.default_rng(0)), []
    for C, lowest in MINIMA.items():
        problem = problem_of(gaps, y[rows], C)
        for name, solver in SOLVERS.items():
            begin = time.process_time()
            solution = solver.minimise(problem, np.zeros(problem.shape), watch=lambda *_: None, random=None)
            seconds, value = time.process_time() - begin, solution.objective[-1]
            above = f"{value / lowest - 1:.1e}"
            lines.append((f"{C:g}", name, f"{value:.5f}", above, str(solution.n_iter), f"{seconds:.1f} s"))
            console.print(lines[-1])
    header = ("C", "solver", "objective", "above", "iterations", "processor time")
    report("cccp_step", "The hinge of CCCPClassifier", header, lines, NOTES.format(ROWS))
