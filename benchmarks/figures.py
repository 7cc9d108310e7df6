"""The file that --json names: refused before the work, and written as figures come."""

import argparse
import json
import os
from pathlib import Path
from typing import Any


def writable(text: str) -> Path:
    """A file on the command line that is written later; refused where that will not be possible."""
    path = Path(text)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path


def save(file: Path | None, document: Any) -> None:
    """Write all that is known by now, if a file is asked for."""
    if file is not None:
        file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
