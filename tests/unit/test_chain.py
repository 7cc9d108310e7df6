"""The table of stages: each row is a stage that has the form which the table states."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

from ligen_py.chain import FILES, SCREEN, SEQUENCES, STAGES, Stage, writer
from ligen_py.command import COMMANDS
from ligen_py.command import STAGES as TYPED
from ligen_py.records.kinds import KINDS
from ligen_py.settings.campaign import Campaign
from ligen_py.settings.searches import GuideDesign, HomologSearch, OfftargetSearch

FORM = ["inputs", "settings", "device", "output"]

EVERY = pytest.mark.parametrize("stage", STAGES.values(), ids=lambda stage: stage.name)


@EVERY
def test_every_stage_is_a_function_of_one_form(stage: Stage) -> None:
    module = import_module(f"ligen_py.{stage.name}")
    hints = get_type_hints(module.run)
    names = list(inspect.signature(module.run).parameters)
    assert names[:4] == FORM
    assert hints["inputs"] is module.Inputs
    assert hints["settings"] is stage.settings or stage.settings in hints["settings"].__mro__
    assert (hints["device"], hints["output"]) == (str | None, Path)


@pytest.mark.parametrize("stage", SCREEN, ids=lambda stage: stage.name)
def test_inputs_of_the_screening_stages_are_those_of_the_table(stage: Stage) -> None:
    assert import_module(f"ligen_py.{stage.name}").Inputs._fields == tuple(stage.inputs)


@EVERY
def test_what_a_stage_reads_was_written_before(stage: Stage) -> None:
    before = list(STAGES)[: list(STAGES).index(stage.name)]
    assert {writer(kind).name for kind in stage.inputs.values()} <= set(before)
    assert stage.name in Campaign.model_fields


@pytest.mark.parametrize("rule", SEQUENCES)
def test_a_stage_of_a_search_reads_what_was_written_before_and_can_be_typed(rule: str) -> None:
    stage = SEQUENCES[rule]
    before = [*STAGES.values(), *list(SEQUENCES.values())[: list(SEQUENCES).index(rule)]]
    assert set(stage.inputs.values()) <= {one.kind for one in before}
    module = import_module(f"ligen_py.{stage.name}")
    hints = get_type_hints(module.run)
    assert list(inspect.signature(module.run).parameters) == FORM
    assert hints["inputs"] is module.Inputs
    assert set(stage.inputs) <= set(module.Inputs._fields)
    assert hints["device"] == str | None
    assert hints["output"] in (Path, Path | None)  # without it a search writes tables alone
    if stage.model:
        assert hints["settings"] is stage.settings
    assert module.main
    assert stage.name in {**TYPED, **COMMANDS}
    rules = (Path(__file__).parents[2] / "workflow/rules/sequences.smk").read_text()
    assert f"rule {rule}:" in rules
    assert f'searched("{rule}")' in rules
    if stage.model:
        assert any(
            set(stage.settings.model_fields) <= set(model.model_fields)
            for model in (HomologSearch, OfftargetSearch, GuideDesign)
        )


def test_every_rule_of_searches_is_in_the_table() -> None:
    rules = (Path(__file__).parents[2] / "workflow/rules/sequences.smk").read_text()
    assert re.findall(r"^rule (\w+):", rules, re.MULTILINE) == list(SEQUENCES)
    assert "<results>/homologs" not in rules
    assert "<results>/guides" not in rules


def test_files_of_a_part_are_the_kinds_of_records() -> None:
    assert set(FILES) == set(KINDS)


def test_importing_the_table_loads_no_stage() -> None:
    said = (
        "import sys, ligen_py.chain; print(*(n for n in sys.modules if n.startswith('ligen_py.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=True
    )
    assert set(loaded.stdout.split()) == {
        "ligen_py.chain",
        "ligen_py.records",
        "ligen_py.records.limits",
        "ligen_py.settings",
        "ligen_py.settings.section",
    }
