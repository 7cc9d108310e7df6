"""Which atoms are of a site's receptor: hetero groups, waters, one of alternate locations."""

from collections import Counter
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.elements import METALS
from ligen_py.molecules.receptor.cofactors import smiles_of
from ligen_py.molecules.receptor.inspection import (
    bound_to,
    describe,
)
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.selection import (
    Selection,
    chain,
    choose_locations,
    drop_overlaps,
    each,
)
from ligen_py.molecules.receptor.site import Site, away, locate, nearest
from ligen_py.molecules.typing.xscore_residues import is_standard
from ligen_py.settings.pocket import PocketSettings, Structure
from ligen_py.settings.pocket import Site as SiteSettings

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

NEARER_THAN_A_BOND = 1.0
"""A hetero group this near (Angstrom) to the reference ligand cannot stay beside it."""

NEARER_THAN_WATER = 2.0
"""The same of a water, which comes no nearer than 2.2 to what is there when it is."""

WITH_LIGAND = 6.0
"""Angstrom from the reference ligand; residues there are where they are with the ligand."""

WATER_CONTACT = 3.5
"""A water touches polar receptor atoms this near (Angstrom)."""


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
        choose(selection, site, structure, settings)


def choose(
    selection: Selection, site: Site, structure: Structure, settings: PocketSettings
) -> tuple[np.ndarray, dict[int, str]]:
    """Drop what is not of the receptor; gives residues (places,) asked for, and ties of others.

    Raises InputError where a named residue is not there or no atom is left in the box.
    """
    selection.note("site", f"{site}, {site.source}", "chosen")
    words = {word: selection.named([word], "keep") for word in structure.keep}
    wanted = selection.named(structure.keep, "keep")
    unwanted = selection.named(structure.drop, "drop")
    for word, named in words.items():
        if unwanted[named].all():
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
    for word, named in words.items():
        if not named[selection.residue[selection.open]].any():
            raise InputError(
                f"{selection.source}: keep: all that {word} names is the reference ligand or "
                "stands in its place; take it out of keep, or give the site without a ligand, as "
                "by center or residues"
            )
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
            selection.copies[index] = True
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
