"""No call runs for ever: libsvm stops with a warning, and Ctrl-C gets through to it."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import gapkernel as gk
from gapkernel.compute.runtime.threads import interruptible
from gapkernel.papers.genrbf import GeometricMarginSVC

random = np.random.default_rng(0)
X = 1e5 * random.normal(size=(12, 3))
Y = random.integers(0, 2, 12)


@pytest.mark.parametrize("estimator", [gk.SVC(kernel="linear"), GeometricMarginSVC(max_iter=2)], ids=type)
def test_columns_in_large_units_end_with_a_warning(estimator):
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        estimator.fit(X, Y)


@pytest.mark.parametrize("estimator", [gk.SVC, gk.SVR, gk.OneClassSVM, gk.SVCCV, gk.SVRCV])
def test_there_is_a_limit_by_default(estimator):
    assert estimator().max_iter == 10_000_000


@pytest.mark.parametrize("estimator", [gk.SVC(C=np.inf), gk.SVR(C=np.inf), gk.SVCCV(Cs=[1, np.inf])], ids=str)
def test_an_infinite_penalty_is_refused(estimator):
    with pytest.raises(ValueError, match="C must be finite"):
        estimator.fit(X, Y)


@pytest.mark.parametrize("estimator", [gk.SVC(), gk.SVR(), gk.KernelRidge(), gk.OneClassSVM()], ids=str)
def test_huge_weights_are_refused(estimator):
    with pytest.raises(ValueError, match=r"sample_weight sums to .*, too extreme to square: divide the weights"):
        estimator.fit(X / 1e5, Y, sample_weight=np.full(12, 1e299))


def test_an_interrupt_reaches_a_solver_that_does_not_look_for_it():
    script = """
        import signal, numpy as np, gapkernel as gk
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background may not have
        random = np.random.default_rng(0)
        X, y = 1e7 * random.normal(size=(100, 3)), random.integers(0, 2, 100)
        model = gk.SVC(kernel="linear", max_iter=-1).fit(1e-7 * X, y)  # compiles, which can swallow an interrupt
        print("begin", flush=True)
        model.fit(X, y)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        try:
            _, told = process.communicate(timeout=60)
        finally:
            process.kill()
    assert told.strip().endswith("KeyboardInterrupt")


def test_what_the_work_returns_and_raises_comes_back():
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
