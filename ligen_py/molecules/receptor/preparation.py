"""From a structure file to the receptor: what is kept, what is dropped, and why."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rdkit import Chem

from ligen_py.errors import InputError
from ligen_py.functions import all_types, load_types
from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS, METALS
from ligen_py.molecules.receptor import protonation
from ligen_py.molecules.receptor.charges import Charged, charge
from ligen_py.molecules.receptor.cofactors import smiles_of
from ligen_py.molecules.receptor.heavy import Heavy
from ligen_py.molecules.receptor.hydrogens import reach
from ligen_py.molecules.receptor.inspection import (
    BY_SMILES,
    FREE_ACID,
    NO_TEMPLATE,
    PERCEIVED,
    bound_to,
    describe,
    inspect,
)
from ligen_py.molecules.receptor.metals import metal_type
from ligen_py.molecules.receptor.perception import perceive
from ligen_py.molecules.receptor.selection import (
    LINKS,
    Selection,
    chain,
    choose_locations,
    drop_overlaps,
    each,
    linked,
    near_pairs,
)
from ligen_py.molecules.receptor.site import Site, locate
from ligen_py.molecules.receptor.states import RING_NITROGENS
from ligen_py.molecules.receptor.structure import OTHER, read_atoms
from ligen_py.molecules.receptor.templates import Template, as_given, cofactor, of_molecule
from ligen_py.molecules.residues import BACKBONE, SAME_AS
from ligen_py.molecules.typing.input import ReceptorAtoms
from ligen_py.molecules.typing.xscore_cofactors import cofactor_types, with_hydrogens
from ligen_py.molecules.typing.xscore_residues import (
    ReceptorType,
    is_standard,
    receptor_type,
    with_role,
)
from ligen_py.records.column import STRING, Record, base_of, extended
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction
from ligen_py.records.pocket import Audit, Receptor, Whole
from ligen_py.settings.pocket import PocketSettings, Structure
from ligen_py.settings.pocket import Site as SiteSettings

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

LONE_HALIDES = (["CL"], ["BR"], ["I"])
"""Elements of all atoms of the additives CL, BR and IOD, which simulations call CLA or Cl-."""

MEMBRANE = "DUM"
"""Residue name of the nitrogens and oxygens by which OPM draws the planes of a membrane."""

SAME_PLACE = 0.5
"""An atom this near (Angstrom) to one of the reference ligand is the same atom."""

AS_A_BOND = 2.1
"""Angstrom; heavy atoms this near, of which none is a metal, are bound: S-S has 2.05."""

SHORTEST_BOND, MOST_BONDS = 1.15, 2
"""What is nearer (Angstrom), or has more such neighbours, overlaps and is not bound."""

NEARER_THAN_A_BOND = 1.0
"""A hetero group this near (Angstrom) to the reference ligand cannot stay beside it."""

NEARER_THAN_WATER = 2.0
"""The same of a water, which comes no nearer than 2.2 to what is there when it is."""

WITH_LIGAND = 6.0
"""Angstrom from the reference ligand; residues there are where they are with the ligand."""

WATER_CONTACT = 3.5
"""A water touches polar receptor atoms this near (Angstrom)."""

TRACE = 5
"""So many residues of nothing but a CA atom are the trace of a chain, not an unlucky fragment."""

SAME_ATOM = 0.5
"""Copies of an atom this near (Angstrom) to each other lie on an axis of symmetry."""

TWICE = 0.1
"""Atoms of one name this near (Angstrom) are one atom that the file has twice."""


@dataclass(frozen=True)
class Prepared:
    """What a site sees of a structure file."""

    receptor: Receptor
    """Atoms near the box, in whole residues."""
    typed: dict[str, Record]
    """Group -> the receptor as a scoring function sees it."""
    whole: Whole
    """All kept heavy atoms, however far."""
    xyz: np.ndarray
    """Their positions (atoms, 3), Angstrom, float64: they make the field."""
    element: np.ndarray
    """Their atomic numbers (atoms,), u1."""
    audit: Audit


def open_structure(path: Path, structure: Structure) -> Selection:
    """Read a structure file; open are the atoms of the model and the chains that are wanted.

    Raises InputError where the file cannot be used or has no such model, chain or assembly.
    """
    atoms = read_atoms(path, structure.assembly)
    selection = Selection(atoms, str(path))
    models = sorted(set(atoms.model.tolist()))
    model = models[0] if structure.model is None else structure.model
    if model not in models:
        known = ", ".join(map(str, models))
        raise InputError(f"{path}: has no model {model}; its models are {known}")
    if len(models) > 1:
        why = "the first" if structure.model is None else "as asked,"
        selection.note(f"model {model}", f"{why} of {len(models)}", "chosen")
    selection.drop(atoms.model != model, f"not model {model}", chain)
    if structure.assembly is not None:
        _note_assembly(selection, structure.assembly)
    found = sorted({place.chain for place in atoms.place})
    missing = [name for name in structure.chains if name not in found]
    if missing:
        raise InputError(
            f"{path}: has no chain {', '.join(missing)}; its chains are {', '.join(found)}"
        )
    if structure.chains and set(structure.chains) != set(found):
        names = ", ".join(sorted(set(structure.chains)))
        selection.note(f"chain {names}", f"of {', '.join(found)}", "chosen")
        other = np.array([place.chain not in structure.chains for place in atoms.place])
        selection.drop(other, "not a chosen chain", chain)
    selection.drop(~np.isfinite(atoms.xyz).all(axis=1), "no coordinates", each)
    _drop_doubles(selection)
    selection.connect()
    _require_side_chains(selection)
    return selection


def _drop_doubles(selection: Selection) -> None:
    """Keep the first of atoms that the file has twice, as of a chain under a second name.

    Alternate locations of a residue are left to `choose_locations`.
    """
    atoms, place = selection.atoms, selection.atoms.place
    doubles = np.zeros(len(atoms), bool)
    for one, two in near_pairs(atoms.xyz, selection.open, TWICE).tolist():
        same_name = (atoms.name[one], place[one].residue) == (atoms.name[two], place[two].residue)
        if same_name and (place[one] != place[two] or atoms.altloc[one] == atoms.altloc[two]):
            doubles[two] = True
    left = np.zeros(len(selection.places), bool)
    left[selection.residue[selection.open & selection.heavy & ~doubles]] = True
    some = np.zeros(len(selection.places), bool)
    some[selection.residue[doubles]] = True
    # Hydrogens of a residue that has no other atoms left were its own.
    whole = (some & ~left)[selection.residue]
    reason = f"within {TWICE:g} A of the same atom of another residue; the first is kept"
    selection.drop(doubles | whole, reason, chain)


def _require_side_chains(selection: Selection) -> None:
    """InputError where all amino acids are nothing but their CA atoms."""
    mine = selection.open & selection.heavy & selection.polymer[selection.residue]
    if mine.sum() >= TRACE and set(selection.atoms.name[mine]) == {"CA"}:
        raise InputError(
            f"{selection.source}: contains CA atoms only; docking needs every heavy atom of the "
            "residues: give the full structure, or build the missing atoms first"
        )


def _note_assembly(selection: Selection, name: str) -> None:
    """What a biological assembly added, left out, or made twice on an axis of symmetry."""
    atoms = selection.atoms
    selection.note(f"assembly {name}", "built by the operators in the file", "chosen")
    copies = Counter(
        atoms.place[i].chain for i in np.flatnonzero(selection.open & (atoms.copy > 0))
    )
    for copied, count in sorted(copies.items()):
        origin = copied.rpartition("-")[0]
        reason = f"copy of chain {origin} in assembly {name}"
        selection.note(f"chain {copied}", reason, "added", count)
    selection.drop(atoms.copy < 0, f"not in assembly {name}", chain)
    placed = selection.open & np.isfinite(atoms.xyz).all(axis=1)
    twice = [
        two
        for one, two in near_pairs(atoms.xyz, placed, SAME_ATOM).tolist()
        if atoms.copy[one] != atoms.copy[two]
        and atoms.name[one] == atoms.name[two]
        and atoms.place[one][1:] == atoms.place[two][1:]
    ]
    reason = "copy on an axis of symmetry; the first is kept"
    selection.drop(np.array(twice, np.int64), reason, each)


def prepare(
    selection: Selection, site: Site, structure: Structure, settings: PocketSettings
) -> Prepared:
    """Keep what belongs to the receptor of a site, of a structure that was just opened.

    Raises InputError where a named residue is not there or no atom is left in the box.
    """
    cofactors = smiles_of(structure)
    wanted, bound = _choose(selection, site, structure, settings)
    _note_bond(selection, site)
    hydrogens = protonation.Protonated()
    if settings.protonation == "propka":
        hydrogens = protonation.protonate(
            selection, site.distance, settings.margin, settings.ph, site.ligand
        )
    kept = selection.open & selection.heavy
    near = _drop_far(selection, site, settings.margin)
    atoms, charged, perceived = _receptor(selection, kept, near, hydrogens, cofactors)
    _warn_of_cofactors(selection, near, structure.cofactors, charged.cofactors)
    seen = dict.fromkeys(charged.cofactors, BY_SMILES)
    seen |= {number: f"{PERCEIVED}{smiles}" for number, smiles in perceived.items()}
    seen |= dict.fromkeys(_free_acids(selection), FREE_ACID)
    inspect(selection, kept, near, site, seen, charged.amines, charged.acids)
    _settle_hydrogens(selection, charged, hydrogens.residues)
    _keep(selection, site, wanted, bound, seen)
    return Prepared(
        atoms.common,
        _typed(atoms),
        _whole(selection, np.flatnonzero(kept)),
        selection.xyz[kept],
        selection.atoms.element[kept],
        _balanced(selection),
    )


def _warn_of_cofactors(
    selection: Selection, near: np.ndarray, given: Mapping[str, str], found: set[int]
) -> None:
    """Say where the SMILES of a cofactor, which a config gives, is that of no residue."""
    names = {place.residue.upper().removesuffix(OTHER) for place in selection.places}
    for name in sorted(set(given) - names):
        log.warning("cofactors.%s: no residue of %s is called so", name, selection.source)
    unlike = {
        selection.places[number].residue.upper().removesuffix(OTHER): selection.places[number]
        for number in np.unique(selection.residue[near])[::-1].tolist()
        if number not in found
    }
    for name in sorted(set(given) & set(unlike)):
        log.warning(
            "cofactors.%s: %s is another molecule by its atoms, so this one is not used",
            name,
            unlike[name],
        )


def _choose(
    selection: Selection, site: Site, structure: Structure, settings: PocketSettings
) -> tuple[np.ndarray, dict[int, str]]:
    """Drop what is not of the receptor; gives residues (places,) asked for, and ties of others.

    Raises InputError where a named residue is not there or no atom is left in the box.
    """
    selection.note("site", f"{site}, {site.source}", "chosen")
    wanted = selection.named(structure.keep, "keep")
    unwanted = selection.named(structure.drop, "drop")
    for word in structure.keep:
        if unwanted[selection.named([word], "keep")].all():
            raise InputError(
                f"{selection.source}: keep: all that {word} names is in drop, too; take it out of "
                "one of them"
            )
    selection.drop(unwanted[selection.residue], "not wanted, as asked", each)
    if settings.waters == "none":
        waters = selection.water & ~wanted
        selection.drop(waters[selection.residue], "water", chain)
    bound = bound_to(selection)
    letter = _drop_hetero(selection, site, settings.cofactor_distance, wanted, bound)
    beside = nearest(selection.xyz, site.ligand) < WITH_LIGAND
    choose_locations(selection, letter, beside)
    drop_overlaps(selection, wanted)
    if settings.waters == "near":
        _drop_waters(selection, site, settings, wanted)
    unknown = selection.atoms.element == 0
    reason = "unknown element: write it into columns 77 and 78, in mmCIF into type_symbol"
    selection.drop(unknown, reason, each)
    _check_box(selection, site)
    _check_names(selection, site, settings.margin)
    return wanted, bound


def check_site(
    path: Path, structure: Structure, asked: SiteSettings, settings: PocketSettings
) -> None:
    """Raise InputError where a structure, or a site in it, cannot be prepared: in a second or less.

    A site that is a cavity yet to be found is not checked.
    """
    smiles_of(structure)
    selection = open_structure(path, structure)
    if asked.cavity is None or asked.cavities is not None:
        site = locate(selection, asked, structure.keep, settings.radius, lambda xyz, element: [])
        _choose(selection, site, structure, settings)


def _balanced(selection: Selection) -> Audit:
    """The audit; InputError where its atoms are not those of the file and of added copies."""
    audit = selection.audit()
    explained = int(audit.atoms[np.isin(audit.action, ("kept", "dropped"))].sum())
    if explained != len(selection.atoms):
        raise InputError(
            f"{selection.source}: an unexplained loss: there are {len(selection.atoms)} atoms, the "
            f"audit explains {explained}; please report this file"
        )
    return audit


def _drop_hetero(
    selection: Selection, site: Site, most: float, wanted: np.ndarray, bound: dict[int, str]
) -> str:
    """The reference ligand, what stands in its place, additives, and what is far from the site.

    Gives the letter of the reference ligand's location in the structure, empty without one.
    """
    groups = selection.residues(selection.open)
    heavy = {number: selection.xyz[index[selection.heavy[index]]] for number, index in groups}
    to_ligand = {number: nearest(xyz, site.ligand) for number, xyz in heavy.items()}
    itself = {
        number
        for number, index in groups
        if _is_there(to_ligand[number], selection.atoms.altloc[index[selection.heavy[index]]])
    }
    names = {selection.places[number].residue for number in itself if not selection.polymer[number]}
    for number, index in groups:
        place, xyz, tie = selection.places[number], heavy[number], bound.get(number, "")
        if number in itself:
            selection.drop(index, f"the reference ligand itself{tie}", each)
        elif selection.polymer[number] or not len(xyz):
            continue
        elif to_ligand[number].min() < (
            NEARER_THAN_WATER
            if selection.water[number] and not wanted[number]
            else NEARER_THAN_A_BOND
        ):
            selection.drop(index, "stands where the reference ligand is", each)
        elif wanted[number] or selection.water[number]:
            continue
        elif place.residue in names:
            selection.drop(index, f"another copy of the reference ligand: {away(xyz, site)}", each)
        elif place.residue.upper() == MEMBRANE:
            selection.drop(index, "mark of a membrane's plane, no atom", chain)
        elif (
            place.residue.upper() in ADDITIVES
            or list(selection.atoms.symbol[index]) in LONE_HALIDES
        ):
            selection.drop(index, f"crystallisation additive{tie}", each)
        elif site.distance(xyz).min() > most:
            kind = describe(selection, index, number in bound)
            selection.drop(index, f"{kind} farther than {most:g} A: {away(xyz, site)}{tie}", each)
    mine = np.isin(selection.residue, list(itself)) & selection.heavy
    distance, altloc = nearest(selection.xyz, site.ligand), selection.atoms.altloc
    letters = sorted(set(altloc[mine]) - {""})
    # The ligand has one of its locations, and the others are farther from it.
    return min(letters, key=lambda one: distance[mine & (altloc == one)].mean(), default="")


def _is_there(distance: np.ndarray, altloc: np.ndarray) -> bool:
    """Whether more than half of some atoms, or of one of their locations, are the ligand's.

    The reference ligand has one location, its residue in the structure may have two.
    """
    same = distance < SAME_PLACE
    letters = [np.isin(altloc, ("", letter)) for letter in sorted(set(altloc))]
    parts = [same, *(same[mine] for mine in letters)]
    return any(len(part) and part.mean() > 0.5 for part in parts)


def _drop_waters(
    selection: Selection, site: Site, settings: PocketSettings, wanted: np.ndarray
) -> None:
    """Waters that are far from the site, or that too few polar atoms of the receptor hold."""
    symbol = selection.atoms.symbol
    polar = np.array([each in METALS or each in ("N", "O") for each in symbol], bool)
    dry = ~selection.water[selection.residue]
    holders = selection.xyz[selection.open & polar & dry]
    for number, index in selection.residues(selection.open & ~dry):
        if wanted[number]:
            continue
        xyz = selection.xyz[index[selection.heavy[index]]]
        distance = nearest(xyz, site.ligand) if len(site.ligand) else site.distance(xyz)
        held = np.linalg.norm(xyz[:, None] - holders, axis=2) < WATER_CONTACT
        if not len(xyz) or distance.min() > settings.water_distance:
            reason = f"water farther than {settings.water_distance:g} A from the "
            reason += "reference ligand" if len(site.ligand) else "box"
            selection.drop(index, reason, chain)
        elif held.sum() < settings.water_contacts:
            reason = f"water with fewer than {settings.water_contacts} polar contacts: {held.sum()}"
            selection.drop(index, reason, each)


def away(xyz: np.ndarray, site: Site) -> str:
    """How far a group (atoms, 3) is from the box and from the reference ligand, in words."""
    distance = site.distance(xyz).min()
    words = f"{distance:.1f} A from the box" if distance else "in the box"
    if len(site.ligand):
        words += f", {nearest(xyz, site.ligand).min():.1f} A from the reference ligand"
    return words


def nearest(xyz: np.ndarray, ligand: np.ndarray) -> np.ndarray:
    """Distance (atoms,) of each position from the nearest ligand atom; infinite without one."""
    squared = ((xyz[:, None] - ligand) ** 2).sum(axis=2)
    return np.sqrt(squared.min(axis=1, initial=np.inf))


def _note_bond(selection: Selection, site: Site) -> None:
    """Say where the reference ligand is bound to a chain, also where it is from another file."""
    chains = np.flatnonzero(selection.open & selection.heavy & selection.polymer[selection.residue])
    distance = nearest(selection.xyz[chains], site.ligand)
    if distance.min(initial=np.inf) < AS_A_BOND:
        atom = chains[distance.argmin()]
        tie = f"{selection.atoms.place[atom]}/{selection.atoms.name[atom]}"
        close = nearest(site.ligand, selection.xyz[chains]) < AS_A_BOND
        if distance.min() < SHORTEST_BOND or close.sum() > MOST_BONDS:
            log.warning(
                "the reference ligand overlaps with the receptor: %d of its atoms, one of them "
                "%.1f A from %s; is it in the receptor's frame, and the receptor in the "
                "conformation that it binds?",
                close.sum(),
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


def _check_box(selection: Selection, site: Site) -> None:
    """InputError unless some kept atom lies in the box."""
    kept = selection.open & selection.heavy
    xyz = selection.xyz[kept]
    if not len(xyz):
        reasons = ", ".join(sorted({reason for _, _, reason in selection.counts}))
        raise InputError(
            f"{selection.source}: no receptor atoms are left ({reasons}); check the file and "
            "the chains to keep"
        )
    if not (site.distance(xyz) == 0).any():
        distance = np.sqrt(((xyz - np.array(site.center)) ** 2).sum(axis=1))
        place = selection.atoms.place[np.flatnonzero(kept)[distance.argmin()]]
        raise InputError(
            f"{selection.source}: no receptor atom lies in {site}; the nearest, in {place}, is "
            f"{distance.min():.1f} A from the centre; check the site and the chains to keep"
        )


def _check_names(selection: Selection, site: Site, margin: float) -> None:
    """InputError where a residue in reach has an atom twice: names say what the atoms are."""
    atoms = selection.atoms
    for number, index in selection.residues(selection.open & selection.heavy):
        named = selection.polymer[number] or is_standard(selection.places[number].residue)
        count = Counter(atoms.name[index].tolist())
        twice = next((name for name in sorted(count) if count[name] > 1), "")
        if named and twice and site.distance(selection.xyz[index]).min() <= margin:
            raise InputError(
                f"{selection.source}: {selection.places[number]} has {count[twice]} atoms "
                f"{twice}, which are no alternate locations; give each chain a name and each "
                "residue a number of its own, or remove what is there twice"
            )


def _drop_far(selection: Selection, site: Site, margin: float) -> np.ndarray:
    """Drop residues with no atom within the margin of the box; gives the heavy atoms that stay."""
    within = np.zeros(len(selection.places), bool)
    close = selection.open & selection.heavy & (site.distance(selection.xyz) <= margin)
    within[selection.residue[close]] = True
    near = selection.open & within[selection.residue]
    reason = f"residue more than {margin:g} A outside the box, too far to be scored"
    selection.drop(~near, reason, chain)
    return near & selection.heavy


def _settle_hydrogens(selection: Selection, charged: Charged, replaced: frozenset[int]) -> None:
    """Which hydrogens AutoDock4 sees: the file's, PDB2PQR's, and those that were built."""
    reason = "polar hydrogen of the file, for AutoDock4"
    selection.settle(charged.given, "kept", reason, chain)
    if charged.added:
        reason = "polar hydrogens for AutoDock4, by PDB2PQR"
        selection.note("hydrogens", reason, "added", charged.added)
    reason = "hydrogen: implied by the types of the heavy atoms"
    gone = ~selection.heavy & np.isin(selection.residue, list(replaced))
    selection.drop(gone, "hydrogen: replaced by those of PDB2PQR", chain)
    selection.drop(~selection.heavy, reason, chain)
    built = Counter(selection.places[number].chain for number in charged.built.tolist())
    for name, count in sorted(built.items()):
        reason = "polar hydrogens for AutoDock4, in standard states"
        selection.note(f"chain {name}", reason, "added", count)
    for number, state in charged.states:
        selection.note(str(selection.places[number]), state)


def _keep(
    selection: Selection,
    site: Site,
    wanted: np.ndarray,
    bound: dict[int, str],
    seen: Mapping[int, str],
) -> None:
    """Rows for everything still open: chains as one part each, hetero groups one by one.

    `seen` says of residues, by number, where their bonds and charges are from.
    """
    chains = selection.polymer[selection.residue]
    selection.settle(chains, "kept", "residue of a chain, within reach of the box", chain)
    for number, index in selection.residues(selection.open):
        xyz, place = selection.xyz[index], selection.places[number]
        kind = describe(selection, index, number in bound)
        if kind in ("metal", "ion"):
            selection.note(str(place), metal_type(selection.atoms.symbol[index[0]], place.residue))
        elif kind != "water":
            selection.note(str(place), f"{kind}, {seen.get(number, NO_TEMPLATE)}")
        free = kind not in ("metal", "ion", "water") and not wanted[number]
        if free and not len(site.ligand) and not site.distance(xyz).all():
            log.warning(
                "%s lies in the box and is kept as part of the receptor; if it is a ligand, drop "
                "it, or give it as the reference ligand",
                place,
            )
        asked = ", as asked" if wanted[number] else ""
        reason = f"{kind} {away(xyz, site)}{bound.get(number, '')}{asked}"
        selection.settle(index, "kept", reason, each)


def _receptor(
    selection: Selection,
    kept: np.ndarray,
    near: np.ndarray,
    hydrogens: protonation.Protonated,
    cofactors: Mapping[str, str],
) -> tuple[ReceptorAtoms, Charged, dict[int, str]]:
    """The atoms in `near` with what they are typed by; neighbours may be any of the kept atoms.

    `hydrogens` take the place of the file's in their residues. `cofactors` are SMILES by name. Also
    the SMILES that were perceived, by number of the residue.
    """
    atoms, index = selection.atoms, np.flatnonzero(near)
    bonds = _bonds(selection, selection.pairs[kept[selection.pairs].all(axis=1)])
    root, rooted = _roots(selection.xyz, bonds)
    bonded: dict[int, list[int]] = {}
    for one, two in bonds.tolist():
        bonded.setdefault(one, []).append(two)
        bonded.setdefault(two, []).append(one)
    types: dict[int, ReceptorType] = {}
    perceived: dict[int, Template] = {}
    smiles: dict[int, str] = {}
    for number, residue in selection.residues(near):
        held = {} if number in hydrogens.residues else _held(selection, residue)
        known = dict(_cofactor(selection, residue, bonded, cofactors, held))
        if not known:
            mol, known = _perceived(selection, residue, bonded, held)
            perceived |= known
            if mol:
                smiles[number] = Chem.MolToSmiles(mol)
        types |= _types(selection, residue, bonded, known)
    typed = [types[atom] for atom in index.tolist()]
    common = Receptor(
        xyz=selection.xyz[index].astype("f4"),
        element=atoms.element[index],
        residue=np.unique(selection.residue[index], return_inverse=True)[1].astype("i4"),
        label=_labels(selection, index),
    )
    charged = _charged(selection, index, bonded, typed, hydrogens, cofactors, perceived)
    # A residue is in one state for every function.
    for row, role in charged.roles.items():
        typed[row] = with_role(typed[row], role)
    found = ReceptorAtoms(
        common,
        _roles(selection, index, typed),
        [atoms.element[bonded.get(atom, [])] for atom in index.tolist()],
        typed,
        root[index],
        rooted[index],
        charged.receptor,
    )
    return found, charged, smiles


def _free_acids(selection: Selection) -> list[int]:
    """Numbers of the residues that are amino acids outside the chains."""
    numbers = np.flatnonzero(~(selection.polymer | selection.water)).tolist()
    return [number for number in numbers if is_standard(selection.places[number].residue)]


def _whole(selection: Selection, index: np.ndarray) -> Whole:
    """The atoms `index` with their names."""
    atoms = selection.atoms
    return Whole(
        xyz=selection.xyz[index].astype("f4"),
        element=atoms.element[index],
        label=_labels(selection, index),
        hetero=(~selection.polymer[selection.residue[index]]).astype("u1"),
    )


def _labels(selection: Selection, index: np.ndarray) -> np.ndarray:
    """Chain, residue and name of atoms, as text."""
    atoms = selection.atoms
    return np.array([f"{atoms.place[atom]}/{atoms.name[atom]}" for atom in index], STRING)


def _typed(atoms: ReceptorAtoms) -> dict[str, Record]:
    """Group of a pocket file -> the receptor as a scoring function sees it."""
    found: dict[str, Record] = {}
    for types in all_types():
        record = load_types(types, "records").RECEPTOR
        if record is not Receptor:
            columns = load_types(types, "typing").receptor_columns(atoms)
            extends = base_of(record) is not None
            found[types.group] = (
                extended(atoms.common, record, **columns) if extends else record(**columns)
            )
    return found


def _roles(selection: Selection, index: np.ndarray, typed: list[ReceptorType]) -> list[Interaction]:
    """X-Score's classes, but for waters, which X-Score leaves out: they give and take."""
    wet = selection.water[selection.residue[index]]
    return [
        Interaction.DONOR_ACCEPTOR if water else kind.interaction
        for water, kind in zip(wet, typed, strict=True)
    ]


def _charged(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    typed: list[ReceptorType],
    hydrogens: protonation.Protonated,
    cofactors: Mapping[str, str],
    perceived: Mapping[int, Template],
) -> Charged:
    """The heavy atoms `index` with the polar hydrogens of their residues, and charges."""
    atoms, row = selection.atoms, {atom: place for place, atom in enumerate(index.tolist())}
    heavy = Heavy(
        xyz=selection.xyz[index],
        symbol=atoms.symbol[index].tolist(),
        name=atoms.name[index].tolist(),
        residue=selection.residue[index],
        residue_name=[atoms.place[atom].residue for atom in row],
        role=_roles(selection, index, typed),
        bonded=[[row[other] for other in bonded.get(atom, ()) if other in row] for atom in row],
        free=frozenset(_free_acids(selection)),
    )
    of_file = np.flatnonzero(selection.open & ~selection.heavy)
    of_file = of_file[~np.isin(selection.residue[of_file], list(hydrogens.residues))]
    known = np.concatenate([hydrogens.xyz, selection.xyz[of_file]])
    templates = {row[atom]: template for atom, template in perceived.items()}
    charged = charge(heavy, known, cofactors, templates, hydrogens.residues)
    mine = charged.given >= len(hydrogens.xyz)
    given = of_file[charged.given[mine] - len(hydrogens.xyz)]
    return replace(charged, given=given, added=int((~mine).sum()))


def _bonds(selection: Selection, pairs: np.ndarray) -> np.ndarray:
    """Pairs that are covalent bonds in a residue or of a hetero group, or links of a chain."""
    radius = np.array([COVALENT_RADIUS.get(symbol, -9.0) for symbol in selection.atoms.symbol])
    first, second = pairs.T
    delta = selection.xyz[first] - selection.xyz[second]
    bonded = np.sqrt((delta**2).sum(axis=1)) < radius[first] + radius[second] + BOND_TOLERANCE
    one, two = selection.residue[pairs].T
    tied = ~(selection.polymer[one] & selection.polymer[two])
    tied &= ~(selection.water[one] | selection.water[two])
    return pairs[(bonded & ((one == two) | tied)) | linked(selection, pairs, LINKS)]


def _roots(xyz: np.ndarray, bonds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean position (atoms, 3) of each atom's bonded neighbours, and whether it has any."""
    total, count = np.zeros((len(xyz), 3)), np.zeros(len(xyz), np.int64)
    for one, two in ((bonds[:, 0], bonds[:, 1]), (bonds[:, 1], bonds[:, 0])):
        np.add.at(total, one, xyz[two])
        np.add.at(count, one, 1)
    return total / np.maximum(count, 1)[:, None], count > 0


def _held(selection: Selection, index: np.ndarray) -> dict[int, int]:
    """Polar hydrogens of the file on the atoms of a residue that has one; else nothing."""
    polar = index[np.isin(selection.atoms.symbol[index], ("N", "O", "S"))]
    own = selection.open & ~selection.heavy & (selection.residue == selection.residue[index[0]])
    count = dict.fromkeys(polar.tolist(), 0)
    for place in selection.xyz[own]:
        distance = np.linalg.norm(selection.xyz[index] - place, axis=1)
        nearest = int(index[distance.argmin()])
        if nearest in count and distance.min() < reach(selection.atoms.symbol[nearest]):
            count[nearest] += 1
    return count if any(count.values()) else {}


def _cofactor(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    cofactors: Mapping[str, str],
    held: Mapping[int, int],
) -> Iterator[tuple[int, Template]]:
    """Atoms of a residue whose SMILES is known, and what they are."""
    inside = index.tolist()
    name = selection.atoms.place[inside[0]].residue
    if not is_standard(name):
        symbols = [selection.atoms.symbol[i] for i in inside]
        around, others = _around(inside, bonded), {*inside}
        ties = {
            row: selection.atoms.symbol[other]
            for row, i in enumerate(inside)
            for other in reversed(bonded.get(i, ()))
            if other not in others
        }
        given = [held.get(i, 0) for i in inside] if held else []
        for own, template in cofactor(name, symbols, around, ties, cofactors, given).items():
            yield inside[own], template


def _perceived(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    held: Mapping[int, int],
) -> tuple[Chem.Mol | None, dict[int, Template]]:
    """The molecule of a residue of unknown bonds, and what its atoms are; None where not sure.

    Residues of its chain count up to the second bond, which makes amides of a peptide's ends; up to
    the third where it is bound to the ring of a histidine, which would be an amine without.
    """
    atoms, inside = selection.atoms, index.tolist()
    if is_standard(atoms.place[inside[0]].residue):
        return None, {}
    everyone = dict.fromkeys(inside)
    beside = [other for i in inside for other in bonded.get(i, ()) if other not in everyone]
    named = {(atoms.place[i].residue, atoms.name[i]) for i in beside}
    on_ring = any(
        name in RING_NITROGENS and SAME_AS.get(residue, residue) == "HIS" for residue, name in named
    )
    for _ in range(3 if on_ring else 2):
        everyone |= dict.fromkeys(other for i in [*everyone] for other in bonded.get(i, ()))
    rows = list(everyone)
    mol = perceive([atoms.symbol[i] for i in rows], selection.xyz[rows], _around(rows, bonded))
    if mol:
        mol = as_given(mol, {row: held[i] for row, i in enumerate(inside) if i in held})
    templates = of_molecule(Chem.AddHs(mol)) if mol else []
    return mol, dict(zip(inside, templates, strict=False))


def _around(index: list[int], bonded: dict[int, list[int]]) -> list[list[int]]:
    """Neighbours of atoms among themselves, by their place in the list."""
    row = {atom: place for place, atom in enumerate(index)}
    return [[row[other] for other in bonded.get(atom, ()) if other in row] for atom in index]


def _types(
    selection: Selection,
    index: np.ndarray,
    bonded: dict[int, list[int]],
    known: Mapping[int, Template],
) -> dict[int, ReceptorType]:
    """X-Score types of one residue: from its table, or from its geometry where it has none.

    The geometry includes the atoms of other residues that are bound to it. In a modified amino acid
    the backbone is typed as in any other, or as in proline. Hydrogens, where they are known, say
    which nitrogens and oxygens give and take.
    """
    atoms, place = selection.atoms, selection.atoms.place[index[0]]
    inside = index.tolist()
    outside = sorted({other for i in inside for other in bonded.get(i, ())} - set(inside))
    if is_standard(place.residue):
        standard = {i: receptor_type(place.residue, atoms.name[i], atoms.symbol[i]) for i in inside}
        # A hydroxyl that is bound to a ligand is an ester or ether.
        tied = [i for i in inside if atoms.symbol[i] == "O" and {*bonded.get(i, ())} & {*outside}]
        return standard | {i: with_role(standard[i], Interaction.ACCEPTOR) for i in tied}
    everyone = inside + outside
    found = cofactor_types(atoms.symbol[everyone].tolist(), selection.xyz[everyone])
    types = dict(zip(inside, found, strict=False))
    for i, template in known.items():
        bonds = len(bonded.get(i, ()))
        takes = template.kind == Ad4Type.NA
        types[i] = with_hydrogens(types[i], atoms.symbol[i], bonds, template.hydrogens, takes)
    if selection.polymer[selection.residue[index[0]]]:
        for i in inside:
            if atoms.name[i] in (*BACKBONE, "OXT") and atoms.symbol[i] in ("C", "N", "O"):
                # A nitrogen with three bonds, as in hydroxyproline, has no hydrogen to give.
                is_tertiary = atoms.name[i] == "N" and len(bonded.get(i, ())) > 2
                like = "PRO" if is_tertiary else "ALA"
                types[i] = receptor_type(like, atoms.name[i], atoms.symbol[i])
    return types
