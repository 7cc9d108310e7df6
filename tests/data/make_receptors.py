"""Receptors by PDB2PQR with PROPKA, then Meeko: hydrogens, states, AutoDock types, charges.

    .venv/bin/python tests/data/make_receptors.py

Writes states.tsv (each titratable residue's pKa and protons) and pocket_<code>.tsv (the atoms of
all residues with an atom within 9 A of the crystal ligand). The amino acids of the complexes inside
posebusters go through PDB2PQR at pH 7.4; hydrogens on carbon, which AutoDock merges, are taken
off, and Meeko types and charges the rest.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import gemmi
import numpy as np
from meeko import MoleculePreparation, PDBQTWriterLegacy, Polymer, ResidueChemTemplates
from sources import COMPLEXES, amino_acids, header, ligand, write_table

NEAR = 9.0
FLAGS = ["--ff=PARSE", "--titration-state-method=propka", "--with-ph=7.4", "--keep-chain"]
TITRATED = {"ASP", "GLU", "HIS", "CYS", "TYR", "LYS", "ARG"}


def pdb2pqr(name: str) -> tuple[gemmi.Structure, str]:
    """The structure with hydrogens, and what the program logged."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "in.pdb", Path(folder) / "out.pdb"
        amino_acids(name).write_pdb(str(given))
        command = [sys.executable, "-m", "pdb2pqr", *FLAGS, "--nodebump", f"--pdb-output={result}"]
        done = subprocess.run(
            [*command, str(given), str(Path(folder) / "out.pqr")],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return gemmi.read_pdb(str(result)), done.stderr


def merge_hydrogens(structure: gemmi.Structure) -> None:
    """Take hydrogens on carbon off."""
    for chain in structure[0]:
        for residue in chain:
            heavy = [atom for atom in residue if atom.element.atomic_number > 1]
            xyz = np.array([atom.pos.tolist() for atom in heavy])
            for number in reversed(range(len(residue))):
                atom = residue[number]
                if atom.element.atomic_number > 1:
                    continue
                parent = np.linalg.norm(xyz - atom.pos.tolist(), axis=1).argmin()
                if heavy[parent].element.name == "C":
                    del residue[number]


def meeko(structure: gemmi.Structure) -> list[str]:
    """Lines of PDBQT; residues that RDKit cannot build from their distances are left out."""
    while True:
        try:
            polymer = Polymer.from_pdb_string(
                structure.make_pdb_string(),
                ResidueChemTemplates.create_from_defaults(),
                MoleculePreparation(),
            )
            break
        except RuntimeError as error:
            (chain, number) = re.search(r"key (\w+):(\d+)", str(error)).groups()  # type: ignore[union-attr]
            residues = structure[0][chain]
            (place,) = [i for i, each in enumerate(residues) if str(each.seqid) == number]
            del residues[place]
            print(f"left out: {chain}/{number}")
    rigid, _ = PDBQTWriterLegacy.write_from_polymer(polymer)
    return [line for line in rigid.splitlines() if line.startswith("ATOM")]


def pocket_rows(lines: list[str], centre: np.ndarray) -> list[tuple]:
    """Atoms of the residues near a ligand (atoms, 3)."""
    atoms = [
        (
            (line[21], line[17:20].strip(), int(line[22:26])),
            line[12:16].strip(),
            [float(line[first : first + 8]) for first in (30, 38, 46)],
            float(line[68:76]),
            line[77:].strip(),
        )
        for line in lines
    ]
    near = {
        residue
        for residue, _, place, _, _ in atoms
        if np.linalg.norm(centre - place, axis=1).min() < NEAR
    }
    return [
        (*residue, name, *(f"{value:.3f}" for value in place), f"{charge:.3f}", kind)
        for residue, name, place, charge, kind in atoms
        if residue in near
    ]


def state_rows(name: str, structure: gemmi.Structure, log: str, centre: np.ndarray) -> list[tuple]:
    """Titratable residues: pKa, protons of the side chain, distance from the ligand."""
    found = re.findall(r"^ +([A-Z]{3}) +(\d+) (\w) +(-?\d+\.\d+) +\d+\.\d+ *$", log, re.MULTILINE)
    pka = {(chain, int(number)): value for _, number, chain, value in found}
    rows = []
    for chain in structure[0]:
        for residue in chain:
            if residue.name not in TITRATED:
                continue
            heavy = [atom for atom in residue if atom.element.atomic_number > 1]
            protons = {
                atom.name: 0
                for atom in heavy
                if atom.element.name in "NOS" and atom.name not in ("N", "O", "OXT")
            }
            for atom in residue:
                parent = min(heavy, key=lambda other, atom=atom: other.pos.dist(atom.pos))
                if atom.element.atomic_number == 1 and parent.name in protons:
                    protons[parent.name] += 1
            far = min(np.linalg.norm(centre - atom.pos.tolist(), axis=1).min() for atom in residue)
            counts = " ".join(f"{atom}:{count}" for atom, count in sorted(protons.items()))
            key = (chain.name, residue.seqid.num)
            rows.append((name, *key, residue.name, pka.get(key, "-"), counts, f"{far:.1f}"))
    return rows


def main() -> None:
    """Write all tables."""
    head = header("make_receptors.py", "pdb2pqr", "propka", "meeko", "rdkit")
    states = []
    for name in COMPLEXES:
        mol = ligand(name)
        centre = mol.GetConformer().GetPositions()[: mol.GetNumHeavyAtoms()]
        structure, log = pdb2pqr(name)
        states += state_rows(name, structure, log, centre)
        merge_hydrogens(structure)
        rows = pocket_rows(meeko(structure), centre)
        write_table(f"pocket_{name}.tsv", head, "chain residue number atom x y z charge type", rows)
    columns = "complex chain number residue pka protons distance"
    write_table("states.tsv", head, columns, states)


if __name__ == "__main__":
    main()
