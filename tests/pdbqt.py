"""AutoDock's PDBQT files: read, typed as Vina types them, made into records, and written."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ligen_py.molecules.ligands.rotatable_bonds import heavy_first, pair_mask, rigid_pieces
from ligen_py.molecules.typing.vina import vina_type
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Type
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType
from ligen_py.records.functions.xscore import XScoreReceptor
from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses

ELEMENT = {
    "C": 6, "A": 6, "N": 7, "NA": 7, "O": 8, "OA": 8, "S": 16, "SA": 16, "P": 15, "F": 9, "Cl": 17,
    "Br": 35, "I": 53, "H": 1, "HD": 1, "Si": 14, "Mg": 12, "Ca": 20, "Mn": 25, "Fe": 26, "Zn": 30,
}  # fmt: skip
METALS = {"CA": "Ca", "FE": "Fe", "MG": "Mg", "MN": "Mn", "ZN": "Zn"}
COVALENT = {
    1: 0.37, 6: 0.77, 7: 0.75, 8: 0.73, 9: 0.71, 12: 1.30, 14: 1.11, 15: 1.06, 16: 1.02, 17: 0.99,
    20: 1.74, 25: 1.39, 26: 1.25, 30: 1.31, 35: 1.14, 53: 1.33,
}  # fmt: skip
"""Angstrom; Vina's own, two atoms are bonded up to 1.1 times their sum."""


@dataclass(frozen=True)
class Pdbqt:
    """What a PDBQT file says; atoms in its order."""

    label: list[str]
    """Residue name, number and atom name."""
    xyz: np.ndarray
    charge: np.ndarray
    kind: list[str]
    """AutoDock's types."""
    cuts: list[tuple[int, int]]
    """Axes of the active torsions."""

    @property
    def element(self) -> np.ndarray:
        return np.array([ELEMENT[kind] for kind in self.kind])

    def neighbours(self) -> list[list[int]]:
        size = np.array([COVALENT[number] for number in self.element])
        bonded = [
            np.flatnonzero(np.linalg.norm(self.xyz - self.xyz[i], axis=1) < 1.1 * (size + size[i]))
            for i in range(len(size))
        ]
        return [[j for j in row.tolist() if j != i] for i, row in enumerate(bonded)]

    def vina_types(self) -> np.ndarray:
        """Types as Vina makes them of AutoDock's types and the bonds."""
        around = self.neighbours()
        types = [
            vina_type(
                number,
                any(self.kind[j] == "HD" for j in around[i]),
                self.kind[i] in ("NA", "OA"),
                self.element[around[i]],
            )
            for i, number in enumerate(self.element.tolist())
        ]
        return np.array(types, "u1")

    def ad4_types(self) -> np.ndarray:
        return np.array([Ad4Type[kind.upper()] for kind in self.kind], "u1")


def read(path: Path) -> Pdbqt:
    return read_lines(path.read_text().splitlines())


def read_lines(lines: list[str]) -> Pdbqt:
    atoms = [line for line in lines if line.startswith(("ATOM", "HETATM"))]
    row = {int(line[6:11]): place for place, line in enumerate(atoms)}
    branches = [line.split() for line in lines if line.startswith("BRANCH")]
    return Pdbqt(
        [f"{line[17:20].strip()}/{line[22:26].strip()}/{line[12:16].strip()}" for line in atoms],
        np.array([[float(line[first : first + 8]) for first in (30, 38, 46)] for line in atoms]),
        np.array([float(line[68:76]) for line in atoms]),
        [METALS.get(line[77:79].strip(), line[77:79].strip()) for line in atoms],
        [(row[int(near)], row[int(far)]) for _, near, far in branches],
    )


def ligands_of(pdbqt: Pdbqt) -> tuple[VinaLigands, Ad4Ligands]:
    """One ligand as Vina and AutoDock4 see it; its conformer is that of the file, not centred."""
    element, around = pdbqt.element, pdbqt.neighbours()
    bonded = np.array([(i, j) for i, row in enumerate(around) for j in row if i < j]).reshape(-1, 2)
    turns = {tuple(sorted(cut)) for cut in pdbqt.cuts}
    cut = np.array([tuple(pair) in turns for pair in bonded.tolist()], bool)
    order, axes, far_sides, _ = heavy_first(element > 1, bonded, cut, np.array([0, len(element)]))
    place = np.argsort(order)
    neighbours = [place[around[old]].tolist() for old in order]
    heavy, count = int((element > 1).sum()), len(order)
    inner = [int(np.count_nonzero(element[row] > 1) > 1) for row in around]
    rotors = sum(0.5 * (inner[a] + inner[b]) for a, b in pdbqt.cuts)
    bond = [(i, j) for i, row in enumerate(neighbours) for j in row if i < j]
    mask = pair_mask(np.array(bond, int).reshape(-1, 2), far_sides, heavy)

    def none(dtype: str = "u1") -> np.ndarray:
        return np.zeros(count, dtype)

    common = Ligands(
        smiles=np.array([""], object),
        conformer=np.zeros(1, "u2"),
        state_cost=np.zeros(1, "f4"),
        strain=np.zeros(1, "f4"),
        isomers=np.ones(1, "u2"),
        entry=np.zeros(1, "i8"),
        heavy=np.array([heavy], "i4"),
        first_atom=np.array([0, count], "i8"),
        first_bond=np.array([0, len(bond)], "i8"),
        first_torsion=np.array([0, len(axes)], "i8"),
        first_pair=np.array([0, len(mask)], "i8"),
        first_byte=np.zeros(2, "i8"),
        xyz=pdbqt.xyz[order].astype("f4"),
        element=element[order].astype("u1"),
        charge=none("i1"),
        bond=np.array(bond, "u1").reshape(-1, 2),
        bond_order=np.ones(len(bond), "u1"),
        torsion_axis=axes.astype("i2"),
        torsion_range=far_sides.astype("i2"),
        pair_mask=mask,
        molecule=np.zeros(0, "u1"),
    )
    in_vina = extended(
        common,
        VinaLigands,
        rotors=np.array([rotors], "f4"),
        type=pdbqt.vina_types()[order],
    )
    in_ad4 = extended(
        common,
        Ad4Ligands,
        torsions=np.array([len(pdbqt.cuts)], "f4"),
        type=pdbqt.ad4_types()[order],
        partial_charge=pdbqt.charge[order].astype("f4"),
    )
    return in_vina, in_ad4


def receptor_of(pdbqt: Pdbqt) -> VinaReceptor:
    """The heavy atoms, typed for Vina alone."""
    heavy = pdbqt.element > 1
    count = int(heavy.sum())
    return VinaReceptor(
        xyz=pdbqt.xyz[heavy].astype("f4"),
        element=pdbqt.element[heavy].astype("u1"),
        type=pdbqt.vina_types()[heavy],
        residue=np.zeros(count, "i4"),
        label=np.array(pdbqt.label, object)[heavy],
    )


def start_poses(ligands: Ligands) -> Poses:
    """One pose of one ligand: its conformer, where it stands."""
    torsions = len(ligands.torsion_axis)
    zero = np.zeros(1, "i4")
    return Poses(
        first_pose=np.array([0, 1], "i8"),
        first_torsion=np.array([0, torsions], "i8"),
        restart=zero,
        translation=np.zeros((1, 3), "f4"),
        quaternion=np.array([[1, 0, 0, 0]], "f4"),
        torsion=np.zeros(torsions, "f4"),
        score=zero,
        internal_bumps=zero,
        pocket_bumps=zero,
        outside=zero,
    )


def autodock_type(kind: int, element: int) -> str:
    """The type of AutoDock from which Vina makes its own, with a hydrogen on every donor."""
    symbols = {number: name for name, number in ELEMENT.items() if name not in ("A", "H", "HD")}
    if element == 1:
        return "HD"
    role = VinaType(kind).name.partition("_")[2]
    if element in (7, 8):
        return {7: "N", 8: "O"}[element] + ("A" if "A" in role else "")
    return {6: "C", 16: "S"}.get(element) or symbols[element]


def atom_line(number: int, xyz: np.ndarray, kind: str) -> str:
    x, y, z = xyz
    place = f"ATOM  {number:5d}  X   UNL A   1    {x:8.3f}{y:8.3f}{z:8.3f}"
    return f"{place}  1.00  0.00     0.000 {kind}"


def receptor_lines(receptor: VinaReceptor, rooted: XScoreReceptor) -> str:
    """A receptor as PDBQT; a hydrogen half an Angstrom off marks each donor and scores nothing."""
    lines: list[str] = []
    for i, place in enumerate(receptor.xyz.astype(float)):
        kind = autodock_type(receptor.type[i], int(receptor.element[i]))
        lines.append(atom_line(len(lines) + 1, place, kind))
        if receptor.element[i] in (7, 8) and "D" in VinaType(receptor.type[i]).name[2:]:
            away = place - rooted.root[i] if rooted.rooted[i] else np.array([1.0, 0, 0])
            hydrogen = place + 0.5 * away / np.linalg.norm(away)
            lines.append(atom_line(len(lines) + 1, hydrogen, "HD"))
    return "\n".join(lines) + "\n"


def ligand_lines(
    xyz: np.ndarray,
    element: np.ndarray,
    types: np.ndarray,
    neighbours: list[list[int]],
    cuts: list[tuple[int, int]],
) -> str:
    """A ligand as PDBQT with these active torsions; hydrogens of N and O are kept, others not."""
    polar = [any(element[j] in (7, 8) for j in row) for row in neighbours]
    kept = [i for i in range(len(xyz)) if element[i] > 1 or polar[i]]
    new = {old: place for place, old in enumerate(kept)}
    around = [[new[j] for j in neighbours[old] if j in new] for old in kept]
    pieces = rigid_pieces(around, [(new[a], new[b]) for a, b in cuts])
    owner = np.zeros(len(kept), int)
    for place, torsion in enumerate(pieces.torsions, start=1):
        owner[torsion.first : torsion.last] = place
    lines: list[str] = []

    def write(piece: int) -> None:
        members = np.flatnonzero(owner == piece).tolist()
        for i in members:
            old = kept[pieces.order[i]]
            kind = autodock_type(types[old], int(element[old]))
            lines.append(atom_line(i + 1, xyz[old], kind))
        lines.extend(["ENDROOT"] if piece == 0 else [])
        for child, torsion in enumerate(pieces.torsions, start=1):
            if torsion.near in members:
                axis = f"{torsion.near + 1:4d}{torsion.far + 1:4d}"
                lines.append(f"BRANCH{axis}")
                write(child)
                lines.append(f"ENDBRANCH{axis}")

    lines.append("ROOT")
    write(0)
    return "\n".join([*lines, f"TORSDOF {len(cuts)}"]) + "\n"
