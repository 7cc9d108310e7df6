"""Charges and polar hydrogens of receptors, against a prepared file and by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ligen_py.molecules.receptor.charges import charge
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.preparation import prepare
from ligen_py.molecules.receptor.site import site_of_ligand
from ligen_py.molecules.receptor.templates import amino_acid
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.settings.pocket import PocketSettings, Structure
from tests import pdbqt
from tests.one_residue import AMINO_ACID, BONDS, heavy


def test_a_prepared_receptor_has_these_types_charges_and_hydrogens(shared_data: Path) -> None:
    # It takes all histidines for charged and all cysteines for thiolates; termini are charged.
    prepared = pdbqt.read(shared_data / "reference" / "vina_1iep" / "1iep_receptor.pdbqt")
    row = {label: place for place, label in enumerate(prepared.label)}
    folder = shared_data / "redock" / "1IEP"
    site = site_of_ligand(folder / "ligand.sdf", 10.0)
    structure = Structure()
    selection = open_structure(folder / "protein.pdb", structure)
    found = prepare(selection, site, structure, PocketSettings())
    compared = 0
    for place, label in enumerate(found.receptor.label):
        _, residue, number, atom = label.split("/")
        if residue in ("HIS", "CYS") or number == "225":
            continue
        other = row[f"{residue}/{number}/{atom}"]
        assert found.typed["ad4"].type[place] == prepared.ad4_types()[other], label
        assert found.typed["ad4"].partial_charge[place] == pytest.approx(
            prepared.charge[other], abs=0.02
        )
        compared += 1
    assert compared > 1000

    near = site.distance(found.typed["ad4"].xyz) < 2.0
    backbone = [place for label, place in row.items() if label.endswith("/H")]
    hydrogens = found.typed["ad4"].xyz[near & (found.typed["ad4"].type == Ad4Type.HD)].astype(float)
    distance = np.linalg.norm(prepared.xyz[backbone][:, None] - hydrogens, axis=2).min(axis=1)
    inside = site.distance(prepared.xyz[backbone]) < 1.0
    assert inside.sum() > 40
    assert np.median(distance[inside]) < 0.05
    assert (distance[inside] < 0.2).mean() > 0.95


def test_a_residue_of_a_chain_that_nothing_is_known_of_has_its_amide() -> None:
    """As arsenocysteine, whose bonds are not perceived."""
    lines = AMINO_ACID | {"AS": [30.0, 0, 0]}
    chain = heavy({"C0": [3.7, 0.9, 0], **lines}, "CAS", [("C0", "N"), *BONDS])
    chain = replace(
        chain,
        name=["C", *chain.name[1:]],
        symbol=[*chain.symbol[:-1], "AS"],
        residue=np.array([0, *[1] * len(lines)]),
        residue_name=["ALA", *["CAS"] * len(lines)],
    )
    found = charge(chain, np.empty((0, 3))).receptor
    assert (found.type == Ad4Type.HD).sum() == 1
    known = amino_acid("ALA")
    row = {name: place for place, name in enumerate(chain.name)}
    for name in ("N", "CA", "O"):
        assert found.partial_charge[row[name]] == pytest.approx(known[name].charge, abs=1e-6)
