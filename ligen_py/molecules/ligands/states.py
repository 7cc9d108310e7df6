"""Forms in which a parent may bind: tautomers, protonation states, stereoisomers.

Every function returns the forms in an order that depends on the molecule and the settings alone, at
most as many as wanted. Heavy atoms keep their numbers and coordinates.
"""

import random
from collections.abc import Iterator
from itertools import combinations

from rdkit import Chem
from rdkit.Chem.EnumerateStereoisomers import (
    EnumerateStereoisomers,
    GetStereoisomerCount,
    StereoEnumerationOptions,
)
from rdkit.Chem.MolStandardize import rdMolStandardize

from ligen_py.molecules.graph import atoms_of
from ligen_py.molecules.ligands.protomers import protonated

MOST_TAUTOMERS = 64
"""Tautomers that are generated before the best are chosen."""

MOST_INVERTED = 2
"""Stereocentres that are inverted at a time in a drawing that cannot exist in space."""
MOST_MENDED = 24
"""Most drawings with inverted centres that are tried: all for a system with six centres."""


def tautomers(mol: Chem.Mol, limit: int) -> list[Chem.Mol]:
    """The molecule as drawn, then its other tautomers by RDKit's score; `limit` in all.

    Stereocentres and double bonds that are marked stay as they are.
    """
    if limit == 1:
        return [mol]
    parameters = rdMolStandardize.CleanupParameters()
    parameters.maxTautomers = MOST_TAUTOMERS
    parameters.tautomerRemoveSp3Stereo = False
    parameters.tautomerRemoveBondStereo = False
    found = rdMolStandardize.TautomerEnumerator(parameters).Enumerate(mol)
    score = rdMolStandardize.TautomerEnumerator.ScoreTautomer
    drawn = Chem.MolToSmiles(mol)
    others = [
        (-score(tautomer), smiles, tautomer)
        for smiles, tautomer in zip(found.smiles, found.tautomers, strict=True)
        if smiles != drawn
    ]
    others.sort(key=lambda item: item[:2])
    return [mol, *(tautomer for _, _, tautomer in others[: limit - 1])]


def protomers(mol: Chem.Mol, ph: float, reach: float, limit: int) -> list[Chem.Mol]:
    """Protonation states of a neutral molecule at `ph`, the `limit` likeliest.

    Groups whose typical pKa (Dimorphite-DL: Ropp et al., J. Cheminform. 11:14, 2019) lies within
    `reach` of `ph` are returned in both forms, each group separately.
    """
    numbered = Chem.Mol(mol)
    for atom in atoms_of(numbered):
        atom.SetAtomMapNum(atom.GetIdx() + 1)
    found = protonated(Chem.MolToSmiles(numbered), ph - reach, ph + reach, limit)
    states: dict[str, Chem.Mol] = {}
    for smiles in found:
        state = _in_order(smiles, mol)
        if state is not None:
            states.setdefault(Chem.MolToSmiles(state), state)
    return list(states.values()) or [mol]


def _in_order(smiles: str, mol: Chem.Mol) -> Chem.Mol | None:
    """A mapped SMILES as molecule with the atoms, and the coordinates, of another one."""
    state = Chem.MolFromSmiles(smiles)
    if state is None or state.GetNumAtoms() != mol.GetNumAtoms():
        return None
    place = {atom.GetAtomMapNum(): atom.GetIdx() for atom in atoms_of(state)}
    numbers = range(1, mol.GetNumAtoms() + 1)
    if set(place) != set(numbers):
        return None
    state = Chem.RenumberAtoms(state, [place[number] for number in numbers])
    for atom in atoms_of(state):
        atom.SetAtomMapNum(0)
    for conformer in mol.GetConformers():
        state.AddConformer(Chem.Conformer(conformer))
    Chem.AssignStereochemistry(state, cleanIt=True, force=True)
    return state


def undefined_stereo(mol: Chem.Mol) -> int:
    """Number of stereoisomers that a drawing allows, by its unmarked centres and bonds."""
    return int(GetStereoisomerCount(mol, StereoEnumerationOptions(unique=True)))


def stereoisomers(mol: Chem.Mol, most: int, seed: int) -> Iterator[Chem.Mol]:
    """Stereoisomers that agree with the drawing: all, or a random choice of `most` (seeded).

    Some may be impossible in space; no conformer will be found for these.
    """
    options = StereoEnumerationOptions(
        unique=True, onlyUnassigned=True, maxIsomers=most, rand=random.Random(seed)
    )
    yield from EnumerateStereoisomers(mol, options=options)


def inverted(mol: Chem.Mol) -> Iterator[list[Chem.Mol]]:
    """A molecule with one, then two marked centres at ring fusions inverted.

    A bridge can make a drawing impossible: it joins both ends of a ring from one side. Lists by the
    number of inverted centres, each in the order of SMILES.
    """
    rings = mol.GetRingInfo()
    centres = [
        atom.GetIdx()
        for atom in atoms_of(mol)
        if rings.NumAtomRings(atom.GetIdx()) > 1
        and atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED
    ]
    left = MOST_MENDED
    for count in range(1, MOST_INVERTED + 1):
        forms = {}
        for chosen in combinations(centres, count):
            form = Chem.Mol(mol)
            for number in chosen:
                form.GetAtomWithIdx(number).InvertChirality()
            Chem.AssignStereochemistry(form, cleanIt=True, force=True)
            forms[Chem.MolToSmiles(form)] = form
        found = [forms[smiles] for smiles in sorted(forms)[:left]]
        left -= len(found)
        yield found
