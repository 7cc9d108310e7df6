import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ligen_py.settings.campaign import PRESETS, Campaign, Method, schema

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "workflow" / "config.schema.json"
CONFIGS = sorted((ROOT / "config").rglob("*.yaml"))


def faults(document: Any) -> list[str]:
    """What the schema says against a config."""
    known = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(known)
    return [fault.message for fault in validator(known).iter_errors(document)]


def test_the_schema_is_the_settings() -> None:
    cure = "workflow/config.schema.json differs from the settings: run `make schema`"
    assert SCHEMA.read_text(encoding="utf-8") == schema(), cure


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_the_schema_accepts_every_config_of_the_project(path: Path) -> None:
    assert faults(yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_editors_find_the_schema_from_every_config(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == SCHEMA


@pytest.mark.parametrize("bad", [{"dok": {}}, {"dock": {"num_restart": 0}}, {"libraries": {}}])
def test_the_schema_refuses_what_the_settings_refuse(bad: dict[str, Any]) -> None:
    document = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    assert faults(document) == []
    assert len(faults({**document, **bad})) == 1


def keys(schema: Any) -> set[str]:
    models = [schema, *schema["$defs"].values()]
    return {key for model in models for key in model.get("properties", {})}


def test_the_manual_explains_every_key() -> None:
    manual = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    missing = {key for key in keys(json.loads(schema())) if f"`{key}`" not in manual}
    assert not missing, "describe these keys in config/README.md"


def test_the_manual_gives_the_true_defaults() -> None:
    manual = (ROOT / "config" / "README.md").read_text(encoding="utf-8").splitlines()
    rows, section = {}, ""
    for line in manual:
        if line.startswith("## "):
            section = line.split("`")[1] if "`" in line else ""
        elif line.startswith("| `"):
            rows[section, line.split("`")[1]] = line
    for title, field in Campaign.model_fields.items():
        model = field.default_factory
        if not isinstance(model, type):
            continue
        for name, value in model().model_dump(mode="json").items():
            if value not in ({}, []):  # shown as none
                shown = rows[title, name].split("|")[2].strip()
                assert str(yaml.safe_load(shown)) == str(value), f"config/README.md: {title}.{name}"


def test_the_manual_shows_what_each_effort_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(ROOT))  # as where they are installed
    manual = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    expected = effort_table()
    assert expected in manual, f"config/README.md should contain this table:\n{expected}"


def effort_table() -> str:
    """Every key that some effort changes, with its value in each."""
    efforts = [Method(effort=name).model_dump(mode="json") for name in PRESETS]
    lines = [f"| key | {' | '.join(PRESETS)} |", "|---|" + "---|" * len(efforts)]
    changed = {(part, key) for preset in PRESETS.values() for part in preset
               for key in preset[part]}  # fmt: skip
    for part, values in efforts[0].items():
        for key in values if isinstance(values, dict) else ():
            if (part, key) in changed:
                cells = [json.dumps(effort[part][key]).replace('"', "") for effort in efforts]
                lines.append(f"| `{part}.{key}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
