"""``python -m gapkernel`` is the command ``gapkernel``."""

from gapkernel.cli import main

if __name__ == "__main__":
    main()
