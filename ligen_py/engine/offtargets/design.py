"""Judge the guides of a gene by their off-targets, and choose controls that have none."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ligen_py.engine.offtargets.locus import MANY, Copy, Sites, own_sites_of
from ligen_py.engine.offtargets.results import taken
from ligen_py.engine.offtargets.specificity import LENGTH, hit_scores, specificities
from ligen_py.records.guides import GuideRole, GuideVerdict, RankedGuides
from ligen_py.records.offtargets import CLASSES, KINDS, Chromosomes, OffTargets
from ligen_py.sequences.genes import SOME, UNSTRANDED, Annotation
from ligen_py.sequences.guides import Guide, Query, checked, in_pattern
from ligen_py.sequences.spacers import Enzyme, Spacer, gc, longest_t, random_spacers
from ligen_py.settings.guides import GuidesSettings

log = logging.getLogger("ligen_py")

CANDIDATES = 20
"""Random guides that are searched for each control."""

POLY_T = 4
"""Length of a run of T that ends a guide's transcription."""


class Designed(NamedTuple):
    """What comes of a design."""

    guides: RankedGuides
    offtargets: OffTargets
    """Off-targets of the guides and controls that are listed; `guide` is their row there."""
    own: np.ndarray
    """bool: which of these is the guide's own site."""


def enzyme_of(settings: GuidesSettings) -> Enzyme:
    """What the guides of some settings look like."""
    return Enzyme(settings.pam.upper(), settings.pam_side == "before", settings.length)


def query_of(spacers: Sequence[Spacer], settings: GuidesSettings, source: str) -> Query:
    """The search for the off-targets of guides, and of candidates for controls behind them."""
    enzyme = enzyme_of(settings)
    pattern = enzyme._replace(pam=settings.searched_pam).pattern
    known = {one.letters for one in spacers}
    extra = random_spacers(CANDIDATES * settings.controls, enzyme.length, settings.seed, known)
    guides = tuple(
        Guide("", in_pattern(letters, pattern, enzyme.pam_first), settings.mismatches)
        for letters in [*(one.letters for one in spacers), *extra]
    )
    query = Query(pattern, guides, settings.dna_bulge, settings.rna_bulge)
    return checked(query, source)


def design(
    spacers: Sequence[Spacer],
    query: Query,
    rows: OffTargets,
    chromosomes: Chromosomes,
    settings: GuidesSettings,
    annotation: Annotation | None,
) -> Designed:
    """Rank the guides, best first, and put the controls behind them.

    `rows` are the sites of all guides of the query, each site once. Each gene's guides are in the
    order of verdict, specificity, number of off-targets (without mismatches, with one, ...), those
    in coding sequence, and place in the gene.
    """
    enzyme = enzyme_of(settings)
    own = own_sites(spacers, rows, chromosomes, enzyme, annotation)
    is_own = np.zeros(len(rows.guide), bool)
    is_own[own[own >= 0]] = True
    off = taken(rows, ~is_own)
    size = len(query.guides)
    count = np.zeros((size, KINDS, CLASSES), np.int64)
    kind = np.where(off.bulge == 2, 2, 0) + off.bulge_size
    np.add.at(count, (off.guide, kind, off.mismatches), 1)
    specificity = np.full(size, np.nan)
    if enzyme.length == LENGTH and not enzyme.pam_first:
        plain = off.bulge_size == 0
        mismatch = off.dna[plain, :LENGTH] >= ord("a")
        specificity = specificities(off.guide[plain], hit_scores(mismatch), size)
    coding = np.full(size, -1, np.int64)
    place = np.zeros(0, np.int64)
    if annotation:
        place = cuts(rows, enzyme)
        within = annotation.coding(chromosomes.name[rows.chromosome], place) >= 0
        coding = np.bincount(rows.guide[within & ~is_own], minlength=size).astype(np.int64)
    letters = [_bare(guide.sequence, enzyme) for guide in query.guides]
    share = np.array([gc(one) for one in letters])
    run = np.array([longest_t(one) for one in letters], np.int32)
    verdict = _verdicts(own, count, share, run, settings)
    near = _near(count)[:, : settings.mismatches + 3]
    genes = _gene_order(spacers)
    number = len(spacers)
    places = np.array([one.place for one in spacers], np.int64)
    # lexsort: the last key counts first.
    ranked = np.lexsort(
        (
            places,
            coding[:number],
            *near[:number].T[::-1],
            np.nan_to_num(-specificity[:number]),
            verdict[:number],
            genes,
        )
    )
    allowed = np.flatnonzero(near[number:, : settings.control_mismatches + 1].sum(1) == 0)
    order = np.lexsort((allowed, *near[number:][allowed].T[::-1]))
    controls = number + allowed[order[: settings.controls]]
    chosen = np.concatenate([ranked, controls]).astype(np.int64)
    table = _table(spacers, letters, rows, own, chosen, cuts(rows, enzyme), chromosomes, annotation)
    listed = RankedGuides(
        **table,
        verdict=verdict[chosen].astype(np.uint8),
        gc=share[chosen],
        longest_t=run[chosen],
        count=count[chosen],
        coding=coding[chosen],
        specificity=specificity[chosen],
    )
    return Designed(listed, *_renumbered(rows, is_own, chosen, size))


def own_sites(
    spacers: Sequence[Spacer],
    rows: OffTargets,
    chromosomes: Chromosomes,
    enzyme: Enzyme,
    annotation: Annotation | None = None,
) -> np.ndarray:
    """The row of each guide's own site (int64); -1 for one without.

    A site that is known from the annotation is that. Otherwise it is the perfect site with the
    guide's own PAM at the place of its gene (`locus.home`). Where half of a gene's guides have one
    in a copy, too, a warning names both, unless the annotation has only one of them. Where half of
    them have more than `MANY`, a warning names the gene. Where the annotation has nothing on the
    chromosome of a site, a warning names that.
    """
    perfect = np.flatnonzero((rows.mismatches == 0) & (rows.bulge_size == 0))
    perfect = perfect[rows.guide[perfect] < len(spacers)]
    pams = [_pam(dna, enzyme) for dna in rows.dna[perfect]]
    given = list(spacers)
    own_pam = [
        given[guide].pam == pam for guide, pam in zip(rows.guide[perfect], pams, strict=True)
    ]
    perfect = perfect[np.array(own_pam, bool)]
    guide, chromosome = rows.guide[perfect], rows.chromosome[perfect].astype(np.int64)
    strand = (rows.strand[perfect] ^ np.array([one.strand for one in given], np.uint8)[guide]) == 1
    place = cuts(taken(rows, perfect), enzyme)
    annotated = np.zeros(len(perfect), bool)
    if annotation:
        stretch = annotation.coding(chromosomes.name[chromosome], place)
        of_stretch = annotation.strand[stretch]
        annotated = (stretch >= 0) & ((of_stretch == strand) | (of_stretch == UNSTRANDED))
    cut = np.where(strand, -place, place)
    shift = cut - np.array([one.place for one in given], np.int64)[guide]
    every = Sites(guide, chromosome, strand.astype(np.int64), cut, shift, annotated)
    first = np.searchsorted(guide, np.arange(len(given) + 1))
    result = np.full(len(given), -1, np.int64)
    of_gene: dict[str, list[int]] = {}
    for number, one in enumerate(given):
        if one.site is None:
            of_gene.setdefault(one.gene, []).append(number)
            continue
        for row in perfect[first[number] : first[number + 1]]:
            name = chromosomes.name[rows.chromosome[row]]
            if (name, rows.position[row], rows.strand[row]) == one.site:
                result[number] = row
    copies, repeated = [], []
    for gene, members in of_gene.items():
        spans = [np.arange(first[number], first[number + 1]) for number in members]
        mine = np.concatenate(spans)
        along = np.repeat(np.arange(len(members)), [len(span) for span in spans])
        sites = Sites(along, *(column[mine] for column in every[1:]))
        own, copy = own_sites_of(sites, len(members))
        for number, site in own.items():
            result[members[number]] = perfect[mine[site]]
        if copy:
            copies.append((gene, len(members), copy))
        if 2 * sum(len(span) > MANY for span in spans) >= len(members):
            repeated.append(gene)
    _warn_of_copies(copies, chromosomes)
    if repeated:
        log.warning(
            "at least half of the guides have more than %d perfect sites each, and cut at all of "
            "them: those of %s%s",
            MANY,
            ", ".join(repeated[:SOME]),
            f" and {len(repeated) - SOME} more genes" if len(repeated) > SOME else "",
        )
    if annotation:
        there = set(chromosomes.name[np.unique(rows.chromosome[result[result >= 0]])])
        if bare := sorted(there.difference(annotation.chromosome)):
            log.warning(
                "%s: has no coding sequence on %s, where guides have their own sites: they have no "
                "exon; give the annotation of this genome, with its names",
                annotation.path,
                ", ".join(bare[:SOME]),
            )
    return result


def _warn_of_copies(copies: Sequence[tuple[str, int, Copy]], chromosomes: Chromosomes) -> None:
    """Name both places of the first genes, of so many guides each, that have a copy."""
    for gene, size, copy in copies[:SOME]:
        places = (
            f"{chromosomes.name[one.chromosome]}:{one.first}-{one.last} ({'+-'[one.strand]})"
            for one in (copy.home, copy.other)
        )
        log.warning(
            "%s: %d of %d guides have perfect sites at %s, taken for the gene, and at %s; give "
            "--annotation with the gene, which decides",
            gene,
            copy.shared,
            size,
            *places,
        )
    if len(copies) > SOME:
        log.warning("so have guides of %d more genes", len(copies) - SOME)


def cuts(rows: OffTargets, enzyme: Enzyme) -> np.ndarray:
    """First base behind the cut of each site, on its chromosome (int64)."""
    length = np.count_nonzero((rows.dna != 0) & (rows.dna != ord("-")), axis=1)
    # The PAM stays where it is, whatever the bulge.
    from_pam_side = len(enzyme.pattern) - enzyme.cut
    inside = np.full(len(length), enzyme.cut) if enzyme.pam_first else length - from_pam_side
    return np.asarray(rows.position + np.where(rows.strand == 1, length - inside, inside))


def _pam(dna: np.ndarray, enzyme: Enzyme) -> str:
    text = dna[dna != 0].tobytes().decode().upper()
    return text[: len(enzyme.pam)] if enzyme.pam_first else text[-len(enzyme.pam) :]


def _bare(sequence: str, enzyme: Enzyme) -> str:
    return sequence[-enzyme.length :] if enzyme.pam_first else sequence[: enzyme.length]


def _near(count: np.ndarray) -> np.ndarray:
    """Sites by mismatches and bases of a bulge together: (guides, classes)."""
    found = count[:, 0].copy()
    for kind in range(1, KINDS):
        size = kind if kind <= 2 else kind - 2
        found[:, size:] += count[:, kind, :-size]
    return found


def _verdicts(
    own: np.ndarray, count: np.ndarray, share: np.ndarray, run: np.ndarray, settings: GuidesSettings
) -> np.ndarray:
    """GuideVerdict of each guide of the genes (those that `own` has), GOOD for the candidates."""
    verdict = np.full(len(count), int(GuideVerdict.GOOD))
    number = len(own)
    low, high = settings.min_gc, settings.max_gc
    for value, bad in (
        (GuideVerdict.GC, (share < low) | (share > high)),
        (GuideVerdict.POLY_T, run >= POLY_T),
        (GuideVerdict.REPEATED, count[:, 0, 0] > 0),
    ):
        verdict[:number][bad[:number]] = value
    verdict[:number][own < 0] = GuideVerdict.NO_SITE
    return verdict


def _gene_order(spacers: Sequence[Spacer]) -> np.ndarray:
    order = {gene: n for n, gene in enumerate(dict.fromkeys(one.gene for one in spacers))}
    return np.array([order[one.gene] for one in spacers], np.int64)


def _table(
    spacers: Sequence[Spacer],
    letters: Sequence[str],
    rows: OffTargets,
    own: np.ndarray,
    chosen: np.ndarray,
    cut: np.ndarray,
    chromosomes: Chromosomes,
    annotation: Annotation | None,
) -> dict[str, np.ndarray]:
    """The columns that say what a guide is and where."""
    number = len(spacers)
    numbers = _numbers(spacers)
    where = np.full(len(chosen), -1, np.int64)
    of_gene = chosen < number
    where[of_gene] = own[chosen[of_gene]]
    rows_of: list[tuple[str, str, int, int, str, int]] = []
    for guide in chosen.tolist():
        if guide < number:
            one = spacers[guide]
            name = f"{one.gene}_{numbers[guide]:04d}"
            rows_of.append((name, one.gene, one.exon, one.place, one.pam, one.strand))
        else:
            control = len(rows_of) - int(of_gene.sum()) + 1
            rows_of.append((f"control_{control:03d}", "", 0, -1, "", 0))
    names, genes, exons, places, pams, strands_of = zip(*rows_of, strict=True)
    strands = np.array(strands_of, np.uint8)
    there = where >= 0
    found = where[there]
    strands[there] = rows.strand[found]
    table: dict[str, np.ndarray] = {"chromosome": np.full(len(chosen), -1, np.int32)}
    table |= {name: np.full(len(chosen), -1, np.int64) for name in ("position", "cut")}
    table["chromosome"][there] = rows.chromosome[found]
    table["position"][there], table["cut"][there] = rows.position[found], cut[found]
    exon = np.array(exons, np.int32)
    if annotation:
        # A coding sequence does not name its exons; the annotation of its sites does.
        rest = np.flatnonzero(there & (exon == 0))
        at = table["cut"][rest]
        stretches = annotation.coding(chromosomes.name[table["chromosome"][rest]], at)
        for row, stretch, place in zip(rest, stretches.tolist(), at.tolist(), strict=True):
            if stretch >= 0 and annotation.strand[stretch] != UNSTRANDED:
                exon[row] = annotation.gene_of(stretch).exon_at(place)
    return table | {
        "name": np.array(names, object),
        "role": np.where(of_gene, GuideRole.GENE, GuideRole.CONTROL).astype(np.uint8),
        "gene": np.array(genes, object),
        "exon": exon,
        "coding_place": np.array(places, np.int64),
        "spacer": np.array([letters[guide] for guide in chosen], object),
        "pam": np.array(pams, object),
        "strand": strands,
    }


def _numbers(spacers: Sequence[Spacer]) -> list[int]:
    """The number of each guide along its gene, from 1."""
    seen: dict[str, int] = {}
    result = []
    for one in spacers:
        seen[one.gene] = seen.get(one.gene, 0) + 1
        result.append(seen[one.gene])
    return result


def _renumbered(
    rows: OffTargets, is_own: np.ndarray, chosen: np.ndarray, size: int
) -> tuple[OffTargets, np.ndarray]:
    """The rows of the guides that are listed, in the order of the list."""
    place = np.full(size, -1, np.int32)
    place[chosen] = np.arange(len(chosen))
    kept = np.flatnonzero(place[rows.guide] >= 0)
    kept = kept[np.argsort(place[rows.guide[kept]], kind="stable")]
    some = taken(rows, kept)
    columns = {name: getattr(some, name) for name in OffTargets.__dataclass_fields__}
    return OffTargets(**columns | {"guide": place[some.guide]}), is_own[kept]
