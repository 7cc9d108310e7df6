"""Pair energies of the fields: worked examples, the scores' own terms, derivatives."""

from collections.abc import Callable

import numpy as np
import pytest

from ligen_py.engine.functions.ad4 import reference as ad4_reference
from ligen_py.engine.functions.ad4.constants import CUTOFF, FARTHEST
from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.engine.functions.vina.constants import VINA, Form
from ligen_py.engine.functions.vinardo.constants import VINARDO
from ligen_py.engine.functions.xscore import reference as xscore_reference
from ligen_py.engine.functions.xscore.constants import FIELD_CUTOFF, HPSCORE, PKD_ENERGY
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.vina import VinaType
from tests.xscore_input import ligand, receptor

PairEnergy = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def ad4_pair(one: Ad4Type, two: Ad4Type, charges: tuple[float, float]) -> PairEnergy:
    """Energy and slope of two atoms by their distances (distances,)."""

    def pair_energy(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [
            ad4_reference.pair_energy_slope(
                np.full((2, 2), each), np.array([one, two]), np.array(charges)
            )
            for each in r
        ]
        return np.array([e[0, 1] for e, _ in found]), np.array([s[0, 1] for _, s in found])

    return pair_energy


def vina_pair(form: Form, one: VinaType, two: VinaType) -> PairEnergy:
    table = form.pair_table().astype(float)[one, two]
    return lambda r: vina_reference.pair_energy_slope(r, table, form.weights)


PAIRS = {
    "xscore, both hydrophobic": lambda r: xscore_reference.pair_energy_slope(r, -2.1, -2.2),
    "xscore, one polar": lambda r: xscore_reference.pair_energy_slope(r, -2.1, 1.55),
    "ad4, carbons": ad4_pair(Ad4Type.C, Ad4Type.A, (0.1, -0.2)),
    "ad4, hydrogen bond": ad4_pair(Ad4Type.HD, Ad4Type.OA, (0.2, -0.4)),
    "ad4, like charges": ad4_pair(Ad4Type.N, Ad4Type.CL, (-0.3, -0.1)),
    "vina, hydrophobic": vina_pair(VINA, VinaType.C_H, VinaType.CL_H),
    "vina, hydrogen bond": vina_pair(VINA, VinaType.N_D, VinaType.O_A),
    "vinardo": vina_pair(VINARDO, VinaType.C_H, VinaType.C_H),
}


@pytest.mark.parametrize("name", PAIRS)
def test_slopes_are_derivatives(name: str) -> None:
    step = 1e-6
    r = np.arange(0.3, 22, 0.00737)
    ahead, here, back = (PAIRS[name](r + shift) for shift in (step, 0.0, -step))
    found = (ahead[0] - back[0]) / (2 * step)
    slope = here[1]
    # Jumps and kinks: the cut-offs, where charges and X-Score's atoms are too near, ends of ramps.
    smooth = np.abs(ahead[1] - back[1]) < 1e-4 * (1 + np.abs(slope))
    assert smooth.mean() > 0.97
    assert found[smooth] == pytest.approx(slope[smooth], rel=1e-5, abs=1e-4)
    assert np.abs(slope[r > FARTHEST]).max() == 0


def test_a_worked_pair_of_xscore() -> None:
    # At the sum of the radii the 8-4 potential is at its minimum, -1, and the ramp is full.
    energy, slope = xscore_reference.pair_energy_slope(np.array(4.3), -2.1, -2.2)
    assert energy == pytest.approx(-1.364 * (0.004 + 0.009))
    assert slope == pytest.approx(0)
    # 5.65 A: x = (4.3 / 5.65)^4 = 0.335490, x^2 - 2x = -0.558426; ramp (6.5 - 5.65) / 1.7 = 0.5.
    energy, _ = xscore_reference.pair_energy_slope(np.array(5.65), -2.1, -2.2)
    assert energy == pytest.approx(-1.364 * (0.004 * 0.558426 + 0.009 * 0.5), rel=1e-5)
    polar, _ = xscore_reference.pair_energy_slope(np.array(5.65), 2.1, -2.2)
    assert polar == pytest.approx(-1.364 * 0.004 * 0.558426, rel=1e-5)
    nearest, at_one = (xscore_reference.pair_energy_slope(np.array(r), 1.5, 1.5) for r in (0.2, 1))
    assert nearest[0] == at_one[0] == pytest.approx(1.364 * 0.004 * (3**8 - 2 * 3**4))
    assert nearest[1] == 0
    assert xscore_reference.pair_energy_slope(np.array(FIELD_CUTOFF), -2.1, -2.2)[0] == 0


def test_xscores_field_is_its_score_where_nothing_repels() -> None:
    rng = np.random.default_rng(0)
    pocket = receptor(rng.normal((5.5, 0, 0), 1, (30, 3)).tolist(), 2.2)
    molecule = ligand([[0, 0, 0], [0, 1.5, 0]])
    vdw = xscore_reference.van_der_waals(molecule, pocket)
    hp = xscore_reference.hydrophobic_pairs(molecule, pocket)
    field = xscore_reference.field_energy(molecule.xyz.astype(float), pocket, np.array([-2.1]))
    assert min(vdw, hp) > 1
    expected = -PKD_ENERGY * (HPSCORE.vdw * vdw + HPSCORE.hydrophobic * hp)
    assert field.sum() == pytest.approx(expected, rel=1e-5)


def test_ad4s_pairs_are_those_of_its_score() -> None:
    rng = np.random.default_rng(0)
    count = 30
    molecule = ad4_reference.Molecule(
        xyz=rng.uniform(-8, 8, (count, 3)).astype("f4"),
        types=rng.integers(1, 14, count).astype("u1"),
        charges=rng.uniform(-0.5, 0.5, count),
        pairs=np.argwhere(np.triu(np.ones((count, count)), 1)),
        torsions=0.0,
    )
    r = np.linalg.norm(molecule.xyz[:, None].astype(float) - molecule.xyz, axis=-1)
    np.fill_diagonal(r, 1.0)
    energy, _ = ad4_reference.pair_energy_slope(r, molecule.types, molecule.charges)
    one, two = molecule.pairs.T
    expected = sum(ad4_reference.pair_terms(molecule).values())
    assert (r[one, two] > CUTOFF).any()
    assert energy[one, two] == pytest.approx(np.asarray(expected), rel=1e-9, abs=1e-12)


def test_a_unit_of_pkd_is_its_free_energy() -> None:
    gas_constant = 8.31446261815324 / 4184  # CODATA 2018, in kcal/mol/K
    assert pytest.approx(gas_constant * 298.15 * np.log(10), abs=5e-4) == PKD_ENERGY


@pytest.mark.parametrize("form", [VINA, VINARDO], ids=["vina", "vinardo"])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (VinaType.C_H, VinaType.CL_H),
        (VinaType.N_D, VinaType.O_A),
        (VinaType.C_P, VinaType.I_H),
        (VinaType.NONE, VinaType.C_H),
    ],
)
def test_the_energy_beside_a_slope_is_the_sum_of_the_terms(
    form: Form, one: VinaType, two: VinaType
) -> None:
    r = np.arange(1.0, 9.0, 0.05)
    pair = np.tile(form.pair_table().astype(float)[one, two], (len(r), 1))
    terms = vina_reference.pair_terms(form.weights, r, pair)
    energy, _ = vina_reference.pair_energy_slope(r, pair, form.weights)
    assert energy == pytest.approx(terms.sum(axis=0), abs=1e-6)
