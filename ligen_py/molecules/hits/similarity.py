"""Scaffolds and fingerprints of molecules, and groups of like ones."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import rdFingerprintGenerator
from rdkit.Chem.Scaffolds import MurckoScaffold

LIKE = 0.5
"""Tanimoto similarity from which two molecules are of one cluster."""

RADIUS, BITS = 2, 2048

Fingerprint: TypeAlias = Any
"""A bit vector of RDKit."""


def fingerprints(smiles: Iterable[str]) -> list[Fingerprint]:
    """Morgan fingerprints (radius 2, 2048 bits) of molecules."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    with rdBase.BlockLogs():
        return [generator.GetFingerprint(_molecule(text)) for text in smiles]


def scaffold(smiles: str) -> str:
    """Canonical SMILES of the Bemis-Murcko scaffold, flat; empty for a molecule without a ring."""
    mol = _molecule(smiles)
    Chem.RemoveStereochemistry(mol)
    return str(Chem.MolToSmiles(MurckoScaffold.GetScaffoldForMol(mol)))


def _molecule(smiles: str) -> Chem.Mol:
    return Chem.MolFromSmiles(smiles) or Chem.Mol()


def clusters(prints: Sequence[Fingerprint], like: float = LIKE) -> list[int]:
    """Number of the cluster of each molecule, from 0; best molecules come first.

    The best molecule that is in no cluster leads a new one, and takes in all that are as like to it
    as `like`. So every cluster's best is its leader (sphere exclusion; R. D. Butina, J. Chem. Inf.
    Comput. Sci. 1999, 39, 747, in the order of the ranking).
    """
    found = np.full(len(prints), -1)
    for row, own in enumerate(prints):
        if found[row] >= 0:
            continue
        number = found.max(initial=-1) + 1
        free = np.flatnonzero(found < 0)
        near = np.array(DataStructs.BulkTanimotoSimilarity(own, [prints[int(i)] for i in free]))
        found[free[near >= like]] = number
        found[row] = number
    return [int(number) for number in found]


def nearest(own: Fingerprint, known: Sequence[Fingerprint]) -> tuple[int, float]:
    """The most similar of some molecules, and its Tanimoto similarity; (-1, 0) of none."""
    if not known:
        return -1, 0.0
    values = DataStructs.BulkTanimotoSimilarity(own, list(known))
    best = int(np.argmax(values))
    return best, float(values[best])


def pick(
    smiles: Sequence[str], count: int, most_of_scaffold: int, most_similar: float
) -> list[int]:
    """Rows of up to `count` molecules, best first, no two too much alike.

    Args:
        smiles: molecules, best first.
        count: how many to choose.
        most_of_scaffold: most molecules of one scaffold; molecules without rings count together.
        most_similar: a molecule more similar than this to a chosen one is left out; 1: none is.
    """
    chosen: list[int] = []
    prints: list[Fingerprint] = []
    used: Counter[str] = Counter()
    for row, text in enumerate(smiles):
        if len(chosen) == count:
            break
        core = scaffold(text)
        if used[core] >= most_of_scaffold:
            continue
        (own,) = fingerprints([text])
        if most_similar < 1 and nearest(own, prints)[1] > most_similar:
            continue
        used[core] += 1
        chosen.append(row)
        prints.append(own)
    return chosen
