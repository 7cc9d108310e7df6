"""Requirements are pinned once; the conda environment says the same."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ligen_py.errors import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("requirements.lock", "requirements-dev.lock")
}
PINS, DEV_PINS = (
    {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", lock, re.MULTILINE)
    }
    for lock in LOCKS.values()
)
FOR_USERS = ("cpu", "workflow", "demo")
CURE = "requirements.lock is older than pyproject.toml: run `make lock`"


def requirements(*extras: str) -> list[Requirement]:
    optional = PROJECT["optional-dependencies"]
    return [Requirement(text) for extra in extras for text in optional[extra]]


@pytest.mark.parametrize(
    ("pins", "extras"), [(PINS, FOR_USERS), (DEV_PINS, tuple(PROJECT["optional-dependencies"]))]
)
def test_the_locks_pin_every_requirement(pins: dict[str, str], extras: tuple[str, ...]) -> None:
    wanted = [Requirement(text) for text in PROJECT["dependencies"]]
    wanted += requirements(*extras)
    for requirement in wanted:
        version = pins.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name}: {CURE}"
        assert requirement.specifier.contains(version), f"{requirement}: {CURE}"


def test_users_get_the_versions_that_are_tested_and_no_tools() -> None:
    assert PINS.items() <= DEV_PINS.items()
    only = {canonicalize_name(needed.name) for needed in requirements("test", "benchmarks", "tune")}
    shared = {canonicalize_name(needed.name) for needed in requirements(*FOR_USERS)}
    assert len(only & set(PINS) - shared) <= 3, "some of them other packages need"


def test_advice_names_what_an_extra_requires() -> None:
    for extra, packages in EXTRAS.items():
        assert [*packages] == PROJECT["optional-dependencies"][extra]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock: str) -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCKS[lock], flags=re.MULTILINE)[1:]
    # A package whose newest release has no wheel for some platform stands twice, with markers.
    assert len(entries) >= len(PINS) > 50
    for entry in entries:
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_the_locks_name_no_address(lock: str) -> None:
    assert "://" not in lock
    assert not re.search(r"^-", lock, re.MULTILINE), "an option stands in the lock"


def test_the_conda_environment_has_the_locks_versions() -> None:
    environment = yaml.safe_load((ROOT / "envs" / "ligen.yaml").read_text(encoding="utf-8"))
    [pip] = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    needed = [*map(Requirement, PROJECT["dependencies"]), *requirements("cpu")]
    expected = sorted(
        f"{one.name}=={PINS[canonicalize_name(one.name)]}{f'; {one.marker}' if one.marker else ''}"
        for one in needed
    )
    assert pip == expected, "write these into envs/ligen.yaml"


def test_the_version_stands_where_others_look() -> None:
    from ligen_py import __version__

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
