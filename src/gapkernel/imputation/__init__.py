"""Multiple imputation: chained equations, predictor selection, pooling rules, and the usual baselines."""

from gapkernel.imputation.baselines import BASELINES, GapFiller, baseline
from gapkernel.imputation.chained_equations import ChainedEquations
from gapkernel.imputation.empty_columns import WithoutEmptyColumns
from gapkernel.imputation.one_hot import OneHotWithGaps
from gapkernel.imputation.predictors import select_predictors, usable_cases
from gapkernel.imputation.rubin import Pooled, pool_scalar

__all__ = [
    "BASELINES",
    "ChainedEquations",
    "GapFiller",
    "OneHotWithGaps",
    "Pooled",
    "WithoutEmptyColumns",
    "baseline",
    "pool_scalar",
    "select_predictors",
    "usable_cases",
]
