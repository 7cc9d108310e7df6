"""Whether the controls of a campaign are sound, and show what their files say that they show."""

from collections.abc import Iterator
from pathlib import Path

from ligen_py import accept, controls
from ligen_py.campaign.workplan import Workplan
from ligen_py.errors import InputError
from ligen_py.provenance import file_digest
from ligen_py.records.ligands import LIGANDS
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import run_record
from ligen_py.summary.controls import texts_of

PLACE = "<results>"
"""What a plan has in place of the folder of results."""


def unlisted_parts(plan: Workplan, results: Path) -> list[PartFiles]:
    """The parts of controls that are no part of the ranking, so that no manifest lists them."""
    return [
        files.renamed(PLACE, str(results))
        for target in plan.ranked
        for group, _, files in plan.controls.parts(target)
        if group != "crystal" or files.target in plan.controls.variants
    ]


def source_faults(plan: Workplan, results: Path) -> Iterator[str]:
    """Whether those parts were made from the actives and decoys as they are now."""
    for files in {files.ligands: files for files in unlisted_parts(plan, results)}.values():
        given = str(plan.source(files.library, files.ligands.stem))
        source = Path(given.replace(PLACE, str(results), 1))
        try:
            known = input_digests(files.ligands, run_record(files.ligands, LIGANDS))
        except InputError:
            continue  # found again when every file is read
        if not source.is_file():
            yield f"{source}: is missing; 'ligen run CONFIG' makes it again"
        elif file_digest(source) not in known:
            yield f"{files.ligands}: was not made from {source} as it is now"


def verdict_faults(plan: Workplan, verdicts: list[Path]) -> Iterator[str]:
    """Judge the controls again that a campaign was made with, one verdict a target."""
    for path in verdicts:
        target, results = path.parent.name, path.parent.parent.parent
        parts: dict[tuple[str, str], list[PartFiles]] = {}
        for group, form, files in plan.controls.parts(target):
            parts.setdefault((form, group), []).append(files.renamed(PLACE, str(results)))
        inputs = controls.Inputs(target, parts, plan.controls.origin_of_decoys(target))
        try:
            verdict = controls.judge(inputs, plan.controls.limits(target))
        except InputError as error:
            yield f"{path}: cannot be made again: {error}"
            continue
        written = path, path.with_suffix(".txt"), path.with_name("accepted.txt")
        texts = *texts_of(verdict), accept.text_of(verdict.sentence)
        for stored, text in zip(written, texts, strict=True):
            if not stored.is_file():
                yield f"{stored}: is missing; 'ligen run CONFIG' makes it again"
            elif stored.read_bytes() != text:
                yield f"{stored}: is not what the files of its controls give"
