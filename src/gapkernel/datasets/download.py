"""The public data sets that OpenML does not have in the papers' form: where their files are, and how they are read.

Archives may write a file anew, so the table is checked, not the file: the SHA-256 of its names and cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gapkernel.tables import labels_of
from gapkernel.tables.user_tables import pandas_files

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
ZIP_CODES = "https://hastie.su.domains/ElemStatLearn/datasets/"


class Download(NamedTuple):
    """Addresses of the files of a data set, how to read them, and the SHA-256 of what was read."""

    addresses: tuple[str, ...]
    read: Callable[[Sequence[Path]], tuple[Any, np.ndarray]]
    sha256: str


def fetch(name: str, source: Download) -> tuple[Any, np.ndarray]:
    """The columns and the target of a data set, from scikit-learn's data folder or from its address."""
    from sklearn.datasets import fetch_file, get_data_home

    folder = Path(get_data_home()) / "gapkernel" / name
    paths = [Path(fetch_file(address, folder=folder)) for address in source.addresses]
    damage = None
    try:
        X, y = source.read(paths)
        if digest(X, y) == source.sha256:
            return X, y
    except (OSError, EOFError, ValueError) as error:  # such as a page of a server, or half a file
        damage = error
    raise ValueError(
        f"What came from {' and '.join(source.addresses)} is not the {name!r} of the papers: it cannot be read, or the "
        f"SHA-256 of the table differs. Remove {str(folder)!r} to fetch it again, or use a local folder."
    ) from damage


def digest(X, y: np.ndarray) -> str:
    """The SHA-256 of a table's names and cells and of its target."""
    if isinstance(X, np.ndarray):  # images: thousandths of a grey level
        parts = [np.rint(1000 * X).astype("<i2").tobytes(), y.astype("<i8").tobytes()]
    else:
        target = y.astype(float) if y.dtype.kind in "iu" else y
        lines = [labels_of(X), *np.asarray(X, dtype=object).tolist(), target.tolist()]
        parts = ["|".join(map(str, line)).encode() for line in lines]
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


@dataclass(frozen=True)
class Layout:
    """How the lines of a text file become a table.

    Attributes
    ----------
    names : sequence of str
        Of the columns in the file; those that begin with "-" are left out.
    target : str
        Lines in which it is "?" are left out.
    categorical : tuple of str
    separator : str or None
        None is any white space.
    """

    names: Sequence[str]
    target: str
    categorical: tuple[str, ...] = ()
    separator: str | None = ","

    def __call__(self, paths: Sequence[Path]) -> tuple[Any, np.ndarray]:
        place = self.names.index(self.target)
        cells = [line.split(self.separator) for path in paths for line in path.read_text("latin-1").splitlines()]
        lines = [",".join(line) for line in cells if len(line) == len(self.names) and line[place].strip() != "?"]
        text = StringIO("\n".join([",".join(self.names), *lines]))
        layout = {"usecols": lambda name: not name.startswith("-"), "na_values": "?", "skipinitialspace": True}
        return pandas_files().read_known(text, self.target, self.categorical, **layout)


def zip_codes(paths: Sequence[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Digits and grey levels of the files zip.train.gz and zip.test.gz, in this order."""
    rows = np.concatenate([np.loadtxt(path) for path in paths])
    return np.rint(1000 * rows[:, 1:]) / 1000.0, rows[:, 0].astype(np.int64)


HORSE_COLIC = (
    "surgery age -hospital_number rectal_temperature pulse respiratory_rate temperature_of_extremities "
    "peripheral_pulse mucous_membranes capillary_refill_time pain peristalsis abdominal_distension nasogastric_tube "
    "nasogastric_reflux nasogastric_reflux_ph rectal_examination_feces abdomen packed_cell_volume total_protein "
    "abdominocentesis_appearance abdomcentesis_total_protein outcome surgical_lesion -25 -26 -27 -28"
)
NUMBERS = (
    "rectal_temperature pulse respiratory_rate nasogastric_reflux_ph packed_cell_volume total_protein "
    "abdomcentesis_total_protein"
)
WATER = (
    "-day Q-E ZN-E PH-E DBO-E DQO-E SS-E SSV-E SED-E COND-E PH-P DBO-P SS-P SSV-P SED-P COND-P PH-D DBO-D DQO-D "
    "SS-D SSV-D SED-D COND-D PH-S DBO-S DQO-S SS-S SSV-S SED-S COND-S RD-DBO-P RD-SS-P RD-SED-P RD-DBO-S RD-DQO-S "
    "RD-DBO-G RD-DQO-G RD-SS-G RD-SED-G"
)
"""Of a treatment plant: measures at its input (E), primary (P) and secondary settler (D) and output (S)."""


def _horse_colic(target: str, sha256: str) -> Download:
    files = (f"{UCI}horse-colic/horse-colic.data", f"{UCI}horse-colic/horse-colic.test")
    coded = tuple(name for name in HORSE_COLIC.split() if name not in (*NUMBERS.split(), target))
    return Download(files, Layout(HORSE_COLIC.split(), target, coded, separator=None), sha256)


DOWNLOADS = {
    "horse_colic_23": _horse_colic("outcome", "5d1a8e3055ba6593340f4283def7cc000a7bf7e524771c1264105a59f1170384"),
    "horse_colic_24": _horse_colic(
        "surgical_lesion", "ad1b447db235b54caac6a23a228398d3ca25b2a89957f9b93ff6cddeebb1b978"
    ),
    "liver_disorders": Download(
        (f"{UCI}liver-disorders/bupa.data",),
        Layout(("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks", "selector"), "selector"),
        "543e91b60f92cad94834552b475c26b2e156973f03efe772a7c9af2bd14be259",
    ),
    "servo": Download(
        (f"{UCI}servo/servo.data",),
        Layout(("motor", "screw", "pgain", "vgain", "rise_time"), "rise_time", ("motor", "screw", "pgain", "vgain")),
        "2b5fc5748685a8bbe114204c46e34258b6350a13eba12e00f107afe6fde243d7",
    ),
    "usps": Download(
        (f"{ZIP_CODES}zip.train.gz", f"{ZIP_CODES}zip.test.gz"),
        zip_codes,
        "994678dac34d177e4d6c7856930deaf050c09fe0a6132d961060a9628751ff83",
    ),
    "water_treatment": Download(
        (f"{UCI}water-treatment/water-treatment.data",),
        Layout(WATER.split(), "DBO-S"),
        "760d9dcfffd8b4861d52d3f6fc2154a437071a7d36fab1643061f04f42d140c1",
    ),
}
