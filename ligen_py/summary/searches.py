"""Searches of sequences in a report: what each looked for, and its first rows."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ligen_py.records.column import Kind
from ligen_py.records.guides import GUIDES, GuideRole, GuideVerdict, RankedGuides
from ligen_py.records.homologs import HOMOLOGS, Hits, Queries, SearchSpace
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.offtargets import OFFTARGETS, Chromosomes, Guides, GuideStatus
from ligen_py.store.files.read import kind_of, read, run_record
from ligen_py.summary.antitargets import higher, read_table, unlisted
from ligen_py.summary.guides import VERDICTS, ranks
from ligen_py.summary.homologs import antitargets
from ligen_py.summary.table import counted, cut, readable, table

FIRST = 10
"""Rows of each query, of each gene, or of a list."""

KINDS = (HOMOLOGS, OFFTARGETS, GUIDES)
"""Files of searches."""

SELECTIVITY = "selectivity.tsv"

BULGES = {"DNA bulge": slice(1, 3), "RNA bulge": slice(3, 5)}
"""Columns, and the kinds of alignments that each counts."""


@dataclass(frozen=True)
class Search:
    """A search as a report shows it."""

    what: str
    """Kind of the search."""
    name: str
    """In the config."""
    summary: str
    """One sentence."""
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numbers: frozenset[int]
    """Columns that are numbers."""
    meaning: str
    """Of the columns, in a line or two."""
    file: Path
    run: dict[str, str]
    """Its run record; empty for a table."""


def read_search(path: Path) -> Search:
    """A file of `panel`, `offtargets`, `guides` or `selectivity`.

    Raises InputError, which names the file, where it is none.
    """
    if path.name == SELECTIVITY:
        found = _selectivity(path)
    else:
        kind = kind_of(path, KINDS)
        make = {HOMOLOGS: _homologs, OFFTARGETS: _offtargets, GUIDES: _guides}[kind]
        found = make(path, _name(path), run_record(path, kind))
    return replace(found, rows=[tuple(map(readable, row)) for row in found.rows])


def text_of(searches: Sequence[Search]) -> Iterator[str]:
    """The searches as lines for a terminal."""
    for search in searches:
        title = f"{search.what} {search.name}: {search.summary}"
        yield from (title, "=" * len(title), "")
        align = "".join("<>"[n in search.numbers] for n in range(len(search.columns)))
        cells = [[cut(cell) for cell in row] for row in search.rows]
        if cells:
            yield from (*table([search.columns, *cells], align), f"  {search.meaning}", "")


def _name(path: Path) -> str:
    """The search that a campaign's file belongs to; else the file's own name."""
    return path.parent.parent.name if path.parent.name == "found" else path.stem


def _homologs(path: Path, name: str, run: dict[str, str]) -> Search:
    queries, hits = read(path, HOMOLOGS, Queries), read(path, HOMOLOGS, Hits)
    space = read(path, HOMOLOGS, SearchSpace)
    settings = json.loads(run["settings"])
    limits = settings.get("min_identity", 0.0), settings.get("max_evalue", math.inf)
    like = set(antitargets(queries, hits, *limits)) if "min_identity" in settings else set()
    rows = []
    for query, first in enumerate(queries.first_hit[:-1]):
        for row in range(int(first), int(min(first + FIRST, queries.first_hit[query + 1]))):
            site = int(hits.site_residues[row])
            rows.append(
                (
                    queries.name[query],
                    str(row - int(first) + 1),
                    hits.header[row] or hits.target[row],
                    str(hits.score[row]),
                    "" if math.isnan(hits.evalue[row]) else f"{hits.evalue[row]:.1e}",
                    _percent(int(hits.identities[row]), int(hits.aligned[row])),
                    _percent(int(hits.site_identities[row]), site),
                    "yes" if row in like else "",
                )
            )
    size = counted(int(space.sequences[0]), "protein")
    are = "an anti-target" if len(like) == 1 else "anti-targets"
    words = f"{counted(len(hits.score), 'hit')} in {size}, {len(like)} of them {are}"
    rejected = int(np.count_nonzero(read(path, HOMOLOGS, Ledger).status == Status.REJECTED))
    if rejected:
        are = "is" if rejected == 1 else "are"
        words += f"; {counted(rejected, 'record')} of the database {are} not searched"
    columns = ("query", "rank", "protein", "score", "E-value", "identity", "site", "anti-target")
    meaning = (
        "identity: equal residues of the alignment's columns; site: of the query's binding site; "
        "anti-target: by the limits of identity and E-value."
    )
    numeric = frozenset({1, 3, 4, 5, 6})
    return Search("Homologs", name, words, columns, rows, numeric, meaning, path, run)


def _offtargets(path: Path, name: str, run: dict[str, str]) -> Search:
    guides = read(path, OFFTARGETS, Guides)
    most = int(guides.limit.max(initial=0))
    rows = []
    for row in range(min(FIRST, len(guides.name))):
        count = guides.count[row]
        numbers = [*count[0, : most + 1], *(count[kinds].sum() for kinds in BULGES.values())]
        status = guides.detail[row] if guides.status[row] == GuideStatus.TRUNCATED else ""
        rows.append((guides.name[row], guides.sequence[row], *map(str, numbers), status))
    # With every alignment of a site there are more rows than sites, and rows are counted.
    row_is = "alignment" if json.loads(run["settings"]).get("rows") == "all" else "site"
    found, of = counted(int(guides.count.sum()), row_is), counted(len(guides.name), "guide")
    words = f"{found} of {of} in {_bases(path)}"
    if len(guides.name) > FIRST:
        words += f"; the first {FIRST} guides"
    mismatches = tuple(f"{n} mm" for n in range(most + 1))
    columns = ("guide", "sequence", *mismatches, *BULGES, "note")
    numeric = frozenset(range(2, len(columns) - 1))
    meaning = (
        f"mm: {row_is}s with so many mismatches and no bulge; a bulge: those with one or two "
        "bases more (DNA) or less (RNA) than the guide. The guide's own site is among them."
    )
    return Search("Off-targets", name, words, columns, rows, numeric, meaning, path, run)


def _guides(path: Path, name: str, run: dict[str, str]) -> Search:
    guides = read(path, GUIDES, RankedGuides)
    settings = json.loads(run["settings"])
    mismatches = int(settings["mismatches"])
    bulges = [name for name in BULGES if settings[name.lower().replace(" ", "_")]]
    rows = []
    for row, rank in enumerate(ranks(guides)):
        if rank > FIRST:
            continue
        known = not math.isnan(guides.specificity[row])
        rows.append(
            (
                str(rank),
                guides.name[row],
                guides.spacer[row],
                guides.pam[row],
                str(guides.exon[row] or ""),
                f"{100 * guides.gc[row]:.0f} %",
                *map(str, guides.count[row, 0, : mismatches + 1]),
                *(str(guides.count[row, BULGES[name]].sum()) for name in bulges),
                str(guides.coding[row]) if guides.coding[row] >= 0 else "",
                f"{guides.specificity[row]:.1f}" if known else "",
                VERDICTS[GuideVerdict(guides.verdict[row])],
            )
        )
    of_genes = guides.role == GuideRole.GENE
    good = int(np.count_nonzero(of_genes & (guides.verdict == GuideVerdict.GOOD)))
    words = (
        f"{counted(good, 'good guide')} of {np.count_nonzero(of_genes)}, and "
        f"{counted(int(np.count_nonzero(~of_genes)), 'control')}, in {_bases(path, GUIDES)}"
    )
    mm = tuple(f"{n} mm" for n in range(mismatches + 1))
    columns = (
        *("rank", "guide", "spacer", "PAM", "exon", "GC"),
        *(*mm, *bulges, "coding", "specificity", "verdict"),
    )
    numeric = frozenset({0, *range(4, len(columns) - 1)})
    bulged = "with a bulge or without, " if bulges else ""
    meaning = (
        "mm: off-targets with so many mismatches and no bulge; the guide's own site is not among "
        f"them. coding: off-targets, {bulged}cut within coding sequence; specificity: MIT's, 0 to "
        "100, of the off-targets without a bulge."
    )
    return Search("Guides", name, words, columns, rows, numeric, meaning, path, run)


def _selectivity(path: Path) -> Search:
    found = read_table(path)
    rows, seen = [], dict.fromkeys((row.target for row in found), 0)
    for row in found:
        seen[row.target] += 1
        if seen[row.target] <= FIRST:
            name, score = row.best
            values = row.score, score, row.difference
            told = ["" if math.isnan(value) else f"{value:.2f}" for value in values]
            rows.append((row.target, str(row.rank), row.ligand, told[0], name, *told[1:]))
    sentences = list(higher(found))
    panel = path.parent / "found" / "panel.tsv"
    if found and panel.is_file() and (others := unlisted(panel, list(found[0].antitargets))):
        sentences.append(f"{', '.join(others)}: docked, but not an anti-target by panel.tsv")
    words = "; ".join(sentences)
    columns = ("target", "rank", "ligand", "score", "anti-target", "score there", "difference")
    numeric = frozenset({1, 3, 5, 6})
    meaning = (
        "anti-target: where the ligand scores highest; difference: score less the score there, "
        "below 0 where the anti-target is preferred. A score below 0, of a ligand that does not "
        "fit, counts as 0 in the difference."
    )
    name = path.parent.name
    return Search("Selectivity", name, words, columns, rows, numeric, meaning, path, {})


def _bases(path: Path, kind: Kind = OFFTARGETS) -> str:
    return counted(int(read(path, kind, Chromosomes).length.sum()), "base")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""
