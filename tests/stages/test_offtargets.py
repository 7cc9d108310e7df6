"""The stage offtargets: Cas-OFFinder's files in, rows and an account of every guide out."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py import offtargets
from ligen_py.engine.offtargets import results
from ligen_py.records.offtargets import OFFTARGETS, Guides, GuideStatus, OffTargets
from ligen_py.store.files.read import read

GUIDE = "GGCCGACCTGTCGCTGACGC"
SITE = GUIDE + "TGG"
PATTERN = "N" * 21 + "RG"


def run(*words: str | Path) -> int:
    return offtargets.main([str(word) for word in words])


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A folder with a genome of two records, and an input file that names it."""
    rng = np.random.default_rng(2)
    one, two = ("".join(rng.choice(list("ACGT"), 1500)) for _ in range(2))
    other = SITE[::-1].translate(str.maketrans("ACGT", "TGCA"))
    one = one[:100] + SITE + one[123:700] + other + one[723:]
    near = "T" + SITE[1:9] + "a" + SITE[10:]
    two = two[:-23] + near  # the last window of the last record
    (tmp_path / "genome.fa").write_text(f">chr1 first\n{one}\n>chr2\n{two.lower()}")
    (tmp_path / "in.txt").write_text(f"genome.fa\n{PATTERN}\n{GUIDE}NNN 3 x\n{GUIDE}NNN 0 y\n")
    return tmp_path


def test_rows_of_cas_offinder(case: Path) -> None:
    tables = case / "tables"
    assert run("--input", case / "in.txt", "--tables", tables, "--cache", case / "cache") == 0
    changed = "t" + SITE[1:9] + "a" + SITE[10:]
    rows = [
        f"{GUIDE}NNN\tchr1\t100\t{SITE}\t+\t0\tx",
        f"{GUIDE}NNN\tchr1\t700\t{SITE}\t-\t0\tx",
        f"{GUIDE}NNN\tchr2\t1477\t{changed}\t+\t2\tx",
        f"{GUIDE}NNN\tchr1\t100\t{SITE}\t+\t0\ty",
        f"{GUIDE}NNN\tchr1\t700\t{SITE}\t-\t0\ty",
    ]
    assert (tables / "cas-offinder-2.txt").read_text().splitlines() == rows
    third = (tables / "cas-offinder-3.txt").read_text().splitlines()
    assert third[1].startswith("#Id\tBulge Type\tcrRNA")
    assert third[2] == f"x\tX\t{GUIDE}NNN\t{SITE}\tchr1\t100\t+\t0\t0"
    bed = (tables / "offtargets.bed").read_text().splitlines()
    assert bed[2] == "chr2\t1477\t1500\tx\t800\t+"
    tsv = [line.split("\t") for line in (tables / "offtargets.tsv").read_text().splitlines()[2:]]
    assert [line[-2:] for line in tsv[:2]] == [["TGG", "117"], ["TGG", "706"]]
    summary = (tables / "summary.txt").read_text().splitlines()
    assert summary[0] == "##Id=x;Bulge Type=X;Bulge Size=0;Mismatches=0;Number of Found Targets=2"
    counts = (tables / "counts.tsv").read_text().splitlines()
    assert counts[1].split("\t")[:9] == [
        "x",
        GUIDE + "NNN",
        "3",
        "searched",
        "",
        "2",
        "0",
        "1",
        "0",
    ]


def test_no_rows_of_an_earlier_search_stay_among_the_tables(case: Path) -> None:
    """With bulges there are no rows of Cas-OFFinder 2: those in the folder were of other guides."""
    tables = case / "tables"
    flags = ["--tables", tables, "--cache", case / "cache"]
    assert run("--input", case / "in.txt", *flags) == 0
    assert (tables / "cas-offinder-2.txt").is_file()
    (case / "in.txt").write_text(f"genome.fa\n{PATTERN} 0 1\n{GUIDE[1:12]}A{GUIDE[12:]}NNN 3\n")
    assert run("--input", case / "in.txt", *flags) == 0
    assert "\tRNA\t" in (tables / "cas-offinder-3.txt").read_text()
    assert not (tables / "cas-offinder-2.txt").exists()


def test_a_guide_without_sites_has_a_row_of_zeros(case: Path) -> None:
    tables = case / "none"
    (case / "in.txt").write_text(f"genome.fa\n{PATTERN}\n{'A' * 20}NNN 0 x\n")
    assert run("--input", case / "in.txt", "--tables", tables, "--cache", case / "cache") == 0
    assert (tables / "counts.tsv").read_text().splitlines()[1].split("\t")[-1] == "0"
    assert (tables / "offtargets.bed").read_text() == ""


def test_genomes_with_windows_line_ends_and_no_last_one_are_the_same(case: Path) -> None:
    found = []
    for name, text in (
        ("plain", (case / "genome.fa").read_bytes()),
        ("windows", (case / "genome.fa").read_bytes().replace(b"\n", b"\r\n")),
        ("ended", (case / "genome.fa").read_bytes() + b"\n"),
    ):
        (case / "genome.fa").write_bytes(text)
        assert run("--input", case / "in.txt", "--tables", case / name) == 0
        found.append((case / name / "cas-offinder-3.txt").read_bytes())
    assert found[0] == found[1] == found[2]


def test_parts_are_the_whole(case: Path) -> None:
    flags = ["--input", case / "in.txt", "--cache", case / "cache", "--max-rows-per-guide", "2"]
    assert run(*flags, "--output", case / "whole.h5") == 0
    for number in (1, 2, 3):
        part = case / f"{number}.h5"
        assert run(*flags, "--part", f"{number}-of-3", "--output", part) == 0
    joined = case / "joined.h5"
    assert run("--join", *(case / f"{n}.h5" for n in (1, 2, 3)), "--output", joined) == 0
    for kind in (Guides, OffTargets):
        whole, again = (read(path, OFFTARGETS, kind) for path in (case / "whole.h5", joined))
        for name in kind.__dataclass_fields__:
            assert (getattr(whole, name) == getattr(again, name)).all(), name
    guides = read(joined, OFFTARGETS, Guides)
    assert list(guides.status) == [GuideStatus.TRUNCATED, GuideStatus.SEARCHED]
    assert guides.detail[0] == "2 of 3 rows are kept"
    assert guides.count[0, 0, :3].tolist() == [2, 0, 1]


def test_parts_of_other_genomes_are_not_joined(
    case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    genome, files = case / "genome.fa", [case / "1.h5", case / "2.h5"]
    for number, file in enumerate(files, start=1):
        assert run("--input", case / "in.txt", "--part", f"{number}-of-2", "--output", file) == 0
        genome.write_text(genome.read_text().replace("ACGT", "AGGT"))
    assert run("--join", *files, "--output", case / "joined.h5") == 1
    assert f"{files[1]}: was made from other files than {files[0]}" in capsys.readouterr().err


def test_files_are_the_same_bytes_again(case: Path) -> None:
    flags = ["--input", case / "in.txt", "--cache", case / "cache"]
    for name in ("a.h5", "b.h5"):
        assert run(*flags, "--output", case / name) == 0
    assert (case / "a.h5").read_bytes() == (case / "b.h5").read_bytes()


def test_bulges_need_one_row_a_site(case: Path) -> None:
    (case / "guides.tsv").write_text(f"g\t{GUIDE}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv"]
    flags += ["--cache", case / "cache", "--dna-bulge", "1", "--rna-bulge", "1"]
    assert run(*flags, "--output", case / "one.h5") == 0
    assert run(*flags, "--rows", "all", "--output", case / "all.h5") == 0
    one, every = (read(case / name, OFFTARGETS, OffTargets) for name in ("one.h5", "all.h5"))
    length = np.count_nonzero((one.dna != 0) & (one.dna != ord("-")), axis=1)
    pam_end = np.where(one.strand == 0, one.position + length, one.position)
    places = set(zip(one.chromosome, pam_end, one.strand, strict=True))
    assert len(places) == len(one.guide)
    assert np.count_nonzero(one.bulge_size == 0) == 3
    assert len(every.guide) > len(one.guide)


def test_no_file_of_a_genomes_folder_is_replaced(
    case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = case / "genome"
    folder.mkdir()
    genome = (case / "genome.fa").rename(folder / "chr.fa")
    known = genome.read_bytes()
    flags = ["--input", case / "in.txt", "--cache", case / "cache", "--output", genome]
    assert run(*flags, "--genome", folder) == 1
    assert f"{genome}: is an input, and would be replaced" in capsys.readouterr().err
    assert genome.read_bytes() == known


def test_the_genome_that_only_the_input_file_names_is_not_replaced(
    case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    genome = case / "genome.fa"
    known = genome.read_bytes()
    flags = ["--input", case / "in.txt", "--cache", case / "cache"]
    assert run(*flags, "--output", genome) == 1
    assert f"{genome}: is an input, and would be replaced" in capsys.readouterr().err
    assert genome.read_bytes() == known
    assert run(*flags, "--output", case / "sites.h5") == 0  # beside the genome


def test_a_site_without_its_alignments_with_n(case: Path) -> None:
    """Left out with the canonical one, it was lost, though --rows all had it."""
    (case / "genome.fa").write_text(f">chr1\n{'N' * 40}{SITE[1:]}{'A' * 40}\n")
    (case / "guides.tsv").write_text(f"g\t{GUIDE}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv"]
    flags += ["--cache", case / "cache", "--rna-bulge", "1", "--mismatches", "1"]
    assert run(*flags, "--output", case / "n.h5") == 0
    assert run(*flags, "--skip-n", "true", "--output", case / "one.h5") == 0
    with_n, one = (read(case / name, OFFTARGETS, OffTargets) for name in ("n.h5", "one.h5"))
    assert [with_n.bulge_size.tolist(), with_n.mismatches.tolist()] == [[0], [1]]
    assert [one.bulge_size.tolist(), one.mismatches.tolist()] == [[1], [0]]
    assert one.dna[0].tobytes().replace(b"-", b"").startswith(SITE[1:].encode())


def test_n_in_the_bulge_of_a_site_is_under_no_letter_of_the_guide(case: Path) -> None:
    bulged = SITE[:10] + "N" + SITE[10:]
    (case / "genome.fa").write_text(f">chr1\n{'A' * 40}{bulged}{'A' * 40}\n")
    (case / "guides.tsv").write_text(f"g\t{GUIDE}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv", "--skip-n", "true"]
    flags += ["--dna-bulge", "1", "--mismatches", "0", "--output", case / "n.h5"]
    assert run(*flags, "--cache", case / "cache") == 0
    (row,) = read(case / "n.h5", OFFTARGETS, OffTargets).dna
    assert row.tobytes().rstrip(b"\0").decode() == bulged


def test_a_pam_is_as_wide_as_the_fewest_n_of_a_guide(case: Path) -> None:
    """A guide with further N, and one that is written with its PAM, have the same PAM and cut."""
    (case / "guides.tsv").write_text(f"a\t{GUIDE}\nb\t{GUIDE[:-2]}NN\nc\t{SITE}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv", "--mismatches", "0"]
    assert run(*flags, "--cache", case / "cache", "--tables", case / "tables") == 0
    tsv = [
        line.split("\t") for line in (case / "tables" / "offtargets.tsv").read_text().splitlines()
    ]
    assert {tuple(line[5:7] + line[-2:]) for line in tsv[2:]} == {
        ("100", "+", "TGG", "117"),
        ("700", "-", "TGG", "706"),
    }
    assert len(tsv) == 2 + 6


def test_a_pattern_without_a_pam_has_no_pam_and_no_cut(case: Path) -> None:
    """The N behind a shorter guide were taken for a PAM."""
    (case / "guides.tsv").write_text(f"a\t{GUIDE}TGG\nb\t{GUIDE}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv", "--mismatches", "0"]
    flags += ["--pattern", "N" * 23, "--cache", case / "cache", "--tables", case / "tables"]
    assert run(*flags) == 0
    tsv = (case / "tables" / "offtargets.tsv").read_text().splitlines()[2:]
    assert len(tsv) == 4
    assert all(line.endswith("\t\t") for line in tsv)


def test_a_guide_has_one_id_in_all_tables(case: Path) -> None:
    (case / "guides.tsv").write_text(f"=a\t{GUIDE}\n")
    (case / "genome.fa").write_text(f">=c\n{SITE}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv"]
    assert run(*flags, "--cache", case / "cache", "--tables", case / "tables") == 0
    rows = {path.name: path.read_text().splitlines()[-1].split("\t")
            for path in (case / "tables").iterdir()}  # fmt: skip
    assert rows["offtargets.tsv"][0] == rows["counts.tsv"][0] == rows["offtargets.bed"][3] == "'=a"
    assert rows["cas-offinder-3.txt"][0] == rows["cas-offinder-2.txt"][-1] == "'=a"
    assert rows["summary.txt"][0].startswith("##Id='=a;")
    assert (rows["offtargets.tsv"][4], rows["offtargets.bed"][0]) == ("'=c", "=c")


def test_few_rows_are_kept_of_many_as_of_all(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "AT_ONCE", 7)  # many pieces, each with some rows of a guide
    monkeypatch.setattr(results, "HELD", 20)
    (case / "guides.tsv").write_text(f"a\t{GUIDE}\nb\t{GUIDE[::-1]}\n")
    flags = ["--genome", case / "genome.fa", "--guides", case / "guides.tsv", "--mismatches", "12"]
    flags += ["--dna-bulge", "1", "--cache", case / "cache"]
    assert run(*flags, "--output", case / "all.h5") == 0
    assert run(*flags, "--max-rows-per-guide", "5", "--output", case / "few.h5") == 0
    every, few = (read(case / name, OFFTARGETS, OffTargets) for name in ("all.h5", "few.h5"))
    assert min(np.bincount(every.guide)) > 50
    first = np.concatenate([np.flatnonzero(every.guide == number)[:5] for number in range(2)])
    for name in OffTargets.__dataclass_fields__:
        assert (getattr(every, name)[first] == getattr(few, name)).all(), name
    counts = [read(case / name, OFFTARGETS, Guides).count for name in ("all.h5", "few.h5")]
    assert (counts[0] == counts[1]).all()
    assert counts[0].sum() == len(every.guide)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--join", "in.txt", "--mismatches", "1", "--output", "x.h5"],
            "--mismatches: leave it out; --join reads it",
        ),
        (
            ["--join", "in.txt", "--part", "1-of-2", "--output", "x.h5"],
            "--part: leave it out; --join reads it",
        ),
        (["--output", "x.h5"], "give --input, or --genome and --guides, or --join"),
        (["--input", "in.txt"], "give --output, --tables, or both"),
        (["--input", "in.txt", "--output", "x.h5", "--pattern", "NGG"], "leave it out"),
        (["--input", "in.txt", "--genome", "none.fa", "--output", "x.h5"], "does not exist"),
    ],
)
def test_bad_command_lines(
    case: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(case)
    assert run(*words) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--tables", "in.txt"], "in.txt is a file; give a folder to write into"),
        (["--tables", "in.txt/new"], "in.txt is a file; give a folder to write into"),
        (["--output", "in.txt/x.h5"], "in.txt is a file; give a folder to write into"),
        (["--output", "."], ". is a folder; give a file"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_search(
    case: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(case)
    with pytest.raises(SystemExit) as stopped:
        run("--input", "in.txt", *words)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]
