"""Dock the controls of a campaign alone, and show what they say: before the budget is spent.

Everything else is as in `ligen run`, which uses what was made here. Exit code 1 where a control
fails and the config says 'below: stop'.
"""

import sys
from collections.abc import Sequence

from ligen_py import run


def main(argv: Sequence[str] | None = None) -> int:
    """Validate a campaign from a command line; returns the exit code."""
    return run.command("validate", __doc__, argv)


if __name__ == "__main__":
    sys.exit(main())
