"""Calibration among rows that miss about as many cells: groups, ranks and coverage."""

import numpy as np
from numpy.testing import assert_array_equal

from gapkernel.estimators.calibration.masks import GapCountCalibration


def gaps(counts):
    """Rows of nine cells that miss the first of them."""
    return np.arange(9) < np.array(counts)[:, None]


def test_exchangeable_scores_are_covered_as_often_as_claimed_in_every_group():
    """Between the coverage and the coverage + 1 / (n + 1), for groups whose scores differ by a factor of five."""
    random = np.random.default_rng(0)
    counts = np.repeat([0, 3], 40)
    spread = np.where(counts == 0, 1.0, 5.0)
    covered = np.zeros(2)
    for _ in range(4000):
        calibration = GapCountCalibration(counts, spread * random.exponential(size=80))
        covered += random.exponential(size=2) * [1.0, 5.0] <= calibration.half_widths(gaps([0, 3]), 0.9)
    error = 4 * np.sqrt(0.09 / 4000)
    assert np.all(covered / 4000 > 0.9 - error)
    assert np.all(covered / 4000 < 0.9 + 1 / 41 + error)


def test_groups_are_neighbouring_counts_with_enough_rows():
    counts = np.repeat(np.arange(6), [50, 10, 10, 15, 40, 5])
    calibration = GapCountCalibration(counts, np.arange(130.0))
    assert_array_equal(calibration.group_ends(0.9), [0, 3, 5])
    assert_array_equal(calibration.group_ends(0.99), [5])  # 99 rows are needed for a finite quantile
    assert_array_equal(GapCountCalibration(counts[:8], np.arange(8.0)).group_ends(0.9), [0])
    widths = calibration.half_widths(gaps([0, 1, 3, 5, 9]), 0.9)
    assert widths[1] == widths[2]
    assert widths[3] == widths[4]  # more gaps than ever seen: the last group
    assert np.isinf(calibration.half_widths(gaps([0]), 0.9999)).all()


def test_the_quantile_is_the_textbook_rank():
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 101.0))
    calibration = GapCountCalibration(np.zeros(100, int), scores)
    assert calibration.half_widths(gaps([0]), 0.9)[0] == np.ceil(101 * 0.9)
