"""The site: a cube around a reference ligand, residues, a point or a cavity."""

import logging
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import gemmi
import numpy as np
from rdkit import Chem, rdBase

from ligen_py.errors import InputError
from ligen_py.molecules.elements import METALS
from ligen_py.molecules.mol2 import without_comments
from ligen_py.molecules.pdbqt_input import ligand_as_pdb
from ligen_py.molecules.receptor import cofactors
from ligen_py.molecules.receptor.cavity_files import read_found
from ligen_py.molecules.receptor.selection import ATOMS_APART, LINK, SUGARS, Selection, near_pairs
from ligen_py.molecules.receptor.structure import (
    count_records,
    element_of,
    ligand_kind,
    read_text,
)
from ligen_py.records.pocket import FoundCavity
from ligen_py.settings.pocket import Site as SiteSettings

log = logging.getLogger("ligen_py")

MOST_ATOMS = 1024
"""A file with more heavy atoms than this is not a ligand."""


IN_NM, SMALL = (0.05, 0.5), 3.0
"""Angstrom between neighbours, in the median, where coordinates are in nm: bonds have 0.15 then. So
no such ligand is as long as 3 A, as two copies of one are that a file has nearly in one place."""

FEW = 5
"""So many residues of one name are listed in a warning."""

HERE = 4.0
"""A group with an atom this near (Angstrom) to a point is reported as being there."""


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

    def where(self, xyz: np.ndarray) -> str:
        """How far the nearest of some positions (atoms, 3) is from the box, in words."""
        distance = self.distance(xyz).min()
        return f"{distance:.1f} A from the box" if distance else "in the box"

    def __str__(self) -> str:
        x, y, z = self.center
        return f"the box around ({x:.2f}, {y:.2f}, {z:.2f}) with half side {self.half_side:g} A"


def away(xyz: np.ndarray, site: Site) -> str:
    """How far a group (atoms, 3) is from the box and from the reference ligand, in words."""
    words = site.where(xyz)
    if len(site.ligand):
        words += f", {nearest(xyz, site.ligand).min():.1f} A from the reference ligand"
    return words


def nearest(xyz: np.ndarray, ligand: np.ndarray) -> np.ndarray:
    """Distance (atoms,) of each position from the nearest ligand atom; infinite without one."""
    squared = ((xyz[:, None] - ligand) ** 2).sum(axis=2)
    return np.sqrt(squared.min(axis=1, initial=np.inf))


Search = Callable[[np.ndarray, np.ndarray], list[FoundCavity]]
"""Finds cavities of atoms (atoms, 3), Angstrom, with atomic numbers (atoms,)."""


def locate(
    selection: Selection, asked: SiteSettings, keep: Sequence[str], radius: float, search: Search
) -> Site:
    """The site that a user describes; `radius` is the half side if it has none.

    Raises InputError if the structure or a file does not have it.
    """
    half_side = radius if asked.radius is None else asked.radius
    if asked.size is not None:
        half_side = max(asked.size) / 2
        sides = " x ".join(f"{side:g}" for side in asked.size)
        words = f"{sides} A asked for; docking uses the cube that contains it"
        selection.note("box", words, "chosen")
    if asked.ligand is not None:
        return site_of_ligand(Path(asked.ligand), half_side)
    if asked.ligand_name is not None:
        return site_of_residue(selection, asked.ligand_name, half_side)
    if asked.residues:
        return site_of_residues(selection, asked.residues, half_side)
    if asked.center is not None:
        return site_at(asked.center, half_side)
    found = cavities(selection, keep, asked.cavities, search)
    chosen = {cavity.rank: cavity for cavity in found}.get(asked.cavity or 1)
    if chosen is None:
        raise InputError(
            f"{asked.cavities or selection.source}: has no cavity of rank {asked.cavity}; "
            f"there are {len(found)}"
        )
    by = Path(asked.cavities).name if asked.cavities else "a search of the receptor"
    words = f"cavity {chosen.rank} of {len(found)} by {by}: score {chosen.score:.4g}"
    return site_at(chosen.center, half_side, f"{words}, {chosen.facts}")


def cavities(
    selection: Selection, keep: Sequence[str], file: str | None, search: Search
) -> list[FoundCavity]:
    """Cavities by rank, from another program's file or searched here.

    The search uses the chains, the metals and the residues to keep.
    """
    if file is not None:
        return read_found(Path(file))
    wanted = selection.polymer | selection.named(keep, "keep")
    metal = np.array([symbol in METALS for symbol in selection.atoms.symbol], bool)
    mine = selection.open & selection.heavy & (wanted[selection.residue] | metal)
    if not mine.any():
        raise InputError(f"{selection.source}: has no chains to find cavities in")
    return search(selection.xyz[mine], selection.atoms.element[mine])


def site_at(
    center: tuple[float, float, float], half_side: float, source: str = "given as a point"
) -> Site:
    """A site at a point (Angstrom)."""
    return Site(center, half_side, np.empty((0, 3)), source)


def site_of_ligand(path: Path, half_side: float) -> Site:
    """A site at the heavy-atom centroid of a reference ligand, a file of `LIGAND_FILES` or gzip.

    Raises InputError that names the file.
    """
    ligand = read_heavy_atoms(path)
    source = f"centroid of the {len(ligand)} heavy atoms in {path.name}"
    return _around(ligand, half_side, source)


def _around(ligand: np.ndarray, half_side: float, source: str) -> Site:
    x, y, z = (math.fsum(column) / len(ligand) for column in ligand.T)
    site = Site((x, y, z), half_side, ligand, source)
    beyond = site.distance(ligand)
    if beyond.any():
        log.warning(
            "%s: %d of them lie outside the box, up to %.1f A; "
            "a half side of %.0f A would contain it",
            source,
            np.count_nonzero(beyond),
            beyond.max(),
            np.ceil(half_side + beyond.max()),
        )
    return site


def site_of_residue(selection: Selection, word: str, half_side: float) -> Site:
    """A site at a reference ligand within the structure, as `named_ligand` finds it."""
    whole, others = named_ligand(selection, word)
    place = selection.places[whole[0]]
    if others:
        copies = ", ".join(str(selection.places[number]) for number in others)
        selection.note(str(place), f"the reference ligand; others so named: {copies}", "chosen")
        log.warning("%s is the reference ligand; others so named: %s", place, copies)
    ligand = selection.xyz[best_locations(selection, whole)]
    if not len(ligand):
        raise InputError(f"{selection.source}: ligand_name: {place} has no heavy atoms")
    words = f"centroid of the {len(ligand)} heavy atoms of {place}"
    if len(whole) > 1:
        more = ", ".join(str(selection.places[one]) for one in whole[1:])
        words += f" and {more}, bound to it"
        log.warning("the reference ligand %s includes %s, bound to it", place, more)
    return _around(ligand, half_side, words)


def named_ligand(selection: Selection, word: str) -> tuple[list[int], list[int]]:
    """Residues of the first ligand that a word names, and others so named.

    Residues that are bound to it are part of it. Raises InputError if there is none, or if it is
    part of a chain.
    """
    numbers = np.flatnonzero(selection.named([word], "ligand_name")).tolist()
    free = [number for number in numbers if not selection.polymer[number]]
    if not free:
        raise InputError(
            f"{selection.source}: ligand_name: {selection.places[numbers[0]]} is part of a chain; "
            "name a ligand, or give residues"
        )
    whole = _bound_residues(selection, free[0])
    return whole, [number for number in free if number not in whole]


def _bound_residues(selection: Selection, number: int) -> list[int]:
    """A residue and those outside the chains that bonds link to it, as of a ligand in parts.

    A cofactor, such as the FAD that an inhibitor is bound to, stays in the receptor, and so does
    what is bound to a chain. Sugars are parts of a ligand.
    """
    atoms, chains = selection.atoms, selection.polymer[selection.residue]
    pairs = selection.pairs[
        (selection.open & ~np.isin(atoms.symbol, list(METALS)))[selection.pairs].all(axis=1)
    ]
    near = np.linalg.norm(selection.xyz[pairs[:, 0]] - selection.xyz[pairs[:, 1]], axis=1)
    letters = atoms.altloc[pairs]
    is_one = (letters[:, 0] == letters[:, 1]) | (letters == "").any(axis=1)
    on_chain = set(
        selection.residue[pairs[(near < LINK) & is_one & chains[pairs].any(axis=1)]].flat
    )
    others = {
        other
        for other, place in enumerate(selection.places)
        if other != number
        and (
            selection.polymer[other]
            or selection.water[other]
            or other in on_chain
            or _is_cofactor(place.residue)
        )
    }
    ties = selection.residue[pairs[is_one]]
    # What is nearer than a bond is another location of the same.
    in_one_place = {frozenset(tie) for tie in ties[near[is_one] < ATOMS_APART].tolist()}
    links = [
        tie
        for tie in ties[near[is_one] < LINK].tolist()
        if frozenset(tie) not in in_one_place and others.isdisjoint(tie)
    ]
    found = [number]
    for one in found:
        beside = {other for tie in links if one in tie for other in tie}
        found += sorted(beside - set(found))
    return found


def _is_cofactor(residue: str) -> bool:
    """Whether a residue's name is that of a known cofactor which is no sugar."""
    is_sugar = gemmi.find_tabulated_residue(residue).kind in SUGARS
    return residue.upper() in cofactors.known() and not is_sugar


def site_of_residues(selection: Selection, words: Sequence[str], half_side: float) -> Site:
    """A site at the centroid of the heavy atoms of residues; InputError if one does not exist.

    Warns of a name that several have, as that of an amino acid.
    """
    numbers = np.flatnonzero(selection.named(words, "residues")).tolist()
    for word in dict.fromkeys(word for word in words if "/" not in word):
        so_called = np.flatnonzero(selection.named([word], "residues")).tolist()
        if len(so_called) > 1:
            first = ", ".join(str(selection.places[number]) for number in so_called[:FEW])
            more = ", ..." if len(so_called) > FEW else ""
            log.warning(
                "residues: %s names %d residues (%s%s), and the site is amid all of them; "
                "write chain/number for one",
                *(word, len(so_called), first, more),
            )
    xyz = selection.xyz[best_locations(selection, numbers)]
    x, y, z = (math.fsum(column) / len(xyz) for column in xyz.T)
    names = ", ".join(str(selection.places[number]) for number in numbers)
    source = f"centroid of the {len(xyz)} heavy atoms of {names}"
    return site_at((x, y, z), half_side, source)


def nearby(selection: Selection, center: tuple[float, float, float]) -> str:
    """The surroundings of a point in words: hetero groups near it, or else the nearest residue."""
    distance = np.linalg.norm(selection.xyz - np.array(center), axis=1)
    mine = selection.open & selection.heavy & ~selection.water[selection.residue]
    free = mine & ~selection.polymer[selection.residue]
    groups = sorted(set(selection.residue[free & (distance < HERE)].tolist()))
    if groups:
        return ", ".join(str(selection.places[number]) for number in groups)
    closest = int(np.where(mine, distance, np.inf).argmin())
    return f"near {selection.atoms.place[closest]}"


def best_locations(selection: Selection, numbers: Sequence[int]) -> list[int]:
    """Numbers of residues' heavy atoms, each at its most occupied location."""
    atoms = selection.atoms
    mine = selection.open & selection.heavy & np.isin(selection.residue, numbers)
    best: dict[tuple[int, str], int] = {}
    for i in np.flatnonzero(mine).tolist():
        key = (int(selection.residue[i]), str(atoms.name[i]))
        if key not in best or atoms.occupancy[i] > atoms.occupancy[best[key]]:
            best[key] = i
    return list(best.values())


def read_heavy_atoms(path: Path) -> np.ndarray:
    """Positions (atoms, 3) of the heavy atoms of a file's first molecule, Angstrom, float64."""
    kind = ligand_kind(path)
    readers = {
        "sdf": _mol_file,
        "mol": _mol_file,
        "mol2": _mol2_file,
        "pdb": _pdb_file,
        "pdbqt": _pdb_file,
    }
    text = read_text(path)
    if kind == "pdbqt":
        text = ligand_as_pdb(path, text)
    if readers[kind] is _pdb_file:
        count_records(path, text)
    with rdBase.BlockLogs():
        xyz = readers[kind](text) if text.strip() else None
    if xyz is None:
        types = " with SYBYL's atom types (c3, ca and so on are GAFF's)" if kind == "mol2" else ""
        raise InputError(
            f"{path}: contains no readable molecule; check that it is a {kind.upper()} file{types}"
        )
    if not len(xyz) or len(xyz) > MOST_ATOMS:
        raise InputError(f"{path}: has {len(xyz)} heavy atoms; give the reference ligand alone")
    if not np.isfinite(xyz).all() or (len(xyz) > 1 and not np.ptp(xyz, axis=0).any()):
        raise InputError(
            f"{path}: the reference ligand has no coordinates; give it as in the crystal"
        )
    if len(xyz) > 3 and not xyz[:, 2].any():
        raise InputError(f"{path}: the reference ligand is flat (2-D); give it as in the crystal")
    apart = _median_apart(xyz)
    if IN_NM[0] < apart < IN_NM[1] and np.ptp(xyz, axis=0).max() < SMALL:
        raise InputError(
            f"{path}: neighbours in the reference ligand are {apart:.2f} A apart, less than any "
            "bond is long; give coordinates in Angstrom, not in nm"
        )
    return xyz


def _median_apart(xyz: np.ndarray) -> float:
    """Median distance of an atom from the nearest other, Angstrom; infinite of a single one."""
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=2)
    np.fill_diagonal(distance, np.inf)
    return float(np.median(distance.min(axis=1)))


def _heavy(mol: Chem.Mol | None) -> np.ndarray | None:
    if mol is None or not mol.GetNumConformers():
        return None
    heavy = [atom.GetIdx() for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1]
    return np.asarray(mol.GetConformer().GetPositions()[heavy], np.float64).reshape(-1, 3)


def _warn_of_others(there: bool) -> None:
    if there:
        log.warning("the reference ligand's file contains several molecules; the first is used")


def _mol_file(text: str) -> np.ndarray | None:
    block, _, rest = text.partition("$$$$")
    _warn_of_others(bool(rest.strip()))
    return _heavy(Chem.MolFromMolBlock(block, sanitize=False, removeHs=False, strictParsing=False))


def _mol2_file(text: str) -> np.ndarray | None:
    _warn_of_others(text.count("@<TRIPOS>MOLECULE") > 1)
    # Types that do not go together, as one of a guanidinium ion, do not matter here.
    mol = Chem.MolFromMol2Block(
        without_comments(text), sanitize=False, removeHs=False, cleanupSubstructures=False
    )
    return _heavy(mol)


def _pdb_file(text: str) -> np.ndarray | None:
    """Heavy atoms except waters, each once: the most occupied, then the first location."""
    try:
        structure = gemmi.read_pdb_string(text)
    except (RuntimeError, ValueError):
        return None
    residues: dict[tuple[str, str], dict[str, gemmi.Atom]] = {}
    names: dict[tuple[str, str], str] = {}
    for chain in structure[0] if len(structure) else ():
        for residue in chain:
            place = chain.name, str(residue.seqid)
            for number, atom in enumerate(residue):
                element = element_of(atom, residue.name)
                if element.atomic_number < 2 or residue.is_water():
                    continue
                # Only an alternate location shares its name with another atom of the residue.
                name = atom.name if atom.has_altloc() else f"{atom.name} {number}"
                names.setdefault(place, residue.name)
                places = residues.setdefault(place, {})
                if name not in places or _preferred(atom, places[name]):
                    places[name] = atom
    xyz = [np.array([atom.pos.tolist() for atom in one.values()]) for one in residues.values()]
    is_ligand = sum(map(len, xyz)) <= MOST_ATOMS
    first = _first_copy(list(names.values()), xyz) if is_ligand else range(len(xyz))
    _warn_of_others(len(structure) > 1 or len(first) < len(xyz))
    return np.concatenate([np.empty((0, 3)), *(xyz[number] for number in first)])


def _first_copy(names: Sequence[str], xyz: Sequence[np.ndarray]) -> list[int]:
    """Numbers of the residues but for molecules whose residues one before them has as well.

    As of a dimer from which all lines with a ligand's name were taken. Peptides and nucleic acids,
    whose parts may have the same residues, are left as they are.
    """
    owner = np.repeat(np.arange(len(xyz)), [len(one) for one in xyz])
    points = np.concatenate([np.empty((0, 3)), *xyz])
    molecule = list(range(len(names)))
    for one, two in owner[near_pairs(points, np.ones(len(points), bool), LINK)].tolist():
        low, high = sorted((molecule[one], molecule[two]))
        if low != high:
            molecule = [low if number == high else number for number in molecule]
    parts: dict[int, Counter[str]] = {}
    for name, number in zip(names, molecule, strict=True):
        parts.setdefault(number, Counter())[name] += 1
    kept: list[int] = []
    for number, mine in sorted(parts.items()):
        known = [gemmi.find_tabulated_residue(name) for name in mine]
        is_chain = any(one.is_amino_acid() or one.is_nucleic_acid() for one in known)
        if is_chain or not any(mine <= parts[other] for other in kept):
            kept.append(number)
    return [row for row, number in enumerate(molecule) if number in kept]


def _preferred(one: gemmi.Atom, other: gemmi.Atom) -> bool:
    return (-one.occ, one.altloc) < (-other.occ, other.altloc)
