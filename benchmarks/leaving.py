"""How a benchmark ends where it cannot go on: with one sentence, as the commands do."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ligen_py.cli import INTERRUPTED
from ligen_py.errors import DeviceError, InputError, UsageError


@contextmanager
def in_words() -> Iterator[None]:
    """Leave with a sentence where a file or a device cannot be used, and after Ctrl-C."""
    try:
        yield
    except (InputError, UsageError, DeviceError) as error:
        _leave(f"error: {error}", 1)
    except KeyboardInterrupt:
        _leave("stopped as asked", INTERRUPTED)
    except subprocess.CalledProcessError as error:  # it has said why, unless it was listened to
        print(error.stderr.decode() if error.stderr else "", end="", file=sys.stderr)
        sys.exit(error.returncode)
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        _leave(f"error: {why}", 1)


def _leave(sentence: str, status: int) -> None:
    print(f"{Path(sys.argv[0]).name}: {sentence}", file=sys.stderr)
    sys.exit(status)
