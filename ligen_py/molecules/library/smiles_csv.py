"""Molecules in tables of text: lines of SMILES with or without a header, and CSV."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rdkit import Chem, rdBase

from ligen_py.errors import InputError
from ligen_py.molecules.library.columns import SMILES_NAMES, find, find_name, find_smiles, plain
from ligen_py.molecules.library.lines import LINE_LIMIT, Line, lines
from ligen_py.molecules.library.record import (
    WHITE,
    Columns,
    Record,
    decoded,
    extra_text,
    smiles_record,
)
from ligen_py.records.ledger import Reason

SEPARATORS = "\t,;|"
QUOTED_LINES = 100
"""Most lines of one row; a quote that is open for longer is an ordinary character."""

_LEAD = re.compile(r"([^\s,]*(?:\s+\|[^|]*\|(?=[\s,]|$))?)([\s,]*)(.*)", re.DOTALL)
"""A line's SMILES with ChemAxon's extension (stereo groups, labels), a gap, and the rest.

A gap of the web may be a blank at which no line breaks.
"""

_OF_EXCEL = re.compile(rb'"?sep=.?"?', re.IGNORECASE)
"""A line above the header that gives Excel the separator, which is stripped if it is a tab."""

_QUOTED = re.compile(r'"([^"]*)"')
"""A cell in quotes, in which a line may end."""


_QUOTED_FIRST = re.compile(r'"([^"]*)"(?:([\t,])|\s+|$)')
"""A line that begins with a cell in quotes, as no SMILES does: the cell, and a tab or comma."""


class Layout(NamedTuple):
    """Layout of a table: header, separator and columns."""

    header: int
    """First byte of the header line; -1: there is none."""
    separator: str
    """Separator of cells; a blank: white space; empty: found in each row, after its SMILES."""
    is_csv: bool
    """CSV: rows may span lines. SMILES: lines that start with # are no rows."""
    names: tuple[str, ...]
    """Names of the columns; empty: they have numbers, from 1."""
    smiles: int
    """Column of the SMILES, from 0."""
    name: int
    """Column of the name; -1: none."""
    columns: Columns

    def keeps(self, column: int) -> str:
        """The name of a further column that is exported with the results, else an empty text."""
        if column in (self.smiles, self.name):
            return ""
        name = self.names[column] if column < len(self.names) else str(column + 1)
        return name if self.columns.keeps(name) else ""


def layout_of(path: Path, columns: Columns, is_csv: bool) -> Layout:
    """The layout of a table, from its first row.

    A CSV has a header unless the columns are given by number; lines that start with # above it are
    comments, unless a cell of theirs is the name of a SMILES column, and Excel's line `sep=;` is
    none of its rows. A SMILES file has a header if
    a column has the name of a SMILES column, or if a column is given by name.

    Raises InputError that lists the columns if a wanted one, or that of the SMILES, is missing.
    """
    first = next((line for line in lines(path) if _may_be_row(line, is_csv)), None)
    if first is None:
        return Layout(-1, ",", is_csv, (), 0, -1, columns)
    if is_csv and first.content.count(b'"') % 2:
        first = _whole_header(path, first)
    words = decoded(first.content).strip("\r\n")
    separator = _separator(words, is_csv)
    asked = [name for name in (columns.smiles_column, columns.name_column) if name]
    if any(name.isdecimal() for name in asked):
        return Layout(-1, separator, is_csv, (), *_numbers(path, columns), columns)
    if separator == " ":
        cells = _quoted_words(words) if '"' in words else _words(words)
    else:
        cells = split_csv(words, separator)
    if not (is_csv or asked or _is_header(cells)):
        return Layout(-1, "", False, (), 0, 1, columns)
    names = _distinct(cells)
    smiles = (
        find(path, names, columns.smiles_column)
        if columns.smiles_column
        else find_smiles(path, names)
    )
    name = find_name(names, smiles)
    if columns.name_column:
        name = find(path, names, columns.name_column)
    elif name < 0 and len(names) == 2 and not is_csv:
        name = 1 - smiles
    kept = {names[find(path, names, wanted)] for wanted in columns.wanted()}
    columns = columns._replace(columns=tuple(sorted(kept))) if kept else columns
    return Layout(first.start, separator, is_csv, names, smiles, name, columns)


def _may_be_row(line: Line, is_csv: bool) -> bool:
    content = line.content.strip()
    if is_csv and _OF_EXCEL.fullmatch(content):
        return False
    if not (is_csv and content.startswith(b"#")):
        return bool(content) and not content.startswith(b"#")
    words = decoded(content.lstrip(b"# "))
    return _names_smiles(words, max(",\t;|", key=words.count))


def _whole_header(path: Path, first: Line) -> Line:
    """The header of a CSV table of unknown separator, whose names may contain line ends."""
    for mark in SEPARATORS:
        row = next((row for row in _csv_rows(path, 0, mark) if row.start == first.start), first)
        if row.content != first.content:
            return row
    return first


def _separator(words: str, is_csv: bool) -> str:
    """The separator of the cells of the first row.

    In a CSV the most frequent mark with which a cell names the SMILES, if there is one: names may
    contain other marks, such as "Name (German, French, English)".
    """
    if not is_csv:
        if "\t" in words:
            return "\t"
        if "," in words.split(None, 1)[0]:  # one behind a blank belongs to a name
            return ","
        return next((mark for mark in ";|" if _names_smiles(words, mark)), " ")
    bare = _QUOTED.sub("", words)
    return max(",\t;|", key=lambda mark: (_names_smiles(words, mark), bare.count(mark)))


def _names_smiles(words: str, separator: str) -> bool:
    return any(plain(cell) in SMILES_NAMES for cell in split_csv(words, separator))


def _numbers(path: Path, columns: Columns) -> tuple[int, int]:
    """Columns of the SMILES and the name, if given by number."""
    asked = columns.smiles_column or "1", columns.name_column or "0"
    if not all(map(str.isdecimal, asked)) or asked[0] == "0":
        raise InputError(
            f"{path}: give smiles_column and name_column both as names, or both as numbers from 1, "
            "which are columns of a table without header"
        )
    return int(asked[0]) - 1, int(asked[1]) - 1


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the first row of a SMILES file is a header; no SMILES spells the word."""
    names = [plain(cell) for cell in cells]
    if "smiles" in names[0] or names[0] in SMILES_NAMES:
        return True
    if not any("smiles" in name for name in names[1:]):
        return False
    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(cells[0]) is None


def _distinct(cells: Sequence[str]) -> tuple[str, ...]:
    """Column names without repeats: a later one of the same name gets its number behind it."""
    names: list[str] = []
    for i, cell in enumerate(cells, 1):
        name = cell.strip(WHITE) or str(i)
        names.append(f"{name} ({i})" if name in names else name)
    return tuple(names)


def rows(path: Path, layout: Layout, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """Rows of a table that start from byte `start` on and before byte `end`; not the header."""
    every = _csv_rows(path, start, layout.separator) if layout.is_csv else lines(path, start)
    for row in every:
        if end is not None and row.start >= end:
            return
        if row.start < start or row.start <= layout.header or _is_blank(row, layout):
            continue
        if layout.is_csv or not row.content.lstrip().startswith(b"#"):
            yield row


def _is_blank(row: Line, layout: Layout) -> bool:
    """Whether a row is blank; in a CSV table empty cells between tabs are a record."""
    cells = layout.is_csv and layout.separator.encode() in row.content
    return not (row.content.strip() or cells)


def _csv_rows(path: Path, start: int, separator: str) -> Iterator[Line]:
    """Rows of a CSV table, from byte `start` or earlier on.

    A quoted cell may contain line ends. After a quote the start of a row is known only if the table
    was read from its beginning.
    """
    source = lines(path, start if start and not _quotes_before(path, start) else 0)
    mark = separator.encode()
    waiting: deque[Line] = deque()
    while line := _following(waiting, source):
        more: list[Line] = []
        is_open = _ends_in_quotes(line.content, mark, False)
        while is_open:
            after = _following(waiting, source) if len(more) < QUOTED_LINES else None
            more += [after] if after else []
            if after is None or _goes_on(after.content, mark):  # not a quote: each line is a row
                waiting.extendleft(reversed(more))
                more = []
                break
            is_open = _ends_in_quotes(after.content, mark, True)
        yield line._replace(content=b"".join([line.content, *(part.content for part in more)]))


def _following(waiting: deque[Line], source: Iterator[Line]) -> Line | None:
    return waiting.popleft() if waiting else next(source, None)


def _quotes_before(path: Path, end: int) -> bool:
    """Whether there is a quote before byte `end`, or in the line of that byte."""
    with path.open("rb") as file:
        while end > 0 and (piece := file.read(min(end, 1 << 20))):
            if b'"' in piece:
                return True
            end -= len(piece)
        return b'"' in file.readline(LINE_LIMIT)


def _ends_in_quotes(line: bytes, separator: bytes, inside: bool) -> bool:
    """Whether a line ends within a quoted cell, from whether it starts in one."""
    place = 0
    if not inside:
        inside = line.startswith(b'"')
        place = int(inside)
    while True:
        if inside:
            place = line.find(b'"', place) + 1
            if not place:
                return True
            if line.startswith(b'"', place):  # two quotes mean one
                place += 1
                continue
        place = line.find(separator, place) + 1
        if not place:
            return False
        inside = line.startswith(b'"', place)
        place += inside


def _goes_on(line: bytes, separator: bytes) -> bool:
    """Whether a cell goes on behind the quote that ends it in this line, so that none began."""
    rest = line.replace(b'""', b"").partition(b'"')[2].lstrip(b" ")
    return not (rest.strip() == b"" or rest.startswith(separator))


def row_record(row: Line, layout: Layout) -> Record:
    """The record of one row."""
    words = decoded(row.content).strip("\r\n")
    if "\r" in words and not (layout.is_csv and "\r" not in _QUOTED.sub("", words)):
        said = "a bare carriage return stands in the line; the file mixes line ends"
        return Record(row.number, f"line-{row.number}", said, reason=Reason.UNPARSABLE)
    cells = _cells(words, layout)
    extra = extra_text((kept, cell) for i, cell in enumerate(cells) if (kept := layout.keeps(i)))
    name = _cell(cells, layout.name)
    return smiles_record(row.number, name, _cell(cells, layout.smiles), extra)


def _cell(cells: Sequence[str], place: int) -> str:
    return cells[place] if 0 <= place < len(cells) else ""


def _cells(words: str, layout: Layout) -> list[str]:
    if layout.separator == "\t" and not layout.is_csv:
        return _tabbed(words)
    if layout.separator in SEPARATORS and layout.separator:
        return split_csv(words, layout.separator)
    words = words.strip()
    if quoted := _QUOTED_FIRST.match(words):
        if layout.separator:
            return _quoted_words(words)
        if quoted[2]:
            return split_csv(words, quoted[2])
        return [quoted[1], *_tabbed(words[quoted.end() :])]
    if layout.smiles:
        return _words(words, len(layout.names) - 1)
    smiles, gap, rest = _LEAD.match(words).groups()  # type: ignore[union-attr]  # matches any text
    if layout.separator:
        more = _words(rest, len(layout.names) - 2)
    else:
        more = split_csv(rest, ",") if "," in gap else _tabbed(rest)
    return [smiles, *more]


def _words(words: str, most: int = -1) -> list[str]:
    """Words between blanks; the last one has the rest if there are more than `most` + 1."""
    if most == 0:
        return [words]
    return re.split(r"\s+", words.strip(), maxsplit=max(0, most))


def _tabbed(words: str) -> list[str]:
    """Cells between tabs; quotes that enclose a whole cell are taken off, others are its own."""
    return [found[1] if (found := _QUOTED.fullmatch(cell)) else cell for cell in words.split("\t")]


def _quoted_words(words: str) -> list[str]:
    """Words between blanks, some of them in quotes."""
    return [cell for cell in split_csv(words.strip(), " ") if cell]


def split_csv(words: str, separator: str) -> list[str]:
    """The cells of one row, in which a quote that is never closed is an ordinary character."""
    if '"' not in words:
        return words.split(separator)
    cells, place = [], 0
    rest = f"([^{re.escape(separator)}]*)"
    cell = re.compile(f'"((?:[^"]++|"")*+)"{rest}|{rest}')
    while place <= len(words):
        found = cell.match(words, place)
        assert found  # any text is a cell
        quoted, behind, plain = found.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"') + behind)
        place = found.end() + 1
    return cells
