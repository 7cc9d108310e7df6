"""The values of independent programs in tests/data say where they come from, and stay small."""

import json
import re
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
TABLES = sorted(path for path in DATA.iterdir() if path.suffix in (".tsv", ".json"))
PUBLISHED = {"xscore.tsv"}
"""From publications; no program makes it."""


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_every_table_names_the_programs_and_the_script_that_made_it(path: Path) -> None:
    if path.suffix == ".json":
        head = json.loads(path.read_text())["about"]
    else:
        head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    text = " ".join(head)
    if path.name in PUBLISHED:
        assert "published" in text
        return
    assert re.search(r"computed by [\w-]+ \d+\.\d+", text)
    (script,) = re.findall(r"tests/data/(make_\w+\.py)", text)
    assert f'"{path.name}"' in (DATA / script).read_text() or path.name.startswith("pocket_")


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir() if path.is_file()) < 1_500_000
