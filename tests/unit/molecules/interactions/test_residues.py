"""Which residues a word in a question names."""

from types import SimpleNamespace
from typing import Any

import pytest

from ligen_py.molecules.interactions.contacts import KINDS
from ligen_py.molecules.interactions.residues import wanted_interactions

RESIDUES = {
    "ASP168 A": "168", "ASP168 B": "168", "ASP5 5": "5", "SER5 A": "5", "HEM1 A": "1",
    "2PE301 A": "301", "SF4409 A": "409", "P69202 A": "202", "HIP'77 A": "77", "GLY60B A": "60B",
}  # fmt: skip
AROUND: Any = SimpleNamespace(residue=[*RESIDUES], number=[*RESIDUES.values()])


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("ASP168", {"ASP168 A", "ASP168 B"}),
        ("asp168", {"ASP168 A", "ASP168 B"}),
        ("A/ASP168", {"ASP168 A"}),
        ("B/ASP/168", {"ASP168 B"}),
        ("A/168", {"ASP168 A"}),
        ("168", {"ASP168 A", "ASP168 B"}),
        ("5", {"ASP5 5", "SER5 A"}),  # a number, though a chain has that name
        ("5/5", {"ASP5 5"}),
        ("301", {"2PE301 A"}),
        ("A/409", {"SF4409 A"}),
        ("A/SF4/409", {"SF4409 A"}),
        ("4409", set()),
        ("202", {"P69202 A"}),
        ("77", {"HIP'77 A"}),
        ("A/60b", {"GLY60B A"}),
        ("GLU168", set()),
        ("A", set()),
        ("C/ASP168", set()),
    ],
)
def test_what_a_word_names(given: str, named: set[str]) -> None:
    assert wanted_interactions(given, AROUND) == {(kind, one) for kind in KINDS for one in named}
    one_kind = wanted_interactions(f"Hydrogen bond: {given}", AROUND)
    assert one_kind == {("hydrogen bond", one) for one in named}


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind of interaction; there are: hydrogen bond"):
        wanted_interactions("magic:ASP168", AROUND)
