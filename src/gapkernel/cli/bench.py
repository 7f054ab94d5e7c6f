"""``gapkernel bench``: the benchmarks of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gapkernel.tables.input_errors import InputError


def bench(names: list[str]) -> None:
    """Run the named benchmarks, or all; they write their tables to benchmarks/results."""
    script = Path(__file__).parents[3] / "benchmarks" / "run.py"
    if not script.is_file():
        raise InputError("The benchmarks are not part of the installed package: run this in a copy of the repository.")
    known = {path.stem for path in script.parent.glob("*.py") if "\ndef run(" in path.read_text(encoding="utf-8")}
    for name in names:
        if name not in known:
            raise InputError(f"There is no benchmark '{name}'. There are: {', '.join(sorted(known))}.")
    if subprocess.run([sys.executable, str(script), *names], check=False).returncode:
        raise InputError("The benchmarks stopped; what they printed says why.")
