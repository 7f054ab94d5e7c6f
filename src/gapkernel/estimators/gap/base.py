"""What the classifier and the regressor that choose for themselves share: prepare, try members, combine, keep."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from gapkernel.compute.runtime.progress import tracked
from gapkernel.estimators.gap.columns import Preparation, code_columns, preparation
from gapkernel.estimators.gap.members import EstimatorMember, KernelMember, ProcessMember, process_choice
from gapkernel.estimators.gap.problem import FittedMember, Member, Problem, Tried
from gapkernel.estimators.gap.views import AsItIs, View, gaps_as_levels, without_offsets
from gapkernel.tables import Table
