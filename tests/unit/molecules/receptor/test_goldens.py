"""Receptors of posebusters' complexes against PDB2PQR with PROPKA, and Meeko."""

from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from ligen_py.molecules.receptor.charges import WATER
from ligen_py.molecules.receptor.metals import METAL
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.preparation import Prepared, prepare
from ligen_py.molecules.receptor.site import site_of_ligand
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.vina import VinaType
from ligen_py.settings.pocket import PocketSettings, Structure
from tests import goldens

CHAINS = {"1s3v": ("A",), "1ia1": ("B",), "1uou": ("A",)}
FIRST = {"1of6": {"B/ALA/19"}}
"""First residues of chains, which Meeko takes for charged and we for ones behind a gap."""

STATES = goldens.rows("states.tsv")


@cache
def prepared(name: str, chains: tuple[str, ...], protonation: str) -> Prepared:
    pytest.importorskip("posebusters")
    folder = Path(str(resources.files("posebusters"))) / "datasets" / "pdb" / name
    structure = Structure(chains=chains)
    settings = PocketSettings.model_validate({"protonation": protonation})
    selection = open_structure(folder / f"{name}_protein_one_lig_removed.pdb", structure)
    site = site_of_ligand(folder / f"{name}_ligand.sdf", 10.0)
    site = replace(site, ligand=np.empty((0, 3)))  # beside it no side chain would be turned
    return prepare(selection, site, structure, settings)


@pytest.mark.parametrize(
    ("name", "chains", "protonation"),
    [*((name, chains, "propka") for name, chains in CHAINS.items()), ("1of6", ("A", "B"), "given")],
)
def test_types_and_charges_are_those_of_meeko(
    name: str, chains: tuple[str, ...], protonation: str
) -> None:
    found, known = prepared(name, chains, protonation), goldens.pocket(name)
    row = {label: i for i, label in enumerate(found.receptor.label)}
    vina, ad4 = known.vina_types(), known.ad4_types()
    different, compared = set(), 0
    for i, label in enumerate(known.label):
        residue, _, atom = label.rpartition("/")
        by_default = protonation == "given" and "/HIS/" in label
        if known.kind[i] == "HD" or residue in FIRST.get(name, ()) or by_default:
            continue
        place = row[label]
        assert found.receptor.xyz[place] == pytest.approx(known.xyz[i], abs=2e-3), label
        assert found.typed["ad4"].type[place] == ad4[i], label
        # Meeko rounds to three decimals that add up to a whole charge.
        assert found.typed["ad4"].partial_charge[place] == pytest.approx(
            known.charge[i], abs=3e-3
        ), label
        if found.typed["vina"].type[place] != vina[i]:
            different.add((residue.split("/")[1], atom, VinaType(found.typed["vina"].type[place])))
        compared += 1
    assert different == set()
    assert compared > 350


@pytest.mark.parametrize("name", CHAINS)
def test_hydrogens_stand_where_pdb2pqr_puts_them(name: str) -> None:
    found, known = prepared(name, CHAINS[name], "propka"), goldens.pocket(name)
    polar = found.typed["ad4"].xyz[found.typed["ad4"].type == Ad4Type.HD].astype(float)
    charge = found.typed["ad4"].partial_charge[found.typed["ad4"].type == Ad4Type.HD]
    mine = np.array([kind == "HD" for kind in known.kind])
    distance = np.linalg.norm(known.xyz[mine][:, None] - polar, axis=2)
    assert distance.min(axis=1) == pytest.approx(0, abs=2e-3)
    assert charge[distance.argmin(axis=1)] == pytest.approx(known.charge[mine], abs=0.02)
    assert mine.sum() > 90


@pytest.mark.parametrize("name", CHAINS)
def test_residues_have_the_states_of_propka(name: str) -> None:
    found = prepared(name, CHAINS[name], "propka")
    row = {label: i for i, label in enumerate(found.receptor.label)}
    polar = found.typed["ad4"].xyz[found.typed["ad4"].type == Ad4Type.HD]
    distance = np.linalg.norm(found.receptor.xyz[:, None] - polar, axis=2)
    bound = np.bincount(distance.argmin(axis=0), minlength=len(distance))
    compared = set()
    for state in STATES:
        if state["complex"] != name or float(state["distance"]) > 12:
            continue
        place = f"{state['chain']}/{state['residue']}/{state['number']}"
        for entry in state["protons"].split():
            atom, count = entry.split(":")
            assert bound[row[f"{place}/{atom}"]] == int(count), (place, atom)
        compared.add(state["residue"])
    assert len(compared) >= 5


def test_propka_takes_some_residues_out_of_their_standard_state() -> None:
    # Glutamates that keep their proton at pH 7.4, one of them in a pocket above.
    found = {
        (state["complex"], state["number"])
        for state in STATES
        if state["residue"] == "GLU" and "1" in (entry[-1] for entry in state["protons"].split())
    }
    assert ("1uou", "225") in found


MEEKO = {row["name"]: row for row in goldens.rows("meeko_ligands.tsv")}


@pytest.mark.parametrize("name", ["magnesium", "calcium", "manganese", "iron", "zinc"])
def test_metals_have_meekos_type_and_charge(name: str) -> None:
    symbol = MEEKO[name]["types"].upper()
    assert METAL[symbol] == (Ad4Type[symbol], float(MEEKO[name]["charges"]))


def test_water_has_meekos_charges() -> None:
    oxygen, *hydrogens = (float(value) for value in MEEKO["water"]["charges"].split())
    assert [oxygen, *hydrogens] == pytest.approx([WATER[0], WATER[1], WATER[1]], abs=1.5e-3)
