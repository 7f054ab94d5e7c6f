"""What the library answers is what it answered when tests/frozen/*.csv were written (see freeze.py)."""

import csv

import pytest

from frozen.all_rooms import ROOMS
from frozen.rooms import FOLDER, difference, read

CASES = [
    pytest.param(room, group, marks=[pytest.mark.slow] * (group in room.slow), id=f"{room.name}: {group}")
    for room in ROOMS
    for group in room.groups
]


@pytest.mark.parametrize(("room", "group"), CASES)
def test_answers_are_those_that_were_frozen(room, group):
    frozen = {name: line for name, line in read(room.path).items() if name.startswith(f"{group}: ")}
    answers = room.compute(group)
    assert set(answers) == set(frozen)
    found = {name: difference(frozen[name], values) for name, values in answers.items()}
    apart = [f"{name}: {what}" for name, what in found.items() if what]
    if apart:
        pytest.fail("\n".join(apart), pytrace=False)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_every_answer_belongs_to_a_group(room):
    names = {name.split(": ")[0] for name in read(room.path)}
    assert names == set(room.groups)


def test_every_change_has_a_reason_and_an_answer():
    with (FOLDER / "changes.csv").open(newline="") as file:
        changes = list(csv.DictReader(file))
    known = {name for room in ROOMS for name in [*room.groups, *read(room.path)]}  # all of a group may be gone
    for change in changes:
        assert change["now"] in ("changed", "gone")
        assert (change["name"] in known) == (change["now"] == "changed")
        assert change["reason"].strip()
