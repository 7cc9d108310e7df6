"""What is worth knowing of a structure before docking: gaps, odd residues, bonds to the chain."""

import logging
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import pairwise

import gemmi
import numpy as np

from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS, HALIDES, METALS
from ligen_py.molecules.receptor.selection import (
    POLYMER_LINKS,
    SUGARS,
    Selection,
    in_sequence,
    linked,
)
from ligen_py.molecules.receptor.site import Site, nearest
from ligen_py.molecules.residues import SAME_AS, atom_name
from ligen_py.molecules.typing.xscore_residues import RECEPTOR_TYPE, is_standard

log = logging.getLogger("ligen_py")

AS_A_BOND = 2.1
"""Angstrom; heavy atoms this near, of which none is a metal, are bound: S-S has 2.05."""

SHORTEST_BOND, MOST_BONDS = 1.15, 2
"""A contact that is shorter (Angstrom), or more contacts than this, are an overlap and no bond."""

AROUND, FEWEST_AROUND, FEWEST_AROUND_LIGAND = 8.0, 5, 18
"""Fewer heavy atoms than these within 8 A of a site's centre, or of a reference ligand's centroid,
are a site in solvent: around the centroids of 245 ligands are 36 and more."""

NOT_EXPECTED = frozenset(("OXT", "SE"))

ENDS = ("first residue of its chain", "last residue of its chain")
NO_TEMPLATE = "typed from its geometry; without charges for AutoDock4, but of ions and sulfides"
BY_SMILES = "charges and hydrogens of its SMILES"
PERCEIVED = "bonds, charges and hydrogens perceived from its geometry: SMILES "
FREE_ACID = "charges and hydrogens of a free amino acid"
WITHIN = "AutoDock4 takes it as within a chain"
AMINE = "AutoDock4 takes it as an amine, by its hydrogens"
ACID = "AutoDock4 takes it as an acid, by its hydrogens"


def bound_to(selection: Selection) -> dict[int, str]:
    """Hetero residues, by number, bound to another residue, and ", bound to" with its name."""
    atoms = selection.atoms
    radius = np.array([COVALENT_RADIUS.get(symbol, -9.0) for symbol in atoms.symbol])
    result: dict[int, str] = {}
    for one, two in selection.pairs.tolist():
        if not selection.open[one] or not selection.open[two]:
            continue
        residues = selection.residue[one], selection.residue[two]
        chains = [selection.polymer[number] for number in residues]
        if residues[0] == residues[1] or all(chains) or selection.water[list(residues)].any():
            continue
        distance = float(np.linalg.norm(selection.xyz[one] - selection.xyz[two]))
        if distance > radius[one] + radius[two] + BOND_TOLERANCE:
            continue
        if len({atoms.altloc[one], atoms.altloc[two]} - {""}) > 1:
            continue
        for here, there, other_is_chain in ((0, two, chains[1]), (1, one, chains[0])):
            number = int(residues[here])
            if not chains[here] and (other_is_chain or number not in result):
                result[number] = f", bound to {atoms.place[there]}/{atoms.name[there]}"
    return result


def describe(selection: Selection, index: np.ndarray, is_bound: bool) -> str:
    """What a residue outside the chains is: water, metal, ion, glycan, covalent ligand or other."""
    place = selection.atoms.place[index[0]]
    heavy = index[selection.heavy[index]]
    if selection.water[selection.residue[index[0]]]:
        return "water"
    if len(heavy) == 1 and not is_bound:
        symbol = selection.atoms.symbol[heavy[0]]
        if symbol in METALS:
            return "metal"
        if symbol in HALIDES:
            return "ion"
    if is_bound and gemmi.find_tabulated_residue(place.residue).kind in SUGARS:
        return "glycan"
    return "covalent ligand" if is_bound else "hetero group"


def note_site(selection: Selection, site: Site) -> None:
    """Say where a site has no receptor around it, or its reference ligand is bound or overlaps."""
    if not _note_solvent(selection, site):  # what is of another frame touches an atom by chance
        _note_bond(selection, site)


def _note_solvent(selection: Selection, site: Site) -> bool:
    """Say where no receptor is around a site, as where its coordinates are of another frame."""
    dry = ~selection.water[selection.residue]
    xyz = selection.xyz[selection.open & selection.heavy & dry]
    if len(site.ligand):
        part, center = "reference ligand", site.ligand.mean(axis=0)
        within, fewest = AROUND, FEWEST_AROUND_LIGAND
    else:
        part, center = "site", np.array(site.center)
        within, fewest = max(AROUND, site.half_side / 2), FEWEST_AROUND
    count = int((np.linalg.norm(xyz - center, axis=1) < within).sum())
    words = f"in solvent: {count} receptor atoms within {within:g} A of its centre"
    if count >= fewest:
        return False
    selection.note(part, words)
    log.warning(
        "the %s is %s; are its coordinates in Angstrom, and in the receptor's frame?", part, words
    )
    return True


def _note_bond(selection: Selection, site: Site) -> None:
    """Say where the reference ligand is bound to a chain, also where it is from another file."""
    chains = np.flatnonzero(selection.open & selection.heavy & selection.polymer[selection.residue])
    distance = nearest(selection.xyz[chains], site.ligand)
    if distance.min(initial=np.inf) >= AS_A_BOND:
        return
    atom = chains[distance.argmin()]
    tie = f"{selection.atoms.place[atom]}/{selection.atoms.name[atom]}"
    close = selection.xyz[chains[distance < AS_A_BOND]]
    contacts = np.linalg.norm(close[:, None] - site.ligand, axis=2) < AS_A_BOND
    if distance.min() < SHORTEST_BOND or contacts.sum() > MOST_BONDS:
        log.warning(
            "the reference ligand overlaps with the receptor: %d of its atoms, one of them "
            "%.1f A from %s; is it in the receptor's frame, and the receptor in the "
            "conformation that it binds?",
            contacts.any(axis=0).sum(),
            distance.min(),
            tie,
        )
        words = f"overlaps with the receptor: {distance.min():.1f} A from {tie}"
        selection.note("reference ligand", words)
        return
    words = (
        f"{distance.min():.1f} A from {tie}, as a bond is long; all ligands are docked without "
        "a bond to the receptor, so it may not come back to its place"
    )
    selection.note("reference ligand", words)
    log.warning("the reference ligand is %s", words)


def inspect(
    selection: Selection,
    kept: np.ndarray,
    near: np.ndarray,
    site: Site,
    typed: Mapping[int, str],
    amines: Collection[int],
    acids: Collection[int],
) -> None:
    """Note missing and guessed atoms, breaks, ends, disulfides and odd residues of what is kept.

    `kept` and `near` are masks of heavy atoms: all that are kept, and those within reach of the
    box. Residues beyond reach are counted, not named. `typed` says of residues, by number, where
    their bonds and charges are from; `amines` and `acids` are numbers of
    residues that begin and end a chain by their hydrogens.
    """
    reached = np.zeros(len(selection.places), bool)
    reached[selection.residue[near]] = True
    beyond: Counter[tuple[str, str]] = Counter()
    findings = [
        *_residues(selection, kept, typed),
        *_unseen(selection, kept),
        *_chains(selection, kept, amines, acids),
        *_bridges(selection, kept),
    ]
    for number, kind, words in findings:
        place = selection.places[number]
        if not reached[number]:
            beyond[place.chain, kind] += kind not in ENDS
            continue
        mine = kept & (selection.residue == number)
        where = site.where(selection.xyz[mine])
        selection.note(str(place), f"{kind}: {words} ({where})" if words else f"{kind} ({where})")
    for (chain, kind), count in sorted((+beyond).items()):
        selection.note(f"chain {chain}", f"{kind}: {count} beyond reach of the box")


def _residues(
    selection: Selection, kept: np.ndarray, typed: Mapping[int, str]
) -> list[tuple[int, str, str]]:
    """Missing atoms, and residues that are not standard: number, kind, words."""
    found = []
    for number, index in selection.residues(kept & selection.polymer[selection.residue]):
        residue = selection.places[number].residue.upper()
        if is_standard(residue):
            plain = SAME_AS.get(residue, residue)
            table = RECEPTOR_TYPE[plain]
            names = {atom_name(plain, name) for name in selection.atoms.name[index]}
            missing = [name for name in table if name not in names | NOT_EXPECTED]
            if missing:
                found.append((number, "missing atoms", ", ".join(missing)))
        if residue == "MSE":
            found.append((number, "non-standard residue", "typed as MET"))
        elif not is_standard(residue):
            known = gemmi.find_tabulated_residue(residue)
            what = "nucleotide" if known.is_nucleic_acid() else "non-standard residue"
            found.append((number, what, typed.get(number, NO_TEMPLATE)))
    return found


def _unseen(selection: Selection, kept: np.ndarray) -> list[tuple[int, str, str]]:
    """Atoms that a crystallographer placed without density; programs write 0 for all atoms."""
    unseen = kept & (selection.atoms.occupancy == 0)
    found = selection.residues(unseen) if (kept & ~unseen).any() else []
    names = selection.atoms.name
    return [(number, "occupancy 0", ", ".join(names[index])) for number, index in found]


def _chains(
    selection: Selection, kept: np.ndarray, amines: Collection[int], acids: Collection[int]
) -> list[tuple[int, str, str]]:
    """Breaks within chains of amino acids, and their ends."""
    pairs = selection.pairs[kept[selection.pairs].all(axis=1)]
    links = pairs[linked(selection, pairs, POLYMER_LINKS)]
    goes_on = set(selection.residue[links[selection.atoms.name[links] == "C"]].tolist())
    chains: dict[str, list[int]] = {}
    for number, index in in_sequence(selection, kept & selection.polymer[selection.residue]):
        if {"N", "CA", "C"} & set(selection.atoms.name[index]):
            chains.setdefault(selection.places[number].chain, []).append(number)
    found = []
    for numbers in chains.values():
        found.append((numbers[0], ENDS[0], AMINE if numbers[0] in amines else WITHIN))
        for one, two in pairwise(numbers):
            if one not in goes_on:
                found.append((one, "chain break", f"the next residue is {selection.places[two]}"))
        last = numbers[-1]
        place, atoms = selection.places[last].residue, kept & (selection.residue == last)
        is_acid = any(atom_name(place, name) == "OXT" for name in selection.atoms.name[atoms])
        state = "AutoDock4 takes it as a carboxylate" if is_acid else WITHIN
        found.append((last, ENDS[1], ACID if last in acids else state))
    return found


def _bridges(selection: Selection, kept: np.ndarray) -> list[tuple[int, str, str]]:
    """Disulfides, each once."""
    pairs = selection.pairs[kept[selection.pairs].all(axis=1)]
    bridges = pairs[linked(selection, pairs, frozenset((("SG", "SG"),)))]
    places = selection.places
    return [
        (one, "disulfide", f"with {places[two]}")
        for one, two in selection.residue[bridges].tolist()
    ]
