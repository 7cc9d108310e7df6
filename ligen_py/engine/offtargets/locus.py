"""Where the gene of some guides is in a genome, by their perfect sites.

The sites of a gene come in the order of its coding sequence. Those of a copy do, too; one that was
made from an RNA (a processed pseudogene) has no introns between them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

INTRON = 30
"""Bases between two sites, beyond those of the coding sequence, from which on they are an intron's;
an insertion into a copy is seldom so long."""

MANY = 20
"""Perfect sites of a guide beyond which it is a repeat and does not help to find the gene."""

COMPETES = 0.9
"""A place competes that explains so large a share of what the best one explains: a guide that spans
a base in which the genome differs from the coding sequence has no site in the gene."""


class Sites(NamedTuple):
    """Perfect sites of one gene's guides, an element each, by guide (int64 but for the last)."""

    guide: np.ndarray
    """Number of the guide along the gene, from 0."""
    chromosome: np.ndarray
    strand: np.ndarray
    """On which a gene would be that has the site: 0 forward, 1 reverse."""
    cut: np.ndarray
    """Place of the cut, counted in the direction of that strand: below 0 on the reverse one."""
    shift: np.ndarray
    """`cut` less the coding bases in front of it: equal within an exon."""
    is_annotated: np.ndarray
    """bool: whether the cut is within coding sequence of that strand, or of an unknown one, by the
    annotation."""


class Locus(NamedTuple):
    """A place where a gene, or a copy of it, may be."""

    chromosome: int
    strand: int
    first: int
    """Leftmost cut on the chromosome."""
    last: int
    sites: np.ndarray
    """int64: its sites, one a guide, in the gene's order."""
    introns: int
    explained: int
    """Guides with a site here, and those between two exons, which have none."""
    is_annotated: bool
    """Whether at least half of its sites are."""


class Copy(NamedTuple):
    """A place beside the gene's where at least half of its guides have sites, too."""

    home: Locus
    other: Locus
    shared: int
    """Guides with a site in each."""


def own_sites_of(sites: Sites, guides: int) -> tuple[dict[int, int], Copy | None]:
    """The own site of each of a gene's guides that has one, and the copy of the gene if any.

    A copy is not returned where the annotation has only one of the two places, unless the copy
    explains more of the guides.
    """
    found = loci(sites, guides)
    if not found:  # a repeat has any of its sites, other guides have none
        is_repeat = np.bincount(sites.guide, minlength=guides)[sites.guide] > MANY
        last_first = np.flatnonzero(is_repeat)[::-1].tolist()
        return {int(sites.guide[site]): site for site in last_first}, None
    place = home(found)
    parts = _parts(sites, place, found)
    own: dict[int, int] = {}
    for part in parts:
        own = dict(_at(sites, part)) | own
    near = [part for part in parts if _beside(part, place)]
    least, most = min(part.first for part in near), max(part.last for part in near)
    copies = [
        Copy(place, one, len(own.keys() & set(sites.guide[one.sites].tolist())))
        for one in found
        if not any(one is part for part in parts)
        and not (_beside(one, place) and least <= one.first <= one.last <= most)
        and (one.is_annotated == place.is_annotated or one.explained > place.explained)
    ]
    copy = max(copies, key=lambda one: one.shared, default=None)
    return own, copy if copy and 2 * copy.shared >= guides else None


def _parts(sites: Sites, place: Locus, found: Sequence[Locus]) -> list[Locus]:
    """A place, and others that continue its gene.

    A sequence that the gene has several times ends a chain, and the exons behind it are in another
    one. In a draft genome the gene may be on two contigs.
    """
    parts, here, known = [place], place.sites, sites.guide[place.sites]
    others = (one for one in found if one is not place)
    for one in sorted(others, key=lambda one: -len(one.sites)):
        new = one.sites[~np.isin(sites.guide[one.sites], known)]
        if not len(new):
            continue
        shared, guides = len(one.sites) - len(new), sites.guide[new]
        together = np.concatenate([here, new])
        if _beside(one, place):
            order = sites.guide[together[np.argsort(sites.cut[together], kind="stable")]]
            # Where it has most of the gene again it is a copy.
            continues = 2 * shared <= len(known) and bool((np.diff(order) > 0).all())
        else:
            continues = not shared and bool(guides[0] > known.max() or guides[-1] < known.min())
        if continues:
            parts.append(one)
            known = np.concatenate([known, guides])
            here = together if _beside(one, place) else here
    return parts


def _beside(one: Locus, other: Locus) -> bool:
    return (one.chromosome, one.strand) == (other.chromosome, other.strand)


def loci(sites: Sites, guides: int) -> list[Locus]:
    """The places that have sites of at least a tenth of a gene's guides, by chromosome and strand.

    Repeats count for nothing, so there may be no place.
    """
    is_counted = np.bincount(sites.guide, minlength=guides)[sites.guide] <= MANY
    order = np.lexsort((sites.guide, sites.cut, sites.strand, sites.chromosome))
    order = order[is_counted[order]]
    key = 2 * sites.chromosome[order] + sites.strand[order]
    found: list[Locus] = []
    for rest in np.split(order, np.flatnonzero(np.diff(key)) + 1):
        while len(rest):
            chain = _chain(sites.guide[rest])
            if len(chain) < guides // 10:
                break
            found.append(_locus(sites, rest[chain]))
            rest = np.delete(rest, chain)
    return found


def home(found: Sequence[Locus]) -> Locus:
    """The place of the gene, of one or more.

    It is that of the annotation, unless another explains twice as much; else of those that compete
    the one with introns. A coding sequence explains its own place best: a copy has changed since.
    """
    most = max(one.explained for one in found)
    known = [one for one in found if one.is_annotated and 2 * one.explained >= most] or found
    least = COMPETES * max(one.explained for one in known)
    competing = (one for one in known if one.explained >= least)
    return max(competing, key=lambda one: (one.introns, one.explained))


def _chain(guide: np.ndarray) -> np.ndarray:
    """Of the sites of a strand, in their order, those of one copy: their guides rise.

    Each site in between that is passed over counts against a chain. So it does not go on from an
    exon of the gene to the next exon of a copy farther on, past the exons that come first.
    """
    if (np.diff(guide) > 0).all():
        return np.arange(len(guide))
    worth, before = np.ones(len(guide), np.int64), np.arange(len(guide))
    most = len(np.unique(guide))  # no chain is longer, nor passes over more
    for site in range(1, len(guide)):
        some = np.arange(max(0, site - most), site)[::-1]
        value = np.where(guide[some] < guide[site], worth[some] - (site - 1 - some), 0)
        best = int(value.argmax())
        if value[best] > 0:
            worth[site], before[site] = 1 + value[best], some[best]
    chain = [int(worth.argmax())]
    while before[chain[-1]] != chain[-1]:
        chain.append(int(before[chain[-1]]))
    return np.array(chain[::-1])


def _locus(sites: Sites, chain: np.ndarray) -> Locus:
    is_intron = np.diff(sites.shift[chain]) >= INTRON
    is_intron[[0, -1] if len(is_intron) else []] = False  # a single site may be one by chance
    across = (np.diff(sites.guide[chain]) - 1)[is_intron]
    cuts = np.abs(sites.cut[chain])
    return Locus(
        int(sites.chromosome[chain[0]]),
        int(sites.strand[chain[0]]),
        *(int(cuts.min()), int(cuts.max())),
        chain,
        int(is_intron.sum()),
        len(chain) + int(across.sum()),
        2 * int(sites.is_annotated[chain].sum()) >= len(chain),
    )


def _at(sites: Sites, place: Locus) -> Iterator[tuple[int, int]]:
    """Guide and site of the guides that have one at a place.

    That of a repeat is in the exon of a neighbour.
    """
    guides, shift = sites.guide[place.sites], sites.shift[place.sites]
    yield from zip(guides.tolist(), place.sites.tolist(), strict=True)
    is_there = (sites.chromosome == place.chromosome) & (sites.strand == place.strand)
    for site in np.flatnonzero(is_there & ~np.isin(sites.guide, guides)).tolist():
        behind = int(np.searchsorted(guides, sites.guide[site]))
        if sites.shift[site] in shift[max(behind - 1, 0) : behind + 1]:
            yield int(sites.guide[site]), site
