"""Which results of searches were made from other files than those that are there now."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py.campaign import GENOME_FILES, Workplan
from ligen_py.records.column import Kind
from ligen_py.records.database import DATABASE
from ligen_py.records.guides import GUIDES
from ligen_py.records.homologs import HOMOLOGS
from ligen_py.records.offtargets import OFFTARGETS
from ligen_py.sequences.genome import files_of, together
from ligen_py.settings.campaign import SEARCHES
from ligen_py.store.campaign.part import input_digests
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

    Args:
        plan: the campaign.
        results: its folder of results; files that are not there are left out.
        digest: the SHA-256 of a file.
    """
    for section in SEARCHES:
        for search in getattr(plan.settings, section):
            for file, kind, sources in _files(plan, results / section / search, section, search):
                if not file.is_file():
                    continue
                known = input_digests(file, run_record(file, kind))
                for source in sources:
                    if together([digest(path) for path in source]) not in known:
                        yield Change(source[0], file, search)


Made = tuple[Path, Kind, Sequence[Sequence[Path]]]
"""A file, its kind, and its sources, of which several may be known by one digest."""


def _files(plan: Workplan, folder: Path, section: str, search: str) -> Iterator[Made]:
    """What a search makes of files from outside."""
    parts = [folder / f"{part}.h5" for part in plan.search_parts(section, search)]
    sources = plan.search_sources(section, search)
    if section in GENOME_FILES:
        genome = files_of(plan.genome_searches[section, search])
        own = [[path] for path in sources[: -len(genome)]]
        yield from ((part, OFFTARGETS, [*own, genome]) for part in parts)
        if section == "guides":
            yield folder / "found" / "guides.h5", GUIDES, [*own, genome]
        return
    database = plan.resolve(plan.settings.homologs[search].database)
    converted = folder / "database.h5"
    others = [path for path in sources if path != database]
    if plan.search_files(search, "")["database"] == str(database):
        others.append(database)
    else:
        yield converted, DATABASE, [[database]]
    yield from ((part, HOMOLOGS, [[path] for path in others]) for part in parts)
