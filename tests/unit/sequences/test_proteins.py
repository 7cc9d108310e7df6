"""Letters, matrices and statistics of proteins."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.sequences.alphabets import AMINO_ACIDS, decode, encode
from ligen_py.sequences.fasta import FastaRecord
from ligen_py.sequences.proteins import read_proteins, residue_numbers
from ligen_py.sequences.statistics import statistics_of
from ligen_py.sequences.substitution import MATRICES, read_matrix


def record(sequence: bytes) -> FastaRecord:
    return FastaRecord("p", "p", sequence)


def test_case_stops_and_letters_without_scores() -> None:
    assert decode(encode(record(b"arnDcqeghilkmfpstwyvbzx*"), "f")) == AMINO_ACIDS
    assert decode(encode(record(b"mUOjuo"), "f")) == "MXXXXX"
    assert len(encode(record(b""), "f")) == 0


@pytest.mark.parametrize(
    ("letter", "cure"), [("-", "remove the gaps"), ("1", "correct"), ("é", "")]
)
def test_other_letters_are_named(letter: str, cure: str) -> None:
    with pytest.raises(InputError, match=f"f: p: .* at residue 3 is no amino acid.*{cure}"):
        encode(record(b"MK" + letter.encode("latin-1")), "f")


def test_dna_in_place_of_proteins_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "genome.fa"
    path.write_text(">chr1\n" + "ACGTN" * 10 + "u\n")
    assert read_proteins(path).residues == 51
    assert "genome.fa: chr1 looks like DNA or RNA" in caplog.text
    caplog.clear()
    for text in (">p\nACGT\n", ">p\n" + "ACGTN" * 10 + "K\n"):
        path.write_text(text)
        read_proteins(path)
        assert not caplog.text


def test_faulty_records_are_kept_for_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "some.fa"
    path.write_bytes(b">a\nMKU\n>b\nM-K\n>c\n")
    found = read_proteins(path, keep_faulty=True)
    assert found.name == ["a", "b", "c"]
    assert [len(letters) for letters in found.letters] == [3, 0, 0]
    assert found.fault[1].startswith("b: '-' at residue 2")
    assert (found.fault[0], found.fault[2], found.unknown, found.residues) == ("", "", 1, 3)
    with pytest.raises(InputError, match="b: '-' at residue 2"):
        read_proteins(path)


def test_matrices_by_name() -> None:
    scores = read_matrix("blosum62")
    at = AMINO_ACIDS.index
    pairs = {"WW": 11, "AA": 4, "WP": -4, "DB": 4, "EZ": 4, "XX": -1, "*A": -4, "**": 1}
    assert {pair: scores[at(pair[0]), at(pair[1])] for pair in pairs} == pairs
    for name in MATRICES:
        scores = read_matrix(name)
        assert scores.shape == (24, 24)
        assert (scores == scores.T).all()
        assert (np.diag(scores)[:20] == scores[:20, :20].max(axis=1)).all(), name
    # The numbers that each matrix is known by: trace of the amino acids, lowest, highest.
    known = {name: (int(np.trace(read_matrix(name)[:20, :20])), *bounds(name)) for name in MATRICES}
    assert known["BLOSUM62"] == (116, -4, 11)
    assert known["PAM30"][1:] == (-17, 13)
    assert known["PAM250"][1:] == (-8, 17)
    assert known["BLOSUM45"][1:] == (-5, 15)


def bounds(name: str) -> tuple[int, int]:
    return int(read_matrix(name).min()), int(read_matrix(name).max())


def ncbi(letters: str, rows: str) -> str:
    return f"# a matrix\n   {'  '.join(letters)}\n{rows}\n"


def simple(letters: str = AMINO_ACIDS[:20]) -> str:
    rows = (f"{a} {' '.join('5' if a == b else '-3' for b in letters)}" for a in letters)
    return ncbi(letters, "\n".join(rows))


def test_a_matrix_file_fills_what_it_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(simple())
    scores = read_matrix(str(path))
    assert scores[0, 0] == 5
    assert (scores[20:] == -3).all()
    assert (scores[:, 20:] == -3).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (simple("ARND"), "no scores for C, Q"),
        (simple().replace("5", "x", 1), "line 3: scores must be whole numbers"),
        (simple().replace("5", "101", 1), "line 3: scores must lie between"),
        (simple().replace("5", "-5"), "no pair has a score above 0"),
        (simple() + "A 1 2\n", "a letter and 20 scores were expected"),
        ("AA BB\n", "the letters of the columns"),
        ("", "no scores for A"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "own.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_matrix(str(path))


def test_an_unknown_matrix_is_named() -> None:
    with pytest.raises(InputError, match=r"matrix BLOSUM61: is none of BLOSUM45, .*"):
        read_matrix("BLOSUM61")


def test_bit_scores_are_those_of_swipe_and_blast() -> None:
    # SWIPE gives 511 bits for 1329 at BLOSUM62, existence 8, extension 2; BLAST's 11, 1 gives
    # (0.267 * 100 - ln 0.041) / ln 2 = 43.13 for 100.
    paper, blast = statistics_of("BLOSUM62", 10, 2), statistics_of("blosum62", 12, 1)
    assert paper is not None
    assert blast is not None
    assert paper.bits(np.array([1329])) == pytest.approx([510.65], abs=0.01)
    assert blast.bits(np.array([100])) == pytest.approx([43.13], abs=0.01)
    assert statistics_of("BLOSUM62", 3, 3) is None
    assert statistics_of("mine.txt", 10, 2) is None


ROBINSON = {
    "A": 78.05, "R": 51.29, "N": 44.87, "D": 53.64, "C": 19.25, "Q": 42.64, "E": 62.95,
    "G": 73.77, "H": 21.99, "I": 51.42, "L": 90.19, "K": 57.44, "M": 22.43, "F": 38.56,
    "P": 52.03, "S": 71.20, "T": 58.41, "W": 13.30, "Y": 32.16, "V": 64.41,
}  # fmt: skip
"""Residues of proteins, per thousand (Robinson and Robinson 1991), as BLAST takes them."""


@pytest.mark.parametrize("name", MATRICES)
def test_parameters_are_those_of_the_matrix(name: str) -> None:
    """Gaps make lambda smaller, by a third at most in BLAST's table.

    BLOSUM80's were of a matrix in other units: unrelated proteins had E-values far below 1.
    """
    share = np.array([ROBINSON[letter] for letter in AMINO_ACIDS[:20]])
    share = np.outer(share, share) / share.sum() ** 2
    scores = read_matrix(name)[:20, :20].astype(float)
    low, high = 0.01, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        total = float((share * np.exp(middle * scores)).sum())
        low, high = (low, middle) if total > 1 else (middle, high)
    pairs = ((first, further) for first in range(2, 30) for further in (1, 2, 3))
    known = [found for pair in pairs if (found := statistics_of(name, *pair))]
    assert (name == "BLOSUM80") == (not known)
    for found in known:
        assert 0.6 * low < found.lambda_ < low


def test_a_search_space_loses_its_edges() -> None:
    """The length that is found by halving is the largest of all, looked at one by one."""
    known = statistics_of("BLOSUM62", 10, 2)
    assert known is not None

    def pairs(length: int) -> int:
        return (query - length) * (residues - sequences * length)

    def fits(length: int) -> bool:
        expected = known.alpha / known.lambda_ * float(np.log(known.k * pairs(length))) + known.beta
        return known.k * pairs(length) > max(query, residues) and expected >= length

    rng, lengths = np.random.default_rng(1), set()
    for _ in range(50):
        query, sequences = int(rng.integers(20, 1000)), int(10 ** rng.uniform(0, 6))
        residues = sequences * int(rng.integers(50, 500))
        most = min(query, residues // sequences)
        length = next((n for n in range(most - 1, 0, -1) if fits(n)), 0)
        lengths.add(length)
        assert known.space(query, residues, sequences) == pairs(length)
    assert len(lengths) > 25
    assert known.e_values(np.array([0]), 100.0) == pytest.approx([4.5])
    # A query too short for any correction keeps all of its space.
    assert known.space(1, 100, 1) == 100


@pytest.mark.parametrize(
    ("query", "residues", "sequences", "space"),
    [
        (32, 6_406, 20, 156_650),
        (102, 6_406, 20, 361_344),
        (178, 481, 2, 65_208),
        (591, 769_850, 3_529, 240_020_898),
    ],
)
def test_search_spaces_are_those_that_blast_prints(
    query: int, residues: int, sequences: int, space: int
) -> None:
    """`Statistics_eff-space` in results of NCBI's blastp, BLOSUM62 with 11, 1."""
    known = statistics_of("BLOSUM62", 12, 1)
    assert known is not None
    assert known.space(query, residues, sequences) == space


@pytest.mark.parametrize(("text", "numbers"), [("7", (7,)), ("12,3-5, 4", (3, 4, 5, 12))])
def test_numbers_of_residues(text: str, numbers: tuple[int, ...]) -> None:
    assert residue_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "3-", "0", "-2", "1;2", "5-3"])
def test_what_is_no_residue_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no residue"):
        residue_numbers(text)
