"""Text files, plain or compressed: their bytes within bounds, and which texts are refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from ligen_py.errors import InputError

RATIO_LIMIT = 400
"""Most bytes out of one compressed byte (libraries reach 5 to 30; a bomb 1000)."""
RATIO_GRACE = 1 << 26
"""Bytes that may come out of a compressed file before its ratio is judged."""
GENOME_RATIO = 2000
"""Most bytes out of one byte of a genome's whole file. A run of N is as dense as any bomb: bzip2
packs it 225,000 to one. So no stretch of the file is judged, and of a whole file more is allowed
than gzip's 1032, for haplotypes that are padded with N to the length of their chromosomes."""
GENOME_GRACE = 1 << 32
"""Bytes that may come out of a genome's file, whatever its size: more than a human genome."""
TOTAL_LIMIT = 1 << 40
"""Most bytes out of one compressed file."""

BOM = b"\xef\xbb\xbf"
"""UTF-8's byte-order mark, with which a text may begin."""

_MAGIC = {
    **{b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"},
    # A frame to be skipped, with which files of `pzstd` begin.
    **{bytes([low]) + b"\x2a\x4d\x18": "zstd" for low in range(0x50, 0x60)},
}
"""First bytes of compressed files -> what Arrow calls the method."""

NO_TEXT = {
    b"PK\x03\x04": "a ZIP archive, or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"\xfd7zXZ": "packed with xz",
    b"7z\xbc\xaf": "a 7z archive",
}
"""First bytes of files that may have the name of a text, and are none -> what they are."""

_BLOCK = 1 << 17


def compression(path: Path) -> str:
    """How a file is compressed: gzip, zstd or bz2, or an empty text; by its first bytes."""
    with path.open("rb") as file:
        head = file.read(4)
    return next((method for magic, method in _MAGIC.items() if head.startswith(magic)), "")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a plain or compressed file, the latter as `unpacked` gives them."""
    with unpacked(path) if compression(path) else path.open("rb") as stream:
        yield stream


@contextmanager
def unpacked(path: Path, *, genome: bool = False) -> Iterator["BufferedReader[Any]"]:
    """The content of a compressed file, stopped when it is damaged or swells beyond reason.

    InputError names the file then. That of a genome is judged by the size of the whole file, all
    others by what was read of them so far.
    """
    import pyarrow  # its import takes a while, and plain files do without

    with pyarrow.OSFile(str(path)) as file:
        stream = pyarrow.CompressedInputStream(file, compression(path))
        bounded: Any = _Bounded(path, file, stream, genome)
        yield BufferedReader(bounded, _BLOCK)


def require_complete(path: Path) -> None:
    """Unpack a compressed file to its end; InputError where it is damaged or cut short."""
    if compression(path):
        with unpacked(path) as stream:
            while stream.read(_BLOCK):
                pass


class _Bounded:
    """A raw stream that names what is wrong with its compressed file."""

    closed = False

    def __init__(self, path: Path, file: Any, stream: Any, genome: bool) -> None:
        self._path, self._file, self._stream = path, file, stream
        self._genome = genome
        self._given = 0

    def readable(self) -> bool:
        """Always; `RawIOBase` asks before it reads."""
        return True

    def writable(self) -> bool:
        """Never: an input is not changed."""
        return False

    def seekable(self) -> bool:
        """Never: what was unpacked is gone."""
        return False

    def close(self) -> None:
        """Close this view alone; who opened the file closes that."""
        self.closed = True

    def readinto(self, buffer: memoryview) -> int:
        """Unpacked bytes that were put into a buffer, 0 at the end.

        InputError for damaged data, and where far more comes out than went in.
        """
        try:
            count = int(self._stream.readinto(buffer))
        except OSError as error:
            raise InputError(
                f"{self._path}: the compressed data are damaged or cut short ({error}); "
                "copy the file again"
            ) from error
        self._given += count
        if self._genome:
            ratio, grace, packed = GENOME_RATIO, GENOME_GRACE, self._file.size()
        else:
            ratio, grace, packed = RATIO_LIMIT, RATIO_GRACE, self._file.tell()
        if self._given > max(grace, ratio * packed):
            raise InputError(
                f"{self._path}: more than {ratio} bytes come out of each compressed byte; "
                "if that is right, unpack the file and give the plain one"
            )
        if self._given > TOTAL_LIMIT:
            raise InputError(
                f"{self._path}: more than {TOTAL_LIMIT} bytes come out; cut it into several files"
            )
        return count


def refuse_no_text(path: Path, start: bytes) -> None:
    """InputError where the first bytes of a file are of an archive, a workbook or UTF-16 text.

    UTF-16 is found with a byte-order mark or without.
    """
    for magic, kind in NO_TEXT.items():
        if start.startswith(magic):
            raise InputError(
                f"{path}: is {kind}; unpack it, or save the table as CSV (gzip, Zstandard and "
                "bzip2 are read as they are)"
            )
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or start[:2].count(0) == 1:
        raise InputError(f"{path}: is UTF-16 text; save it as UTF-8")


def refuse_bare_returns(path: Path, line: bytes) -> None:
    """InputError where a carriage return stands within a line: it was meant as a line end."""
    if b"\r" in line.rstrip():
        raise InputError(
            f"{path}: its lines end with bare carriage returns; convert the file, as with "
            r"tr '\r' '\n'"
        )
