"""Which results of searches were made from other files than those that are there now."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py.campaign.searches import GENOME_FILES, PARTS
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import SEQUENCES, STAGES, Stage
from ligen_py.errors import InputError
from ligen_py.records.database import DATABASE
from ligen_py.records.guides import GUIDES
from ligen_py.records.homologs import HOMOLOGS
from ligen_py.records.offtargets import OFFTARGETS
from ligen_py.records.pocket import POCKET
from ligen_py.sequences.genome import files_of, together
from ligen_py.settings.campaign import SEARCHES
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import run_record


class Change(NamedTuple):
    """A source that has changed since a result was made from it."""

    source: Path
    file: Path
    search: str


def search_changes(
    plan: Workplan, results: Path, digest: Callable[[Path], str]
) -> Iterator[Change]:
    """Every file of a search whose run record names other contents than a source has now.

    Raises InputError of a damaged file when all others have been looked at.

    Args:
        plan: the campaign.
        results: its folder of results; files that are not there are left out.
        digest: the SHA-256 of a file.
    """
    damaged: list[InputError] = []
    for section in SEARCHES:
        for search in getattr(plan.settings, section):
            for stage, name, sources in _files(plan, str(results), section, search):
                file = Path(name)
                if not file.is_file():
                    continue
                try:
                    known = input_digests(file, run_record(file, KINDS[stage.kind]))
                except InputError as error:
                    damaged.append(error)
                    continue
                for source in sources:
                    if together([digest(path) for path in source]) not in known:
                        yield Change(source[0], file, search)
    if damaged:
        raise damaged[0]


KINDS = {kind.name: kind for kind in (POCKET, DATABASE, HOMOLOGS, OFFTARGETS, GUIDES)}

Made = tuple[Stage, str, Sequence[Sequence[Path]]]
"""A stage, its file, and its sources, of which several may be known by one digest."""


def _files(plan: Workplan, results: str, section: str, search: str) -> Iterator[Made]:
    """What a search makes of files from outside."""
    made, parts = SEQUENCES[PARTS[section]], plan.searches.part_files(section, search, results)
    sources = plan.searches.sources(section, search)
    if section in GENOME_FILES:
        genome = files_of(plan.searches.genome_paths[section, search])
        own = [[path] for path in sources[: -len(genome)]]
        yield from ((made, part, [*own, genome]) for part in parts)
        if section == "guides":
            joined = SEQUENCES["guides"]
            yield joined, joined.file(results, search=search), [*own, genome]
        return
    pocket = STAGES["pocket"]
    for anti in plan.searches.antitargets(search).values():
        yield (
            pocket,
            pocket.file(results, target=anti),
            [[one] for one in plan.pocket_sources(anti)],
        )
    database = plan.resolve(plan.settings.homologs[search].database)
    converted = SEQUENCES["database"]
    others = [path for path in sources if path != database]
    if plan.searches.homolog_files(search, "")["database"] == str(database):
        others.append(database)
    else:
        yield converted, converted.file(results, search=search), [[database]]
    yield from ((made, part, [[path] for path in others]) for part in parts)
