"""Random numbers that belong to a row."""

import numpy as np

from gapkernel.compute.draws import row_keys, uniforms


def test_random_numbers_of_rows_are_uniform_and_unrelated():
    X = np.random.default_rng(0).integers(0, 2, (4000, 20)).astype(float)
    keys = row_keys(X)
    assert len(np.unique(keys)) == len(np.unique(X, axis=0))
    streams = np.stack(
        [uniforms(keys, 7, chain, sweep, j) for chain in range(2) for sweep in range(2) for j in range(3)]
    )
    assert ((streams > 0) & (streams < 1)).all()
    deviation = np.sqrt(1 / 12 / streams.shape[1])
    assert np.abs(streams.mean(axis=1) - 0.5).max() < 4 * deviation
    correlation = np.corrcoef(streams) - np.eye(len(streams))
    assert np.abs(correlation).max() < 4.5 / np.sqrt(streams.shape[1])


def test_zero_has_one_key_whatever_its_sign():
    assert row_keys(np.array([[0.0, np.nan]]))[0] == row_keys(np.array([[-0.0, -np.nan]]))[0]
