"""Where to dock: a cube around a reference ligand or around a point."""

import logging
import math
from dataclasses import dataclass
from pathlib import Path

import gemmi
import numpy as np
from rdkit import Chem, rdBase

from ligen_py.errors import InputError
from ligen_py.molecules.structure import read_text

log = logging.getLogger("ligen_py")

MOST_ATOMS = 1024
"""A file with more heavy atoms than this is no ligand."""


@dataclass(frozen=True)
class Site:
    """A cubic box and, where there is one, the ligand that gave its centre."""

    center: tuple[float, float, float]
    """Centre of the box, Angstrom."""
    half_side: float
    """Half the box's side, Angstrom."""
    ligand: np.ndarray
    """Heavy atoms of the reference ligand (atoms, 3), Angstrom, float64; no rows without one."""
    source: str
    """Where the centre comes from, in words."""

    def distance(self, xyz: np.ndarray) -> np.ndarray:
        """Distances (atoms,) of positions (atoms, 3) from the box, 0 inside, Angstrom."""
        beyond = np.maximum(np.abs(xyz - np.array(self.center)) - self.half_side, 0)
        return np.sqrt((beyond**2).sum(axis=1))

    def __str__(self) -> str:
        x, y, z = self.center
        return f"the box around ({x:.2f}, {y:.2f}, {z:.2f}) with half side {self.half_side:g} A"


def site_at(center: tuple[float, float, float], half_side: float) -> Site:
    """A site at a point (Angstrom)."""
    return Site(center, half_side, np.empty((0, 3)), "given as a point")


def site_of_ligand(path: Path, half_side: float) -> Site:
    """A site at the heavy-atom centroid of a reference ligand (SDF, PDB or MOL2, plain or .gz).

    Raises InputError that names the file.
    """
    ligand = read_heavy_atoms(path)
    x, y, z = (math.fsum(column) / len(ligand) for column in ligand.T)
    source = f"centroid of the {len(ligand)} heavy atoms in {path.name}"
    site = Site((x, y, z), half_side, ligand, source)
    beyond = site.distance(ligand)
    if beyond.any():
        log.warning(
            "%s: %d of %d heavy atoms of the reference ligand lie outside the box, up to %.1f A; "
            "a half side of %.0f A would hold it",
            path,
            np.count_nonzero(beyond),
            len(beyond),
            beyond.max(),
            np.ceil(half_side + beyond.max()),
        )
    return site


def read_heavy_atoms(path: Path) -> np.ndarray:
    """Positions (atoms, 3) of the heavy atoms of a file's first molecule, Angstrom, float64."""
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    readers = {
        "sdf": _mol_file,
        "mol": _mol_file,
        "mol2": _mol2_file,
        "pdb": _pdb_file,
        "ent": _pdb_file,
    }
    if kind not in readers:
        raise InputError(f"{path}: not a reference ligand; give an SDF, PDB or MOL2 file")
    text = read_text(path)
    with rdBase.BlockLogs():
        xyz = readers[kind](text) if text.strip() else None
    if xyz is None:
        raise InputError(
            f"{path}: holds no readable molecule; check that it is a {kind.upper()} file"
        )
    if not len(xyz) or len(xyz) > MOST_ATOMS:
        raise InputError(f"{path}: has {len(xyz)} heavy atoms; give the reference ligand alone")
    if not np.isfinite(xyz).all() or (len(xyz) > 1 and not np.ptp(xyz, axis=0).any()):
        raise InputError(
            f"{path}: the reference ligand has no coordinates; give it as in the crystal"
        )
    if len(xyz) > 3 and not xyz[:, 2].any():
        raise InputError(f"{path}: the reference ligand is flat (2-D); give it as in the crystal")
    return xyz


def _heavy(mol: Chem.Mol | None) -> np.ndarray | None:
    if mol is None or not mol.GetNumConformers():
        return None
    heavy = [atom.GetIdx() for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1]
    return np.asarray(mol.GetConformer().GetPositions()[heavy], np.float64).reshape(-1, 3)


def _mol_file(text: str) -> np.ndarray | None:
    block, _, rest = text.partition("$$$$")
    if rest.strip():
        log.warning("the reference ligand's file holds several molecules; the first is used")
    return _heavy(Chem.MolFromMolBlock(block, sanitize=False, removeHs=False, strictParsing=False))


def _mol2_file(text: str) -> np.ndarray | None:
    return _heavy(Chem.MolFromMol2Block(text, sanitize=False, removeHs=False))


def _pdb_file(text: str) -> np.ndarray | None:
    """Heavy atoms but for waters, each once: the most occupied, then the first location."""
    try:
        structure = gemmi.read_pdb_string(text)
    except (RuntimeError, ValueError):
        return None
    places: dict[tuple[str, str, str], gemmi.Atom] = {}
    for chain in structure[0] if len(structure) else ():
        for residue in chain:
            for number, atom in enumerate(residue):
                if atom.element.atomic_number < 2 or residue.is_water():
                    continue
                # Only an alternate location shares its name with another atom of the residue.
                name = atom.name if atom.has_altloc() else f"{atom.name} {number}"
                key = (chain.name, str(residue.seqid), name)
                if key not in places or _preferred(atom, places[key]):
                    places[key] = atom
    return np.array([atom.pos.tolist() for atom in places.values()], np.float64).reshape(-1, 3)


def _preferred(one: gemmi.Atom, other: gemmi.Atom) -> bool:
    return (-one.occ, one.altloc) < (-other.occ, other.altloc)
