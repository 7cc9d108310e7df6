"""Records of FASTA files of proteins or DNA, plain or compressed, one at a time.

A record is a line that begins with ``>`` and the lines up to the next one. Lines may have any
length, and end as on Unix or on Windows; the last one needs no end. Blank lines and white space
inside a sequence count for nothing. Letters are given as they stand in the file, lower case and
``*`` included: which of them mean something is for the alphabet to say.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ligen_py.errors import InputError

HEADER_LIMIT = 1 << 20
"""Longest header in bytes; a longer one is no line of text. (NCBI's nr joins a few thousand.)"""

WHITE = b" \t\r\n\v\f"

BOM = b"\xef\xbb\xbf"
"""UTF-8's byte order mark, with which a file may begin."""

_MAGIC = {
    **{b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"},
    # A frame to be skipped, with which files of `pzstd` begin.
    **{bytes([low]) + b"\x2a\x4d\x18": "zstd" for low in range(0x50, 0x60)},
}
_BLOCK = 1 << 24


class FastaRecord(NamedTuple):
    """One record of a FASTA file."""

    name: str
    """The first word of the header; ``record_3`` where the third record's header is empty."""
    header: str
    """The whole header, without ``>`` and the white space around it."""
    sequence: bytes
    """The letters as they stand in the file, without white space; empty where there are none."""


def read_fasta(path: Path) -> Iterator[FastaRecord]:
    """The records of a FASTA file in its order.

    Whether it is compressed (gzip, Zstandard, bzip2) is read from its content. One record is in
    memory at a time, beside a block of 16 MiB. Headers are UTF-8, or else Latin-1.

    Raises InputError, which names the file, where it has no record, begins with anything else,
    is UTF-16, has bare carriage returns as line ends or a zero byte in a header, or contains
    damaged compressed data.
    """
    with open_unpacked(path) as stream:
        for number, text in enumerate(_split(path, stream), start=1):
            head, _, letters = text.partition(b"\n")
            header = _header(path, number, head)
            name = (header.split(maxsplit=1) or [f"record_{number}"])[0]
            yield FastaRecord(name, header, letters.translate(None, WHITE))


@contextmanager
def open_unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a plain or compressed file; InputError where compressed data are damaged."""
    with path.open("rb") as file:
        head = file.read(4)
        method = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")
        if not method:
            file.seek(0)
            yield file
            return
    import pyarrow  # its import takes a while, and plain files do without

    with pyarrow.OSFile(str(path)) as packed:
        stream: Any = pyarrow.CompressedInputStream(packed, method)
        try:
            yield stream
        except OSError as error:
            raise InputError(
                f"{path}: the compressed data are damaged or cut short ({error}); "
                "copy the file again"
            ) from error


def refuse_utf16(path: Path, start: bytes) -> None:
    """InputError where the first bytes of a file are a byte order mark of UTF-16."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: is UTF-16 text; save it as UTF-8")


def _split(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """The text of one record after another, without its ``>``."""
    start = stream.read(_BLOCK).removeprefix(BOM).lstrip(WHITE)
    refuse_utf16(path, start)
    if not start:
        raise InputError(f"{path}: contains no sequences; give a FASTA file")
    if not start.startswith(b">"):
        raise InputError(
            f"{path}: does not begin with '>', the header of a sequence; give a FASTA file"
        )
    parts, newline, block = [b""], b"", start[1:] or stream.read(_BLOCK)
    while block:
        # A new line at the end of a block may belong to the ">" at the beginning of the next.
        block = newline + block
        newline = b"\n" if block.endswith(b"\n") else b""
        first, *others = block.removesuffix(b"\n").split(b"\n>")
        parts.append(first)
        for other in others:
            yield b"".join(parts)
            parts = [other]
        block = stream.read(_BLOCK)
    yield b"".join(parts)


def _header(path: Path, number: int, line: bytes) -> str:
    line = line.strip(WHITE)
    if b"\r" in line:
        raise InputError(
            f"{path}: its lines end with bare carriage returns; convert the file, as with "
            r"tr '\r' '\n'"
        )
    if b"\0" in line:
        raise InputError(
            f"{path}: the header of record {number} has a zero byte; copy the file again"
        )
    if len(line) > HEADER_LIMIT:
        raise InputError(
            f"{path}: the header of record {number} is longer than {HEADER_LIMIT} bytes; "
            "give a FASTA file"
        )
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")
