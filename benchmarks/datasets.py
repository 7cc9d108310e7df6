"""The 16 datasets d_A_F of the LiGen paper: molecules of exactly A atoms and F fragments.

Seeded random chains of rigid units: every junction is one rotatable bond, and each rotatable bond
gives two fragments. The paper's own molecules are not public; only the counts are theirs.
"""

import multiprocessing
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.resources import files
from itertools import repeat
from pathlib import Path

import numpy as np
from rdkit import Chem

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from ligen_py.chain import STAGES
from ligen_py.errors import InputError
from ligen_py.molecules.library.parsing import assemble
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.parse import AS_GIVEN, ParseSettings
from ligen_py.settings.pocket import PocketSettings, Site, Structure
from ligen_py.store.files.read import read

ATOMS = (31, 63, 74, 89)
FRAGMENTS = (4, 8, 16, 20)
MISSES = 100_000
"""Tries in a row without a new molecule that mean that there are no more."""

NAMES = tuple((atoms, fragments) for atoms in ATOMS for fragments in FRAGMENTS)

MIDDLES = (
    "C", "O", "S", "C(F)", "C(Cl)", "C(C)", "C(C#N)", "C(=O)", "c1ccc(cc1)", "c1ccc(nc1)",
    "c1sc(cc1)", "c1cc(F)c(cc1)", "C1CCC(CC1)", "C1CC(C1)", "c1ccc2cc(ccc2c1)",
    "C1CCC2CC(CCC2C1)", "C1CC2CCC1C2", "C1CC2CC(C1)CC2", "C(C)(C)", "C(=C)", "c1cc(C)c(cc1)",
    "c1c(C)cc(c(C)c1)", "C1CC(C)C(CC1)", "c1cc(Cl)c(cc1)", "C1CC(F)C(CC1)",
    "C1CCC2CC3CC(CCC3CC2C1)", "c1cc(C)c2cc(ccc2c1)",
)  # fmt: skip
"""Rigid units with two open ends, written so that strings can be joined."""

ENDS = (
    "CC", "OC", "C=O", "C=C", "C(F)F", "c1ccccc1", "c1ccncc1", "c1ccc(F)cc1", "c1ccc(Cl)cc1",
    "c1ccc(C)cc1", "C1CCCCC1", "C1CCC1", "c1ccc2ccccc2c1", "C12CC3CC(C1)CC(C3)C2",
    "C1CCC2CCCCC2C1", "C1CCC2C(C1)CCC1C2CCC2CCCC12", "c1ccc2c(c1)ccc1ccccc12", "c1cc(C)cc(C)c1",
    "c1ccc(C#N)cc1", "c1cc(F)cc(F)c1", "C1CCC(C)CC1", "C1CC2CCC1C2", "c1ccc2[nH]ccc2c1",
    "C1CCC(F)CC1", "C1CC(C)(C)CCC1", "C1CCC2C(C1)CCC1C2CCC2CC(F)CC12",
    "C1CCC2C(C1)CCC1C2CCC2CC(C)CC12", "C1CCC2CC3CCCCC3CC2C1", "C1CCC2CC3CC(C)CCC3CC2C1",
    "C12CC3CC(C1)CC(C)(C3)C2",
)  # fmt: skip
"""Rigid units with one open end."""


@cache
def unit_atoms(unit: str, open_ends: int) -> int:
    """Atoms of a unit, hydrogens included, without those that its neighbours replace."""
    return int(Chem.AddHs(Chem.MolFromSmiles(unit)).GetNumAtoms()) - open_ends


@cache
def sizes_left(count: int) -> frozenset[int]:
    """All sizes that `count` middles and one end can add up to."""
    sizes = {unit_atoms(unit, 1) for unit in ENDS}
    for _ in range(count):
        sizes = {size + unit_atoms(unit, 2) for size in sizes for unit in MIDDLES}
    return frozenset(sizes)


def is_polar(unit: str) -> bool:
    """Units that must not meet: two of them in a row would not be stable molecules."""
    return unit[0] in "OS" or unit == "C(=O)" or unit == "C=O"


def molecules(atoms: int, fragments: int, seed: int = 0) -> Iterator[str]:
    """SMILES of distinct molecules with exactly these counts, equal for equal seeds.

    InputError once no new one is found: of d_89_4 there are 30.
    """
    rng = np.random.default_rng([seed, atoms, fragments])
    middles = fragments // 2 - 1
    seen: set[str] = set()
    misses = 0
    while misses < MISSES:
        misses += 1
        units = [str(rng.choice(ENDS))]
        left = atoms - unit_atoms(units[0], 1)
        while len(units) <= middles + 1:
            rest = middles - len(units)
            pool, open_ends = (MIDDLES, 2) if rest >= 0 else (ENDS, 1)
            fitting = [
                unit
                for unit in pool
                if not (is_polar(unit) and is_polar(units[-1]))
                and (
                    left - unit_atoms(unit, open_ends) in sizes_left(rest)
                    if open_ends == 2
                    else left == unit_atoms(unit, 1)
                )
            ]
            if not fitting:
                break
            units.append(str(rng.choice(fitting)))
            left -= unit_atoms(units[-1], open_ends)
        if left or len(units) != middles + 2:
            continue
        smiles = Chem.CanonSmiles(_joined(units[0], "".join(units[1:])))
        if smiles not in seen:
            seen.add(smiles)
            misses = 0
            yield smiles
    raise InputError(f"d_{atoms}_{fragments} has {len(seen)} molecules; ask for fewer")


def _joined(end: str, chain: str) -> str:
    """Bond the first atoms of both, through a ring-closure label between two parts."""
    return f"{end[0]}%90{end[1:]}.{chain[0]}%90{chain[1:]}"


def dataset(atoms: int, fragments: int, count: int, seed: int = 0) -> Ligands:
    """The first `count` molecules of a dataset as ligands; InputError where one cannot be made."""
    settings = ParseSettings(**AS_GIVEN, embed="always")
    prepared = []
    for line, smiles in enumerate(molecules(atoms, fragments, seed), start=1):
        record = Record(text=smiles, name=f"d_{atoms}_{fragments}_{line}", line=line)
        result = prepare(record, settings)
        # A few cages defeat the conformer generator; the next molecule takes their place.
        if result.states and len(result.states[0].shape["torsion_axis"]) == fragments // 2:
            prepared.append((record, result))
        if len(prepared) == count:
            return assemble(prepared).ligands
    raise AssertionError("molecules() ends with an error")


def datasets(names: Sequence[tuple[int, int]], count: int) -> list[Ligands]:
    """Several datasets, made on all cores: their conformers take longer than most benchmarks."""
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(dataset, *zip(*names, strict=True), repeat(count)))


def benchmark_search(restarts: int, **others: int) -> DockSettings:
    """The search that the dock kernel is timed with, whatever the defaults are."""
    return DockSettings(num_restart=restarts, num_iterations=3, n_angles=32, **others)


def benchmark_field() -> GeometricField:
    """The field of Candida albicans DHFR (PDB 1IA1), from files of the posebusters package."""
    folder = Path(str(files("posebusters"))) / "datasets" / "pdb" / "1ia1"
    with tempfile.TemporaryDirectory() as work:
        output = Path(work) / "pocket.h5"
        receptor = folder / "1ia1_protein_one_lig_removed.pdb"
        site = Site(ligand=str(folder / "1ia1_ligand.sdf"))
        inputs = {"receptor": receptor, "structure": Structure(), "site": site}
        STAGES["pocket"].run(inputs, PocketSettings(), None, output)
        return read(output, POCKET, GeometricField)
