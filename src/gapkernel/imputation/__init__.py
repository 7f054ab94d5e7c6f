"""Multiple imputation: chained equations, predictor selection, pooling rules, and the usual baselines."""

from gapkernel.imputation.baselines import GapFiller, OneHotWithGaps, baseline
from gapkernel.imputation.chained_equations import ChainedEquations
from gapkernel.imputation.predictors import select_predictors, usable_cases
from gapkernel.imputation.rubin import pool_scalar

__all__ = [
    "ChainedEquations",
    "GapFiller",
    "OneHotWithGaps",
    "baseline",
    "pool_scalar",
    "select_predictors",
    "usable_cases",
]
