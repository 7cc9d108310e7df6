"""Interactions of crystal ligands by ProLIF, residue by residue.

    python tests/data/make_prolif.py [FOLDER ...]

ProLIF is not among the pinned requirements: run this in an environment that has prolif, pdb2pqr,
gemmi and posebusters. Writes prolif.tsv, one row a complex, residue and kind: of the complexes
inside posebusters, and of folders NAME/protein.pdb with NAME/ligand.sdf beneath FOLDER. The amino
acids get hydrogens from PDB2PQR at pH 7.4, as in make_receptors.py; ligands from RDKit.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import gemmi
import numpy as np
import prolif
from rdkit import Chem
from sources import COMPLEXES, amino_acids, header, ligand, write_table

FLAGS = ["--ff=PARSE", "--titration-state-method=propka", "--with-ph=7.4", "--keep-chain"]

KINDS = {
    "HBDonor": "hydrogen bond",
    "HBAcceptor": "hydrogen bond",
    "Cationic": "salt bridge",
    "Anionic": "salt bridge",
    "CationPi": "cation-pi",
    "PiCation": "cation-pi",
    "PiStacking": "pi stacking",
    "XBDonor": "halogen bond",
    "Hydrophobic": "hydrophobic",
}
"""ProLIF's interactions that are compared, by our names."""


NEAR = 10.0
"""Residues farther from the ligand (Angstrom) are left out: they interact with nothing."""


def protonated(structure: gemmi.Structure, mol: Chem.Mol) -> Chem.Mol:
    """Amino acids near a ligand, with hydrogens."""
    xyz = mol.GetConformer().GetPositions()
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "in.pdb", Path(folder) / "out.pdb"
        structure.write_pdb(str(given))
        command = [sys.executable, "-m", "pdb2pqr", *FLAGS, "--nodebump", f"--pdb-output={result}"]
        subprocess.run(
            [*command, str(given), str(Path(folder) / "out.pqr")], capture_output=True, check=True
        )
        full = gemmi.read_pdb(str(result))
    for chain in full[0]:
        for number in reversed(range(len(chain))):
            places = np.array([atom.pos.tolist() for atom in chain[number]])
            if np.linalg.norm(places[:, None] - xyz, axis=2).min() > NEAR:
                del chain[number]
    return Chem.MolFromPDBBlock(full.make_pdb_string(), removeHs=False)


def interactions(protein: Chem.Mol, mol: Chem.Mol) -> list[tuple[str, str]]:
    """Residue and kind of every interaction."""
    found = prolif.Fingerprint(list(KINDS)).generate(
        prolif.Molecule.from_rdkit(mol), prolif.Molecule.from_rdkit(protein), metadata=True
    )
    return sorted(
        {
            (f"{other.name}{other.number} {other.chain or ''}".strip(), KINDS[kind])
            for (_, other), kinds in found.items()
            for kind in kinds
        }
    )


def complexes(folders: list[str]) -> list[tuple[str, gemmi.Structure, Chem.Mol]]:
    """Name, amino acids and ligand of every complex."""
    every = [(name, amino_acids(name), ligand(name)) for name in COMPLEXES]
    for file in sorted(path for folder in folders for path in Path(folder).glob("*/protein.pdb")):
        structure = gemmi.read_pdb(str(file))
        for chain in structure[0]:
            for number in reversed(range(len(chain))):
                if not gemmi.find_tabulated_residue(chain[number].name).is_amino_acid():
                    del chain[number]
        mol = Chem.MolFromMolFile(str(file.with_name("ligand.sdf")))
        every.append((file.parent.name, structure, Chem.AddHs(mol, addCoords=True)))
    return every


def main() -> None:
    """Write the table."""
    rows = []
    for name, structure, mol in complexes(sys.argv[1:]):
        protein = protonated(structure, mol)
        if protein is None:
            print(f"left out: {name}: RDKit does not read the protein")
            continue
        rows += [(name, *row) for row in interactions(protein, mol)]
    head = header("make_prolif.py", "prolif", "pdb2pqr", "rdkit")
    write_table("prolif.tsv", head, "complex residue kind", rows)


if __name__ == "__main__":
    main()
