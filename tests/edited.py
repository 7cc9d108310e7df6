"""Files that were changed by hand and sealed again, as one who knows the layout would do it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

from ligen_py.store.files.seal import seal


@contextmanager
def edited(path: Path, **options: Any) -> Iterator[h5py.File]:
    """Open a file for changes; afterwards its checksum is right again."""
    with h5py.File(path, "r+", **options) as file:
        yield file
    seal(path)
