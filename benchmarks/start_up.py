"""What importing costs, and whether a second process pays for compilation again."""

import os
import subprocess
import sys
import tempfile

from measure import report

IMPORT = "import time; import sklearn.svm; t = time.perf_counter(); import gapkernel; print(time.perf_counter() - t)"
FIT = """
import time, numpy as np, gapkernel as gk
X = np.random.default_rng(0).normal(size=(200, 8)); y = (X[:, 0] > 0).astype(int)
X[::3, 1] = np.nan; X[1::5, 2] = np.nan
t = time.perf_counter(); gk.SVC().fit(X, y).predict(X); print(time.perf_counter() - t)
"""


def _run(code, cache=None):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache} if cache else None
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    return float(out.stdout)


def run():
    """Measure and write the table."""
    with tempfile.TemporaryDirectory() as cache:
        first, second = _run(FIT, cache), _run(FIT, cache)
    imports = min(_run(IMPORT) for _ in range(5))
    report(
        "start_up",
        "Start-up",
        ("what", "seconds"),
        [
            ("import gapkernel, after sklearn.svm", f"{imports:.2f}"),
            ("first fit and predict ever (compiles)", f"{first:.1f}"),
            ("first fit and predict of a second process (from the disk cache)", f"{second:.2f}"),
        ],
    )
