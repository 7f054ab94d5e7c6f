"""The compiled loops stay within their arrays: all laws hold when every access is checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LAWS = sorted((Path(__file__).parents[1] / "laws").glob("test_*.py"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder for loops with checks, apart from those without."""
    return tmp_path_factory.mktemp("compiled")


@pytest.mark.slow
@pytest.mark.parametrize("laws", LAWS, ids=lambda path: path.stem)
def test_laws_hold_when_bounds_are_checked(laws, compiled):
    checked = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(compiled)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", str(laws)]
    ended = subprocess.run(command, env=checked, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-3000:]
