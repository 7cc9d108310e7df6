"""How the file of rigid pieces' shapes grows with a library, and how fast large ones are parsed.

    python benchmarks/growth.py LIBRARY [LIBRARY ...] [--count N] [--part N] [--jobs N]

The molecules of the libraries are cut into building blocks at the bonds that BRICS names (Degen et
al., ChemMedChem 3:1503, 2008). New molecules are two end blocks, or two of them at the ends of a
block with two places, chosen by lot; only places that BRICS joins are joined. They are parsed in
parts, as in a campaign, with one file of shapes that is empty at first. For each part: molecules a
second of processor time, pieces and megabytes in the file, and the most memory of a worker. The
last lines are the laws that fit best (pieces = factor * molecules ^ exponent; what a molecule and a
new piece cost), and what they say of a larger library.
"""

import argparse
import os
import random
import resource
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import BRICS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.figures import writable
from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.errors import InputError
from ligen_py.molecules.library.parsing import parse
from ligen_py.molecules.library.reading import WHOLE, records
from ligen_py.settings.parse import ParseSettings

PARTNERS: dict[int, set[int]] = defaultdict(set)
"""Kind of place -> kinds that BRICS joins to it."""
for rules in BRICS.reactionDefs:
    for one, other, _ in rules:
        first, second = int(one.rstrip("ab")), int(other.rstrip("ab"))
        PARTNERS[first].add(second)
        PARTNERS[second].add(first)

HEAVY = (12, 38)
"""Fewest and most heavy atoms of a new molecule."""

MISSES = 100_000
"""Tries in a row without a new molecule that mean that there are no more."""

LARGER = 1_000_000
"""Molecules of the library that is foretold."""


def blocks(libraries: Sequence[Path]) -> list[list[Chem.Mol]]:
    """Building blocks with one place and with two, in a fixed order."""
    found: set[str] = set()
    for library in libraries:
        for record in records(library):
            mol = Chem.MolFromSmiles(record.text.split(".")[0])
            if mol is not None and mol.GetNumHeavyAtoms() <= HEAVY[1]:
                cut = BRICS.BreakBRICSBonds(mol)
                found |= {Chem.MolToSmiles(part) for part in Chem.GetMolFrags(cut, asMols=True)}
    mols = [Chem.MolFromSmiles(smiles) for smiles in sorted(found)]
    return [[mol for mol in mols if len(places(mol)) == count] for count in (1, 2)]


def places(mol: Chem.Mol) -> list[int]:
    """Atoms of a block that stand for what it is joined to."""
    return [atom.GetIdx() for atom in mol.GetAtoms() if not atom.GetAtomicNum()]


def recombined(ends: list[Chem.Mol], links: list[Chem.Mol], seed: int = 1) -> Iterator[str]:
    """New molecules, each once; InputError once no new one is found."""
    if not ends or not links:
        raise InputError("the libraries have no blocks to join; give larger ones")
    chance = random.Random(seed)
    by_kind: dict[int, list[Chem.Mol]] = defaultdict(list)
    for end in ends:
        by_kind[end.GetAtomWithIdx(places(end)[0]).GetIsotope()].append(end)
    seen: set[str] = set()
    misses = 0
    while misses < MISSES:
        misses += 1
        start = chance.choice(links if chance.random() < 0.5 else ends)
        joined = start
        label = 100
        for place in places(start):
            kind = start.GetAtomWithIdx(place).GetIsotope()
            fitting = [each for partner in sorted(PARTNERS[kind]) for each in by_kind[partner]]
            if not fitting:
                break
            end = Chem.Mol(chance.choice(fitting))
            label += 1
            end.GetAtomWithIdx(places(end)[0]).SetIsotope(label)
            joined = Chem.Mol(joined)
            joined.GetAtomWithIdx(place).SetIsotope(label)
            joined = Chem.CombineMols(joined, end)
        else:
            mol = Chem.molzip(joined, ZIP)
            smiles = Chem.MolToSmiles(mol)
            if HEAVY[0] <= mol.GetNumHeavyAtoms() <= HEAVY[1] and smiles not in seen:
                seen.add(smiles)
                misses = 0
                yield smiles
    raise InputError(f"the blocks make {len(seen)} molecules; ask for fewer with --count")


ZIP = Chem.MolzipParams()
ZIP.label = Chem.MolzipLabel.Isotope


def processor_seconds() -> float:
    """Of this process and those that it has ended."""
    both = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in both)


class Part(NamedTuple):
    """The state after a part."""

    molecules: int
    """So far."""
    pieces: int
    """In the file."""
    megabytes: float
    """Of the file."""
    seconds: float
    """Of processor time, of this part alone."""


def laws(parts: Sequence[Part], larger: int) -> str:
    """How pieces and time grow, and what that makes of a library of so many molecules."""
    molecules, pieces, _, seconds = np.array(parts, float).T
    exponent, factor = np.polyfit(np.log(molecules), np.log(pieces), 1)
    new = np.array([np.diff(molecules, prepend=0), np.diff(pieces, prepend=0)]).T
    each, piece = np.linalg.lstsq(new, seconds, rcond=None)[0]
    many = np.exp(factor) * larger**exponent
    return (
        f"pieces = {np.exp(factor):.3g} * molecules ^ {exponent:.3f}\n"
        f"seconds = {each:.4f} * molecules + {piece:.4f} * pieces\n"
        f"{larger} molecules: {many:.0f} pieces, {many * parts[-1][2] / pieces[-1]:.0f} MB, "
        f"{(each * larger + piece * many) / 3600:.1f} hours of a core"
    )


def main() -> None:
    """Make the library and parse it part by part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", type=Path, nargs="+")
    parser.add_argument(
        "--count", type=at_least(1), default=20_000, help="molecules (default: %(default)s)"
    )
    parser.add_argument(
        "--part", type=at_least(1), default=2_000, help="of a part (default: %(default)s)"
    )
    parser.add_argument(
        "--jobs", type=at_least(1), default=os.cpu_count(), help="(default: %(default)s)"
    )
    parser.add_argument("--keep", type=writable, help="also write the molecules here")
    options = parser.parse_args()
    ends, links = blocks(options.library)
    print(f"{len(ends)} end blocks, {len(links)} blocks between two others")
    smiles = recombined(ends, links)
    done = 0
    rows: list[Part] = []
    with tempfile.TemporaryDirectory() as folder:
        shapes, part = Path(folder) / "shapes.sqlite", Path(folder) / "part.smi"
        print("| molecules | a second of processor time | pieces | MB | worker, MiB |")
        print("|---|---|---|---|---|")
        while done < options.count:
            lines = [f"{next(smiles)} m{done + n}\n" for n in range(options.part)]
            part.write_text("".join(lines))
            if options.keep:
                with options.keep.open("a") as kept:
                    kept.writelines(lines)
            began = processor_seconds()
            parse(part, WHOLE, ParseSettings(), options.jobs, shapes=shapes)
            spent = processor_seconds() - began
            done += len(lines)
            with sqlite3.connect(shapes) as file:
                (pieces,) = file.execute("select count(*) from pieces").fetchone()
            size = shapes.stat().st_size / 1e6
            memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            rows.append(Part(done, pieces, size, spent))
            rate = len(lines) / spent
            print(f"| {done} | {rate:.1f} | {pieces} | {size:.1f} | {memory:.0f} |", flush=True)
    if len(rows) > 1:
        print(laws(rows, LARGER))


if __name__ == "__main__":
    with in_words(), rdBase.BlockLogs():
        main()
