"""The notebook runs as it stands, without a network, and shows what it has stored."""

import json
from pathlib import Path

import pytest

from tests import notebook
from tests.api.conftest import one_process

BOOK = Path(__file__).parents[2] / "docs" / "python.ipynb"


def test_the_notebook_runs(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    book = json.loads(BOOK.read_text(encoding="utf-8"))
    with one_process(tmp_path_factory):
        found = notebook.run(book)
    stored = [cell["outputs"] for cell in notebook.code_cells(book)]
    assert [[out["output_type"] for out in outputs] for outputs in found] == [
        [out["output_type"] for out in outputs] for outputs in stored
    ]
    said = json.dumps(found)
    assert "<Hits: 3 molecules, 2 failures>" in said
    assert "the same molecule as ethanol" in said
    assert {path.name for path in tmp_path.iterdir()} == {"hits.sdf", "hits.csv", "receptor.pdb"}


def test_no_path_of_a_machine_is_stored() -> None:
    text = BOOK.read_text(encoding="utf-8")
    assert "/home/" not in text
    assert "site-packages" not in text
    assert "/tmp/" not in text
