"""Structures, reference ligands, campaigns and result files of any content, read without harm."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gemmi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from ligen_py.errors import InputError
from ligen_py.molecules.library.parsing import assemble
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.molecules.receptor.site import read_heavy_atoms
from ligen_py.molecules.receptor.structure import read_atoms
from ligen_py.provenance import Run
from ligen_py.records.ligands import LIGANDS
from ligen_py.settings.parse import ParseSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.write import write
from tests.config_file import settings_in
from tests.fuzz.damage import alone, damaged, fuzz
from tests.fuzz.test_libraries import MOL2, SETTINGS
from tests.placed import started
from tests.stages.factory import prepared

PDB = b"""\
ATOM      1  N   ALA A   1       1.500   0.000   0.000  1.00 10.00           N
ATOM      2  CA AALA A   1       3.000   0.000   0.000  0.50 10.00           C
ATOM      3  CA BALA A   1       3.000   0.200   0.000  0.50 10.00           C
ATOM      4  C   ALA A   1       4.500   0.000   0.000  1.00 10.00           C
ATOM      5  N   SER B   2       6.000   0.000   0.000  1.00 10.00           N
HETATM    6 ZN    ZN A   9       1.000   2.000   3.000  1.00 10.00          ZN
END
"""
CIF = gemmi.read_pdb_string(PDB.decode()).make_mmcif_document().as_string().encode()
CONFIG = b"""# a campaign
targets:
  one: {receptor: r.pdb, chains: [A], site: {center: [1.0, 2, 3e0], radius: 10}}
libraries:
  lib: {file: "l.smi", columns: [price], smiles_column: 2}
dock: {num_restart: 64}
score: {functions: [vina]}
"""


STRUCTURES = [("a.pdb", PDB), ("a.cif", CIF)]
LIGAND = Chem.MolToMolBlock(started(prepared("OC(=O)c1ccccc1").states[0].shape)).encode()
LIGANDS_OF_SITES = [("a.sdf", LIGAND), ("a.mol2", MOL2), ("a.pdb", PDB)]


def refusal(function: Callable[[Path], Any], content: bytes, name: str) -> str:
    """Why a file of this content is refused, '' if it is read; any other error is raised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            function(path)
        except InputError as error:
            return str(error)
    return ""


@pytest.mark.parametrize(("name", "seed"), STRUCTURES)
@fuzz
@given(data=st.data())
def test_structures(name: str, seed: bytes, data: st.DataObject) -> None:
    said = alone(refusal, read_atoms, data.draw(damaged(seed)), name)
    assert not said or name in said


@pytest.mark.parametrize(("name", "seed"), LIGANDS_OF_SITES)
@fuzz
@given(data=st.data())
def test_reference_ligands(name: str, seed: bytes, data: st.DataObject) -> None:
    said = alone(refusal, read_heavy_atoms, data.draw(damaged(seed)), name)
    assert not said or name in said


@fuzz
@given(content=damaged(CONFIG))
def test_campaigns(content: bytes) -> None:
    said = alone(refusal, settings_in, content, "c.yaml")
    assert not said or "c.yaml" in said


def ligands_file() -> bytes:
    """A small ligands file."""
    made = [Record(i, f"m{i}", smiles) for i, smiles in enumerate(("CCO", "CC(", "c1ccccc1"), 1)]
    library = assemble((record, prepare(record, SETTINGS)) for record in made)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "l.h5"
        write(path, LIGANDS, Run("parse", ParseSettings()), library.groups)
        return path.read_bytes()


LIGANDS_FILE = ligands_file()


def read_groups(path: Path) -> None:
    for record in LIGANDS.groups.values():
        read(path, LIGANDS, record)


@fuzz
@given(content=damaged(LIGANDS_FILE))
def test_result_files(content: bytes) -> None:
    said = alone(refusal, read_groups, content, "l.h5")
    assert not said or "l.h5" in said


WHOLE = [
    *((read_atoms, *file) for file in STRUCTURES),
    *((read_heavy_atoms, *file) for file in LIGANDS_OF_SITES),
    (settings_in, "c.yaml", CONFIG),
    (read_groups, "l.h5", LIGANDS_FILE),
]


@pytest.mark.parametrize(("function", "name", "content"), WHOLE)
def test_what_is_damaged_above_is_read_whole_and_refused_where_empty(
    function: Callable[[Path], Any], name: str, content: bytes
) -> None:
    """Otherwise a reader that refuses everything, or nothing, would pass."""
    assert refusal(function, content, name) == ""
    assert name in refusal(function, b"", name)
