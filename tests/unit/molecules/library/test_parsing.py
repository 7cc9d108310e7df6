"""A library in, entries, ledger and ligands out: nothing lost, whatever the cut."""

import gzip
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.molecules.library.parsing import Library, parse, summary
from ligen_py.molecules.library.reading import WHOLE, Part
from ligen_py.molecules.ligands import one_state
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.ligands import past_limits
from ligen_py.settings.parse import AS_GIVEN, ParseSettings

SETTINGS = ParseSettings(**AS_GIVEN)
LINES = [
    "CCO ethanol",
    "OCC alcohol, again",
    "C1CC( broken",
    "CC(=O)Oc1ccccc1C(=O)[O-].[Na+] aspirin sodium",
    "[Cu] copper",
    "c1ccccc1CCN phenethylamine",
    "C" * 90 + " wax",
    "CC(=O)Oc1ccccc1C(=O)[O-].[K+] aspirin potassium",
]


@pytest.fixture
def library_file(tmp_path: Path) -> Path:
    path = tmp_path / "library.smi"
    path.write_text("\n".join(LINES) + "\n")
    return path


def equal(first: Any, second: Any) -> bool:
    return all(
        np.array_equal(getattr(first, spec.name), getattr(second, spec.name))
        for spec in fields(first)
    )


def test_every_record_has_one_row(library_file: Path) -> None:
    library = parse(library_file, WHOLE, SETTINGS, 2)
    assert library.entries.name.tolist() == [line.split(" ", 1)[1] for line in LINES]
    assert library.entries.line.tolist() == list(range(1, 9))
    ready, failed, duplicate = Status.READY, Status.FAILED, Status.DUPLICATE
    rejected = Status.REJECTED
    assert library.ledger.status.tolist() == [
        *(ready, duplicate, failed, ready, rejected, ready, rejected, duplicate)
    ]
    assert library.ledger.detail[7] == "same parent as aspirin sodium at line 4"
    assert library.ledger.detail[0] == ""
    assert library.ledger.reason[4] == Reason.UNSUPPORTED_ELEMENT
    assert library.ligands.entry.tolist() == [0, 3, 5]
    assert np.diff(library.ligands.first_atom).tolist() == [9, 20, 20]
    assert summary(library.ledger) == (
        "8 records: 3 ready, 2 rejected (1 too_many_atoms, 1 unsupported_element), "
        "1 failed (1 unparsable), 2 duplicate"
    )


def test_the_number_of_processes_changes_nothing(library_file: Path) -> None:
    one, three = (parse(library_file, WHOLE, SETTINGS, jobs) for jobs in (1, 3))
    for name in ("entries", "ledger", "ligands"):
        assert equal(getattr(one, name), getattr(three, name))


def test_a_shared_file_of_shapes_changes_nothing(library_file: Path, tmp_path: Path) -> None:
    shapes = tmp_path / "shapes.sqlite"
    alone = parse(library_file, WHOLE, SETTINGS, 1)
    for jobs in (2, 1):  # an empty file, then a full one
        shared = parse(library_file, WHOLE, SETTINGS, jobs, shapes=shapes)
        for name in ("entries", "ledger", "ligands"):
            assert equal(getattr(alone, name), getattr(shared, name))
    assert shapes.is_file()


def conformers(library: Library) -> dict[str, bytes]:
    ligands = library.ligands
    return {
        library.entries.key[entry]: ligands.xyz[first:last].tobytes()
        for entry, first, last in zip(
            ligands.entry, ligands.first_atom, ligands.first_atom[1:], strict=False
        )
    }


def test_parts_give_the_ligands_of_the_whole(library_file: Path) -> None:
    whole = parse(library_file, WHOLE, SETTINGS, 1)
    parts = [parse(library_file, Part(k, 3), SETTINGS, 1) for k in (1, 2, 3)]
    names = [name for part in parts for name in part.entries.name]
    assert names == whole.entries.name.tolist()
    assert [line for part in parts for line in part.entries.line] == list(range(1, 9))
    together: dict[str, bytes] = {}
    for part in parts:
        together |= conformers(part)
    assert together == conformers(whole)


def test_a_failed_record_has_no_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "a.smi"
    path.write_text("[Cu] one\n[Cu] two\nC three\n")
    reasons = parse(path, WHOLE, SETTINGS, 1).ledger.reason.tolist()
    assert reasons == [Reason.UNSUPPORTED_ELEMENT, Reason.UNSUPPORTED_ELEMENT, Reason.NONE]


def test_a_molecule_without_end_costs_only_itself(
    library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(bare: Any, near: Any, *arguments: Any) -> Any:
        while len(near) == 20:
            pass
        return assemble(bare, near, *arguments)

    assemble = one_state.assemble
    monkeypatch.setattr(one_state, "assemble", endless)
    library = parse(library_file, WHOLE, SETTINGS.model_copy(update={"time_limit": 1.0}), 1)
    timed_out = library.ledger.reason == Reason.TIMED_OUT
    assert library.entries.line[timed_out].tolist() == [4, 6, 8]
    assert set(library.ledger.detail[timed_out]) == {"not finished in 1 s of processor time"}
    assert past_limits(library.entries, library.ledger).tolist() == timed_out.tolist()
    assert library.ligands.entry.tolist() == [0]


def test_a_molecule_of_too_many_states_is_docked_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: Any) -> Any:
        while arguments[4] > 1:  # its limit
            pass
        return assemble(*arguments)

    assemble = one_state.assemble
    monkeypatch.setattr(one_state, "assemble", slow)
    path = tmp_path / "a.smi"
    path.write_text("CC(O)C1CCCCCCCCC1 ring\nCC(O)F plain\n")
    settings = SETTINGS.model_copy(
        update={"time_limit": 1.0, "stereoisomers": 4, "macrocycle_conformers": 4}
    )
    library = parse(path, WHOLE, settings, 1)
    assert library.ligands.entry.tolist() == [0, 1, 1]
    assert library.entries.note[0].startswith(
        "in one state and conformer: all of them passed a limit, or crashed their worker; macro"
    )
    assert not library.entries.note[1]
    assert past_limits(library.entries, library.ledger).tolist() == [True, False]


def test_a_molecule_without_measure_costs_only_itself(
    library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(bare: Any, near: Any, *arguments: Any) -> Any:
        # one block that no worker finds among the freed memory of the process it was forked from
        hoard = bytes(1 << 30 if len(near) == 20 else 1 << 20)
        found = assemble(bare, near, *arguments)
        assert hoard
        return found

    assemble = one_state.assemble
    monkeypatch.setattr(one_state, "assemble", greedy)
    library = parse(library_file, WHOLE, SETTINGS.model_copy(update={"memory_limit": 150}), 1)
    swollen = library.ledger.reason == Reason.OUT_OF_MEMORY
    assert library.entries.line[swollen].tolist() == [4, 6, 8]
    assert set(library.ledger.detail[swollen]) == {"needs more than 150 MiB of memory"}
    assert library.ligands.entry.tolist() == [0]


def test_a_library_of_only_bad_lines_is_an_error_but_a_part_is_not(tmp_path: Path) -> None:
    path = tmp_path / "bad.smi"
    path.write_text("# nothing\nxyz one\n[Cu] two\nzyx three\n")
    with pytest.raises(InputError) as caught:
        parse(path, WHOLE, SETTINGS, 1)
    message = str(caught.value)
    assert message.startswith(f"{path}: no record can be docked; 3 records: 1 rejected")
    assert "(1 unsupported_element), 2 failed (2 unparsable)" in message
    assert "first, line 2: SMILES Parse Error" in message
    part = parse(path, Part(1, 2), SETTINGS, 1)
    assert len(part.entries.line)
    assert not len(part.ligands.entry)
    assert part.ligands.xyz.shape == (0, 3)


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_an_empty_library_is_an_error_in_every_part(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.smi"
    path.write_text(content)
    for part in (WHOLE, Part(2, 3)):
        with pytest.raises(InputError, match=r"empty\.smi: contains no molecules"):
            parse(path, part, SETTINGS, 1)


@pytest.mark.parametrize("head", [" @<TRIPOS>MOLECULE", "@<tripos>MOLECULE"])
def test_a_mol2_file_whose_heads_are_not_at_the_beginnings_of_lines_says_so(
    tmp_path: Path, head: str
) -> None:
    path = tmp_path / "a.mol2.gz"
    path.write_bytes(gzip.compress(f"{head}\nx\n1 0\n".encode()))
    with pytest.raises(InputError, match=r"no molecules, as no line starts with @<TRIPOS>MOLECULE"):
        parse(path, WHOLE, SETTINGS, 1)


def test_more_parts_than_records(tmp_path: Path) -> None:
    path = tmp_path / "few.smi"
    path.write_text("C a\n")
    sizes = [len(parse(path, Part(k, 9), SETTINGS, 1).entries.line) for k in range(1, 10)]
    assert sorted(sizes) == [0] * 8 + [1]
