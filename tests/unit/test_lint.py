"""Rules of the house that no other tool checks."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = {".venv", ".git", "demo", "results", "logs", "__pycache__"}
SUFFIXES = {".py", ".smk", ".md", ".yaml", ".toml", ".cl", ".clh", ".cff", ".lock", ".rst", ".json"}


def files() -> list[Path]:
    found = [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and (path.suffix in SUFFIXES or path.name in ("Makefile", "Snakefile", "run"))
        and not {part for part in path.relative_to(ROOT).parts if part.startswith(".")} - {".ci"}
        and path.relative_to(ROOT).parts[0] not in LEFT_OUT
    ]
    assert len(found) > 50
    return found


def test_no_index_address_and_no_path_of_one_machine() -> None:
    forbidden = re.compile(
        r"--(extra-)?index-url\s|--find-links|py(pi\.org|thonhosted)|"
        r"(?<![\w.])/(home|root|work|Users)/\w"
    )
    for path in files():
        if path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not forbidden.search(line), f"{path.relative_to(ROOT)}:{number}: {line}"


def test_nothing_is_left_undone() -> None:
    mark = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    for path in files():
        assert not mark.search(path.read_text(encoding="utf-8")), path.relative_to(ROOT)


@pytest.mark.parametrize(("name", "limit"), [("Snakefile", 40), ("workflow/rules/common.smk", 125)])
def test_the_workflow_is_a_table_of_contents(name: str, limit: int) -> None:
    assert len((ROOT / name).read_text().splitlines()) < limit


def test_common_rules_hold_no_rule() -> None:
    assert not re.search(r"^rule ", (ROOT / "workflow/rules/common.smk").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", ["local", "slurm"])
def test_every_line_of_a_profile_is_explained(name: str) -> None:
    explained = False
    for line in (ROOT / f"workflow/profiles/{name}/profile.yaml").read_text().splitlines():
        if not line.strip():
            explained = False
        elif line.lstrip().startswith("#"):
            explained = True
        else:
            assert explained, line


def test_make_explains_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    declared = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert declared is not None
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in declared.group(1).split():
        assert f"make {target} " in shown.stdout


def made(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What `make` does with a Makefile of its own folder, where nothing is required."""
    shutil.copy(ROOT / "Makefile", folder)
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (folder / lock).touch()
    command = ["make", f"PYTHON={sys.executable}", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_make_goes_on_from_an_environment_without_pip(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    done = made(tmp_path, ".venv/.from-lock")
    assert done.returncode == 0, done.stderr


def test_make_asks_for_the_complexes_before_it_installs(tmp_path: Path) -> None:
    done = made(tmp_path, "bench")
    assert done.returncode == 2
    assert "give a folder of complexes: make bench FOLDER=..." in done.stdout
    assert not (tmp_path / ".venv").exists()


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert script.index("make browser &") < script.index("make test")
    assert any(line.startswith("make test-slurm ") for line in script)
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
