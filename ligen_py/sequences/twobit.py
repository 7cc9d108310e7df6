"""Genomes in UCSC's .2bit format: four bases a byte, beside lists of the stretches of N."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py.errors import InputError

SIGNATURE = 0x1A412743

_CODES = np.array([2, 1, 0, 3])
"""The format's bases T, C, A, G as the planes' codes."""

_BYTES = np.arange(256)
_FOUR = np.stack([_CODES[_BYTES >> shift & 3] for shift in (6, 4, 2, 0)])
_NIBBLES = np.stack([
    ((_FOUR >> bit & 1) << np.arange(4)[:, None]).sum(0) for bit in (1, 0)
]).astype(np.uint8)  # fmt: skip
"""Byte of the file -> four bits of the planes high and low, the first base lowest."""


class TwoBitRecord(NamedTuple):
    """One record, its bases still packed."""

    name: str
    length: int
    packed: np.ndarray
    """uint8: four bases each, the first one in the highest bits."""
    n_starts: np.ndarray
    """int64: first places of the stretches of N."""
    n_lengths: np.ndarray


def is_twobit(head: bytes) -> bool:
    """Do a file's first four bytes say that it is .2bit, of either byte order?"""
    return len(head) >= 4 and SIGNATURE in (
        int.from_bytes(head[:4], "little"),
        int.from_bytes(head[:4], "big"),
    )


def read_twobit(path: Path, data: np.ndarray) -> Iterator[TwoBitRecord]:
    """The records of a file whose bytes (uint8) are `data`, in the order of its index.

    Versions 0 and 1 of the format, either byte order. InputError where the file is cut short or
    does not follow the format.
    """
    order = "<" if int(data[:4].view("<u4")[0]) == SIGNATURE else ">"
    try:
        version, count, _ = (int(value) for value in data[4:16].view(f"{order}u4"))
        if version not in (0, 1):
            raise InputError(f"{path}: is .2bit of version {version}; versions 0 and 1 are read")
        width = 8 if version else 4
        at, found = 16, []
        for _ in range(count):
            end = at + 1 + int(data[at])
            name = bytes(data[at + 1 : end]).decode("utf-8", "replace")
            if end + width > len(data):
                raise IndexError("index")
            found.append((name, int(data[end : end + width].copy().view(f"{order}u{width}")[0])))
            at = end + width
        for name, offset in found:
            yield _record(name, data, offset, order)
    except (IndexError, ValueError) as error:
        raise InputError(f"{path}: is cut short or damaged .2bit; copy the file again") from error


def _record(name: str, data: np.ndarray, at: int, order: str) -> TwoBitRecord:
    def words(count: int) -> np.ndarray:
        """The next numbers of 32 bits; IndexError where the file ends before them."""
        nonlocal at
        if count < 0 or at + 4 * count > len(data):
            raise IndexError(name)
        at += 4 * count
        return data[at - 4 * count : at].copy().view(f"{order}u4").astype(np.int64)

    length, stretches = (int(value) for value in words(2))
    n_starts, n_lengths = words(stretches), words(stretches)
    masked = int(words(1)[0])
    words(2 * masked + 1)  # lower case does not count, and a word of the format is not in use
    packed = data[at : at + -(-length // 4)]
    if len(packed) < -(-length // 4) or (n_starts + n_lengths > length).any():
        raise IndexError(name)
    return TwoBitRecord(name, length, packed, n_starts, n_lengths)


def unpack(record: TwoBitRecord) -> np.ndarray:
    """The planes of a record: uint32 (3, words of 32 bases); bits behind the end are zero."""
    words = -(-record.length // 32)
    planes = np.zeros((3, words), np.uint32)
    nibbles = np.zeros((2, words * 8), np.uint8)
    nibbles[:, : len(record.packed)] = _NIBBLES[:, record.packed]
    planes[:2] = (nibbles[:, ::2] | nibbles[:, 1::2] << 4).view("<u4")
    edge = np.zeros(words * 32 + 1, np.int8)
    np.add.at(edge, record.n_starts, 1)
    np.add.at(edge, record.n_starts + record.n_lengths, -1)
    edge[record.length] += 1
    valid = np.cumsum(edge[:-1], dtype=np.int8) <= 0
    planes[2] = np.packbits(valid, bitorder="little").view("<u4")
    planes[:2] &= planes[2]
    return planes
