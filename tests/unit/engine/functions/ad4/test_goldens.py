"""AutoDock4's pairs against AutoDock Vina's, and its constants against Meeko's parameter files."""

import numpy as np
import pytest

from ligen_py.engine.functions.ad4 import reference as ad4_reference
from ligen_py.engine.functions.ad4.constants import (
    ACCEPTOR,
    DONOR,
    NITROGEN_ACCEPTOR,
    PARAMETERS,
    WEIGHTS,
)
from ligen_py.records.functions.ad4 import Ad4Type
from tests import goldens

PAIRS = goldens.rows("ad4_pairs.tsv")
MEEKO = {Ad4Type[row["type"]]: row for row in goldens.rows("meeko_parameters.tsv")}
VINAS_OWN = {Ad4Type.SI}
"""Meeko's files have no silicon; Vina's pairs hold it."""

KINDS = {
    Ad4Type.HD: DONOR,
    Ad4Type.NA: NITROGEN_ACCEPTOR,
    Ad4Type.OA: ACCEPTOR,
    Ad4Type.SA: ACCEPTOR,
}


def energies(kinds: np.ndarray, charges: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Energies (pairs,) of pairs of atoms of types and charges (pairs, 2)."""
    xyz = np.zeros((len(distance), 2, 3))
    xyz[:, 1, 0] = distance
    pairs = ad4_reference.Molecule(
        xyz=xyz.reshape(-1, 3),
        types=kinds.ravel().astype("u1"),
        charges=charges.ravel(),
        pairs=np.arange(2 * len(distance)).reshape(-1, 2),
        torsions=0.0,
    )
    return np.sum(list(ad4_reference.pair_terms(pairs).values()), axis=0)


def as_in_vina(kinds: np.ndarray, charges: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """By Vina's table, in steps of 1/32 A^2, and with Vina's cap on clashes."""
    step = np.floor(distance**2 * 32)
    ends = [energies(kinds, charges, np.sqrt((step + end) / 32)) for end in (0, 1)]
    found = np.mean(ends, axis=0)
    return np.where(found > 0, found * 1000 / (1000 + found), found)


def test_every_pair_of_types_is_there() -> None:
    found = {frozenset(Ad4Type[row[end].upper()] for end in ("first", "second")) for row in PAIRS}
    types = set(Ad4Type) - {Ad4Type.NONE}
    assert found == {frozenset((one, two)) for one in types for two in types}


def test_pairs_have_vinas_energies() -> None:
    columns = [name for name in PAIRS[0] if name.startswith("r=")]
    kinds = np.array([[Ad4Type[row[end].upper()] for end in ("first", "second")] for row in PAIRS])
    for column, place in zip(columns, goldens.distances(columns), strict=True):
        known = np.array([float(row[column]) for row in PAIRS])
        charges = np.tile([place["q1"], place["q2"]], (len(PAIRS), 1))
        found = as_in_vina(kinds, charges, np.full(len(PAIRS), place["r"]))
        # Above 900, Vina's limit of 1e5 kcal/mol is seen, which it takes before the weights; and
        # the two round Coulomb's constant differently.
        near = (6e-5, 2e-5) if charges.any() else (3e-6, 3e-6)
        different = (np.abs(found - known) > near[0] + near[1] * np.abs(known)) & (known < 900)
        assert not [(PAIRS[i]["first"], PAIRS[i]["second"]) for i in np.flatnonzero(different)]
        assert (known < 900).mean() > 0.97


def test_torsions_cost_what_they_cost_in_vina() -> None:
    assert 3 * WEIGHTS["TORSION"] == pytest.approx(float(PAIRS[0]["torsional"]), abs=1e-6)


@pytest.mark.parametrize("kind", MEEKO, ids=lambda kind: kind.name)
def test_parameters_are_those_of_meeko(kind: Ad4Type) -> None:
    known = {name: float(value) for name, value in MEEKO[kind].items() if name not in SMILES}
    ours = PARAMETERS[kind]
    assert ours.distance == pytest.approx(2 * known["rmin_half"])
    assert ours.depth == pytest.approx(known["epsilon"])
    assert ours.volume == pytest.approx(known["ad4_sol_vol"])
    assert ours.solvation == pytest.approx(known["ad4_sol_par"])
    assert ours.bond_distance == pytest.approx(known["ad4_hb_rij"])
    assert ours.bond_depth == pytest.approx(known["ad4_hb_epsij"])
    assert ours.bond_kind == KINDS.get(kind, 0)


SMILES = ("type", "smiles")


def test_meeko_knows_every_type_but_silicon() -> None:
    assert set(MEEKO) == set(PARAMETERS) - {Ad4Type.NONE} - VINAS_OWN
