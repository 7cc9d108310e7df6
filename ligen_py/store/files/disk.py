"""Writing through HDF5 to a disk that may be full.

HDF5 cannot give up a file that it failed to write: closing it fails as well, and ends the process
with a segmentation fault. So it writes through `Disk`, which remembers the first error and from
then on takes everything; what was written is thrown away. The same where Ctrl-C comes while HDF5
has something written.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from ligen_py.ending import callback
from ligen_py.store.files.temporary import cannot_write


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system refuses in a block into an InputError that names an output."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


class Disk(io.RawIOBase):
    """A file for HDF5 to write; leaving its block raises InputError if any of it was refused."""

    def __init__(self, path: Path, temporary: Path) -> None:
        super().__init__()
        self._path = path
        self._handle = os.open(temporary, os.O_RDWR)
        self._place = self._end = 0
        self.error: OSError | KeyboardInterrupt | None = None
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable

    def _unraisable(self, lost: "sys.UnraisableHookArgs") -> None:
        """Remember a Ctrl-C that HDF5 threw away, with what it was to write."""
        if isinstance(lost.exc_value, KeyboardInterrupt):
            self.error = self.error or lost.exc_value
            if self._hook is sys.__unraisablehook__:
                return
        self._hook(lost)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.unraisablehook = self._hook
        os.close(self._handle)
        # Whatever HDF5 says after that error comes from it.
        if self.error is not None and (error is None or isinstance(error, Exception)):
            if isinstance(self.error, KeyboardInterrupt):
                raise self.error
            raise cannot_write(self._path, self.error) from self.error

    def require(self) -> None:
        """Raise the first error that there was."""
        if self.error is not None:
            raise self.error

    def flush_data(self) -> None:
        """Wait until the contents that the file has so far are on disk."""
        try:
            os.fdatasync(self._handle)
        except OSError as error:
            self.error = self.error or error

    @callback
    def seekable(self) -> bool:
        """HDF5 reads and writes anywhere."""
        return True

    @callback
    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._end}[whence]
        self._place = base + offset
        return self._place

    @callback
    def tell(self) -> int:
        """The byte where the next reading or writing starts."""
        return self._place

    @callback
    def write(self, data: Any) -> int:
        """Write all of some bytes, or nothing once there was an error."""
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view) and self.error is None:
            try:
                done += os.pwrite(self._handle, view[done:], self._place + done)
            except (OSError, KeyboardInterrupt) as error:
                self.error = error
        self._place += len(view)
        self._end = max(self._end, self._place)
        return len(view)

    @callback
    def readinto(self, buffer: Any) -> int:
        """Read bytes that were written; zeros where there are none."""
        view = memoryview(buffer).cast("B")
        try:
            data = os.pread(self._handle, len(view), self._place)
        except (OSError, KeyboardInterrupt) as error:
            self.error, data = self.error or error, b""
        view[: len(data)] = data
        view[len(data) :] = bytes(len(view) - len(data))
        self._place += len(view)
        return len(view)

    @callback
    def flush(self) -> None:
        """Nothing waits here: `flush_data` goes to the disk."""

    @callback
    def truncate(self, size: int | None = None) -> int:
        """Cut or lengthen the file."""
        self._end = self._place if size is None else size
        try:
            os.ftruncate(self._handle, self._end)
        except (OSError, KeyboardInterrupt) as error:
            self.error = self.error or error
        return self._end
