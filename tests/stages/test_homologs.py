"""From FASTA to hits, tables and anti-targets: the stages database, homologs and panel."""

import gzip
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from ligen_py import database, homologs, panel
from ligen_py.engine.alignment import reference
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.records.database import DATABASE, Proteins
from ligen_py.records.homologs import HOMOLOGS, Hits, Queries, SearchSpace
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.sequences import digests
from ligen_py.sequences.alphabets import decode
from ligen_py.sequences.substitution import FILES, FOLDER, read_matrix
from ligen_py.store.files.read import read, run_record
from tests.alignment_input import relatives

QUERY = "MKVLAWTRPHGCDEFILMNQSTVYWKRHAD"
BLOSUM62 = Scoring(read_matrix("BLOSUM62"))


class Search:
    """A query and a database in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.query = folder / "query.fa"
        self.query.write_text(f">sp|P1|ONE the query\n{QUERY}\n")
        self.fasta = folder / "database.fa"
        query = np.array(["ARNDCQEGHILKMFPSTWYV".index(letter) for letter in QUERY], "u1")
        self.letters = query
        self.targets = [*relatives(query, 60, 50, 1), query, query[:20]]
        lines = [f">sp|T{n}|NAME_{n} protein {n}\n{decode(t)}" for n, t in enumerate(self.targets)]
        self.fasta.write_text("\n".join(lines) + "\n>bad\nMK-V\n")

    def homologs(self, *words: str, output: str = "hits.h5", **files: Path) -> int:
        given = {"query": self.query, "database": self.fasta, "cache": self.folder / "c"} | files
        flags = [word for name, path in given.items() for word in (f"--{name}", str(path))]
        return homologs.main([*flags, "--output", str(self.folder / output), "--quiet", *words])

    def hits(self, output: str = "hits.h5") -> Hits:
        return read(self.folder / output, HOMOLOGS, Hits)


@pytest.fixture
def search(tmp_path: Path) -> Search:
    return Search(tmp_path)


def test_the_best_hits_with_their_alignments(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search.homologs("--top", "7") == 0
    expected = reference.scores(search.letters, search.targets, BLOSUM62)
    order = sorted(range(len(expected)), key=lambda n: (-expected[n], n))[:7]
    hits = search.hits()
    assert hits.entry.tolist() == order
    assert hits.score.tolist() == expected[order].tolist()
    first = 60  # the query itself
    assert (hits.entry[0], hits.target[0], hits.header[0]) == (
        first,
        f"sp|T{first}|NAME_{first}",
        f"sp|T{first}|NAME_{first} protein {first}",
    )
    assert (hits.cigar[0], hits.identities[0], hits.gaps[0]) == ("30M", 30, 0)
    assert (hits.query_start[0], hits.query_end[0], hits.target_end[0]) == (1, 30, 30)
    space = read(search.folder / "hits.h5", HOMOLOGS, SearchSpace)
    searched = [target for target in search.targets if len(target)]
    assert space.sequences.tolist() == [len(searched)]
    assert space.residues.tolist() == [sum(map(len, searched))]
    assert np.isfinite(hits.evalue).all()
    assert (np.diff(hits.evalue) >= 0).all()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Query: sp|P1|ONE the query"
    assert printed[1] == f"{'  0. sp|T60|NAME_60 protein 60':<65} SCORE: {expected[60]}"
    assert len(printed) == 8


def test_every_record_is_in_the_ledger(search: Search) -> None:
    assert search.homologs() == 0
    ledger = read(search.folder / "hits.h5", HOMOLOGS, Ledger)
    assert len(ledger.status) == len(search.targets) + 1
    empty = [n for n, target in enumerate(search.targets) if not len(target)]
    assert np.flatnonzero(ledger.reason == Reason.NO_RESIDUES).tolist() == empty
    assert np.flatnonzero(ledger.reason == Reason.UNKNOWN_LETTER).tolist() == [62]
    assert ledger.detail[62].startswith("bad: '-' at residue 3 is no amino acid")
    scored = ledger.status == Status.SCORED
    assert (scored == (ledger.reason == Reason.NONE)).all()
    assert (ledger.status[~scored] == Status.REJECTED).all()


def test_parts_join_to_the_same_bytes(search: Search) -> None:
    assert search.homologs("--tables", str(search.folder / "whole")) == 0
    parts = [search.folder / f"{k}.h5" for k in (1, 2, 3)]
    for number in (1, 2, 3):
        assert search.homologs("--part", f"{number}-of-3", output=f"{number}.h5") == 0
    output = search.folder / "joined"
    assert panel.main(["--hits", *map(str, parts[::-1]), "--output", str(output), "--quiet"]) == 0
    for name in ("hits.txt", "hits.tsv", "hits.blast.tsv"):
        assert (output / name).read_text() == (search.folder / "whole" / name).read_text()
    for record in (Ledger, Queries, Hits, SearchSpace):
        one = read(search.folder / "hits.h5", HOMOLOGS, record)
        other = read(output / "homologs.h5", HOMOLOGS, record)
        for name in record.__dataclass_fields__:
            assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    assert panel.main(["--hits", *map(str, parts[:2]), "--output", str(output)]) == 1
    assert search.homologs("--part", "3-of-3", "--top", "3", output="3.h5") == 0
    assert panel.main(["--hits", *map(str, parts), "--output", str(output)]) == 1


def test_tables(search: Search) -> None:
    folder = search.folder / "tables"
    assert search.homologs("--tables", str(folder), "--site", "1,5-8") == 0
    lines = [line.split("\t") for line in (folder / "hits.tsv").read_text().splitlines()]
    first = dict(zip(lines[0], lines[1], strict=True))
    assert (first["query"], first["rank"], first["target"]) == ("sp|P1|ONE", "1", "sp|T60|NAME_60")
    assert (first["identity"], first["site_identity"], first["cigar"]) == (
        "1.0000",
        "1.0000",
        "30M",
    )
    blast = [line.split("\t") for line in (folder / "hits.blast.tsv").read_text().splitlines()]
    assert len(blast) == len(lines) - 1
    assert blast[0][:10] == [
        *("sp|P1|ONE", "sp|T60|NAME_60", "100.000", "30", "0", "0", "1", "30", "1", "30")
    ]
    for row, known in zip(blast, lines[1:], strict=True):
        told = dict(zip(lines[0], known, strict=True))
        same = round(float(told["identity"]) * int(told["aln_length"]))
        assert int(row[4]) == int(row[3]) - same - int(told["gaps"])


def test_anti_targets_are_like_the_query_but_not_it(search: Search) -> None:
    assert search.homologs() == 0
    hits, output = str(search.folder / "hits.h5"), search.folder / "panel"
    flags = ["--hits", hits, "--output", str(output), "--quiet"]
    assert panel.main([*flags, "--min-identity", "0.9", "--max-evalue", "1"]) == 0
    rows = [line.split("\t") for line in (output / "panel.tsv").read_text().splitlines()]
    found = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert "T61" in [row["accession"] for row in found]
    assert "T60" not in [row["accession"] for row in found]
    assert all(float(row["identity"]) >= 0.9 and float(row["evalue"]) <= 1 for row in found)


def panel_of(search: Search, *words: str) -> list[str]:
    """Accessions of the anti-targets of a search."""
    output = search.folder / "panel"
    flags = ["--hits", str(search.folder / "hits.h5"), "--output", str(output), "--quiet"]
    assert panel.main([*flags, *words]) == 0
    lines = (output / "panel.tsv").read_text().splitlines()[1:]
    return [line.split("\t")[1] for line in lines]


def test_a_longer_record_with_the_whole_query_is_the_query_itself(search: Search) -> None:
    """A structure shows a part of a protein; its own record was the first anti-target."""
    changed = "A" + QUERY[1:]
    loop = f"{QUERY[:15]}GG{QUERY[15:]}"
    search.fasta.write_text(f">self\nMST{QUERY}AAG\n>other\nMST{changed}AAG\n>loop\n{loop}\n")
    assert search.homologs() == 0
    assert panel_of(search) == ["other"]


def test_without_e_values_half_of_the_query_must_be_aligned(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hits by chance were anti-targets: an E-value that is not known exceeds no limit."""
    search.fasta.write_text(f">half\n{QUERY[:15]}\n>less\n{QUERY[:14]}\n")
    assert search.homologs("--gap-first", "7", "--gap-next", "7") == 0
    capsys.readouterr()
    assert panel_of(search) == ["half"]
    assert "max_evalue is not applied, and an anti-target must be aligned with at least 50 %" in (
        capsys.readouterr().err
    )
    assert search.homologs() == 0
    capsys.readouterr()
    assert panel_of(search, "--max-evalue", "1") == ["half", "less"]
    assert capsys.readouterr().err == ""


def test_a_panel_of_a_panel_is_refused(search: Search, capsys: pytest.CaptureFixture[str]) -> None:
    """The message was a key that its settings have not."""
    assert search.homologs("--quiet") == 0
    panel_of(search)
    made, output = str(search.folder / "panel" / "homologs.h5"), str(search.folder / "again")
    for hits in ([made], [str(search.folder / "hits.h5"), made]):
        assert panel.main(["--hits", *hits, "--output", output, "--quiet"]) == 1
        message = capsys.readouterr().err.splitlines()[-1]
        assert f"{made}: was made by 'panel', not by 'homologs'; give every part" in message


def test_the_least_identity_is_itself_enough(search: Search) -> None:
    search.query.write_text(">q\n" + "WAAA" * 6 + "W\n")
    search.fasta.write_text(">t\n" + "WSSS" * 6 + "W\n")
    assert search.homologs() == 0
    hits, output = str(search.folder / "hits.h5"), search.folder / "panel"
    flags = ["--hits", hits, "--output", str(output), "--quiet"]
    assert panel.main([*flags, "--min-identity", "0.28", "--max-evalue", "1"]) == 0
    assert (output / "panel.tsv").read_text().splitlines()[1].split("\t")[3] == "0.2800"


def test_a_database_is_converted_once_by_its_content(search: Search) -> None:
    assert search.homologs() == 0
    (kept,) = (search.folder / "c").iterdir()
    before = kept.stat().st_mtime_ns
    packed = search.folder / "same.fa.gz"
    packed.write_bytes(search.fasta.read_bytes())
    assert search.homologs(database=packed) == 0
    assert kept.stat().st_mtime_ns == before
    packed.write_bytes(gzip.compress(search.fasta.read_bytes()))
    assert search.homologs(database=packed, output="other.h5") == 0
    assert len(list((search.folder / "c").iterdir())) == 2
    assert search.hits().score.tolist() == search.hits("other.h5").score.tolist()


def test_a_known_fasta_file_is_not_read_again(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10)  # the file is too young otherwise
    assert search.homologs() == 0
    monkeypatch.setattr(digests.Known, "hash", lambda *_: pytest.fail("the file was read"))
    assert search.homologs(output="other.h5") == 0
    assert (search.folder / "hits.h5").read_bytes() == (search.folder / "other.h5").read_bytes()


def test_letters_in_chunks_are_none_of_this_project(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = search.folder / "database.h5", search.folder / "other.h5"
    given = ["--input", str(search.fasta), "--output", str(path)]
    assert database.main([*given, "--quiet"]) == 0
    with h5py.File(path) as file, h5py.File(other, "w") as changed:
        for name in file:
            file.copy(name, changed)
        letters = changed["blocks/letters"][...]
        del changed["blocks/letters"]
        changed["blocks"].create_dataset("letters", data=letters, chunks=(4, 32))
        changed.attrs.update({key: file.attrs[key] for key in file.attrs if key != "sealed"})
    assert search.homologs(database=other) == 1
    assert "other.h5: damaged (/blocks/letters is not in one piece)" in capsys.readouterr().err


def test_a_database_file(search: Search) -> None:
    path = search.folder / "database.h5"
    given = ["--input", str(search.fasta), "--output", str(path)]
    assert database.main([*given, "--quiet"]) == 0
    assert read(path, DATABASE, Proteins).name[-1] == "bad"
    assert search.homologs(database=path, output="other.h5") == 0
    assert search.homologs() == 0
    assert search.hits().score.tolist() == search.hits("other.h5").score.tolist()
    assert run_record(search.folder / "other.h5", HOMOLOGS)["stage"] == "homologs"


def test_no_e_value_is_made_up(search: Search) -> None:
    folder = search.folder / "tables"
    flags = ("--gap-first", "7", "--gap-next", "7", "--tables", str(folder))
    assert search.homologs(*flags) == 0
    assert np.isnan(search.hits().evalue).all()
    assert (folder / "hits.blast.tsv").read_text().splitlines()[0].endswith("NA\tNA")


def test_a_file_with_the_scores_of_a_known_matrix_has_e_values(search: Search) -> None:
    """They were empty: parameters were known by the name alone."""
    mine = search.folder / "mine.txt"
    text = (FOLDER / FILES["BLOSUM62"]).read_text()
    mine.write_text(text)
    assert search.homologs() == 0
    assert search.homologs("--matrix", str(mine), output="mine.h5") == 0
    evalue = search.hits("mine.h5").evalue
    assert not np.isnan(evalue).any()
    assert evalue.tolist() == search.hits().evalue.tolist()
    other = search.folder / "other.txt"
    other.write_text(text.replace(" 9 ", " 8 "))
    assert search.homologs("--matrix", str(other), output="mine.h5") == 0
    assert np.isnan(search.hits("mine.h5").evalue).all()


@pytest.mark.parametrize(("matrix", "is_told"), [("BLOSUM80", True), ("BLOSUM62", False)])
def test_a_search_without_e_values_says_so(
    search: Search, matrix: str, is_told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--query", search.query, "--database", search.fasta, "--cache", search.folder / "c"]
    words = [*given, "--output", search.folder / "hits.h5", "--matrix", matrix]
    assert homologs.main(list(map(str, words))) == 0
    said = f"no bit scores and E-values: none are known for {matrix} with gap costs 10 and 2"
    assert (said in capsys.readouterr().err) == is_told


def test_all_records_that_are_not_searched_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.fa").write_text(">a\nMKV\n>empty\n\n>bad\nMK-V\n>none\n")
    given = ["--input", str(tmp_path / "d.fa"), "--output", str(tmp_path / "d.h5")]
    assert database.main(given) == 0
    said = capsys.readouterr().err
    assert "records that are not searched: 3, such as empty, which has no residues" in said


def test_records_that_are_not_searched_are_told_at_every_search(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    """A database of the cache hid them: all of an alignment's, and no sequence had a hit."""
    search.fasta.write_text(">a\nMK-V\n>b\nMK-VL\n>c\n")
    for _ in range(2):
        assert search.homologs() == 0
        said = capsys.readouterr().err.splitlines()
        warned = [
            line for line in said if "records that are not searched: 3, such as a: '-'" in line
        ]
        assert len(warned) == 1
    search.fasta.write_text(">empty\n>b\nMKVL\n")
    assert search.homologs() == 0
    assert "not searched: 1, such as empty, which has no residues" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("is_cut", "why"),
    [(True, "not a complete HDF5 file"), (False, "damaged (its checksum differs)")],
)
def test_a_damaged_database_of_the_cache_is_converted_again(
    search: Search, capsys: pytest.CaptureFixture[str], is_cut: bool, why: str
) -> None:
    assert search.homologs() == 0
    (kept,) = (search.folder / "c").glob("*.h5")
    whole = kept.read_bytes()
    other = bytes(255 - byte for byte in whole[-500:-400])
    kept.write_bytes(whole[:3000] if is_cut else whole[:-500] + other + whole[-400:])
    assert search.homologs(output="again.h5") == 0
    assert f"{kept}: {why}; it is converted again" in capsys.readouterr().err
    assert kept.read_bytes() == whole
    first, again = (search.folder / name for name in ("hits.h5", "again.h5"))
    assert first.read_bytes() == again.read_bytes()


def test_a_query_without_hits_has_an_empty_list(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    search.query.write_text(">none\n\n>some\nMKVLAW\n")
    assert search.homologs() == 0
    queries = read(search.folder / "hits.h5", HOMOLOGS, Queries)
    assert queries.first_hit.tolist()[:2] == [0, 0]
    assert "no alignment has a score above 0" in capsys.readouterr().out


def test_a_record_without_a_header_is_shown_by_its_number(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lists had a blank line for it."""
    search.query.write_text(f">\n{QUERY}\n")
    search.fasta.write_text(f">\n{QUERY}\n")
    tables = search.folder / "tables"
    assert search.homologs("--tables", str(tables)) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"Query: record_1\n{'  0. record_1':<65} SCORE: ")
    assert (tables / "hits.txt").read_text() == printed


def test_a_query_without_residues_is_warned_of(
    search: Search, capsys: pytest.CaptureFixture[str]
) -> None:
    search.query.write_text(f">some\n{QUERY}\n>none\n\n>more\n")
    assert search.homologs() == 0
    message = f"{search.query}: queries without residues, which have no hits: 2, such as none"
    assert message in capsys.readouterr().err


def test_a_cache_that_cannot_be_written_does_not_stop_a_search(
    search: Search, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert search.homologs() == 0
    cache, room = search.folder / "file", search.folder / "room"
    cache.write_text("no folder")
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    assert search.homologs("--cache", str(cache), output="other.h5") == 0
    message = capsys.readouterr().err
    assert f"{cache}/" in message
    assert "; the database is not kept" in message
    assert (search.folder / "hits.h5").read_bytes() == (search.folder / "other.h5").read_bytes()
    assert list(room.iterdir()) == []


def test_a_site_is_of_one_query(search: Search, capsys: pytest.CaptureFixture[str]) -> None:
    search.query.write_text(f">one\n{QUERY}\n>two\n{QUERY}\n")
    assert search.homologs("--site", "3") == 1
    assert "but the file has 2 queries; give a file of one query" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "query", "sentence"),
    [
        (("--matrix", "BLOSUM63"), QUERY, "matrix BLOSUM63: is none of"),
        (("--gap-next", "11"), QUERY, "gap-next must not exceed --gap-first"),
        ((), "MK-V", "'-' at residue 3 is no amino acid"),
        (("--site", "31"), QUERY, "--site names residues up to 31"),
        (("--site", "31"), QUERY, "has residues 1 to 30; give residues of the query"),
        (("--pocket", "query.fa"), QUERY, "--pocket belongs to --receptor"),
    ],
)
def test_what_a_user_gets_wrong(
    search: Search,
    words: tuple[str, ...],
    query: str,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(search.folder)
    search.query.write_text(f">q\n{query}\n")
    assert search.homologs(*words) == 1
    message = capsys.readouterr().err.splitlines()
    assert sentence in message[-1]


PDB = """\
ATOM      1  CA  MET A   1       0.000   0.000   0.000  1.00  0.00           C
ATOM      2  CA  LYS A   2       3.800   0.000   0.000  1.00  0.00           C
ATOM      3  CA  MSE A   4      30.000   0.000   0.000  1.00  0.00           C
HETATM    4 CA    CA A 101       9.000   9.000   9.000  1.00  0.00          CA
ATOM      5  CA  MET B   1       0.000  50.000   0.000  1.00  0.00           C
ATOM      6  CA  TRP B   2       3.800  50.000   0.000  1.00  0.00           C
END
"""


def test_a_receptor_gives_its_chains(search: Search) -> None:
    path = search.folder / "receptor.pdb"
    path.write_text(PDB)
    flags = ["--receptor", str(path), "--database", str(search.fasta)]
    flags += ["--cache", str(search.folder / "c"), "--output", str(search.folder / "r.h5")]
    assert homologs.main([*flags, "--quiet"]) == 0
    queries = read(search.folder / "r.h5", HOMOLOGS, Queries)
    assert queries.name.tolist() == ["receptor_A", "receptor_B"]
    assert queries.residues.tolist() == [3, 2]
