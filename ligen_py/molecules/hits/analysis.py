"""All that is computed of one hit: in worker processes, since a thousand of them take a minute."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import rdCIPLabeler, rdMolDescriptors

from ligen_py.molecules.hits.checks import checks, from_coordinates
from ligen_py.molecules.hits.depiction import drawing
from ligen_py.molecules.hits.properties import Properties, properties
from ligen_py.molecules.hits.strain import strain
from ligen_py.molecules.interactions.contacts import Contact, contacts
from ligen_py.molecules.interactions.ligand import ligand_groups
from ligen_py.molecules.interactions.receptor import Surroundings, surroundings
from ligen_py.molecules.ligands.states import acid_centres, open_centres_and_bonds
from ligen_py.molecules.stored import molecule_of
from ligen_py.molecules.workers import ordered_map
from ligen_py.records.site import Site

SECONDS, MEBIBYTES = 20.0, 2000
"""Processor time and memory for one molecule; what needs more has no analysis."""


@dataclass(frozen=True)
class Posed:
    """A molecule in its pose."""

    parent: str
    """SMILES."""
    state: str
    """SMILES of what was docked."""
    molecule: np.ndarray
    """As stored, u1."""
    xyz: np.ndarray
    """(atoms, 3), Angstrom."""


@dataclass(frozen=True)
class Analysis:
    """What was found of a hit; without `properties` the molecule could not be analysed."""

    properties: Properties | None = None
    drawing: str = ""
    """Inside of an <svg>."""
    contacts: Sequence[Contact] = ()
    checks: Mapping[str, bool] = field(default_factory=dict)
    strain: float = math.nan
    """kcal/mol."""
    open_centres: int = 0
    """Stereocentres and double bonds that the input left open."""
    stereo: str = ""
    """Labels of all centres of the pose where some were open, as 'R, S'."""
    elements: Sequence[int] = ()
    """Atomic numbers of the atoms that are drawn: heavy atoms and polar hydrogens."""
    xyz: Sequence[tuple[float, float, float]] = ()
    bonds: Sequence[tuple[int, int, int]] = ()
    """Two of these atoms and the order: 1, 2, 3, or 4 where aromatic."""


def analyse(hits: Sequence[Posed], site: Site, jobs: int) -> list[Analysis]:
    """The analysis of some hits in one receptor, in their order."""
    if not hits:
        return []
    work = partial(_analysis, surroundings(site))
    jobs = max(1, min(jobs, len(hits)))
    return [found for _, found in ordered_map(work, hits, jobs, SECONDS, _lost, MEBIBYTES)]


def _lost(hit: Posed, late: bool, code: int) -> Analysis:
    return Analysis()


def _analysis(around: Surroundings, hit: Posed) -> Analysis:
    with rdBase.BlockLogs():
        try:
            return _found(around, hit)
        except (RuntimeError, ValueError):  # RDKit cannot do what a rare molecule would need
            return Analysis()


def _found(around: Surroundings, hit: Posed) -> Analysis:
    mol, parent = posed(hit), Chem.MolFromSmiles(hit.parent)
    open_centres, stereo = _left_open(parent, mol)
    drawn = [
        atom.GetIdx()
        for atom in mol.GetAtoms()
        if atom.GetAtomicNum() > 1 or atom.GetNeighbors()[0].GetAtomicNum() != 6
    ]
    number = {atom: row for row, atom in enumerate(drawn)}
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond) for bond in mol.GetBonds()]
    return Analysis(
        properties=properties(parent, Chem.GetFormalCharge(mol)),
        drawing=drawing(Chem.MolFromSmiles(hit.state)),
        contacts=contacts(ligand_groups(mol, hit.xyz), around),
        checks=checks(mol, hit.state, around),
        open_centres=open_centres,
        stereo=stereo,
        elements=[mol.GetAtomWithIdx(atom).GetAtomicNum() for atom in drawn],
        xyz=[(float(x), float(y), float(z)) for x, y, z in hit.xyz[drawn]],
        bonds=[
            (number[one], number[two], _order(bond))
            for one, two, bond in ends
            if one in number and two in number
        ],
        strain=strain(mol),
    )


def posed(hit: Posed) -> Chem.Mol:
    """The molecule with one conformer: its pose."""
    mol = molecule_of(hit.molecule)
    conformer = Chem.Conformer(mol.GetNumAtoms())
    conformer.SetPositions(hit.xyz.astype(float))
    mol.AddConformer(conformer, assignId=True)
    return mol


def _order(bond: Chem.Bond) -> int:
    return 4 if bond.GetIsAromatic() else min(3, max(1, int(bond.GetBondTypeAsDouble())))


def _left_open(parent: Chem.Mol, mol: Chem.Mol) -> tuple[int, str]:
    """How many stereocentres and double bonds the parent leaves open; all labels of the pose.

    RDKit also counts atoms of cages, such as adamantane's, of which no isomers differ: in cages no
    more are open than have isomers in the pose and none in the parent.
    """
    centres, bonds = open_centres_and_bonds(parent)
    groups = sum(len(group.GetAtoms()) for group in parent.GetStereoGroups())
    if not centres and not bonds and not groups:
        return 0, ""
    docked = Chem.RemoveHs(from_coordinates(mol))
    caged = set().union(*_cages(parent)).intersection(centres)
    isomeric = sum(_has_isomers(docked, part) for part in _caged(docked)) if caged else 0
    inside = min(len(caged), max(isomeric - len(_caged(parent)), 0))
    count = len(centres) - len(caged) + inside + bonds + groups
    if not count:
        return 0, ""
    rdCIPLabeler.AssignCIPLabels(docked)
    labels = [one.GetProp("_CIPCode") for one in (*_centres(docked), *docked.GetBonds())
              if one.HasProp("_CIPCode")]  # fmt: skip
    return count, ", ".join(labels)


def _centres(mol: Chem.Mol) -> list[Chem.Atom]:
    """Atoms that may be centres, without nitrogens and acids, which turn over."""
    acids = acid_centres(mol)
    return [a for a in mol.GetAtoms() if a.GetAtomicNum() != 7 and a.GetIdx() not in acids]


def _cages(mol: Chem.Mol) -> list[set[int]]:
    """Atoms of each system of rings that has bridges."""
    heads, systems = _bridgeheads(mol), list[set[int]]()
    for ring in mol.GetRingInfo().AtomRings() if heads else ():
        atoms = set(ring)
        for other in [system for system in systems if len(system & atoms) > 1]:
            systems.remove(other)
            atoms |= other
        systems.append(atoms)
    return [system for system in systems if system & heads]


def _bridgeheads(mol: Chem.Mol) -> set[int]:
    """Ends of bridges, and atoms of three rings, as cubane's."""
    found: list[int] = []
    rdMolDescriptors.CalcNumBridgeheadAtoms(mol, atoms=found)
    rings = mol.GetRingInfo()
    return {*found, *(atom for atom in range(mol.GetNumAtoms()) if rings.NumAtomRings(atom) > 2)}


def _caged(mol: Chem.Mol) -> list[list[int]]:
    """Marked centres of cages, one by one; those at the ends of a cage's bridges together."""
    marked, heads = {a.GetIdx() for a in _centres(mol) if a.GetChiralTag()}, _bridgeheads(mol)
    parts: list[list[int]] = []
    for cage in _cages(mol):
        parts += [[atom] for atom in sorted(marked & cage - heads)]
        if ends := sorted(marked & cage & heads):
            parts.append(ends)
    return parts


def _has_isomers(mol: Chem.Mol, centres: Sequence[int]) -> bool:
    """Whether inverting some centres gives another molecule."""
    other = Chem.Mol(mol)
    for centre in centres:
        other.GetAtomWithIdx(centre).InvertChirality()
    return bool(Chem.MolToSmiles(other) != Chem.MolToSmiles(mol))
