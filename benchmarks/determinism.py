"""What stays the same across devices: the same ligands on every device, stage by stage.

    python benchmarks/determinism.py FOLDER [--ligands N] [--restarts N] [--device SELECTOR ...]

Docks the first drugs of the demo into Candida DHFR on each device (default: all but simulators) and
compares with the first one: docked and filtered poses bit for bit; scores of the same poses; and
final scores after each device's own refinement. All files remain in FOLDER, which must be new.
"""

import argparse
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.chain import STAGES
from ligen_py.cli import at_least
from ligen_py.opencl.device import devices, select
from ligen_py.records.kinds import KINDS
from ligen_py.records.poses import Poses
from ligen_py.records.scores import SCORES
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.filter import FilterSettings
from ligen_py.settings.parse import ParseOptions
from ligen_py.settings.pocket import PocketSettings, Site, Structure
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.settings.section import Section
from ligen_py.store.files.read import read, read_columns
from ligen_py.store.files.terms import read_terms

DHFR = Path(str(files("posebusters"))) / "datasets" / "pdb" / "1ia1"
FUNCTIONS = ("vina", "vinardo", "ad4", "xscore")


def made(
    stage: str, output: Path, inputs: dict[str, Any], settings: Section, device: str | None = None
) -> Path:
    """Run a stage unless its file is there; return the file."""
    if not output.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        STAGES[stage].run(inputs, settings, device, output)
    return output


class Chain:
    """The files of one device."""

    def __init__(self, folder: Path, selector: str, restarts: int) -> None:
        self.folder, self.device = folder, selector
        self.ligands = {"ligands": folder.parent / "ligands.h5"}
        self.site = self.ligands | {"pocket": folder.parent / "pocket.h5"}
        poses = self._made("dock", "poses", self.site, DockSettings(num_restart=restarts))
        self.poses = poses
        self.kept = self._made("filter", "kept", self.ligands | {"poses": poses}, FilterSettings())

    def _made(self, stage: str, name: str, inputs: dict[str, Path], settings: Section) -> Path:
        return made(stage, self.folder / f"{name}.h5", inputs, settings, self.device)

    def refine(self, name: str, kept: Path) -> Path:
        """Refine the poses of a file on this device."""
        return self._made("refine", name, self.site | {"poses": kept}, RefineSettings(rounds=10))

    def score(self, name: str, poses: Path) -> Path:
        """Score the poses of a file on this device, with every function."""
        settings = ScoreSettings(functions=FUNCTIONS, rank_by="first")
        return self._made("score", name, self.site | {"poses": poses}, settings)


def differences(first: Path, second: Path, kind: str) -> list[str]:
    """Columns of two files of poses that are not equal bit for bit."""
    a, b = (read(path, KINDS[kind], Poses) for path in (first, second))
    columns = Poses.__dataclass_fields__
    return [name for name in columns if not np.array_equal(getattr(a, name), getattr(b, name))]


def best(path: Path) -> np.ndarray:
    """The score of every ligand."""
    return read_columns(path, SCORES, ["scores/score"])["scores/score"].astype("f8")


def compare(name: str, first: Chain, other: Chain) -> None:
    """Print how a device differs from the first one."""
    print(name)
    for kind, one, two in (("poses", first.poses, other.poses), ("kept", first.kept, other.kept)):
        print(f"  {kind}: {', '.join(differences(one, two, kind)) or 'equal, bit for bit'}")
    a, b = (read_terms(chain.score("same", first.kept)) for chain in (first, other))
    for function in FUNCTIONS:
        x, y = a[function]["total"].astype("f8"), b[function]["total"].astype("f8")
        gap = np.abs(x - y)
        relative = (gap / np.maximum(1, np.abs(x))).max()
        print(f"  {function} of equal poses: difference {gap.max():.2e}, relative {relative:.2e}")
    x, y = (
        best(chain.score("scores", chain.refine("refined", first.kept))) for chain in (first, other)
    )
    gap = np.abs(x - y)
    ranks = np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1]
    spread = ", ".join(f"{share} % {np.percentile(gap, share):.3f}" for share in (50, 90, 95, 100))
    print(f"  best score after refinement on each: {spread} kcal/mol; rank correlation {ranks:.4f}")


def main() -> None:
    """Run every device, compare each with the first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ligands", type=at_least(1), default=100)
    parser.add_argument("--restarts", type=at_least(1), default=256)
    parser.add_argument("--device", nargs="+")
    options = parser.parse_args()
    usable = [device for device in devices() if not device.is_simulator and device.fault is None]
    names = options.device or [device.handle.platform.name for device in usable]
    for name in names:
        select(name)  # an unknown one ends the run before it leaves files
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):  # files of another run would be taken for those of this one
        parser.error(f"{folder} is not empty; give a new folder")
    lines = (ROOT / "config/demo/drugs.smi").read_text(encoding="utf-8").splitlines()
    (folder / "drugs.smi").write_text("\n".join(lines[: options.ligands]), encoding="utf-8")
    drugs = {"input": folder / "drugs.smi"}
    made("parse", folder / "ligands.h5", drugs, ParseOptions())
    receptor = DHFR / "1ia1_protein_one_lig_removed.pdb"
    site = Site(ligand=str(DHFR / "1ia1_ligand.sdf"))
    target = {"receptor": receptor, "structure": Structure(chains=("B",)), "site": site}
    made("pocket", folder / "pocket.h5", target, PocketSettings())
    first = Chain(folder / "0", names[0], options.restarts)
    print(f"{options.ligands} ligands, {options.restarts} restarts; compared with {names[0]}")
    for number, name in enumerate(names[1:], start=1):
        compare(name, first, Chain(folder / str(number), name, options.restarts))


if __name__ == "__main__":
    with in_words():
        main()
