"""Write the answers of the library as it is now: all of them, or those whose names are given.

    python tests/frozen/freeze.py
    python tests/frozen/freeze.py "SVC, rbf: decision_function" ...

An answer that changes on purpose is frozen anew by its name, and has a line with the reason in changes.csv.
"""

import sys
from pathlib import Path

if __name__ == "__main__":  # in place of the script's own folder
    sys.path[0] = str(Path(__file__).parents[1])

from frozen.all_rooms import ROOMS
from frozen.rooms import Room, read, write, written


def freeze(room: Room, names: set[str]) -> set[str]:
    """Write a room's table, or only the lines with these names; the names that were written."""
    if not names:
        lines = {name: written(name, values) for group in room.groups for name, values in room.compute(group).items()}
        write(room.path, lines.values())
        return set(lines)
    lines, done = {name: (name, *rest) for name, rest in read(room.path).items()}, set()
    for group in room.groups:
        if any(name.startswith(f"{group}: ") for name in names):
            for name, values in room.compute(group).items():
                if name in names:
                    lines[name] = written(name, values)
                    done.add(name)
    if done:
        write(room.path, lines.values())
    return done


def main(names: set[str]) -> None:
    done = set().union(*(freeze(room, names) for room in ROOMS))
    if names - done:
        raise SystemExit(f"There are no answers {sorted(names - done)}.")
    print(f"{len(done)} answers are frozen.")


if __name__ == "__main__":
    main(set(sys.argv[1:]))
