"""Multiple imputation: chained equations, predictor selection, pooling rules, and the usual baselines."""

from gapkernel.imputation.chained import ChainedEquations
from gapkernel.imputation.rubin import Pooled, pool_scalar
from gapkernel.imputation.selection import select_predictors, usable_cases

__all__ = ["ChainedEquations", "Pooled", "pool_scalar", "select_predictors", "usable_cases"]
