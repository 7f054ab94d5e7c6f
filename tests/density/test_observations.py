"""The rows that a density is fitted to: in parts they are checked as in one table."""

import numpy as np
import pytest

import gapkernel as gk
from gapkernel.density import Gaussian


@pytest.mark.parametrize("odd", [-1.0, 1e200, np.nan, 10**400], ids=["negative", "huge", "nan", "beyond floats"])
def test_weights_in_parts_are_refused_in_the_words_for_one_table(odd):
    X = np.random.default_rng(0).standard_normal((6, 2))
    weight = [1.0, 1.0, odd, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="weight") as whole:
        Gaussian().fit(X, sample_weight=weight)
    with pytest.raises(ValueError, match="weight") as parts:
        Gaussian().fit(gk.batches(lambda: iter([(X, None, weight)])))
    assert str(parts.value) == str(whole.value)
