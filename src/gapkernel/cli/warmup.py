"""``gapkernel warmup``: compile the loops now, for example while an image is built, so that no fit has to wait."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from gapkernel import SVC, ChainedEquations, FourierRegressor, GaussianProcessRegressor, Karma, SVCCV
from gapkernel.cli.output import say
from gapkernel.density import FactorAnalysis
