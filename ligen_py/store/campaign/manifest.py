"""The manifest: which files make up a campaign, one row per target, library and chunk."""

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ligen_py.chain import FILES
from ligen_py.errors import InputError
from ligen_py.provenance import Input, file_digest
from ligen_py.records.limits import NAME

COLUMNS = ("target", "library", "file", *FILES, "control", "crystal", "conformation")
"""Columns of the table, tab-separated, named in its first line; files in the stages' order."""


class Listed(NamedTuple):
    """What is listed of a part wherever its files lie."""

    label: str
    file: str
    control: bool
    crystal: Path | None


@dataclass(frozen=True, slots=True)
class PartFiles:
    """The files of one chunk of a library against one target.

    `control` marks the redocking control: the target's own reference ligand, docked like any other
    molecule; `crystal` is the file with its measured pose, which other parts name where there is no
    control. `conformation` names one of several structures of the target, each with a pocket of its
    own; it is empty where there is one.
    """

    target: str
    library: str
    pocket: Path
    ligands: Path
    poses: Path
    kept: Path
    refined: Path
    scores: Path
    control: bool = False
    crystal: Path | None = None
    file: str = ""
    """The library's file that the chunk is a part of, as it is called within the library."""
    conformation: str = ""

    @property
    def place(self) -> str:
        """Name of the pocket: target, or target.conformation."""
        return f"{self.target}.{self.conformation}" if self.conformation else self.target

    @property
    def label(self) -> str:
        """How messages and tables name the part: pocket/library/chunk."""
        return f"{self.place}/{self.library}/{self.ligands.stem}"

    def renamed(self, folder: str, name: str) -> "PartFiles":
        """The part with its files in `name`, as far as they are in `folder`, relative both."""
        paths = {kind: getattr(self, kind) for kind in FILES}
        below: dict[str, Any] = {
            kind: Path(name, *path.parts[1:])
            for kind, path in paths.items()
            if path.parts[:1] == (folder,)
        }
        return replace(self, **below)

    def moved(self, folder: Path) -> "PartFiles":
        """The part with its relative paths counted from another folder."""
        paths = {name: folder / getattr(self, name) for name in FILES}
        return replace(self, **paths, crystal=self.crystal and folder / self.crystal)


@dataclass(frozen=True, slots=True)
class Manifest:
    """All parts of a campaign, in the order of the table."""

    parts: tuple[PartFiles, ...]

    @property
    def targets(self) -> list[str]:
        """Names of the targets."""
        return list(dict.fromkeys(part.target for part in self.parts))

    @property
    def libraries(self) -> list[str]:
        """Names of the libraries; the controls are none."""
        return list(dict.fromkeys(part.library for part in self.parts if not part.control))

    @property
    def files(self) -> list[tuple[str, str]]:
        """The libraries' files, in order: library, and the file's name within it."""
        every = ((part.library, part.file) for part in self.parts if not part.control)
        return list(dict.fromkeys(every))

    def chunks(self, target: str, library: str) -> list[list[PartFiles]]:
        """The chunks of a library against a target, each with a part for every conformation."""
        chunks: dict[Path, list[PartFiles]] = {}
        for part in self.parts:
            if (part.target, part.library, part.control) == (target, library, False):
                chunks.setdefault(part.ligands, []).append(part)
        return list(chunks.values())

    def control(self, target: str) -> list[PartFiles]:
        """The redocking control of a target, one for every conformation; none where it has none."""
        return [part for part in self.parts if part.target == target and part.control]

    def moved(self, folder: Path) -> "Manifest":
        """The manifest with its relative paths counted from another folder."""
        return Manifest(tuple(part.moved(folder) for part in self.parts))

    @property
    def crystals(self) -> set[Path]:
        """The reference ligands, as resolved paths: files of the user."""
        return {part.crystal.resolve() for part in self.parts if part.crystal}

    def found_from(self, path: Path) -> "Manifest":
        """The manifest with paths that lead somewhere from here.

        Its relative paths count from the folder in which the campaign ran: one above the manifest
        `path`, or else this one, which may be another campaign's. The folder that the manifest lies
        in comes first, whatever it is called by now: another one may have its name. Raises
        InputError where no such folder has the first part's ligands.
        """
        first, here, own = self.parts[0].ligands, Path.cwd(), path.absolute().parent
        if (own / Path(*first.parts[1:])).is_file():
            folder = Path() if own.parent == here else own.parent
            parts = (part.renamed(first.parts[0], own.name) for part in self.parts)
            return Manifest(
                tuple(
                    replace(part.moved(folder), crystal=_nearest(part.crystal, folder))
                    for part in parts
                )
            )
        # The folder of results may be a link, so that the campaign's is not above its real place.
        for folder in (*path.absolute().parents, *path.resolve().parents, here):
            if (folder / first).exists():
                return self.moved(Path() if folder == here else folder)
        raise InputError(
            f"{path}: its files are not here ({first}); go to the folder in which it was made"
        )

    def text(self) -> str:
        """The table that `read_manifest` reads."""
        rows = [
            (
                *(part.target, part.library, part.file),
                *(str(getattr(part, name)) for name in FILES),
                *(str(int(part.control)), str(part.crystal or ""), part.conformation),
            )
            for part in self.parts
        ]
        return "".join("\t".join(row) + "\n" for row in (COLUMNS, *rows))

    def input(self) -> Input:
        """The manifest as an input in a run record."""
        return Input("manifest", self.digest())

    def digest(self) -> str:
        """SHA-256 of what the manifest lists, wherever its files lie: parts, and crystal poses.

        What the other files hold is known by the run records. Raises InputError where a crystal
        pose is missing.
        """
        return digest_of(self._listed())

    def _listed(self) -> Iterator[Listed]:
        return (Listed(part.label, part.file, part.control, part.crystal) for part in self.parts)

    def differences(self, other: "Manifest") -> list[str]:
        """What `other` lists, lacks or lists otherwise than this manifest, in words."""
        mine, theirs = _in_words(self._listed()), _in_words(other._listed())
        if mine == theirs:
            return []
        here, there = dict(mine), dict(theirs)
        found = [f"lacks the part {label}" for label in here if label not in there]
        found += [f"lists the part {label}, which is none" for label in there if label not in here]
        found += [
            f"lists the part {label} with another file, or another reference ligand"
            for label, what in here.items()
            if there.get(label, what) != what
        ]
        return found or ["lists the parts in another order"]


def digest_of(parts: Iterable[Listed]) -> str:
    """`Manifest.digest` of parts, for which their files need not be named.

    Raises InputError where a crystal pose is missing.
    """
    listed = list(parts)
    for crystal in dict.fromkeys(part.crystal for part in listed):
        if crystal is not None and not crystal.is_file():
            raise InputError(f"{crystal}: does not exist; give the reference ligand of the site")
    return hashlib.sha256("\n".join(map("\t".join, _in_words(listed))).encode()).hexdigest()


def _in_words(parts: Iterable[Listed]) -> list[tuple[str, str]]:
    """Label of each part, and what else is listed of it; every crystal is read once."""
    content = cache(_content)
    return [
        (part.label, f"{part.file}\t{int(part.control)}\t{content(part.crystal)}") for part in parts
    ]


def _content(crystal: Path | None) -> str:
    """SHA-256 of a reference ligand; empty where there is none, or none any more."""
    return "" if crystal is None or not crystal.is_file() else file_digest(crystal)


def _nearest(crystal: Path | None, folder: Path) -> Path | None:
    """A reference ligand in a folder, or here, since a copy of the results alone has none."""
    if crystal is None or (crystal.is_file() and not (folder / crystal).is_file()):
        return crystal
    return folder / crystal


def read_manifest(path: Path) -> Manifest:
    """Read and check a manifest; rows keep their order, which is the order of the library.

    Raises InputError that names the file and the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8; give the manifest of a campaign") from error
    table = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(table, [])
    if tuple(header) != COLUMNS:
        raise InputError(
            f"{path}: not the manifest of a campaign, such as results/manifest.tsv; "
            f"the first line must contain the tab-separated columns {', '.join(COLUMNS)}"
        )
    parts = [_part(f"{path}: line {table.line_num}", row) for row in table if row]
    if not any(not part.control for part in parts):
        raise InputError(f"{path}: lists no part of any library; give one row per target and chunk")
    _check_together(path, parts)
    return Manifest(tuple(parts))


def _part(where: str, row: list[str]) -> PartFiles:
    if len(row) != len(COLUMNS):
        raise InputError(f"{where} has {len(row)} columns, not {len(COLUMNS)}")
    target, library, file, *files, control, crystal, conformation = row
    for name in (target, library, *([conformation] if conformation else [])):
        if not re.fullmatch(NAME, name):
            raise InputError(f"{where}: {name!r} is no name; use letters, digits and _ . - only")
    if control not in ("0", "1"):
        raise InputError(f"{where}: control is {control!r}; write 1 for a control, else 0")
    if control == "1" and not crystal:
        raise InputError(f"{where}: a control needs its reference ligand in the column 'crystal'")
    for column, name in zip(FILES, files, strict=True):
        if not name:
            raise InputError(f"{where}: the column '{column}' is empty; name its file")
    return PartFiles(
        target=target,
        library=library,
        **{column: Path(name) for column, name in zip(FILES, files, strict=True)},
        control=control == "1",
        crystal=Path(crystal) if crystal else None,
        file=file,
        conformation=conformation,
    )


def _check_together(path: Path, parts: Iterable[PartFiles]) -> None:
    """Every conformation of a target has one pocket, at most one control, and the same parts."""
    pockets: dict[str, Path] = {}
    libraries: dict[str, dict[str, dict[Path, None]]] = {}
    for part in parts:
        if pockets.setdefault(part.place, part.pocket) != part.pocket:
            raise InputError(f"{path}: target {part.place} has two pockets; give it one")
        chunks = libraries.setdefault(part.library, {}).setdefault(part.place, {})
        if part.ligands in chunks:
            raise InputError(f"{path}: {part.label} is listed twice; list every part once")
        chunks[part.ligands] = None
    controls = [part.place for part in parts if part.control]
    for target in controls:
        if controls.count(target) > 1:
            raise InputError(f"{path}: target {target} has two controls; give it one")
    for library, chunks_of in libraries.items():
        first, *others = chunks_of.items()
        for target, chunks in others:
            if list(chunks) != list(first[1]):
                raise InputError(
                    f"{path}: library {library} has other parts for target {target} than for "
                    f"{first[0]}; list the same parts in the same order for both"
                )
