"""What every estimator for tables with gaps says about itself."""

from __future__ import annotations


class TakesGaps:
    """An estimator that takes gaps as they are; to be inherited before scikit-learn's `BaseEstimator`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


def copy_columns(source, target) -> None:
    """Give ``target`` the number and the names of the columns that ``source`` was fitted to."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))
        else:
            target.__dict__.pop(name, None)  # of an earlier fit
