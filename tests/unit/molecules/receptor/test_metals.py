"""Types and charges of metals, ions and groups that nothing is known of, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.molecules.receptor.charges import charge
from ligen_py.molecules.receptor.heavy import binding_metals
from ligen_py.molecules.receptor.metals import metal_type
from ligen_py.records.functions.ad4 import Ad4Type
from tests.one_residue import heavy


@pytest.mark.parametrize("atom", ["N", "S"])
def test_what_binds_a_metal_is_near_it(atom: str) -> None:
    for apart, found in ((2.79, {0}), (2.81, set())):
        near = heavy({atom: [0.0, 0, 0], "ZN": [apart, 0, 0]}, "HIS", [])
        assert binding_metals(near) == found


@pytest.mark.parametrize(("irons", "sulfurs", "formal"), [(2, 2, 1), (3, 4, 0), (4, 4, 2)])
def test_the_sulfides_of_a_cluster_are_charged(irons: int, sulfurs: int, formal: int) -> None:
    corners = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    metal = {f"FE{n}": [1.6 * x, 1.6 * y, 1.6 * z] for n, (x, y, z) in enumerate(corners[:irons])}
    bridge = {
        f"S{n}": [1.6 * (1 - x), 1.6 * (1 - y), 1.6 * (1 - z)]
        for n, (x, y, z) in enumerate(corners[:sulfurs])
    }
    cluster = heavy(metal | bridge, "SF4", [])
    cluster = replace(cluster, symbol=["FE"] * irons + ["S"] * sulfurs)
    charged = charge(cluster, np.empty((0, 3))).receptor.partial_charge
    assert charged.sum() == pytest.approx(formal)


@pytest.mark.parametrize(
    ("metal", "other", "count", "formal"),
    [
        ("AL", "F", 4, -1), ("AL", "F", 3, 0), ("MG", "F", 3, -1), ("BE", "F", 3, -1),
        ("V", "O", 4, -2), ("W", "O", 4, -2), ("MO", "O", 4, -2), ("V", "O", 3, -1),
        ("U", "O", 2, 2), ("GD", "", 0, 3), ("AG", "", 0, 1), ("CR", "", 0, 3), ("PT", "", 0, 2),
    ],
)  # fmt: skip
def test_the_ions_of_metals_are_charged(metal: str, other: str, count: int, formal: int) -> None:
    places = {f"{other}{n}": [1.8 * n, 1.0, 0.0] for n in range(count)}
    group = replace(
        heavy({metal: [0.0, 0, 0]} | places, "ION", []), symbol=[metal] + [other] * count
    )
    assert charge(group, np.empty((0, 3))).receptor.partial_charge.sum() == formal


@pytest.mark.parametrize(
    ("residue", "metal", "formal"),
    [("CU1", "CU", 1), ("CU", "CU", 2), ("3CO", "CO", 3), ("FE2", "FE", 2), ("AU3", "AU", 3)],
)
def test_a_metal_has_the_state_that_its_residue_is_called_by(
    residue: str, metal: str, formal: int
) -> None:
    ion = replace(heavy({metal: [0.0, 0, 0]}, residue, []), symbol=[metal])
    assert charge(ion, np.empty((0, 3))).receptor.partial_charge.tolist() == [formal]
    assert metal_type(metal, residue).endswith(f"charge {formal:+d}")


@pytest.mark.parametrize(
    ("is_pyrrole", "oxygens", "formal"), [(True, 0, 0), (True, 1, 0), (True, 2, -1), (False, 2, 2)]
)
def test_a_tetrapyrrole_with_a_metal_is_neutral_but_for_its_acids(
    is_pyrrole: bool, oxygens: int, formal: int
) -> None:
    """A chlorophyll's or haem's metal had a charge of 2 in a neutral ring; a cyclam's keeps it.

    Haem a and sirohaem had 0 in place of -2 and -8.
    """
    places, bonds = {"ZN": [0.0, 0.0, 0.0]}, []
    for n, (x, y) in enumerate([(1, 0), (0, 1), (-1, 0), (0, -1)]):
        places[f"N{n}"] = [2.0 * x, 2.0 * y, 0.0]
        for side in (1, -1):
            alpha = [2.9 * x - 1.1 * side * y, 2.9 * y + 1.1 * side * x, 0.0]
            places[f"A{n}{side}"] = alpha
            bonds.append((f"N{n}", f"A{n}{side}"))
            if is_pyrrole:
                beyond = {"B": [1.2 * x, 1.2 * y], "M": [-0.7 * side * y, 0.7 * side * x]}
                for letter, (along, aside) in beyond.items():
                    name = f"{letter}{n}{side}"
                    places[name] = [alpha[0] + along, alpha[1] + aside, 0.0]
                    bonds.append((f"A{n}{side}", name))
    places |= {"CGA": [3.0, 3.0, 3.0]} | {f"O{n}A": [3.0, 4.0, 2.0 + n] for n in range(oxygens)}
    bonds += [("CGA", f"O{n}A") for n in range(oxygens)]
    group = heavy(places, "XYZ", bonds)
    symbols = [name if name == "ZN" else "C" if name[0] not in "NO" else name[0] for name in places]
    charged = charge(replace(group, symbol=symbols), np.empty((0, 3))).receptor.partial_charge
    assert charged.sum() == pytest.approx(formal)


def test_metals_are_charged_and_unknown_groups_neutral() -> None:
    result = charge(heavy({"ZN": [0.0, 0, 0]}, "ZN", []), np.empty((0, 3))).receptor
    assert result.type.tolist() == [Ad4Type.ZN]
    assert result.partial_charge.tolist() == [2.0]
    group = heavy({"C1": [0.0, 0, 0], "O1": [1.2, 0, 0]}, "XYZ", [("C1", "O1")])
    result = charge(group, np.empty((0, 3))).receptor
    assert result.type.tolist() == [Ad4Type.C, Ad4Type.OA]
    assert not result.partial_charge.any()
