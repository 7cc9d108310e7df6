"""Requirements are pinned once; the conda environment says the same."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINS = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", LOCK, re.MULTILINE)
}
CURE = "requirements.lock is older than pyproject.toml: run `make lock`"


def requirements(*extras: str) -> list[Requirement]:
    optional = PROJECT["optional-dependencies"]
    return [Requirement(text) for extra in extras for text in optional[extra]]


def test_the_lock_pins_every_requirement() -> None:
    wanted = [Requirement(text) for text in PROJECT["dependencies"]]
    wanted += requirements(*PROJECT["optional-dependencies"])
    for requirement in wanted:
        version = PINS.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name}: {CURE}"
        assert requirement.specifier.contains(version), f"{requirement}: {CURE}"


def test_every_pin_has_hashes() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    # A package whose newest release has no wheel for some platform stands twice, with markers.
    assert len(entries) >= len(PINS) > 50
    for entry in entries:
        assert "--hash=sha256:" in entry, entry


def test_the_lock_names_no_address() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^-", LOCK, re.MULTILINE), "an option stands in the lock"


def test_the_conda_environment_has_the_locks_versions() -> None:
    environment = yaml.safe_load((ROOT / "envs" / "ligen.yaml").read_text(encoding="utf-8"))
    [pip] = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    needed = [Requirement(text).name for text in PROJECT["dependencies"]]
    needed += [requirement.name for requirement in requirements("cpu")]
    expected = sorted(f"{name}=={PINS[canonicalize_name(name)]}" for name in needed)
    assert pip == expected, "write these into envs/ligen.yaml"


def test_the_version_stands_where_others_look() -> None:
    from ligen_py import __version__

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
