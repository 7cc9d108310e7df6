"""Library files of any content: no crash, no hang, no lost record, bounded memory."""

import csv
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet
from rdkit import Chem

from ligen_py.errors import InputError
from ligen_py.molecules.library.reading import Part, Record, records
from ligen_py.molecules.ligands.preparation import Prepared, prepare
from ligen_py.records.ledger import Reason, Status
from ligen_py.settings.parse import ParseSettings
from tests.fuzz.damage import alone, damaged, fuzz

MOL = Chem.MolFromSmiles("C[C@H](N)C(=O)[O-].[Na+]")
V2000 = Chem.MolToMolBlock(MOL).encode()
V3000 = Chem.MolToV3KMolBlock(MOL).encode()
ITEMS = b"> <price>\n12\n\n>  <id> (1)\nZ1\n\n$$$$\n"
SDF = b"a\n" + V2000.split(b"\n", 1)[1] + ITEMS + V3000 + ITEMS + V2000
MOL2 = b"""# made by hand
@<TRIPOS>MOLECULE
ethanol
 3 2 0 0 0
SMALL
NO_CHARGES

@<TRIPOS>ATOM
 1 C1 0.0 0.0 0.0 C.3 1 LIG 0.0
 2 C2 1.5 0.0 0.0 C.3 1 LIG 0.0
 3 O1 2.0 1.3 0.0 O.3 1 LIG 0.0
@<TRIPOS>BOND
 1 1 2 1
 2 2 3 1
"""
SMI = b'# list\nCCO ethanol\nCC |&1:0| b\tc\nC,d,"e,f"\n\n[Na+].[Cl-] salt\r\nO\xe9 n\n'
CSV = b'id;SMILES;price\n1;CCO;"1,5"\n2;"C\nC";x\n"a ""b"" c";CC;2\n'
TABLE = {"SMILES": ["CCO", None, "CC"] * 20, "id": list(range(60)), "x": [1.5, None, 2.0] * 20}


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(TABLE), sink, row_group_size=25)
    return sink.getvalue()


PARQUET = parquet_bytes()
SETTINGS = ParseSettings(max_atoms=30, time_limit=5)


@contextmanager
def file_of(content: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


def read(content: bytes, name: str) -> list[Record]:
    with file_of(content, name) as path:
        return list(records(path))


def read_in_parts(content: bytes, name: str, count: int) -> list[Record]:
    """All records, after a look that the parts hold each of them once."""
    with file_of(content, name) as path:
        whole = list(records(path))
        parts = [record for k in range(count) for record in records(path, Part(k + 1, count))]
    assert sorted(parts) == sorted(whole)
    return whole


def lines_of(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return lines[:-1] if not lines[-1] else lines


def expected(content: bytes, name: str) -> int | None:
    """Records by a count of its own; None where the format leaves it open."""
    lines = lines_of(content.removeprefix(b"\xef\xbb\xbf"))
    if name.startswith("a.sdf"):
        ends = [i for i, line in enumerate(lines) if line.startswith(b"$$$$")]
        tail = lines[ends[-1] + 1 :] if ends else lines
        return len(ends) + any(line.strip() for line in tail)
    if name.startswith("a.mol2"):
        return sum(line.startswith(b"@<TRIPOS>MOLECULE") for line in lines)
    if name.startswith("a.smi") and b"smi" not in content.lower():
        return sum(bool(line.strip()) and not line.strip().startswith(b"#") for line in lines)
    return None


TEXTS = {"a.smi": SMI, "a.csv": CSV, "a.sdf": SDF, "a.mol2": MOL2 * 2, "a.txt": CSV}


@pytest.mark.parametrize("name", TEXTS)
@fuzz
@given(data=st.data(), count=st.integers(2, 9))
def test_a_text_of_any_content_loses_no_record(name: str, data: st.DataObject, count: int) -> None:
    content = data.draw(damaged(TEXTS[name], b""))
    try:
        found = read_in_parts(content, name, count)
    except InputError:
        return
    number = expected(content, name)
    assert number is None or len(found) == number
    assert all(record.name and record.line > 0 for record in found)


@pytest.mark.parametrize("method", ["gzip", "zstd", "bz2"])
@fuzz
@given(data=st.data(), count=st.integers(1, 5))
def test_compressed_is_the_same_or_damaged(method: str, data: st.DataObject, count: int) -> None:
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    content = TEXTS[name] * 20
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, method) as stream:
        stream.write(content)
    packed = sink.getvalue().to_pybytes()
    assert read_in_parts(packed, name, count) == read(content, name)
    cut = data.draw(st.integers(5, len(packed) - 1))
    with pytest.raises(InputError, match="damaged or cut short"):
        read(packed[:cut], name)
    # Damage may look like a plain text; what it must not do is crash.
    broken = data.draw(damaged(packed))
    with suppress(InputError):
        alone(read, broken, name)


CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\x00"), max_size=8)


@fuzz
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12),
    separator=st.sampled_from(",;\t|"),
    quoting=st.sampled_from((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
    count=st.integers(1, 9),
)
@example(rows=[("", "", "")], separator="\t", quoting=csv.QUOTE_MINIMAL, count=1)
def test_csv_is_read_as_the_library_reads_it(
    rows: list[tuple[str, str, str]], separator: str, quoting: int, count: int
) -> None:
    text = io.StringIO()
    table = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator="\n")
    table.writerow(("id", "smiles", "more"))
    table.writerows(rows)
    found = read_in_parts(text.getvalue().encode(), "a.csv", count)
    given_rows = list(csv.reader(io.StringIO(text.getvalue(), newline=""), delimiter=separator))[1:]
    given_rows = [row for row in given_rows if "".join(row).strip() or len(row) > 1]
    assert len(found) == len(given_rows)
    for record, (_, smiles, _) in zip(found, given_rows, strict=True):
        words = smiles.split()
        assert (record.reason == Reason.NO_STRUCTURE) == (not words)
        if len(words) == 1:
            assert record.text == words[0]


@fuzz
@given(content=damaged(PARQUET), count=st.integers(1, 9))
def test_parquet_of_any_content(content: bytes, count: int) -> None:
    try:
        found = alone(read_in_parts, content, "a.parquet", count)
    except InputError:
        return
    if content == PARQUET:
        assert [record.line for record in found] == list(range(1, 61))


@pytest.mark.parametrize("name", TEXTS)
@fuzz
@given(data=st.data())
def test_every_record_has_a_result(name: str, data: st.DataObject) -> None:
    content = data.draw(damaged(TEXTS[name]))
    try:
        found = read(content, name)
    except InputError:
        return
    for record in found[:3]:
        result: Prepared = alone(prepare, record, SETTINGS)
        assert (result.status == Status.READY) == bool(result.states)
        assert (result.status == Status.READY) == (result.reason == Reason.NONE)
        assert result.status == Status.READY or result.detail


BOMB = (b"C " + b"n" * 9997 + b"\n") * 10_000


@pytest.mark.parametrize("method", ["gzip", "zstd", "bz2"])
def test_a_bomb_is_stopped_within_bounds(method: str, tmp_path: Path) -> None:
    path = tmp_path / "a.smi"
    with pa.CompressedOutputStream(str(path), method) as stream:
        stream.write(BOMB)
    assert path.stat().st_size < len(BOMB) / 500
    with pytest.raises(InputError, match="bytes come out of each compressed byte"):
        alone(read_path, path)


def read_path(path: Path) -> int:
    return sum(1 for _ in records(path))
