"""The files of a library, and their parts, from names and sizes alone: no file is opened."""

import glob
import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from ligen_py.errors import InputError

SUFFIXES = {
    "smiles": (".smi", ".smiles", ".ism", ".cxsmiles", ".txt"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "sdf": (".sdf", ".sd", ".mol"),
    "mol2": (".mol2",),
}
"""Format of a library file -> its endings."""

COMPRESSED = (".gz", ".zst", ".bz2")
"""Endings that may follow; whether a file is compressed is read from its content."""

AMBIGUOUS = (".txt",)
"""Endings that notes may have too: such files are read only if named or matched by a glob."""

WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
"""Endings of what spreadsheets keep for themselves."""

STRUCTURES = (".pdb", ".ent", ".pdbqt", ".cif", ".mmcif")
"""Endings of files without bond orders."""

BYTES_PER_RECORD = {"smiles": 64, "csv": 128, "parquet": 64, "sdf": 2500, "mol2": 4000}
"""Approximate bytes of one molecule: 70 in ZINC's SMILES, 2100 in NCI's SDF with properties."""
COMPRESSION = 4
"""Approximate number of unpacked bytes for one byte of a compressed library."""

LABEL_LENGTH = 100
"""Most characters of a file's label, which becomes part of file names."""


class LibraryFile(NamedTuple):
    """One file of a library."""

    path: Path
    name: str
    """Its path within the library, or its name where the library is this one file."""
    label: str
    """Prefix of the names of its parts; empty where the library is this one file."""
    size: int
    """Bytes."""


def format_of(path: Path) -> str:
    """The format of a file by its name, a key of `SUFFIXES`; InputError if the ending is unknown.

    >>> format_of(Path("vendor.SMI.gz"))
    'smiles'
    """
    found = _format(path.name)
    if found is None:
        if _ending(path.name) in STRUCTURES:
            raise InputError(
                f"{path}: a structure file has no bond orders; give molecules as SDF, MOL2 or "
                "SMILES"
            )
        if _ending(path.name) in WORKBOOKS:
            raise InputError(f"{path}: is a workbook of a spreadsheet; save it as CSV")
        known = ", ".join(f"*{end}" for ends in SUFFIXES.values() for end in ends)
        raise InputError(
            f"{path}: format unknown; name it {known}, or one of these with "
            f"{', '.join(COMPRESSED)} behind"
        )
    return found


def is_library_name(name: str) -> bool:
    """Whether a text has the ending of a library file; no SMILES has one.

    >>> is_library_name("vendor.sdf.gz"), is_library_name("CC(=O)O.[Na]")
    (True, False)
    """
    return _format(name) is not None


def _format(name: str) -> str | None:
    ending = _ending(name)
    return next((kind for kind, endings in SUFFIXES.items() if ending in endings), None)


def _ending(name: str) -> str:
    """The ending that gives the format, without that of a compressed file."""
    plain = Path(name.lower())
    return Path(plain.stem).suffix if plain.suffix in COMPRESSED else plain.suffix


def library_files(given: Path) -> list[LibraryFile]:
    """The files of a library, by name: of a file, of a folder with all below it, or of a glob.

    A folder gives the files with a known ending (except `AMBIGUOUS` ones), a glob all that match.
    Hidden files are excluded, and empty ones if there are several. A label depends on the file's
    own name alone, so that added or removed files change nothing for the others.

    Raises InputError if the path does not exist or no file is found.
    """
    if given.is_file():
        format_of(given)
        return [LibraryFile(given, given.name, "", given.stat().st_size)]
    if given.is_dir():
        base, names = given, _walk(given)
        names = [name for name in names if _format(name) and _ending(name) not in AMBIGUOUS]
        nothing = f"the folder {given} contains no library file; give another folder, or a glob"
    elif glob.has_magic(str(given)):
        base = _fixed(given)
        pattern = str(given.relative_to(base))
        found = glob.glob(pattern, root_dir=base, recursive=True)  # noqa: PTH207 (it follows root)
        names = [name for name in found if (base / name).is_file()]
        nothing = f"no file matches {given}; correct the pattern"
    else:
        raise InputError(f"{given} does not exist; correct the path")
    sizes = {name: (base / name).stat().st_size for name in names}
    names = sorted(name for name, size in sizes.items() if size)
    if not names:
        raise InputError(nothing)
    for name in names:
        format_of(base / name)
        if not name.isprintable():
            raise InputError(f"the name of the file {name!r} cannot be shown; rename it")
    return [LibraryFile(base / name, name, _label(name), sizes[name]) for name in names]


def _walk(folder: Path) -> list[str]:
    """Files below a folder, relative to it, without hidden files and folders.

    Links to folders are followed, but for those that lead back to a folder on the way to them.
    Raises InputError for a folder that cannot be read: its molecules would be missing.
    """

    def refuse(error: OSError) -> None:
        """End the walk where `os.walk` would leave a folder out."""
        raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from error

    found = []
    ways = {str(folder): {os.path.realpath(folder)}}
    for top, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        way = ways.pop(top)
        places = {name: os.path.realpath(os.path.join(top, name)) for name in folders}  # noqa: PTH118
        folders[:] = [name for name in folders if name[0] != "." and places[name] not in way]
        ways |= {os.path.join(top, name): way | {places[name]} for name in folders}  # noqa: PTH118
        here = Path(top).relative_to(folder)
        found += [str(here / name) for name in files if not name.startswith(".")]
    return found


def _fixed(pattern: Path) -> Path:
    """The folder before the first wildcard of a pattern."""
    parts = pattern.parts
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def _label(name: str) -> str:
    """A file's name in a form that is safe in file names; different names have different labels."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).lstrip("._-")
    if plain == name and len(name) <= LABEL_LENGTH:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:8]
    return f"{plain[-(LABEL_LENGTH - 9) :].lstrip('._-')}-{digest}"


def parts_of(file: LibraryFile, chunk_size: int) -> int:
    """The number of parts of a file, so that one contains about `chunk_size` molecules.

    >>> parts_of(LibraryFile(Path("a.smi"), "a.smi", "", 6_400_000), chunk_size=20_000)
    5
    """
    return max(1, round(unpacked(file) / (BYTES_PER_RECORD[format_of(file.path)] * chunk_size)))


def records_of(file: LibraryFile) -> float:
    """About how many molecules a file has, by its size.

    >>> records_of(LibraryFile(Path("a.smi"), "a.smi", "", 6_400_000))
    100000.0
    """
    return unpacked(file) / BYTES_PER_RECORD[format_of(file.path)]


def unpacked(file: LibraryFile) -> int:
    """Bytes of a file's text; about, where it is compressed."""
    return file.size * (COMPRESSION if file.path.suffix.lower() in COMPRESSED else 1)
