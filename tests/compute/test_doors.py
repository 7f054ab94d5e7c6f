"""What a compiled loop is given is refused if the loop would read or write beyond it, or make numbers of NaN."""

import copy

import numpy as np
import pytest

from gapkernel.compute.doors import check_array, check_counts, check_numbers, check_places
from gapkernel.compute.linalg.regression import logistic_terms, scores, weighted_gram, weighted_sum
from gapkernel.compute.moments.covariance_sums import covariance_sums
from gapkernel.compute.pairs.column_sums import ColumnBatch, summed
from gapkernel.compute.pairs.mapped_engine import MappedEngine
from gapkernel.density import FactorAnalysis, Gaussian
from gapkernel.kernels import ExpectedRBF, GenRBF
from gapkernel.papers.expected_kernel.variances import column_covariances
from gapkernel.papers.missing_variables.losses import Partitions

N, D = 14, 3
random = np.random.default_rng(0)
X = random.normal(size=(N, D))
X[random.random((N, D)) < 0.3] = np.nan
ROWS = Gaussian().fit(X).condition(X)
MAPPED = ROWS.map(np.eye(D) + 0.1)
FACTORS = FactorAnalysis(1).fit(X).condition(X)
ZEROS, WEIGHTS = np.zeros(N), np.ones((N, N))
UNITS = 0.5 * np.ones(D)

SHORTER, LONGER = (lambda a: a[:-1]), (lambda a: np.concatenate([a, a[-1:]]))
SINGLE, UNKNOWN = (lambda a: a.astype("f4")), (lambda a: np.full_like(a, np.nan))
BEYOND, BEFORE = (lambda a: a + 1000), (lambda a: a - 1000)
BLOCKS = [("covariance", change) for change in (SHORTER, LONGER, SINGLE, UNKNOWN)]
BLOCKS += [("gaps", np.logical_not), ("gaps", lambda a: a.astype(int)), ("gap_start", lambda a: a + 1)]
LAWS = [("pattern", change) for change in (SHORTER, LONGER, SINGLE, BEYOND, BEFORE)]
LAWS += [("means", change) for change in (SHORTER, LONGER, SINGLE, UNKNOWN, np.transpose)]
DOORS = {
    "matrix": (lambda rows: ExpectedRBF(0.3).cross(rows, rows), ROWS, BLOCKS + LAWS),
    "new rows": (lambda rows: ExpectedRBF(0.3).dot(rows, ROWS, np.ones((N, 1))), ROWS, BLOCKS + LAWS),
    "many widths": (lambda rows: ExpectedRBF().over_widths(np.ones(9), rows), ROWS, BLOCKS + LAWS),
    "covariance of columns": (lambda rows: list(column_covariances(ExpectedRBF(0.3), rows)), ROWS, BLOCKS + LAWS),
    "sums": (
        lambda rows: covariance_sums(ROWS, rows, 0.5, lambda t: WEIGHTS, WEIGHTS), ROWS, BLOCKS + LAWS
    ),
    "sums of new rows": (
        lambda rows: covariance_sums(rows, ROWS, 0.5, lambda t: WEIGHTS, WEIGHTS), ROWS, BLOCKS + LAWS
    ),
    "norm": (lambda rows: GenRBF(0.3).log_scale(rows), ROWS, BLOCKS),
    "directions": (lambda rows: rows.quadratic(np.eye(D)), ROWS, BLOCKS),
    "units": (lambda rows: rows.scale(UNITS), ROWS, BLOCKS),
    "mapped": (
        lambda rows: MappedEngine(rows, None, 0.3, ZEROS, ZEROS).matrix(),
        MAPPED,
        [("rank", change) for change in (SHORTER, LONGER, SINGLE, BEYOND, BEFORE, lambda a: a[::-1].copy())]
        + [("root", change) for change in (SHORTER, LONGER, SINGLE, UNKNOWN)],
    ),
    "factors": (
        lambda rows: ExpectedRBF(0.3).cross(rows, rows),
        FACTORS,
        [(name, change) for name in ("precision", "loadings", "noise") for change in (SHORTER, LONGER, SINGLE, UNKNOWN)]
        + LAWS,
    ),
}  # fmt: skip


CASES = [(door, name, change) for door, (_, _, changes) in DOORS.items() for name, change in changes]


@pytest.mark.parametrize("door", DOORS)
def test_rows_as_they_were_made_are_taken(door):
    ask, rows, _ = DOORS[door]
    ask(rows)


@pytest.mark.parametrize(("door", "name", "change"), CASES)
def test_rows_whose_parts_do_not_go_together_are_refused(door, name, change):
    ask, rows, _ = DOORS[door]
    spoilt = copy.copy(rows)
    assert getattr(spoilt, "gap_start", 0) is not None  # derived before the change
    vars(spoilt)[name] = change(getattr(rows, name))
    with pytest.raises((ValueError, IndexError)):
        ask(spoilt)


@pytest.mark.parametrize("name", ["mean_", "covariance_"])
@pytest.mark.parametrize("change", [SHORTER, LONGER, SINGLE, UNKNOWN])
def test_parameters_of_a_density_are_checked(name, change):
    density = Gaussian().fit(X)
    setattr(density, name, change(getattr(density, name)))
    with pytest.raises((ValueError, IndexError)):
        density.condition(np.full((1, D), np.nan))


@pytest.mark.parametrize("coefficients", [np.ones((N - 1, 1)), np.ones(N), np.ones((N, 1, 1))])
def test_coefficients_must_be_those_of_the_rows(coefficients):
    with pytest.raises(ValueError, match="coefficients"):
        ExpectedRBF(0.3).dot(ROWS, ROWS, coefficients)


def test_scales_and_columns_must_be_those_of_the_rows():
    for scale in (np.zeros(N - 1), np.zeros((N, 1)), np.zeros(N, "f4")):
        with pytest.raises(ValueError, match="scales"):
            MappedEngine(MAPPED, None, 0.3, scale, ZEROS)
        with pytest.raises(ValueError, match="scales"):
            MappedEngine(MAPPED, None, 0.3, ZEROS, scale)
    with pytest.raises(ValueError, match="means"):
        MappedEngine(MAPPED, ROWS.columns([0]).map(np.ones((2, 1))), 0.3, ZEROS, ZEROS)


NUMBERS, CODES = np.zeros((1, 4)), np.array([[0, 1, 2, 1]], np.int32)
TABLES, STARTS = np.ones(9), np.array([0, 9])


@pytest.mark.parametrize(
    ("side", "weights", "tables", "starts"),
    [
        ((NUMBERS, NUMBERS, CODES + np.int32(1)), np.ones(1), TABLES, STARTS),
        ((NUMBERS, NUMBERS, CODES - np.int32(1)), np.ones(1), TABLES, STARTS),
        ((NUMBERS, NUMBERS, CODES[:, :3]), np.ones(1), TABLES, STARTS),
        ((NUMBERS, NUMBERS[:, :3], CODES), np.ones(1), TABLES, STARTS),
        ((NUMBERS, NUMBERS, CODES), np.ones(2), TABLES, STARTS),
        ((NUMBERS, NUMBERS, CODES), np.ones(1), TABLES[:8], STARTS),
        ((NUMBERS, NUMBERS, CODES), np.ones(1), TABLES, np.array([0, 8])),
    ],
)
def test_codes_must_be_those_of_the_tables(side, weights, tables, starts):
    assert summed(ColumnBatch(NUMBERS, NUMBERS, CODES), None, np.ones(1), TABLES, STARTS).shape == (4, 4)
    with pytest.raises(ValueError, match=r"must be|level|square"):
        summed(ColumnBatch(*side), None, weights, tables, starts)


@pytest.mark.parametrize(
    ("loop", "arguments"),
    [
        (scores, (np.ones((2, 3)), np.ones((1, 3)))),
        (scores, (np.ones((2, 3)), np.ones(2))),
        (weighted_gram, (np.ones((2, 3)), np.ones(2))),
        (weighted_sum, (np.ones((2, 3)), np.ones(4))),
        (logistic_terms, (np.ones((2, 3)), np.ones(3), np.ones(3))),
        (logistic_terms, (np.ones((2, 3)), np.ones(2), np.ones(2))),
        (Partitions.of, (np.ones((5, 2)), np.array([2, 2]))),
        (Partitions.of, (np.ones((5, 2)), np.array([-1, 6]))),
        (check_counts, ("", np.array([2**62, 2**62, 2**62, 2**62 + 5]), 5)),  # their sum wraps around to 5
        (check_numbers, ("", np.array([np.inf]), 1)),
        (check_places, ("", np.array([0, 3]), 3, 2)),
        (check_array, ("", [1.0], np.float64, 1)),
    ],
)
def test_arrays_that_do_not_agree_are_refused(loop, arguments):
    with pytest.raises(ValueError, match=r"must|do not go with|overflows"):
        loop(*arguments)
