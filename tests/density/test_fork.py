"""A density can be fitted in a process that was forked after scikit-learn had started its threads."""

import os
import subprocess
import sys
import textwrap

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_mixture_is_fitted_after_a_fork():
    script = """
        import os, warnings
        import numpy as np
        from sklearn.cluster import KMeans
        from gapkernel.density import GaussianMixture

        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).normal(size=(2000, 3))
        KMeans(2, n_init=1).fit(X)  # starts threads, which a fork does not copy
        child = os.fork()
        if child == 0:
            GaussianMixture(2, max_iter=2, random_state=0).fit(X)
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout == "7\n"
