"""Files whose rows were dropped after use: they still say what they were, and made from what.

Docked poses are most of a campaign's disk, and nothing reads them once they are refined.
"""

from pathlib import Path

import h5py

from ligen_py.provenance import file_digest, stood_for
from ligen_py.records.column import Kind
from ligen_py.store.files.disk import Disk, writing
from ligen_py.store.files.read import DROPPED, open_file
from ligen_py.store.files.seal import seal
from ligen_py.store.files.temporary import publish, temporary_for


def drop_rows(path: Path, kind: Kind) -> None:
    """Keep nothing of a file but its run record and, as its SHA-256, that of all it was.

    Whatever was made from it remains so. Raises InputError where it cannot be read or written.
    """
    if is_dropped(path):
        return
    with open_file(path, kind) as whole:
        attributes = dict(whole.attrs)
    temporary = temporary_for(path)
    try:
        with writing(path):
            versions = ("v110", "v110")
            with Disk(path, temporary) as disk, h5py.File(disk, "w", libver=versions) as file:
                file.attrs.update(attributes | {DROPPED: 1})
            with temporary.open("ab") as stream:
                stream.write(f"ligen_py stands for {file_digest(path)}\n".encode())
            seal(temporary)
            publish([(temporary, path)])
    finally:
        temporary.unlink(missing_ok=True)


def is_dropped(path: Path) -> bool:
    """Whether the rows of a file were dropped; not where there is no such file."""
    try:
        with path.open("rb") as stream:
            return stood_for(stream) is not None
    except OSError:
        return False
