"""From library files to a ranking, one stage after the other in this process, as in a run.

A run gives each stage of each part to Snakemake as a job; here a few molecules are docked without
starting another process. The files are those of a campaign, bit for bit, in the same folders; what
a run makes from a ranking (networks, export, report) is not made.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import STAGES, screen
from ligen_py.errors import InputError
from ligen_py.molecules.library.reading import Part, no_molecules
from ligen_py.records.ligands import LIGANDS
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.files.memory import handing_on
from ligen_py.store.files.read import read_columns
from ligen_py.store.files.text import write_texts

FOLDER = "results"
"""Folder of the files, in the folder of the campaign."""

Watch = Callable[[str], None]
"""Called with the name of each stage before it starts."""


def run(
    plan: Workplan,
    folder: Path,
    device: str | None = None,
    jobs: int = 1,
    controls: bool = True,
    watch: Watch = lambda stage: None,
    most: int = 0,
    reference: Path | None = None,
) -> Path:
    """Run a campaign from its library files to the campaign file, whose path is returned.

    Pocket files that are there are used. Records that cannot be docked are in the ledger, even if
    no other is left.

    Args:
        plan: a checked campaign.
        folder: gets `results/`, with every file of the campaign.
        device: OpenCL device as words of its name; None: the best one.
        jobs: processes that parse.
        controls: whether reference ligands are docked, too.
        watch: called with the name of each stage before it starts.
        most: records that may be docked; 0: any number.
        reference: file of the reference ligand, which is shown beside the hits without controls.

    Raises:
        InputError: a file cannot be used, or there are more records.
        DeviceError: there is no such device, or it failed.
    """
    results = folder / FOLDER
    parts = tuple(
        part if controls else replace(part, crystal=reference or part.crystal)
        for part in plan.manifest(str(results)).parts
        if controls or not part.control
    )
    for pocket, part in {part.place: part for part in parts}.items():
        if not part.pocket.exists():
            watch("pocket")
            make_pocket(plan, pocket, part.pocket)
    _parse(plan, parts, jobs, watch, most)
    for part in parts:
        with handing_on():
            for stage in screen(plan.settings.search):
                watch(stage.name)
                inputs = {flag: getattr(part, kind) for flag, kind in stage.inputs.items()}
                settings = getattr(plan.settings, stage.name)
                stage.run(inputs, settings, device, getattr(part, stage.kind))
    watch("aggregate")
    campaign, table = results / "campaign.h5", results / "manifest.tsv"
    write_texts(results, {table.name: Manifest(parts).text()})
    inputs = {"manifest": table, "effort": plan.settings.effort}
    STAGES["aggregate"].run(inputs, plan.settings.aggregate, None, campaign)
    # Paths as a run writes them, so that the folder can be moved.
    kept = {part.label: part.crystal for part in parts}
    listed = tuple(
        replace(part, crystal=_within(kept[part.label], folder))
        for part in plan.manifest(FOLDER).parts
        if part.label in kept
    )
    write_texts(results, {table.name: Manifest(listed).text()})
    return campaign


def make_pocket(plan: Workplan, pocket: str, output: Path) -> None:
    """Prepare the receptor of a pocket and write the pocket file."""
    STAGES["pocket"].run(plan.pocket_inputs(pocket), plan.settings.pocket, None, output)


def _parse(
    plan: Workplan, parts: tuple[PartFiles, ...], jobs: int, watch: Watch, most: int
) -> None:
    """Parse each chunk of each library once, in their order."""
    files = {(part.library, part.ligands.stem): part.ligands for part in parts}
    records: Counter[str] = Counter()
    for (library, chunk), output in files.items():
        watch("parse")
        inputs = {
            "input": plan.source(library, chunk),
            "part": Part.parse(chunk.rpartition(".")[2]),
            "after": [files[earlier] for earlier in plan.before(library, chunk)],
            "allow_empty": True,
        }
        STAGES["parse"].run(inputs, plan.parse_options(library), None, output, jobs=jobs)
        records[library] += len(read_columns(output, LIGANDS, ("entries/line",))["entries/line"])
        if most and records.total() > most:
            raise InputError(
                f"there are more than {most:,} molecules; write a config file and use `ligen run`"
            )
    for library, chunk in files:
        if not records[library]:
            source = plan.source(library, chunk)
            raise InputError(f"{source}: {no_molecules(source)}")


def _within(path: Path | None, folder: Path) -> Path | None:
    """A path relative to the folder, where it lies there."""
    return path.relative_to(folder) if path is not None and path.is_relative_to(folder) else path
