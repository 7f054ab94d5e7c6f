"""The CCCP procedure for the hinge: where it begins, planes that are carried on or cut anew, and no planes at all."""

import time
import warnings

import numpy as np
from cccp import erased, usps
from measure import console, report
from threadpoolctl import threadpool_limits

from gapkernel.papers.missing_variables import CCCPClassifier, procedure
from gapkernel.papers.missing_variables.bundle import Bundle
from gapkernel.papers.missing_variables.cccp_classifier import HINGE_TOL
from gapkernel.papers.missing_variables.completion_features import FeatureBlocks
from gapkernel.papers.missing_variables.losses import Labels, Margin
from gapkernel.papers.missing_variables.objective import IncompleteProblem

ROWS, CS, TOL = 400, (1.0, 10.0), 1e-5

NOTES = """
{} of the USPS training images, up to 64 of 256 pixels erased, ten classes, 50 completions of an image, a basis function
for each; tol = {:g}, by default {:g}. "procedure" is solver="cccp", whose bundle method says how far from the minimum a
step ends. It begins at the minimum of a hinge smoothed by T = {:g}, or at that of the smoothest, T = {:g}. Planes are
carried on from step to step, or all cut anew in each. "smooth losses" is solver="lbfgs", which cannot say how far it is
from the minimum. The objective is the hinge's. Processor time of one thread, with the start, without the density and
the completions.
"""


class Anew(Bundle):
    """Planes that do not outlive a step."""

    def __init__(self, problem):
        super().__init__(problem)
        self._lasting = False


def problem_of(X, y, C):
    """What `CCCPClassifier(loss="svm")` solves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one iteration is few
        model = CCCPClassifier(loss="svm", C=C, solver="lbfgs", max_iter=1, random_state=0).fit(X, y)
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
    solvers = {
        "procedure, by default": ("cccp", "cccp", Bundle, HINGE_TOL),
        "procedure": ("cccp", "cccp", Bundle, TOL),
        "procedure, planes anew": ("cccp", "cccp", Anew, TOL),
        "procedure from the smoothest": ("cccp", "lbfgs", Bundle, TOL),
        "procedure from the smoothest, planes anew": ("cccp", "lbfgs", Anew, TOL),
        "smooth losses": ("lbfgs", "lbfgs", Bundle, TOL),
    }
    limits = {"max_iter": 1000, "watch": lambda *_: None}
    for C in CS:
        problem = problem_of(gaps, y[rows], C)
        for name, (solver, start, bundle, tol) in solvers.items():
            procedure.Bundle = bundle
            solve = procedure.solve_cccp if solver == "cccp" else procedure.solve_lbfgs
            begin = time.process_time()
            theta = procedure.starting_point(problem, start, **limits, tol=tol)
            solution = solve(problem, theta, **limits, tol=tol)
            seconds = time.process_time() - begin
            lines.append((f"{C:g}", name, f"{solution.objective[-1]:.5f}", str(solution.n_iter), f"{seconds:.1f} s"))
            console.print(lines[-1])
    procedure.Bundle = Bundle
    header = ("C", "solver", "objective", "iterations", "processor time")
    notes = NOTES.format(ROWS, TOL, HINGE_TOL, procedure.NEAR_HINGE, procedure.TEMPERATURES[0])
    report("cccp_step", "The CCCP procedure for the hinge", header, lines, notes)
