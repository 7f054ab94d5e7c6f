"""The table that ``gapkernel compare`` uses when it is given none."""

from __future__ import annotations

from pathlib import Path

from gapkernel.missingness import ampute
from gapkernel.tables.files import write_csv

TARGET = "sex"
HIDDEN = 0.4
"""Share of the cells that are hidden, so that gaps matter."""

COLUMNS = {
    "Species": "species",
    "Island": "island",
    "Culmen Length (mm)": "bill_length_mm",
    "Culmen Depth (mm)": "bill_depth_mm",
    "Flipper Length (mm)": "flipper_length_mm",
    "Body Mass (g)": "body_mass_g",
    "Delta 15 N (o/oo)": "delta_15_n",
    "Delta 13 C (o/oo)": "delta_13_c",
    "Sex": TARGET,
}


def write_penguins(path: Path) -> Path:
    """Write the Palmer penguins with their measures and the isotopes in their blood, of which a part is hidden.

    Some birds could not be sexed, and of some there was not enough blood for the isotopes, but those are few: with the
    gaps of nature alone all methods tie. The species would be too easy a target: every method finds it.
    """
    from palmerpenguins import load_penguins_raw

    frame = load_penguins_raw()[list(COLUMNS)].rename(columns=COLUMNS)
    frame["species"] = frame["species"].str.split().str[0]  # without the Latin name
    frame[TARGET] = frame[TARGET].str.lower()
    write_csv(ampute(frame.drop(columns=TARGET), HIDDEN, random_state=0).assign(**{TARGET: frame[TARGET]}), path)
    return path
