"""Compare X-Score's HPScore and its terms with values published for X-Score v1.3 itself.

    python benchmarks/xscore_parity.py FOLDER

FOLDER contains complexes as PDBbind provides them: ID/ID_protein.pdb and ID/ID_ligand.mol2 (or
.sdf). PDBbind may not be redistributed, so its files are not included; the published values are.
Each complex is scored in its crystal pose by the NumPy twin, every term compared to 1e-4 + 1e-4 *
|published|. HMScore and its term HM are not compared: no published values were found. Exit code 0
when all complexes agree, 1 when one does not or its files are missing.
"""

import argparse
import sys
from pathlib import Path

import gemmi
import numpy as np
from rdkit import Chem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.engine.functions.xscore.reference import CUTOFF, Molecule, terms
from ligen_py.molecules.elements import COVALENT_RADIUS
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.xscore_ligands import ligand_types
from ligen_py.molecules.typing.xscore_residues import receptor_type
from ligen_py.records.functions.xscore import XScoreReceptor

PUBLISHED = {
    "1fkb": {"vdw": 743.016174, "hb": 4.480846, "hp": 124.423042, "rt": 6.0, "hpscore": 7.408838},
    "1hii": {"vdw": 899.513000, "hb": 5.551749, "hp": 158.416290, "rt": 11.0, "hpscore": 8.093594},
    "5cst": {"vdw": 532.127258, "hb": 5.704509, "hp": 7.525570, "rt": 5.0, "hpscore": 5.640283},
    "1c5z": {"vdw": 296.540863, "hb": 2.881724, "hp": 23.152367, "rt": 0.0, "hpscore": 4.991148},
}
"""HPScore of X-Score v1.3 and its terms on the crystal poses of PDBbind."""

TOLERANCE = 1e-4
BOND_TOLERANCE = 0.4


def read_ligand(folder: Path, name: str) -> Molecule:
    """The ligand in its crystal pose; ValueError where RDKit cannot read it."""
    mol = None
    for path in (folder / f"{name}_ligand.mol2", folder / f"{name}_ligand.sdf"):
        if mol is None and path.is_file():
            reader = Chem.MolFromMol2File if path.suffix == ".mol2" else Chem.MolFromMolFile
            mol = reader(str(path), removeHs=False)
    if mol is None:
        raise ValueError("RDKit cannot read the ligand")
    mol = Chem.AddHs(mol, addCoords=True)
    found = ligand_types(Graph.of(mol))
    return Molecule(
        xyz=mol.GetConformer().GetPositions().astype("f4"),
        element=np.array([atom.GetAtomicNum() for atom in mol.GetAtoms()], "u1"),
        radius=found.radius,
        interaction=found.interaction,
        donor=found.donor,
        acceptor=found.acceptor,
        logp=found.logp,
        hydrogens=found.hydrogens,
        bond=np.array(
            [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()], "u1"
        ).reshape(-1, 2),
        rotors=float(found.rotors.sum()),
    )


def read_receptor(path: Path, ligand: Molecule) -> XScoreReceptor:
    """Heavy protein atoms and ions around the ligand, typed by name, with their roots."""
    model = gemmi.read_structure(str(path))[0]
    near = float(CUTOFF) + 3.0
    rows = []
    for chain in model:
        for residue in chain:
            for atom in residue:
                place = np.array(atom.pos.tolist())
                kind = receptor_type(residue.name, atom.name, atom.element.name)
                close = np.linalg.norm(ligand.xyz - place, axis=1).min() < near
                if kind.radius > 0 and close and atom.altloc in ("\0", "A"):
                    label = f"{chain.name}/{residue.name}/{residue.seqid}/{atom.name}"
                    rows.append((place, atom.element, kind, label))
    places, elements, kinds, labels = zip(*rows, strict=True)
    xyz = np.array(places)
    root, rooted = roots(xyz, [element.name.upper() for element in elements])
    radius, interaction, logp, donor, acceptor = zip(*kinds, strict=True)
    return XScoreReceptor(
        xyz=xyz.astype("f4"),
        element=np.array([element.atomic_number for element in elements], "u1"),
        radius=np.array(radius, "f4"),
        interaction=np.array(interaction, "u1"),
        logp=np.array(logp, "f4"),
        donor=np.array(donor, "u1"),
        acceptor=np.array(acceptor, "u1"),
        root=root,
        rooted=rooted,
        residue=np.zeros(len(rows), "i4"),
        label=np.array(labels, object),
    )


def roots(xyz: np.ndarray, elements: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Mean positions (atoms, 3) of the bonded atoms, and which atoms (atoms,) have any."""
    size = np.array([COVALENT_RADIUS.get(element, -9.0) for element in elements])
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=-1)
    bonded = distance < size[:, None] + size + BOND_TOLERANCE
    np.fill_diagonal(bonded, False)
    count = bonded.sum(axis=1)
    root = bonded @ xyz / np.maximum(count, 1)[:, None]
    return np.where(count[:, None] > 0, root, xyz).astype("f4"), (count > 0).astype("u1")


def missing_files(folder: Path, name: str) -> list[str]:
    """What of a complex is not in the folder."""
    ligands = [f"{name}/{name}_ligand.mol2", f"{name}/{name}_ligand.sdf"]
    missing = [] if any((folder / path).is_file() for path in ligands) else [ligands[0]]
    protein = f"{name}/{name}_protein.pdb"
    return missing if (folder / protein).is_file() else [protein, *missing]


def compare(folder: Path, name: str) -> bool:
    """Print one line a term; whether all of them agree."""
    missing = missing_files(folder, name)
    if missing:
        print(f"{name}  missing in {folder}: {', '.join(missing)}")
        return False
    try:
        ligand = read_ligand(folder / name, name)
    except ValueError as error:
        print(f"{name}  {error}")
        return False
    found = terms(ligand, read_receptor(folder / name / f"{name}_protein.pdb", ligand))
    good = True
    for term, published in PUBLISHED[name].items():
        agrees = abs(found[term] - published) <= TOLERANCE + TOLERANCE * abs(published)
        good &= agrees
        verdict = "agrees" if agrees else "DIFFERS"
        print(f"{name}  {term:7s}  {found[term]:12.6f}  published {published:12.6f}  {verdict}")
    return good


def main() -> int:
    """Run from a command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of PDBbind complexes")
    folder = parser.parse_args().folder
    results = [compare(folder, name) for name in PUBLISHED]
    print(f"{sum(results)} of {len(results)} complexes agree")
    return 0 if all(results) else 1


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
