"""The table that ``gapkernel compare`` uses when it is given none."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from gapkernel.cli.problem import Problem, problem_of
from gapkernel.missingness import ampute

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
    "Sex": "sex",
}


def penguins() -> Problem:
    """The sex of the Palmer penguins, from their measures and the isotopes in their blood, of which a part is hidden.

    Some birds could not be sexed, and of some there was not enough blood for the isotopes, but those are few: with the
    gaps of nature alone all methods tie. The species would be too easy a target: every method finds it.
    """
    from palmerpenguins import load_penguins_raw

    frame = load_penguins_raw()[list(COLUMNS)].rename(columns=COLUMNS)
    frame["species"] = frame["species"].str.split().str[0]  # without the Latin name
    frame["sex"] = frame["sex"].str.lower()
    for name in ("species", "island", "sex"):
        frame[name] = frame[name].astype(pd.CategoricalDtype(sorted(frame[name].dropna().unique())))
    hidden = ampute(frame.drop(columns="sex"), HIDDEN, random_state=0).assign(sex=frame["sex"])
    problem = problem_of(hidden, "sex", name="Palmer penguins")
    return replace(
        problem, notes=[*problem.notes, f"{HIDDEN:.0%} of the cells were hidden at random for this example."]
    )
