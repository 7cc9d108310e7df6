"""What the documents name exists: files, symbols, links, commands, flags, settings, drawings."""

import ast
import contextlib
import importlib
import io
import re
from functools import cache
from pathlib import Path

import pytest

from ligen_py.cli import MODULES as MODULES_OF_COMMANDS
from ligen_py.settings.campaign import Campaign
from tests.unit.test_layers import ALLOWED, FOR_STAGES, MODULES, PACKAGE, STAGES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "config/*.md", "kernels/*.md")
    for path in ROOT.glob(pattern)
)
ARCHITECTURE = ROOT / "docs" / "architecture.md"

HOUSE = ("ligen_py", "kernels", "workflow", "tests", "benchmarks", "docs", "config", "envs")
"""Folders of the project: a path in one of them must exist, unless a placeholder is in it."""

PLACEHOLDER = re.compile(r"[A-Z]{3,}(?!\.md)|[*<>{}…]|\.\.\.")

KERNELS = sorted((ROOT / "kernels").rglob("*.cl*"))
SOURCES = [*MODULES, *KERNELS]

each_document = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)


def prose(path: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def inline(path: Path) -> list[str]:
    """What stands between single backticks."""
    return re.findall(r"`([^`\n]+)`", prose(path))


def code(path: Path) -> str:
    """All that a reader may copy: blocks of code and inline code; continued lines are joined."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|text)?\n(.*?)^```", text, flags=re.M | re.S)
    indented = re.findall(r"^    \S.*(?:\n {8,}\S.*)*", text, flags=re.M)
    lines = [line for block in blocks for line in block.splitlines()]
    return "\n".join([*lines, *indented, *inline(path)])


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(path), flags=re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@each_document
def test_links_resolve(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(path))):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), f"{target}: no such file"
        assert not anchor or anchor in anchors(file), f"{target}: no such heading"


@each_document
def test_what_belongs_to_an_item_of_a_list_is_indented_by_four(path: Path) -> None:
    """The site ends the list at less: a table became a line of bars, the next items its end."""
    assert re.findall(r"^\n {2,3}\S.*", prose(path), flags=re.M) == []


@each_document
def test_files_and_symbols_exist(path: Path) -> None:
    for word in inline(path):
        name, _, symbol = word.partition("::")
        if not re.fullmatch(r"[\w./-]+", name) or PLACEHOLDER.search(name):
            continue
        if name.split("/")[0] in HOUSE and "/" in name:
            file = ROOT / name
            assert file.exists(), f"{word}: no such file"
            assert not symbol or symbol_exists(file, symbol), f"{word}: no such symbol"
        elif symbol:
            raise AssertionError(f"{word}: give the whole path")
        elif re.fullmatch(r"test_\w+", name):
            assert name in all_tests(), f"{word}: no such test"


def symbol_exists(file: Path, symbol: str) -> bool:
    text = file.read_text(encoding="utf-8")
    if file.suffix in (".cl", ".clh"):
        declared = rf"#define {symbol}\b|^\w[\w *]* \*?{symbol}\(|[\w,}}] \*?{symbol}[,;)]"
        return re.search(declared, text, re.M) is not None
    if file.suffix != ".py":
        return re.search(rf"\b{re.escape(symbol)}\b", text) is not None
    body: list[ast.stmt] = ast.parse(text).body
    for name in symbol.split("."):
        found = [item for item in body if name in names_of(item)]
        if not found:
            return False
        body = getattr(found[0], "body", [])
    return True


def names_of(item: ast.stmt) -> list[str]:
    if isinstance(item, ast.ClassDef | ast.FunctionDef):
        return [item.name]
    targets = getattr(item, "targets", [getattr(item, "target", None)])
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_source_says_of_another_one_is_true(path: Path) -> None:
    """In comments and docstrings: paths, and `name` in FILE, name() of FILE, MACRO in FILE."""
    text = re.sub(r"\n\s*(?://|#)?\s*", " ", path.read_text(encoding="utf-8"))
    named = rf"(?<![\w./])((?:{'|'.join(HOUSE)})/[\w*/-]+\.(?:clh?|md|py|smk))\b"
    for name in re.findall(named, text):
        assert list(ROOT.glob(name)), f"{name}: no such file"
    symbol = r"(?:`([\w.]+)`|\b(\w+)\(\)|\b([A-Z][A-Z_]+))"
    for *one, name in re.findall(symbol + r" (?:in|of) ([\w*/]+\.(?:clh?|py))\b", text):
        files = [file for root in (ROOT, path.parent) for file in root.glob(name)]
        files += (ROOT / "kernels").rglob(name)
        word = "".join(one)
        assert any(symbol_exists(file, word) for file in files), f"{word}: not made in {name}"


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(ROOT)))
def test_where_a_file_begins_with_a_list_of_kernels_these_are_its_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    listed = re.findall(r"^// (\w+) {2,}\S", text, re.M)
    assert not listed or listed == re.findall(r"\b(?:KERNEL|__kernel) void (\w+)", text)


@cache
def all_tests() -> frozenset[str]:
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    return frozenset(name for text in texts for name in re.findall(r"def (test_\w+)", text))


@each_document
def test_settings_exist(path: Path) -> None:
    sections = {
        name: field.default_factory.model_fields
        for name, field in Campaign.model_fields.items()
        if isinstance(field.default_factory, type)
        and hasattr(field.default_factory, "model_fields")
    }
    for word in inline(path):
        found = re.match(r"([a-z]+)\.([a-z_]+)(: \S.*)?$", word)
        if found and found[1] in sections and found[2] not in ("py", "html", "txt", "cl"):
            assert found[2] in sections[found[1]], f"{word}: no such setting"


@each_document
def test_commands_and_their_flags_exist(path: Path) -> None:
    for line in code(path).splitlines():
        # What follows a pipe, a semicolon or a comment is not the command's.
        for command in re.split(r"[|;#]|&&", line):
            flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", command))
            module = re.search(r"\bligen_py\.(\w+)(?=\s|$)", command)
            typed = re.match(r"\s*(?:\w+=\w+ )?ligen (stage )?([a-z]+)(?=\s|$)", command)
            script = re.search(r"\bbenchmarks/(\w+)\.py", command)
            if module and "python -m" in command:
                assert flags <= offered(module[1]), command
            elif typed and typed[2] != "stage":
                name = typed[2] if typed[1] else MODULES_OF_COMMANDS.get(typed[2], typed[2])
                assert flags - behind(command) <= offered(name), command
            elif script:
                assert flags <= of_script(script[1]), command
            for target in re.findall(r"^\s*make ([a-z-]+)", command):
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M), command


def behind(command: str) -> set[str]:
    """Flags after ` -- `, which go to Snakemake."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", command.partition(" -- ")[2]))


@cache
def offered(module: str) -> frozenset[str]:
    """The flags that a command's help shows."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        importlib.import_module(f"ligen_py.{module}").main(["--help"])
    return frozenset(re.findall(r"--[a-z][a-z-]+", shown.getvalue()))


@cache
def of_script(name: str) -> frozenset[str]:
    """The flags of a benchmark: its own, and those that several share where it adds them."""
    calls = [
        node
        for node in ast.walk(ast.parse((ROOT / "benchmarks" / f"{name}.py").read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    own = {
        word.value
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
        for word in call.args
        if isinstance(word, ast.Constant)
    }
    shared = any(
        isinstance(call.func, ast.Name) and call.func.id == "add_settings" for call in calls
    )
    return frozenset(own | (of_script("docking") if shared else set()) | {"--help"})


def test_a_benchmark_has_the_flags_that_it_adds() -> None:
    assert {"--json", "--peer", "--effort"} <= of_script("redock")
    assert "--networks" not in of_script("order")  # a word of its text
    assert "--effort" not in of_script("throughput")  # a flag of docking.py


def drawing(name: str) -> set[tuple[str, str]]:
    """The arrows of a drawing of docs/architecture.md."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    found = re.search(rf"<!-- drawing: {name} -->\n```mermaid\n(.*?)```", text, re.S)
    assert found, f"docs/architecture.md has no drawing '{name}'"
    arrow = r"^\s*(\w+)\S*?(?:[\[(].*[\])])?\s*-->(?:\|[^|]*\|)?\s*(\w+)"
    return set(re.findall(arrow, found[1], re.M))


def test_the_drawing_of_the_data_is_the_table_of_stages() -> None:
    stages = pytest.importorskip("ligen_py.chain").STAGES
    arrows = drawing("data")
    ends = {"library", "structure", "files", "page"}
    assert set(stages) == {stage for arrow in arrows for stage in arrow} - ends
    read = {
        (giver, name)
        for name, stage in stages.items()
        for kind in stage.inputs.values()
        for giver, other in stages.items()
        if other.kind == kind
    }
    drawn = {arrow for arrow in arrows if not ends & set(arrow)}
    assert drawn <= read
    # Not drawn: ligands go to every stage, and aggregate reads more than the scores.
    assert all(giver == "parse" or taker == "aggregate" for giver, taker in read - drawn)


def test_the_drawing_of_the_floors_is_the_rule_of_imports() -> None:
    allowed = ALLOWED | {"stages": {*FOR_STAGES, "aggregation"}}
    arrows = drawing("floors") - {("workflow", "stages")}
    rooms = {room for arrow in arrows for room in arrow}
    assert rooms >= {"stages"} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    by_name = {(room, "stages") for room in ("api", "planning", "verification")}
    for importer, imported in arrows - by_name:
        assert imported in allowed[importer], f"{importer} may not import {imported}"

    def below(room: str) -> set[str]:
        direct = {imported for importer, imported in arrows if importer == room}
        return direct.union(*map(below, direct)) if direct else set()

    for room in rooms:
        assert allowed[room] & rooms - {room} <= below(room), f"arrows that {room} lacks"


def test_every_folder_and_module_is_on_the_page_of_the_architecture() -> None:
    named = {word.removesuffix(".py").strip("/") for word in inline(ARCHITECTURE)}
    drawn = {stage for arrow in drawing("data") for stage in arrow}
    rooms = {*ALLOWED, *STAGES} - {"__main__"}
    assert {name for name in rooms - drawn if not {name, f"ligen_py/{name}"} & named} == set()


PRIVATE = re.compile(
    r"(leaves?|left) the race|by (its|their) word|\b(is|are|was|were|be) told\b|\btells?\b|"
    r"\bha(s|ve) no say\b|\bha(s|ve) (its|a) say\b",
    re.IGNORECASE,
)
"""Phrases that no reader knows from elsewhere."""


def assert_plain(text: str) -> None:
    found = PRIVATE.search(text)
    assert not found, f"{found and found[0]!r}: say report, state, name, exclude or use"


@each_document
def test_plain_words(path: Path) -> None:
    assert_plain(re.sub(r"<!-- generated.*?<!-- end -->", "", prose(path), flags=re.DOTALL))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_plain_words_in_docstrings_and_messages(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.sub(r"`[^`\n]+`", "", " ".join(node.value.split()))
            assert_plain(words)
            if id(node) not in described:
                held = re.search(r"\bholds?\b", words)
                assert not held, f"{words!r}: say contain, store or has"
