"""Protonation states of a molecule at a pH: microstates and their populations.

Charges act on each other by a shift of the pKa of groups (`pka.py`) that falls with the bonds
between them (`CHARGES`). So every combination of protonated and deprotonated groups has a free
energy, and with it a share of the molecules at a pH.
"""

from collections.abc import Sequence
from functools import cache
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from rdkit import Chem

from ligen_py.molecules.ligands.pka import Site, TitratedMolecule, titrating
from ligen_py.molecules.steps import Steps, at_once
from ligen_py.molecules.surroundings import surroundings

CHARGES = (0.0, 9.0, 4.5, 2.4, 1.3, 0.85, 0.55, 0.4, 0.3, 0.2, 0.15)
"""Shift of a pKa by a charge so many bonds away; none beyond. From the first and second pKa of
phosphate (2 bonds) and of diamines with 2 to 7 carbons (3 to 8; CRC Handbook). Opposite charges
nearer than three bonds do not help each other: that form is a tautomer of the uncharged one."""
OPPOSITE = 0.85
"""Share of that shift between opposite charges: glycine, 9.8, above its ethyl ester, 7.7."""
TWO_WAYS = 1.6
"""What a second way through a ring multiplies that shift by: piperazine, 9.7 and 5.4."""

WINDOW = 4.5
"""Groups whose own pKa is farther than this from the pH, on the side where they carry no charge,
stay uncharged."""
MOST_SITES = 10
"""Groups whose combinations are all enumerated; further ones, those farthest from the pH, are
fixed in the form that their own pKa gives."""
BIGUANIDE = "biguanide"
"""What the names of their families begin with."""


class Protomer(NamedTuple):
    """A protonation state and its share of the molecules."""

    mol: Chem.Mol
    population: float
    smiles: str
    """Canonical."""


def neutral(mol: Chem.Mol) -> Chem.Mol:
    """The molecule without the charges that a hydrogen can take away or bring."""
    seen = surroundings(mol)
    changes = {}
    for atom, charge in _permanent(mol):
        element, hydrogens = seen.element[atom], seen.hydrogens[atom]
        if charge < 0 and element in (6, 7, 8, 15, 16, 34):
            changes[atom] = hydrogens - charge
        elif charge == 1 and hydrogens and element in (7, 15):
            changes[atom] = hydrogens - 1
    if not changes:
        return mol
    changed = Chem.RWMol(mol)
    for atom, hydrogens in changes.items():
        _set(changed.GetAtomWithIdx(atom), 0, hydrogens)
    Chem.SanitizeMol(changed)
    return changed


def _set(atom: Chem.Atom, charge: int, hydrogens: int) -> None:
    atom.SetFormalCharge(charge)
    atom.SetNoImplicit(True)
    atom.SetNumExplicitHs(hydrogens)


def protonated(mol: Chem.Mol, ph: float, least: float, limit: int) -> list[Protomer]:
    """The states of a molecule at a pH, the most populated first; at least one.

    Those whose share of the molecules is below `least` are left out, and those beyond `limit`. The
    populations are shares of all states. Heavy atoms keep their numbers and coordinates; explicit
    hydrogens become implicit.
    """
    return at_once(protonating(mol, ph, least, limit))


def protonating(
    mol: Chem.Mol, ph: float, least: float, limit: int, known: str = ""
) -> Steps[list[Protomer]]:
    """`protonated`, with a pause after each step.

    `known` is the molecule's SMILES, where its caller has it.
    """
    base = neutral(Chem.RemoveHs(mol) if 1 in surroundings(mol).element else mol)
    drawn = known if known and base is mol else Chem.MolToSmiles(base)
    yield None
    found = yield from titrating(base, ph, WINDOW)
    yield None
    if not found:
        return [Protomer(base, 1.0, drawn)]
    charged, shares = populations(base, found, ph)
    shown = np.flatnonzero(shares >= min(least, shares.max()) / MOST_SITES)
    rows = shown[np.argsort(-shares[shown], kind="stable")].tolist()
    yield None
    forms = [_state(base, found, charged[row]) for row in rows]
    yield None
    states: dict[str, Protomer] = {}
    for form, share in zip(forms, shares[rows].tolist(), strict=True):
        smiles = drawn if form is base else Chem.MolToSmiles(form)
        first = states.get(smiles, Protomer(form, 0.0, smiles))
        states[smiles] = first._replace(population=first.population + share)
    ranked = sorted(states.values(), key=lambda state: -state.population)
    return [state for state in ranked[:limit] if state.population >= least] or ranked[:1]


def populations(mol: Chem.Mol, found: Sequence[Site], ph: float) -> tuple[np.ndarray, np.ndarray]:
    """Which sites are charged in each microstate (bool: states, sites), and its share."""
    permanent = _permanent(mol)
    if len(found) == 1 and not permanent:
        (site,) = found
        gains = 0.0, ph - site.pka if site.is_acid else site.pka - ph
        return _ONE_SITE, _shares(-np.array(gains))
    gain = np.array([(ph - s.pka if s.is_acid else s.pka - ph) for s in found])
    sign = np.array([-1.0 if s.is_acid else 1.0 for s in found])
    shift, fixed = _shifts(mol, found, permanent)
    gain -= sign * fixed
    order = np.argsort(np.abs(gain), kind="stable")
    kept, rest = np.sort(order[:MOST_SITES]), order[MOST_SITES:]
    charged = np.zeros((2 ** len(kept), len(found)), bool)
    charged[:, kept] = list(product((False, True), repeat=len(kept)))
    charged[:, rest] = gain[rest] > 0
    charges = charged * sign
    energy = -(charged * gain).sum(axis=1) + ((charges @ shift) * charges).sum(axis=1) / 2
    return charged, _shares(energy)


_ONE_SITE = np.array([[False], [True]])


def _shares(energy: np.ndarray) -> np.ndarray:
    """Shares of states from their energies, in units of pKa."""
    weight = 10.0 ** -(energy - energy.min())
    return weight / weight.sum()


def _shifts(
    mol: Chem.Mol, found: Sequence[Site], permanent: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """What charges at sites shift each other's pKa by (sites, sites), and permanent charges."""
    count, most = len(found), len(CHARGES) - 1
    shift, fixed = np.zeros((count, count)), np.zeros(count)
    seen = TitratedMolecule(mol)
    for i, site in enumerate(found):
        far, ways = seen.reach(site.atom, most)
        for j, other in enumerate(found):
            bonds = far.get(other.atom, 0)
            if bonds and site.is_acid == other.is_acid:
                shift[i, j] = _charge_shift(bonds, ways[other.atom])
            elif bonds > 2:
                shift[i, j] = OPPOSITE * _charge_shift(bonds, ways[other.atom])
        for atom, charge in permanent:
            if atom in far and atom != site.atom:
                fixed[i] += charge * _charge_shift(far[atom], ways[atom])
    return shift, fixed


def _charge_shift(bonds: int, ways: int) -> float:
    return CHARGES[bonds] * (TWO_WAYS if ways > 1 and bonds in (3, 4) else 1.0)


def _permanent(mol: Chem.Mol) -> list[tuple[int, int]]:
    """Atoms with a charge that no neighbour balances, and their charges."""
    seen = surroundings(mol)
    charges = seen.charge
    if not any(charges):
        return []
    return [
        (atom, charge)
        for atom, charge in enumerate(charges)
        if charge and not any(charges[other] * charge < 0 for other in seen.neighbours[atom])
    ]


def _state(mol: Chem.Mol, found: Sequence[Site], charged: np.ndarray) -> Chem.Mol:
    """The molecule with some of its sites charged."""
    if not charged.any():
        return mol
    changed = Chem.RWMol(mol)
    shifted = is_biguanide = False
    for site, is_charged in zip(found, charged.tolist(), strict=True):
        if not is_charged:
            continue
        atom = changed.GetAtomWithIdx(site.atom)
        hydrogens = atom.GetTotalNumHs()
        if not site.is_acid:
            _set(atom, 1, hydrogens + 1)
            shifted |= _shift_to_bare(atom)
            is_biguanide |= site.family.startswith(BIGUANIDE)
        elif not site.carbonyl:
            _set(atom, -1, hydrogens - 1)
        else:
            carbon, oxygen = site.carbonyl
            _set(atom, 0, hydrogens - 1)
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
            changed.GetBondBetweenAtoms(site.atom, carbon).SetBondType(Chem.BondType.DOUBLE)
            changed.GetBondBetweenAtoms(carbon, oxygen).SetBondType(Chem.BondType.SINGLE)
            _set(changed.GetAtomWithIdx(oxygen), -1, 0)
            shifted = True
    if is_biguanide:
        _open_bridges(changed)
    if shifted or is_biguanide:
        Chem.SanitizeMol(changed)
    else:
        changed.UpdatePropertyCache(strict=False)
    Chem.AssignStereochemistry(changed, cleanIt=True, force=True)
    return changed


def _open_bridges(ion: Chem.RWMol) -> None:
    """Take the hydrogen off a biguanidium ion's middle nitrogen.

    It is at an end of the ion (Hariharan et al., Z. Kristallogr. 188:217, 1989), so that the
    nitrogen accepts a hydrogen bond. The charge stays where it is. Where that end has substituents
    the ion is left: its double bond would have sides, which the ion has not.
    """
    ion.UpdatePropertyCache(strict=False)
    matches = chain(*map(ion.GetSubstructMatches, _bridged()))
    for _, _, _, bridge, carbon, _, end in matches:
        ion.GetBondBetweenAtoms(bridge, carbon).SetBondType(Chem.BondType.DOUBLE)
        ion.GetBondBetweenAtoms(carbon, end).SetBondType(Chem.BondType.SINGLE)
        ion.GetBondBetweenAtoms(carbon, end).SetStereo(Chem.BondStereo.STEREONONE)
        hydrogens = ion.GetAtomWithIdx(end).GetTotalNumHs()
        _set(ion.GetAtomWithIdx(bridge), 0, 0)
        _set(ion.GetAtomWithIdx(end), 0, hydrogens + 1)


@cache
def _bridged() -> list[Chem.Mol]:
    """Open biguanidium ions, and those of a ring, where a double bond has no sides."""
    return [
        Chem.MolFromSmarts("[NX3+;!H0]=[CX3](-[#7])-[NX3;H1]-[CX3](-[NX3;H2])=[NX2;H1]"),
        Chem.MolFromSmarts("[NX3+;!H0]=[CX3](-[#7])-@[NX3;H1]-@[CX3](-[NX3])=@[NX2]"),
    ]


def _shift_to_bare(charged: Chem.Atom) -> bool:
    """Draw an amidine's or guanidine's charge at its nitrogen with two hydrogens, if it has one.

    The ion is the same, and a double bond there has no sides. Says whether that was done.
    """
    for double in charged.GetBonds():
        carbon = double.GetOtherAtom(charged)
        if double.GetBondType() != Chem.BondType.DOUBLE or charged.GetDegree() == 1:
            continue
        for single in carbon.GetBonds():
            bare = single.GetOtherAtom(carbon)
            if bare.GetAtomicNum() != 7 or bare.GetTotalNumHs() != 2 or bare.GetFormalCharge():
                continue
            double.SetStereo(Chem.BondStereo.STEREONONE)
            double.SetBondType(Chem.BondType.SINGLE)
            single.SetBondType(Chem.BondType.DOUBLE)
            charged.SetFormalCharge(0)
            _set(bare, 1, 2)
            return True
    return False
