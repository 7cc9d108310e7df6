"""The guides that a sequence offers."""

import re
from pathlib import Path

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.sequences.genes import Exon, Gene
from ligen_py.sequences.genome import read_genome
from ligen_py.sequences.spacers import (
    Enzyme,
    gc,
    longest_t,
    of_gene,
    of_sequences,
    random_spacers,
    windows,
)

CAS9, CAS12 = Enzyme("NGG", False, 20), Enzyme("TTTV", True, 23)


def other(text: str) -> str:
    return text[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def letters(seed: int, count: int, alphabet: str = "ACGT") -> str:
    return "".join(np.random.default_rng(seed).choice(list(alphabet), count))


@pytest.mark.parametrize(
    ("enzyme", "expression"),
    [
        (CAS9, r"(?=([ACGT]{20})([ACGT]GG))"),
        (CAS12, r"(?=(TTT[ACG])([ACGT]{23}))"),
        (Enzyme("NNGRRT", False, 21), r"(?=([ACGT]{21})([ACGT][ACGT]G[AG][AG]T))"),
    ],
)
def test_windows_are_those_of_an_expression(enzyme: Enzyme, expression: str) -> None:
    text = letters(1, 12_000, "ACGTACGTACGTN")
    expected = []
    for strand, word in enumerate((text, other(text))):
        for match in re.finditer(expression, word):
            pair = match.groups()[::-1] if enzyme.pam_first else match.groups()
            size = len(enzyme.pattern)
            start = len(text) - match.start() - size if strand else match.start()
            expected.append((start, strand, *pair))
    found = list(windows(np.frombuffer(text.encode(), np.uint8), enzyme))
    assert found == sorted(expected)
    assert len(found) > 10


def test_guides_of_a_coding_sequence(tmp_path: Path) -> None:
    guide = "GGCCGACCTGTCGCTGACGC"
    text = "AT" * 10 + guide + "TGG" + "AT" * 10
    path = tmp_path / "cds.fa"
    path.write_text(f">one x\n{text.lower()}\n>two\n{other(text)}\n")
    found = next(one for one in of_sequences(path, CAS9) if one.letters == guide)
    assert (found.gene, found.pam, found.strand) == ("one", "TGG", 0)
    assert found.place == 20 + 17
    path.write_text(f">two\n{other(text)}\n")
    found = next(one for one in of_sequences(path, CAS9) if one.letters == guide)
    assert (found.strand, found.place) == (1, len(text) - 37)
    path.write_text(f">two\n{text}\n>one\nACGT\n>two v2\n{text}\n")
    with pytest.raises(InputError, match=r"cds.fa: two records are called 'two' .* rename one"):
        of_sequences(path, CAS9)
    path.write_text(">p\nMKVL\n")
    with pytest.raises(InputError, match="'L' is no letter of DNA"):
        of_sequences(path, CAS9)


def test_records_without_a_guide_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of two genes one was missing from the list, and nothing said so."""
    path = tmp_path / "cds.fa"
    text = "AT" * 10 + "GGCCGACCTGTCGCTGACGCTGG" + "AT" * 10
    path.write_text(f">one\n{text}\n>two\n{'AT' * 30}\n>three\n{text[2:]}\n")
    assert {one.gene for one in of_sequences(path, CAS9)} == {"one"}
    assert f"{path}: no guide of 2 records is listed, such as two: none fits" in caplog.text


@pytest.mark.parametrize("strand", [0, 1])
def test_guides_of_a_gene_cut_within_its_exons(tmp_path: Path, strand: int) -> None:
    text = letters(3, 4000)
    path = tmp_path / "genome.fa"
    path.write_text(f">chr0\nACGT\n>chr1\n{text}\n")
    genome = read_genome(path)
    exons = [Exon(0, 300), Exon(1000, 1100), Exon(3900, 4000)]
    gene = Gene("G", "chr1", strand, tuple(exons[::-1] if strand else exons))
    found = of_gene(genome, gene, path, CAS9)
    expected = set()
    for start, side, spacer, pam in windows(np.frombuffer(text.encode(), np.uint8), CAS9):
        cut = start + (6 if side else 17)
        if any(one.start < cut < one.end for one in exons):
            expected.add((spacer, pam, start, side))
    seen = {(one.letters, one.pam, one.site[1], one.site[2]) for one in found if one.site}
    assert seen == expected
    coding = "".join(text[one.start : one.end] for one in exons)
    coding = other(coding) if strand else coding
    for one in found:
        # Where the window is within the exon, the coding sequence has it in front of the cut.
        assert one.site
        start = one.site[1]
        if any(e.start <= start and start + 23 <= e.end for e in exons):
            word = one.letters + one.pam
            word = other(word) if one.strand else word
            assert coding.find(word) + (6 if one.strand else 17) == one.place
            assert gene.exon_at(start + 8) == one.exon
    assert [one.place for one in found] == sorted(one.place for one in found)


def test_a_gene_that_does_not_fit_the_genome(tmp_path: Path) -> None:
    path = tmp_path / "genome.fa"
    path.write_text(">chr1\nACGT\n")
    genome = read_genome(path)
    with pytest.raises(InputError, match="is on chr2, which the genome does not have; it has chr1"):
        of_gene(genome, Gene("G", "chr2", 0, (Exon(0, 3),)), path, CAS9)
    with pytest.raises(InputError, match="up to base 9 of chr1, which has 4"):
        of_gene(genome, Gene("G", "chr1", 0, (Exon(0, 9),)), path, CAS9)


def test_random_guides() -> None:
    found = random_spacers(200, 20, 7, set())
    assert len(set(found)) == 200
    assert found == random_spacers(200, 20, 7, set())
    assert found != random_spacers(200, 20, 8, set())
    assert all(0.4 <= gc(one) <= 0.6 and longest_t(one) < 4 for one in found)
    assert found[0] not in random_spacers(200, 20, 7, {found[0]})


def test_measures() -> None:
    assert (gc("GGCA"), longest_t("TTATTTA"), longest_t("ACG")) == (0.75, 3, 0)
