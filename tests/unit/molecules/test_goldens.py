"""RMSDs with symmetry against spyrmsd, properties and counts against RDKit and gemmi."""

from collections import Counter
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Geometry import Point3D

from ligen_py.molecules.export import symmetric_rmsd
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.library.reading import records
from ligen_py.molecules.ligands.filters import PROPERTIES
from ligen_py.molecules.receptor.site import read_heavy_atoms
from ligen_py.molecules.receptor.structure import read_atoms
from ligen_py.molecules.stored import stored
from tests import goldens

MOLECULES = goldens.document("rmsd.json")["molecules"]
DRUGS = goldens.rows("properties.tsv")
FILES = {row["file"] for row in goldens.rows("counts.tsv")}
DEMO = Path(__file__).parents[3] / "config" / "demo"


def placed(smiles: str, xyz: np.ndarray) -> Chem.Mol:
    mol = Chem.MolFromSmiles(smiles)
    conformer = Chem.Conformer(mol.GetNumAtoms())
    for i, place in enumerate(xyz):
        conformer.SetAtomPosition(i, Point3D(*place))
    mol.AddConformer(conformer)
    return mol


@pytest.mark.parametrize("name", MOLECULES)
def test_rmsd_is_that_of_spyrmsd(tmp_path: Path, name: str) -> None:
    known = MOLECULES[name]
    reference = placed(known["smiles"], np.array(known["reference"]))
    order = np.random.default_rng(0).permutation(reference.GetNumAtoms()).tolist()
    crystal = tmp_path / "crystal.sdf"
    crystal.write_text(Chem.MolToMolBlock(Chem.RenumberAtoms(reference, order)) + "$$$$\n")
    binary = stored(reference)
    found = symmetric_rmsd(binary, np.array(known["poses"], "f4"), crystal)
    assert found == pytest.approx(known["rmsd"], abs=3e-4)


def test_these_molecules_have_many_symmetries() -> None:
    images = [known["images"] for known in MOLECULES.values()]
    assert max(images) > 1000
    assert all(
        min(known["rmsd"]) < min(known["plain"]) or known["images"] < 20
        for known in MOLECULES.values()
    )


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_of_drugs_are_those_of_rdkits_descriptors(name: str) -> None:
    found = [PROPERTIES[name](Chem.MolFromSmiles(row["smiles"])) for row in DRUGS]
    assert found == pytest.approx([float(row[name]) for row in DRUGS], abs=5.1e-3)


def test_graphs_of_drugs_have_rdkits_counts() -> None:
    for row in DRUGS:
        graph = Graph.of(Chem.AddHs(Chem.MolFromSmiles(row["smiles"])))
        heavy = graph.element > 1
        between = heavy[graph.bond].all(axis=1)
        sizes = Counter((graph.ring >= 0).sum(axis=1).tolist())
        found = {
            "heavy": heavy.sum(),
            "hydrogens": graph.hydrogens.sum(),
            "bonds": between.sum(),
            "aromatic": graph.aromatic.sum(),
            "cyclic": graph.cyclic.sum(),
            "five": sizes[5],
            "six": sizes[6],
        }
        assert {name: int(count) for name, count in found.items()} == {
            name: int(row[name]) for name in found
        }, row["name"]


@pytest.mark.parametrize("name", sorted(FILES))
def test_files_hold_what_others_count(name: str) -> None:
    known = {row["what"]: row["count"] for row in goldens.rows("counts.tsv") if row["file"] == name}
    if name == "drugs.smi":
        assert len(list(records(DEMO / name))) == int(known["records"])
        return
    pytest.importorskip("posebusters")
    path = Path(str(resources.files("posebusters"))) / "datasets" / "pdb" / name[:4] / name
    if name.endswith(".sdf"):
        assert len(list(records(path))) == int(known["records"])
        assert len(read_heavy_atoms(path)) == int(known["heavy"].split()[0])
        return
    atoms = read_atoms(path)
    assert len(atoms) == int(known["atoms"])
    assert len({place[:3] for place in atoms.place}) == int(known["residues"])
    assert sorted({place.chain for place in atoms.place}) == known["chains"].split()
    symbols = Counter(atoms.symbol.tolist())
    assert {symbol: int(count) for symbol, count in symbols.items()} == {
        symbol: int(count)
        for symbol, count in (part.split(":") for part in known["elements"].split())
    }
