"""What `parse` costs a molecule, step by step, and what RDKit alone costs for the same work.

    python benchmarks/parsing.py LIBRARY [--count N]

LIBRARY is any file that `parse` reads; the figures in the docs are of a 3-D SDF with hydrogens. All
figures are milliseconds of processor time a molecule, the least of five passes: first the steps of
`prepare` with default settings (a step contains those indented below it), then bare calls
into RDKit, each on molecules that are prepared for it, without code of this project.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rdkit import Chem, rdBase
from rdkit.Chem import rdPartialCharges
from rdkit.Chem.MolStandardize import rdMolStandardize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from ligen_py.molecules.library.reading import records
from ligen_py.molecules.ligands import preparation, protonation, standardising
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.molecules.stored import stored
from ligen_py.settings.parse import ParseSettings

PASSES = 5
STEPS: tuple[tuple[str, Any, str], ...] = (
    ("read and sanitise", preparation, "_molecule"),
    ("standardise", preparation, "standardise"),
    ("  remove hydrogens", standardising.chembl, "remove_hs_from_mol"),
    ("  normalise", standardising.chembl, "normalize_mol"),
    ("canonical SMILES", preparation, "canonical_smiles"),
    ("protonate", preparation, "protonated"),
    ("  find groups, their pKa", protonation, "sites"),
    ("  populations", protonation, "populations"),
    ("hydrogens, torsions, types", preparation, "_ligands"),
)
"""Name of a step, and the function that does it."""


def steps(library: Sequence[Any], settings: ParseSettings) -> dict[str, float]:
    """Milliseconds a record of `prepare` and of its steps."""
    spent: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                spent[name] = spent.get(name, 0.0) + time.process_time() - started

        return call

    for name, module, function in STEPS:
        setattr(module, function, timed(name, getattr(module, function)))
    passes = []
    for _ in range(PASSES):
        spent.clear()
        timed("prepare", lambda: [prepare(record, settings) for record in library])()
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
    patterns = [family.pattern for family in protonation.families()]
    name = f"match all {len(patterns)} patterns of pKa"
    least(name, lambda mol: [mol.HasSubstructMatch(pattern) for pattern in patterns], bare)
    least("Gasteiger charges", rdPartialCharges.ComputeGasteigerCharges, full)
    least("renumber", lambda mol: Chem.RenumberAtoms(mol, list(range(mol.GetNumAtoms()))), full)
    least("make a column of a molecule", stored, full)
    return found


def main() -> None:
    """Measure and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("--count", type=int, default=300, help="records (default: %(default)s)")
    options = parser.parse_args()
    library = list(islice(records(options.library), options.count))
    settings = ParseSettings()
    prepare(library[0], settings)  # patterns are compiled once
    for title, table in (("parse", steps(library, settings)), ("RDKit alone", rdkit(library))):
        print(f"\n{title}, {len(library)} records, ms of processor time a molecule")
        for name, value in table.items():
            print(f"  {name:32}{value:8.3f}")


if __name__ == "__main__":
    with rdBase.BlockLogs():
        main()
