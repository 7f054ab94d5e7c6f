"""A model file that was damaged or forged is refused, or its model answers or says what is wrong: no crash, no hang."""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gapkernel import KernelRidge
from gapkernel.persistence import DamagedFileError, load, save
from gapkernel.persistence.archive import sealed

sys.path.insert(0, str(Path(__file__).parent))

import children
import models

BLOCK = 1000
"""Files of one test, so that a run can go on where it stopped: -k "forged-3000"."""


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The files of all models, with rows to ask them about."""
    return models.write_originals(tmp_path_factory.mktemp("originals"))


def troubles(folder, change, first, last):
    """What went wrong with the files of these numbers."""
    return children.troubles(folder, "forgery.py", change, range(first, last))


@pytest.mark.parametrize(
    ("change", "number", "ends"), [("forged", 100, {"refused", "answered"}), ("mutated", 40, {"refused"})]
)
def test_some_changed_files(change, number, ends, originals):
    found, outcomes = troubles(originals, change, 0, number)
    assert not found
    assert ends <= set(outcomes.values())


@pytest.mark.slow
@pytest.mark.parametrize("first", range(BLOCK, 3 * BLOCK, BLOCK), ids="forged-{}".format)
def test_many_forged_files(first, originals):
    assert not troubles(originals, "forged", first, first + BLOCK)[0]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(BLOCK, 11 * BLOCK, BLOCK), ids="mutated-{}".format)
def test_many_mutated_files(first, originals):
    """Those that are answered hold what they held: only bytes such as a date in the directory were changed."""
    assert not troubles(originals, "mutated", first, first + BLOCK)[0]


def test_a_file_cannot_have_rows_made_by_calling_their_class(tmp_path):
    path = tmp_path / "model.skops"
    save(KernelRidge().fit(models.X, models.NUMBERS), path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    description = json.loads(parts["schema.json"])
    rows = description["content"]["content"]["rows_"]
    held = [rows["content"]["content"][name] for name in ("means", "pattern", "gaps", "covariance")]
    rows["__loader__"] = "ConstructorFromReduceNode"
    rows["content"] = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": held}
    short = io.BytesIO()
    np.save(short, np.load(io.BytesIO(parts[held[3]["file"]]))[:1])
    parts |= {"schema.json": json.dumps(description), held[3]["file"]: short.getvalue()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    path.write_bytes(sealed(path.read_bytes()))
    with pytest.raises(DamagedFileError, match="makes a GaussianRows by calling it"):
        load(path)
