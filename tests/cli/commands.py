"""Running the command line in tests."""

import numpy as np
import pandas as pd
import pytest

from gapkernel.cli import main


def table(n=60, seed=0):
    """Numbers and a category that say something about a class, and gaps."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": random.normal(size=n).round(3), "weight": random.normal(size=n).round(3)})
    frame["kind"] = random.choice(["a", "b"], n)
    frame["class"] = np.where(frame["size"] + 0.5 * (frame["kind"] == "a") > 0, "yes", "no")
    frame.loc[::7, "size"] = np.nan
    frame.loc[3::9, "kind"] = None
    return frame


def command(*arguments):
    """Run the command and give its exit status."""
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return left.value.code or 0


def complaint(capsys, *arguments):
    """The one line that a failed command leaves."""
    capsys.readouterr()  # what came before, such as the note that loops are compiled
    assert command(*arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("gapkernel: ")
    assert told.count("\n") == 1, told
    return told
