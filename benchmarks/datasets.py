"""The public data sets, from GAPKERNEL_DATA or beside the repository."""

import os
from functools import partial
from pathlib import Path

import gapkernel as gk

FOLDER = Path(os.environ.get("GAPKERNEL_DATA", Path(__file__).parents[2] / "shared" / "data"))
load = partial(gk.datasets.load, data_dir=FOLDER)
