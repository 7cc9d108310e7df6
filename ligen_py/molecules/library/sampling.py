"""Some molecules of a library file, from places spread over it; a large one is not read whole."""

import zlib
from collections.abc import Iterator
from itertools import islice

from ligen_py.formats import LibraryFile, format_of
from ligen_py.molecules.library.reading import WHOLE, Columns, Part, Record, records
from ligen_py.unpacking import compression

PIECES, PIECE = 8, 250
"""Places of a file that are looked at, at most, and molecules of each, at least."""

REACH = 1 << 28
"""Bytes of a plain text file in which these places lie: what is before each has to be read, too."""


def some_records(file: LibraryFile, columns: Columns, size: int, share: int) -> Iterator[Record]:
    """About `share` of the about `size` records of a file; all, where these are not more.

    Which ones follows from name and size of the file. Of a compressed text they are from its
    beginning, since it cannot be entered in the middle.
    """
    if share >= size:
        yield from records(file.path, WHOLE, columns)
    elif compression(file.path):
        step = min(PIECES, size // share)
        yield from islice(records(file.path, WHOLE, columns), 0, step * share, step)
    else:
        for part in _parts(file, size, share):
            yield from records(file.path, part, columns)


def _parts(file: LibraryFile, size: int, share: int) -> Iterator[Part]:
    """Parts of a file with so many molecules together: one in each of several equal stretches."""
    pieces = min(PIECES, max(1, share // PIECE))
    count = max(pieces, size * pieces // share)
    reach = count
    if format_of(file.path) != "parquet":
        reach = max(pieces, min(count, count * REACH // file.size))
    for number in range(pieces):
        first, last = (reach * edge // pieces for edge in (number, number + 1))
        yield Part(1 + first + any_below(last - first, file), count)


def any_below(below: int, file: LibraryFile) -> int:
    """A number from 0 on that follows from a file's name."""
    return zlib.crc32(file.name.encode(errors="surrogateescape")) % below
