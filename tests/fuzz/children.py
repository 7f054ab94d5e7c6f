"""Processes that try many changed models, so that a crash is seen."""

import json
import subprocess
import sys
from pathlib import Path


def is_fine(told):
    """Whether a model was refused or answered; None is before either."""
    return told in ("refused", "answered", None) or told.startswith("refused later: ")


def troubles(folder, script, change, numbers, **options):
    """What went wrong with the changes of these numbers; a process that dies is started again after the culprit."""
    found, outcomes = [], {}
    first, last, step = numbers.start, numbers.stop, numbers.step
    while first < last:
        command = [sys.executable, Path(__file__).with_name(script), folder, change, *map(str, (first, last, step))]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        number, name, told = -1, "", "nothing was tried"
        for line in ended.stdout.splitlines():
            number, name, told = json.loads(line)
            if told is not None:
                outcomes[number] = told
            if not is_fine(told):
                found.append(f"{change} {number} {name}: {told}")
        if ended.returncode == 0:
            break
        assert number >= first, ended.stderr
        found.append(f"{change} {number} {name}: ended with {ended.returncode}: {ended.stderr[-300:]}")
        first = number + step
    return found, outcomes
