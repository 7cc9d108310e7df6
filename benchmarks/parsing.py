"""How fast `parse` is, what a molecule costs step by step, and what RDKit alone costs for the same.

    python benchmarks/parsing.py LIBRARY [--count N] [--jobs N]

LIBRARY is any file that `parse` reads. First the whole file goes through `parse` with default
settings twice: with an empty file of rigid pieces' shapes, then with the file that the first pass
has filled. A rate is molecules a second of processor time, of all processes and start-up included,
so it is that of a core. Both passes must give the same ligands.

The other figures are milliseconds of processor time a molecule, the least of five passes over the
first N records: the steps of `prepare` (a step contains those indented below it); then bare calls
into RDKit, each on molecules that are prepared for it, without code of this project; then the calls
that no way of preparing a molecule from 3-D coordinates can do without, one molecule after another.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import isgeneratorfunction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import rdPartialCharges
from rdkit.Chem.MolStandardize import rdMolStandardize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.growth import processor_seconds
from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.molecules.library.parsing import parse
from ligen_py.molecules.library.reading import WHOLE, records
from ligen_py.molecules.ligands import (
    building,
    one_state,
    pka,
    pka_table,
    preparation,
    protonation,
    standardising,
)
from ligen_py.molecules.ligands.preparation import prepare, prepare_together
from ligen_py.molecules.stored import stored
from ligen_py.molecules.workers import BATCH
from ligen_py.settings.parse import ParseSettings

PASSES = 5
STEPS: tuple[tuple[str, Any, str], ...] = (
    ("read and sanitise", preparation, "molecule_of_record"),
    ("standardise", preparation, "standardising"),
    ("  where a rule applies", standardising.chembl, "normalize_mol"),
    ("SMILES of the parent", preparation, "canonical_smiles"),
    ("protonate", building, "protonating"),
    ("  find groups, their pKa", protonation, "titrating"),
    ("    surroundings of atoms", pka, "surroundings"),
    ("  populations", protonation, "populations"),
    ("stereoisomers", building, "stereoisomers"),
    ("SMILES of the states", building, "canonical_smiles"),
    ("hydrogens", building, "_full"),
    ("order of atoms, torsions", building, "docking_orders"),
    ("  rotatable bonds", one_state, "rotatable_bonds"),
    ("  bytes of the molecule", one_state, "stored_arrays"),
    ("  charges", one_state, "gasteiger_of"),
    ("coordinates", building, "ligands_of"),
    ("  conformers from pieces", one_state, "assemble"),
    ("properties", preparation, "properties"),
)
"""Name of a step, and the function that does it."""


def rates(library: Path, jobs: int) -> dict[str, tuple[int, float]]:
    """Molecules and seconds of processor time with no shapes known, and with all."""
    found, ligands = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("no shapes known", "all shapes known"):
            began = processor_seconds()
            parsed = parse(library, WHOLE, ParseSettings(), jobs, shapes=Path(folder) / "shapes")
            spent = processor_seconds() - began
            found[name] = len(parsed.entries.line), spent
            ligands.append(parsed.ligands)
    if not np.array_equal(ligands[0].xyz, ligands[1].xyz):
        raise SystemExit(f"{library}: the second pass made other conformers than the first")
    return found


def prepared(library: Sequence[Any], settings: ParseSettings) -> None:
    """Prepare records as a worker of `parse` does: a batch together, then the others alone."""
    for start in range(0, len(library), BATCH):
        for found in prepare_together(library[start : start + BATCH], settings):
            if callable(found):
                found()


def steps(library: Sequence[Any], settings: ParseSettings) -> dict[str, float]:
    """Milliseconds a record of `prepare` and of its steps."""
    spent: dict[str, float] = {}

    @contextmanager
    def clock(name: str) -> Iterator[None]:
        started = time.process_time()
        try:
            yield
        finally:
            spent[name] = spent.get(name, 0.0) + time.process_time() - started

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            with clock(name):
                return function(*arguments, **options)

        def call_in_turn(*arguments: Any, **options: Any) -> Any:
            going, answer = function(*arguments, **options), None
            while True:
                try:
                    with clock(name):
                        wanted = going.send(answer)
                except StopIteration as end:
                    return end.value
                answer = yield wanted

        return call_in_turn if isgeneratorfunction(function) else call

    for name, module, function in STEPS:
        setattr(module, function, timed(name, getattr(module, function)))
    passes = []
    for _ in range(PASSES):
        spent.clear()
        timed("prepare", lambda: prepared(library, settings))()
        passes.append(dict(spent))
    best = min(passes, key=lambda one: one["prepare"])
    names = ["prepare", *(name for name, _, _ in STEPS)]
    return {name: 1e3 * best.get(name, 0.0) / len(library) for name in names}


def rdkit(library: Sequence[Any]) -> dict[str, float]:
    """Milliseconds a molecule of RDKit's part of each step, called from nothing but a loop."""
    found: dict[str, float] = {}

    def least(name: str, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        for _ in range(PASSES):
            fresh = [Chem.Mol(item) if isinstance(item, Chem.Mol) else item for item in items]
            started = time.process_time()
            results = [work(item) for item in fresh]
            spent = 1e3 * (time.process_time() - started) / len(items)
            found[name] = min(spent, found.get(name, spent))
        return results

    def read(record: Any) -> Chem.Mol | None:
        if record.kind == "smiles":
            return Chem.MolFromSmiles(record.text)
        return Chem.MolFromMolBlock(record.text, removeHs=False)

    mols = [mol for mol in least("read and sanitise", read, library) if mol]
    bare = least("remove hydrogens", Chem.RemoveHs, mols)
    full = least("add hydrogens", Chem.AddHs, bare)
    least("sanitise", Chem.SanitizeMol, bare)
    least("ChEMBL's normaliser", standardising.chembl._normalizer.normalize, bare)
    least("neutralise charges", rdMolStandardize.Uncharger(canonicalOrder=True).uncharge, bare)
    smiles = least("canonical SMILES", Chem.MolToSmiles, bare)
    least("read a SMILES", Chem.MolFromSmiles, smiles)
    patterns = [family.pattern for family in pka_table.families()]
    name = f"match all {len(patterns)} patterns of pKa"
    least(name, lambda mol: [mol.HasSubstructMatch(pattern) for pattern in patterns], bare)
    least("Gasteiger charges", rdPartialCharges.ComputeGasteigerCharges, full)
    least("renumber", lambda mol: Chem.RenumberAtoms(mol, list(range(mol.GetNumAtoms()))), full)
    least("make a column of a molecule", stored, full)
    return found


def floor(library: Sequence[Any]) -> float:
    """Milliseconds a molecule of the calls that no preparation can do without, in turn.

    Reading, hydrogens off, rings and stereo, the SMILES of parent and state, hydrogens, charges.
    Code and molecules change places in the processor's caches, as in `parse`, so this is more than
    the sum of the single figures.
    """
    spent = []
    for _ in range(PASSES):
        began = time.process_time()
        for record in library:
            if record.kind == "smiles":
                mol = Chem.MolFromSmiles(record.text)
            else:
                mol = Chem.MolFromMolBlock(record.text, removeHs=False)
            if mol is None:
                continue
            bare = Chem.RemoveHs(mol, sanitize=False)
            Chem.SanitizeMol(bare, sanitizeOps=standardising.COUNTS)
            Chem.AssignStereochemistry(bare, cleanIt=True, force=True)
            Chem.MolToSmiles(bare)
            state = Chem.AddHs(bare, addCoords=True)
            Chem.MolToSmiles(bare)
            rdPartialCharges.ComputeGasteigerCharges(state)
        spent.append(time.process_time() - began)
    return 1e3 * min(spent) / len(library)


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", type=Path)
    parser.add_argument(
        "--count",
        type=at_least(1),
        default=300,
        help="records of the tables (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", type=at_least(1), default=os.cpu_count(), help="(default: %(default)s)"
    )
    options = parser.parse_args()
    for name, (count, seconds) in rates(options.library, options.jobs).items():
        print(f"{name}: {count} records, {count / seconds:.1f} a second and core", flush=True)
    library = list(islice(records(options.library), options.count))
    settings = ParseSettings()
    prepare(library[0], settings)  # patterns are compiled once
    for title, table in (("parse", steps(library, settings)), ("RDKit alone", rdkit(library))):
        print(f"\n{title}, {len(library)} records, ms of processor time a molecule")
        for name, value in table.items():
            print(f"  {name:32}{value:8.3f}")
    print(f"\nRDKit's calls that nothing can replace, in turn: {floor(library):.3f} ms a molecule")


if __name__ == "__main__":
    with in_words(), rdBase.BlockLogs():
        main()
