"""Ligands and receptors from PDBQT files, with the types, charges and torsions of the file.

PDBQT is AutoDock's format. The columns are PDB's; behind them stand partial charge and atom type.
ROOT and BRANCH lines of a ligand say which bonds turn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gemmi
import numpy as np
from rdkit import Chem

from ligen_py.errors import InputError
from ligen_py.molecules.ligands.rotatable_bonds import heavy_first, pair_mask
from ligen_py.molecules.typing.ad4 import charged_receptor
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor, Ad4Type
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_ATOMS

GZIP = b"\x1f\x8b"
"""First bytes of a file that gzip has compressed."""

MOST_TORSIONS = 32
"""Torsions that AutoDock and AutoDock-GPU take at most."""

UNEVEN = 0.1
"""e; charges of a molecule add up to a whole number, but for rounding less than this."""

KEYWORDS = frozenset(("ROOT", "ENDROOT", "BRANCH", "ENDBRANCH", "ATOM", "HETATM"))
"""First words of the lines that make a molecule."""

ELEMENT = {
    Ad4Type.HD: 1, Ad4Type.C: 6, Ad4Type.A: 6, Ad4Type.N: 7, Ad4Type.NA: 7, Ad4Type.OA: 8,
    Ad4Type.S: 16, Ad4Type.SA: 16, Ad4Type.P: 15, Ad4Type.F: 9, Ad4Type.CL: 17, Ad4Type.BR: 35,
    Ad4Type.I: 53, Ad4Type.SI: 14, Ad4Type.MG: 12, Ad4Type.CA: 20, Ad4Type.MN: 25,
    Ad4Type.FE: 26, Ad4Type.ZN: 30,
}  # fmt: skip

OTHERS = {"HS": "H", "NS": "N", "OS": "O", "W": ""}
"""Further types that are no symbols of elements, or other ones: W is a water's place."""

SODIUM = "Na"
"""The one type of which the capitals count: NA is a nitrogen."""

LONGER = 1.17
"""Two atoms are bonded up to so many times the sum of their covalent radii."""

LONGEST = 1.3
"""The two atoms of a BRANCH may be so many times that sum apart: more than in any bond, and less
than between atoms that have a neighbour in common."""

UNSEEN = frozenset((6, 15))
"""Elements between which AutoDock4 and AutoDock-GPU see no bond, at any distance that one has: the
internal energy counts pairs of atoms across it that are otherwise too near in bonds."""

REFUSED = {
    "W": "hydrated docking (water molecules of type W) is not supported",
    "B": "boron has no parameters here; leave the ligand out",
    "H": "hydrogens on carbon (type H) must be merged into it, as Meeko does",
    "CG": "docking of broken macrocycles (glue types) is not supported",
    "G": "docking of broken macrocycles (glue types) is not supported",
    "HS": "this type of AutoDock4 has no parameters here",
    "NS": "this type of AutoDock4 has no parameters here",
    "OS": "this type of AutoDock4 has no parameters here",
    "TZ": "docking with zinc pseudo-atoms (type TZ) is not supported",
}
"""Types in capitals, without the digits behind them, and why they are not taken."""


@dataclass(frozen=True)
class PdbqtLigand:
    """A ligand of a PDBQT file."""

    path: Path
    lines: tuple[str, ...]
    """Of the file."""
    atom_lines: tuple[int, ...]
    """Numbers of the lines that are atoms."""
    order: np.ndarray
    """Atom of the file (from 0) of each atom of `ligands`."""
    center: np.ndarray
    """Where the origin of `ligands` lies in the file's coordinates, Angstrom."""
    bond: np.ndarray
    """All bonded atoms (bonds, 2), numbers of `ligands`, whose own bonds are those that AutoDock
    sees."""
    ligands: Ad4Ligands
    """The one ligand, its heavy atoms' centroid at the origin."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    def moved(self, xyz: np.ndarray) -> list[str]:
        """The file's lines with other coordinates (atoms, 3), those of `ligands` in its order."""
        placed = np.empty_like(xyz)
        placed[self.order] = xyz
        lines = list(self.lines)
        for line, (x, y, z) in zip(self.atom_lines, placed.round(3) + 0.0, strict=True):
            lines[line] = f"{lines[line][:30]}{x:8.3f}{y:8.3f}{z:8.3f}{lines[line][54:]}"
        return lines


def read_receptor(path: Path) -> Ad4Receptor:
    """A rigid receptor; InputError that names the line where it cannot be used."""
    lines = _lines(path)
    atoms: list[int] = []
    place: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        _refuse_turning(path, number, line)
        if line.startswith("MODEL") and atoms:
            raise InputError(f"{path}, line {number}: a second model; give one receptor a file")
        if not line.startswith(("ATOM", "HETATM")):
            continue
        atoms.append(number - 1)
        first = place.setdefault(line[12:16] + line[17:27], line[16:17])
        if first != line[16:17] and first.isalpha() and line[16:17].isalpha():
            raise InputError(
                f"{path}, line {number}: location {line[16]} of an atom that also has location "
                f"{first}; keep one of them"
            )
    if not atoms:
        raise InputError(f"{path}: no atoms; give the receptor as PDBQT")
    xyz, charges, types = _columns(path, lines, atoms)
    _refuse_twice(path, atoms, xyz, "keep one of them")
    return charged_receptor(xyz, types, charges)


def as_pdb(path: Path, text: str) -> str:
    """The text of a rigid receptor as PDB: elements in place of charges and types.

    Also of types without parameters here. InputError names the line where it cannot be used.
    """
    lines = split_lines(text)
    for number, line in enumerate(lines, start=1):
        _refuse_turning(path, number, line)
        if not line.startswith(("ATOM", "HETATM")):
            continue
        if not line[66:76].strip():
            raise InputError(
                f"{path}, line {number}: no partial charge in columns 67 to 76, so this is no "
                "PDBQT; name a PDB file .pdb"
            )
        word = _word(path, number, line)
        element = _element(word)
        if not element.atomic_number:
            raise InputError(
                f"{path}, line {number}: atom type '{word}' stands for no element; correct it, or "
                "give the PDB file"
            )
        lines[number - 1] = f"{line[:66]:76}{element.name:>2}"
    return "\n".join(lines)


def ligand_as_pdb(path: Path, text: str) -> str:
    """The atoms and models of a ligand as PDB: elements in place of charges and types.

    Without what is no atom, as where a macrocycle was opened. InputError names the line whose
    columns are shifted.
    """
    found = []
    for number, line in enumerate(split_lines(text), start=1):
        if line.startswith(("MODEL", "ENDMDL")):
            found.append(f"{line}\n")
        if not line.startswith(("ATOM", "HETATM")):
            continue
        word = _word(path, number, line)
        # A carbon at which a macrocycle was opened has a number: CG0.
        element = _element("C" if word[:2] == "CG" else word)
        if element.atomic_number:
            found.append(f"{line[:66]:76}{element.name:>2}\n")
    return "".join(found)


def _word(path: Path, number: int, line: str) -> str:
    """The atom type on a line; InputError where it, or the charge, is in another column."""
    # OA from column 77 on would be read as A, a carbon.
    if line[76:77].strip():
        raise InputError(
            f"{path}, line {number}: '{line[76]}' stands in column 77; PDBQT has charges up to "
            "column 76 and types from column 78 on; move them there, or prepare the molecule again"
        )
    return line[77:].strip()


def _element(word: str) -> gemmi.Element:
    """The element of an atom type, X where it stands for none."""
    kind = Ad4Type.__members__.get(word.upper(), Ad4Type.NONE) if word != SODIUM else Ad4Type.NONE
    return gemmi.Element(ELEMENT[kind] if kind else OTHERS.get(word.upper(), word))


def read_ligand(path: Path) -> PdbqtLigand:
    """A ligand with its torsion tree; InputError that names the line where it cannot be used."""
    lines = _lines(path)
    atoms, piece, cuts, branches = _tree(path, lines)
    xyz, charges, types = _columns(path, lines, atoms)
    if len(atoms) > MAX_ATOMS:
        raise InputError(
            f"{path}: {len(atoms)} atoms; a ligand may have at most {MAX_ATOMS}; leave it out"
        )
    if len(cuts) > MOST_TORSIONS:
        raise InputError(
            f"{path}: {len(cuts)} torsions; a ligand may have at most {MOST_TORSIONS}; prepare it "
            "with fewer active ones"
        )
    _refuse_twice(path, atoms, xyz, "give the ligand 3-D coordinates")
    total = float(charges.sum())
    if abs(total - round(total)) > UNEVEN:
        raise InputError(
            f"{path}: the partial charges add up to {total:.3f}, which is no whole number; an atom "
            "or its charge is missing"
        )
    element = np.array([ELEMENT[Ad4Type(kind)] for kind in types], np.uint8)
    if not (element > 1).any():
        raise InputError(f"{path}: nothing but hydrogens; give a ligand with heavy atoms")
    for number, (near, far) in zip(branches, cuts, strict=True):
        apart = float(np.linalg.norm(xyz[near] - xyz[far]))
        if apart > LONGEST * _radii(element[[near, far]]).sum():
            raise InputError(
                f"{path}, line {number}: {' '.join(lines[number - 1].split()[:3])}: these atoms "
                f"are {apart:.1f} A apart, which is no bond; prepare the ligand again"
            )
    center = xyz[element > 1].mean(axis=0)
    order, bond, ligands = _record(path, atoms, xyz - center, element, types, charges, piece, cuts)
    return PdbqtLigand(path, tuple(lines), tuple(atoms), order, center, bond, ligands)


def split_lines(text: str) -> list[str]:
    r"""The lines of a text, with spaces for other characters that some programs end lines at.

    >>> split_lines("REMARK one\x0ctwo\r\nROOT\n")
    ['REMARK one two', 'ROOT']
    """
    lines = re.split("\r\n|\r|\n", text)
    return [" ".join(line.splitlines()) for line in (lines if lines[-1] else lines[:-1])]


def _lines(path: Path) -> list[str]:
    raw = path.read_bytes()
    if raw.startswith(GZIP):
        raise InputError(f"{path}: is compressed; unpack it")
    if b"\0" in raw:
        raise InputError(f"{path}: no text; give a PDBQT file")
    # A name in a remark may be in any encoding.
    lines = split_lines(raw.decode("utf-8-sig", errors="replace"))
    for number, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0] if line.strip() else ""
        if word not in KEYWORDS and word.upper() in KEYWORDS:
            raise InputError(
                f"{path}, line {number}: write {word.upper()} in place of {word}; PDBQT has its "
                "keywords in capitals"
            )
    return lines


def _refuse_flexible(path: Path, number: int, line: str) -> None:
    if line.startswith(("BEGIN_RES", "END_RES")):
        raise InputError(
            f"{path}, line {number}: flexible-residue docking is not supported; give a rigid "
            "receptor and the ligand alone"
        )


def _refuse_turning(path: Path, number: int, line: str) -> None:
    """InputError where a receptor has flexible residues, or is a ligand."""
    _refuse_flexible(path, number, line)
    if line.startswith(("ROOT", "BRANCH")):
        raise InputError(
            f"{path}, line {number}: {line.split()[0]} belongs to a ligand; give the receptor, "
            "prepared as rigid"
        )


def _columns(
    path: Path, lines: Sequence[str], atoms: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, charges and types of the atoms on some lines."""
    xyz, charges, types = [], [], []
    for place in atoms:
        line = lines[place]
        try:
            row = [float(line[first : first + 8]) for first in (30, 38, 46)]
            charge = float(line[66:76])
        except ValueError:
            row, charge = [np.nan], 0.0
        if not np.isfinite([*row, charge]).all():
            raise InputError(
                f"{path}, line {place + 1}: no coordinates and charge in the columns of PDBQT; "
                "prepare the molecule again"
            )
        xyz.append(row)
        charges.append(charge)
        types.append(_type(path, place + 1, _word(path, place + 1, line)))
    return np.array(xyz), np.array(charges), np.array(types, np.uint8)


def _refuse_twice(path: Path, atoms: Sequence[int], xyz: np.ndarray, advice: str) -> None:
    """InputError where two atoms, on some lines, have equal coordinates."""
    _, first, same = np.unique(xyz, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[same.ravel()] != np.arange(len(atoms)))
    if len(again):
        earlier = atoms[first[same.ravel()[again[0]]]] + 1
        raise InputError(
            f"{path}, line {atoms[again[0]] + 1}: an atom in the place of that of line {earlier}; "
            f"{advice}"
        )


def _type(path: Path, number: int, word: str) -> Ad4Type:
    name = word.upper()
    where = f"{path}, line {number}: atom type '{word}'"
    if word == SODIUM:
        raise InputError(f"{where}: sodium has no parameters in AutoDock4; a nitrogen is NA")
    if name in Ad4Type.__members__ and name != "NONE":
        return Ad4Type[name]
    bare = name.rstrip("0123456789")
    if name in REFUSED or (bare in REFUSED and bare in ("G", "CG")):
        raise InputError(f"{where}: {REFUSED.get(name) or REFUSED[bare]}")
    if bare != name and bare in Ad4Type.__members__:
        raise InputError(f"{where}: reactive docking is not supported")
    known = ", ".join(kind.name for kind in Ad4Type if kind)
    raise InputError(f"{where} is unknown; there are: {known}; prepare the molecule with these")


def _tree(
    path: Path, lines: Sequence[str]
) -> tuple[list[int], np.ndarray, list[tuple[int, int]], list[int]]:
    """Lines of the atoms, the rigid piece of each, the bonds that turn (atoms from 0), their lines.

    The ROOT is piece 0, the atoms of BRANCH n, but for those of branches in it, are piece n.
    """
    atoms: list[int] = []
    piece: list[int] = []
    serial: dict[int, int] = {}
    branches: list[tuple[int, tuple[int, int], int]] = []
    inside: list[int] = []
    root = 0
    for number, line in enumerate(lines, start=1):
        _refuse_flexible(path, number, line)
        word = line.split(maxsplit=1)[0] if line.strip() else ""
        if word == "ROOT":
            if root:
                raise InputError(
                    f"{path}, line {number}: a second ROOT, the first is on line {root}; give one "
                    "ligand a file"
                )
            root = number
        elif line.startswith(("ATOM", "HETATM")):
            if not root:
                raise InputError(f"{path}, line {number}: an atom before ROOT; this is no ligand")
            try:
                name = int(line[6:11])
            except ValueError:
                raise InputError(f"{path}, line {number}: an atom without a number") from None
            if name in serial:
                raise InputError(f"{path}, line {number}: a second atom {name}; number them anew")
            serial[name] = len(atoms)
            atoms.append(number - 1)
            piece.append(inside[-1] if inside else 0)
        elif word in ("BRANCH", "ENDBRANCH"):
            pair = _pair(path, number, line)
            if word == "BRANCH":
                branches.append((number, pair, inside[-1] if inside else 0))
                inside.append(len(branches))
            elif not inside:
                raise InputError(
                    f"{path}, line {number}: ENDBRANCH of no open BRANCH; prepare the ligand again"
                )
            elif (last := branches[inside.pop() - 1])[1] != pair:
                raise InputError(
                    f"{path}, line {last[0]}: BRANCH {last[1][0]} {last[1][1]} is still open on "
                    f"line {number}, at ENDBRANCH {pair[0]} {pair[1]}; prepare the ligand again"
                )
        elif word == "MODEL" and atoms:
            raise InputError(f"{path}, line {number}: a second model; give one ligand a file")
    if not root or not atoms:
        raise InputError(f"{path}: no ROOT with atoms; prepare the ligand with Meeko")
    if inside:
        number, (near, far), _ = branches[inside[-1] - 1]
        raise InputError(
            f"{path}, line {number}: BRANCH {near} {far} has no ENDBRANCH; prepare the ligand again"
        )
    cuts = _cuts(path, branches, serial, piece)
    return atoms, np.array(piece), cuts, [number for number, *_ in branches]


def _cuts(
    path: Path,
    branches: Sequence[tuple[int, tuple[int, int], int]],
    serial: dict[int, int],
    piece: Sequence[int],
) -> list[tuple[int, int]]:
    """The bonds that turn (atoms from 0) of branches: line, the file's numbers, the piece around.

    InputError where one does not lead from an atom of the piece around it to one of its own.
    """
    cuts = []
    for own, (number, (near, far), outer) in enumerate(branches, start=1):
        if near not in serial or far not in serial:
            raise InputError(
                f"{path}, line {number}: BRANCH names an atom that is not there; prepare the "
                "ligand again"
            )
        if (piece[serial[near]], piece[serial[far]]) != (outer, own):
            raise InputError(
                f"{path}, line {number}: BRANCH must name an atom of what it is in, then its own; "
                "prepare the ligand again"
            )
        cuts.append((serial[near], serial[far]))
    return cuts


def _pair(path: Path, number: int, line: str) -> tuple[int, int]:
    try:
        near, far = map(int, line.split()[1:3])
    except ValueError:
        raise InputError(
            f"{path}, line {number}: {line.split()[0]} without two atoms; prepare the ligand again"
        ) from None
    return near, far


def _radii(element: np.ndarray) -> np.ndarray:
    """Covalent radii, Angstrom."""
    table = Chem.GetPeriodicTable()
    return np.array([table.GetRcovalent(int(number)) for number in element])


def bonds_of(xyz: np.ndarray, element: np.ndarray, more: Sequence[tuple[int, int]]) -> np.ndarray:
    """Bonded atoms (bonds, 2) by distance, lower first, and `more`.

    Two hydrogens are never bonded, as in AutoDock4.
    """
    size = _radii(element)
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=-1)
    near = distance < LONGER * (size[:, None] + size)
    near &= (element[:, None] > 1) | (element > 1)
    found = set(zip(*(axis.tolist() for axis in np.nonzero(np.triu(near, 1))), strict=True))
    found |= {(min(pair), max(pair)) for pair in more}
    return np.array(sorted(found), int).reshape(-1, 2)


def _record(
    path: Path,
    atoms: Sequence[int],
    xyz: np.ndarray,
    element: np.ndarray,
    types: np.ndarray,
    charges: np.ndarray,
    piece: np.ndarray,
    cuts: list[tuple[int, int]],
) -> tuple[np.ndarray, np.ndarray, Ad4Ligands]:
    """The atoms' new order, all bonds in it, and the ligand as a record."""
    bond = bonds_of(xyz, element, cuts)
    turns = {(min(cut), max(cut)) for cut in cuts}
    cut = np.array([tuple(pair) in turns for pair in bond.tolist()], bool)
    # Atoms of two pieces that are as near as in a bond clash: the file's tree has the bonds.
    bonded = cut | (piece[bond[:, 0]] == piece[bond[:, 1]])
    bond, cut = bond[bonded], cut[bonded]
    around: list[list[int]] = [[] for _ in element]
    for one, two in bond.tolist():
        around[one].append(two)
        around[two].append(one)
    reached = {0}
    waiting = [0]
    while waiting:
        for other in around[waiting.pop()]:
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    if len(reached) < len(element):
        lone = atoms[min(set(range(len(element))) - reached)]
        raise InputError(
            f"{path}, line {lone + 1}: this atom is not connected with the first one; give one "
            "molecule a file"
        )
    order, axes, far_sides, _ = heavy_first(element > 1, bond, cut, np.array([0, len(element)]))
    new = np.argsort(order)
    heavy, count = int((element > 1).sum()), len(order)
    numbered = np.sort(new[bond], axis=1)
    ends = element[bond]
    seen = numbered[~((ends.min(axis=1) == min(UNSEEN)) & (ends.max(axis=1) == max(UNSEEN)))]
    mask = pair_mask(seen, far_sides, heavy)
    common = Ligands(
        entry=np.zeros(1, "i8"),
        smiles=np.array([""], object),
        conformer=np.zeros(1, "u2"),
        state_cost=np.zeros(1, "f4"),
        strain=np.zeros(1, "f4"),
        isomers=np.ones(1, "u2"),
        heavy=np.array([heavy], "i4"),
        first_atom=np.array([0, count], "i8"),
        first_bond=np.array([0, len(seen)], "i8"),
        first_torsion=np.array([0, len(axes)], "i8"),
        first_pair=np.array([0, len(mask)], "i8"),
        first_byte=np.zeros(2, "i8"),
        xyz=xyz[order].astype("f4"),
        element=element[order].astype("u1"),
        charge=np.zeros(count, "i1"),
        bond=seen.astype("u1"),
        bond_order=np.ones(len(seen), "u1"),
        torsion_axis=axes.astype("i2"),
        torsion_range=far_sides.astype("i2"),
        pair_mask=mask,
        molecule=np.zeros(0, "u1"),
    )
    return (
        order,
        numbered,
        extended(
            common,
            Ad4Ligands,
            torsions=np.array([len(cuts)], "f4"),
            type=types[order].astype("u1"),
            partial_charge=charges[order].astype("f4"),
        ),
    )
