"""The atoms of a structure file that are kept, the reasons for the others, and neighbours.

Rules are applied in order, and the first one that applies to an atom decides. The audit lists these
decisions; its atoms add up to those of the file and of the copies that an assembly added.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Sequence

import gemmi
import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.structure import OTHER, Atoms, Place
from ligen_py.molecules.residues import SAME_AS, WATERS
from ligen_py.records.column import STRING
from ligen_py.records.pocket import Audit

LINK = 2.0
"""Two atoms of neighbouring residues this near (Angstrom) are linked."""

NEIGHBOUR = 2.6
"""No bond between the heavy non-metal atoms of `COVALENT_RADIUS` that occur here is longer."""

SUGARS = (gemmi.ResidueKind.PYR, gemmi.ResidueKind.KET)

ATOMS_APART, WATERS_APART = 1.0, 1.8
"""Angstrom; two residues outside the chains, or two waters, with nearer atoms are in one place."""

POLYMER_LINKS = frozenset((("C", "N"), ("N", "C"), ("O3'", "P"), ("P", "O3'")))
CROSSLINKS = frozenset(
    pair
    for one, other in (
        ("NZ", "C"), ("NZ", "CG"), ("NZ", "CD"), ("NZ", "OD"), ("SG", "CE1"), ("SG", "CE2"),
        ("SG", "CD"), ("SG", "CB"), ("SG", "CH3"),
    )
    for pair in ((one, other), (other, one))
)  # fmt: skip
"""A lysine bound to the end of a chain, an aspartate or a glutamate, or by an oxygen to a cysteine
(an NOS bridge, residue CSO). A cysteine bound to a histidine, as in tyrosinase, to a tyrosine, as
in galactose oxidase, to a glutamine (the thioester of complement C3), to another residue's CB
(lanthionine) or to the acetyl group that begins a cyclic peptide."""
BRIDGES = CROSSLINKS | {("SG", "SG")}
LINKS = POLYMER_LINKS | BRIDGES
"""Names of atoms through which residues are bound; bridges may be between two chains."""

MOST_GROUPS = 12
"""So many hetero groups are listed where a ligand's name is none of theirs, the largest first."""

ACTIONS = ("chosen", "changed", "added", "noted", "kept", "dropped")
"""Actions of an audit, in its order; each atom is counted once, as kept or dropped."""


class Selection:
    """Decisions on the atoms of a structure; the first one for an atom counts."""

    def __init__(self, atoms: Atoms, source: str) -> None:
        self.atoms = atoms
        self.source = source
        self.xyz = atoms.xyz.copy()
        self.places = sorted(set(atoms.place))
        numbers = {place: number for number, place in enumerate(self.places)}
        self.residue = np.array([numbers[place] for place in atoms.place], np.int64)
        self.open = np.ones(len(atoms), bool)
        self.heavy = atoms.element != 1
        self.water = np.array([is_water(place.residue) for place in self.places], bool)
        self.pairs = np.empty((0, 2), np.int64)
        self.polymer = np.zeros(len(self.places), bool)
        # Atoms of other copies of the reference ligand; dropped, they still stand where they are.
        self.copies = np.zeros(len(atoms), bool)
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.notes: list[tuple[str, str, int, str]] = []

    def settle(
        self, which: np.ndarray, action: str, reason: str, part: Callable[[Place], str]
    ) -> None:
        """Decide on the open atoms of a mask or list; one row of the audit for each part."""
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        for atom in numbers[self.open[numbers]]:
            self.counts[part(self.atoms.place[atom]), action, reason] += 1
        self.open[numbers] = False

    def drop(self, which: np.ndarray, reason: str, part: Callable[[Place], str]) -> None:
        """Drop the open atoms of a mask or list."""
        self.settle(which, "dropped", reason, part)

    def note(self, part: str, reason: str, action: str = "noted", atoms: int = 0) -> None:
        """Add a row that is not a decision on an atom of the file."""
        self.notes.append((part, action, atoms, reason))

    def residues(self, mask: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Residues with atoms in a mask: number, and which atoms (all of one model)."""
        index = np.flatnonzero(mask)
        found, first = np.unique(self.residue[index], return_index=True)
        return (
            list(zip(found.tolist(), np.split(index, first[1:]), strict=True)) if len(index) else []
        )

    def connect(self) -> None:
        """Find neighbours among the open atoms, and the residues that are part of a chain."""
        self.pairs = near_pairs(self.xyz, self.open & self.heavy, NEIGHBOUR)
        self.polymer = _is_polymer(self)

    def named(self, words: Sequence[str], key: str) -> np.ndarray:
        """Residues (places,) named by words: name, chain/number or chain/name/number.

        Raises InputError if a word names no residue with open atoms.
        """
        present = np.unique(self.residue[self.open]).tolist()
        result = np.zeros(len(self.places), bool)
        for word in words:
            found = [number for number in present if word in _names(self.places[number])]
            if not found:
                out = [str(place) for place in self.places if word in _names(place)]
                if out:
                    raise InputError(
                        f"{self.source}: {key}: {word} is {out[0]}, which is left out; check "
                        "chains, drop and what else is taken from the structure"
                    )
                hint = self._called_like(word, present, key == "ligand_name")
                raise InputError(f"{self.source}: {key}: no residue is called {word}{hint}")
            result[found] = True
        return result

    def _called_like(self, word: str, present: Sequence[int], is_ligand: bool) -> str:
        """What may be meant by a word that names none of the residues present, for a message.

        Numbers of residues are near to anything; a ligand is one of the few hetero groups.
        """
        known = sorted({name for number in present for name in _names(self.places[number])})
        same = [name for name in known if name.casefold() == word.casefold()]
        if is_ligand and not same:
            size = np.bincount(self.residue[self.open & self.heavy], minlength=len(self.places))
            free = [number for number in present if not (self.polymer | self.water)[number]]
            free.sort(key=lambda number: -size[number])
            groups = ", ".join(str(self.places[number]) for number in free[:MOST_GROUPS])
            more = ", ..." if len(free) > MOST_GROUPS else ""
            return (
                f"; the hetero groups are {groups}{more}" if free else "; no hetero group is there"
            )
        close = same or difflib.get_close_matches(word, known, n=3, cutoff=0.5)
        return f"; near to it are {', '.join(close)}" if close else ""

    def audit(self) -> Audit:
        """The notes, then the decisions as rows, sorted by action, reason and part."""
        counted = sorted((*key[:2], count, key[2]) for key, count in self.counts.items())
        counted.sort(key=lambda row: (row[3], row[0]))
        rows = sorted([*self.notes, *counted], key=lambda row: ACTIONS.index(row[1]))
        part, action, count, reason = zip(*rows, strict=True) if rows else [()] * 4
        return Audit(
            part=np.array(part, STRING),
            action=np.array(action, STRING),
            atoms=np.array(count, "i4"),
            reason=np.array(reason, STRING),
        )


def each(place: Place) -> str:
    """The audit's part for a single residue."""
    return str(place)


def chain(place: Place) -> str:
    """The audit's part for a residue's whole chain."""
    return f"chain {place.chain}"


def _names(place: Place) -> tuple[str, ...]:
    """What a residue may be called by: the whole label, or its name as the file has it."""
    here = f"{place.chain}/{place.number}{place.insertion}"
    bare = place._replace(residue=place.residue.removesuffix(OTHER))
    return bare.residue, here, str(bare), *({place.residue, str(place)} - {bare.residue, str(bare)})


def is_water(residue: str) -> bool:
    """Whether a residue's name is one of water's."""
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


def linked(
    selection: Selection, pairs: np.ndarray, links: frozenset[tuple[str, str]]
) -> np.ndarray:
    """Which pairs (pairs, 2) link two residues: of one chain, but for bridges."""
    atoms = selection.atoms
    found = selection.residue[pairs[:, 0]] != selection.residue[pairs[:, 1]]
    for row in np.flatnonzero(found):
        one, two = pairs[row]
        # Before 2008 the PDB wrote O3* for O3'.
        names = (atoms.name[one].replace("*", "'"), atoms.name[two].replace("*", "'"))
        near = float(np.linalg.norm(selection.xyz[one] - selection.xyz[two])) < LINK
        same_chain = atoms.place[one].chain == atoms.place[two].chain
        is_near = near or names == ("SG", "SG")
        found[row] = names in links and is_near and (same_chain or names in BRIDGES)
    return found


def in_sequence(selection: Selection, mask: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The residues of a mask, each followed by the one that its C or O3' is bound to.

    Numbers need not follow the sequence: those of a fused protein stand apart, and insertion codes
    may count down. Else in the order of `Selection.residues`, which also has the form of this.
    """
    atoms, rows = selection.atoms, dict(selection.residues(mask))
    pairs = selection.pairs[mask[selection.pairs].all(axis=1)]
    links = pairs[linked(selection, pairs, POLYMER_LINKS)]
    after = {
        int(selection.residue[one]): int(selection.residue[two])
        for one, two in [*links.tolist(), *links[:, ::-1].tolist()]
        if atoms.name[one] in ("C", "O3'", "O3*")
    }
    behind, found = set(after.values()), dict[int, np.ndarray]()
    # The last are those of rings, which begin anywhere.
    for first in [*(number for number in rows if number not in behind), *rows]:
        number: int | None = first
        while number is not None and number not in found:
            found[number] = rows[number]
            number = after.get(number)
    return list(found.items())


def _is_polymer(selection: Selection) -> np.ndarray:
    """Residues that are part of a chain: by a link, or as an ATOM record with a known name.

    A free amino acid or nucleotide in HETATM records is a ligand; a modified residue is not.
    """
    polymer = np.zeros(len(selection.places), bool)
    links = selection.pairs[linked(selection, selection.pairs, POLYMER_LINKS)]
    polymer[selection.residue[links.ravel()]] = True
    written_so = np.ones(len(polymer), bool)
    written_so[selection.residue[selection.atoms.hetero & selection.open]] = False
    for number, place in enumerate(selection.places):
        known = gemmi.find_tabulated_residue(SAME_AS.get(place.residue, place.residue))
        if written_so[number] and (known.is_amino_acid() or known.is_nucleic_acid()):
            polymer[number] = True
    return polymer


def choose_locations(selection: Selection, letter: str, beside: np.ndarray) -> None:
    """Choose one residue a position and one location an atom: most occupied, then first letter.

    With the `letter` of a ligand, a residue with an atom `beside` it (mask) takes that letter where
    it has it.
    """
    atoms = selection.atoms
    beside = np.isin(selection.residue, selection.residue[beside]) & (letter != "")
    positions: dict[tuple[str, int, str], list[np.ndarray]] = {}
    for number, index in selection.residues(selection.open):
        if (atoms.altloc[index] != "").all():
            chain, seq, insertion, _ = selection.places[number]
            positions.setdefault((chain, seq, insertion), []).append(index)
    for rivals in positions.values():
        best = min(rivals, key=lambda index: _rank(atoms, index, letter, beside))
        reason = f"alternate residue; {atoms.place[best[0]].residue} is kept there"
        for index in rivals:
            if index is not best:
                selection.drop(index, reason, each)
    lettered = selection.open & (atoms.altloc != "")
    mixed = set(selection.residue[lettered].tolist())
    for number, index in selection.residues(selection.open) if mixed else ():
        if number in mixed:
            # Old files leave out the first letter of two.
            names = set(atoms.name[index[lettered[index]]])
            rivals = [i for i in index.tolist() if atoms.name[i] in names]
            _choose_location(selection, np.array(rivals, np.int64), letter, beside)


def drop_overlaps(selection: Selection, wanted: np.ndarray) -> None:
    """Keep one of residues outside the chains that stand in one place under two numbers.

    Such as a zinc and a cadmium ion, or the two places of a ligand or a water. What is wanted (mask
    of residues) stays, then a molecule rather than an ion, and that rather than a water, then the
    more occupied, then the first.
    """
    atoms = selection.atoms
    mine = selection.open & selection.heavy & ~selection.polymer[selection.residue]
    pairs = near_pairs(selection.xyz, mine, WATERS_APART)
    near = np.linalg.norm(selection.xyz[pairs[:, 0]] - selection.xyz[pairs[:, 1]], axis=1)
    one, two = selection.residue[pairs].T
    both_waters = selection.water[one] & selection.water[two]
    one, two = (side[(one != two) & (both_waters | (near < ATOMS_APART))] for side in (one, two))
    rivals: dict[int, set[int]] = {}
    for first, second in [*np.stack([one, two], 1).tolist(), *np.stack([two, one], 1).tolist()]:
        rivals.setdefault(first, set()).add(second)
    index = dict(selection.residues(mine & np.isin(selection.residue, list(rivals))))
    rank = {
        n: (not wanted[n], selection.water[n], len(rows) == 1, *_rank(atoms, rows), n)
        for n, rows in index.items()
    }
    kept: set[int] = set()
    for number in sorted(rivals, key=rank.__getitem__):
        others = sorted(rivals[number] & kept)
        if others:
            reason = f"stands where {selection.places[others[0]]} is, which is kept"
            selection.drop(selection.residue == number, reason, each)
        else:
            kept.add(number)


def _rank(
    atoms: Atoms, index: np.ndarray, letter: str = "", beside: np.ndarray | None = None
) -> tuple[bool, float, str]:
    """Sort key: what a ligand is with, then the most occupied, then the first location."""
    is_with = beside is not None and bool((beside[index] & (atoms.altloc[index] == letter)).any())
    occupied = round(float(atoms.occupancy[index].mean()), 4)
    return not is_with, -occupied, min(atoms.altloc[index])


def _choose_location(
    selection: Selection, index: np.ndarray, with_ligand: str, beside: np.ndarray
) -> None:
    """Choose one letter for a whole residue; an atom without that letter gets its own best one."""
    atoms, letter = selection.atoms, selection.atoms.altloc[index]
    best = min(
        sorted(set(letter)),
        key=lambda one: _rank(atoms, index[letter == one], with_ligand, beside),
    )
    rivals: dict[str, list[int]] = {}
    for i in index.tolist():
        name = atoms.name[i]
        # Deuterium takes the place of the hydrogen that is called as it.
        name = f"H{name[1:]}" if atoms.symbol[i] == "D" and name[:1] == "D" else name
        rivals.setdefault(name, []).append(i)
    lost = []
    for same in rivals.values():
        same.sort(key=lambda i: (atoms.altloc[i] != best, -atoms.occupancy[i], atoms.altloc[i]))
        lost += same[1:]
    reason = "alternate location; the most occupied, then the first is kept"
    if best and best == with_ligand and beside[index].any():
        reason = "alternate location; that of the reference ligand is kept"
    selection.drop(
        np.array(lost, np.int64), reason, lambda place: f"{place} other than {best or 'blank'}"
    )
