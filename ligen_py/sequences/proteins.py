"""Proteins of a FASTA file as numbers, with what became of each record."""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.sequences.alphabets import encode, read_as_unknown
from ligen_py.sequences.fasta import FastaRecord, read_fasta

log = logging.getLogger("ligen_py")

NUCLEOTIDES = b"ACGTUNacgtun"
"""Of DNA and RNA. All but U are amino acids, too."""

LONG = 50
"""Residues; no protein of so many has no other letters."""


@dataclass
class Proteins:
    """All records of a file, in its order."""

    name: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    letters: list[np.ndarray] = field(default_factory=list)
    """u1, numbers of `AMINO_ACIDS`; empty for a record that cannot be aligned."""
    fault: list[str] = field(default_factory=list)
    """Why a record's letters cannot be read; empty where they can."""
    unknown: int = 0
    """Letters U, O and J, read as X."""

    @property
    def residues(self) -> int:
        """Of all records."""
        return sum(map(len, self.letters))

    @property
    def shown(self) -> list[str]:
        """The header of each record; its name where that is empty."""
        return [header or name for header, name in zip(self.header, self.name, strict=True)]

    def __len__(self) -> int:
        """Records."""
        return len(self.name)


def read_proteins(path: Path, keep_faulty: bool = False) -> Proteins:
    """Read all records of a FASTA file.

    Raises InputError where one holds a letter that is no amino acid; with `keep_faulty` the record
    is kept without its letters, and `fault` says why.
    """
    return collect(read_fasta(path), path, keep_faulty)


def collect(records: Iterable[FastaRecord], path: Path, keep_faulty: bool = False) -> Proteins:
    """Proteins of records that come from a file; see `read_proteins`."""
    found = Proteins()
    for record in records:
        if len(record.sequence) > LONG and not found.name:
            _warn_of_nucleotides(record, path)
        fault = ""
        try:
            letters = encode(record, str(path))
        except InputError as error:
            if not keep_faulty:
                raise
            letters, fault = np.empty(0, "u1"), str(error).removeprefix(f"{path}: ")
        found.name.append(record.name)
        found.header.append(record.header)
        found.letters.append(letters)
        found.fault.append(fault)
        found.unknown += read_as_unknown(record.sequence)
    return found


def _warn_of_nucleotides(record: FastaRecord, path: Path) -> None:
    """Say so where the first record of a file is no protein."""
    if not record.sequence.translate(None, NUCLEOTIDES):
        log.warning(
            "%s: %s looks like DNA or RNA, and its letters are read as amino acids; give proteins",
            path, record.name,
        )  # fmt: skip


def residue_numbers(text: str) -> tuple[int, ...]:
    """Numbers of residues, rising, from text such as 12,34-40; ValueError for any other."""
    found: set[int] = set()
    for word in text.split(","):
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", word.strip())
        some = range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
        if not some or some[0] < 1:
            raise ValueError(f"{word!r} is no residue such as 12, or range such as 34-40")
        found.update(some)
    return tuple(sorted(found))
