"""Who may import whom; the plan of the house, held by reading the sources."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ligen_py import chain

PACKAGE = Path(__file__).parents[2] / "ligen_py"
FOLDERS = ("engine", "molecules", "opencl", "sequences", "store", "summary")
IN_RULES = re.findall(r"-m ligen_py\.(\w+)", "".join(
    path.read_text() for path in (PACKAGE.parent / "workflow" / "rules").glob("*.smk")
))  # fmt: skip
STAGES = tuple(dict.fromkeys([*IN_RULES, *chain.STAGES]))
LIBRARIES = {
    "pyopencl": {"opencl"},
    "h5py": {"store"},
    "rdkit": {"molecules"},
    "gemmi": {"molecules"},
    "pydantic": {"settings"},
    "yaml": {"settings"},
    "snakemake": set(),
    "kernel_tuner": {"tune"},
}
"""Each of these is known to one room only."""

FOR_STAGES = {
    *("cli", "errors", "functions", "granted", "pace", "paths", "provenance", "records"),
    "settings",
    *FOLDERS,
}

ALLOWED = {
    "ending": set(),
    "errors": set(),
    "granted": set(),
    "pace": set(),
    "paths": {"errors"},
    "unpacking": {"errors"},
    "whole_files": set(),
    "formats": {"errors"},
    "functions": set(),
    "records": {"functions"},
    "settings": {"errors", "functions", "paths", "records"},
    "cli": {"ending", "errors", "settings"},
    "provenance": {"functions", "paths", "settings"},
    "chain": {"settings"},
    "screen": {*FOR_STAGES, "chain"},
    "campaign": {"chain", "errors", "formats", "paths", "sequences", "settings", "store"},
    "config_checks": {
        *("campaign", "engine", "errors", "formats", "molecules", "opencl", "sequences"),
        *("settings", "unpacking"),
    },
    "__main__": {"command"},
    "command": {"cli", "errors"},
    "validate": {"run"},
    "redocking": FOR_STAGES,
    "judging": FOR_STAGES,
    "networks": {*FOR_STAGES, "judging"},
    "aggregate": {*FOR_STAGES, "aggregation", "redocking"},
    "controls": {*FOR_STAGES, "redocking"},
    "decoys": {*FOR_STAGES, "formats"},
    "run": {
        *("campaign", "cli", "config_checks", "ending", "errors", "granted", "paths", "running"),
        *("store", "summary"),
    },
    "running": {"chain", "errors", "settings"},
    "store": {
        *("chain", "ending", "errors", "functions", "provenance", "records", "settings"),
        "whole_files",
    },
    "molecules": {"errors", "formats", "functions", "pace", "records", "settings", "unpacking"},
    "opencl": {"errors", "granted", "paths", "whole_files"},
    "sequences": {"errors", "granted", "records", "unpacking", "whole_files"},
    "aggregation": {"engine", "errors", "molecules", "records", "store"},
    "search_inputs": {*FOR_STAGES, "database"},
    "homologs": {*FOR_STAGES, "search_inputs"},
    "engine": {
        *("errors", "functions", "granted", "opencl", "pace", "paths", "records", "sequences"),
        "settings",
    },
    "genome_inputs": {"cli", "errors", "molecules", "paths", "records", "settings", "store"},
    "offtargets": {*FOR_STAGES, "genome_inputs"},
    "genome": {"cli", "errors", "sequences", "settings"},
    "gene_inputs": {*FOR_STAGES, "genome_inputs"},
    "guides": {*FOR_STAGES, "gene_inputs", "genome_inputs"},
    "summary": {"errors", "molecules", "records", "store"},
    "verify": {*FOR_STAGES, "campaign", "chain", "verification"},
    "search_changes": {
        *("campaign", "chain", "errors", "records", "sequences", "settings", "store"),
    },
    "verification": {
        *FOR_STAGES,
        *("accept", "campaign", "chain", "controls", "judging", "search_changes", "unpacking"),
    },
    "doctor": {"cli", "engine", "errors", "granted", "molecules", "opencl", "paths"},
    "tune": {"cli", "engine", "errors", "opencl", "records", "settings", "store"},
    "progress": {"cli", "errors", "records", "store", "summary"},
    "follow": {"errors", "progress", "store"},
    "planning": {*FOR_STAGES, "campaign", "chain", "formats", "search_changes"},
    "plan": {"campaign", "chain", "cli", "config_checks", "planning", "settings"},
    "target_files": FOR_STAGES,
    "export": {*FOR_STAGES, "target_files"},
    "api": {
        *FOR_STAGES,
        *("campaign", "chain", "ending", "formats", "pipeline", "target_files"),
    },
    "lga_command": {
        *("cli", "engine", "errors", "lga_files", "lga_flags", "molecules", "opencl", "pace"),
        *("records", "settings", "store", "summary"),
    },
    "lga_files": {"errors", "molecules", "store"},
    "lga_flags": {"cli", "settings"},
    "dock_command": {"api", "cli", "errors", "molecules", "settings", "summary"},
    "pipeline": {"campaign", "chain", "errors", "molecules", "records", "store"},
    "compare": {"cli", "errors", "store", "summary"},
    "query": {"cli", "errors", "molecules", "records", "store", "summary"},
    "rescore": {
        *("cli", "engine", "errors", "molecules", "opencl", "records", "settings", "store"),
    },
    "pick": {"cli", "errors", "granted", "molecules", "store", "summary"},
}
"""What each room may import beside itself; stages: `FOR_STAGES`."""

SECTIONS = {
    "docking": {"dock", "filter"},
    "filtering": {"filter"},
    "genetic": {"dock", "lga"},
    "offtargets": {"guides"},
    "refinement": {"filter", "refine"},
    "scoring": {"score"},
    "selftest.py": {"dock", "filter"},
    "stage_trial.py": {"dock", "filter", "refine"},
}
"""Which sections of the settings a folder of the engine knows."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by the full name"
            module = str(node.module)
            names = [f"{module}.{alias.name}" for alias in node.names]
            yield from names if module == "ligen_py" else [module]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    own = room(path)
    allowed = ALLOWED.get(own, FOR_STAGES if own in STAGES else set())
    found = {name.split(".")[1] for name in imports(path) if name.startswith("ligen_py.")}
    assert found - {own, "__version__"} <= allowed


def test_the_engine_knows_its_own_settings_only() -> None:
    for path in (PACKAGE / "engine").rglob("*.py"):
        known = SECTIONS.get(path.relative_to(PACKAGE / "engine").parts[0], set())
        sections = {n.split(".")[2] for n in imports(path) if n.startswith("ligen_py.settings.")}
        assert sections <= known, path


def test_settings_take_limits_from_the_records_and_no_array() -> None:
    for path in (PACKAGE / "settings").glob("*.py"):
        used = {name for name in imports(path) if name.startswith("ligen_py.records")}
        assert used <= {"ligen_py.records.limits"}, path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_library_stays_in_its_room(path: Path) -> None:
    used = {name.split(".")[0] for name in imports(path)} & set(LIBRARIES)
    strangers = {name for name in used if room(path) not in LIBRARIES[name]}
    assert not strangers


def test_records_know_numpy_only() -> None:
    known = {"collections", "dataclasses", "enum", "numpy", "struct", "typing"}
    for path in (PACKAGE / "records").glob("*.py"):
        assert {name.split(".")[0] for name in imports(path)} - {"ligen_py"} <= known


def test_every_rule_has_its_module_and_every_room_is_known() -> None:
    modules = {room(path) for path in MODULES} - {"__init__"}
    assert modules == set(STAGES) | set(ALLOWED)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_short(stage: str) -> None:
    assert len((PACKAGE / f"{stage}.py").read_text().splitlines()) < 160
