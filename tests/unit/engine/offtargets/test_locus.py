"""The place of a gene among copies of it, by the sites of its guides."""

import numpy as np

from ligen_py.engine.offtargets.locus import INTRON, MANY, Sites, home, loci, own_sites_of

GUIDES = 40
PLACES = 10 * np.arange(GUIDES)
EXONS = (range(12), range(15, 28), range(30, GUIDES))
"""Guides of each exon; those between span a junction."""

Row = tuple[int, int, int, int, bool]
"""Guide, chromosome, strand, place on the chromosome, whether that is annotated."""


def sites(*rows: Row) -> Sites:
    guide, chromosome, strand, place, known = (
        np.array(column) for column in zip(*sorted(rows), strict=True)
    )
    cut = np.where(strand == 1, -place, place)
    return Sites(guide, chromosome, strand, cut, cut - PLACES[guide], known)


def gene(start: int, chromosome: int = 0, strand: int = 0, known: bool = False) -> list[Row]:
    """Sites of a gene with two introns of 1000 bases."""
    turn = -1 if strand else 1
    return [
        (guide, chromosome, strand, start + turn * (int(PLACES[guide]) + 1000 * exon), known)
        for exon, guides in enumerate(EXONS)
        for guide in guides
    ]


def copy(
    start: int, chromosome: int = 0, without: range = range(0), known: bool = False
) -> list[Row]:
    """Sites of a copy without introns, which has changed at some guides."""
    return [
        (guide, chromosome, 0, start + int(PLACES[guide]), known)
        for guide in range(GUIDES)
        if guide not in without
    ]


def places(found: Sites, own: dict[int, int]) -> list[tuple[int, int]]:
    """Chromosome and place of each own site, in the order of the guides."""
    return [(int(found.chromosome[own[n]]), abs(int(found.cut[own[n]]))) for n in sorted(own)]


def expected(rows: list[Row]) -> list[tuple[int, int]]:
    return [(row[1], row[3]) for row in rows]


def test_a_gene_has_introns_and_its_copy_none() -> None:
    for strand in (0, 1):
        real = gene(50_000, 1, strand)
        for changed in (range(0), range(2), range(20, 24)):
            found = sites(*real, *copy(3000, without=changed), *copy(90_000, 2, changed))
            own, rival = own_sites_of(found, GUIDES)
            assert places(found, own) == expected(real)
            assert rival is not None
            assert rival.home[:4] == (1, strand, *((50_000, 52_390), (47_610, 50_000))[strand])
            assert rival.other[:4] == (0, 0, 3000 + 10 * (2 if changed == range(2) else 0), 3390)
            in_gene = {row[0] for row in real}
            assert rival.shared == len(in_gene - set(changed))


def test_no_chain_goes_on_from_the_gene_to_its_copy_behind_it() -> None:
    """The copy has changed in the first exon alone, so both exons together had the most sites."""
    real = gene(1000)
    for start in (8000, 100):
        found = sites(*real, *copy(start, without=range(5)))
        own, rival = own_sites_of(found, GUIDES)
        assert places(found, own) == expected(real)
        assert rival is not None
        assert (rival.other.first, rival.other.introns, rival.other.explained) == (
            start + 50, 0, GUIDES - 5
        )  # fmt: skip


def test_a_gene_without_introns_is_where_its_sequence_is() -> None:
    """Of a gene that is itself a copy, the guides at its changes have no site in the other."""
    own_place = copy(7000, 1)
    other = [row for row in gene(50_000) if not 2 <= row[0] < 10]
    found = sites(*own_place, *other)
    own, rival = own_sites_of(found, GUIDES)
    assert places(found, own) == expected(own_place)
    assert rival is not None
    assert own_sites_of(sites(*own_place, *other[:15]), GUIDES)[1] is None


def test_a_short_insertion_is_no_intron() -> None:
    for size, introns in ((INTRON - 1, 0), (INTRON, 1)):
        rows = [(n, 0, 0, 10 * n + (size if n > 5 else 0), False) for n in range(20) if n != 6]
        (one,) = loci(sites(*rows), 20)
        assert (one.introns, one.explained) == (introns, 19 + introns)


def test_the_annotation_decides() -> None:
    real, other = gene(50_000, 1), copy(3000, known=True)
    found = sites(*real, *other)
    own, rival = own_sites_of(found, GUIDES)
    assert places(found, own) == expected(other)
    assert rival is None
    both = sites(*gene(50_000, 1, known=True), *other)
    assert own_sites_of(both, GUIDES)[1] is not None


def test_a_repeat_has_its_site_in_the_exon_of_a_neighbour() -> None:
    far = [(3, 2, 0, 100 * n, False) for n in range(MANY)]
    # Within an intron of the gene, too, and on the other strand.
    near = [(3, 1, 0, 51_500, False), (3, 1, 1, 50_030, False)]
    real = gene(50_000, 1)
    found = sites(*far, *near, *real)
    own, _ = own_sites_of(found, GUIDES)
    assert places(found, own) == expected(real)
    assert loci(found, GUIDES)[0].explained == GUIDES - 1
    alone = sites(*far, *near)
    assert loci(alone, 4) == []
    assert own_sites_of(alone, 4)[0] == {3: 0}
    assert own_sites_of(sites(*far), 4)[0].keys() == {3}


def test_a_site_elsewhere_is_no_guides_own() -> None:
    elsewhere = [(13, 3, 0, 77, False), (29, 1, 0, 10, False), (39, 0, 0, 5, False)]
    real = gene(50_000, 1)[:-1]
    found = sites(*real, *elsewhere)
    own, rival = own_sites_of(found, GUIDES)
    assert rival is None
    assert places(found, own) == expected(real)
    assert home(loci(found, GUIDES)).chromosome == 1
