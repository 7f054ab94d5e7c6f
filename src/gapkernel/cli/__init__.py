"""The command ``gapkernel``."""

from __future__ import annotations

import sys

from gapkernel.cli.output import in_options
from gapkernel.tables.input_errors import shown


def main(arguments: list[str] | None = None) -> None:
    """Run the command and leave the process: status 0, or 2 with one line on stderr that says what is wrong."""
    try:
        from gapkernel.cli.app import Stopped, UsageError, app
    except ImportError as error:
        _leave(f'The command needs {error.name}: pip install "gapkernel[cli]"')
    try:
        arguments = sys.argv[1:] if arguments is None else arguments
        sys.exit(app(arguments or ["--help"], prog_name="gapkernel", standalone_mode=False))
    except UsageError as error:
        _leave(f"{error.format_message()} See: {error.ctx.command_path if error.ctx else 'gapkernel'} --help")
    except (Stopped, KeyboardInterrupt) as error:
        print(f"gapkernel: {error or 'stopped'}", file=sys.stderr)
        sys.exit(130)
    except (ValueError, MemoryError, RuntimeError, OSError) as error:
        _leave(in_options(error))
    except ImportError as error:
        _leave(f'This needs {error.name}: pip install "gapkernel[cli]"')


def _leave(message) -> None:
    print("gapkernel:", " ".join(shown(message).split()), file=sys.stderr)
    sys.exit(2)
