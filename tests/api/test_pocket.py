"""Pockets from Python: five ways to say where, and what is wrong in a sentence."""

import math
import warnings
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py.api import InputError, Pocket, dock
from ligen_py.molecules.receptor.site import read_heavy_atoms
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.store.files.read import read
from tests.api.conftest import FAST, PROTEIN, REFERENCE

MOLECULE = Chem.MolFromMolFile(str(REFERENCE))

NO_NAMES = ("a/b", "", "..", "a b", "x" * 57, 3)


def box(pocket: Pocket) -> tuple[list[float], float]:
    field: GeometricField = read(pocket.file, POCKET, GeometricField)
    half = field.spacing[0] * (field.value.shape[0] - 1) / 2
    return (field.origin + half).tolist(), float(half)


def test_sites_are_where_they_are_said_to_be(pocket: Pocket) -> None:
    centre = read_heavy_atoms(REFERENCE).mean(axis=0).tolist()
    assert box(pocket)[0] == pytest.approx(centre, abs=1e-3)
    mol = Chem.MolFromMolFile(str(REFERENCE))
    as_molecule = Pocket.from_pdb(PROTEIN, site=mol, chains=["B"], radius=8)
    assert box(as_molecule)[0] == pytest.approx(box(pocket)[0], abs=1e-3)
    at_point = Pocket.from_pdb(PROTEIN, center=centre, size=16, chains="B")
    assert box(at_point)[1] == pytest.approx(box(pocket)[1])
    assert as_molecule.reference is not None
    assert at_point.reference is None


def test_a_pocket_takes_its_folder_with_it_without_a_word() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pocket = Pocket.from_pdb(PROTEIN, center=(36.3, 18.6, 13.6), chains="B", radius=8)
        folder = pocket.file.parent
        del pocket
    assert not folder.exists()
    assert not [one for one in said if one.category is ResourceWarning]


def test_a_residue_that_gives_the_site_is_a_file_for_the_eye(
    pocket: Pocket, tmp_path: Path
) -> None:
    """It is shown beside the hits, and RDKit makes of it and its SMILES what can be redocked."""
    holo = tmp_path / "holo.pdb"
    mol = Chem.MolFromMolFile(str(REFERENCE))
    ligand = Chem.MolToPDBBlock(mol, flavor=8).replace("UNL     1", "TQ3 B 194")
    holo.write_text(PROTEIN.read_text().partition("\nEND")[0] + "\n" + ligand)
    named = Pocket.from_pdb(holo, site="B/TQ3/194", chains="B", radius=8)
    assert named.reference is not None
    here, there = (
        sorted(map(tuple, read_heavy_atoms(file))) for file in (named.reference, REFERENCE)
    )
    assert np.array(here) == pytest.approx(np.array(there), abs=1e-3)
    assert " TQ3 B 194 " in named.reference.read_text()
    made = AllChem.AssignBondOrdersFromTemplate(mol, Chem.MolFromPDBFile(str(named.reference)))
    assert Chem.MolToSmiles(made) == Chem.MolToSmiles(mol)
    with pytest.raises(InputError, match=r"redock: .*give its SDF, MOL or MOL2 file"):
        dock(named, "CCO", settings=FAST, redock=True)
    dock(named, "CCO", settings=FAST, folder=tmp_path / "out")
    assert (tmp_path / "out/hits-reference.pdb").read_bytes() == named.reference.read_bytes()
    assert 'data-do="reference"' in (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "hits-reference.pdb" in (tmp_path / "out/hits.pml").read_text()


def test_numbers_may_be_numpys_and_a_residue_may_be_one_text() -> None:
    centre = read_heavy_atoms(REFERENCE).mean(axis=0)
    for size in (np.int64(16), np.float32(16), np.full(3, 16)):
        made = Pocket.from_pdb(PROTEIN, center=centre, size=size, chains="B")
        assert box(made) == (pytest.approx(centre.tolist(), abs=1e-3), pytest.approx(8))
    one, listed = (
        Pocket.from_pdb(PROTEIN, residues=given, radius=8, chains="B")
        for given in ("B/ASP/38", ["B/ASP/38"])
    )
    assert box(one) == box(listed)


def test_an_autobox_contains_its_ligand_with_the_margin() -> None:
    xyz = read_heavy_atoms(REFERENCE)
    centre, half = box(Pocket.from_pdb(PROTEIN, autobox=REFERENCE, margin=3, chains="B"))
    reach = float(abs(xyz - xyz.mean(axis=0)).max())
    assert centre == pytest.approx(xyz.mean(axis=0).tolist(), abs=0.5)  # a step of the grid
    assert half == pytest.approx(reach + 3, abs=0.5)
    with pytest.raises(InputError, match="give a smaller margin"):
        Pocket.from_pdb(PROTEIN, autobox=REFERENCE, margin=29)
    with pytest.raises(InputError, match="margin: give 0 or more, not 'x'"):
        Pocket.from_pdb(PROTEIN, autobox=REFERENCE, margin="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="receptor: give a structure file, not None"):
        Pocket.from_pdb(None, site=REFERENCE)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="margin: is around the ligand of autobox"):
        Pocket.from_pdb(PROTEIN, site=REFERENCE, margin=12)
    for given in ({"size": 25}, {"radius": 15}):
        with pytest.raises(InputError, match="autobox makes its own box; give margin"):
            Pocket.from_pdb(PROTEIN, autobox=REFERENCE, **given)


def test_a_pocket_outlives_its_files(tmp_path: Path) -> None:
    protein, ligand = tmp_path / "p.pdb", tmp_path / "l.sdf"
    protein.write_bytes(PROTEIN.read_bytes())
    ligand.write_bytes(REFERENCE.read_bytes())
    pocket = Pocket.from_pdb(protein, site=ligand, chains="B", radius=8)
    protein.unlink()
    ligand.unlink()
    assert len(dock(pocket, "CCO", settings=FAST)) == 1
    assert pocket.name == "p"
    assert repr(pocket).startswith("<Pocket p: ")
    assert any("reference" in line or "site" in line for line in pocket.audit)


def test_the_prepared_receptor_is_a_pdb_with_hydrogens(pocket: Pocket, tmp_path: Path) -> None:
    pocket.to_pdb(tmp_path / "receptor.pdb")
    [model] = gemmi.read_structure(str(tmp_path / "receptor.pdb"))
    assert [chain.name for chain in model] == ["B"]
    source = gemmi.read_structure(str(PROTEIN))[0]["B"]
    heavy = sum(a.element.name != "H" for residue in model["B"] for a in residue)
    waters = sum(len(residue) for residue in source if residue.is_water())
    assert heavy == sum(len(residue) for residue in source) - waters
    lysine = next(residue for residue in model["B"] if residue.name == "LYS" and "HZ1" in residue)
    assert {"HZ1", "HZ2", "HZ3", "H"} <= {atom.name for atom in lysine}
    assert {residue.name for residue in model["B"] if residue.het_flag == "H"} == {"NDP"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "say where to dock: give one of site, center, autobox, residues, cavity"),
        ({"site": REFERENCE, "center": (1, 2, 3)}, "not site and center"),
        ({"site": "nothing.sdf"}, "nothing.sdf: does not exist"),
        (
            {"site": "XYZ"},
            "is called XYZ; the hetero groups are A/NDP/193, .*/194; there is no file XYZ, either",
        ),
        ({"site": REFERENCE.read_text()}, "^site: give the file's name, not its text, 'TQ3.n "),
        ({"autobox": REFERENCE.read_text()}, "^autobox: give the file's name, not its text, 'TQ3"),
        ({"site": "C" * 5000}, "^site: give the file's name, not its text, 'C{40}' ...$"),
        ({"site": Chem.Mol()}, "^site: a molecule without atoms$"),
        ({"site": 5}, "^site: give a reference ligand, as a file or an RDKit molecule, not 5$"),
        ({"site": ""}, "^site: give a reference ligand, as a file or an RDKit molecule, not ''$"),
        ({"autobox": " "}, "^autobox: give a reference ligand, as a file or .*, not ' '$"),
        ({"autobox": MOLECULE, "margin": math.inf}, "^margin: give 0 or more, not inf: a finite"),
        ({"autobox": MOLECULE, "margin": 100}, "^autobox: the box around it would have sides of"),
        ({"site": Chem.MolFromSmiles("C")}, "site: the molecule has no 3-D coordinates"),
        ({"center": (100, 100, 100)}, "no receptor atom lies in the box"),
        ({"center": (1, 2)}, "give 3 numbers"),
        ({"center": 3}, "center: give three numbers, not 3"),
        ({"center": (1, 2, 3), "size": "big"}, "size: give three numbers, not 'big'"),
        ({"site": REFERENCE, "watr": "near"}, "unknown setting 'watr'; did you mean 'waters'"),
        ({"site": REFERENCE, "waters": "some"}, "key 'waters'"),
        ({"site": REFERENCE, "chains": "Z"}, "has no chain Z; its chains are A, B"),
        ({"cavity": 0}, "key 'cavity'"),
        *(({"site": REFERENCE, "name": name}, "^name: give letters, digits") for name in NO_NAMES),
    ],
)
def test_what_is_wrong_is_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        Pocket.from_pdb(PROTEIN, **given)
    assert "ligen-" not in str(caught.value)


def test_a_receptor_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.pdb: does not exist"):
        Pocket.from_pdb(tmp_path / "gone.pdb", center=(0, 0, 0))
    for text in (PROTEIN.read_text(), "ATOM\nATOM\n", "a\0.pdb", "a" * 300):
        with pytest.raises(InputError, match=r"^receptor: give the file's name, not its text, '"):
            Pocket.from_pdb(text, center=(0, 0, 0))
    with pytest.raises(InputError, match="contains no atoms"):
        Pocket.from_pdb(REFERENCE, center=(0, 0, 0))
