"""Records of library files: every record exactly once, under its own name and line."""

import gzip
import io
import json
import random
from pathlib import Path

import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from ligen_py import unpacking
from ligen_py.errors import InputError
from ligen_py.molecules.library import lines, sdf_mol2
from ligen_py.molecules.library.reading import Columns, Part, Record, clean_name, count, records
from ligen_py.records.ledger import Reason

BLOCK = "{name}\n  program\n\n  0  0  0  0  0  0            999 V2000\nM  END\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def in_parts(path: Path, count: int) -> list[list[Record]]:
    return [list(records(path, Part(k, count))) for k in range(1, count + 1)]


def names(path: Path) -> list[str]:
    return [record.name for record in records(path)]


def test_smiles_lines_names_and_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "a.smi", '# comment\nCCO ethanol\n\n  \nCC\tmy name, "x"/y  \nC\n')
    assert list(records(path)) == [
        Record(2, "ethanol", "CCO"),
        Record(5, 'my name, "x"/y', "CC"),
        Record(6, "line-6", "C"),
    ]
    assert names(written(tmp_path, "b.smi", "CCO smiles-1\nCC smiles-2\n")) == [
        "smiles-1",
        "smiles-2",
    ]


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "a.smi", b"\xef\xbb\xbfCCO ethanol\r\nCC ethane\r\n")
    assert [(r.text, r.name) for r in records(path)] == [("CCO", "ethanol"), ("CC", "ethane")]
    block = BLOCK.format(name="one").replace("\n", "\r\n").encode()
    path = written(tmp_path, "a.sdf", b"\xef\xbb\xbf" + block + b"$$$$\r\n" + block)
    assert [(r.line, r.name) for r in records(path)] == [(1, "one"), (7, "one")]
    assert "\r" not in next(records(path)).text


def test_latin1_is_read_and_utf16_is_named(tmp_path: Path) -> None:
    assert names(written(tmp_path, "a.smi", "C caf\xe9".encode("latin-1"))) == ["caf\xe9"]
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        path = written(tmp_path, "b.smi", "C x\nC y\n".encode(encoding))
        with pytest.raises(InputError, match=r"b\.smi: is UTF-16"):
            names(path)


@pytest.mark.parametrize("start", unpacking.NO_TEXT)
def test_other_files_under_the_name_of_a_library_are_named(tmp_path: Path, start: bytes) -> None:
    path = written(tmp_path, "a.csv", start + b"\x14\x00\x06,\nC\n")
    with pytest.raises(InputError, match=r"a\.csv: is .*(Excel|xz|7z).*unpack it, or save"):
        names(path)


def test_any_name_survives_but_control_characters() -> None:
    for name in ("a b", "a,b;'\"", "../a\\b", "Ünï çødé 分子 🧪", "x" * 10_000, "a\xa0b"):
        assert clean_name(name) == name
    assert clean_name("a\x00b\tc\u2028d\x85e\x1b[31m") == "a b c d e [31m"


def test_names_survive_in_a_file(tmp_path: Path) -> None:
    given_names = ["a b", "a,b;'\"", "../a\\b", "分子 🧪", "x" * 10_000, "a b"]
    lines = "".join(f"C {name}\n" for name in given_names)
    assert names(written(tmp_path, "a.txt", lines)) == given_names


def test_a_last_block_without_delimiter_counts_unless_blank(tmp_path: Path) -> None:
    block = BLOCK.format(name="x")
    assert len(names(written(tmp_path, "a.sdf", block + "$$$$\n" + block))) == 2
    assert len(names(written(tmp_path, "b.sdf", block + "$$$$\n\n \n"))) == 1
    assert len(names(written(tmp_path, "c.sdf", block + "$$$$\n$$$$\n" + block))) == 3


def test_a_block_ends_with_its_molecule(tmp_path: Path) -> None:
    block = BLOCK.format(name="x")
    path = written(tmp_path, "a.sdf", block + "> <value>\n" + "9" * 1000 + "\n\n$$$$\n")
    assert [record.text for record in records(path)] == [block]


def test_molecules_that_no_delimiter_parts_are_not_taken_for_one(tmp_path: Path) -> None:
    """As of `cat *.mol`: the second molecule would have no row in the ledger."""
    block = BLOCK.format(name="x")
    path = written(tmp_path, "a.sdf", block + block + "$$$$\n" + block + "$$$$\n")
    assert [record.reason for record in records(path)] == [Reason.UNPARSABLE, Reason.NONE]
    assert "put a line '$$$$' between them" in next(records(path)).text
    data = "> <a>\n1\n\n> <block>\n" + BLOCK.format(name="y").replace("\n\n", "\n \n")
    path = written(tmp_path, "b.sdf", block + data + "\n$$$$\n")
    assert next(records(path)).reason == Reason.NONE, "a molecule as a data item"


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.png.gz", "C")
    with pytest.raises(InputError, match=r"a\.png\.gz: format unknown; name it \*\.smi"):
        names(path)


@pytest.mark.parametrize("cut", [12, 40, -1])
def test_a_truncated_gzip_is_named(tmp_path: Path, cut: int) -> None:
    content = gzip.compress(b"".join(b"CCO %d\n" % i for i in range(1000)))
    path = written(tmp_path, "a.smi.gz", content[:cut])
    with pytest.raises(InputError, match=r"a\.smi\.gz: the compressed data are damaged or cut"):
        names(path)


def test_a_gzip_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "RATIO_GRACE", 1 << 20)
    path = written(tmp_path, "a.smi.gz", gzip.compress(b"CCCCCCC name\n" * 1_000_000))
    with pytest.raises(InputError, match="bytes come out of each compressed byte"):
        names(path)
    # What is packed behind it makes no difference.
    behind = random.Random(1).randbytes(1 << 20)
    long = b"C" * 1000 + b" name\n"
    path = written(tmp_path, "c.smi.gz", gzip.compress(long * 64_000) + gzip.compress(behind))
    with pytest.raises(InputError, match="bytes come out of each compressed byte"):
        names(path)
    path = written(tmp_path, "b.smi.gz", gzip.compress(b"C" * (1 << 25)))
    monkeypatch.setattr(unpacking, "RATIO_GRACE", 1 << 26)
    with pytest.raises(InputError, match="line 1 is longer than"):
        names(path)


def test_compressed_parts_take_turns(tmp_path: Path) -> None:
    path = written(tmp_path, "a.smi.gz", gzip.compress(b"C a\nC b\nC c\nC d\nC e\n"))
    parts = [[record.name for record in part] for part in in_parts(path, 2)]
    assert parts == [["a", "c", "e"], ["b", "d"]]


def test_a_zstd_may_begin_with_a_frame_to_skip(tmp_path: Path) -> None:
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0size"  # as pzstd writes them
    packed = skipped + bytes(pyarrow.Codec("zstd").compress(b"C a\nC b\n", asbytes=True))
    assert names(written(tmp_path, "a.smi.zst", packed)) == ["a", "b"]


@pytest.mark.parametrize("text", ["0-of-2", "3-of-2", "1", "1-of-", "a-of-b", "-1-of-2", ""])
def test_a_wrong_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a part is K-of-N"):
        Part.parse(text)


def read(path: Path, **columns: object) -> list[tuple[str, str, dict[str, str]]]:
    """Text, name and further columns of every record, equal in three parts."""
    chosen = Columns(**columns)  # type: ignore[arg-type]
    whole = list(records(path, columns=chosen))
    parts = [record for k in (1, 2, 3) for record in records(path, Part(k, 3), chosen)]
    assert sorted(parts) == sorted(whole)
    return [(record.text, record.name, json.loads(record.extra or "{}")) for record in whole]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("zinc.smi", "smiles zinc_id\nCCO ZINC1 x\n", ("CCO", "ZINC1 x", {})),
        ("own.smi", "smiles shelf\nCCO s1\n", ("CCO", "s1", {})),
        ("turned.smi", "shelf\tsmiles\ns1\tCCO\n", ("CCO", "s1", {})),
        ("blanks.smi", "price smiles name\n3 CCO the best\n", ("CCO", "the best", {"price": "3"})),
        ("three.smi", "smiles shelf price\nCCO s1 3\n",
         ("CCO", "line-2", {"shelf": "s1", "price": "3"})),
        ("ends.csv", 'smiles,id\n"CC(F)O |&1:1,3|",a\n', ("CC(F)O |&1:1,3|", "a", {})),
        ("two.csv", "smiles,shelf\nCCO,s1\n", ("CCO", "line-2", {"shelf": "s1"})),
        ("chembl.txt", "chembl_id\tcanonical_smiles\tinchi\nC1\tCCO\tI=1\n",
         ("CCO", "C1", {"inchi": "I=1"})),
        ("enamine.cxsmiles", "SMILES\tidnumber\tMW\nCC[C@H](C)O |&1:2|\tZ1\t74\n",
         ("CC[C@H](C)O |&1:2|", "Z1", {"MW": "74"})),
        ("cx.smi", "CCO |&1:1,2| my name\n", ("CCO |&1:1,2|", "my name", {})),
        ("comma.smi", 'CCO,ethanol,"a,b"\n', ("CCO", "ethanol", {"3": "a,b"})),
        ("tab.smi", "CCO\tthe name\t12\n", ("CCO", "the name", {"3": "12"})),
        ("noted.csv", "# shop, 2026\n\n# prices in EUR\nid,smiles\na,CCO\n", ("CCO", "a", {})),
        ("hash.csv", "# shop\n#smiles,id\nCCO,a\n", ("CCO", "a", {})),
        ("sep.csv", "\ufeffsep=;\r\nSMILES;Name;x\r\nCCO;a, b;1\r\n", ("CCO", "a, b", {"x": "1"})),
        ("european.csv", 'ID;SMILES;Price\n"a\nb";"C;C";"1,5"\n', ("C;C", "a b", {"Price": "1,5"})),
        ("chebi.tsv", "name\tSmiles\tSmiles\nx\tCCO\tCC\n", ("CCO", "x", {"Smiles (3)": "CC"})),
        ("quote.csv", 'name,smiles,size\n"a,CCO,5\n', ("CCO", '"a', {"size": "5"})),
        ("long.csv", f'smiles,id,text\n"CCO","a,b","{"x" * 200_000}"\n', ("CCO", "a,b", {})),
        ("broken.csv", 'id;"Mass, mean\n(Da)";SMILES\na;46;CCO\n',
         ("CCO", "a", {"Mass, mean\n(Da)": "46"})),
        ("pubchem.csv", "cid,CanonicalSMILES,IsomericSMILES\n1,CC(F)O,C[C@H](F)O\n",
         ("C[C@H](F)O", "1", {"CanonicalSMILES": "CC(F)O"})),
        ("joined.csv", "CatalogID,SMILES\nZ1,CCO\n", ("CCO", "Z1", {})),
        ("molport.txt", "SMILES\tMOLPORTID\nCCO\tM1\n", ("CCO", "M1", {})),
        ("first.csv", '"p\nq"|id|SMILES\n1|a|CCO\n', ("CCO", "a", {"p\nq": "1"})),
        ("marks.smi", "SMILES;ID;price\nCCO;a;1,5\n", ("CCO", "a", {"price": "1,5"})),
        ("bars.txt", "ID|SMILES\na|CCO\n", ("CCO", "a", {})),
        ("r.smi", '"CCO"\t"a b"\t"3"\n', ("CCO", "a b", {"3": "3"})),
        ("r_head.smi", '"SMILES"\t"ID"\n"CCO"\t"a b"\n', ("CCO", "a b", {})),
        ("r_blank.smi", '"SMILES" "ID"\n"CCO" "a b"\n', ("CCO", "a b", {})),
        ("r_comma.smi", '"CC(F)O |&1:1,3|","a"\n', ("CC(F)O |&1:1,3|", "a", {})),
        ("r_blanks.smi", '"CCO"  "a b"\n', ("CCO", "a b", {})),
        ("r_words.smi", '"CCO" ethyl alcohol\n', ("CCO", "ethyl alcohol", {})),
        ("ring.smi", 'smiles\tid\nCCO\t"A"-ring alcohol\n', ("CCO", '"A"-ring alcohol', {})),
        ("comma_name.smi", "smiles id\nCCO 1,2-x, y\n", ("CCO", "1,2-x, y", {})),
        ("comma_head.smi", "smiles zinc_id, pure\nCCO Z1\n",
         ("CCO", "line-2", {"zinc_id,": "Z1"})),
        ("inch.smi", 'CCO\t5" plate\n', ("CCO", '5" plate', {})),
        ("web.smi", "CCO\u00a0the\u3000name\n", ("CCO", "the\u3000name", {})),
    ],
)  # fmt: skip
def test_tables_of_the_world(
    tmp_path: Path, name: str, content: str, expected: tuple[str, str, dict[str, str]]
) -> None:
    assert read(written(tmp_path, name, content)) == [expected]
    with_windows_ends = content.replace("\n", "\r\n")
    assert [found[0] for found in read(written(tmp_path, name, with_windows_ends))] == [expected[0]]


def test_quotes_that_begin_no_cell_hide_no_row(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'smiles\tname\nCCO\t"a\nCCC\t"b" c\nCCN\t"d\ne"\n')
    assert [(text, name) for text, name, _ in read(path)] == [
        *(("CCO", '"a'), ("CCC", "b c"), ("CCN", "d e")),
    ]


def test_columns_are_chosen_by_name_or_number(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "Who,What,price,note\nx,CCO,3,n\n")
    chosen = {"smiles_column": "what", "name_column": "WHO"}
    assert read(path, **chosen, columns=("PRICE",)) == [("CCO", "x", {"price": "3"})]
    assert read(path, **chosen, columns=("none",)) == [("CCO", "x", {})]
    path = written(tmp_path, "b.csv", "1,x,CCO\n2,y,CC\n")
    assert [name for _, name, _ in read(path, smiles_column="3", name_column="2")] == ["x", "y"]
    path = written(tmp_path, "d.smi", "CCO ethanol, 1,2-pure\nCC x\n")
    assert [text for text, _, _ in read(path, smiles_column="1")] == ["CCO", "CC"]
    path = written(tmp_path, "c.smi", "x CCO\ny CC\n")
    assert [text for text, _, _ in read(path, smiles_column="2", name_column="1")] == ["CCO", "CC"]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {},
            "no column is called after SMILES; name one with smiles_column, by its number in a "
            "table without header, or call it 'smiles' in the file; its columns are: a, b",
        ),
        ({"smiles_column": "c"}, "no column is called 'c'; its columns are: a, b"),
        (
            {"smiles_column": "a", "columns": ("d",)},
            "no column is called 'd'; its columns are: a, b",
        ),
        ({"smiles_column": "0"}, "both as numbers from 1"),
        ({"smiles_column": "a", "name_column": "2"}, "both as names, or both as numbers"),
    ],
)
def test_a_column_that_is_missing_is_named(
    tmp_path: Path, columns: dict[str, object], sentence: str
) -> None:
    path = written(tmp_path, "a.csv", "a,b\nC,x\n")
    with pytest.raises(InputError, match=rf"a\.csv: .*{sentence}"):
        read(path, **columns)


def test_marks_within_names_of_columns_do_not_separate_them(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "id;Name (DE, FR, EN);SMILES\n1;a, b;CCO\n")
    assert read(path) == [("CCO", "1", {"Name (DE, FR, EN)": "a, b"})]
    path = written(tmp_path, "b.csv", "# made of a;b;c, smiles\nid,smiles\n1,CCO\n")
    assert read(path) == [("CCO", "1", {})]


def test_of_two_columns_the_one_with_stereo_is_read(tmp_path: Path) -> None:
    """In PubChem's tables the canonical SMILES has none."""
    path = written(tmp_path, "a.csv", "canonical_smiles,isomeric_smiles\nCC(F)O,C[C@H](F)O\n")
    assert [text for text, _, _ in read(path)] == ["C[C@H](F)O"]


def test_two_columns_of_smiles_are_not_guessed_between(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "old smiles,new smiles\nC,CC\n")
    with pytest.raises(InputError, match="several columns may contain SMILES"):
        read(path)
    path = written(tmp_path, "b.csv", "SMILES,Smiles,id\nC,CC,x\n")
    several = (
        r"several columns may contain SMILES \('SMILES', 'Smiles'\); name one with smiles_column"
    )
    with pytest.raises(InputError, match=several):
        read(path)
    assert [text for text, _, _ in read(path, smiles_column="Smiles")] == ["CC"]
    with pytest.raises(InputError, match=r"2 columns are called 'smiles' \('SMILES', 'Smiles'\)"):
        read(path, smiles_column="smiles")


def test_a_carriage_return_within_a_row_hides_no_other(tmp_path: Path) -> None:
    """The second row would be cells of the first; in quotes it is a cell's own."""
    path = written(tmp_path, "a.csv", 'id,smiles,n\n1,CCO,a\r2,CCN,b\n3,CCC,"a\rb"\r\n')
    assert [record.reason for record in records(path)] == [Reason.UNPARSABLE, Reason.NONE]
    assert "mixes line ends" in next(records(path)).text


def test_a_row_without_smiles_and_one_beyond_bounds_keep_their_places(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", f"smiles,id\n,a\n{'C' * (1 << 20)}C,b\nC,c\n")
    found = [(record.name, record.reason.name) for record in records(path)]
    assert found == [("a", "NO_STRUCTURE"), ("b", "RECORD_TOO_LARGE"), ("c", "NONE")]
    path = written(tmp_path, "a.smi", "C a\nC b\rC c\n")
    assert [(r.name, r.reason.name) for r in records(path)] == [
        ("a", "NONE"),
        ("line-2", "UNPARSABLE"),
    ]
    with pytest.raises(InputError, match="bare carriage returns"):
        names(written(tmp_path, "b.smi", "C a\rC b\r"))


def test_parquet_is_read_by_rows_plain_and_packed(tmp_path: Path) -> None:
    sink = io.BytesIO()
    smiles = ["C" * (i % 9 + 1) for i in range(50)]
    table = {"price": [1.5, None] * 25, "SMILES": smiles, "id": list(range(50))}
    parquet.write_table(pyarrow.table(table), sink, row_group_size=7)
    content = sink.getvalue()
    for name, raw in (("a.parquet", content), ("b.pq.gz", gzip.compress(content))):
        found = read(written(tmp_path, name, raw), columns=("price",))
        assert [text for text, _, _ in found] == smiles
        assert found[2][1:] == ("2", {"price": "1.5"})
        assert found[3][1:] == ("3", {})
    columns = [pyarrow.array([text]) for text in ("CCO", "a", "CCN")]
    twice = pyarrow.table(columns, names=["smiles", "id", "smiles"])
    parquet.write_table(twice, tmp_path / "d.parquet")
    assert [record.text for record in records(tmp_path / "d.parquet")] == ["CCO"]
    with pytest.raises(InputError, match=r"c\.parquet: no readable Parquet file"):
        names(written(tmp_path, "c.parquet", content[:-9]))


MOL2 = """@<TRIPOS>MOLECULE
{name}
 1 0 0 0 0
SMALL
NO_CHARGES

@<TRIPOS>ATOM
 1 C1 0.0 0.0 0.0 C.3 1 LIG 0.0
"""


def test_mol2_holds_a_record_from_each_molecule_line_on(tmp_path: Path) -> None:
    content = "# comment\n" + MOL2.format(name="a") + "# of b\n\n" + MOL2.format(name="b")
    path = written(tmp_path, "a.mol2", content)
    assert [(record.line, record.name, record.kind) for record in records(path)] == [
        (2, "a", "mol2"),
        (12, "b", "mol2"),
    ]
    assert names(written(tmp_path, "b.mol2", MOL2.format(name="*****"))) == ["line-1"]
    packed = written(tmp_path, "a.mol2.gz", gzip.compress(content.encode()))
    assert list(records(packed)) == list(records(path))


def test_data_items_of_an_sdf_are_columns_and_may_name_it(tmp_path: Path) -> None:
    items = "> <Price>\n12\n13\n\n>  <ID> (1)\nZ9 $$$$ x\n\n> <empty>\n\n"
    path = written(tmp_path, "a.sdf", BLOCK.format(name="") + items + "$$$$\n")
    text = BLOCK.format(name="")
    assert read(path) == [(text, "Z9 $$$$ x", {"Price": "12\n13"})]
    path = written(tmp_path, "b.sdf", BLOCK.format(name="title") + items + "$$$$\n")
    assert read(path)[0][1:] == ("title", {"Price": "12\n13", "ID": "Z9 $$$$ x"})
    assert read(path, name_column="id", columns=("none",))[0][1:] == ("Z9 $$$$ x", {})


def test_names_of_items_may_have_angle_brackets(tmp_path: Path) -> None:
    """As RDKit reads them; cut at the first bracket the second item had the first one's name."""
    items = "> <IC50 (>10 uM)>\n1\n\n>  <IC50 (>20 uM)>  (7)\n2\n\n"
    path = written(tmp_path, "a.sdf", BLOCK.format(name="x") + items + "$$$$\n")
    assert read(path)[0][2] == {"IC50 (>10 uM)": "1", "IC50 (>20 uM)": "2"}


def test_a_title_may_look_like_an_end(tmp_path: Path) -> None:
    path = written(tmp_path, "a.sdf", BLOCK.format(name="M  END") + "$$$$\n")
    assert [record.text for record in records(path)] == [BLOCK.format(name="M  END")]


ENDS = st.sampled_from(["\n", "\r\n"])
LINES = st.lists(
    st.sampled_from(["", "#x", "C a", "CCO long name", "N \u00e9", " ", "O"]), max_size=12
)


@settings(max_examples=150)
@given(LINES, ENDS, st.booleans(), st.integers(1, 90))
def test_parts_of_smiles_hold_every_record_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, last: bool, count: int
) -> None:
    content = end.join(lines) + (end if last else "")
    path = written(tmp_path_factory.getbasetemp(), "parts.smi", content)
    parts = in_parts(path, count)
    assert [record for part in parts for record in part] == list(records(path))
    expected = [i for i, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    assert [record.line for record in records(path)] == expected


PIECES = st.lists(
    st.sampled_from(
        ["$$$$\n", "$$$$\r\n", "$$$$ x\n", "\n", "M  END\n", "name\n", "> <a>\n", " $$$$\n"]
    ),
    max_size=14,
)


@settings(max_examples=150)
@given(PIECES, st.integers(1, 60))
def test_parts_of_sdf_hold_every_record_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], count: int
) -> None:
    path = written(tmp_path_factory.getbasetemp(), "parts.sdf", "".join(pieces))
    whole = list(records(path))
    assert [record for part in in_parts(path, count) for record in part] == whole
    delimiters = [i for i, piece in enumerate(pieces) if piece.startswith("$$$$")]
    tail = pieces[delimiters[-1] + 1 :] if delimiters else pieces
    assert len(whole) == len(delimiters) + any(piece.strip() for piece in tail)
    starts = [1] + [i + 2 for i in delimiters]
    assert [record.line for record in whole] == starts[: len(whole)]


@settings(max_examples=150)
@given(PIECES, st.integers(1, 40))
@example(["$$$$\n", "name\n", "$$$$\n"], 40)
def test_records_of_sdf_do_not_depend_on_the_buffer(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], size: int
) -> None:
    path = written(tmp_path_factory.getbasetemp(), "buffer.sdf", "".join(pieces))
    marked = written(tmp_path_factory.getbasetemp(), "mark.sdf", "\ufeff" + "".join(pieces))
    packed = path.with_suffix(".sdf.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    whole = list(records(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", size)
        for each in (path, marked, packed):
            assert list(records(each)) == whole


def test_a_record_of_many_buffers_is_read_in_few_pieces(tmp_path: Path) -> None:
    """Looking for its end from each line on would search a buffer for each line."""
    text = "a\n" * 100_000
    path = written(tmp_path, "long.sdf", text + "$$$$\n")
    pieces = list(lines.lines(path, before=b"$$$$"))
    assert b"".join(piece.content for piece in pieces) == path.read_bytes()
    assert len(pieces) < 20


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.smi", "SMILES name\nCCO a\n\n# no row\nCCN b\nCCC"),
        ("a.csv", 'smiles,name\nCCO,"two\nlines"\nCCN,b\n,\n'),
        ("a.sdf", "a\n\n\n\nM  END\n$$$$\nb\n\n\n\nM  END\n"),
        ("a.mol2", "@<TRIPOS>MOLECULE\na\n@<TRIPOS>MOLECULE\nb\n"),
        ("a.smi", ""),
    ],
)
def test_records_are_counted_as_they_are_read(
    tmp_path: Path, name: str, text: str, packed: str
) -> None:
    path = tmp_path / f"{name}{packed}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert count(path) == len(list(records(path)))


def test_rows_of_parquet_are_counted(tmp_path: Path) -> None:
    from pyarrow import parquet, table

    parquet.write_table(table({"smiles": ["CCO", "CCN", "C"]}), tmp_path / "a.parquet")
    assert count(tmp_path / "a.parquet") == len(list(records(tmp_path / "a.parquet"))) == 3


def test_a_block_keeps_what_its_limits_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdf_mol2, "RECORD_LIMIT", 10)
    monkeypatch.setattr(sdf_mol2, "DATA_LIMIT", 5)
    block = sdf_mol2._Block(1)
    for content in (b"123456", b"7890", b"1"):
        block.add(content)
    for content in (b"abcde", b"f"):
        block.add_data(content)
    assert (block.molecule, block.size) == ([b"123456", b"7890"], 11)
    assert (block.data, block.data_size) == ([b"abcde"], 6)


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_molecule_and_its_data_may_have_a_mebibyte_each(
    tmp_path: Path, more: int, fits: bool
) -> None:
    """As docs/inputs.md says."""
    path, mebibyte = tmp_path / "large.sdf", 1024 * 1024
    empty = "  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n"
    title, last = "one\n\n", "\n> <a>\nx\n"
    comment = "c" * (mebibyte - len(title) - 1 - len(empty) + more) + "\n"
    before = "> <long>\n"  # a value that is too long for the results
    before += "v" * (mebibyte - len(before) - 1 - len(last) + more) + "\n"
    path.write_text(f"{title}{comment}{empty}$$$$\n{title}\n{empty}{before}{last}$$$$\n")
    large, described = records(path)
    assert large.reason == (Reason.NONE if fits else Reason.RECORD_TOO_LARGE)
    assert described.reason == Reason.NONE
    assert described.extra == ('{"a": "x"}' if fits else "")


def test_an_extension_that_a_comma_has_cut_fails_and_loses_no_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", b"smiles,id\nC[C@H](F)[C@@H](O)CC |&1:1,3|,a\n")
    (record,) = records(path)
    assert record.reason == Reason.UNPARSABLE
    assert "quote a cell with commas" in record.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'smiles,id\n"CC(C)Cc1ccc(cc1) C(C)C(=O)O",a\n'),
        ("lines.csv", 'smiles,id\n"CC(C)Cc1ccc(cc1)\nC(C)C(=O)O",a\n'),
        ("a.smi", "smiles\tid\nCC(C)Cc1ccc(cc1) C(C)C(=O)O\ta\n"),
        ("a.tsv", "smiles\tid\nCC(C)Cc1ccc(cc1)\u00a0C(C)C(=O)O\ta\n"),
        ("extended.csv", 'smiles,id\n"CC(C)Cc1ccc(cc1) |&1:1| C(C)C(=O)O",a\n'),
    ],
)
def test_a_cell_with_more_than_a_smiles_is_not_its_first_word(
    tmp_path: Path, name: str, content: str
) -> None:
    """Half of a molecule was docked under the name of the whole."""
    (record,) = records(written(tmp_path, name, content.encode()))
    assert (record.name, record.reason) == ("a", Reason.UNPARSABLE)
    assert record.text.startswith("the cell has more than a SMILES: C(C)C(=O)O; give a name")
