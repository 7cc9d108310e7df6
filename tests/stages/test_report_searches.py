"""The report of searches of sequences, without a screen."""

import re
from html import unescape
from pathlib import Path

import pytest

from ligen_py import guides, homologs, offtargets, panel, report

CDS = "ATGGCTGGACCTGACTTCAGGCATCGTACGGTTGACCTGCAGGCATGCAAGCTTGGCACTGGCCGTCGTTTTACAACGTCG"
PROTEIN = "MKVLAWTRPHGCDEFILMNQSTVYWKRHAD"


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of a panel, off-targets and guides, and a table of selectivity, as in a campaign."""
    folder = tmp_path_factory.mktemp("searches")
    (folder / "genome.fa").write_text(f">chr1\n{CDS}\n")
    (folder / "cds.fa").write_text(f">GENE<1>\n{CDS}\n")
    (folder / "in.txt").write_text(f"genome.fa\n{'N' * 21}RG\n{CDS[:20]}NNN 4 one\n")
    (folder / "q.fa").write_text(f">q <b>query</b>\n{PROTEIN}\n>r\n{PROTEIN[:20]}\n")
    (folder / "db.fa").write_text(f">a <i>like</i>\n{PROTEIN[:15]}A{PROTEIN[16:]}\n>b\nWWWW\n")
    cache = ["--cache", str(folder / "cache"), "--quiet"]
    files = {"homologs": "homologs.h5", "offtargets": "offtargets.h5", "guides": "guides.h5"}
    found = {name: folder / name / "mine" / "found" for name in files}
    hits = ["--query", str(folder / "q.fa"), "--database", str(folder / "db.fa")]
    assert homologs.main([*hits, "--output", str(folder / "h.h5"), *cache]) == 0
    words = [
        "--hits",
        str(folder / "h.h5"),
        "--output",
        str(found["homologs"]),
        "--max-evalue",
        "9",
    ]
    assert panel.main([*words, "--quiet"]) == 0
    words = ["--input", str(folder / "in.txt"), *cache]
    assert offtargets.main([*words, "--output", str(found["offtargets"] / "offtargets.h5")]) == 0
    words = ["--cds", str(folder / "cds.fa"), "--genome", str(folder / "genome.fa"), *cache]
    assert guides.main([*words, "--output", str(found["guides"] / "guides.h5")]) == 0
    table = folder / "homologs" / "mine" / "selectivity.tsv"
    header = "target rank ligand library score best_antitarget antitarget_score difference P1 P2"
    rows = [
        "t 1 '=aspirin drugs 5.0 P1 6.0 -1.0 6.0 3.0",
        "t 2 caffeine drugs 4.0 P2 2.0 2.0  2.0",
    ]
    lines = [header.split(" "), rows[0].split(" "), rows[1].split(" ")]
    table.write_text("".join("\t".join(line) + "\n" for line in lines))
    return [*(found[name] / file for name, file in files.items()), table]


def test_a_section_for_each_search(
    searches: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert report.main(["--searches", *map(str, searches), "--output", str(page)]) == 0
    printed, html = capsys.readouterr().out, page.read_text(encoding="utf-8")
    for what in ("Homologs mine", "Off-targets mine", "Guides mine", "Selectivity mine"):
        assert f"{what}: " in printed
        assert what.replace(" mine", ": mine") in html
    assert "hits in 2 proteins" in printed
    assert "1 of the 2 best molecules of t score higher in an anti-target; P" in printed
    assert "docked, but not an anti-target by panel.tsv" in printed
    assert " =aspirin " in printed  # without the apostrophe that guards the table
    for meaning in (
        *("of the query's binding site; anti-target: by", "The guide's own site is among them."),
        *(
            "the guide's own site is not among them.",
            "below 0 where the anti-target is preferred. A ",
        ),
    ):
        assert printed.count(meaning) == unescape(html).count(meaning) == 1
    assert "GENE<1>_0001" in printed
    assert "GENE&lt;1&gt;_0001" in html
    assert "<i>like</i>" not in html
    assert "offtargets mine" in html  # how it was made
    assert "Virtual screening" not in html
    # A page without targets has no glossary and no methods to go to.
    linked = set(re.findall(r'href="#([^"]*)"', html))
    assert linked == {"provenance", *(f"search-{number}" for number in range(1, 5))}
    assert linked <= set(re.findall(r' id="([^"]*)"', html))
    # The style of this class keeps the cells apart: an E-value ran into the identity behind it.
    assert html.count('<table class="plain">') == len(searches) + 1


def test_what_is_no_search_is_refused(
    searches: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "report.html")
    assert report.main(["--output", page]) == 1
    assert "give --campaign, --searches, or both" in capsys.readouterr().err
    wrong = tmp_path / "selectivity.tsv"
    wrong.write_text("a\tb\n1\t2\n")
    assert report.main(["--searches", str(wrong), "--output", page]) == 1
    assert "is no table of selectivity" in capsys.readouterr().err


def test_records_of_a_database_that_are_not_searched_are_told(
    searches: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = searches[0].parents[3]
    (tmp_path / "db.fa").write_text(f">a\n{PROTEIN}\n>gaps\nMK-V\n>empty\n")
    words = ["--query", str(folder / "q.fa"), "--database", str(tmp_path / "db.fa")]
    words += ["--output", str(tmp_path / "h.h5"), "--cache", str(tmp_path / "c"), "--quiet"]
    assert homologs.main(words) == 0
    page = str(tmp_path / "report.html")
    assert report.main(["--searches", str(tmp_path / "h.h5"), "--output", page]) == 0
    told = "2 hits in 1 protein, 0 of them anti-targets; 2 records of the database are not searched"
    assert told in capsys.readouterr().out


def test_alignments_are_not_called_sites(
    searches: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = searches[0].parents[3]
    (tmp_path / "in.txt").write_text(f"g.fa\n{'N' * 21}RG 1 0\nAAAAAAAAAAAAAAAAACCCNNN 0 one\n")
    (tmp_path / "g.fa").write_text(f">chr1\nCT{'A' * 18}CCCTGG\n")
    words = ["--input", str(tmp_path / "in.txt"), "--cache", str(folder / "cache"), "--quiet"]
    for rows, told in (("canonical", "1 site of 1 guide"), ("all", "18 alignments of 1 guide")):
        output = str(tmp_path / f"{rows}.h5")
        assert offtargets.main([*words, "--rows", rows, "--output", output]) == 0
        page = str(tmp_path / "report.html")
        assert report.main(["--searches", output, "--output", page]) == 0
        assert told in capsys.readouterr().out


def test_off_targets_with_a_bulge_are_counted_where_the_search_has_them(
    searches: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A copy of the gene's guides that lacks a base: the coding off-targets had no column."""
    folder = searches[0].parents[3]
    lacking = CDS[:30] + CDS[31:]
    (tmp_path / "genome.fa").write_text(f">chr1\n{CDS}\n>chr2\n{lacking}\n")
    words = ["--cds", str(folder / "cds.fa"), "--genome", str(tmp_path / "genome.fa")]
    words += ["--cache", str(folder / "cache"), "--quiet", "--mismatches", "2"]
    page = str(tmp_path / "report.html")
    for flags, heads in (([], []), (["--rna-bulge", "1"], ["RNA bulge"])):
        output = str(tmp_path / "guides.h5")
        assert guides.main([*words, *flags, "--output", output]) == 0
        assert report.main(["--searches", output, "--output", page]) == 0
        printed = capsys.readouterr().out
        (head,) = (line for line in printed.splitlines() if line.startswith("  rank"))
        assert re.findall("... bulge", head) == heads
    counts = re.findall(r"^ +\d+  GENE\S+ .* (\d+) +[\d.]+  good", printed, re.MULTILINE)
    assert any(map(int, counts))


def test_headers_of_records_are_read_as_they_stand(searches: list[Path], tmp_path: Path) -> None:
    """A sign for writing backwards, and an id without a place to break."""
    folder, long = searches[0].parents[3], "a" * 200
    (tmp_path / "db.fa").write_text(f">\u202ereversed\n{PROTEIN}\n>{long}\n{PROTEIN}\n")
    words = ["--query", str(folder / "q.fa"), "--database", str(tmp_path / "db.fa")]
    words += ["--output", str(tmp_path / "h.h5"), "--cache", str(tmp_path / "c"), "--quiet"]
    assert homologs.main(words) == 0
    page = tmp_path / "report.html"
    assert report.main(["--searches", str(tmp_path / "h.h5"), "--output", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "<td> reversed</td>" in html
    assert "\u202e" not in html
    assert f'<td class="name">{long}</td>' in html
