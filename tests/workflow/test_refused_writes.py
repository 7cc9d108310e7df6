"""What the system refuses to write, in every stage and command: one sentence that names the output.

RLIMIT_FSIZE makes the kernel refuse what goes beyond some bytes of a file (EFBIG), in every library
and without rights. A full and a read-only file system need root.
"""

import contextlib
import gc
import io
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

import pytest

from ligen_py.chain import SCREEN, TOGETHER
from tests.mini import DHFR, FLAGS, Mini
from tests.workflow.small import mounted

PROTEIN = "MKVLAWTRPHGCDEFILMNQSTVYWKRHAD"
GENE = "ATGGCTGACCTGGAAGCTTCGGACTACGATCGGTACCTGATTCGGCATCCGTAGCATGGTTCGAAGGCTAA"
RECEPTOR = str(DHFR / "1ia1_protein_one_lig_removed.pdb")

SCREENED = [stage.name for stage in SCREEN]
WORDS = {
    "pocket": "--receptor {receptor} --ligand {crystal} --radius 8 --output OUT/new.h5",
    "parse": "--input {0}/lib.smi --jobs 1 --output OUT/new.h5",
    "aggregate": "--manifest {manifest} --output OUT/new.h5",
    "export": "--campaign {campaign} --count 3 --pdbqt --output OUT/",
    "export --pose": "--campaign {campaign} --pose dhfr acetamide 0 --output OUT/",
    "report": "--campaign {campaign} --jobs 1 --output OUT/new.html",
    "decoys": "--actives {0}/a.smi --library {0}/many.smi --output OUT/new.smi",
    "controls": "--target t --part crystal t | {control} --output OUT/new.json",
    "database": "--input {0}/database.fa --output OUT/new.h5",
    "homologs": "--query {0}/query.fa --database {0}/database.fa --output OUT/new.h5",
    "offtargets": "--input {0}/in.txt --output OUT/new.h5 --tables OUT",
    "guides": "--cds {0}/cds.fa --genome {0}/genome.fa --output OUT/new.h5",
    "genome": "--genome {0}/genome.fa --output OUT/",
    "best": "--campaign {campaign} --manifest {manifest} --targets dhfr --output OUT/new.h5",
    "pick": "{campaign} --count 2 --output OUT/new.sdf",
    "query csv": "{campaign} --output OUT/new.csv",
    "query sdf": "{campaign} --output OUT/new.sdf",
    "query parquet": "{campaign} --output OUT/new.parquet",
    "compare": "{campaign} {campaign} --output OUT/new.csv",
}
"""Every stage and command that writes a file, and its words; | is an empty one."""


SOME = "filter", "export", "query parquet", "database", "genome"
"""One of each way in which a file is written."""


class Command(NamedTuple):
    """A module of ligen_py, and its words."""

    module: str
    words: list[str]

    def into(self, folder: Path) -> "Command":
        return Command(self.module, [word.replace("OUT", str(folder)) for word in self.words])


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Command]:
    """The commands on a campaign that was made, and on inputs of searches."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "query.fa").write_text(f">sp|P1|ONE the query\n{PROTEIN}\n")
    (folder / "database.fa").write_text("".join(f">p{n}\n{PROTEIN[n:]}\n" for n in range(9)))
    (folder / "genome.fa").write_text(f">chr1\n{'ACGTTGCA' * 40}{GENE}{'TTGACCAG' * 40}\n")
    (folder / "cds.fa").write_text(f">GENE\n{GENE}\n")
    (folder / "in.txt").write_text(f"genome.fa\n{'N' * 21}GG\nGACCTGGAAGCTTCGGACTACNN 3 x\n")
    (folder / "a.smi").write_text("CCO one\n")
    (folder / "many.smi").write_text("".join(f"{'C' * n}NCl m{n}\n" for n in range(1, 20)))
    made = Mini(folder, control=True).run()
    part, last = made.parts()[0], made.parts()[-1]
    control = " ".join(map(str, (last.ligands, last.refined, last.scores, last.crystal)))
    names = {
        **{"receptor": RECEPTOR, "manifest": made.manifest, "campaign": made.campaign},
        **{"crystal": made.crystal, "control": control},
    }
    found = {}
    for name, words in WORDS.items():
        given = [word.replace("|", "") for word in words.format(folder, **names).split(" ")]
        found[name] = Command(name.split()[0], given)
    for stage in SCREEN:
        words = ["--output", "OUT/new.h5", *FLAGS[stage.name]]
        for flag, kind in stage.inputs.items():
            words += [f"--{flag}", str(getattr(part, kind))]
        found[stage.name] = Command(stage.name, words)
    words = ["--ligands", str(part.ligands), "--pocket", str(part.pocket)]
    for stage in SCREEN:
        words += [f"--{stage.kind}", f"OUT/{stage.kind}.h5"]
        words += [f"--{stage.name}={' '.join(FLAGS[stage.name])}"]
    found[TOGETHER] = Command(TOGETHER, words)
    return found


def _limited(limit: int | None, module: str, words: list[str]) -> tuple[int, str]:
    """The exit code of a command whose files may have so many bytes, and what it says."""
    main: Callable[[list[str]], int] = import_module(f"ligen_py.{module}").main
    said, hard = io.StringIO(), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            return main([*words, "--quiet"]), said.getvalue()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            gc.collect()  # a temporary file of a failed command would keep its disk busy


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    """A process that runs commands; that it ends is a failure."""
    with ProcessPoolExecutor(1, get_context("forkserver")) as pool:
        yield pool


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def assert_named(answer: tuple[int, str], folder: Path, why: str) -> None:
    """One sentence says which output cannot be written, and why; no input is blamed for it."""
    code, said = answer
    assert code == 1, said
    (last,) = [line for line in said.splitlines() if " error: " in line]
    assert last == said.splitlines()[-1]
    assert last.partition(" error: ")[2].startswith(str(folder)), said
    assert f"cannot be written ({why})" in said, said
    assert "damaged" not in said
    assert [path for path in files(folder) if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", [*SCREENED, TOGETHER, *WORDS])
def test_a_file_that_must_not_grow(
    commands: dict[str, Command], process: ProcessPoolExecutor, tmp_path: Path, name: str
) -> None:
    free, limited = tmp_path / "free", tmp_path / "limited"
    free.mkdir()
    limited.mkdir()
    code, said = process.submit(_limited, None, *commands[name].into(free)).result()
    assert code == 0, said
    half = max(path.stat().st_size for path in files(free)) // 2
    answer = process.submit(_limited, half, *commands[name].into(limited)).result()
    assert_named(answer, limited, "File too large")


def test_a_full_and_a_read_only_disk(
    commands: dict[str, Command], process: ProcessPoolExecutor, tmp_path: Path
) -> None:
    with mounted(tmp_path / "disk", "16k") as disk:
        for options, why in (("rw", "No space left on device"), ("ro", "Read-only file system")):
            subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)
            for name in SOME if options == "ro" else commands:
                if options == "rw":
                    (disk / "filler").write_bytes(b"x" * 16_384)
                answer = process.submit(_limited, None, *commands[name].into(disk)).result()
                assert_named(answer, disk, why)


def test_docking_in_one_line_into_a_disk_that_fills(
    commands: dict[str, Command], process: ProcessPoolExecutor, tmp_path: Path
) -> None:
    ligands = Path(commands["parse"].words[1])
    words = [RECEPTOR, str(ligands), "--site", str(DHFR / "1ia1_ligand.sdf"), "--effort", "draft"]
    limited = tmp_path / "limited"
    answer = process.submit(_limited, 30_000, "dock_command", [*words, "-o", str(limited)]).result()
    code, said = answer
    assert code == 1
    assert "cannot be written (File too large)" in said.splitlines()[-1]
    assert not limited.exists()


@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [
        (
            "> /dev/full",
            1,
            f"ligen query: error: standard output, or a temporary file in {gettempdir()}, cannot "
            "be written (No space left on device); send the output elsewhere, or set TMPDIR\n",
        ),
        (">&-", 0, ""),
        ("2>&- >&- <&-", 0, ""),
        ("2> /dev/full | true", 0, ""),
        ("| head -c 1 > /dev/null", 0, ""),
    ],
)
def test_an_answer_that_nobody_takes(
    commands: dict[str, Command], redirected: str, code: int, said: str
) -> None:
    campaign = commands["query csv"].words[0]
    shell = f"{sys.executable} -m ligen_py query {campaign} --format csv {redirected}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, said)
