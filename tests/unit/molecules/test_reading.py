"""Records of library files: every record exactly once, under its own name and line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ligen_py.errors import InputError
from ligen_py.molecules import lines
from ligen_py.molecules.reading import Part, Record, clean_name, records

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


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "a.smi", b"\xef\xbb\xbfCCO ethanol\r\nCC ethane\r\n")
    assert [(r.text, r.name) for r in records(path)] == [("CCO", "ethanol"), ("CC", "ethane")]
    block = BLOCK.format(name="one").replace("\n", "\r\n").encode()
    path = written(tmp_path, "a.sdf", b"\xef\xbb\xbf" + block + b"$$$$\r\n" + block)
    assert [(r.line, r.name) for r in records(path)] == [(1, "one"), (7, "one")]
    assert "\r" not in next(records(path)).text


def test_latin1_is_read_and_utf16_is_named(tmp_path: Path) -> None:
    assert names(written(tmp_path, "a.smi", "C caf\xe9".encode("latin-1"))) == ["caf\xe9"]
    path = written(tmp_path, "b.smi", "C x".encode("utf-16"))
    with pytest.raises(InputError, match=r"b\.smi: is UTF-16"):
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
    monkeypatch.setattr(lines, "RATIO_GRACE", 1 << 20)
    path = written(tmp_path, "a.smi.gz", gzip.compress(b"CCCCCCC name\n" * 1_000_000))
    with pytest.raises(InputError, match="bytes come out of each compressed byte"):
        names(path)
    path = written(tmp_path, "b.smi.gz", gzip.compress(b"C" * (1 << 25)))
    monkeypatch.setattr(lines, "RATIO_GRACE", 1 << 26)
    with pytest.raises(InputError, match="line 1 is longer than"):
        names(path)


def test_compressed_parts_take_turns(tmp_path: Path) -> None:
    path = written(tmp_path, "a.smi.gz", gzip.compress(b"C a\nC b\nC c\nC d\nC e\n"))
    parts = [[record.name for record in part] for part in in_parts(path, 2)]
    assert parts == [["a", "c", "e"], ["b", "d"]]


@pytest.mark.parametrize("text", ["0-of-2", "3-of-2", "1", "1-of-", "a-of-b", "-1-of-2", ""])
def test_a_wrong_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a part is K-of-N"):
        Part.parse(text)


ENDS = st.sampled_from(["\n", "\r\n"])
LINES = st.lists(
    st.sampled_from(["", "#x", "C a", "CCO long name", "N \u00e9", " ", "O"]), max_size=12
)


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=150, deadline=None)
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
