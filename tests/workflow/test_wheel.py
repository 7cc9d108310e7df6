"""The wheel in an environment of its own: the commands of the documents, from an empty folder."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDERS = ("kernels", "workflow", "config", "envs")
"""They stand beside the package in a checkout, and inside it in the wheel."""
LEFT = ("results", "logs", ".snakemake")
"""What a campaign leaves in its folder."""
DHFR = "package:posebusters/datasets/pdb/1s3v/1s3v_"
CONFIG = {
    "targets": {
        "dhfr": {
            "receptor": f"{DHFR}protein_one_lig_removed.pdb",
            "site": {"center": [-2.7, 27.8, 3.4], "radius": 8},
        }
    },
    "libraries": {"drugs": {"file": "drugs.smi", "chunks": 1}},
    "dock": {"num_restart": 8, "num_iterations": 1, "n_angles": 8},
    "filter": {"max_num_poses": 4},
    "refine": {"rounds": 1, "evaluations": 5},
}
DOCUMENTS = [ROOT / "README.md", ROOT / "config/README.md", *sorted((ROOT / "docs").glob("*.md"))]
SOON = re.compile(r"^(ligen (?:doctor|plan|run|query|verify)\b[^#`|]*)", re.MULTILINE)
"""Commands in the documents' blocks that a small campaign answers in seconds."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the checkout in whose examples a campaign was run."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel and is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in (*FOLDERS, "ligen_py"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns(*LEFT))
    for name in ("Snakefile", "pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, source)
    for place, left in itertools.product(("", "demo", "examples"), LEFT):
        (source / "config" / place / left).mkdir()
        (source / "config" / place / left / "mine").touch()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path) -> Path:
    """The folder of commands of an environment with the wheel, which borrows all requirements."""
    home = wheel.parent / "venv"
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*install, "--no-index", str(wheel)], check=True, capture_output=True)
    (site,) = (home / "lib").glob("python3*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    # OpenCL runtimes from wheels put their libraries here.
    for library in Path(sys.prefix, "lib").glob("*.so*"):
        (home / "lib" / library.name).symlink_to(library)
    return home / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with a campaign in my/, as in the documents."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "my").mkdir()
    (folder / "my" / "drugs.smi").write_text("CC(=O)Oc1ccccc1C(=O)O aspirin\nCCO ethanol\n")
    (folder / "my" / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    return folder


EVERY_HELP = """
from contextlib import suppress
from ligen_py.command import COMMANDS, STAGES, main
others = [[name] for name in COMMANDS if name != "stage"] + [["stage", name] for name in STAGES]
for words in others:
    with suppress(SystemExit):
        main([*words, "--help"])
"""
"""In one process, as most of the time of each goes into the imports that they share."""


def ligen(
    scripts: Path, folder: Path, *words: str, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with nothing of the checkout on the path."""
    return started(scripts, folder, "ligen", *words, status=status)


def started(
    scripts: Path, folder: Path, program: str, *words: str, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(scripts / program), *words],
        cwd=folder,
        env=kept | {"PATH": f"{scripts}:{kept['PATH']}", "PYTHONNOUSERSITE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def campaign(scripts: Path, folder: Path) -> str:
    """A campaign that was run; what the command printed."""
    return ligen(scripts, folder, "run", "my/config.yaml").stdout


def test_the_wheel_holds_what_a_campaign_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    for folder in FOLDERS:
        tracked = subprocess.run(
            ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
        assert {f"ligen_py/{name}" for name in tracked} <= names
    assert "ligen_py/Snakefile" in names
    assert not [name for name in names if name.endswith("/mine")]


def test_the_version_and_every_help(scripts: Path, folder: Path) -> None:
    from ligen_py import __version__
    from ligen_py.command import COMMANDS, STAGES

    assert ligen(scripts, folder, "--version").stdout == f"ligen_py {__version__}\n"
    shown = ligen(scripts, folder, "run", "--help").stdout
    assert "the folder of the config file" in " ".join(shown.split())
    examples = Path(shown.split("campaigns are in")[1].partition(";")[0].strip())
    assert (examples / "demo" / "config.yaml").is_file()
    assert not examples.is_relative_to(ROOT)
    helps = started(scripts, folder, "python", "-c", EVERY_HELP).stdout
    for name in set(COMMANDS) - {"stage"}:
        assert f"usage: ligen {name}" in helps
    for name in set(STAGES) - {"export"}:
        assert f"usage: ligen stage {name}" in helps


def test_a_campaign_ends_with_its_table_beside_its_config(campaign: str, folder: Path) -> None:
    assert "dhfr: 2 molecules ranked of 2 input records" in campaign
    assert campaign.rstrip().endswith(f"These files are in {folder / 'my'}")
    assert (folder / "my" / "results" / "campaign.h5").is_file()
    assert sorted(path.name for path in folder.iterdir()) == ["my"]


def test_the_commands_of_the_documents_work_as_they_stand(
    scripts: Path, folder: Path, campaign: str
) -> None:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"python -m (ligen_py|snakemake)|bin/snakemake", text), path
    # tests/stages/test_query.py runs those of queries.md, which name residues and other campaigns.
    documents = [path for path in DOCUMENTS if path.name != "queries.md"]
    found = [line for path in documents for line in SOON.findall(path.read_text(encoding="utf-8"))]
    commands = {tuple(shlex.split(line)[1:]) for line in found if "slurm" not in line}
    assert {words[0] for words in commands} >= {"doctor", "plan", "run", "verify"}
    for words in sorted(commands):
        here = folder if "my/config.yaml" in words else folder / "my"
        assert ligen(scripts, here, *words).stdout, words


def test_a_pose_is_made_again_from_the_campaigns_folder(
    scripts: Path, folder: Path, campaign: str
) -> None:
    here = folder / "my"
    rows = ligen(scripts, here, "query", "results/campaign.h5", "--name", "aspirin").stdout
    assert rows.splitlines()[1].split()[:2] == ["1", "aspirin"]
    words = ("--campaign", "results/campaign.h5", "--output", ".", "--pose", "dhfr", "aspirin", "0")
    ligen(scripts, here, "export", *words)
    assert (here / "dhfr-pose.sdf").read_text().startswith("aspirin")


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["dock"], 2, "PROTEIN, LIGANDS"),
        (["rum"], 2, "did you mean 'run'?"),
        (["run", "my/config.yaml", "--profile", "moon"], 2, "there are: local, slurm; or"),
        (["run", "my/config.yaml", "--device", "abacus"], 2, "no OpenCL device matches 'abacus'"),
        (["query", "my/config.yaml"], 1, "not an HDF5 file; give a campaign file"),
    ],
)
def test_a_wrong_command_is_one_sentence_at_the_end(
    scripts: Path, folder: Path, words: list[str], status: int, sentence: str
) -> None:
    lines = ligen(scripts, folder, *words, status=status).stderr.splitlines()
    assert sentence in lines[-1]
    assert lines[-1].startswith("ligen")
