"""Conformers put together from rigid pieces beside minimised ETKDG conformers of whole molecules.

    python benchmarks/conformers.py LIBRARY [--count N]

Each molecule is prepared with the default settings. Its first state is also embedded whole (ETKDGv3
and MMFF94s, up to as many conformers as the state has), and the nearest pair of conformers counts,
as the two may have their rings in different shapes. Compared are bond lengths and angles of heavy
atoms. Of all conformers: stereochemistry as drawn, and PoseBusters' checks of a molecule alone
(Buttenschoen et al., Chem. Sci. 15:3130, 2024) for the first conformer of each.
"""

import argparse
import sys
from collections import Counter
from itertools import combinations, islice
from pathlib import Path

import numpy as np
from posebusters import PoseBusters
from rdkit import Chem, rdBase

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.molecules.export import posed
from ligen_py.molecules.library.reading import records
from ligen_py.molecules.ligands.conformers import NoConformerError, embed
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.molecules.ligands.rows import State
from ligen_py.settings.parse import ParseSettings


def molecule(state: State) -> Chem.Mol:
    """The molecule of a state, with its conformer."""
    return posed(state.shape["molecule"], state.shape["xyz"], {})


def measured(mol: Chem.Mol, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Bond lengths (Angstrom) and angles (degrees) of a conformer's heavy atoms."""
    xyz = mol.GetConformer(number).GetPositions()
    heavy = mol.GetNumHeavyAtoms()
    near = [[o.GetIdx() for o in a.GetNeighbors() if o.GetIdx() < heavy] for a in mol.GetAtoms()]
    pairs = np.array([(a, b) for a in range(heavy) for b in near[a] if a < b]).reshape(-1, 2)
    lengths = np.linalg.norm(xyz[pairs[:, 0]] - xyz[pairs[:, 1]], axis=1)
    triples = [(a, b, c) for b in range(heavy) for a, c in combinations(near[b], 2)]
    first, middle, last = xyz[np.array(triples).reshape(-1, 3)].transpose(1, 0, 2)
    one, other = first - middle, last - middle
    size = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosine = np.einsum("ij,ij->i", one, other) / size
    return lengths, np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def as_drawn(mol: Chem.Mol) -> bool:
    """Whether every centre and double bond that is marked has that form in the conformer.

    RDKit finds no centre at a nitrogen from coordinates, so those are left out.
    """
    found, drawn = Chem.Mol(mol), Chem.Mol(mol)
    Chem.AssignStereochemistryFrom3D(found)
    drawn.RemoveAllConformers()
    for atom, here in zip(drawn.GetAtoms(), found.GetAtoms(), strict=True):
        if atom.GetAtomicNum() == 7:
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
        if atom.GetChiralTag() == Chem.ChiralType.CHI_UNSPECIFIED:
            here.SetChiralTag(atom.GetChiralTag())
    for bond, there in zip(drawn.GetBonds(), found.GetBonds(), strict=True):
        if bond.GetStereo() == Chem.BondStereo.STEREONONE:
            there.SetStereo(bond.GetStereo())
    hydrogens = Chem.RemoveHsParameters()
    hydrogens.removeDefiningBondStereo = True  # such a bond is unmarked in the drawing
    one, other = (
        Chem.CanonSmiles(Chem.MolToSmiles(Chem.RemoveHs(mol, hydrogens))) for mol in (found, drawn)
    )
    return bool(one == other)


def nearest(mol: Chem.Mol, whole: Chem.Mol) -> tuple[np.ndarray, np.ndarray]:
    """Differences of lengths and angles between the nearest conformers of two molecules."""
    ours = [measured(mol, conformer.GetId()) for conformer in mol.GetConformers()]
    theirs = [measured(whole, conformer.GetId()) for conformer in whole.GetConformers()]
    both = [(abs(a[0] - b[0]), abs(a[1] - b[1])) for a in ours for b in theirs]
    return min(both, key=lambda pair: float(pair[1].sum()))


def main() -> None:
    """Compare, and print the deviations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", type=Path)
    parser.add_argument(
        "--count", type=at_least(1), default=1000, help="records (default: %(default)s)"
    )
    options = parser.parse_args()
    settings = ParseSettings()
    busters = PoseBusters(config="mol_fast")
    lengths, angles, notes = [], [], Counter[str]()
    conformers = wrong = compared = 0
    failed: dict[str, Counter[str]] = {"pieces": Counter(), "whole": Counter()}
    for record in islice(records(options.library), options.count):
        prepared = prepare(record, settings)
        states = [molecule(state) for state in prepared.states]
        conformers += len(states)
        wrong += sum(not as_drawn(mol) for mol in states)
        notes["whole" if "conformers made whole" in prepared.note else "pieces"] += bool(states)
        first = [mol for mol in states if Chem.MolToSmiles(mol) == Chem.MolToSmiles(states[0])]
        if not first:
            continue
        mol = Chem.Mol(first[0])
        for other in first[1:]:
            mol.AddConformer(other.GetConformer(), assignId=True)
        whole = Chem.Mol(mol)
        try:
            embed(whole, settings.seed, prepared.key, mol.GetNumConformers())
        except NoConformerError:
            continue
        compared += 1
        length, angle = nearest(mol, whole)
        lengths.append(length)
        angles.append(angle)
        for name, one in (("pieces", mol), ("whole", whole)):
            report = busters.bust([Chem.Mol(one, confId=one.GetConformer().GetId())])
            failed[name].update(check for check in report if not bool(report[check].iloc[0]))
    if not compared:
        parser.error(f"{options.library}: no record has conformers to compare; give a library")
    print(f"{notes['pieces']} molecules from pieces, {notes['whole']} embedded whole")
    print(f"{conformers} conformers, {wrong} of them with other stereochemistry than drawn")
    print(f"{compared} compared: deviation of heavy atoms' bonds and angles")
    for name, unit, parts in (("lengths", "A", lengths), ("angles", "degrees", angles)):
        values = np.concatenate(parts)
        middle, high = np.median(values), np.percentile(values, 99)
        print(f"  {name}: median {middle:.4f} {unit}, 99th percentile {high:.3f} {unit}")
    for name, checks in failed.items():
        listed = ", ".join(f"{count} {check}" for check, count in checks.most_common())
        print(f"PoseBusters, {name}: failed {listed or 'none'}")


if __name__ == "__main__":
    with in_words(), rdBase.BlockLogs():
        main()
