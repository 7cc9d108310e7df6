"""Files of `ligen lga`: the lists and ligands that it reads, and where its results go."""

import argparse
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py.errors import InputError, OutputError, UsageError
from ligen_py.molecules.autogrid import CHARGE, SOLVATION, read_field, require
from ligen_py.molecules.dlg import shown
from ligen_py.molecules.pdbqt import type_name
from ligen_py.molecules.pdbqt_input import PdbqtLigand, read_ligand
from ligen_py.store.files.temporary import temporary_for

log = logging.getLogger("ligen_py")


class Given(NamedTuple):
    """A ligand as a command line or a list names it."""

    path: Path
    result: str | None = None
    """What a list calls its results."""


class Batch(NamedTuple):
    """Ligands of one receptor."""

    maps: Path | None
    """AutoGrid's field file; None: the ligands are docked into `--receptor`."""
    ligands: list[Given]


class Job(NamedTuple):
    """A ligand that was read, and where its results go."""

    ligand: PdbqtLigand
    poses: Path
    log: Path
    title: str
    """What it is called where its energies are printed: the ligand's name, or the results' where
    another ligand or receptor shares it."""


def batches(options: argparse.Namespace) -> list[Batch]:
    """The ligands that a command line names, by their receptor, in the order of its words."""
    if options.filelist is None:
        return [Batch(options.ffile, [Given(path) for path in options.lfile])]
    above = options.ffile or options.receptor
    found = read_list(options.filelist, above)
    if options.resnam and any(given.result for batch in found for given in batch.ligands):
        raise UsageError(f"--resnam: {options.filelist} names the results; leave --resnam out")
    return [Batch(options.ffile, found[0].ligands)] if above else found


def read_list(path: Path, receptor: Path | None) -> list[Batch]:
    """The ligands that one of AutoDock-GPU's lists of files names, by their maps.

    A line is a field file (.fld), whose maps all ligands below it are docked in; a ligand (.pdbqt);
    or a name of results, of which there is one for each ligand, in their order, or none. Paths are
    relative to the current folder. All ligands are docked into `receptor` where that is given.
    InputError names the line that cannot be used, as one with a comment: AutoDock-GPU would take
    that for a name.
    """
    maps, unused = receptor, ""
    names: list[str | None] = []
    ligands: list[tuple[Path, Path]] = []
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    for number, line in enumerate(map(str.strip, text.split("\n")), start=1):
        where, lower = f"{path}, line {number}", line.lower()
        if line.startswith("#"):
            raise InputError(f"{where}: a list has no comments; remove the line")
        if lower.endswith(".fld"):
            if receptor:
                raise InputError(f"{where}: names maps, as the command line does; name them once")
            if unused:
                log.warning("%s: no ligand is docked in these maps", unused)
            maps, unused = Path(line), f"{where}: {line}"
            if not maps.is_file():
                raise InputError(f"{where}: {line} is no file; name AutoGrid's NAME.maps.fld")
        elif lower.endswith(".pdbqt"):
            if maps is None:
                raise InputError(
                    f"{where}: no maps are named above {line}; name AutoGrid's .fld file there, or "
                    "give it by --ffile"
                )
            ligands.append((maps, Path(line)))
            unused = ""
        elif line:
            names.append(line)
    if unused:
        log.warning("%s: no ligand is docked in these maps", unused)
    if not ligands:
        raise InputError(f"{path}: no line names a ligand (.pdbqt)")
    if names and len(names) != len(ligands):
        what = "name" if len(names) == 1 else "names"
        raise InputError(
            f"{path}: {len(names)} {what} of results, such as '{names[0]}', and "
            f"{len(ligands)} of ligands; give each ligand one, or none"
        )
    found: dict[Path, list[Given]] = {}
    for (own, ligand), name in zip(ligands, names or [None] * len(ligands), strict=True):
        found.setdefault(own, []).append(Given(ligand, name))
    return [Batch(maps, some) for maps, some in found.items()]


def read(options: argparse.Namespace, given: Sequence[Batch]) -> list[list[Job]]:
    """The ligands of each batch that can be docked; what is wrong with the others is said.

    InputError where none can, where the box would be around another ligand than the first, and
    where results would replace what is read or another prepared molecule or cannot be written,
    before hours of search.
    """
    alone = sum(len(batch.ligands) for batch in given) == 1
    found = [list(_usable(options, batch, alone)) for batch in given]
    if not any(found):
        raise InputError("no ligand can be docked, for the reasons above")
    names = Counter(ligand.name for some in found for _, ligand in some)
    jobs = [
        [_job(options, one, ligand, alone, names[ligand.name] > 1) for one, ligand in some]
        for some in found
    ]
    _check_outputs(options, given, [job for some in jobs for job in some])
    if options.dlgoutput:
        for some in jobs:
            _warn_merged([job.ligand.path for job in some])
    return jobs


def _usable(
    options: argparse.Namespace, batch: Batch, alone: bool
) -> Iterator[tuple[Given, PdbqtLigand]]:
    there = None
    if batch.maps is not None:
        there = read_field(batch.maps)[1]
        require(batch.maps, there, [])
    for given in batch.ligands:
        try:
            ligand = _ligand(given.path)
            if batch.maps is not None and there is not None:
                _require_maps(batch.maps, there, ligand)
        except InputError as error:
            around = given is batch.ligands[0] and options.receptor and not options.center
            if alone or around:
                raise
            log.warning("left out: %s", error)
        else:
            elements = ligand.ligands.element
            warn_uncharged(given.path, ligand.ligands.partial_charge, bool((elements > 6).any()))
            yield given, ligand


def _ligand(path: Path) -> PdbqtLigand:
    if not path.is_file():  # a line of a list
        raise InputError(f"{path}: is no file")
    return read_ligand(path)


def _require_maps(maps: Path, there: Mapping[str, Path], ligand: PdbqtLigand) -> None:
    types = [type_name(kind) for kind in np.unique(ligand.ligands.type).tolist()]
    try:
        require(maps, there, types)
    except InputError as error:
        raise InputError(f"{ligand.path}: {error}") from None


def _job(
    options: argparse.Namespace, given: Given, ligand: PdbqtLigand, alone: bool, shared: bool
) -> Job:
    """Where the poses and the docking log of a ligand go, whose name others may share."""
    place, ending = options.resnam, ".pdbqt"
    if given.result:
        name = Path(_bare(given.result))
    elif not place:  # AutoDock-GPU's name of the log; the poses' must not be the ligand's
        name, ending = ligand.path.with_name(ligand.name), "_out.pdbqt"
    elif alone and not place.endswith("/"):
        name = Path(_bare(place))
    else:
        name = Path(place) / ligand.name
    title = shown(name if shared else ligand.name)
    return Job(ligand, Path(f"{name}{ending}"), Path(f"{name}.dlg"), title)


def _bare(name: str) -> str:
    """A name of results without the ending that one of the two files gets anyway."""
    return re.sub(r"\.(dlg|pdbqt)$", "", name)


def _warn_merged(paths: Sequence[Path]) -> None:
    """Say so where Ringtail would take ligands of one receptor for one.

    It calls a log's ligand by the name of its file up to the first dot.
    """
    first: dict[str, Path] = {}
    again = [path for path in paths if first.setdefault(_name_in_ringtail(path), path) != path]
    if again:
        name = _name_in_ringtail(again[0])
        others = f" (and {len(again) - 1} more)" if len(again) > 1 else ""
        log.warning(
            "%s, %s%s: Ringtail would merge them into one ligand, %s, since it ends names at the "
            "first dot; rename files that are to stay apart",
            shown(first[name]), shown(again[0]), others, shown(name),
        )  # fmt: skip


def _name_in_ringtail(path: Path) -> str:
    return path.name.split(".")[0]


def warn_uncharged(path: Path, charges: np.ndarray, polar: bool) -> None:
    """Say so where a file prepared for another program has no charges, which AutoDock4 needs."""
    if polar and not charges.any():
        log.warning(
            "%s: all partial charges are 0, so electrostatics are left out; prepare the file for "
            "AutoDock4 where that is not meant", path,
        )  # fmt: skip


def _check_outputs(
    options: argparse.Namespace, given: Sequence[Batch], jobs: Sequence[Job]
) -> None:
    """InputError where a result would replace another or what is read, or cannot be written."""
    places = Counter(job.log.resolve() for job in jobs)
    twice = next((job.log for job in jobs if places[job.log.resolve()] > 1), None)
    if twice:
        listed = ", or name the results in the list" if options.filelist else ""
        raise InputError(
            f"{twice}: two ligands would have this log; rename one, or give it once{listed}"
        )
    flag = "--filelist" if any(one.result for one in given[0].ligands) else "--resnam"
    written = {path: flag for job in jobs for path in (job.poses, job.log)[: 1 + options.dlgoutput]}
    if options.write_maps:
        kinds = {type_name(kind) for job in jobs for kind in job.ligand.ligands.type.tolist()}
        ends = [f"{name}.map" for name in (*sorted(kinds), CHARGE, SOLVATION)]
        for end in ("maps.fld", "maps.xyz", *ends):
            written[Path(f"{options.write_maps}.{end}")] = "--write-maps"
    inputs = [one.path for batch in given for one in batch.ligands]
    inputs += filter(None, (options.filelist, options.receptor))
    for maps in filter(None, (batch.maps for batch in given)):
        inputs += [maps, *read_field(maps)[1].values()]
    read = {path.resolve() for path in inputs}
    for path, flag in written.items():
        if path.resolve() in read:
            raise InputError(f"{path}: is an input, and would be replaced; name another by {flag}")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is no regular file; name another by {flag}")
        if path.suffix == ".pdbqt" and _is_prepared(path):
            raise InputError(
                f"{path}: is a prepared molecule, and would be replaced; name another by {flag}"
            )
    for path in {path.parent: path for path in reversed(written)}.values():
        try:
            temporary_for(path).unlink()
        except OutputError as error:
            raise InputError(f"{error}; {written[path]} names another place") from error


def _is_prepared(path: Path) -> bool:
    """Whether a PDBQT file is there that is no result of docking: its atoms are in no MODEL."""
    if not path.exists():
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        words = (line for line in lines if line.startswith(("MODEL", "ROOT", "ATOM", "HETATM")))
        return not next(words, "MODEL").startswith("MODEL")
