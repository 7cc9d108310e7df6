"""Decoys that are like the actives in size and polarity, and unlike them in structure.

The idea is that of DUD-E (M. M. Mysinger et al., J. Med. Chem. 55 (2012) 6582-6594): properties are
matched, so that size alone does not separate actives from decoys, and similar structures are
excluded, because they may bind, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import rdFingerprintGenerator

from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.drawn import (
    UnusableError,
    require_no_sandwich,
    require_supported,
)
from ligen_py.molecules.ligands.filters import PROPERTIES
from ligen_py.molecules.ligands.protonation import protonated
from ligen_py.molecules.ligands.standardising import canonical_smiles, standardise
from ligen_py.molecules.mol2 import read_mol2
from ligen_py.settings.parse import ParseSettings

WIDTHS = {
    "weight": 25.0,
    "logp": 0.5,
    "rotatable": 1.0,
    "donors": 1.0,
    "acceptors": 1.0,
    "charge": 0.5,
}
"""Matched properties, and how far apart in each two molecules are equally unlike."""

RADIUS, BITS = 2, 2048
"""Of the Morgan fingerprint: ECFP4."""


@dataclass(frozen=True)
class Candidates:
    """Molecules with their properties (molecules, `WIDTHS`) in widths, and fingerprints."""

    name: list[str]
    smiles: list[str]
    """Of the parents."""
    drawn: list[str]
    """SMILES as given, with salts and charges."""
    place: np.ndarray
    prints: list[DataStructs.ExplicitBitVect]
    docked: np.ndarray
    """Whether all atoms and bonds of each (molecules,) have types, so that `parse` takes it."""


def candidates_of(records: Iterable[Record | tuple[str, str]]) -> Candidates:
    """Molecules that RDKit can read, each parent once.

    Properties and fingerprints are those of the parent, whichever way it is drawn, but for the
    charge: that is what most of the molecules have at the default pH. A record is one of a library,
    or name and SMILES.
    """
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    names, smiles, given, places, prints, docked = [], [], [], [], [], []
    seen: set[str] = set()
    with rdBase.BlockLogs():
        for name, drawn, parent in _molecules(records):
            text = canonical_smiles(parent)
            if text in seen:
                continue
            seen.add(text)
            names.append(name)
            smiles.append(text)
            given.append(canonical_smiles(drawn))
            values = {key: PROPERTIES[key](parent) for key in WIDTHS}
            values["charge"] = _charge(parent)
            places.append([values[key] / width for key, width in WIDTHS.items()])
            prints.append(generator.GetFingerprint(parent))
            docked.append(_is_docked(drawn, parent))
    table = np.array(places).reshape(-1, len(WIDTHS))
    return Candidates(names, smiles, given, table, prints, np.array(docked, bool))


def _is_docked(drawn: Chem.Mol, parent: Chem.Mol) -> bool:
    try:
        require_no_sandwich(drawn)
        require_supported(parent)
    except UnusableError:
        return False
    return True


def _charge(parent: Chem.Mol) -> int:
    """The charge of a parent's most populated state; libraries draw most molecules neutral."""
    known = ParseSettings()
    (state,) = protonated(parent, known.ph, known.min_population, 1)
    return Chem.GetFormalCharge(state.mol)


def _molecules(
    records: Iterable[Record | tuple[str, str]],
) -> Iterator[tuple[str, Chem.Mol, Chem.Mol]]:
    """Names, molecules as drawn, and their parents."""
    for record in records:
        name, kind, text = (
            (record.name, record.kind, record.text)
            if isinstance(record, Record)
            else (record[0], "smiles", record[1])
        )
        try:
            if kind == "mol":
                mol = Chem.MolFromMolBlock(text)
            elif kind == "mol2":
                mol = read_mol2(text)
                mol = Chem.RemoveHs(mol) if mol else None
            else:
                mol = Chem.MolFromSmiles(text)
            if mol is not None and mol.GetNumAtoms():
                yield name, mol, standardise(mol).mol
        except (RuntimeError, ValueError):  # what RDKit cannot read is no decoy
            continue


def draw(
    actives: Candidates, library: Candidates, per_active: int, max_similarity: float
) -> list[int]:
    """Rows of `library` that are decoys, at most `per_active` for each active.

    In turns every active takes the nearest molecule that is left, by the distance of their
    properties in `WIDTHS`. Molecules more similar than `max_similarity` (Tanimoto) to any active
    are left out, and so are those without types: without a score they would count as beaten.
    """
    unlike = np.array(
        [
            max(DataStructs.BulkTanimotoSimilarity(bits, actives.prints)) <= max_similarity
            for bits in library.prints
        ],
        bool,
    )
    left = np.flatnonzero(unlike & library.docked)
    gaps = np.array(
        [np.linalg.norm(library.place[left] - place, axis=1) for place in actives.place]
    )
    order = np.argsort(gaps, axis=1, kind="stable")
    taken, next_one = np.zeros(len(left), bool), np.zeros(len(order), "i8")
    chosen: list[int] = []
    for _ in range(per_active):
        for active in range(len(order)):
            while next_one[active] < len(left) and taken[order[active, next_one[active]]]:
                next_one[active] += 1
            if next_one[active] == len(left):
                return chosen
            row = order[active, next_one[active]]
            taken[row] = True
            chosen.append(int(left[row]))
    return chosen


def means(actives: Candidates, library: Candidates, rows: Sequence[int]) -> str:
    """The means of the matched properties of actives and of some rows of a library, in words."""
    places = [place.mean(axis=0) for place in (actives.place, library.place[list(rows)])]
    return ", ".join(
        f"{name} {active * width:.1f} and {decoy * width:.1f}"
        for (name, width), active, decoy in zip(WIDTHS.items(), *places, strict=True)
    )
