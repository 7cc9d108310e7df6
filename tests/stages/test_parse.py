"""`python -m ligen_py.parse` from file to file, and with bad input."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rdkit import Chem

from ligen_py import parse
from ligen_py.molecules.library import parsing
from ligen_py.records.ledger import Ledger, Status
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.store.files.read import read, run_record

SMILES = 'CCO ethanol\nCCN an amine, "quoted"\n\nnonsense bad\nc1ccccc1CCO \n'


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "library.smi"
    path.write_text(SMILES)
    return path


def run(source: Path, output: Path, *flags: str) -> int:
    return parse.main(["--input", str(source), "--output", str(output), "--jobs", "1", *flags])


def refused(source: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """The one sentence of a run that must fail and leave nothing behind."""
    output = source.parent / "out" / "ligands.h5"
    assert run(source, output, *flags) == 1
    assert not output.exists()
    assert not output.parent.exists() or not list(output.parent.iterdir())
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1
    return said


def test_a_library_becomes_a_ligands_file(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out" / "ligands.h5"
    assert run(library, output, "--max-atoms", "60") == 0
    assert "4 records: 3 ready, 1 failed (1 unparsable)" in capsys.readouterr().err
    entries: Entries = read(output, LIGANDS, Entries)
    ledger: Ledger = read(output, LIGANDS, Ledger)
    ligands: Ligands = read(output, LIGANDS, Ligands)
    assert entries.name.tolist() == ["ethanol", 'an amine, "quoted"', "bad", "line-5"]
    assert entries.line.tolist() == [1, 2, 4, 5]
    assert ledger.status.tolist() == [Status.READY, Status.READY, Status.FAILED, Status.READY]
    assert ligands.entry.tolist() == [0, 1, 3]
    assert np.isfinite(ligands.xyz).all()
    assert '"max_atoms": 60' in run_record(output, LIGANDS)["settings"]


def test_shapes_are_kept_in_a_folder_that_is_given(library: Path, tmp_path: Path) -> None:
    (tmp_path / "shapes").mkdir()
    assert run(library, tmp_path / "ligands.h5", "--shapes", str(tmp_path / "shapes")) == 0
    assert (tmp_path / "shapes/pieces.sqlite").stat().st_size > 0


def test_data_items_that_no_record_has_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a table they stop the run; in an SDF names became line-N, and columns were left out."""
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    source = tmp_path / "a.sdf"
    source.write_text(block + "> <Vendor ID>\nx1\n\n> <Price>\n3\n\n$$$$\n")
    flags = ("--name-column", "vendor id", "--columns", "price")
    assert run(source, tmp_path / "a.h5", *flags) == 0
    assert "correct the name" not in capsys.readouterr().err
    entries: Entries = read(tmp_path / "a.h5", LIGANDS, Entries)
    assert (entries.name[0], entries.extra[0]) == ("x1", '{"Price": "3"}')
    assert run(source, tmp_path / "b.h5", "--name-column", "vid", "--columns", "cost") == 0
    said = capsys.readouterr().err
    assert "no record has a value of 'vid'; correct the name" in said
    assert "no record has a value of 'cost'; correct the name" in said


def test_what_stands_in_earlier_parts_is_a_duplicate(tmp_path: Path) -> None:
    texts = {"a": "CCO one\nC[Cu] bad\n", "b": "CCN two\n", "c": "OCC again\nCCN.Cl hcl\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.smi").write_text(text)
    parts = [tmp_path / "lib" / f"{name}.h5" for name in "abc"]
    assert run(tmp_path / "a.smi", parts[0], "--after") == 0
    assert run(tmp_path / "b.smi", parts[1], "--after", str(parts[0])) == 0
    assert run(tmp_path / "c.smi", parts[2], "--after", *map(str, parts[:2])) == 0
    ledger: Ledger = read(parts[2], LIGANDS, Ledger)
    assert ledger.status.tolist() == [Status.DUPLICATE, Status.DUPLICATE]
    assert ledger.detail.tolist() == [
        "same parent as one at line 1, in part lib/a",
        "same parent as two at line 1, in part lib/b",
    ]
    assert not len(read(parts[2], LIGANDS, Ligands).entry)
    assert "molecules of earlier parts" in run_record(parts[2], LIGANDS)["inputs"]
    # A molecule more before it, which this part has not, changes no byte of it.
    before = parts[2].read_bytes()
    (tmp_path / "b.smi").write_text("CCN two\nCCCCO more\n")
    assert run(tmp_path / "b.smi", parts[1], "--after", str(parts[0])) == 0
    assert run(tmp_path / "c.smi", parts[2], "--after", *map(str, parts[:2])) == 0
    assert parts[2].read_bytes() == before
    # One in front moves the others to new lines, which the ledger has.
    (tmp_path / "b.smi").write_text("CCCCO more\nCCN two\n")
    assert run(tmp_path / "b.smi", parts[1], "--after", str(parts[0])) == 0
    assert run(tmp_path / "c.smi", parts[2], "--after", *map(str, parts[:2])) == 0
    inputs = run_record(parts[2], LIGANDS)["inputs"]
    parts[2].write_bytes(before)
    assert run_record(parts[2], LIGANDS)["inputs"] != inputs


def test_equal_runs_write_equal_bytes(library: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"{jobs}.h5" for jobs in ("1", "2")]
    for output in outputs:
        arguments = ["--input", str(library), "--output", str(output), "--jobs", output.stem]
        assert parse.main(arguments) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_plain_and_compressed_hold_the_same(library: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.smi.gz"
    packed.write_bytes(gzip.compress(SMILES.encode()))
    for source, output in ((library, "a.h5"), (packed, "b.h5")):
        assert run(source, tmp_path / output) == 0
    first, second = (read(tmp_path / name, LIGANDS, Ligands) for name in ("a.h5", "b.h5"))
    assert np.array_equal(first.molecule, second.molecule)


def test_a_part_without_ready_ligands_is_written(library: Path, tmp_path: Path) -> None:
    sizes = []
    for k in range(1, 9):
        assert run(library, tmp_path / "part.h5", "--part", f"{k}-of-8") == 0
        sizes.append(len(read(tmp_path / "part.h5", LIGANDS, Entries).line))
    assert sum(sizes) == 4
    assert 0 in sizes


def test_an_empty_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.sdf"
    path.write_text("\n")
    assert "empty.sdf: contains no molecules" in refused(path, capsys)


def test_only_bad_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.smi"
    path.write_text("what\nis this\n")
    said = refused(path, capsys)
    assert "bad.smi: no record can be docked; 2 records: 2 failed (2 unparsable)" in said
    assert "first, line 1" in said


def test_a_truncated_gzip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.smi.gz"
    path.write_bytes(gzip.compress(SMILES.encode())[:-12])
    assert "cut.smi.gz: the compressed data are damaged or cut short" in refused(path, capsys)


def test_a_library_that_grows_while_it_is_read_is_refused(
    library: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it was made from could not be said, and each part is a share of the file's size."""

    def growing(path: Path, *others: Any) -> Any:
        found = reader(path, *others)
        with path.open("a") as file:
            file.write("CCCCO late\n")
        return found

    reader = parse.parse
    monkeypatch.setattr(parse, "parse", growing)
    assert run(library, tmp_path / "a.h5") == 1
    assert "changed while it was read; run again" in capsys.readouterr().err
    assert not (tmp_path / "a.h5").exists()


def test_an_sdf_cut_in_the_middle_loses_one_record(library: Path, tmp_path: Path) -> None:
    from rdkit import Chem

    blocks = [Chem.MolToMolBlock(Chem.MolFromSmiles(s)) + "$$$$\n" for s in ("CCO", "CCN", "CCC")]
    path = tmp_path / "cut.sdf"
    path.write_text("".join(blocks)[: -len(blocks[2]) // 2])
    assert run(path, tmp_path / "out.h5") == 0
    ledger: Ledger = read(tmp_path / "out.h5", LIGANDS, Ledger)
    assert ledger.status.tolist() == [Status.READY, Status.READY, Status.FAILED]
    assert "cut short" in ledger.detail[2]


def test_an_unknown_format_and_a_value_out_of_range(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "library.pdf"
    other.write_text(SMILES)
    assert "library.pdf: format unknown" in refused(other, capsys)
    assert "--max-atoms: give 256 or less" in refused(library, capsys, "--max-atoms", "257")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--part", "3-of-2"], "a part is K-of-N"),
        (["--jobs", "0"], "not a number of processes"),
        (["--input", "nowhere.smi"], "nowhere.smi does not exist"),
        (["--input", "."], "is a folder"),
        (["--max_atoms", "3"], "unrecognized arguments"),
    ],
)
def test_wrong_usage(
    library: Path, capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(library, library.parent / "x.h5", *flags)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err
    assert not (library.parent / "x.h5").exists()


def test_help_names_every_setting_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse.main(["--help"])
    assert caught.value.code == 0
    page = capsys.readouterr().out
    assert "--time-limit" in page
    assert "in seconds" in " ".join(page.split())


COUNTS = {
    "standardiser_examples.in.sdf": (77, {"UNPARSABLE": 9, "NO_ATOMS": 1}),
    "Issue381.sdf": (9, {}),
    "NCI_aids_few.sdf": (16, {"UNSUPPORTED_ELEMENT": 2}),
    "aid466.trunc.sdf": (5, {}),
    "odd_drawings.sdf": (4, {"DUPLICATE_OF": 1}),
}


QUICK = ("--conformers", "1", "--time-limit", "1")
"""One record takes a third of a minute; where it has no time, it must still not be lost."""


@pytest.mark.parametrize("name", COUNTS)
def test_messy_files_lose_no_record(name: str, shared_data: Path, tmp_path: Path) -> None:
    """Counts of an independent reading: RDKit's own supplier, and $$$$ lines."""
    from ligen_py.records.ledger import Reason

    assert run(shared_data / "messy" / name, tmp_path / "out.h5", *QUICK) == 0
    ledger: Ledger = read(tmp_path / "out.h5", LIGANDS, Ledger)
    records, reasons = COUNTS[name]
    assert len(ledger.status) == records
    for reason, count in reasons.items():
        assert (ledger.reason == Reason[reason]).sum() == count


def test_molecules_that_crash_their_worker_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As those that pass a limit: which ones do depends on the machine."""

    def crash(*_: object, **__: object) -> None:
        os._exit(1)

    path, output = tmp_path / "a.smi", tmp_path / "a.h5"
    path.write_text("CCO ethanol\n")
    assert run(path, output) == 0
    assert "passed parse.time_limit" not in capsys.readouterr().err
    for name in ("prepare", "prepare_together"):
        monkeypatch.setattr(parsing, name, crash)
    assert run(path, output) == 0
    said = capsys.readouterr().err
    assert "part 1-of-1: 1 of them passed parse.time_limit (20 s) or parse.memory_limit" in said
    monkeypatch.setattr(parsing, "prepare_one_state", crash)
    path.write_text("CCO ethanol\nCCN amine\n")
    assert run(path, output, "--allow-empty") == 0
    assert "part 1-of-1: 2 of them passed " in capsys.readouterr().err
