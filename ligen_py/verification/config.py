"""Whether a campaign is the one that its config describes: parts, settings, effort, sources."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ligen_py.campaign.parts import Part
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import FILES, writer
from ligen_py.errors import InputError
from ligen_py.provenance import file_digest
from ligen_py.records.kinds import KINDS
from ligen_py.search_changes import search_changes
from ligen_py.settings.section import Section
from ligen_py.store.campaign.manifest import Manifest
from ligen_py.store.files.dropped import is_dropped
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import run_record


def config_faults(
    plan: Workplan, campaign: Path, path: Path, manifest: Manifest, attributes: Mapping[str, str]
) -> Iterator[str]:
    """Where the campaign, with its manifest `path`, is not the one that its config describes."""
    parts = plan.manifest().differences(manifest)
    for words in parts[:1]:
        more = f"; {len(parts) - 1} other parts differ, too" if len(parts) > 1 else ""
        yield f"{path}: {words}, by {plan.config.name}{more}"
    effort = attributes.get("effort", "")
    if effort != plan.settings.effort:
        found = f"was made with effort {effort}" if effort else "does not say its effort"
        yield f"{campaign}: {found}, {plan.config.name} asks for {plan.settings.effort}"
    used = json.loads(attributes["settings"])
    yield from _unlike(campaign, used, plan.settings.aggregate, "aggregate")
    described = plan.manifest().parts
    places = {part.label: place for part, place in zip(described, plan.parts(), strict=True)}
    sources: dict[Path, str] = {}
    seen: set[Path] = set()
    for part in manifest.parts:
        place = places.get(part.label)
        for kind in FILES:
            file: Path = getattr(part, kind)
            if place and file not in seen and file.is_file():
                seen.add(file)
                yield from file_faults(plan, place, kind, file, sources)
    try:
        for source, file, _ in search_changes(plan, campaign.parent, cache(file_digest)):
            yield f"{file}: was not made from {source} as it is now"
    except InputError as error:
        yield str(error)


def file_faults(
    plan: Workplan, place: Part, kind: str, file: Path, sources: dict[Path, str]
) -> Iterator[str]:
    """Whether a file of a part was made with the settings, and from the files, of the config.

    `sources` has the digests of files that were read before, and gets those that are read now.
    """
    try:
        record = run_record(file, KINDS[kind])
        known, used = input_digests(file, record), json.loads(record["settings"])
    except (InputError, KeyError, ValueError):
        return  # found again when every file is read
    stage = writer(kind, plan.settings.search)
    wanted: Section
    if kind == "ligands":
        if plan.is_reused(place.library):
            return
        wanted = plan.parse_options(place.library)
    else:
        wanted = getattr(plan.settings, stage.name)
    yield from _unlike(file, used, wanted, stage.name)
    if is_dropped(file) and kind not in plan.dropped:
        yield f"{file}: its rows were dropped, the config asks to keep them"
    for source in plan.sources(place, kind):
        if source not in sources:
            sources[source] = file_digest(source)
        if sources[source] not in known:
            yield f"{file}: was not made from {source} as it is now"


def _unlike(file: Path, used: dict[str, object], wanted: Section, stage: str) -> Iterator[str]:
    """Settings of a run record that are not those of the config."""
    asked = wanted.model_dump(mode="json")
    for name in sorted({*used, *asked}):
        if used.get(name) != asked.get(name):
            yield (
                f"{file}: was made with {stage}.{name} {used.get(name)}, "
                f"the config asks for {asked.get(name)}"
            )
