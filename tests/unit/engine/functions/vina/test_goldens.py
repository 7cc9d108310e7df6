"""Vina and Vinardo against what AutoDock Vina computed of pairs of atoms and of poses."""

import numpy as np
import pytest
from rdkit import Chem

from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.engine.functions.vina.constants import TYPES, VINA
from ligen_py.engine.functions.vinardo.constants import VINARDO
from ligen_py.molecules.typing.vina import vina_type
from ligen_py.records.functions.vina import VinaType
from tests import pdbqt
from tests.vina_values import (
    GROUPS,
    LIGANDS,
    PAIRS,
    REACH,
    as_vina_tabulates,
    group,
    known_pairs,
    pocket,
    poses,
)

FORMS = {"vina": VINA, "vinardo": VINARDO}


def test_every_type_has_its_pairs() -> None:
    known = {VinaType[kind] for kinds in GROUPS.values() for kind in kinds}
    assert known == set(VinaType) - {VinaType.NONE}
    assert len(VinaType) == TYPES
    assert len(PAIRS) == 2 * len(GROUPS) ** 2


@pytest.mark.parametrize("name", GROUPS)
def test_elements_have_the_types_of_these_groups(name: str) -> None:
    kind, _, behind = name.partition("-")
    number = Chem.GetPeriodicTable().GetAtomicNumber(
        {"NA": "N", "OA": "O", "SA": "S"}.get(kind, kind)
    )
    found = vina_type(number, behind == "HD", kind in ("NA", "OA"), [8] if behind == "OA" else [])
    assert found.name == GROUPS[name][0]


@pytest.mark.parametrize("form", FORMS)
def test_pairs_have_vinas_energies(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    as_vina_tabulates(monkeypatch)
    places, distance, pair = [], [], []
    table = FORMS[form].pair_table().astype(float)
    for place in np.ndindex(len(GROUPS), len(GROUPS), len(REACH)):
        (own, mine), (other, theirs) = (
            group(list(GROUPS)[number], x, away)
            for number, x, away in zip(place[:2], (0, REACH[place[2]]), (-1, 1), strict=True)
        )
        for atom, kind in enumerate(mine):
            places += [(*place, atom)] * len(theirs)
            distance.append(vina_reference.distances(own[atom], other))
            pair.append(table[kind, theirs])
    energy = vina_reference.pair_terms(
        FORMS[form].weights, np.concatenate(distance), np.concatenate(pair)
    ).sum(axis=0)
    found = np.zeros((len(GROUPS), len(GROUPS), len(REACH), 2))
    np.add.at(found, tuple(np.array(places).T), energy)
    found = vina_reference.capped(found).sum(axis=-1)
    different = np.argwhere(np.abs(found - known_pairs(form)) > 3e-6)
    names = list(GROUPS)
    assert not [(names[i], names[j], REACH[k]) for i, j, k in different]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LIGANDS)
def test_poses_score_as_in_vina(monkeypatch: pytest.MonkeyPatch, name: str, form: str) -> None:
    receptor = pocket(LIGANDS[name]["pocket"])
    cost = FORMS[form].weights.rotor_weight
    for ligands, pose in poses(name):
        known = pose[form]
        start = pdbqt.start_poses(ligands)
        exact = vina_reference.score_form(FORMS[form], ligands, receptor, start)
        # Vina's look-up table alone is worth up to 0.015 kcal/mol.
        assert exact["affinity"][0] == pytest.approx(known["total"], abs=0.015)
        with monkeypatch.context() as patched:
            as_vina_tabulates(patched)
            found = vina_reference.score_form(FORMS[form], ligands, receptor, start)
        divisor = 1 + cost * found["rotors"][0]
        assert found["affinity"][0] == pytest.approx(known["total"], abs=0.002)
        assert found["affinity"][0] * divisor == pytest.approx(known["inter"], abs=0.002)
        assert found["intra"][0] == pytest.approx(known["intra"], abs=0.002)
        torsional = found["affinity"][0] * (1 - divisor)
        assert torsional == pytest.approx(known["torsional"], abs=0.002)
