"""AutoDock Vina's own program on the same inputs: atoms, conformer, protonation, box.

The receptor is the pocket file's, heavy atoms and polar hydrogens with AutoDock types, as PDBQT;
the ligand is the parsed one with its start conformer, through Meeko, as Vina's users prepare it.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from meeko import MoleculePreparation, PDBQTMolecule, PDBQTWriterLegacy, RDKitMolCreate
from vina import Vina

from benchmarks.docking import Target
from ligen_py.molecules.export import posed
from ligen_py.molecules.stored import stored
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.ligands import Ligands

EXHAUSTIVENESS = 8
POSES = 9
SEED = 42

ELEMENTS = {Ad4Type.CL, Ad4Type.BR, Ad4Type.SI, Ad4Type.MG, Ad4Type.CA, Ad4Type.MN, Ad4Type.FE,
            Ad4Type.ZN}  # fmt: skip
"""Types that are written as elements are: Cl, not CL."""


@dataclass(frozen=True)
class PeerPoses:
    """What Vina found, best first."""

    molecule: np.ndarray
    """As ligands are stored, u1."""
    xyz: np.ndarray
    """(poses, atoms, 3), Angstrom."""
    affinity: np.ndarray
    """kcal/mol (poses,)."""


def receptor_pdbqt(target: Target) -> str:
    """The pocket's atoms as a rigid receptor."""
    lines = []
    charged = target.typed["ad4"]
    assert isinstance(charged, Ad4Receptor)
    for number, (xyz, kind, charge) in enumerate(
        zip(charged.xyz, charged.type, charged.partial_charge, strict=True), start=1
    ):
        name = Ad4Type(kind).name
        name = name.capitalize() if kind in ELEMENTS else name
        x, y, z = xyz
        lines.append(
            f"ATOM  {number % 100000:5d}  X   REC A   1    {x:8.3f}{y:8.3f}{z:8.3f}"
            f"  1.00  0.00    {charge:6.3f} {name:<2}"
        )
    return "\n".join(lines) + "\n"


def ligand_pdbqt(molecule: np.ndarray, xyz: np.ndarray) -> str:
    """A parsed ligand (as it is stored, u1) with its start conformer (atoms, 3)."""
    setup = MoleculePreparation().prepare(posed(molecule, xyz, {}))[0]
    text, is_ok, words = PDBQTWriterLegacy.write_string(setup)
    if not is_ok:
        raise ValueError(f"Meeko: {words}")
    return text


def receptor_digest(target: Target) -> str:
    """Digest of what decides all that Vina finds in a target, but for the ligand."""
    center, sides = (place.tolist() for place in target.box)
    words = f"{receptor_pdbqt(target)} {center} {sides} {EXHAUSTIVENESS} {POSES} {SEED}"
    return hashlib.sha256(words.encode()).hexdigest()


def digest(receptor: str, ligands: Ligands, row: int) -> str:
    """Digest of what decides what Vina finds of a ligand; `receptor` is a `receptor_digest`."""
    atoms = slice(*ligands.first_atom[row : row + 2])
    content = slice(*ligands.first_byte[row : row + 2])
    found = hashlib.sha256(receptor.encode())
    found.update(ligands.molecule[content].tobytes() + ligands.xyz[atoms].tobytes())
    return found.hexdigest()[:16]


class VinaPeer:
    """Vina on one target: maps are computed once, for the types of every ligand."""

    def __init__(self, target: Target, work: Path, cores: int) -> None:
        """`work` is a folder for the receptor's file."""
        receptor = work / "receptor.pdbqt"
        receptor.write_text(receptor_pdbqt(target))
        self._vina = Vina(sf_name="vina", cpu=cores, seed=SEED, verbosity=0)
        self._vina.set_receptor(str(receptor))
        center, sides = target.box
        self._vina.compute_vina_maps(center=center.tolist(), box_size=sides.tolist())

    def dock(self, ligands: Ligands, row: int) -> PeerPoses:
        """Dock one ligand; ValueError or RuntimeError where Meeko or Vina cannot."""
        atoms, content = (
            slice(*offsets[row : row + 2]) for offsets in (ligands.first_atom, ligands.first_byte)
        )
        self._vina.set_ligand_from_string(
            ligand_pdbqt(ligands.molecule[content], ligands.xyz[atoms])
        )
        self._vina.dock(exhaustiveness=EXHAUSTIVENESS, n_poses=POSES)
        text = self._vina.poses(n_poses=POSES, energy_range=100.0)
        found = PDBQTMolecule(text, is_dlg=False, skip_typing=True)
        mol = RDKitMolCreate.from_pdbqt_mol(found)[0]
        places = [conformer.GetPositions() for conformer in mol.GetConformers()]
        energies = self._vina.energies(n_poses=POSES, energy_range=100.0)
        return PeerPoses(stored(mol), np.array(places), energies[:, 0].copy())
