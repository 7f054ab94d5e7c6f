"""Settings of the whole suite: generated examples are the same in every run, and helpers are importable."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))

settings.register_profile("laws", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("laws")


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Matrix products and scikit-learn's loops take one thread here: on small tables, more wait for each other.

    Threads that a test starts, and programs, have their own limits.
    """
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of public data sets, from GAPKERNEL_DATA or beside the repository; skips when there is none."""
    beside = TESTS.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("GAPKERNEL_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder.name}: set GAPKERNEL_DATA")
    return folder
