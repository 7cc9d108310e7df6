"""Molecules of earlier parts, found by their keys."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.ledger import Status
from ligen_py.records.ligands import LIGANDS
from ligen_py.settings.parse import ParseSettings
from ligen_py.store.files.earlier import EarlierMolecules
from ligen_py.store.files.write import write
from tests.stages.factory import Molecule, library_of

FIRST, SECOND = "0123456789abcdef0000000000000001", "0123456789abcdef0000000000000002"
"""Alike in the half that is searched first."""


def part(path: Path, keys: Sequence[str], out: Sequence[int] = ()) -> Path:
    """A ligands file whose records have some keys; the records `out` are not ready."""
    made = library_of([Molecule(f"{path.stem}{i}", "C" * (i + 1), None) for i in range(len(keys))])
    status = made.ledger.status.copy()
    status[list(out)] = Status.REJECTED
    groups = {
        **made.groups,
        "entries": replace(made.entries, key=np.array(keys, object)),
        "ledger": replace(made.ledger, status=status),
    }
    write(path, LIGANDS, Run("parse", ParseSettings(), ()), groups)
    return path


def test_the_first_of_equal_keys_is_found_by_all_of_its_digits(tmp_path: Path) -> None:
    other = "f" * 32
    paths = [
        part(tmp_path / "a.h5", [other, FIRST]),
        part(tmp_path / "b.h5", [SECOND, FIRST]),
    ]
    earlier = EarlierMolecules(paths)
    assert len(earlier) == 4
    place = f"in part {tmp_path.name}"
    assert earlier.find(FIRST) == f"a1 at line 2, {place}/a"
    assert earlier.find(SECOND) == f"b0 at line 1, {place}/b"
    assert earlier.find(other) == f"a0 at line 1, {place}/a"
    assert earlier.find("0" * 32) is None
    assert earlier.find("0123456789abcdef" + "0" * 16) is None
    back = EarlierMolecules(paths[::-1])
    assert back.find(FIRST) == f"b1 at line 2, {place}/b"


def test_the_digest_is_that_of_what_was_found_and_where(tmp_path: Path) -> None:
    """So that a part whose molecules are not there stays as it is whatever else comes."""
    keys = (FIRST, SECOND)
    few = EarlierMolecules([part(tmp_path / "a.h5", [FIRST, SECOND])])
    more = EarlierMolecules([part(tmp_path / "a.h5", [FIRST, SECOND, "f" * 32])])
    assert few.find("0" * 32) is None
    assert not few.found
    for key in keys:
        few.find(key)
    assert list(few.found) == [*keys]
    for key in reversed(keys):
        more.find(key)
    assert few.sha256 == more.sha256
    more.find("f" * 32)
    assert few.sha256 != more.sha256
    moved = EarlierMolecules([part(tmp_path / "a.h5", ["f" * 32, FIRST, SECOND])])
    for key in keys:
        moved.find(key)
    assert few.sha256 != moved.sha256


def test_what_was_not_docked_there_is_no_earlier_molecule(tmp_path: Path) -> None:
    earlier = EarlierMolecules([part(tmp_path / "a.h5", [FIRST, SECOND], out=[0])])
    assert len(earlier) == 1
    assert earlier.find(FIRST) is None
    assert earlier.find(SECOND) is not None


def test_without_earlier_parts_nothing_is_found() -> None:
    earlier = EarlierMolecules([])
    assert not len(earlier)
    assert earlier.find(FIRST) is None


def test_a_key_that_is_none_is_damage(tmp_path: Path) -> None:
    path = part(tmp_path / "a.h5", ["no digits", SECOND])
    with pytest.raises(InputError, match=r"a\.h5: damaged.*ligen run CONFIG"):
        EarlierMolecules([path])
