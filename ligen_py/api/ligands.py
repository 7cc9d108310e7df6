"""What is docked: files as they are; molecules given one by one become files of their own."""

import csv
import errno
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ligen_py.api.hits import Failure
from ligen_py.campaign.names import CONTROL
from ligen_py.errors import InputError
from ligen_py.formats import format_of, is_library_name
from ligen_py.molecules.given import (
    Given,
    Molecule,
    NoMoleculeError,
    given,
    has_lines,
    is_smiles,
    write_library,
)

log = logging.getLogger("ligen_py")

MANY_FILES = 50
"""Files of ligands from which on a word is said of the time that each takes."""

LONGEST = 40
"""Characters of a text that a message quotes."""


@dataclass(frozen=True)
class Source:
    """A library of a few molecules that were given, or a file."""

    file: Path
    places: dict[int, int]
    """Line of a record -> its place among the ligands; empty for a file."""
    index: int = 0
    """Place of a file among the ligands."""

    @property
    def library(self) -> dict[str, Any]:
        """Its keys in a config."""
        names = {}
        if self.places and self.file.suffix == ".csv":
            with self.file.open(encoding="utf-8", newline="") as stream:
                names["smiles_column"], names["name_column"], *_ = next(csv.reader(stream))
        return {"file": str(self.file.absolute()), **names}

    def where(self, file: str, line: int) -> tuple[str, int | None]:
        """Where a record was given, in words, and its place among the ligands."""
        if not self.places:
            return f"{file}, line {line}", None
        return f"ligand {self.places[line] + 1}", self.places[line]

    def order(self, line: int) -> tuple[int, int]:
        """What sorts records as they were given: place among the ligands, line of a file."""
        return self.places.get(line, self.index), line


def sources_of(
    ligands: str | Path | Molecule | Iterable[str | Path | Molecule | None] | None, folder: Path
) -> tuple[dict[str, Source], list[Failure]]:
    """Name of a library -> molecules of one kind, or a file; what is no molecule.

    SMILES are together, and so are molecules with 3-D coordinates: each library is docked for
    itself. Libraries are in the order of their first molecules. Raises InputError where a file
    cannot be used, and TypeError for a value that is none of these.
    """
    if isinstance(ligands, Mapping) or hasattr(ligands, "columns"):
        raise TypeError(
            f"ligands are a {type(ligands).__name__}, which gives its keys; give a list: of a data "
            "frame the column of SMILES, of a dict its values"
        )
    if isinstance(ligands, str | bytes) or not isinstance(ligands, Iterable):
        ligands = [ligands]
    failures: list[Failure] = []
    every: list[tuple[int, Path | Given]] = []
    for index, ligand in enumerate(ligands):
        file = file_of(ligand)
        try:
            every.append((index, given(ligand) if file is None else file))
        except NoMoleculeError as error:
            named = isinstance(ligand, str) and ligand.strip() and not has_lines(ligand)
            said = str(ligand) if named else f"ligand {index + 1}"
            why = str(error)
            failures.append(Failure(said, "failed", why, f"ligand {index + 1}", index))
        except TypeError as error:
            raise TypeError(f"ligand {index + 1}: {error}") from error
    if not every and not failures:
        raise InputError("no ligand was given")
    together: dict[object, list[tuple[int, Path | Given]]] = {}
    for index, one in every:
        kind = one.is_block if isinstance(one, Given) else ("file", index)
        together.setdefault(kind, []).append((index, one))
    files = sum(isinstance(one, Path) for _, one in every)
    if files > MANY_FILES:
        log.warning(
            "%d files: each is docked for itself, which takes a second or two more; join small "
            "ones into one file",
            files,
        )
    sources: dict[str, Source] = {}
    for members in together.values():
        index, first = members[0]
        if isinstance(first, Path):
            sources[_distinct(plain_name(first), sources)] = Source(first, {}, index)
            continue
        name = _distinct("given", sources)
        folder.mkdir(parents=True, exist_ok=True)
        molecules = [one for _, one in members if isinstance(one, Given)]
        file, lines = write_library(molecules, folder / name)
        places = dict(zip(lines, (index for index, _ in members), strict=True))
        sources[name] = Source(file, places)
    return sources, failures


def file_of(ligand: str | Path | Molecule | None) -> Path | None:
    """The library file that a ligand names, None where it is a molecule itself."""
    if not isinstance(ligand, str | Path):
        return None
    path = Path(ligand)
    named = isinstance(ligand, Path) or is_library_name(ligand)
    if not named and not _exists(path):
        return None
    require_name("ligand", ligand)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give its files")
    if not path.exists():
        raise InputError(f"{path}: does not exist")
    format_of(path)
    return path


def require_name(what: str, file: str | Path) -> None:
    """InputError where a file is given as its text, or its name is longer than any can be."""
    text = str(file)
    try:
        if Path(text).exists() or not (has_lines(text) or "\0" in text):
            return
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    raise InputError(f"{what}: give the file's name, not its text, {text[:LONGEST]!r} ...")


def _exists(path: Path) -> bool:
    """Whether there is such a file, or such a folder that is not called like a molecule."""
    try:
        is_folder = path.name != "" and path.is_dir()  # of no text, too, the path is a folder
        return path.is_file() or (is_folder and not is_smiles(str(path)))
    except (OSError, ValueError):  # a SMILES may be too long for a name
        return False


def plain_name(path: Path) -> str:
    """A file's name without its endings, as the name of a target or library."""
    stem = path.name.split(".")[0]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_-")[: 64 - 2 * len(CONTROL)]
    return f"input-{plain}" if plain.startswith(CONTROL) else plain or "input"


def _distinct(name: str, taken: Mapping[str, object]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found
