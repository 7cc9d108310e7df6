"""The groups of a prepared receptor: from its atoms' roles, names, hydrogens and distances."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS
from ligen_py.molecules.interactions.groups import Donor, Groups, Ring
from ligen_py.molecules.residues import SAME_AS, WATERS
from ligen_py.molecules.typing.xscore_residues import is_standard
from ligen_py.records.functions.xscore import GIVES, TAKES, Interaction
from ligen_py.records.site import Site

RINGS = {
    "PHE": ("CG CD1 CE1 CZ CE2 CD2",),
    "TYR": ("CG CD1 CE1 CZ CE2 CD2",),
    "TRP": ("CG CD1 NE1 CE2 CD2", "CD2 CE2 CZ2 CH2 CZ3 CE3"),
    "HIS": ("CG ND1 CE1 NE2 CD2",),
}
"""Aromatic rings of amino acids; those of other residues are found."""

POSITIVE = {"LYS": ("NZ",), "ARG": ("NE", "CZ", "NH1", "NH2")}
NEGATIVE = {"ASP": ("OD1", "OD2"), "GLU": ("OE1", "OE2")}
AMINE = 1, 2
"""Heavy neighbours and hydrogens of a lysine's nitrogen without a charge."""

NEAR = 1.3
"""A polar hydrogen this near (Angstrom) to an atom is bonded to it."""

FLAT = 0.08
"""Atoms of an aromatic ring lie this near (Angstrom) to its plane."""

RADIUS = np.full(120, 1.5)
"""Covalent radii by atomic number."""
for _symbol, _number in {
    "B": 5, "C": 6, "N": 7, "O": 8, "F": 9, "SI": 14, "P": 15, "S": 16, "CL": 17, "SE": 34,
    "BR": 35, "I": 53,
}.items():  # fmt: skip
    RADIUS[_number] = COVALENT_RADIUS[_symbol]


@dataclass(frozen=True)
class Surroundings:
    """A receptor in terms of what can interact."""

    groups: Groups
    residue: list[str]
    """Of each atom: name, number and chain, as `ASP27 A`."""
    number: list[str]
    """Of each atom: its residue's number alone, as a name may end with one (SF4)."""
    water: np.ndarray
    """Which atoms are waters, bool."""
    polar: np.ndarray
    """Which atoms can hold a water: donors, acceptors and metals, bool."""
    element: np.ndarray
    name: list[str]
    """Name of each atom in its residue."""
    bonds: list[tuple[int, int]]
    """Pairs of bonded heavy atoms."""


def surroundings(site: Site) -> Surroundings:
    """The heavy atoms of a site of one conformation, their bonds and groups."""
    heavy = np.flatnonzero(site.element > 1)
    hydrogens = site.xyz[site.element == 1].astype(float)
    xyz, element, role = site.xyz[heavy].astype(float), site.element[heavy], site.role[heavy]
    places = [str(site.label[row]).split("/") for row in heavy]
    atoms = [place[-1] for place in places]
    kinds = [SAME_AS.get(place[1], place[1]) if len(place) > 1 else "" for place in places]
    names = [_residue(place) for place in places]
    residues = [place[2] if len(place) > 2 else "" for place in places]
    bonds = _bonds(xyz, element, role, site.residue[heavy])
    around: list[list[int]] = [[] for _ in heavy]
    for one, two in bonds:
        around[one].append(two)
        around[two].append(one)
    water = np.array([kind in WATERS for kind in kinds], bool)
    metal = role == Interaction.METAL
    rings = list(_rings(xyz, element, atoms, kinds, site.residue[heavy], around))
    held = [hydrogens[_near(hydrogens, place, NEAR)] for place in xyz]
    numbers = range(len(heavy))
    takes = [
        row
        for row in numbers
        if water[row] or (role[row] in TAKES and not (element[row] == 7 and len(held[row])))
    ]
    donors = [_donor(row, element, around, held[row], water[row]) for row in numbers
              if water[row] or (role[row] in GIVES and len(held[row]))]  # fmt: skip
    groups = Groups(
        xyz=xyz,
        donors=donors,
        acceptors=takes,
        hydrophobic=[row for row in numbers if _hydrophobic(row, element, around)],
        positive=[
            *_bases(element, kinds, atoms, around, held),
            *_histidines(kinds, atoms, names, held),
            *_ammonium(element, kinds, atoms, around, held),
        ],
        negative=[
            *_carboxylates(element, kinds, atoms, names, around, held),
            *_acids(element, kinds, atoms, around, held),
        ],
        rings=rings,
        halogen_acceptors=[
            (row, other)
            for row in numbers
            if element[row] == 16 or row in takes
            for other in around[row]
        ],
        metals=np.flatnonzero(metal).tolist(),
    )
    polar = np.isin(role, [*GIVES, *TAKES, Interaction.METAL]) & ~water
    return Surroundings(groups, names, residues, water, polar, element, atoms, bonds)


def _residue(place: list[str]) -> str:
    chain, kind, number = (*place, "", "", "")[:3]
    return f"{kind}{number} {chain}".strip()


def _near(points: np.ndarray, place: np.ndarray, most: float) -> np.ndarray:
    return np.flatnonzero(((points - place) ** 2).sum(axis=1) < most**2)


def _bonds(
    xyz: np.ndarray, element: np.ndarray, role: np.ndarray, residue: np.ndarray
) -> list[tuple[int, int]]:
    """Pairs of atoms nearer than their covalent radii allow; metals are bonded to nothing."""
    radius = RADIUS[np.minimum(element, len(RADIUS) - 1)]
    found = []
    for row in range(len(xyz)):
        if role[row] == Interaction.METAL:
            continue
        apart = np.linalg.norm(xyz[row + 1 :] - xyz[row], axis=1)
        near = apart < radius[row] + radius[row + 1 :] + BOND_TOLERANCE
        near &= (role[row + 1 :] != Interaction.METAL) & (apart > 0.5)
        found += [(row, int(other)) for other in np.flatnonzero(near) + row + 1]
    return found


def _donor(
    row: int, element: np.ndarray, around: list[list[int]], held: np.ndarray, water: bool
) -> Donor:
    if water:
        return Donor(row)
    places = tuple(tuple(map(float, place)) for place in held)
    turns = len(around[row]) == 1 and (element[row] != 7 or len(held) == 3)
    return Donor(row, places, around[row][0] if turns else None)  # type: ignore[arg-type]


def _hydrophobic(row: int, element: np.ndarray, around: list[list[int]]) -> bool:
    """Carbons beside carbon and hydrogen alone, thioethers, heavy halogens."""
    if element[row] == 16:
        return len(around[row]) == 2
    if element[row] != 6:
        return bool(element[row] in (17, 35, 53))
    return all(element[other] == 6 for other in around[row])


def _charged(table: Mapping[str, Sequence[str]], kinds: list[str], atoms: list[str]) -> list[int]:
    pairs = enumerate(zip(kinds, atoms, strict=True))
    return [row for row, (kind, atom) in pairs if atom in table.get(kind, ())]


def _bases(
    element: np.ndarray,
    kinds: list[str],
    atoms: list[str],
    around: list[list[int]],
    held: list[np.ndarray],
) -> list[int]:
    """Nitrogens and the carbon of lysine and arginine; amines, R-NH2, and amides are neutral."""
    found = []
    for row in _charged(POSITIVE, kinds, atoms):
        ends = [o for other in around[row] for o in around[other] if len(around[o]) == 1]
        is_amide = len(around[row]) == 2 and any(element[o] == 8 for o in ends)
        is_amine = (len(around[row]), len(held[row])) == AMINE
        if kinds[row] != "LYS" or not (is_amine or is_amide):
            found.append(row)
    return found


def _carboxylates(
    element: np.ndarray,
    kinds: list[str],
    atoms: list[str],
    names: list[str],
    around: list[list[int]],
    held: list[np.ndarray],
) -> list[int]:
    """Oxygens of aspartate and glutamate; an acid with its hydrogen, an ester, an amide are not."""
    rows = _charged(NEGATIVE, kinds, atoms)
    neutral = {
        names[row]
        for row in rows
        if len(held[row])
        or len(around[row]) > 1
        or any(element[other] == 7 for middle in around[row] for other in around[middle])
    }
    return [row for row in rows if names[row] not in neutral]


def _histidines(
    kinds: list[str], atoms: list[str], names: list[str], held: list[np.ndarray]
) -> list[int]:
    """Ring nitrogens of histidines with a hydrogen on both."""
    rows: dict[str, list[int]] = {}
    for row, (kind, atom) in enumerate(zip(kinds, atoms, strict=True)):
        if kind == "HIS" and atom in ("ND1", "NE2") and len(held[row]):
            rows.setdefault(names[row], []).append(row)
    return [row for own in rows.values() if len(own) == 2 for row in own]


def _ammonium(
    element: np.ndarray,
    kinds: list[str],
    atoms: list[str],
    around: list[list[int]],
    held: list[np.ndarray],
) -> list[int]:
    """Nitrogens with four bonds, as of a chain's first residue, of buffers and methyllysines."""
    return [
        row
        for row in np.flatnonzero(element == 7).tolist()
        if atoms[row] not in POSITIVE.get(kinds[row], ()) and len(around[row]) + len(held[row]) == 4
    ]


def _acids(
    element: np.ndarray,
    kinds: list[str],
    atoms: list[str],
    around: list[list[int]],
    held: list[np.ndarray],
) -> list[int]:
    """Oxygens of phosphates, sulfates and terminal carboxylates, as of cofactors.

    An acid's charge is shared by two oxygens or more. Sulfoxides, sulfones and sulfonamides have
    further bonds in the place of the acid's.
    """
    found = []
    for row in np.flatnonzero(element == 8).tolist():
        if len(around[row]) != 1 or len(held[row]) or atoms[row] in NEGATIVE.get(kinds[row], ()):
            continue
        (centre,) = around[row]
        ends = [o for o in around[centre] if element[o] in (8, 16) and len(around[o]) == 1]
        bare = [o for o in ends if not len(held[o])]
        further = len(around[centre]) - len(ends)
        if len(bare) > 1 and (
            element[centre] in (6, 15) or (element[centre] == 16 and further < 2)
        ):
            found.append(row)
    return found


def _rings(
    xyz: np.ndarray,
    element: np.ndarray,
    atoms: list[str],
    kinds: list[str],
    residue: np.ndarray,
    around: list[list[int]],
) -> Iterator[Ring]:
    for number in np.unique(residue):
        rows = np.flatnonzero(residue == number)
        kind = kinds[rows[0]]
        if kind in RINGS:
            place = {atoms[row]: int(row) for row in rows}
            for words in RINGS[kind]:
                names = words.split()
                if all(name in place for name in names):
                    yield Ring.of(tuple(place[name] for name in names), xyz)
        elif not is_standard(kind):
            for ring in _flat_rings(rows, xyz, element, around):
                if all(atoms[row] != "CA" for row in ring.atoms):  # a proline's is saturated
                    yield ring


def _flat_rings(
    rows: np.ndarray, xyz: np.ndarray, element: np.ndarray, around: list[list[int]]
) -> Iterator[Ring]:
    """Flat rings of five or six carbons and nitrogens, as of cofactors."""
    mine, seen = set(rows.tolist()), set[frozenset[int]]()

    def walk(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Closed paths of five or six atoms that go on from a path without a repeated atom."""
        for other in around[path[-1]]:
            if other == path[0] and len(path) in (5, 6):
                yield path
            elif other in mine and other not in path and len(path) < 6:
                yield from walk((*path, other))

    for row in rows.tolist():
        for path in walk((row,)):
            if frozenset(path) in seen:
                continue
            seen.add(frozenset(path))
            ring = Ring.of(path, xyz)
            height = np.abs((xyz[list(path)] - ring.centre) @ ring.normal)
            if np.isin(element[list(path)], (6, 7)).all() and height.max() < FLAT:
                yield ring
