"""Files under a temporary name until they are whole; what killed writers left is swept away.

The name contains machine and process, so that two writers of one file never share a temporary, and
the next writer knows which temporaries nobody will finish. Those of other machines stay: their
writer may be alive.
"""

import errno
import os
import re
import socket
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from ligen_py.errors import InputError, OutputError
from ligen_py.whole_files import sync

SUFFIX = ".part"

_ASKING = Lock()
"""The umask is the whole process's, and can be read only where it is replaced: of two threads that
do so at once one would put the other's 0 back, and leave all later files open to everybody."""


def cannot_write(path: Path, error: OSError) -> OutputError:
    """What to raise where the system refuses to write an output."""
    cures = {errno.ENOSPC: "make room there", errno.EDQUOT: "make room there"}
    cure = cures.get(error.errno or 0, "name another place, or change its permissions")
    return OutputError(f"{path}: cannot be written ({error.strerror or error}); {cure}")


def temporary_for(path: Path) -> Path:
    """A new, empty file beside `path` that bears a hidden name; its folder is made.

    Raises InputError where the folder cannot be written, or where `path` is a folder or a device:
    root could give its name to a file, and /dev/null would be gone.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: cannot be written (no regular file); name another place")
        return _temporary_for(path)
    except OSError as error:
        raise cannot_write(path, error) from error


def _temporary_for(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    own = f".{path.name}.{socket.gethostname()}-"
    for left in path.parent.iterdir():
        found = re.fullmatch(rf"{re.escape(own)}(\d+)\..*{re.escape(SUFFIX)}", left.name)
        if found and not _alive(int(found.group(1))):
            left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{own}{os.getpid()}.", suffix=SUFFIX, dir=path.parent)
    os.close(handle)
    return Path(name)


def publish(files: Iterable[tuple[Path, Path]]) -> None:
    """Give temporaries their names after all of them, and then the names, are on disk."""
    pairs = list(files)
    with _ASKING:
        umask = os.umask(0)
        os.umask(umask)
    for temporary, _ in pairs:
        sync(temporary)
    for temporary, path in pairs:
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    for folder in {path.parent for _, path in pairs}:
        # A name can get lost in a power failure as contents can; some file systems cannot sync it.
        with suppress(OSError):
            sync(folder)


def publish_folder(temporary: Path, path: Path) -> Path:
    """Give a folder its name after all of it, and then the name, are on disk; returns `path`."""
    for part in (*temporary.rglob("*"), temporary):
        sync(part)
    temporary.rename(path)
    with suppress(OSError):  # as in `publish`
        sync(path.parent)
    return path


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True
