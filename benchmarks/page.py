"""The report's page with a thousand hits: seconds to make it, and until a browser shows it.

    python benchmarks/page.py [--hits N] [--page FILE]

Drugs and their analogues in invented poses. Needs Chromium (Debian: apt-get install chromium); the
median of nine openings counts, each until the second frame after the page has loaded. `--page`
opens a page that is there.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from rdkit import Chem, rdBase
from rdkit.Chem import AllChem

from benchmarks.leaving import in_words
from ligen_py.chain import STAGES
from ligen_py.cli import at_least, input_file
from ligen_py.settings.aggregate import AggregateSettings
from ligen_py.settings.report import ReportSettings
from tests.chromium import opened
from tests.goldens import rows
from tests.stages.factory import Molecule, prepared, write_manifest, write_part

SUBSTITUENTS = ("F", "Cl", "C", "OC", "N", "C#N")

LARGEST = 60
"""Heavy atoms of a molecule at most."""

VIEWS = {"desktop": (1360, False), "phone": (390, True)}

FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def drugs() -> list[Molecule]:
    """Drugs, and each with a substituent on an aromatic carbon, in a fixed order."""
    found: dict[str, str] = {}
    with rdBase.BlockLogs():
        for name, mol in _analogues():
            text = Chem.MolToSmiles(mol)
            if mol.GetNumHeavyAtoms() <= LARGEST and "." not in text:
                found.setdefault(text, name)
    pairs = list(found.items())
    random.Random(1).shuffle(pairs)
    extra = json.dumps({"price": "12 USD", "id": "Z1"})
    return [
        Molecule(name, smiles, 12 - 0.008 * number, extra=extra)
        for number, (smiles, name) in enumerate(pairs)
        if not prepared(smiles).reason
    ]


def _analogues() -> Iterator[tuple[str, Chem.Mol]]:
    for row in rows("properties.tsv"):
        mol = Chem.MolFromSmiles(row["smiles"])
        yield row["name"], mol
        for group in SUBSTITUENTS:
            reaction = AllChem.ReactionFromSmarts(f"[cH:1]>>[c:1]{group}")
            for (product,) in reaction.RunReactants((mol,))[:2]:
                if Chem.SanitizeMol(product, catchErrors=True) == Chem.SANITIZE_NONE:
                    yield f"{row['name']}-{group}", product


def made(folder: Path, hits: int) -> Path:
    """A campaign of so many invented hits, and its page."""
    part = write_part(folder, "t", "lib", "1-of-1", drugs()[:hits])
    manifest = write_manifest(folder / "manifest.tsv", [part])
    campaign, page = folder / "campaign.h5", folder / "report.html"
    settings = AggregateSettings(top_poses=hits)
    STAGES["aggregate"].run({"manifest": manifest}, settings, None, campaign)
    clock, used = time.perf_counter(), os.times()
    with redirect_stdout(StringIO()):
        STAGES["report"].run({"campaign": campaign}, ReportSettings(hits=hits), None, page)
    seconds, now = time.perf_counter() - clock, os.times()
    spent = sum(getattr(now, kind) - getattr(used, kind) for kind in ("user", "children_user"))
    size = page.stat().st_size / 1e6
    print(f"{hits} hits: page of {size:.1f} MB, made in {seconds:.0f} s, processor {spent:.0f} s")
    return page


def main() -> None:
    """Make a page and open it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=at_least(1), default=1000)
    parser.add_argument("--page", type=input_file, help="open this page in place of a new one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        page = options.page or made(folder, options.hits)
        for view, (width, mobile) in VIEWS.items():
            times = []
            with opened(folder / view) as tab:
                tab.resize(width, mobile=mobile)
                for _ in range(9):
                    start = time.perf_counter()
                    tab.open(page)
                    tab.run(FRAMES)
                    times.append(time.perf_counter() - start)
            print(f"  {view:8} {median(times):.2f} s; the first time {times[0]:.2f} s")


if __name__ == "__main__":
    with in_words():
        main()
