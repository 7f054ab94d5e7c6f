"""The public data sets, from GAPKERNEL_DATA or beside the repository."""

import json
import os
from pathlib import Path

import pandas as pd

FOLDER = Path(os.environ.get("GAPKERNEL_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name):
    """A frame with text in its categorical columns, and the target."""
    entry = json.loads((FOLDER / "index.json").read_text())[name]
    frame = pd.read_csv(FOLDER / entry["file"], dtype=dict.fromkeys(entry["categorical"], str))
    return frame.drop(columns="target"), frame["target"].to_numpy()
