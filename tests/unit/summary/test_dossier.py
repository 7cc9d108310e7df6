"""The facts of a target's page."""

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from ligen_py.molecules.hits.analysis import Analysis
from ligen_py.molecules.interactions.contacts import Contact
from ligen_py.summary.dossier import RESIDUES, Dossier, Row, _clusters, _compared, matrix_of
from ligen_py.summary.page import MATRIX_ROWS, _matrix_rows

HERE = (0.0, 0.0, 0.0)


def row(contacts: list[tuple[str, str]]) -> Row:
    found = [Contact(kind, residue, 3.0, HERE, HERE) for kind, residue in contacts]
    return Row("one", 1, -7.0, "C", "C", Analysis(contacts=found), {})


def test_of_residues_that_as_many_hits_touch_the_first_of_the_chain_are_shown() -> None:
    # One hit touches them all, as a large ligand does: which are shown must not be left to the
    # order of a set, else the same campaign has another report the next time.
    touched = [("hydrophobic", f"LEU{number} A") for number in range(1, RESIDUES + 13)]
    random.Random(1).shuffle(touched)
    bound = [("hydrogen bond", "ASP90 A"), ("salt bridge", "LYS5 B")]
    found = matrix_of([row(touched), row(touched[:4] + bound)])
    twice = {residue for _, residue in touched[:4]}
    once = [f"LEU{n} A" for n in range(1, RESIDUES + 13) if f"LEU{n} A" not in twice]
    expected = sorted(twice | set(once[: RESIDUES - 6]), key=lambda one: int(one[3:-2]))
    assert list(found.residues) == [*expected, "ASP90 A", "LYS5 B"]
    assert [len(cells) for _, cells in found.cells] == [RESIDUES, RESIDUES]


def test_what_the_crystal_ligand_is_bound_by_is_shown_even_if_no_hit_is() -> None:
    touched = [("hydrogen bond", f"LEU{number} A") for number in range(1, RESIDUES + 13)]
    hinge = row([("hydrogen bond", "MET318 A"), ("hydrophobic", "VAL999 A")]).analysis
    found = matrix_of([row(touched)], hinge)
    assert len(found.residues) == RESIDUES
    assert "MET318 A" in found.residues
    assert "VAL999 A" not in found.residues
    ((_, cells),) = found.cells
    assert cells[list(found.residues).index("MET318 A")] == ""


def test_the_filter_knows_every_residue_that_a_hit_is_bound_by() -> None:
    bound = [("hydrogen bond", f"LYS{number} A") for number in range(RESIDUES + 12, 0, -1)]
    hits = [row(bound[:9]), row([*bound[9:], ("hydrophobic", "ILE999 A")])]
    crystal = replace(row([("salt bridge", "ASP998 A")]), reference=True)
    rows = [*hits, crystal]
    dossier = cast(Dossier, SimpleNamespace(rows=rows, hits=hits, matrix=matrix_of(rows)))
    directed = Dossier.directed.fget  # type: ignore[attr-defined]
    assert directed(dossier) == [f"LYS{number} A" for number in range(1, RESIDUES + 13)]
    assert (len(dossier.matrix.residues), dossier.matrix.touched) == (RESIDUES, RESIDUES + 14)


def test_the_table_of_interactions_has_the_crystal_ligand_wherever_it_ranks() -> None:
    hits = [row([])] * (MATRIX_ROWS + 5)
    rows = [*hits, replace(row([]), reference=True)]
    dossier = cast(Dossier, SimpleNamespace(rows=rows, matrix=matrix_of(rows)))
    assert [place for place, _ in _matrix_rows(dossier)] == [*range(MATRIX_ROWS), len(hits)]


def test_the_crystal_ligand_leads_no_cluster_of_hits() -> None:
    # Both hits are like it, and not like each other.
    crystal, first, second = (
        "NC(=O)c1ccc(CCCc2ccc(S(N)(=O)=O)cc2)cc1",
        "NC(=O)c1ccc(CCC)cc1",
        "CCCc1ccc(S(N)(=O)=O)cc1",
    )
    bare = row([])
    rows = [replace(bare, name=text, parent=text) for text in (crystal, first, second)]
    found = _compared([replace(rows[0], reference=True), *rows[1:]], {"crystal": crystal})
    assert [one.nearest[1] >= 0.5 for one in found[1:]] == [True, True]
    assert [cluster.rows for cluster in _clusters(found)] == [[1], [2]]


def test_a_name_that_the_known_molecules_share_is_no_neighbour_of_itself() -> None:
    known = {"twin": "CCO", "twin (2)": "CCCCO", "other": "CCCCO"}
    twin = replace(row([]), name="twin", parent="CCCCO")
    (found,) = _compared([twin], {name: known[name] for name in ("twin", "twin (2)")})
    assert found.nearest[0] == "twin"
    (found,) = _compared([twin], known)
    assert found.nearest == ("other", 1.0)
