"""Molecules as blocks of lines: SDF (V2000 and V3000) and MOL2."""

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from ligen_py.molecules.library.columns import find_name, plain
from ligen_py.molecules.library.lines import lines
from ligen_py.molecules.library.record import (
    RECORD_LIMIT,
    Columns,
    Record,
    clean_name,
    decoded,
    extra_text,
    named,
)
from ligen_py.records.ledger import Reason

DATA_LIMIT = 1 << 20
"""Most bytes of an SDF record's data items that are read."""

_DELIMITER = b"$$$$"
_END = b"M  END"
_MOLECULE = b"@<TRIPOS>MOLECULE"
_ITEM = re.compile(r">[^<]*<(.*)>")
_NEXT_MOLECULE = re.compile(r"(?:(?!>)[^\n]*\n)*?M  END")
"""Where a molecule ends once more before the data items: files without delimiters, one after
another."""
_NO_TITLE = "*****"
"""What OpenBabel writes as the name of a MOL2 record without one."""
_HEADER_LINES = 3
"""Lines of an SDF record with arbitrary text: title, program, comment."""


class Block(NamedTuple):
    """The lines of one record."""

    number: int
    """Its first line, from 1."""
    molecule: bytes
    data: bytes
    """Data items of an SDF record."""
    size: int
    """Bytes of the molecule in the file; if more than `RECORD_LIMIT`, `molecule` is incomplete."""


class _Block:
    """A block that grows, within bounds."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.molecule: list[bytes] = []
        self.data: list[bytes] = []
        self.size = self.data_size = 0

    def add(self, content: bytes) -> None:
        """More lines of the molecule; beyond the limit they are counted and not kept."""
        self.size += len(content)
        if self.size <= RECORD_LIMIT:
            self.molecule.append(content)

    def add_data(self, content: bytes) -> None:
        """More lines of the data items; beyond the limit they are dropped."""
        for line in BytesIO(content):
            self.data_size += len(line)
            if self.data_size <= DATA_LIMIT:
                self.data.append(line)

    def whole(self) -> Block:
        """The record; its `size` is over RECORD_LIMIT where lines are missing."""
        return Block(self.number, b"".join(self.molecule), b"".join(self.data), self.size)


def sdf_blocks(path: Path, start: int = 0, end: int | None = None) -> Iterator[Block]:
    """SDF records: each ends with a line that starts with $$$$, the last one may lack it.

    A record belongs to the byte range in which the delimiter before it starts; the first record of
    the file, which has none, to the range from 0 on.
    """
    block = _Block(1) if start == 0 and end != 0 else None
    ended, header = False, _HEADER_LINES
    for place, number, content in lines(path, start, _DELIMITER):
        if content.startswith(_DELIMITER):
            if block:
                yield block.whole()
            if end is not None and place >= end:
                return
            block, ended, header = _Block(number + 1), False, _HEADER_LINES
        elif block:
            cut = 0
            if not ended:
                while header and cut < len(content):
                    cut, header = _next_line(content, cut), header - 1
                cut, ended = _molecule_end(content, cut)
                block.add(content[:cut])
            block.add_data(content[cut:])
    if block and block.size and any(map(bytes.strip, block.molecule)):
        yield block.whole()


def _molecule_end(content: bytes, place: int) -> tuple[int, bool]:
    """What follows the end of a molecule, looked for from a line on, and whether there is one."""
    if not content.startswith(_END, place):
        place = content.find(b"\n" + _END, place) + 1
        if not place:
            return len(content), False
    return _next_line(content, place), True


def _next_line(content: bytes, place: int) -> int:
    """Where the next line begins."""
    return content.find(b"\n", place) + 1 or len(content)


def mol2_blocks(path: Path, start: int = 0, end: int | None = None) -> Iterator[Block]:
    """MOL2 records: each starts with its MOLECULE line and belongs to the range of that line."""
    block: _Block | None = None
    for line in lines(path, start):
        if line.content.startswith(_MOLECULE):
            if block:
                yield block.whole()
            if end is not None and line.start >= end:
                return
            block = _Block(line.number)
        if block:
            block.add(line.content)
    if block:
        yield block.whole()


def sdf_record(block: Block, columns: Columns) -> Record:
    """The record of an SDF block."""
    text = decoded(block.molecule).replace("\r\n", "\n")
    data = decoded(block.data)
    items = data_items(data)
    name, place = text.partition("\n")[0], -1
    names = [item[0] for item in items]
    if columns.name_column:
        wanted = (i for i, item in enumerate(names) if plain(item) == plain(columns.name_column))
        place = next(wanted, -1)
        name = items[place][1] if place >= 0 else ""
    elif not name.strip():
        place = find_name(names)
        name = items[place][1] if place >= 0 else ""
    further = {plain(one) for one in columns.wanted()}
    kept = (
        item
        for i, item in enumerate(items)
        if i != place and (columns.keeps(item[0]) or plain(item[0]) in further)
    )
    record = _record(block, name, text, "mol", extra_text(kept))
    if _NEXT_MOLECULE.match(data):
        said = "another molecule follows; put a line '$$$$' between them"
        return record._replace(text=said, reason=Reason.UNPARSABLE)
    return record


def mol2_record(block: Block) -> Record:
    """The record of a MOL2 block."""
    text = decoded(block.molecule).replace("\r\n", "\n")
    name = text.split("\n", 2)[1] if "\n" in text else ""
    return _record(block, "" if name.strip() == _NO_TITLE else name, text, "mol2", "")


def _record(block: Block, name: str, text: str, kind: str, extra: str) -> Record:
    name = named(block.number, name)
    if block.size > RECORD_LIMIT:
        said = f"the molecule has {block.size} bytes, at most {RECORD_LIMIT}"
        return Record(block.number, name, said, extra=extra, reason=Reason.RECORD_TOO_LARGE)
    return Record(block.number, name, text, kind, extra)  # type: ignore[arg-type]


def data_items(text: str) -> list[tuple[str, str]]:
    """Names and values of an SDF record's data items; a blank line ends a value."""
    items = []
    following = iter(text.replace("\r\n", "\n").split("\n"))
    for line in following:
        if found := _ITEM.match(line):
            value = takewhile(str.strip, following)
            items.append((clean_name(found[1]), "\n".join(value)))
    return items
