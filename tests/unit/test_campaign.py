import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ligen_py.campaign import Part, Workplan, stage_environment
from ligen_py.errors import InputError
from ligen_py.store.manifest import read_manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("r.pdb", "l.sdf", "l.pdb", "lib.smi"):
        (tmp_path / name).touch()
    return tmp_path


def config(**changes: Any) -> dict[str, Any]:
    good = {
        "targets": {
            "a": {"receptor": "r.pdb", "site": {"ligand": "l.sdf"}, "chains": ["B", "C"]},
            "b": {"receptor": "r.pdb", "site": {"center": [-1.5, 0.00001, 2]}},
        },
        "libraries": {"lib": {"file": "lib.smi", "chunks": 2}},
    }
    return {**good, **changes}


def test_parts_are_every_chunk_for_every_target_and_the_controls(folder: Path) -> None:
    assert Workplan.of(config(), "c.yaml", folder).parts() == [
        Part("a", "lib", "1-of-2"),
        Part("a", "lib", "2-of-2"),
        Part("a", "control-a", "1-of-1"),
        Part("b", "lib", "1-of-2"),
        Part("b", "lib", "2-of-2"),
    ]


def test_paths_have_no_repeats(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert plan.paths("p/{target}") == ["p/a", "p/b"]
    assert plan.paths("{library}/{chunk}") == ["lib/1-of-2", "lib/2-of-2", "control-a/1-of-1"]


def test_a_reference_without_bond_orders_makes_no_control(folder: Path) -> None:
    targets = {"a": {"receptor": "r.pdb", "site": {"ligand": "l.pdb"}}}
    plan = Workplan.of(config(targets=targets), "c.yaml", folder)
    assert plan.control("a") is None
    assert {part.library for part in plan.parts()} == {"lib"}


def test_the_manifest_is_what_aggregate_reads(folder: Path, tmp_path: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    table = tmp_path / "manifest.tsv"
    table.write_text(plan.manifest("results"), encoding="utf-8")
    manifest = read_manifest(table)
    assert [(part.target, part.library) for part in manifest.parts] == [
        (part.target, part.library) for part in plan.parts()
    ]
    control = manifest.control("a")
    assert control is not None
    assert control.crystal == folder / "l.sdf"
    assert control.scores == Path("results/scores/a/control-a/1-of-1.h5")
    assert manifest.control("b") is None


def test_a_control_forgets_its_crystal_coordinates(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert "--embed always" in plan.parse_flags("control-a")
    assert "--embed missing" in plan.parse_flags("lib")
    assert plan.library("control-a") == folder / "l.sdf"


def test_site_and_chains_become_flags(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert plan.pocket_flags("a").startswith(f"--chains B C --ligand {folder / 'l.sdf'} --radius")
    # argparse would take -1e-05 for a flag.
    assert plan.pocket_flags("b").startswith("--center -1.500000 0.000010 2.000000 --radius")


def test_a_path_can_lie_inside_an_installed_package(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert plan.resolve("package:ligen_py/settings.py").is_file()
    assert plan.resolve("/tmp/x") == Path("/tmp/x")
    assert plan.resolve("x/y.sdf") == folder / "x/y.sdf"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"libraries": {"lib": {"file": "no.smi"}}}, "no.smi does not exist"),
        ({"libraries": {"lib": {"file": "."}}}, "is a folder; give a file"),
        ({"libraries": {"control-a": {"file": "lib.smi"}}}, "kept for the redocking controls"),
        ({"libraries": {"lib": {"file": "package:nosuchpackage/x"}}}, "is not installed"),
        ({"libraries": {"lib": {"file": "package:../x"}}}, "is not installed"),
        ({"targets": {"a" * 60: {"receptor": "r.pdb", "site": {"ligand": "l.sdf"}}}}, "at most"),
        ({"targets": {"a": {"receptor": "r.pdb", "site": {"ligand": "q.sdf"}}}}, "site.ligand"),
        ({"targets": {"a": {"receptor": "q.pdb", "site": {"ligand": "l.sdf"}}}}, "a.receptor"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    folder: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Workplan.of(config(**changes), "c.yaml", folder)
    assert str(caught.value).startswith("c.yaml: key '")


def test_stages_run_this_package_from_anywhere(tmp_path: Path) -> None:
    environment = {**os.environ, **stage_environment()}
    command = ["python", "-c", "import ligen_py.settings, sys; print(ligen_py.__file__)"]
    found = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).parent == Path(__file__).parents[2] / "ligen_py"


def test_the_environment_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    once = stage_environment()
    for name, value in once.items():
        monkeypatch.setenv(name, value)
    assert stage_environment() == once
