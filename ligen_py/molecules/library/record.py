"""The records that every reader of library files returns, their columns, and parts of files."""

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ligen_py.records.ledger import Reason

RECORD_LIMIT = 1 << 20
"""Most bytes of one molecule as written, far more than any molecule that can be docked."""
EXTRA_LIMIT = 1 << 14
"""Most characters of a record's further columns as JSON; values that do not fit are omitted."""

WHITE = " \t\r\n\v\f"

_SMILES = re.compile(r"\S*(?:\s+\|[^|]*\|(?=\s|$))?")
"""A word, with ChemAxon's extension behind it: stereo groups, labels, coordinates."""

_OPEN = re.compile(r"\S+\s+\|[&oa]\d*:[^|]*$")
"""A word with the stereo groups of an extension that has no end."""


@dataclass(frozen=True)
class Part:
    """Part `index` of `count`, from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        """As on the command line and in file names."""
        return f"{self.index}-of-{self.count}"

    @classmethod
    def parse(cls, text: str) -> "Part":
        """Read "K-of-N"; ValueError unless 1 <= K <= N.

        >>> Part.parse("2-of-3").share(10)
        (3, 6)
        """
        found = re.fullmatch(r"([0-9]{1,9})-of-([0-9]{1,9})", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"a part is K-of-N with 1 <= K <= N, such as 1-of-8, not {text!r}")
        return cls(int(found[1]), int(found[2]))

    def share(self, size: int) -> tuple[int, int]:
        """The part's range of `size` bytes or rows: first, and one past the last."""
        return size * (self.index - 1) // self.count, size * self.index // self.count


WHOLE = Part(1, 1)


ALL, NONE = ("all",), ("none",)


class Columns(NamedTuple):
    """The columns of a library that are read; fields as in the section `libraries`."""

    smiles_column: str = ""
    name_column: str = ""
    columns: tuple[str, ...] = ALL

    def wanted(self) -> tuple[str, ...]:
        """The further columns that are wanted by name."""
        return () if self.columns in (ALL, NONE) else self.columns

    def keeps(self, name: str) -> bool:
        """Whether a further column is exported with the results."""
        return self.columns == ALL or name in self.wanted()


GUESSED = Columns()


class Record(NamedTuple):
    """One molecule as written in a library file."""

    line: int
    """First line of the record in its file, from 1; in Parquet the row."""
    name: str
    """Name as given; "line-N" where there is none. Control characters have become spaces."""
    text: str
    """A SMILES, an SDF block up to and including its end of molecule, or a MOL2 record."""
    kind: Literal["smiles", "mol", "mol2"] = "smiles"
    extra: str = ""
    """Further columns as a JSON object of texts; empty where there are none."""
    reason: Reason = Reason.NONE
    """Why the record cannot be used; `text` then has the reason in words."""


def named(line: int, name: str) -> str:
    """A record's name, or its line where it has none."""
    return clean_name(name) or f"line-{line}"


def clean_name(text: str) -> str:
    """A name that is safe in logs and tables: control characters and line separators become spaces.

    Nothing else changes: commas, quotes, slashes, any script, any length.

    >>> clean_name("a" + chr(9) + "b,c")
    'a b,c'
    """
    if text.isprintable():
        return text.strip(WHITE)
    kept = (" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    return "".join(kept).strip(WHITE)


def decoded(raw: bytes) -> str:
    """Text of a file: UTF-8, or else Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def extra_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Further columns of a record as a JSON object, without blank and overlong values.

    Of equal names the first value that is not blank counts.
    """
    kept: dict[str, str] = {}
    size = 2
    for name, value in pairs:
        value = value.strip(WHITE)
        if not value or name in kept:
            continue
        more = len(json.dumps({name: value}, ensure_ascii=False))
        if size + more <= EXTRA_LIMIT:
            kept[name] = value
            size += more
    return json.dumps(kept, ensure_ascii=False) if kept else ""


def split_smiles(text: str) -> tuple[str, str]:
    """The SMILES that a text begins with, ChemAxon's extension included, and what stands behind it.

    >>> split_smiles("CC(F)O |&1:1|  my name")
    ('CC(F)O |&1:1|', 'my name')
    """
    text = text.strip()
    smiles = _SMILES.match(text)[0]  # type: ignore[index]  # matches any text
    return smiles, text[len(smiles) :].strip()


def smiles_record(line: int, name: str, cell: str, extra: str) -> Record:
    """The record of a cell with a SMILES, with or without ChemAxon's extension."""
    name = named(line, name)
    smiles, behind = split_smiles(cell)
    if not smiles:
        said = "there is no SMILES"
        return Record(line, name, said, extra=extra, reason=Reason.NO_STRUCTURE)
    if _OPEN.match(cell.strip()):
        said = (
            "the extension behind the SMILES has no second '|'; in a table quote a cell with commas"
        )
        return Record(line, name, said, extra=extra, reason=Reason.UNPARSABLE)
    if behind and not behind.startswith("|"):  # not a faulty extension, which says nothing
        # A SMILES with a blank in it would be another molecule.
        said = (
            f"the cell has more than a SMILES: {clean_name(behind)[:80]}; give a name a column of "
            "its own, or look at the separator"
        )
        return Record(line, name, said, extra=extra, reason=Reason.UNPARSABLE)
    if len(smiles) > RECORD_LIMIT:
        said = f"the SMILES has {len(smiles)} characters, at most {RECORD_LIMIT}"
        return Record(line, name, said, extra=extra, reason=Reason.RECORD_TOO_LARGE)
    return Record(line, name, smiles, extra=extra)
