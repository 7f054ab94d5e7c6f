"""A fitted model of which any array was changed answers or says what is wrong: no loop reads beyond its arrays."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import children
import models

BLOCK = 2000
"""Changes of one test, so that a run can go on where it stopped."""


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The files of all models, with rows to ask them about."""
    return models.write_originals(tmp_path_factory.mktemp("originals"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder for loops with checks, apart from those without."""
    return tmp_path_factory.mktemp("compiled")


def test_some_changed_arrays(originals):
    found, outcomes = children.troubles(originals, "spoilt.py", "spoilt", range(7, 22_000, 211))
    assert not found
    assert "refused" in outcomes.values()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 22_000, BLOCK))
def test_no_changed_array_leads_a_loop_beyond_its_arrays(first, originals, compiled):
    checked = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(compiled)}
    numbers = range(first, first + BLOCK, 1)
    assert not children.troubles(originals, "spoilt.py", "spoilt", numbers, env=checked)[0]
