"""What comes from outside stays data: no code from YAML, no shell words, no pickles."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from ligen_py.campaign.workplan import Workplan
from ligen_py.errors import InputError
from ligen_py.settings.document import read_document

PACKAGE = Path(__file__).parents[2] / "ligen_py"
RULES = sorted((PACKAGE.parent / "workflow/rules").glob("*.smk"))
HOSTILE = 'a b\'; touch PWNED; $(touch PWNED) `touch PWNED` "x".sdf'
MODULES = {"pickle", "marshal", "shelve", "dill", "joblib"}
CALLS = {"eval", "exec", "__import__", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load"}


@pytest.mark.parametrize(
    "document",
    [
        "!!python/object/apply:os.system ['touch PWNED']",
        "targets: !!python/object/apply:pathlib.Path.touch [PWNED]",
        "targets: {t: {receptor: !!python/name:os.system ''}}",
    ],
)
def test_yaml_runs_nothing(tmp_path: Path, document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(document)
    with pytest.raises(InputError, match=r"c\.yaml: line 1, column \d+: not YAML"):
        read_document(tmp_path / "c.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["c.yaml"]


@pytest.mark.parametrize("name", ["../up", "a/b", "a b", "$(x)", "-flag", "", "a\nb", "ü"])
@pytest.mark.parametrize("section", ["targets", "libraries"])
def test_names_that_become_paths_are_plain(tmp_path: Path, section: str, name: str) -> None:
    (tmp_path / "x.pdb").touch()
    config = {
        "targets": {"t": {"receptor": "x.pdb", "site": {"center": [0, 0, 0]}}},
        "libraries": {"l": {"file": "x.pdb"}},
    }
    (only,) = config[section].values()
    config[section] = {name: only}
    with pytest.raises(InputError, match=section):
        Workplan.of(config, "c.yaml", tmp_path)


def test_file_names_are_one_word_of_the_shell(tmp_path: Path) -> None:
    (tmp_path / HOSTILE).touch()
    (tmp_path / "lib.smi").touch()
    config = {
        "targets": {"t": {"receptor": HOSTILE, "site": {"ligand": HOSTILE}, "chains": ["A;B"]}},
        "libraries": {"l": {"file": "lib.smi"}},
        "report": {"groups": {"g": ["'; touch PWNED; '"]}},
    }
    words = shlex.split(Workplan.of(config, "c.yaml", tmp_path).pocket_flags("t"))
    assert str(tmp_path / HOSTILE) in words
    assert "A;B" in words


PLAIN = {"again", "campaign", "manifest", "networks", "pocket", "verdicts"}
PLAIN_IN = {("accept", ""), ("screen", "ligands"), ("selectivity", "ligands")}
"""Inputs that rules need not quote, whatever the rule or in one: the campaign names these files."""


@pytest.mark.parametrize("rules", RULES, ids=lambda path: path.name)
def test_rules_quote_every_path_that_a_user_names(rules: Path) -> None:
    _, *parts = re.split(r"^rule (\w+):", "rule before:\n" + rules.read_text("utf-8"), flags=re.M)
    for rule, text in zip(parts[::2], parts[1::2], strict=True):
        for name in re.findall(r"\{input\.?([^}:]*)\}", text):
            plain = name in PLAIN or (rule, name) in PLAIN_IN
            assert plain, (
                f"{rules.name}, in or behind rule {rule}: write {{input{name and '.' + name}:q}}"
            )


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_nothing_unpickles_or_evaluates(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not {name.name.split(".")[0] for name in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            assert str(node.module).split(".")[0] not in MODULES
        elif isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in CALLS
            words = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert words.get("shell") != "True"
            assert words.get("allow_pickle") != "True"
