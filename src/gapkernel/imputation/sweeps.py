"""One chain of chained equations: sweeps over training rows, and the same sweeps over new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapkernel.compute.draws import uniforms
from gapkernel.imputation import regressions
from gapkernel.imputation.coding import FIXED, Coding

_LEAST_RIDGE = 0.1


@dataclass(frozen=True)
class Plan:
    """What all chains share.

    Attributes
    ----------
    coding : Coding
    observed : list of ndarray
        The observed codes of each column, from which gaps take their first values.
    places : list of ndarray
        The places in the design that predict each column.
    seed, n_sweeps : int
    numeric : {"linear", "pmm"}
    n_donors : int
    ridge : float or "auto"
    draws : {"proper", "expected"}
    """

    coding: Coding
    observed: list[np.ndarray]
    places: list[np.ndarray]
    seed: int
    n_sweeps: int
    numeric: str
    n_donors: int
    ridge: float | str
    draws: str


@dataclass(frozen=True)
class Chain:
    """The outcome of one chain.

    Attributes
    ----------
    number : int
    models : list of ColumnModel
        The model of each column, as drawn in the last sweep.
    means, variances : ndarray of shape (n_sweeps, n_columns)
        Of the imputed values after each sweep, NaN for a column without gaps.
    """

    number: int
    models: list[regressions.ColumnModel]
    means: np.ndarray
    variances: np.ndarray


def run(plan: Plan, codes: np.ndarray, number: int) -> tuple[Chain, np.ndarray]:
    """Chain ``number`` on training rows, and its completion of their codes."""
    random = np.random.default_rng([plan.seed, number])
    gaps = np.isnan(codes)
    present = [np.flatnonzero(~column) for column in gaps.T]
    missing, state, design = _begun(plan, codes, lambda j, rows: random.random(len(rows)))
    learned: list = [None] * codes.shape[1]
    means, variances = np.full((2, plan.n_sweeps, codes.shape[1]), np.nan)
    parameters = random if plan.draws == "proper" else None
    for sweep in range(plan.n_sweeps):
        for j in np.flatnonzero(gaps.any(axis=0)).tolist():
            learned[j] = _fit_column(plan, state, design, present[j], j, learned[j], parameters)
            uniform = None if plan.draws == "expected" else random.random(len(missing[j]))
            _redraw(plan, state, design, missing[j], j, learned[j], uniform)
            values = plan.coding.columns[j].decode(state[missing[j], j])
            means[sweep, j], variances[sweep, j] = values.mean(), values.var(ddof=1) if len(values) > 1 else np.nan
    for j in np.flatnonzero(~gaps.any(axis=0)).tolist():  # a column complete here may have gaps in new rows
        learned[j] = _fit_column(plan, state, design, present[j], j, None, parameters)
    return Chain(number, learned, means, variances), state


def replay(plan: Plan, chain: Chain, codes: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Completion of the codes of new rows by a chain's last models, each row with its own random numbers."""
    missing, state, design = _begun(plan, codes, lambda j, rows: uniforms(keys[rows], plan.seed, chain.number, 0, j))
    incomplete = [j for j, rows in enumerate(missing) if len(rows)]
    for sweep in range(1, plan.n_sweeps + 1):
        for j in incomplete:
            keyed = uniforms(keys[missing[j]], plan.seed, chain.number, sweep, j)
            uniform = None if plan.draws == "expected" else keyed
            _redraw(plan, state, design, missing[j], j, chain.models[j], uniform)
    return state


def _begun(plan: Plan, codes: np.ndarray, draw: Callable) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The rows with a gap in each column, the codes with first values in the gaps, and the design of these.

    Gaps get values drawn from the observed ones by ``draw(column, rows)``, uniform numbers; or 0 in a column that was
    never observed.
    """
    missing = [np.flatnonzero(column) for column in np.isnan(codes).T]
    state = codes.copy()
    for j, (rows, observed) in enumerate(zip(missing, plan.observed, strict=True)):
        uniform = draw(j, rows)
        state[rows, j] = observed[(uniform * len(observed)).astype(int)] if len(observed) else 0.0
    return missing, state, plan.coding.design(state)


def _redraw(plan, state, design, rows, j, model, uniform) -> None:
    state[rows, j] = model.draw(design[plan.places[j]].take(rows, axis=1), uniform)
    design[plan.coding.blocks[j], rows] = plan.coding.columns[j].design(state[rows, j])


def _fit_column(plan, state, design, rows, j, previous, random):
    """The model of column ``j``, from the rows where it was observed."""
    kind, n_levels = plan.coding.columns[j].kind, len(plan.coding.columns[j].levels)
    if kind in FIXED:
        return regressions.Linear(np.zeros(len(plan.places[j])), 0.0)
    predictors, y = design[plan.places[j]].take(rows, axis=1), state[rows, j]
    ridge = max(_LEAST_RIDGE, (len(predictors) - 1) ** 2 / len(rows)) if plan.ridge == "auto" else float(plan.ridge)
    try:
        if kind == "binary":
            return regressions.fit_logistic(predictors, y, ridge, random, None if previous is None else previous.beta)
        if kind == "categorical":
            return regressions.fit_multinomial(predictors, y, n_levels, ridge, random)
        if plan.numeric == "pmm":
            return regressions.fit_mean_matching(predictors, y, ridge, random, plan.n_donors)
        return regressions.fit_linear(predictors, y, ridge, random)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"The columns that predict column {j} are too nearly dependent for ridge={plan.ridge}. Raise ridge."
        ) from None
