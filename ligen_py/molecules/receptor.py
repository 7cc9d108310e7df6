"""From a structure file to the receptor: what is kept, what is dropped, and why.

Every atom of the file meets the rules below in order and leaves with the first that applies to it;
the audit is the list of these verdicts, and its atoms add up to the atoms of the file.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import gemmi
import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.charging import Heavy, charge
from ligen_py.molecules.site import Site
from ligen_py.molecules.structure import Atoms, Place, read_atoms
from ligen_py.molecules.vina import receptor_types
from ligen_py.molecules.xscore import (
    BOND_TOLERANCE,
    COVALENT_RADIUS,
    METALS,
    SAME_AS,
    WATERS,
    ReceptorType,
    cofactor_types,
    is_standard,
    receptor_type,
)
from ligen_py.records import STRING, Audit, ChargedReceptor, Receptor

log = logging.getLogger("ligen_py")

ADDITIVES = frozenset((
    "GOL", "EDO", "PEG", "PGE", "PG4", "PG0", "PG5", "PG6", "1PE", "2PE", "P6G", "7PE", "12P",
    "15P", "P33", "PE3", "PE4", "PE5", "PE8", "XPE", "MPD", "MRD", "PGO", "PGR", "DMS", "DMF",
    "IPA", "EOH", "MOH", "POL", "BU1", "BUD", "DIO", "ACN", "ACT", "ACY", "FMT", "CIT", "FLC",
    "TAR", "TLA", "SRT", "MLI", "MLA", "OXL", "SO4", "NO3", "NH4", "SCN", "AZI", "CL", "BR",
    "IOD", "TRS", "BTB", "EPE", "MES", "MPO", "NHE", "CXS", "CAC", "IMD", "BME", "DTT", "TCE",
    "HEZ", "BOG", "LMT", "LDA", "C8E", "UNX",
))  # fmt: skip
"""Residue names of what crystals are grown, cooled and buffered in: cryoprotectants, precipitants,
buffers, reducing agents, detergents and their ions. Sulfate is here because it is nearly always the
precipitant. Phosphate is not: it is as often a substrate or product, so it is kept where it is near
the site, like a cofactor. TES is not: that name is testosterone's."""

SAME_PLACE = 0.5
"""An atom this near (Angstrom) to one of the reference ligand is the same atom."""

NEARER_THAN_A_BOND = 1.0
"""A hetero group this near (Angstrom) to the reference ligand cannot stay beside it."""

LINK = 2.0
"""Two atoms of neighbouring residues this near (Angstrom) are linked."""

NEIGHBOUR = 2.6
"""No bond between the heavy non-metal atoms of `COVALENT_RADIUS` that occur here is longer."""

POLYMER_LINKS = frozenset((("C", "N"), ("N", "C"), ("O3'", "P"), ("P", "O3'")))
LINKS = POLYMER_LINKS | {("SG", "SG")}
"""Names of atoms through which residues are bound: peptide, nucleotide and disulfide links."""

BACKBONE = frozenset(("N", "CA", "C", "O", "OXT"))


@dataclass(frozen=True)
class Prepared:
    """What a site sees of a structure file."""

    receptor: Receptor
    """Atoms near the box, in whole residues."""
    charged: ChargedReceptor
    """The same atoms and their polar hydrogens, with charges."""
    xyz: np.ndarray
    """All kept heavy atoms (atoms, 3), Angstrom, float64, however far: they make the field."""
    element: np.ndarray
    """Their atomic numbers (atoms,), u1."""
    audit: Audit


class Selection:
    """Verdicts on the atoms of a structure: each atom takes the first one given to it."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self.places = sorted(set(atoms.place))
        numbers = {place: number for number, place in enumerate(self.places)}
        self.residue = np.array([numbers[place] for place in atoms.place], np.int64)
        self.open = np.ones(len(atoms), bool)
        self.heavy = atoms.element != 1
        self.hetero = np.zeros(len(self.places), bool)
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.choices: list[tuple[str, str]] = []

    def settle(
        self, which: np.ndarray, action: str, reason: str, part: Callable[[Place], str]
    ) -> None:
        """Give a verdict to the open atoms of a mask or list; one row of the audit a part."""
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        for atom in numbers[self.open[numbers]]:
            self.counts[part(self.atoms.place[atom]), action, reason] += 1
        self.open[numbers] = False

    def drop(self, which: np.ndarray, reason: str, part: Callable[[Place], str]) -> None:
        """Drop the open atoms of a mask or list."""
        self.settle(which, "dropped", reason, part)

    def choose(self, part: str, reason: str) -> None:
        """Note a choice that concerns no single atom."""
        self.choices.append((part, reason))

    def residues(self, mask: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Residues with atoms in a mask: number, and which atoms (all of one model)."""
        index = np.flatnonzero(mask)
        found, first = np.unique(self.residue[index], return_index=True)
        return (
            list(zip(found.tolist(), np.split(index, first[1:]), strict=True)) if len(index) else []
        )

    def audit(self) -> Audit:
        """The verdicts as rows: choices, then what was kept, then what was dropped."""
        rows = [(part, "chosen", 0, reason) for part, reason in self.choices]
        order = sorted(self.counts, key=lambda key: (key[1] != "kept", key[2], key[0]))
        rows += [
            (part, action, self.counts[part, action, reason], reason)
            for part, action, reason in order
        ]
        part, action, count, reason = zip(*rows, strict=True) if rows else [()] * 4
        return Audit(
            part=np.array(part, STRING),
            action=np.array(action, STRING),
            atoms=np.array(count, "i4"),
            reason=np.array(reason, STRING),
        )


def _each(place: Place) -> str:
    return str(place)


def _chain(place: Place) -> str:
    return f"chain {place.chain}"


def prepare(
    path: Path, chains: Sequence[str], site: Site, margin: float, cofactor_distance: float
) -> Prepared:
    """Read a structure file and keep what belongs to the receptor of a site.

    `chains` named: only these, their hetero groups included; none: all. Distances in Angstrom.
    Raises InputError where the file cannot be used or leaves no atom in the box.
    """
    atoms = read_atoms(path)
    selection = Selection(atoms)
    selection.choose("site", f"{site}, {site.source}")
    _drop_unusable(selection, path, chains)
    pairs = near_pairs(atoms.xyz, selection.open & selection.heavy, NEIGHBOUR)
    _drop_hetero(selection, pairs, site, cofactor_distance)
    selection.drop(~selection.heavy, "hydrogen: implied by the types of the heavy atoms", _chain)
    _choose_locations(selection)
    selection.drop(atoms.element == 0, "unknown element: write it into columns 77 and 78", _each)
    kept = selection.open.copy()
    _check_box(path, selection, site)
    near = _drop_far(selection, site, margin)
    receptor, charged = _receptor(selection, pairs, kept, near)
    _keep(selection, site)
    audit = selection.audit()
    if audit.atoms.sum() != len(atoms):
        raise InputError(
            f"{path}: an unexplained loss: the file has {len(atoms)} atoms, the audit explains "
            f"{audit.atoms.sum()}; please report this file"
        )
    return Prepared(receptor, charged, atoms.xyz[kept], atoms.element[kept], audit)


def _drop_unusable(selection: Selection, path: Path, chains: Sequence[str]) -> None:
    """Models but the first, other chains, atoms without coordinates, waters."""
    atoms = selection.atoms
    models = int(atoms.model.max()) + 1
    if models > 1:
        selection.choose("model 1", f"the first of {models}")
    selection.drop(atoms.model > 0, "not the first model", _chain)
    found = sorted({place.chain for place in atoms.place})
    missing = [chain for chain in chains if chain not in found]
    if missing:
        raise InputError(
            f"{path}: has no chain {', '.join(missing)}; its chains are {', '.join(found)}"
        )
    if chains and set(chains) != set(found):
        selection.choose(f"chain {', '.join(sorted(set(chains)))}", f"of {', '.join(found)}")
        other = np.array([place.chain not in chains for place in atoms.place])
        selection.drop(other, "not a chosen chain", _chain)
    selection.drop(~np.isfinite(atoms.xyz).all(axis=1), "no coordinates", _each)
    water = np.array([_is_water(place.residue) for place in selection.places])
    selection.drop(water[selection.residue], "water", _chain)


def _is_water(residue: str) -> bool:
    return residue.upper() in WATERS or gemmi.find_tabulated_residue(residue).is_water()


def near_pairs(xyz: np.ndarray, mask: np.ndarray, cutoff: float) -> np.ndarray:
    """Pairs (pairs, 2) of masked points nearer than a cut-off; i < j, sorted. A cell list."""
    index = np.flatnonzero(mask)
    points = xyz[index]
    if not len(points):
        return np.empty((0, 2), np.int64)
    cell = np.floor((points - points.min(axis=0)) / cutoff).astype(np.int64) + 1
    size = cell.max(axis=0) + 2
    key = (cell[:, 0] * size[1] + cell[:, 1]) * size[2] + cell[:, 2]
    order = np.argsort(key, kind="stable")
    found = []
    for shift in np.ndindex(3, 3, 3):
        x, y, z = (step - 1 for step in shift)
        target = key + (x * size[1] + y) * size[2] + z
        first = np.searchsorted(key, target, "left", sorter=order)
        count = np.searchsorted(key, target, "right", sorter=order) - first
        one = np.repeat(np.arange(len(points)), count)
        ramp = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        two = order[np.repeat(first, count) + ramp]
        near = (one < two) & (((points[one] - points[two]) ** 2).sum(axis=1) < cutoff**2)
        found.append(np.stack([one[near], two[near]], axis=1))
    pairs = index[np.concatenate(found)]
    return pairs[np.lexsort(pairs.T[::-1])]


def _linked(
    selection: Selection, pairs: np.ndarray, links: frozenset[tuple[str, str]]
) -> np.ndarray:
    """Which pairs link two residues: of one chain, but for disulfides."""
    atoms = selection.atoms
    linked = selection.residue[pairs[:, 0]] != selection.residue[pairs[:, 1]]
    for row in np.flatnonzero(linked):
        one, two = pairs[row]
        names = (atoms.name[one], atoms.name[two])
        bridge = names == ("SG", "SG")
        near = bridge or float(np.linalg.norm(atoms.xyz[one] - atoms.xyz[two])) < LINK
        same_chain = atoms.place[one].chain == atoms.place[two].chain
        linked[row] = names in links and near and (bridge or same_chain)
    return linked


def _is_polymer(selection: Selection, pairs: np.ndarray) -> np.ndarray:
    """Residues that are part of a chain: by a link, or as an ATOM record with a known name.

    A free amino acid or nucleotide in HETATM records is a ligand; a modified residue is not.
    """
    polymer = np.zeros(len(selection.places), bool)
    links = pairs[_linked(selection, pairs, POLYMER_LINKS)]
    polymer[selection.residue[links.ravel()]] = True
    written_so = np.ones(len(polymer), bool)
    written_so[selection.residue[selection.atoms.hetero]] = False
    for number, place in enumerate(selection.places):
        known = gemmi.find_tabulated_residue(SAME_AS.get(place.residue, place.residue))
        if written_so[number] and (known.is_amino_acid() or known.is_nucleic_acid()):
            polymer[number] = True
    return polymer


def _drop_hetero(
    selection: Selection, pairs: np.ndarray, site: Site, cofactor_distance: float
) -> None:
    """The reference ligand, what stands in its place, additives, and what is far from the site."""
    polymer = _is_polymer(selection, pairs)
    for number, index in selection.residues(selection.open):
        xyz = selection.atoms.xyz[index[selection.heavy[index]]]
        name = selection.places[number].residue.upper()
        to_ligand = _nearest(xyz, site.ligand)
        selection.hetero[number] = not polymer[number]
        if len(xyz) and (to_ligand < SAME_PLACE).mean() > 0.5:
            selection.drop(index, "the reference ligand itself", _each)
        elif polymer[number]:
            continue
        elif len(xyz) and to_ligand.min() < NEARER_THAN_A_BOND:
            selection.drop(index, "stands where the reference ligand is", _each)
        elif name in ADDITIVES:
            selection.drop(index, "crystallisation additive", _each)
        elif len(xyz):
            nearest = (to_ligand if len(site.ligand) else site.distance(xyz)).min()
            if nearest > cofactor_distance:
                limit = f"hetero group farther than {cofactor_distance:g} A"
                selection.drop(index, f"{limit}: {_away(nearest, site)}", _each)


def _away(distance: float, site: Site) -> str:
    return f"{distance:.1f} A from the {'reference ligand' if len(site.ligand) else 'box'}"


def _nearest(xyz: np.ndarray, ligand: np.ndarray) -> np.ndarray:
    """Distance (atoms,) of each position from the nearest ligand atom; infinite without one."""
    squared = ((xyz[:, None] - ligand) ** 2).sum(axis=2)
    return np.sqrt(squared.min(axis=1, initial=np.inf))


def _choose_locations(selection: Selection) -> None:
    """One residue a position, one location an atom: the most occupied, then the first letter."""
    atoms = selection.atoms
    positions: dict[tuple[str, int, str], list[np.ndarray]] = {}
    for number, index in selection.residues(selection.open):
        if (atoms.altloc[index] != "").all():
            chain, seq, insertion, _ = selection.places[number]
            positions.setdefault((chain, seq, insertion), []).append(index)
    for rivals in positions.values():
        best = min(rivals, key=lambda index: _rank(atoms, index))
        reason = f"alternate residue; {atoms.place[best[0]].residue} is kept there"
        for index in rivals:
            if index is not best:
                selection.drop(index, reason, _each)
    for _, index in selection.residues(selection.open & (atoms.altloc != "")):
        _choose_location(selection, index)


def _rank(atoms: Atoms, index: np.ndarray) -> tuple[float, str]:
    """Sorts the most occupied, then the first location to the front."""
    return -round(float(atoms.occupancy[index].mean()), 4), min(atoms.altloc[index])


def _choose_location(selection: Selection, index: np.ndarray) -> None:
    """One letter for a whole residue; an atom without that letter takes its own best."""
    atoms, letter = selection.atoms, selection.atoms.altloc[index]
    best = min(sorted(set(letter)), key=lambda each: _rank(atoms, index[letter == each]))
    rivals: dict[str, list[int]] = {}
    for i in index.tolist():
        rivals.setdefault(atoms.name[i], []).append(i)
    lost = []
    for same in rivals.values():
        same.sort(key=lambda i: (atoms.altloc[i] != best, -atoms.occupancy[i], atoms.altloc[i]))
        lost += same[1:]
    reason = "alternate location; the most occupied, then the first is kept"
    selection.drop(np.array(lost, np.int64), reason, lambda place: f"{place} other than {best}")


def _check_box(path: Path, selection: Selection, site: Site) -> None:
    """InputError unless some kept atom lies in the box."""
    xyz = selection.atoms.xyz[selection.open]
    if not len(xyz):
        reasons = ", ".join(sorted({reason for _, _, reason in selection.counts}))
        raise InputError(
            f"{path}: no receptor atoms are left ({reasons}); check the file and --chains"
        )
    if not (site.distance(xyz) == 0).any():
        distance = np.sqrt(((xyz - np.array(site.center)) ** 2).sum(axis=1))
        place = selection.atoms.place[np.flatnonzero(selection.open)[distance.argmin()]]
        raise InputError(
            f"{path}: no receptor atom lies in {site}; the nearest, in {place}, is "
            f"{distance.min():.1f} A from the centre; check the site and --chains"
        )


def _drop_far(selection: Selection, site: Site, margin: float) -> np.ndarray:
    """Drop residues with no atom within the margin of the box; returns the mask of what stays."""
    within = np.zeros(len(selection.places), bool)
    close = selection.open & (site.distance(selection.atoms.xyz) <= margin)
    within[selection.residue[close]] = True
    near = selection.open & within[selection.residue]
    reason = f"residue more than {margin:g} A outside the box, too far to be scored"
    selection.drop(~near, reason, _chain)
    return near


def _keep(selection: Selection, site: Site) -> None:
    """Rows for everything still open: chains as one part each, hetero groups one by one."""
    hetero = selection.hetero[selection.residue]
    selection.settle(~hetero, "kept", "residue of a chain, within reach of the box", _chain)
    for number, index in selection.residues(selection.open):
        xyz = selection.atoms.xyz[index]
        metal = len(index) == 1 and selection.atoms.symbol[index[0]] in METALS
        nearest = (_nearest(xyz, site.ligand) if len(site.ligand) else site.distance(xyz)).min()
        if not len(site.ligand) and not metal and nearest == 0:
            log.warning(
                "%s lies in the box and is kept as part of the receptor; if it is a ligand, give "
                "it as the reference ligand or take it out of the file",
                selection.places[number],
            )
        kind = "metal" if metal else "hetero group"
        selection.settle(index, "kept", f"{kind} {_away(nearest, site)}", _each)


def _receptor(
    selection: Selection, pairs: np.ndarray, kept: np.ndarray, near: np.ndarray
) -> tuple[Receptor, ChargedReceptor]:
    """The records of all atoms in `near`; their neighbours may be any of the kept atoms."""
    atoms, index = selection.atoms, np.flatnonzero(near)
    bonds = _bonds(selection, pairs[kept[pairs].all(axis=1)])
    root, rooted = _roots(atoms, bonds)
    bonded: dict[int, list[int]] = {}
    for one, two in bonds.tolist():
        bonded.setdefault(one, []).append(two)
        bonded.setdefault(two, []).append(one)
    types: dict[int, ReceptorType] = {}
    for _, residue in selection.residues(near):
        types |= _types(selection, residue, bonded)
    typed = [types[atom] for atom in index.tolist()]
    receptor = Receptor(
        xyz=atoms.xyz[index].astype("f4"),
        element=atoms.element[index],
        radius=np.array([kind.radius for kind in typed], "f4"),
        interaction=np.array([kind.interaction for kind in typed], "u1"),
        logp=np.array([kind.logp for kind in typed], "f4"),
        donor=np.array([kind.donor for kind in typed], "u1"),
        acceptor=np.array([kind.acceptor for kind in typed], "u1"),
        root=root[index].astype("f4"),
        rooted=rooted[index].astype("u1"),
        vina_type=receptor_types(
            atoms.element[index].tolist(),
            [kind.interaction for kind in typed],
            [atoms.element[bonded.get(atom, [])].tolist() for atom in index.tolist()],
        ),
        residue=np.unique(selection.residue[index], return_inverse=True)[1].astype("i4"),
        label=np.array([f"{atoms.place[atom]}/{atoms.name[atom]}" for atom in index], STRING),
    )
    return receptor, _charged(selection, index, bonded, typed)


def _charged(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    typed: list[ReceptorType],
) -> ChargedReceptor:
    """The heavy atoms `index` with the polar hydrogens of their residues, and charges."""
    atoms, row = selection.atoms, {atom: place for place, atom in enumerate(index.tolist())}
    inside = np.isin(selection.residue, selection.residue[index]) & (atoms.model == 0)
    hydrogens = inside & ~selection.heavy & np.isfinite(atoms.xyz).all(axis=1)
    heavy = Heavy(
        xyz=atoms.xyz[index],
        symbol=atoms.symbol[index].tolist(),
        name=atoms.name[index].tolist(),
        residue=selection.residue[index],
        residue_name=[atoms.place[atom].residue for atom in row],
        role=[kind.interaction for kind in typed],
        bonded=[[row[other] for other in bonded.get(atom, ()) if other in row] for atom in row],
    )
    return charge(heavy, atoms.xyz[hydrogens])


def _bonds(selection: Selection, pairs: np.ndarray) -> np.ndarray:
    """Pairs that are covalent bonds within a residue or between the residues of a chain."""
    radius = np.array([COVALENT_RADIUS.get(symbol, -9.0) for symbol in selection.atoms.symbol])
    first, second = pairs.T
    delta = selection.atoms.xyz[first] - selection.atoms.xyz[second]
    bonded = np.sqrt((delta**2).sum(axis=1)) < radius[first] + radius[second] + BOND_TOLERANCE
    inside = selection.residue[first] == selection.residue[second]
    return pairs[bonded & (inside | _linked(selection, pairs, LINKS))]


def _roots(atoms: Atoms, bonds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean position (atoms, 3) of each atom's bonded neighbours, and whether it has any."""
    total, count = np.zeros((len(atoms), 3)), np.zeros(len(atoms), np.int64)
    for one, two in ((bonds[:, 0], bonds[:, 1]), (bonds[:, 1], bonds[:, 0])):
        np.add.at(total, one, atoms.xyz[two])
        np.add.at(count, one, 1)
    return total / np.maximum(count, 1)[:, None], count > 0


def _types(
    selection: Selection, index: np.ndarray, bonded: dict[int, list[int]]
) -> dict[int, ReceptorType]:
    """X-Score types of one residue: from its table, or from its geometry where it has none.

    The geometry includes the atoms of other residues that are bound to it. In a modified amino acid
    the backbone is typed as in any other.
    """
    atoms, place = selection.atoms, selection.atoms.place[index[0]]
    if is_standard(place.residue):
        return {
            i: receptor_type(place.residue, atoms.name[i], atoms.symbol[i]) for i in index.tolist()
        }
    inside = index.tolist()
    outside = sorted({other for i in inside for other in bonded.get(i, ())} - set(inside))
    everyone = inside + outside
    found = cofactor_types(atoms.symbol[everyone].tolist(), atoms.xyz[everyone])
    types = dict(zip(inside, found, strict=False))
    if not selection.hetero[selection.residue[index[0]]]:
        for i in inside:
            if atoms.name[i] in BACKBONE and atoms.symbol[i] in ("C", "N", "O"):
                types[i] = receptor_type("ALA", atoms.name[i], atoms.symbol[i])
    return types
