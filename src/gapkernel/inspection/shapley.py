"""What pushed a prediction? Shapley values by hiding cells: an absent cell is a gap, and a gap has a law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from math import comb
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, validate_params

from gapkernel.inspection.answers import ROWS_AT_ONCE, Answers, Explained, in_words
from gapkernel.rows import Patterns
from gapkernel.tables import Table


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """How much each observed cell of each row moved the answer; what `shapley` returns says what is in it."""

    values: np.ndarray
    base_value: Any
    standard_error: np.ndarray
    exact: bool
    interactions: np.ndarray | None
    names: tuple[str, ...]
    table: Table
    method: str
    outputs: np.ndarray
    of_classes: bool

    @property
    def answers(self) -> np.ndarray:
        """The answers that are explained, (n_samples,)."""
        return self.base_value + np.nansum(self.values, axis=1)

    def label(self, row: int, column: int) -> str:
        """A cell as text: the name of its column and what it holds."""
        cell = self.table.cells(column)[row]
        return f"{self.names[column]} = {cell:.4g}" if isinstance(cell, float) else f"{self.names[column]} = {cell}"

    def title(self, row: int | None = None) -> str:
        """What is explained, of one row or of all, as text."""
        outputs = np.unique(self.outputs) if row is None else self.outputs[[row]]
        return in_words(self.method, outputs[0] if self.of_classes and len(outputs) == 1 else None)

    def to_shap(self) -> Any:
        """The same as a `shap.Explanation`, for the plots of shap; gaps have value 0 there."""
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs shap: pip install shap.") from error
        base = np.broadcast_to(self.base_value, len(self.values)).copy()
        return shap.Explanation(
            np.nan_to_num(self.values), base, data=self.table.as_numbers(), feature_names=list(self.names)
        )


@validate_params(
    {
        "response_method": [str],
        "interactions": ["boolean"],
        "max_exact": [Interval(Integral, 0, 20, closed="both")],
        "n_permutations": [Interval(Integral, 4, None, closed="left")],
        "random_state": ["random_state"],
        "target": [str, Real, np.bool_, None],
    },
    prefer_skip_nested_validation=True,
)
def shapley(
    model,
    X,
    *,
    response_method="auto",
    target=None,
    interactions=False,
    max_exact=12,
    n_permutations=128,
    random_state=None,
) -> ShapleyValues:
    """Shapley values of the observed cells: what each has added to the answer, over all orders of telling them.

    A coalition of cells is worth what the model answers to the row with all other cells hidden. Where the kernel is an
    expectation (`SVC`, `SVR`, `KernelRidge` with kernel "rbf" or "linear" and without an indicator, and the means of
    the processes), that is the expected answer given the cells under the fitted density, in closed form, and the values
    are the conditional Shapley values. No impossible row is ever made up. Elsewhere (genRBF, probabilities, ensembles,
    indicators) they are what the model itself makes of less, and ``exact`` is False.

    Parameters
    ----------
    model : fitted estimator
        Of this package, or any other that takes gaps.
    X : array-like or frame of shape (n_samples, n_features)
        The rows to explain, gaps included.
    response_method : {"auto", "predict", "decision_function", "latent_mean", "predict_proba", "variance"}
        What is explained. "auto" is `predict` of a regressor, and of a classifier the first of decision values, latent
        means and probabilities that it has. "variance" is that of a regressor whose `predict` has ``return_std``:
        which cells made it sure.
    target : label or int, default=None
        The class that is explained, or the number of the target, or of the pair of classes where decision values are
        of pairs ("ovo"). None is the second of two classes, and of several the one that is predicted for each row.
    interactions : bool, default=False
        Whether to find the interactions of pairs too, for rows with at most ``max_exact`` observed cells.
    max_exact : int, default=12
        Observed cells up to which all 2^m coalitions are tried; beyond, orders of the cells are drawn.
    n_permutations : int, default=128
        How many orders are drawn; every second is the reverse of the one before, so an odd number is rounded up.
    random_state : int, RandomState or None, default=None
        Seed of the orders. None draws anew in each call.

    Returns
    -------
    result : ShapleyValues
        Its attributes:

        values : ndarray of shape (n_samples, n_features)
            They sum to the answer less ``base_value``. NaN in the gaps: nothing was learned from them.
        base_value : float or ndarray of shape (n_samples,)
            The answer to a row without any cell; one for each row if rows are explained for different classes.
        standard_error : ndarray of shape (n_samples, n_features)
            Of the values: 0 where all coalitions of cells were tried, NaN in the gaps.
        exact : bool
            Whether hiding a cell is averaging over it: the values are then the conditional Shapley values under the
            fitted density, up to ``standard_error``. Elsewhere they are a definition of their own: what the model
            itself answers when it is told less.
        interactions : ndarray of shape (n_samples, n_features, n_features) or None
            Off the diagonal half of what a pair of cells does together beyond what each does alone, on the diagonal
            what is left of a cell's value; a line sums to the value of its cell.
        names : tuple of str
            The columns.
        table : Table
            The rows.
        method : str
            The method of the model that answered.
        outputs : ndarray of shape (n_samples,)
            The class, or the number of the target, that is explained of each row.
        of_classes : bool
            Whether these are classes.
        answers : ndarray of shape (n_samples,)
            The answers that are explained.

        ``label(row, column)`` is a cell as text, ``title(row)`` what is explained of the row, and ``to_shap()`` the
        same as a ``shap.Explanation``, in which gaps have value 0.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import KernelRidge
    >>> from gapkernel.inspection import shapley
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((200, 3))
    >>> model = KernelRidge(kernel="linear", alpha=1e-6).fit(X, 2.0 * X[:, 0] - X[:, 1])
    >>> result = shapley(model, [[1.0, np.nan, 0.5]])
    >>> result.values.round(1) + 0.0, result.exact
    (array([[2.2, nan, 0. ]]), True)
    >>> result.label(0, 0), result.title()
    ('0 = 1', 'prediction')
    """
    answers = Answers.of(model, X, response_method)
    explained = answers.explained(target)
    table, patterns = answers.table, Patterns.of(answers.table.missing)
    if interactions:
        _check_pairs(table, max_exact)
    n, d = table.shape
    values, errors = np.full((n, d), np.nan), np.full((n, d), np.nan)
    pairs, base = np.full((n, d, d), np.nan) if interactions else None, np.empty(n)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    for begin, end, gaps in zip(patterns.row_start, patterns.row_start[1:], patterns.gaps, strict=False):
        rows, cells = patterns.order[begin:end], np.flatnonzero(~gaps)
        worth_of = partial(_worth, answers, explained, rows, cells)
        if len(cells) <= max_exact:
            worth = worth_of(all_coalitions(len(cells)))
            found, error = worth @ shapley_weights(len(cells)).T, np.zeros((len(rows), len(cells)))
            base[rows] = worth[:, 0]
            if pairs is not None:
                pairs[np.ix_(rows, cells, cells)] = _interactions(worth, found)
        else:
            orders = _orders(len(cells), n_permutations, np.random.default_rng([seed, *cells]))
            found, error, base[rows] = _sampled(orders, worth_of)
        values[np.ix_(rows, cells)], errors[np.ix_(rows, cells)] = found, error
    names = table.schema.names or tuple(map(str, range(d)))
    whole = float(base[0]) if len(np.unique(explained.outputs)) == 1 else base
    what = answers.method, explained.labels, answers.of_classes
    return ShapleyValues(values, whole, errors, answers.exact, pairs, names, table, *what)


def all_coalitions(m: int) -> np.ndarray:
    """All sets of m cells, True for those that are told, (2^m, m); set number s has the cells of the bits of s."""
    return (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(bool)


@lru_cache(maxsize=4)
def shapley_weights(m: int) -> np.ndarray:
    """W with values = W worth, (m, 2^m): +-|S|! (m - |S| - 1)! / m! for the sets S + k and S."""
    told = all_coalitions(m)
    size = told.sum(axis=1)
    among = np.array([1.0 / (m * comb(m - 1, s)) for s in range(m)] + [0.0])  # of a set S without k, by its size
    return np.where(told, among[size - 1][:, None], -among[size][:, None]).T


def _worth(answers: Answers, explained: Explained, rows, cells, told: np.ndarray) -> np.ndarray:
    """What each coalition of cells is worth for each row, (n_rows, n_coalitions)."""
    hidden = np.ones((len(told), answers.table.shape[1]), bool)
    hidden[:, cells] = ~told
    worth, at_once = np.empty((len(rows), len(told))), max(1, ROWS_AT_ONCE // len(told))
    for some, part in product(gen_batches(len(rows), at_once), gen_batches(len(told), ROWS_AT_ONCE)):
        these, masks = rows[some], hidden[part]
        places = np.repeat(these, len(masks))
        found = answers(places, np.tile(masks, (len(these), 1)))
        found = explained.signs[places] * found[np.arange(len(places)), explained.outputs[places]]
        worth[some, part] = found.reshape(len(these), len(masks))
    return worth


def _interactions(worth: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Half the interaction index of each pair, and on the diagonal the rest of each value, (n_rows, m, m)."""
    n, m = values.shape
    out = np.zeros((n, m, m))
    if m > 1:
        told, weights = all_coalitions(m), np.array([1.0 / ((m - 1) * comb(m - 2, s)) for s in range(m - 1)])
        for i, j in zip(*np.triu_indices(m, 1), strict=True):  # sum over S of w(S) (v(S+i+j) - v(S+i) - v(S+j) + v(S))
            without = np.flatnonzero(~told[:, i] & ~told[:, j])
            both = worth[:, without + 2**i + 2**j] - worth[:, without + 2**i] - worth[:, without + 2**j]
            out[:, i, j] = out[:, j, i] = 0.5 * (both + worth[:, without]) @ weights[told[without].sum(axis=1)]
    out[:, np.arange(m), np.arange(m)] = values - out.sum(axis=2)
    return out


def _orders(m: int, n: int, random: np.random.Generator) -> np.ndarray:
    """Random orders of m cells in pairs of an order and its reverse, (n_pairs, 2, m)."""
    orders = random.permuted(np.tile(np.arange(m), ((n + 1) // 2, 1)), axis=1)
    return np.stack([orders, orders[:, ::-1]], axis=1)


def _sampled(orders: np.ndarray, worth_of) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of what each cell adds over the orders, its standard error over pairs of orders, and the base value."""
    n_pairs, _, m = orders.shape
    place = np.argsort(orders, axis=2)  # when each cell is told
    told = place[:, :, None, :] < np.arange(m + 1)[:, None]  # the first 0, 1, ..., m cells of each order
    distinct = Patterns.of(told.reshape(-1, m))  # the empty and the full set are in all of them
    worth = worth_of(distinct.gaps)[:, distinct.index].reshape(-1, n_pairs, 2, m + 1)
    added = np.take_along_axis(np.diff(worth, axis=3), place[None], axis=3).mean(axis=2)
    return added.mean(axis=1), added.std(axis=1, ddof=1) / np.sqrt(n_pairs), worth[:, 0, 0, 0]


def _check_pairs(table: Table, max_exact: int) -> None:
    observed = (~table.missing).sum(axis=1)
    if observed.max() > max_exact:
        raise ValueError(
            f"interactions=True tries all coalitions, but row {observed.argmax()} has {observed.max()} observed cells. "
            f"Raise max_exact (now {max_exact}; 2 to the power of it rows are answered), or leave columns out."
        )
