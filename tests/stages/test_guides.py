"""The stage guides, on a planted genome: every guide, its off-targets, its rank, controls."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ligen_py import guides, offtargets
from ligen_py.engine.offtargets import reference
from ligen_py.engine.offtargets.design import CANDIDATES
from ligen_py.records.guides import GUIDES, GuideRole, GuideVerdict, RankedGuides
from ligen_py.records.offtargets import OFFTARGETS, Chromosomes, OffTargets
from ligen_py.sequences.fasta import read_fasta
from ligen_py.sequences.guides import Guide, Query
from ligen_py.sequences.spacers import random_spacers
from ligen_py.store.files.read import read, run_record
from tests.unit.engine.offtargets.test_specificity import plain

EXONS = ((1000, 1180), (1500, 1620), (2000, 2150))
LINE = 'chr2\tx\tCDS\t{}\t{}\t.\t-\t0\tgene_id "G.1"; gene_name "GENE"; transcript_id "T";\n'


def other(text: str) -> str:
    return text[::-1].translate(str.maketrans("ACGT", "TGCA"))


class Case(NamedTuple):
    """A folder with a genome, the annotation of a gene on its minus strand, and its CDS."""

    folder: Path
    cds: str

    def run(self, *words: str | Path, output: str = "g.h5") -> int:
        flags = ["--genome", self.folder / "genome.fa", "--cache", self.folder / "cache"]
        flags += ["--output", self.folder / output, "--quiet"]
        return guides.main([str(word) for word in (*flags, *words)])

    @property
    def annotated(self) -> list[str | Path]:
        return ["--gene", "GENE", "--annotation", self.folder / "a.gtf"]

    def read(self, output: str = "g.h5") -> RankedGuides:
        return read(self.folder / output, GUIDES, RankedGuides)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("guides")
    rng = np.random.default_rng(11)
    one, two = ("".join(rng.choice(list("ACGT"), n)) for n in (9000, 4000))
    two = two[:1040] + "A" * 8 + "CC" + two[1050:]  # TTTTTTTT in a guide of the gene
    cds = other("".join(two[a:b] for a, b in EXONS))
    # Copies of what looks like guides of the gene, with 0 to 4 changed letters, on both strands.
    places = [n for n in range(30, len(cds) - 30) if cds[n + 21 : n + 23] == "GG"]
    for number, place in enumerate(places[::2]):
        word = list(cds[place : place + 23])
        for at in rng.choice(20, number % 5, replace=False):
            word[at] = "ACGT"[("ACGT".index(word[at]) + 1) % 4]
        copy = "".join(word)
        start = 200 + 150 * number
        copy = other(copy) if number % 2 else copy
        one = one[:start] + copy + one[start + 23 :]
    (folder / "genome.fa").write_text(f">chr1 first\n{one}\n>chr2\n{two}\n")
    (folder / "cds.fa").write_text(f">GENE its coding sequence\n{cds}\n")
    (folder / "a.gtf").write_text(
        "".join(LINE.format(a + 1, b) for a, b in EXONS)
        + LINE.format(301, 400).replace("chr2", "chr1").replace("GENE", "OTHER").replace("G.1", "O")
    )
    return Case(folder, cds)


def twin(case: Case, spacers: list[str], limit: int, bulge: int = 0) -> list[reference.Row]:
    records = [record.sequence for record in read_fasta(case.folder / "genome.fa")]
    wanted = tuple(Guide("", spacer + "NNN", limit) for spacer in spacers)
    return reference.search(records, Query("N" * 21 + "RG", wanted, bulge, bulge))


def test_off_targets_are_those_of_the_twin(case: Case) -> None:
    assert case.run(*case.annotated, "--mismatches", "5") == 0
    found = case.read()
    rows = twin(case, list(found.spacer), 5)
    chromosomes = read(case.folder / "g.h5", GUIDES, Chromosomes)
    assert chromosomes.name.tolist() == ["chr1", "chr2"]
    for number in range(len(found.name)):
        own = int(found.chromosome[number]), int(found.position[number])
        mine = [row for row in rows if row.guide == number]
        off = [row for row in mine if (row.record, row.position) != own]
        assert len(off) == len(mine) - (own[0] >= 0)
        expected = np.bincount([row.mismatches for row in off], minlength=6)
        assert found.count[number, 0, :6].tolist() == expected.tolist()
        total = sum(
            plain([n for n, letter in enumerate(row.dna[:20]) if letter.islower()]) for row in off
        )
        assert found.specificity[number] == pytest.approx(100 / (1 + total), rel=1e-12)
        cuts = [row.position + (17 if row.strand == "+" else 6) for row in off]
        coding = [
            cut for row, cut in zip(off, cuts, strict=True)
            if any(a <= cut < b for a, b in ([(300, 400)] if row.record == 0 else EXONS))
        ]  # fmt: skip
        assert found.coding[number] == len(coding)
    assert found.count[:, 0, :5].sum(0).min() > 0


def test_rank_and_verdict(case: Case) -> None:
    assert case.run(*case.annotated, "--controls", "0") == 0
    found = case.read()
    assert set(found.verdict) >= {GuideVerdict.GOOD, GuideVerdict.REPEATED, GuideVerdict.POLY_T}
    assert (np.diff(found.verdict.astype(int)) >= 0).all()
    good = found.verdict == GuideVerdict.GOOD
    assert (np.diff(found.specificity[good]) <= 0).all()
    assert (found.count[good, 0, 0] == 0).all()
    assert (found.longest_t[found.verdict == GuideVerdict.POLY_T] >= 4).all()
    assert (found.exon > 0).all()
    order = np.argsort(found.coding_place, kind="stable")
    assert (np.diff(found.exon[order]) >= 0).all()


def test_a_coding_sequence_finds_the_same_guides(case: Case) -> None:
    """But for those at the ends of exons: a window across a junction has no site."""
    assert case.run(*case.annotated, "--controls", "0") == 0
    by_name = case.read()
    flags = ("--cds", case.folder / "cds.fa", "--annotation", case.folder / "a.gtf")
    assert case.run(*flags, "--controls", "0", output="c.h5") == 0
    found = case.read("c.h5")
    known = {spacer: row for row, spacer in enumerate(by_name.spacer)}
    sited = np.flatnonzero(found.verdict != GuideVerdict.NO_SITE)
    columns = ("chromosome", "position", "strand", "cut", "exon", "coding_place", "count")
    for row in sited:
        other_row = known[found.spacer[row]]
        for name in (*columns, "specificity", "coding"):
            one, two = getattr(found, name)[row], getattr(by_name, name)[other_row]
            assert np.array_equal(one, two), name
    across = np.flatnonzero(found.verdict == GuideVerdict.NO_SITE)
    assert len(across) > 0
    for row in across:
        place = case.cds.find(found.spacer[row])
        place = place if place >= 0 else case.cds.find(other(found.spacer[row])) - 3
        assert any(place < edge < place + 23 for edge in (150, 270))


def test_a_copy_without_introns_is_no_site_of_the_gene(case: Case, tmp_path: Path) -> None:
    """A guide across a junction had its own site in a processed pseudogene, and was good."""
    changed = "".join("CATG"["ACGT".index(base)] if n % 60 == 0 else base
                      for n, base in enumerate(case.cds))  # fmt: skip
    genome = tmp_path / "genome.fa"
    genome.write_text((case.folder / "genome.fa").read_text() + f">chr3\nACTT{changed}ACTT\n")
    flags = ("--genome", genome, "--controls", "0")
    assert case.run(*case.annotated, *flags) == 0
    assert case.run("--cds", case.folder / "cds.fa", *flags, output="c.h5") == 0
    found, by_name = case.read("c.h5"), case.read()
    sited = found.chromosome >= 0
    assert set(found.spacer[sited]) <= set(by_name.spacer)
    assert set(found.chromosome[sited]) == {1}
    across = (found.verdict == GuideVerdict.NO_SITE) & (found.count[:, 0, 0] > 0)
    assert np.count_nonzero(across) > 0


def test_a_copy_without_introns_is_no_gene_though_it_has_changed_little(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only guides across junctions had one site, in the copy; it was taken for the gene."""
    changed = case.cds[:60] + "CATG"["ACGT".index(case.cds[60])] + case.cds[61:]
    genome = tmp_path / "genome.fa"
    genome.write_text(f">chr0\nACTT{changed}ACTT\n{(case.folder / 'genome.fa').read_text()}")
    flags = ("--cds", case.folder / "cds.fa", "--genome", genome, "--controls", "0")
    assert case.run(*flags, output="c.h5") == 0
    found = case.read("c.h5")
    sited = found.chromosome >= 0
    assert set(found.chromosome[sited]) == {2}
    good = found.verdict == GuideVerdict.GOOD
    assert {changed.find(one) for one in found.spacer[good]} == {-1}
    message = capsys.readouterr().err.splitlines()[-1]
    assert f"of {len(found.name)} guides have perfect sites at chr2:" in message
    assert "(-), taken for the gene, and at chr0:" in message
    assert message.endswith("(+); give --annotation with the gene, which decides")
    assert case.run(*flags, "--annotation", case.folder / "a.gtf", output="c.h5") == 0
    assert capsys.readouterr().err == ""
    assert np.array_equal(case.read("c.h5").position, found.position)
    # Without a strand the annotation still has the gene, but no order of its exons.
    annotation = tmp_path / "a.bed"
    annotation.write_text("".join(f"chr2\t{start}\t{end}\tGENE\n" for start, end in EXONS))
    assert case.run(*flags, "--annotation", annotation, output="d.h5") == 0
    assert capsys.readouterr().err == ""
    assert np.array_equal(case.read("d.h5").position, found.position)
    assert case.read("c.h5").exon.any()
    assert not case.read("d.h5").exon.any()


def test_a_gene_of_many_copies_is_warned_of(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its guides help to find no place, so no second place was named either."""
    rng = np.random.default_rng(5)
    genes = ["".join(rng.choice(list("ACGT"), 200)) for _ in range(7)]
    genome, cds = tmp_path / "genome.fa", tmp_path / "cds.fa"
    cds.write_text("".join(f">g{n}\n{gene}\n" for n, gene in enumerate(genes)))
    for copies in (20, 21):
        genome.write_text(">chr\n" + "ACTT".join(genes * copies) + "\n")
        assert case.run("--cds", cds, "--genome", genome, "--controls", "0") == 0
        said = capsys.readouterr().err.splitlines()
        assert ("perfect sites at chr" in said[0]) == (copies == 20)
    assert said == [
        "at least half of the guides have more than 20 perfect sites each, and cut at all of them: "
        "those of g0, g1, g2, g3, g4 and 2 more genes"
    ]


@pytest.mark.parametrize("limit", ["0", "1"])
def test_without_controls_their_mismatches_do_not_matter(case: Case, limit: str) -> None:
    """They were refused, for a default that nothing uses."""
    assert case.run(*case.annotated, "--mismatches", limit, "--controls", "0") == 0
    assert GuideRole.CONTROL not in case.read().role


def test_controls_have_no_near_site(case: Case) -> None:
    flags = ("--controls", "5", "--control-mismatches", "4", "--mismatches", "5", "--seed", "3")
    assert case.run(*case.annotated, *flags) == 0
    found = case.read()
    controls = np.flatnonzero(found.role == GuideRole.CONTROL)
    assert found.name[controls].tolist() == [f"control_{n:03d}" for n in range(1, 6)]
    assert not twin(case, list(found.spacer[controls]), 4)
    assert (found.chromosome[controls] == -1).all()
    assert (found.verdict[controls] == GuideVerdict.GOOD).all()
    assert case.run(*case.annotated, *flags, output="again.h5") == 0
    assert (case.folder / "again.h5").read_bytes() == (case.folder / "g.h5").read_bytes()
    assert case.run(*case.annotated, *flags[:-1], "4", output="other.h5") == 0
    assert set(case.read("other.h5").spacer[controls]) != set(found.spacer[controls])


def test_controls_have_no_near_site_by_a_bulge(case: Case, tmp_path: Path) -> None:
    """A DNA bulge near the end without PAM leaves few mismatches, too, where it is not seen."""
    known = random_spacers(CANDIDATES, 20, 1, set())
    sites = "".join(f"{'CAT' * 9}{one[:3]}A{one[3:]}TGG" for one in known)
    genome = tmp_path / "genome.fa"
    genome.write_text(f"{(case.folder / 'genome.fa').read_text()}>sites\n{sites}\n")
    flags = ("--controls", "1", "--dna-bulge", "1", "--genome", genome)
    assert case.run(*case.annotated, *flags) == 0
    assert GuideRole.CONTROL not in case.read().role


def test_parts_are_the_whole(case: Case) -> None:
    flags = [*case.annotated, "--dna-bulge", "1", "--rna-bulge", "1", "--mismatches", "3"]
    assert case.run(*flags, "--tables", case.folder / "whole") == 0
    parts = [case.folder / f"{number}.h5" for number in (1, 2, 3)]
    for number, part in enumerate(parts, start=1):
        assert case.run(*flags, "--part", f"{number}-of-3", output=part.name) == 0
    again = [*flags, "--sites", *parts[::-1], "--tables", case.folder / "joined"]
    assert case.run(*again, output="j.h5") == 0
    for name in RankedGuides.__dataclass_fields__:
        one, two = getattr(case.read(), name), getattr(case.read("j.h5"), name)
        assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f"), name
    for name in ("guides.tsv", "guides.bed", "offtargets.tsv"):
        whole, joined = ((case.folder / f / name).read_bytes() for f in ("whole", "joined"))
        assert whole == joined
    assert case.read().count[:, 1:].sum() > 0
    sites = read(parts[0], OFFTARGETS, OffTargets)
    assert sites.guide.max() < len(case.read().name) + CANDIDATES * 10
    assert run_record(parts[0], OFFTARGETS)["stage"] == "guides"


def test_tables(case: Case) -> None:
    tables = case.folder / "tables"
    assert case.run(*case.annotated, "--tables", tables) == 0
    found = case.read()
    lines = [line.split("\t") for line in (tables / "guides.tsv").read_text().splitlines()[1:]]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    assert [row["guide_id"] for row in rows] == found.name.tolist()
    assert rows[0]["rank"] == "1"
    assert rows[0]["verdict"] == "good"
    assert float(rows[0]["mit_specificity"]) == round(found.specificity[0], 2)
    assert rows[-1]["role"] == "control"
    assert rows[-1]["chromosome"] == ""
    numbers = [[int(row[f"mm{n}"]) for n in range(5)] for row in rows]
    assert numbers == found.count[:, 0, :5].tolist()
    bed = [line.split("\t") for line in (tables / "guides.bed").read_text().splitlines()]
    assert len(bed) == np.count_nonzero(found.chromosome >= 0)
    genome = {r.name: r.sequence.decode() for r in read_fasta(case.folder / "genome.fa")}
    for cells in bed:
        word = genome[cells[0]][int(cells[1]) : int(cells[2])]
        word = word if cells[5] == "+" else other(word)
        assert word[:20] == found.spacer[found.name.tolist().index(cells[3])]
    first = (tables / "offtargets.tsv").read_text().splitlines()
    sites = [line.split("\t") for line in first[2:]]
    own = [row for row in sites if row[9] == "yes"]
    assert len(own) == len(bed)
    assert first[0].startswith("# ligen_py")
    assert first[1].startswith("guide_id\t")
    assert {row[10] for row in own} == {"GENE"}


def test_a_guide_has_one_id_in_all_tables(case: Case, tmp_path: Path) -> None:
    """A name that looks like a formula got an apostrophe in one of them alone."""
    (tmp_path / "cds.fa").write_text(f">=1+2\n{case.cds}\n")
    tables = tmp_path / "tables"
    flags = ("--cds", tmp_path / "cds.fa", "--controls", "0", "--tables", tables)
    assert case.run(*flags, output="f.h5") == 0
    of_table = {
        name: {line.split("\t")[column] for line in (tables / name).read_text().splitlines()[skip:]}
        for name, column, skip in (("guides.tsv", 1, 2), ("guides.bed", 3, 0),
                                   ("offtargets.tsv", 0, 2))
    }  # fmt: skip
    assert {one[:7] for one in of_table["guides.tsv"]} == {"'=1+2_0"}
    assert of_table["guides.bed"] <= of_table["guides.tsv"]
    assert of_table["offtargets.tsv"] <= of_table["guides.tsv"]


def test_a_pam_in_front_has_no_mit_score(case: Case) -> None:
    flags = ("--pam", "TTTV", "--pam-side", "before", "--length", "23", "--controls", "2")
    assert case.run(*case.annotated, *flags) == 0
    found = case.read()
    assert all(math.isnan(value) for value in found.specificity)
    assert {len(spacer) for spacer in found.spacer} == {23}
    assert all(pam.startswith("TTT") for pam in found.pam[found.role == GuideRole.GENE])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--gene", "GENE"], "--gene needs --annotation"),
        (["--gene", "NONE", "--annotation", "a.gtf"], "no coding sequence of a gene 'NONE'"),
        (["--cds", "cds.fa", "--part", "1-of-2", "--tables", "t"], "--part needs --output"),
        (["--cds", "cds.fa", "--pam", "NNN"], "away from the guide; give letters for it"),
        (["--cds", "cds.fa", "--pam", "NGG", "--offtarget-pam", "NG"], "as many letters as"),
        (
            ["--cds", "cds.fa", "--offtarget-pam", "NAG"],
            "--offtarget-pam NAG has no place for G of NGG",
        ),
        (
            ["--cds", "cds.fa", "--pam", "NGN"],
            "--pam must have a letter other than N on the side "
            "away from the guide; give NG, which admits the same",
        ),
        (["--cds", "cds.fa", "--pam", "NTV", "--pam-side", "before"], "; give TV, which admits"),
        (
            ["--cds", "cds.fa", "--mismatches", "1"],
            "--control-mismatches 2 exceeds --mismatches 1; give at most 1",
        ),
        (
            ["--cds", "cds.fa", "--pam", "GGGGGGGG"],
            "no guide of 20 bases with PAM GGGGGGGG fits the coding "
            "sequence; give another pam (command line: --pam)",
        ),
        (["--cds", "cds.fa", "--sites", "a.gtf"], "a.gtf"),
    ],
)
def test_what_a_user_gets_wrong(
    case: Case,
    words: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(case.folder)
    assert case.run(*words, output="x.h5") == 1
    assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_an_annotation_with_other_names_of_chromosomes_is_refused(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its genes were nowhere in the genome, so no off-target was in coding sequence."""
    annotation = tmp_path / "ensembl.gtf"
    annotation.write_text((case.folder / "a.gtf").read_text().replace("chr", ""))
    flags = ("--cds", case.folder / "cds.fa", "--annotation", annotation)
    assert case.run(*flags, output="x.h5") == 1
    message = capsys.readouterr().err
    assert "ensembl.gtf: is of chromosomes such as 2, 1, but" in message
    assert "genome.fa has chr1, chr2; give the annotation of this genome" in message


def test_an_annotation_with_some_other_names_of_chromosomes_is_warned_of(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was used without a word, and the gene's guides had no exon."""
    annotation = tmp_path / "mixed.gtf"
    text = (case.folder / "a.gtf").read_text()
    annotation.write_text(text.replace("chr2", "2"))
    flags = ("--cds", case.folder / "cds.fa", "--controls", "0", "--annotation", annotation)
    assert case.run(*flags, output="x.h5") == 0
    lacked, bare = capsys.readouterr().err.splitlines()
    assert lacked.startswith(f"{annotation}: 3 of 4 coding stretches are on chromosomes that ")
    assert "genome.fa lacks, such as 2, and do not count" in lacked
    assert bare.startswith(f"{annotation}: has no coding sequence on chr2, where guides have their")
    assert not case.read("x.h5").exon.any()
    annotation.write_text(text.replace("chr1", "1"))
    assert case.run(*flags, output="x.h5") == 0
    (lacked,) = capsys.readouterr().err.splitlines()
    assert "1 of 4 coding stretches are on chromosomes" in lacked


def test_parts_of_another_search_are_refused(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--cds", case.folder / "cds.fa"]
    for number in (1, 2):
        assert case.run(*flags, "--part", f"{number}-of-2", output=f"p{number}.h5") == 0
    one, two = (case.folder / f"p{number}.h5" for number in (1, 2))
    assert case.run(*flags, "--sites", one) == 1
    assert "part 2-of-2 is missing" in capsys.readouterr().err
    assert case.run(*flags, "--sites", one, one, two) == 1
    assert "part 1-of-2 is there twice" in capsys.readouterr().err
    assert case.run(*flags, "--sites", one, two, "--seed", "2") == 1
    assert "was searched with other settings" in capsys.readouterr().err
    shorter = case.folder / "shorter.fa"
    shorter.write_text(f">GENE\n{case.cds[40:]}\n")
    assert case.run("--cds", shorter, "--sites", one, two) == 1
    assert "p1.h5: was searched for other guides, or in another genome" in capsys.readouterr().err
    genome = case.folder / "other.fa"
    genome.write_text((case.folder / "genome.fa").read_text() + ">chr3\nACGT\n")
    assert case.run(*flags, "--sites", one, two, "--genome", genome) == 1
    assert "p1.h5: was searched for other guides, or in another genome" in capsys.readouterr().err
    assert offtargets.main(["--join", str(one), str(two), "--tables", str(case.folder / "t")]) == 1
    message = f"{one}: was made by 'guides', not by 'offtargets'; give all parts of one"
    assert message in capsys.readouterr().err
