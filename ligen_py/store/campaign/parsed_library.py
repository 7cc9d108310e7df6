"""A library that another campaign has parsed: a folder of ligands files."""

import json
import re
from pathlib import Path
from typing import NamedTuple

from ligen_py.errors import InputError
from ligen_py.records.ligands import LIGANDS
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.files.read import run_record

CHUNK = re.compile(r"(?:(?P<label>.+)\.)?(?P<number>[0-9]{1,9})-of-(?P<count>[0-9]{1,9})")


class ParsedChunk(NamedTuple):
    """One ligands file of a parsed library."""

    path: Path
    source: str
    """The library file that it was made from, as it is called within the library."""


def parsed_chunks(folder: Path) -> dict[str, ParsedChunk]:
    """The chunks of a parsed library, file by file, each in order.

    Which they are is said by the campaign's manifest, where there is one: files of a library as it
    was before may lie beside them.

    Raises InputError if the folder has no ligands files, if a chunk is missing, and if the settings
    or the version of `parse` are missing in a file or differ between files.
    """
    cure = "name the folder results/ligands/LIBRARY of a finished campaign"
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; {cure}")
    listed = _listed(folder)
    for chunk in listed:
        if not (folder / f"{chunk}.h5").is_file():
            raise InputError(f"{folder}: chunk {chunk} is missing; finish that campaign")
    found: dict[tuple[str, int], dict[int, Path]] = {}
    for path in sorted(folder.glob("[!.]*.h5")):
        if listed and path.stem not in listed:
            continue
        name = CHUNK.fullmatch(path.stem)
        if not name:
            raise InputError(f"{path}: not a chunk of a library such as 1-of-8.h5; {cure}")
        files = found.setdefault((name["label"] or "", int(name["count"])), {})
        files[int(name["number"])] = path
    if not found:
        raise InputError(f"{folder}: contains no ligands files; {cure}")
    result, names = {}, {}
    for (label, count), files in sorted(found.items()):
        missing = sorted(set(range(1, count + 1)) - set(files))
        if missing or len([1 for other, _ in found if other == label]) > 1:
            which = f"{label}{'.' if label else ''}{missing[0] if missing else 1}-of-{count}"
            what = "is missing" if missing else "belongs to another cut than its neighbours"
            raise InputError(f"{folder}: chunk {which} {what}; finish or repeat that campaign")
        for _, path in sorted(files.items()):
            result[path.stem] = path
            # Files of one name may lie in several folders of a library: the run record, which names
            # no folder, cannot tell them apart.
            names[path.stem] = listed.get(path.stem) or label
    return _recorded(result, names)


def _listed(folder: Path) -> dict[str, str]:
    """The chunks that the manifest of a folder's campaign lists, each with its library file.

    None where there is no such manifest.
    """
    table = folder.absolute().parent.parent / "manifest.tsv"
    try:
        parts = read_manifest(table).parts
    except (OSError, InputError):
        return {}
    return {part.ligands.stem: part.file for part in parts if part.library == folder.name}


def _recorded(paths: dict[str, Path], names: dict[str, str]) -> dict[str, ParsedChunk]:
    """The chunks with the library files that are named; else those that they say themselves."""
    made: dict[str, tuple[str, Path]] = {}
    result = {}
    for chunk, path in paths.items():
        run = run_record(path, LIGANDS)
        try:
            source = str(json.loads(run["inputs"])[0]["name"])
            recorded = {"settings": run["settings"], "code": run["stage-digest"]}
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: does not say how it was made; parse the library again"
            ) from error
        for what, value in recorded.items():
            first, other = made.setdefault(what, (value, path))
            if value != first:
                raise InputError(
                    f"{path}: was parsed with other {what} than {other}; parse one of them again"
                )
        result[chunk] = ParsedChunk(path, names[chunk] or source)
    return result
