"""Dock molecules into a pocket, from whatever they are given as to the hits."""

import io
import json
import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import current_process
from numbers import Integral
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py import granted
from ligen_py.api.hits import Failure, Hit, Hits, Redocking
from ligen_py.api.ligands import Source, sources_of
from ligen_py.api.pocket import Pocket
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import STAGES, screen
from ligen_py.ending import ending_as_asked
from ligen_py.errors import InputError, close_to
from ligen_py.molecules.given import Molecule
from ligen_py.molecules.hits.depiction import drawer
from ligen_py.molecules.receptor.structure import LIGAND_FILES
from ligen_py.pipeline import FOLDER, Watch
from ligen_py.pipeline import run as run_pipeline
from ligen_py.records.ledger import Status
from ligen_py.settings.campaign import SEARCH_OF, Effort
from ligen_py.settings.check import check
from ligen_py.settings.export import ExportSettings
from ligen_py.settings.parse import ParseSettings
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.campaign.reader import CampaignReader, TargetReader, open_campaign
from ligen_py.store.files.temporary import cannot_write, publish_folder
from ligen_py.summary.molecule import HIDDEN, columns
from ligen_py.target_files import Posed, TargetFiles

log = logging.getLogger("ligen_py")

EVERY = 1_000_000
"""Most molecules that are docked, and poses that are read."""

WRITTEN = (
    *(f"hits.{ending}" for ending in ("sdf", "csv", "parquet", "pml", "cxc")),
    *("hits-pdbqt", "hits-receptor.pdb", "hits-receptor.pdbqt", "report.html"),
    *(f"hits-reference{ending}" for ending in LIGAND_FILES),
)
"""What stands beside `results/`; not all of `hits.*`, for files of users bear this name, too."""

SEEDS = ("parse", "lga", "refine")
"""Sections with a seed; `lga` where the effort has its search."""

PER_PROCESS = 16
"""Molecules for which another process to parse is worth its start."""


def dock(
    pocket: Pocket,
    ligands: str | Path | Molecule | Iterable[str | Path | Molecule | None] | None,
    *,
    effort: Effort = "standard",
    poses: int = 1,
    seed: int = 1,
    ph: float = 7.4,
    device: str | None = None,
    jobs: int | None = None,
    redock: bool = False,
    pdbqt: bool = False,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    watch: Watch = lambda stage: None,
) -> Hits:
    """Dock molecules into a pocket; the hits come best first.

    Args:
        pocket: where to dock.
        ligands: SMILES, with a name behind a blank or without; RDKit molecules, of which those with
            3-D coordinates keep their ring conformation; files (SMILES, CSV, Parquet, SDF, MOL2,
            plain or compressed). One of them, or any number.
        effort: "draft", "standard", "thorough" or "exhaustive".
        poses: poses of each molecule, at most; a campaign's `export.poses`.
        seed: seed of conformers and of the refinement.
        ph: pH of the protonation states.
        device: OpenCL device as words of its name, such as "gpu" or "intel:cpu"; by default the
            first GPU, else the processor.
        jobs: processes that prepare ligands; by default as many as are worth it.
        redock: whether the reference ligand is docked, too (`Hits.redocking`); one whose bond
            orders are known, from an SDF, MOL or MOL2 file or as an RDKit molecule.
        pdbqt: whether poses are written as PDBQT, too, where a `folder` is named.
        settings: sections of a config file with the keys that differ from the effort's, such as
            {"parse": {"protonate": False}, "refine": {"rounds": 50}}.
        folder: keep all files here: hits as SDF, CSV and Parquet, the prepared receptor, scripts
            for PyMOL and ChimeraX, the report, and the campaign in `results/`. By default, and
            where nothing could be docked, only what is returned is kept.
        overwrite: whether the results that `folder` contains are replaced. They stay until the new
            ones are there.
        watch: called with the name of each stage before it starts.

    Returns:
        The hits. Molecules that cannot be docked are in `Hits.failures`.

    Raises:
        InputError: a file or setting cannot be used.
        TypeError: a ligand is neither text, file nor RDKit molecule, as a number or a tuple; None,
            NaN and pandas' NA are failures instead.
        DeviceError: there is no such device, or it failed.
        UsageError: RDKit cannot draw the molecules of the report in `folder`.
    """
    # Checked before anything is docked, so that nothing is docked in vain.
    if current_process().daemon:
        raise InputError(
            "a worker of multiprocessing.Pool may not start the processes that docking needs; use "
            "concurrent.futures.ProcessPoolExecutor"
        )
    if not isinstance(pocket, Pocket):
        raise InputError(
            f"pocket: give a Pocket, as Pocket.from_pdb('protein.pdb', site='ligand.sdf') makes "
            f"one, not {pocket!r}"
        )
    if jobs is not None and not (isinstance(jobs, Integral) and jobs > 0):
        raise InputError(f"jobs: give 1 or more processes, not {jobs!r}")
    if device is not None and not isinstance(device, str):
        raise InputError(f"device: give words of its name, such as 'gpu:1', not {device!r}")
    wanted = check(ExportSettings, {"count": EVERY, "poses": poses, "pdbqt": pdbqt}, "dock", str)
    check(ParseSettings, {"seed": seed, "ph": ph}, "dock", str)
    kept = None if folder is None else Path(folder)
    replaced = [] if kept is None else written(kept)
    if replaced and not overwrite:
        there = replaced[0].name
        raise InputError(
            f"{kept}: contains {there} already; name another folder, or give overwrite=True"
        )
    if kept is not None:
        drawer()
    if not pocket.file.exists():
        raise InputError(
            f"pocket: its file {pocket.file} is gone, as a copy lasts as long as the pocket that "
            "it is of; keep that one, or make it again by Pocket.from_pdb"
        )
    with ending_as_asked(), _working_folder(kept) as work:
        sources, failures = sources_of(ligands, work / FOLDER / "input")
        if not sources:
            return Hits([], failures, [], [], None, None)
        plan = _plan(pocket, sources, effort, _sections(settings, effort, seed, ph), work)
        if plan.without_networks:
            log.warning("%s", plan.without_networks)
        _put_pocket(plan, pocket, work, redock)
        workers = jobs or _jobs(sources)
        shown = plan.crystal(pocket.name) or _named(pocket, work / FOLDER / "input" / "site")
        campaign = run_pipeline(plan, work, device, workers, redock, watch, EVERY, shown)
        with open_campaign(campaign) as opened:
            hits = _read(plan, opened, campaign, sources, failures, poses, kept)
        if kept is not None and len(hits):
            earlier = work / "earlier"
            earlier.mkdir()
            are_new = False
            try:
                for path in replaced:
                    path.replace(earlier / path.name)
                are_new = True
                campaign = publish_folder(work / FOLDER, kept / FOLDER) / campaign.name
                watch("export")
                _write_files(plan, pocket, campaign, kept, wanted)
            except BaseException:  # Ctrl-C, too: results without hits would stop the next call
                for path in written(kept) if are_new else ():
                    _delete(path)
                for path in earlier.iterdir():
                    path.replace(kept / path.name)
                raise
    return hits


def written(folder: Path) -> list[Path]:
    """What an earlier call wrote into a folder, or what bears such a name.

    InputError where a campaign wrote its results there.
    """
    results = folder / FOLDER
    if results.exists() and not (results / "input").is_dir():  # which a campaign's lack
        raise InputError(f"{results}: is not of ligen dock; name another folder")
    return [path for name in (FOLDER, *WRITTEN) if (path := folder / name).exists()]


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _working_folder(kept: Path | None) -> Iterator[Path]:
    """A folder that is deleted in the end; inside the one that keeps the results, if there is.

    Where that one is empty then, because nothing was docked, it is deleted, too.
    """
    if kept is not None:
        try:
            kept.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(kept, error) from error
    try:
        with tempfile.TemporaryDirectory(prefix=".ligen-", dir=kept) as work:
            yield Path(work).absolute()
    finally:
        if kept is not None:
            with suppress(OSError):  # it contains something
                kept.rmdir()


def _put_pocket(plan: Workplan, pocket: Pocket, folder: Path, redock: bool) -> None:
    """Copy the prepared pocket to where the pipeline takes it from.

    InputError where the reference ligand is to be docked and its bonds are not known.
    """
    if redock and plan.controls.library(pocket.name) is None:
        raise InputError(
            "redock: needs a reference ligand whose bond orders are known: give its SDF, MOL or "
            "MOL2 file as site, not a name in the structure, nor a PDB or PDBQT file"
        )
    prepared = folder / FOLDER / "pockets" / f"{pocket.name}.h5"
    prepared.parent.mkdir(parents=True)
    shutil.copyfile(pocket.file, prepared)


def _named(pocket: Pocket, folder: Path) -> Path | None:
    """The reference ligand that the structure contains, as a file in a folder."""
    if pocket.reference is None:
        return None
    return Path(shutil.copyfile(pocket.reference, folder / pocket.reference.name))


def _plan(
    pocket: Pocket,
    sources: Mapping[str, Source],
    effort: str,
    sections: Mapping[str, Mapping[str, Any]],
    folder: Path,
) -> Workplan:
    """The campaign that docks some libraries into one pocket."""
    config = {
        **sections,
        "targets": {pocket.name: pocket.target(folder / FOLDER / "input")},
        "libraries": {name: source.library for name, source in sources.items()},
        "pocket": pocket.settings,
        "effort": effort,
        "duplicates": "campaign",
        "aggregate": {**sections.get("aggregate", {}), "top_poses": EVERY},
    }
    return Workplan.of(config, "dock", folder)


def _sections(
    settings: Mapping[str, Mapping[str, Any]] | None, effort: Effort, seed: int, ph: float
) -> dict[str, dict[str, Any]]:
    """Sections of a config with the keys that are asked for."""
    stages = screen(SEARCH_OF.get(effort, "ligen"))
    known = ("parse", *(stage.name for stage in stages), "aggregate", "report")
    if not isinstance(settings, Mapping | None):
        raise InputError(f"settings: give sections by name, not {settings!r}")
    for name, keys in (settings or {}).items():
        if name not in known:
            search = "; effort 'exhaustive' searches by lga, the others by dock"
            pocket = "; its keys are keywords of Pocket.from_pdb"
            elsewhere = {"dock": search, "lga": search, "pocket": pocket}
            why = elsewhere.get(name) or close_to(name, known)
            raise InputError(f"settings: unknown section '{name}'{why}")
        if not isinstance(keys, Mapping):
            raise InputError(f"settings: {name}: give its keys with values, not {keys!r}")
        if name == "aggregate" and "top_poses" in keys:
            raise InputError("settings: aggregate.top_poses: here every molecule has its poses")
    found = {name: dict(keys) for name, keys in (settings or {}).items()}
    for name in (name for name in SEEDS if name in known):
        found[name] = {"seed": seed} | found.get(name, {})
    found["parse"] = {"ph": ph} | found["parse"]
    return found


def _jobs(sources: Mapping[str, Source]) -> int:
    cores = granted.cores()
    few = all(source.places for source in sources.values())
    molecules = sum(len(source.places) for source in sources.values())
    worth = -(-molecules // PER_PROCESS) if few else cores
    return max(1, min(cores, worth))


def _write_files(
    plan: Workplan, pocket: Pocket, campaign: Path, folder: Path, settings: ExportSettings
) -> None:
    inputs = {
        "campaign": campaign,
        "manifest": campaign.with_name("manifest.tsv"),
        "name": "hits",
        "reference": pocket.reference,
    }
    STAGES["export"].run(inputs, settings, None, folder)
    shown = {"campaign": campaign, "exported": folder}
    page = folder / "report.html"
    # Python's standard output is one for all threads, so that it is not replaced meanwhile.
    STAGES["report"].run(shown, plan.settings.report, None, page, printed=io.StringIO())


def _read(
    plan: Workplan,
    campaign: CampaignReader,
    path: Path,
    sources: Mapping[str, Source],
    failures: Sequence[Failure],
    poses: int,
    folder: Path | None,
) -> Hits:
    (name,) = campaign.targets
    target, table = campaign.target(name), path.with_name("manifest.tsv")
    manifest = read_manifest(table).found_from(table)
    found = TargetFiles(campaign, target, EVERY, poses, manifest)
    own = {*columns(target.terms, []), *HIDDEN, "pose", "energy"}
    hits = [
        _hit(one, sources, target.terms, own, found.others.get(row, []))
        for row, one in zip(target.order().tolist(), found.hits(), strict=True)
    ]
    lost = [((one.index or 0, 0), one) for one in failures]
    lost += _failures(campaign, target, sources, hits)
    every = [one for _, one in sorted(lost, key=itemgetter(0))]
    functions = plan.settings.score.functions
    where = folder if hits else None
    return Hits(hits, every, target.terms, functions, _redocking(target), where)


def _hit(
    poses: list[Posed],
    sources: Mapping[str, Source],
    terms: Sequence[str],
    own: set[str],
    others: list[str],
) -> Hit:
    row = poses[0].items
    source, index = sources[row["library"]].where(row["file"], int(row["line"]))
    return Hit(
        rank=int(row["rank"]),
        name=row["name"],
        score=float(row["score"]),
        terms={key: float(row[key]) for key in (name.replace("/", ".") for name in terms)},
        smiles=row["smiles"],
        state=row["state"],
        states=int(row["states"]),
        note=row["note"],
        others=others,
        columns={key: text for key, text in row.items() if key not in own},
        source=source,
        index=index,
        _posed=poses,
    )


def _failures(
    campaign: CampaignReader,
    target: TargetReader,
    sources: Mapping[str, Source],
    hits: Sequence[Hit],
) -> Iterator[tuple[tuple[int, int], Failure]]:
    """What is not ranked, each with what sorts it as it was given."""
    left = target.left()
    ranked = dict(zip(target.best(len(hits)).row.tolist(), hits, strict=True))
    for i, status in enumerate(left.status):
        library, file = campaign.libraries[left.library[i]], campaign.files[left.file[i]]
        source, index = sources[library].where(file, int(left.line[i]))
        same = ranked.get(int(left.same_as[i]))
        why = f"the same molecule as {same.name} ({same.source})" if same else str(left.detail[i])
        lost = Failure(str(left.name[i]), Status(status).name.lower(), why, source, index)
        yield sources[library].order(int(left.line[i])), lost


def _redocking(target: TargetReader) -> Redocking | None:
    found = target.control()
    if not len(found.name):
        return None
    return Redocking(
        name=str(found.name[0]),
        score=float(found.score[0]) if len(found.score) else None,
        rmsd=float(found.rmsd[0]) if len(found.rmsd) else None,
        rmsd_kept=float(found.rmsd_kept[0]) if len(found.rmsd_kept) else None,
        problem=str(found.detail[0]),
        _posed=_redocked(target),
    )


def _redocked(target: TargetReader) -> Posed | None:
    """The reference ligand as it was docked, None where it could not be."""
    found = target.reference()
    places = np.flatnonzero(found.origin == "docked").tolist()
    if not places:
        return None
    (i,) = places
    items = {
        "name": str(found.name[i]),
        "score": str(target.control().score[0]),
        "state": str(found.state[i]),
    }
    for name, value in json.loads(found.terms[i]).items():
        items[name.replace("/", ".")] = str(np.float32(value))  # as those of hits
    molecule = found.molecule[slice(*found.first_byte[i : i + 2])]
    return Posed(molecule, found.xyz[slice(*found.first_atom[i : i + 2])], items)
