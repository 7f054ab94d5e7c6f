"""What every estimator for tables with gaps shares: constraints of parameters, tags and names of columns."""

from __future__ import annotations

import sys
from numbers import Integral
from typing import ClassVar

from sklearn.utils._param_validation import StrOptions

from gapkernel.tables.table import Schema


class TakesGaps:
    """An estimator that takes gaps as they are; to be inherited before scikit-learn's `BaseEstimator`.

    A class declares the constraints of its own parameters only: those of its bases hold for it too.

    Attributes
    ----------
    schema_ : Schema
        What the columns held in `fit`: numbers, or categories and their levels. New rows are read by it.
    """

    schema_: Schema

    _parameter_constraints: ClassVar[dict] = {
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    """What the parameters that mean the same everywhere may be."""

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        declared = [vars(base).get("_parameter_constraints", {}) for base in reversed(cls.__mro__)]
        cls._parameter_constraints = {name: allowed for one in declared for name, allowed in one.items()}

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        for name, value in self.get_params(deep=False).items():  # type: ignore[attr-defined]
            if isinstance(value, int) and abs(value) > sys.float_info.max:
                raise ValueError(f"The {name!r} parameter of {type(self).__name__} is too large for a float.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


def copy_columns(source, target) -> None:
    """Give ``target`` the number and the names of the columns that ``source`` was fitted to."""
    set_or_forget(target, **{name: getattr(source, name, None) for name in ("n_features_in_", "feature_names_in_")})


def set_or_forget(fitted, **attributes) -> None:
    """Set attributes of a fit, and delete those that are None, which an earlier fit may have left."""
    for name, value in attributes.items():
        if value is None:
            fitted.__dict__.pop(name, None)
        else:
            setattr(fitted, name, value)
