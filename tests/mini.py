"""A real campaign in a second or two: every stage in this process, a few molecules, little search.

campaign = Mini(folder, LIBRARY, chunks=2)
campaign.run()              # parse .. aggregate; stages whose files exist are left out
"""

from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from ligen_py.chain import SCREEN, Stage, screen
from ligen_py.store.campaign.manifest import PartFiles
from tests.stages.factory import write_manifest

DHFR = Path(str(files("posebusters"))) / "datasets" / "pdb" / "1ia1"

LIBRARY = (
    "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC trimethoprim\n"
    "CC(N)=O acetamide\n"
    "this is no molecule\n"
    "OC(=O)Cc1ccccc1 phenylacetic acid\n"
    "CCOCC ether\n"
    "C1CCCCC1 cyclohexane\n"
    "CCOCC ether again\n"
)

FLAGS = {
    "pocket": ("--radius", "8"),
    "dock": ("--num-restart", "12", "--num-iterations", "1", "--n-angles", "8"),
    "lga": ("--runs", "3", "--population", "8", "--generations", "3", "--iterations", "8"),
    "filter": ("--max-num-poses", "4"),
    "refine": ("--rounds", "1", "--evaluations", "8", "--max-num-poses", "3"),
    "score": (),
    "parse": ("--jobs", "1"),
    "aggregate": (),
}
AS_DRAWN = ("--standardise", "False", "--protonate", "False", "--stereoisomers", "1")
"""How a campaign parses a control."""


@dataclass
class Mini:
    """A campaign of one target and one library, and a redocking control if asked for."""

    folder: Path
    library: str = LIBRARY
    chunks: int = 1
    control: bool = False
    flags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    search: str = "ligen"

    @property
    def campaign(self) -> Path:
        return self.folder / "results/campaign.h5"

    @property
    def manifest(self) -> Path:
        return self.folder / "results/manifest.tsv"

    @property
    def crystal(self) -> Path:
        return DHFR / "1ia1_ligand.sdf"

    def parts(self) -> list[PartFiles]:
        found = [self._part("lib", f"{k + 1}-of-{self.chunks}") for k in range(self.chunks)]
        return [*found, *([self._part("control-dhfr", "1-of-1")] if self.control else [])]

    def _part(self, library: str, chunk: str) -> PartFiles:
        results = self.folder / "results"
        return PartFiles(
            target="dhfr",
            library=library,
            pocket=results / "pockets/dhfr.h5",
            ligands=results / "ligands" / library / f"{chunk}.h5",
            **{
                name: results / name / "dhfr" / library / f"{chunk}.h5"
                for name in (stage.kind for stage in SCREEN)
            },
            control=library != "lib",
            crystal=self.crystal if library != "lib" else None,
        )

    def run(self) -> "Mini":
        """Make what is missing, in the order of the stages."""
        self.folder.mkdir(parents=True, exist_ok=True)
        source = self.folder / "lib.smi"
        source.write_text(self.library)
        for part in self.parts():
            receptor = DHFR / "1ia1_protein_one_lig_removed.pdb"
            site = ["--receptor", str(receptor), "--chains", "B", "--ligand", str(self.crystal)]
            self._make("pocket", part.pocket, site)
            words = ["--input", str(source), "--part", part.ligands.stem]
            if part.control:
                words = ["--input", str(self.crystal), "--embed", "always", *AS_DRAWN]
            self._make("parse", part.ligands, words)
            for stage in screen(self.search):
                self.screen(stage, part)
        write_manifest(self.manifest, self.parts())
        self._make("aggregate", self.campaign, ["--manifest", str(self.manifest)])
        return self

    def screen(self, stage: Stage, part: PartFiles) -> None:
        words = []
        for flag, kind in stage.inputs.items():
            words += [f"--{flag}", str(getattr(part, kind))]
        self._make(stage.name, getattr(part, stage.kind), words)

    def _make(self, stage: str, path: Path, words: list[str]) -> None:
        if not path.exists():
            flags = (*FLAGS[stage], *self.flags.get(stage, ()))
            main = import_module(f"ligen_py.{stage}").main
            assert main([*words, "--output", str(path), "--quiet", *flags]) == 0, stage
