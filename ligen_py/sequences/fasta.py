"""Records of FASTA files of proteins or DNA, plain or compressed, one at a time.

A record is a line that begins with ``>`` and the lines up to the next one. Lines may have any
length, and end as on Unix or on Windows; the last one needs no end. Blank lines and white space
inside a sequence count for nothing. Letters are given as they stand in the file, lower case and
``*`` included: which of them mean something is for the alphabet to say.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ligen_py.errors import InputError
from ligen_py.unpacking import BOM, opened, refuse_bare_returns, refuse_no_text

HEADER_LIMIT = 1 << 20
"""Longest header in bytes; a longer one is no line of text. (NCBI's nr joins a few thousand.)"""

WHITE = b" \t\r\n\v\f"

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
    is UTF-16 or packed otherwise, has bare carriage returns as line ends or a zero byte in a
    header, or contains compressed data that are damaged or out of proportion.
    """
    with opened(path) as stream:
        for number, text in enumerate(_split(path, stream), start=1):
            head, _, letters = text.partition(b"\n")
            header = _header(path, number, head)
            name = (header.split(maxsplit=1) or [f"record_{number}"])[0]
            yield FastaRecord(name, header, letters.translate(None, WHITE))


def _split(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """The text of one record after another, without its ``>``."""
    start = stream.read(_BLOCK).removeprefix(BOM).lstrip(WHITE)
    refuse_no_text(path, start)
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
    refuse_bare_returns(path, line)
    line = line.strip(WHITE)
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
