"""The place of a gene among copies of it, by the sites of its guides."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from ligen_py.engine.offtargets.locus import Locus, Sites, home, loci, own_sites_of

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
    for size, introns in ((29, 0), (30, 1)):
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
    far = [(3, 2, 0, 100 * n, False) for n in range(20)]
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


def test_of_all_rising_sites_the_best_less_those_passed_over() -> None:
    """Against all choices of sites."""
    rng = np.random.default_rng(5)

    def worth(chosen: tuple[int, ...]) -> int:
        return 2 * len(chosen) - (chosen[-1] - chosen[0] + 1)

    def rises(chosen: tuple[int, ...]) -> bool:
        return all(guide[one] < guide[two] for one, two in pairwise(chosen))

    for _ in range(80):
        guide = np.arange(rng.integers(1, 11))
        some = rng.random(len(guide)) < 0.4
        guide[some] = rng.integers(0, 9, some.sum())
        found = sites(*((int(one), 0, 0, 1000 * n, False) for n, one in enumerate(guide)))
        places = tuple((found.cut[loci(found, 10)[0].sites] // 1000).tolist())
        assert rises(places)
        best = max(
            worth(chosen)
            for size in range(1, len(guide) + 1)
            for chosen in combinations(range(len(guide)), size)
            if rises(chosen)
        )
        assert worth(places) == best


def test_a_place_has_a_tenth_of_the_guides_and_each_once() -> None:
    for size, places in ((4, 1), (3, 0)):
        assert len(loci(sites(*copy(0)[:size]), GUIDES)) == places
    assert [len(one.sites) for one in loci(sites((3, 0, 0, 5, False), (3, 0, 0, 9, False)), 4)] == [
        1, 1
    ]  # fmt: skip


def test_a_guide_of_20_sites_counts_and_one_of_21_does_not() -> None:
    rows = [(0, n, 0, 100, False) for n in range(20)]
    assert len(loci(sites(*rows), 1)) == 20
    assert loci(sites(*rows, (0, 20, 0, 100, False)), 1) == []


@pytest.mark.parametrize(("explained", "chosen"), [(90, 1), (89, 0)])
def test_a_place_with_introns_competes_with_nine_tenths(explained: int, chosen: int) -> None:
    none = np.zeros(0, np.int64)
    found = [
        Locus(0, 0, 0, 0, none, 0, 100, False),
        Locus(1, 0, 0, 0, none, 2, explained, False),
    ]
    assert home(found) is found[chosen]
    known = found[0]._replace(is_annotated=True, explained=50)
    assert home([*found, known]) is known
    paralog = known._replace(explained=49)
    assert home([*found, paralog]) is found[chosen]


def test_exons_behind_a_sequence_that_the_gene_has_several_times_belong_to_it() -> None:
    for strand in (0, 1):
        turn = -1 if strand else 1
        real = gene(50_000, 1, strand)
        again = [
            (guide, 1, strand, place + turn * 100 * times, False)
            for guide, _, _, place, _ in real
            for times in range(4)
            if 15 <= guide < 25
        ]
        rest = [
            (guide, 1, strand, place + turn * 300 * (guide >= 25), False)
            for guide, _, _, place, _ in real
            if not 15 <= guide < 25
        ]
        found = sites(*again, *rest)
        own, rival = own_sites_of(found, GUIDES)
        assert sorted(own) == sorted(row[0] for row in real)
        assert rival is None
        assert [found.cut[own[row[0]]] * turn for row in rest] == [row[3] for row in rest]


def test_a_gene_may_have_two_such_sequences() -> None:
    repeats = (range(3, 8), range(15, 25))
    rows = []
    for guide, chromosome, strand, place, known in gene(50_000):
        behind = sum(200 for some in repeats if guide >= some.stop)
        times = 3 if any(guide in some for some in repeats) else 1
        rows += [(guide, chromosome, strand, place + behind + 100 * n, known) for n in range(times)]
    own, rival = own_sites_of(sites(*rows), GUIDES)
    assert sorted(own) == sorted({row[0] for row in rows})
    assert rival is None


def test_a_gene_may_be_on_two_contigs_but_not_with_guides_of_one_on_the_other() -> None:
    real = gene(50_000, 1)
    first = real[:20]
    second = [(guide, 2, 1, 99_000 - 10 * guide, known) for guide, *_, known in real[20:]]
    found = sites(*first, *second)
    own, rival = own_sites_of(found, GUIDES)
    assert places(found, own) == expected([*first, *second])
    assert rival is None
    fragment = [(guide, 2, 0, 10 * guide, False) for guide in range(18, GUIDES)]
    found = sites(*first, *fragment)
    assert places(found, own_sites_of(found, GUIDES)[0]) == expected(first)


def test_some_single_sites_of_a_gene_that_is_not_there_are_no_guides_own() -> None:
    strays = [(guide, guide, 0, 5000, False) for guide in (3, 17, 30)]
    assert own_sites_of(sites(*strays), GUIDES) == ({}, None)


def test_a_single_site_behind_a_gap_makes_no_intron() -> None:
    whole, other = copy(7000, 1), copy(3000, 2, without=range(37, GUIDES))
    found = sites(*whole, *other, (39, 2, 0, 900_000, False))
    own, rival = own_sites_of(found, GUIDES)
    assert places(found, own) == expected(whole)
    assert rival is not None


def test_half_is_enough() -> None:
    """Of the guides in a copy, and of the sites that are annotated."""
    real = gene(50_000, 1)
    for size, is_copy in ((20, True), (19, False)):
        other = [row for row in copy(3000) if row[0] in [one[0] for one in real]][:size]
        assert (own_sites_of(sites(*real, *other), GUIDES)[1] is not None) == is_copy
    for size in (20, 19):
        rows = [(*row[:4], n < size) for n, row in enumerate(copy(0))]
        assert loci(sites(*rows), GUIDES)[0].is_annotated == (size == 20)


def test_the_exon_of_a_repeat_is_that_of_the_next_guides() -> None:
    real = gene(50_000, 1)
    for repeat, shift, is_own in (
        (0, 0, True),
        (10, 1000, False),
        (16, 0, False),
        (39, 2000, True),
    ):
        far = [(repeat, 2, 0, 100 * n, False) for n in range(20)]
        there = (repeat, 1, 0, 50_000 + 10 * repeat + shift, False)
        found = sites(*far, there, *(row for row in real if row[0] != repeat))
        assert (repeat in own_sites_of(found, GUIDES)[0]) == is_own
