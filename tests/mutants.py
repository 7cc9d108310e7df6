"""Change one thing in the program, and see whether a test fails: `python -m tests.mutants`.

A mutant is the program with one number, comparison, condition or check changed. It is killed where
a test fails, and survives where all tests that can see its file pass: then either the change means
nothing (a size of blocks), or a test is missing. Changes that mean nothing are listed with the
reason in `tests/equivalent.tsv` and not planted. The tests run in a copy of the tree, those of
kernels on the first device alone.
"""

import argparse
import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    *(f"ligen_py/{name}" for name in ("engine", "molecules", "records", "sequences", "store")),
    *("ligen_py/summary", "ligen_py/verification", "kernels"),
)

EQUIVALENT = ROOT / "tests" / "equivalent.tsv"
"""Changes that no test can see: file, the text of the line, or of it and one or two that follow,
with a space between ('*': any), what instead of what, the reason."""

SECONDS = 600
"""That the tests of one mutant may take."""

HANGS = 300
"""Seconds that one test may take: a loop without an end is found by this."""

OTHERS = "not Portable and not Oclgrind"
"""For pytest's -k: no test a second time on a further runtime or in the simulator."""

MOST_ALIVE = 0.05
"""Share of the mutants that may survive."""

SURVIVED, LATE = "SURVIVED", "OUT OF TIME"
USAGE, NO_TESTS = pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED

OPPOSITE = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
CHECKS = re.compile(r"_?(require|check|seal|publish|sync|_sync|fsync)")
"""Names of functions that are called to make sure of something."""

TOKEN = re.compile(r"(?<![\w.])(\d+\.\d+|\d+)(?=[f\W]|$)|(?<![<>=!-])(<=|>=|==|!=|<|>)(?![<>=])")
"""A number or a comparison in a kernel."""

ASIDE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ ]*#.*?(?<!\\)$", re.DOTALL | re.MULTILINE)
"""Comments of a kernel, and its lines for the preprocessor."""

LEFT = re.compile(r"\b1e-\d+f?\b|\breqd_work_group_size\([^()]*\)|\"[^\"\n]*\"")
"""Numbers that keep a kernel from dividing by 0, to the smallest of which no test comes near; sizes
of work-groups, to which Intel's runtime holds no launch; NVIDIA's assembly."""

FIXED = re.compile(r"(?<=;) *\w+ (<) (\d+|[A-Z][A-Z0-9_]*)(?=;)")
"""The end of a loop that is known to the compiler: its counts run over private arrays, beyond which
anything may happen. So such a loop has a turn less, not one more."""

CONCERNED = {
    "ligen_py/engine/docking": "kernels/test_dock.py kernels/test_latency.py stages/test_dock.py",
    "ligen_py/engine/filtering": "kernels/test_filter.py stages/test_dock.py",
    "ligen_py/engine/functions/vina": "unit/engine/functions kernels/test_vina.py",
    "ligen_py/engine/functions/ad4": "unit/engine/functions kernels/test_ad4.py",
    "ligen_py/engine/functions/xscore": "unit/engine/functions kernels/test_xscore.py",
    "ligen_py/engine/refinement": "kernels/test_refine.py stages/test_refine.py",
    "ligen_py/engine/scoring": "unit/engine/scoring stages/test_score.py stages/test_watch.py",
    "ligen_py/engine/pocket": "unit/engine/pocket stages/test_pocket.py",
    "ligen_py/engine/alignment": "unit/engine/alignment kernels/test_alignment.py "
    "stages/test_homologs.py",
    "ligen_py/engine/offtargets": "unit/engine/offtargets kernels/test_offtargets.py "
    "stages/test_offtargets.py stages/test_guides.py",
    "ligen_py/engine/genetic": "unit/engine/genetic kernels/test_lga.py stages/test_lga.py",
    "ligen_py/engine": "unit/engine kernels",
    "ligen_py/molecules/receptor": "unit/molecules/receptor unit/molecules/typing "
    "stages/test_pocket.py unit/test_config_checks.py",
    "ligen_py/molecules/ligands": "unit/molecules/ligands unit/molecules/test_goldens.py "
    "stages/test_parse.py",
    "ligen_py/molecules/library": "unit/molecules/library stages/test_parse.py",
    "ligen_py/molecules/hits": "unit/molecules/hits unit/summary stages/test_report.py "
    "stages/test_pick.py",
    "ligen_py/molecules/interactions": "unit/molecules/interactions stages/test_query.py "
    "stages/test_report.py",
    "ligen_py/molecules": "unit/molecules stages/test_export.py unit/aggregation",
    "ligen_py/store/files": "unit/store stages/test_dock.py",
    "ligen_py/store": "unit/store stages/test_aggregate.py stages/test_query.py "
    "stages/test_export.py stages/test_verify.py",
    "ligen_py/sequences": "unit/sequences stages/test_homologs.py stages/test_offtargets.py "
    "stages/test_guides.py",
    "ligen_py/summary": "unit/summary stages/test_report.py stages/test_report_searches.py "
    "stages/test_query.py stages/test_compare.py stages/test_controls.py",
    "ligen_py/aggregation": "unit/aggregation stages/test_aggregate.py",
    "ligen_py/verification": "stages/test_verify.py",
    "ligen_py": "unit stages",
    "kernels/sequences": "kernels/test_alignment.py kernels/test_offtargets.py",
    "kernels/latency": "kernels/test_latency.py kernels/test_dock.py",
    "kernels": "kernels",
}
"""Tests of a folder's files beside those that import them; the longest name that fits counts."""


@dataclass(frozen=True, order=True)
class Mutant:
    """A change of one place in a file of the tree."""

    path: str
    line: int
    start: int
    """Place in the file's text, and that behind what is replaced."""
    end: int
    new: str

    def text(self, source: str) -> str:
        """The file with the change."""
        return source[: self.start] + self.new + source[self.end :]

    def described(self, source: str) -> str:
        """Where it is, and what stands there instead of what."""
        old = " ".join(source[self.start : self.end].split())
        return f"{self.path}:{self.line}: {old} -> {self.new}"


def larger(number: str) -> str:
    """A number that is not the same.

    >>> larger("8"), larger("2.0"), larger("0.0")
    ('9', '2.2', '0.1')
    """
    if number.isdigit():
        return str(int(number) + 1)
    value = float(number)
    return repr(round(value * 1.1, 12) if value else 0.1)


def of_python(path: str, source: str) -> list[Mutant]:
    """Every mutant of a Python file, in the order of its text."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line.decode()))
    texts = source.splitlines(keepends=True)

    def place(line: int, column: int) -> int:
        return lines[line - 1] + len(texts[line - 1].encode()[:column].decode())

    def ends(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)

    found = []
    tree = ast.parse(source)
    left = _sizes_left(tree) | _room(tree)
    for node in _code(tree):
        new: str | None = None
        if node in left:
            continue
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start, end = ends(node)
            new = larger(source[start:end]) if re.fullmatch(r"[\d.]+", source[start:end]) else None
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            start, end = ends(node.left)[1], ends(node.comparators[0])[0]
            between = source[start:end]
            start += len(between) - len(between.lstrip(" )\n"))
            end -= len(between) - len(between.rstrip(" (\n"))
            new = OPPOSITE[type(node.ops[0])]
        elif isinstance(node, ast.BoolOp):
            start, end = ends(node.values[0])[1], ends(node.values[1])[0]
            word = re.search(r"\b(and|or)\b", source[start:end])
            if word:
                start, end = start + word.start(), start + word.end()
                new = "or" if word[0] == "and" else "and"
        elif isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise):
            (start, end), new = ends(node.test), "False"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            name = getattr(called, "id", getattr(called, "attr", ""))
            if CHECKS.match(name):
                (start, end), new = ends(node), "None"
        if new is not None:
            found.append(Mutant(path, node.lineno, start, end, new))
    return sorted(set(found))


def _sizes_left(tree: ast.AST) -> set[ast.expr]:
    """The numbers n of `reshape(..., -n)`: with every n NumPy takes the size that is left."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    shapes = (
        one for call in calls if getattr(call.func, "attr", "") == "reshape" for one in call.args
    )
    return {one.operand for one in shapes if isinstance(one, ast.UnaryOp)}


def _room(tree: ast.AST) -> set[ast.expr]:
    """The numbers that only add to the size of a buffer on a device: none is read by its size."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    made = (call for call in calls if getattr(call.func, "attr", "") == "empty")
    names = {"buffers": 1, "reserve": 0, "tables": 0}
    found = ((call, names.get(getattr(call.func.value, "id", ""))) for call in made)
    waiting = [call.args[place] for call, place in found if place is not None]
    numbers = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("max", "int"):
            waiting += node.args
        elif isinstance(node, ast.Constant):
            numbers.add(node)
    return numbers


def _code(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """The nodes of a program that it runs: no annotations, no texts."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.JoinedStr):
                continue
            if isinstance(node, ast.expr | ast.stmt):
                yield node
            if isinstance(node, ast.AST):
                yield from _code(node)


def of_kernel(path: str, source: str) -> list[Mutant]:
    """Every mutant of a kernel's file, but for comments, `LEFT` and the preprocessor's lines."""
    code = LEFT.sub(_blank, ASIDE.sub(_blank, source))
    signs = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    changes = []
    for token in FIXED.finditer(code):
        start, end = token.start(1), token.end()
        changes.append((start, end, f"< {token[2]} - 1"))
        code = code[:start] + " " * (end - start) + code[end:]
    for token in TOKEN.finditer(code):
        changes.append((*token.span(), signs.get(token[0]) or larger(token[0])))
    return [
        Mutant(path, source.count("\n", 0, start) + 1, start, end, new)
        for start, end, new in sorted(changes)
    ]


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


@cache
def equivalent() -> dict[tuple[str, str, str], str]:
    """The reasons of EQUIVALENT, by its other columns."""
    rows = (line.split("\t") for line in EQUIVALENT.read_text(encoding="utf-8").splitlines()[1:])
    return {(path, text, change): reason for path, text, change, reason in rows}


def names_of(mutant: Mutant, source: str) -> list[tuple[str, str, str]]:
    """What EQUIVALENT may call a mutant: its change in a line of this text, all of this text's."""
    lines = [line.strip() for line in source.splitlines()[mutant.line - 1 : mutant.line + 2]]
    texts = [" ".join(lines[:count]) for count in (1, 2, 3)]
    change = mutant.described(source).partition(": ")[2]
    return [(mutant.path, where, what) for where in (*texts, "*") for what in (change, "*")]


def means_nothing(mutant: Mutant, root: Path = ROOT) -> bool:
    """Whether EQUIVALENT lists a mutant."""
    source = (root / mutant.path).read_text(encoding="utf-8")
    return any(name in equivalent() for name in names_of(mutant, source))


def every(folders: Sequence[str] = FOLDERS, root: Path = ROOT) -> list[Mutant]:
    """Every mutant of some folders or files."""
    found = []
    for folder in folders:
        base = root / folder
        for path in [base] if base.is_file() else sorted(base.rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix == ".py":
                found += of_python(name, path.read_text(encoding="utf-8"))
            elif path.suffix in (".cl", ".clh"):
                found += of_kernel(name, path.read_text(encoding="utf-8"))
    return found


def drawn(folders: Sequence[str], count: int, seed: int, root: Path) -> list[Mutant]:
    """Some mutants that mean something; the same ones where other lines have changed."""
    lots, equal = {}, Counter[tuple[str, str, str]]()
    for one in every(folders, root):
        name = names_of(one, (root / one.path).read_text(encoding="utf-8"))[0]
        equal[name] += 1
        words = "\0".join((*name, str(equal[name]), str(seed)))
        if not means_nothing(one, root):
            lots[one] = hashlib.sha256(words.encode()).digest()
    return sorted(lots, key=lots.__getitem__)[:count]


def concerning(path: str, root: Path = ROOT) -> list[str]:
    """Tests that concern a file, the nearest first: its own, those that import it, its folder's."""
    parts = Path(path).with_suffix("").parts
    module, tests = ".".join(parts), root / "tests"
    own = [
        tests / folder / Path(*parts[1:-1]) / f"test_{parts[-1]}.py"
        for folder in ("unit", "stages")
    ]
    names = [f"{module} import", f"{'.'.join(parts[:-1])} import {parts[-1]}"]
    importing = [
        one
        for one in sorted(tests.rglob("test_*.py"))
        if "workflow" not in one.parts and any(name in one.read_text() for name in names)
    ]
    near = max((folder for folder in CONCERNED if path.startswith(folder)), key=len)
    users = {path} if path.endswith(".py") else hosts(path, root)

    def seeing(names: Sequence[str]) -> list[Path]:
        paths = [tests / name for name in names]
        found = [[path] if path.suffix else sorted(path.rglob("test_*.py")) for path in paths]
        every = (one for below in found for one in below)
        return [one for one in every if users & reached(str(one.relative_to(root)), root)]

    around = seeing(CONCERNED[near].split()) or seeing(("unit", "stages", "kernels", "api"))
    own_kernel = tests / "kernels" / f"test_{parts[-1].removesuffix('_field')}.py"
    beside = [own_kernel] if parts[0] == "kernels" and own_kernel.exists() else []
    examples = [tests / "unit/test_doctests.py"] if ">>> " in (root / path).read_text() else []
    order = [*(one for one in own if one.exists()), *beside, *examples, *importing, *around]
    return list(dict.fromkeys(str(one.relative_to(root)) for one in order))


@cache
def hosts(path: str, root: Path) -> frozenset[str]:
    """Files of Python that name a file of the kernels, or one that includes it."""
    sources = {one: one.read_text(encoding="utf-8") for one in root.glob("kernels/**/*.cl*")}
    found, waiting = {Path(path).name}, [Path(path).name]
    while waiting:
        named = f'#include "{waiting.pop()}"'
        new = {one.name for one, text in sources.items() if named in text} - found
        found |= new
        waiting += new
    names = re.compile(rf"\b({'|'.join(map(re.escape, found))})\"")
    python = (one for one in root.glob("ligen_py/**/*.py") if names.search(one.read_text()))
    return frozenset(str(one.relative_to(root)) for one in python)


@cache
def imported(path: str, root: Path) -> frozenset[str]:
    """Files of the tree that a file names in its imports."""
    names = set()
    for node in ast.walk(ast.parse((root / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    files = [name.replace(".", "/") + end for name in names for end in (".py", "/__init__.py")]
    if path == "ligen_py/command.py":  # which imports by the names that users type
        files += [str(one.relative_to(root)) for one in root.glob("ligen_py/*.py")]
    if path == "ligen_py/functions.py":  # which imports by names of its table
        found = (root / "ligen_py").glob("*/functions/**/*.py")
        files += [str(one.relative_to(root)) for one in found]
        files += [str(one.relative_to(root)) for one in root.glob("ligen_py/molecules/typing/*.py")]
    return frozenset(file for file in files if (root / file).is_file())


@cache
def reached(path: str, root: Path) -> frozenset[str]:
    """Files of the tree that a test imports, itself or by another one."""
    found, waiting = {path}, [path]
    while waiting:
        new = imported(waiting.pop(), root) - found
        found |= new
        waiting += new
    return frozenset(found)


def copied(folder: Path) -> Path:
    """A copy of the tree as it is here, of the files that git knows or would add."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def outcome(mutant: Mutant, tree: Path, tests: Sequence[str], seconds: float = SECONDS) -> str:
    """'killed by ...', LATE or SURVIVED; `tree` is a copy, which is as it was afterwards."""
    path = tree / mutant.path
    source = path.read_text(encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider"]
    words += ["--timeout", str(HANGS), "-k", OTHERS]
    try:
        path.write_text(mutant.text(source), encoding="utf-8")
        done = subprocess.run(
            [*words, *tests],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return LATE
    finally:
        path.write_text(source, encoding="utf-8")
    if done.returncode in (0, NO_TESTS):
        return SURVIVED
    if done.returncode == USAGE:
        raise RuntimeError(f"pytest does not take {' '.join(tests)}: {done.stderr}")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return f"killed by {failed[0] if failed else f'exit code {done.returncode}'}"


def main(argv: Sequence[str] | None = None) -> int:
    """Plant mutants one after another; the exit code is 1 where fewer than 95 % are killed."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument(
        "folders", nargs="*", default=FOLDERS, help="files or folders of the program"
    )
    parser.add_argument("--count", type=int, default=200, help="mutants, drawn (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing (default: 1)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each (default: 600)")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    options = parser.parse_args(argv)
    found: dict[str, list[str]] = {SURVIVED: [], LATE: []}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name, ThreadPool(options.jobs) as pool:
        # From here on the checkout may change.
        trees = [copied(Path(name) / str(number)) for number in range(options.jobs)]
        chosen = drawn(options.folders, options.count, options.seed, trees[0])

        def planted(mutant: Mutant) -> tuple[str, str]:
            tree = trees.pop()
            try:
                what = mutant.described((tree / mutant.path).read_text(encoding="utf-8"))
                tests = concerning(mutant.path, tree)
                return what, outcome(mutant, tree, tests, options.seconds)
            finally:
                trees.append(tree)

        for number, (what, said) in enumerate(pool.imap_unordered(planted, chosen), start=1):
            print(f"{number}/{len(chosen)}  {what}  {said}", flush=True)
            found.setdefault(said, []).append(what)
    alive, late = found[SURVIVED], found[LATE]
    counts = f"{len(chosen)} mutants, {len(alive)} survived, {len(late)} ran out of time"
    print(f"\nseed {options.seed}: {counts}")
    print("".join(f"survived: {what}\n" for what in sorted(alive)), end="")
    return int(len(alive) + len(late) > MOST_ALIVE * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
