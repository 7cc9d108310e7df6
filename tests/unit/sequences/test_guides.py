"""Cas-OFFinder's input files, and guides of other files."""

import gzip
from pathlib import Path

import pytest

from ligen_py.errors import InputError
from ligen_py.sequences.guides import Guide, as_query, found_from, read_cas_offinder

PATTERN = "N" * 21 + "RG"
GUIDE = "GGCCGACCTGTCGCTGACGC"


def test_an_input_file_of_each_version(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(f"/genomes/hg38\r\n{PATTERN}\r\n{GUIDE.lower()}NNN 5 one\r\n".encode())
    found = read_cas_offinder(path)
    assert found.genome == Path("/genomes/hg38")
    assert found.query.guides == (Guide("one", GUIDE + "NNN", 5),)
    path.write_text(f"g.fa\n{PATTERN} 2 1\n{GUIDE}NNN 5\n{GUIDE}NNN 3")
    query = read_cas_offinder(path).query
    assert (query.dna_bulge, query.rna_bulge) == (2, 1)
    assert [guide.limit for guide in query.guides] == [5, 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("g.fa\n", "a genome, a pattern and guides"),
        (f"g.fa\n{PATTERN} 1\n{GUIDE}NNN 5\n", "line 2: give the pattern"),
        (f"g.fa\n{PATTERN}\n{GUIDE} 5\n", "line 3: guide .* has 20 letters, the pattern .* 23"),
        (f"g.fa\n{PATTERN}\n{GUIDE}NNN five\n", "line 3: 'five' is no mismatch limit"),
        (f"g.fa\n{PATTERN}\n{GUIDE}NN! 5\n", "'!' is no IUPAC letter"),
        (f"g.fa\n{PATTERN} 3 0\n{GUIDE}NNN 5\n", "in.txt, line 2: a bulge of 3; bulges may have"),
        (f"g.fa\n{PATTERN}\n{'N' * 23} 5\n", "no letter but N"),
        (f"g.fa\n{PATTERN}\n{GUIDE}NNN 5\n\n{GUIDE}NNN 5\n", "line 4: is blank"),
        (f"g.fa\n{PATTERN} 1 0\n{GUIDE}NGG 5\n", "with bulges, write N"),
        (
            f"g.fa\nCC{PATTERN} 1 0\nNN{GUIDE}NNN 5\n",
            "in.txt, line 2: .* begins and ends with a PAM",
        ),
    ],
)
def test_bad_input_files(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "in.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_cas_offinder(path)


def test_guides_of_a_table_and_of_fasta(tmp_path: Path) -> None:
    path = tmp_path / "guides.tsv"
    path.write_text(f"id\tsequence\na\t{GUIDE}\t2\nb\t{GUIDE}\n")
    expected = (Guide("a", GUIDE + "NNN", 2), Guide("b", GUIDE + "NNN", 4))
    assert as_query(path, PATTERN, 4).guides == expected
    path.write_text(f"# mine\nid\tsequence\na\t{GUIDE}\t2\nb\t{GUIDE}\n")
    assert as_query(path, PATTERN, 4).guides == expected
    path.write_text(f"\ufeff\n>a\n{GUIDE}\n", encoding="utf-8")
    assert as_query(path, "TTTV" + "N" * 20, 4).guides == (Guide("a", "NNNN" + GUIDE, 4),)
    # Of Cas12k; the PAM's first letter may be any.
    assert as_query(path, "NGTN" + "N" * 20, 4).guides == (Guide("a", "NNNN" + GUIDE, 4),)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("NNXX", "the pattern 'NNXX' must be IUPAC letters of DNA, and 'X' is none"),
        ("", "the pattern '' must be IUPAC letters of DNA"),
        ("N" * 63, "the pattern has 63 letters"),
        ("CCNNNNRG", "begins and ends with a PAM"),
    ],
)
def test_a_bad_pattern_is_no_fault_of_the_guides_file(
    pattern: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "guides.txt"
    path.write_text("no guides are read before\n")
    with pytest.raises(InputError, match=f"^command line: --pattern: .*{words}"):
        as_query(path, pattern, 4, dna_bulge=1)


@pytest.mark.parametrize(
    "title",
    [
        *("limit", "limits", "MM", "maxMM", "mm_max", "mismatches", "max_mismatches"),
        *("Max. mismatches", "mis-matches", "n_mismatches", "allowed mismatches"),
        *("Mismatches allowed", "Limit of guide"),
    ],
)
def test_a_column_of_limits_goes_by_its_title(
    title: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The number of an exon was a limit, and off-targets with more mismatches were lost."""
    caplog.set_level("INFO")
    path = tmp_path / "guides.csv"
    path.write_text(f"name,sgRNA,exon\na,{GUIDE},1\nb,{GUIDE},2\n")
    assert [guide.limit for guide in as_query(path, PATTERN, 4).guides] == [4, 4]
    assert "guides.csv, line 1: not read: the columns 'exon' (" in caplog.text
    assert "limits of their own" not in caplog.text
    path.write_text(f"name,sgRNA,exon,{title}\na,{GUIDE},1,3\nb,{GUIDE},,1\nc,{GUIDE},2,\n")
    assert [guide.limit for guide in as_query(path, PATTERN, 4).guides] == [3, 1, 4]
    words = "2 guides have limits of their own, 1 to 3, in place of --mismatches 4"
    assert words in caplog.text
    path.write_text(f"name,sgRNA,{title}\na,{GUIDE},2\nb,{GUIDE},2\n")
    as_query(path, PATTERN, 4)
    assert "2 guides have limits of their own, 2, in place of" in caplog.text
    path.write_text(f"name,sgRNA,{title}\na,{GUIDE},2\nb,{GUIDE},\n")
    as_query(path, PATTERN, 4)
    assert "1 guide has a limit of its own, 2, in place of" in caplog.text
    path.write_text(f"name sgRNA exon limit\na {GUIDE} 1\n")
    words = "line 2: has 3 columns, and limits are column 4; leave .*; put tabs or commas"
    with pytest.raises(InputError, match=words):
        as_query(path, PATTERN, 4)


@pytest.mark.parametrize("title", ["mm10", "mmol", "comment", "delimited", "unlimited"])
def test_words_that_only_contain_mm_or_limit_are_no_limits(title: str, tmp_path: Path) -> None:
    path = tmp_path / "guides.csv"
    path.write_text(f"id,sgRNA,{title}\na,{GUIDE},1\n")
    assert as_query(path, PATTERN, 4).guides[0].limit == 4


def test_several_columns_of_limits_are_refused(tmp_path: Path) -> None:
    """The first was taken."""
    path = tmp_path / "guides.csv"
    path.write_text(f"id,sgRNA,mismatches found,exon,limit\na,{GUIDE},0,1,3\n")
    words = "guides.csv, line 1: the columns 'mismatches found', 'limit' may all be mismatch limits"
    with pytest.raises(InputError, match=words):
        as_query(path, PATTERN, 4)


@pytest.mark.parametrize(
    ("titles", "cells", "is_warned"),
    [
        ("tolerance", ("3", "9"), True),
        ("tolerance", ("3", ""), True),
        ("tolerance", ("3", "10"), False),
        ("tolerance", ("", ""), False),
        ("strand", ("+", "-"), False),
        ("exon,limit", ("3,4", "5,4"), False),
    ],
)
def test_a_third_column_that_may_be_limits_and_is_not_read_is_warned_of(
    titles: str,
    cells: tuple[str, str],
    is_warned: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Limits with a title of another language were left out, and only a line of the log said so."""
    caplog.set_level("INFO")
    path = tmp_path / "guides.csv"
    path.write_text(f"id,sgRNA,{titles}\na,{GUIDE},{cells[0]}\nb,{GUIDE},{cells[1]}\n")
    as_query(path, PATTERN, 4)
    words = f"{path}, line 1: not read: the columns '{titles.partition(',')[0]}' ("
    (level,) = {one.levelname for one in caplog.records if one.getMessage().startswith(words)}
    assert level == ("WARNING" if is_warned else "INFO")


@pytest.mark.parametrize(
    ("comments", "separator", "limit"),
    [
        ("#id\tsequence\tscore", "\t", 4),
        ("# id\tsequence\tscore", "\t", 4),
        ("#guideId targetSeq mitSpecScore", " ", 4),
        ("#id,sgRNA,exon", ",", 4),
        ("#guides of EGFR\n#id\tsequence\tscore\n#by hand", "\t", 4),
        ("#id\tsequence\tlimit", "\t", 1),
        ("# guides of EGFR", "\t", 1),
        ("# guides of EGFR", " ", 1),
        ("#guides of EGFR", " ", 1),
        ("#made by Anna", " ", 1),
        ("# of one, two, three, four", ",", 1),
        (f"#b\t{GUIDE}\t3", "\t", 1),
        (f"#b\tO{GUIDE[1:]}\t3", "\t", 1),
        ("#", " ", 1),
    ],
)
def test_a_line_of_titles_may_begin_with_a_hash(
    comments: str, separator: str, limit: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was a comment, and a score the limit: sites were lost."""
    path = tmp_path / "guides.txt"
    path.write_text(f"{comments}\n{separator.join(('a', GUIDE, '1'))}\n")
    assert as_query(path, PATTERN, 4).guides == (Guide("a", f"{GUIDE}NNN", limit),)
    is_warned = "not read: the columns" in caplog.text
    assert is_warned == (limit == 4)


@pytest.mark.parametrize("titles", ["#id,sgRNA,exon", "#id,sgRNA,exon,limit"])
def test_titles_behind_a_hash_and_an_empty_cell_at_the_end(titles: str, tmp_path: Path) -> None:
    path = tmp_path / "guides.csv"
    path.write_text(f"{titles}\na,{GUIDE},1,\n")
    assert as_query(path, PATTERN, 4).guides[0].limit == 4


@pytest.mark.parametrize(
    ("titles", "cells"),
    [
        ("max mismatches", "3"),
        ("Mismatches allowed", "3"),
        ("mismatch limit", "3"),
        ("max. allowed mm", "3"),
        ("exon max mismatches", "1 3"),
        ("limit exon", "3 1"),
    ],
)
def test_a_title_of_several_words_between_blanks(titles: str, cells: str, tmp_path: Path) -> None:
    """Limits were a fourth column, which no guide had."""
    path = tmp_path / "guides.txt"
    path.write_text(f"id sequence {titles}\na {GUIDE} {cells}\n")
    assert as_query(path, PATTERN, 4).guides == (Guide("a", f"{GUIDE}NNN", 3),)


def test_too_large_a_default_limit_is_no_fault_of_the_guides_file(tmp_path: Path) -> None:
    path = tmp_path / "guides.tsv"
    path.write_text(f"a\t{GUIDE}\t2\nb\t{GUIDE}\n")
    words = "^command line: --mismatches: 24 is more than the 23 letters of the pattern"
    with pytest.raises(InputError, match=words):
        as_query(path, PATTERN, 24)
    path.write_text(f"a\t{GUIDE}\t2\n")
    assert as_query(path, PATTERN, 24).guides[0].limit == 2


@pytest.mark.parametrize("title", ["sgRNA", "gRNA", "crRNA", "DNA", "gDNA"])
def test_a_title_of_iupac_letters_is_no_guide(title: str, tmp_path: Path) -> None:
    """Guides with their PAM leave nothing to compare its length with: it matched everywhere."""
    path = tmp_path / "guides.csv"
    path.write_text(f"id,{title},mismatches\na,{GUIDE}NGG,2\n")
    assert as_query(path, PATTERN, 4).guides == (Guide("a", f"{GUIDE}NGG", 2),)


@pytest.mark.parametrize("title", ["chr", "strand"])
@pytest.mark.parametrize("cell", ["chr1", "1", "+", "Y"])
def test_a_second_column_without_sequences_is_told(title: str, cell: str, tmp_path: Path) -> None:
    """The titles were a guide, whose limit was 'sgRNA'."""
    path = tmp_path / "guides.csv"
    path.write_text(f"name,{title},sgRNA\na,{cell},{GUIDE}\n")
    with pytest.raises(InputError, match=r"line 2: give an id.*2 has no sequences, but ") as told:
        as_query(path, PATTERN, 4)
    assert str(told.value).endswith(f"but {cell!r}")


def test_a_packed_file_of_guides_is_named(tmp_path: Path) -> None:
    path = tmp_path / "guides.xlsx"
    path.write_bytes(b"PK\x03\x04\x14")
    with pytest.raises(InputError, match=r"guides\.xlsx: is a ZIP archive, or an Excel workbook;"):
        as_query(path, PATTERN, 4)


@pytest.mark.parametrize("text", [f"id\tsgRNA\r\na\t{GUIDE}\r\n", f">a\n{GUIDE}\n"])
def test_a_compressed_file_of_guides(text: str, tmp_path: Path) -> None:
    """A table was no text file, though FASTA could be compressed."""
    path = tmp_path / "guides.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    assert as_query(path, PATTERN, 4).guides == (Guide("a", f"{GUIDE}NNN", 4),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a;{GUIDE};3\n", 1),
        (f"id;sequence;limit\na;{GUIDE};3\n", 1),
        (f"id;sequence;max mismatches\na;{GUIDE};3\n", 2),
        (f'"exon 2";"{GUIDE.lower()}";0,5\n', 1),
    ],
)
def test_semicolons_between_cells_are_told(text: str, line: int, tmp_path: Path) -> None:
    """The id was said to be without a sequence."""
    path = tmp_path / "guides.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"guides.csv, line {line}: semicolons separate the cells"):
        as_query(path, PATTERN, 4)
    path.write_text(f"a,{GUIDE},3,mine;yours;{GUIDE}\n")
    assert as_query(path, PATTERN, 4).guides[0].limit == 3


def test_a_slip_in_the_first_guide_makes_it_no_header(tmp_path: Path) -> None:
    path = tmp_path / "guides.tsv"
    path.write_text(f"a\tO{GUIDE[1:]}\nb\t{GUIDE}\n")
    with pytest.raises(InputError, match=f"line 1: guide O{GUIDE[1:]}: 'O' is no IUPAC letter"):
        as_query(path, PATTERN, 4)
    path.write_text(f"id\tsequence\na\tO{GUIDE[1:]}\n")
    with pytest.raises(InputError, match=f"line 2: guide O{GUIDE[1:]}: 'O' is no IUPAC letter"):
        as_query(path, PATTERN, 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"id sequence\na {GUIDE} 99\n", "line 2: a limit of 99 mismatches; give 0 to 23"),
        (f"a {GUIDE} NA\n", "line 1: 'NA' is no mismatch limit; give a whole number, or leave the"),
        (f"a {GUIDE}\nb O{GUIDE[1:]}\n", f"line 2: guide O{GUIDE[1:]}NNN: 'O' is no"),
        (f">a\n{GUIDE}\n>b\n>c\n", "record b: has no letters; give the guide's sequence"),
        (f">a\nO{GUIDE[1:]}\n", f"record a: guide O{GUIDE[1:]}NNN: 'O' is no IUPAC letter"),
    ],
)
def test_a_bad_guide_is_named_by_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=f"g.txt, {words}"):
        as_query(path, PATTERN, 4)


@pytest.mark.parametrize("text", [">a\nACG\n", "a cat\n", f"a {GUIDE}\nb NNACGTNNN{'N' * 11}\n"])
def test_a_guide_that_every_place_matches_is_refused(text: str, tmp_path: Path) -> None:
    """It was searched, and its sites were all places with a PAM."""
    path = tmp_path / "g.txt"
    path.write_text(text)
    words = "g.txt, (record a|line [12]): guide N*[ACGT]+N* has [34] letters other than N and may "
    with pytest.raises(InputError, match=f"{words}have 4 mismatches: every place"):
        as_query(path, PATTERN, 4)
    assert as_query(path, PATTERN, 2).guides


@pytest.mark.parametrize("name", ["a", "cat", "g1", "gtacc_1", "sgRNA-EGFR-2"])
@pytest.mark.parametrize("titles", ["", "sequence,id\n"])
def test_swapped_columns_are_told(name: str, titles: str, tmp_path: Path) -> None:
    """Names of a few letters were searched; others made the first guide a line of titles."""
    path = tmp_path / "g.csv"
    path.write_text(f"{titles}{GUIDE},{name}\n")
    words = f"line {1 + bool(titles)}: column 2 has '{name}', and column 1 a sequence; the columns"
    with pytest.raises(InputError, match=f"{words} look swapped"):
        as_query(path, PATTERN, 2)


@pytest.mark.parametrize("titles", ["", "sequence limit\n"])
def test_a_limit_without_an_id_is_no_swapped_column(titles: str, tmp_path: Path) -> None:
    """The columns were said to be swapped."""
    path = tmp_path / "g.txt"
    path.write_text(f"{titles}{GUIDE} 3\n")
    words = f"line {1 + bool(titles)}: give an id and a guide's sequence; .*, but '3'$"
    with pytest.raises(InputError, match=words):
        as_query(path, PATTERN, 2)


def test_the_genome_of_an_input_file(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    with pytest.raises(
        InputError, match=r"in.txt, line 1: the genome g.fa does not exist; correct"
    ):
        found_from(source, Path("g.fa"), tmp_path / "c")
    (tmp_path / "g.fa").touch()
    assert found_from(source, Path("g.fa"), tmp_path / "c") == tmp_path / "g.fa"
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "g.fa").touch()
    assert found_from(source, Path("g.fa"), tmp_path / "c") == tmp_path / "c" / "g.fa"


def test_a_guide_whose_id_has_spaces_is_no_header(tmp_path: Path) -> None:
    """The first line was left out, and with it the guide."""
    path = tmp_path / "guides.csv"
    path.write_text(f"EGFR exon 2,{GUIDE}\nb,{GUIDE}\n")
    with pytest.raises(
        InputError, match="line 1: give an id and a guide's sequence; an id has neither"
    ):
        as_query(path, PATTERN, 4)
    path.write_text(f"id,the guide,tag,cat\nb,{GUIDE}\n")
    assert as_query(path, PATTERN, 4).guides == (Guide("b", f"{GUIDE}NNN", 4),)


@pytest.mark.parametrize(
    "line", [f"a,{GUIDE},", f"a {GUIDE}\t", f"\ta\t{GUIDE}", f"a\t{GUIDE}\t4\t"]
)
def test_a_separator_at_the_end_of_a_line_is_no_fault(line: str, tmp_path: Path) -> None:
    path = tmp_path / "guides.csv"
    path.write_text(f"{line}\nb,,{GUIDE}\n")
    assert [guide.name for guide in as_query(path, PATTERN, 4).guides] == ["a", "b"]


def test_cells_in_quotes(tmp_path: Path) -> None:
    """So R writes a table; the quotes were no letters of a guide, or a part of its id."""
    path = tmp_path / "guides.csv"
    path.write_text(f'"id","sgRNA","limit"\r\n"a","{GUIDE}","2"\r\n\'b\',{GUIDE},3\r\n')
    expected = (Guide("a", f"{GUIDE}NNN", 2), Guide("b", f"{GUIDE}NNN", 3))
    assert as_query(path, PATTERN, 4).guides == expected
    path.write_text(f'"5\'"\t{GUIDE}\n5\'-3\'\t"{GUIDE}"\n')
    assert [guide.name for guide in as_query(path, PATTERN, 4).guides] == ["5'", "5'-3'"]


@pytest.mark.parametrize("line", ["g1,,3", "g1\t\t3", f",{GUIDE}", "g1, ,", '"g1","","3"'])
def test_an_empty_cell_makes_no_header_of_a_guide(line: str, tmp_path: Path) -> None:
    """It vanished, and the guide with it."""
    path = tmp_path / "guides.csv"
    path.write_text(f"{line}\nb,{GUIDE},3\n")
    with pytest.raises(InputError, match="line 1: give an id and a guide's sequence"):
        as_query(path, PATTERN, 4)


def test_a_line_of_titles_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    path = tmp_path / "guides.tsv"
    path.write_text(f"sp1\tGACCTGXXXXXXXXCATGE\nb\t{GUIDE}\n")
    assert [guide.name for guide in as_query(path, PATTERN, 4).guides] == ["b"]
    assert "line 1: taken for titles: sp1\tGACCTGXXXXXXXXCATGE" in caplog.text


def test_the_pam_beside_guides_without_one_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Guides that are a base shorter than the pattern's N stand elsewhere than meant."""
    path = tmp_path / "g.tsv"
    caplog.set_level("INFO")
    for guide, pattern, pam in (
        (GUIDE, PATTERN, "NRG"),
        (GUIDE[1:], "N" * 21 + "GRRT", "NNGRRT"),
        (GUIDE, "TTTV" + "N" * 20, "TTTV"),
    ):  # fmt: skip
        path.write_text(f"a\t{guide}\n")
        as_query(path, pattern, 4)
        words = f"{path}: guides of {len(guide)} letters, beside the PAM {pam}"
        assert words in caplog.messages


@pytest.mark.parametrize("pattern", [PATTERN, "N" * 21 + "GG"])
def test_a_short_guide_of_cas9_stays_beside_its_pam(
    pattern: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was searched beside NNNRG: its own sites were missed."""
    path = tmp_path / "guides.tsv"
    path.write_text(f"a\t{GUIDE}\nb\t{GUIDE[3:]}\nc\t{GUIDE}TGG\nd\t{GUIDE[2:]}\n")
    letters = [guide.sequence for guide in as_query(path, pattern, 4).guides]
    padded = [f"{GUIDE}NNN", f"NNN{GUIDE[3:]}NNN", f"{GUIDE}TGG", f"NN{GUIDE[2:]}NNN"]
    assert letters == padded
    path.write_text(f"b\t{GUIDE[3:]}\n")
    assert as_query(path, pattern, 4).guides[0].sequence == padded[1]
    assert not [one for one in caplog.records if one.levelname == "WARNING"]


@pytest.mark.parametrize(
    ("guide", "pattern", "pam"),
    [
        (GUIDE[1:], "N" * 21 + "GRRT", "NNGRRT"),
        (GUIDE + "A", PATTERN, "RG"),
        (GUIDE, "TTTV" + "N" * 23, "TTTVNNN"),
        (GUIDE, "N" * 22 + "GRRT", ""),
        (GUIDE, "N" * 21 + "GG", ""),
        (GUIDE, "NGTN" + "N" * 20, ""),
    ],
)
def test_a_guide_that_may_not_stand_beside_its_pam_is_warned_of(
    guide: str, pattern: str, pam: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "g.tsv"
    path.write_text(f"a\t{guide}\n")
    as_query(path, pattern, 4)
    said = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    where = f"{path}: guides of {len(guide)} letters are searched beside {pam}, the rest of"
    assert [one.startswith(where) for one in said] == [True] * bool(pam)


def test_guides_that_contradict_the_pattern_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """All their sites had mismatches there, or too many: none was found, without a word."""
    path = tmp_path / "g.tsv"
    path.write_text(f"a\t{GUIDE}RGR\nb\t{GUIDE}TCC\nc\t{GUIDE}\nd\t{GUIDE}TYG\n")
    as_query(path, PATTERN, 4)
    words = f"{path}, line 2: guide {GUIDE}TCC contradicts the pattern {PATTERN} in 2 of its "
    assert caplog.messages[-1].startswith(f"{words}letters, as 2 of 4 guides do: every site has")
    caplog.clear()
    path.write_text(f"a\t{GUIDE}RGR\nb\t{GUIDE}\n")
    as_query(path, PATTERN, 4)
    assert not caplog.records
    path.write_text(f"a\t{GUIDE}\n")
    as_query(path, "N" * 19 + "RG", 4)  # a letter too short
    assert "contradicts the pattern NNNNNNNNNNNNNNNNNNNRG in 1 of its letters" in caplog.text
    path.write_text(f"g.fa\n{PATTERN}\n{GUIDE}TAA 5\n")
    caplog.clear()
    read_cas_offinder(path)
    assert f"{path}, line 3: guide {GUIDE}TAA contradicts" in caplog.text


def test_guides_without_pam_have_one_length(tmp_path: Path) -> None:
    """But for patterns of Cas9, of which it is known where a guide ends."""
    other = "N" * 21 + "GRRT"
    path = tmp_path / "guides.tsv"
    path.write_text(f"a\t{GUIDE}\nb\t{GUIDE[3:]}\nc\t{GUIDE}TGAGT\n")
    with pytest.raises(InputError, match=f"guide {GUIDE[3:]} has 17 letters, {GUIDE} 20: not both"):
        as_query(path, other, 4)
    path.write_text(f"a\t{GUIDE}\nb\tNNN{GUIDE[3:]}\nc\t{GUIDE}TGAGT\n")
    assert len(as_query(path, other, 4).guides) == 3
    # Without a PAM they may end anywhere.
    path.write_text(f"a\t{GUIDE}\nb\t{GUIDE[3:]}\n")
    assert len(as_query(path, "N" * 20, 4).guides) == 2
