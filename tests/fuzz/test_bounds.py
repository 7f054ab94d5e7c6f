"""The compiled loops stay within their arrays: the laws of kernels and rows hold when every access is checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LAWS = Path(__file__).parents[1] / "laws"


@pytest.mark.slow
@pytest.mark.parametrize("laws", ["test_rows.py", "test_densities.py", "test_kernels.py"])
def test_laws_hold_when_bounds_are_checked(laws, tmp_path):
    checked = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", str(LAWS / laws)]
    ended = subprocess.run(command, env=checked, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-3000:]
