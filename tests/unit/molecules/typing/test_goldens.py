"""Types, charges and torsions against Meeko's; X-Score's tables against those published."""

import gemmi
import numpy as np
import pytest
from rdkit import Chem

from ligen_py.engine.functions.vina.constants import VINA
from ligen_py.molecules import elements
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing import ad4, vina
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.molecules.typing.xscore_ligands import (
    LIGAND_LOGP,
    LIGAND_TYPE,
    LOGP,
    NAMES,
    ligand_types,
)
from ligen_py.molecules.typing.xscore_residues import RECEPTOR_TYPE, receptor_type
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.vina import VinaType
from ligen_py.records.functions.xscore import Interaction
from tests import goldens

LIGANDS = goldens.rows("meeko_ligands.tsv")
PARAMETERS = goldens.rows("meeko_parameters.tsv")
UNKNOWN = {"B": Ad4Type.NONE}
"""Types of Meeko that AutoDock 4.2 lacks; parsing rejects such ligands."""

OF_ELEMENT = {
    "S": "S_P", "SA": "S_P", "P": "P_P", "F": "F_H", "Cl": "CL_H", "Br": "BR_H", "I": "I_H",
    "Si": "SI", "Zn": "MET_D", "HD": "NONE",
}  # fmt: skip
"""Vina's types that AutoDock's types decide."""

XSCORE = goldens.rows("xscore.tsv")
CLASS = {
    "H": Interaction.HYDROPHOBIC, "P": Interaction.POLAR, "D": Interaction.DONOR,
    "A": Interaction.ACCEPTOR, "DA": Interaction.DONOR_ACCEPTOR, "M": Interaction.METAL,
    "N": Interaction.NONE,
}  # fmt: skip


def published(table: str) -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in XSCORE if row["table"] == table}


def test_ligands_are_typed_and_charged_as_by_meeko() -> None:
    atoms = 0
    for row in LIGANDS:
        mol = Chem.AddHs(Chem.MolFromSmiles(row["smiles"]))
        types, charges = ad4.ligand_types(Graph.of(mol), gasteiger(mol))
        known = [
            UNKNOWN.get(
                name, Ad4Type.NONE if name == "-" else Ad4Type.__members__.get(name.upper())
            )
            for name in row["types"].split()
        ]
        assert types.tolist() == known, row["name"]
        expected = [0.0 if value == "-" else float(value) for value in row["charges"].split()]
        typed = types != Ad4Type.NONE
        assert charges[typed] == pytest.approx(np.array(expected)[typed], abs=6e-4), row["name"]
        atoms += int(typed.sum())
    assert len(LIGANDS) > 270
    assert atoms > 5900


def test_the_torsions_that_count_are_those_that_meeko_turns() -> None:
    for row in LIGANDS:
        graph = Graph.of(Chem.AddHs(Chem.MolFromSmiles(row["smiles"])))
        turning = graph.bond[vina.active_torsions(graph)].tolist()
        known = row["turning"].split() if row["turning"] != "-" else []
        assert [f"{near}-{far}" for near, far in turning] == sorted(
            known, key=lambda bond: tuple(map(int, bond.split("-")))
        ), row["name"]


def test_vinas_types_follow_meekos_types() -> None:
    for row in LIGANDS:
        graph = Graph.of(Chem.AddHs(Chem.MolFromSmiles(row["smiles"])))
        for kind, name, hydrogens in zip(
            vina.ligand_types(graph), row["types"].split(), graph.hydrogens, strict=True
        ):
            if name in OF_ELEMENT:
                assert VinaType(kind).name == OF_ELEMENT[name], row["name"]
            if name in ("N", "NA", "OA"):
                role = ("D" if hydrogens else "") + ("A" if name[1:] else "")
                assert VinaType(kind).name == f"{name[0]}_{role or 'P'}", row["name"]


@pytest.mark.parametrize("row", PARAMETERS, ids=lambda row: row["type"])
def test_vinas_radii_are_those_of_meeko(row: dict[str, str]) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(row["smiles"]))
    graph = Graph.of(mol)
    kinds, types = ad4.ligand_types(graph, gasteiger(mol))[0], vina.ligand_types(graph)
    (place, *_) = np.flatnonzero(kinds == Ad4Type[row["type"]])
    assert VINA.radii[types[place]] == pytest.approx(float(row["vina_ri"]))


@pytest.mark.parametrize("name", sorted(set(LIGAND_TYPE) - {"H"}))
def test_xscore_has_these_atom_types(name: str) -> None:
    row = published("atom")[name]
    radius, role = LIGAND_TYPE[name]
    assert radius == float(row["radius"])
    assert role == CLASS[row["class"]]


LOGP_ROWS = {
    # X-Score's types without its hydrogens -> heavy neighbours, pi neighbours that they stand for
    "C.3.h3.pi=0": ("C.3", 1, [0]), "C.3.h3.pi=1": ("C.3", 1, [1, 2]),
    "C.3.h2.pi=0": ("C.3", 2, [0]), "C.3.h2.pi=1": ("C.3", 2, [1]),
    "C.3.h2.pi=2": ("C.3", 2, [2]), "C.3.h.pi=0": ("C.3", 3, [0]), "C.3.h.pi=1": ("C.3", 3, [1]),
    "C.3.h.pi>1": ("C.3", 3, [2]), "C.3.pi=0": ("C.3", 4, [0]), "C.3.pi=1": ("C.3", 4, [1]),
    "C.3.pi>1": ("C.3", 4, [2]), "C.3.unknown": ("C.3", 0, [0, 1, 2]),
    "C.2.h2": ("C.2", 1, [0, 1, 2]), "C.2.h.pi=0": ("C.2", 2, [0]),
    "C.2.h.pi=1": ("C.2", 2, [1, 2]), "C.2.pi=0": ("C.2", 3, [0]), "C.2.pi>0": ("C.2", 3, [1, 2]),
    "C.ar.h": ("C.ar", 2, [0, 1, 2]), "C.ar": ("C.ar", 3, [0, 1, 2]),
    "C.ar.unknown": ("C.ar", 0, [0, 1, 2]), "S.3.h": ("S.3.h", 1, [0, 1, 2]),
    "S.3": ("S.3", 2, [0, 1, 2]), "Cl.pi=0": ("Cl", 1, [0]), "Cl.pi=1": ("Cl", 1, [1]),
    "Cl.unknown": ("Cl", 1, [2]), "Br.pi=0": ("Br", 1, [0]), "Br.pi=1": ("Br", 1, [1]),
    "Br.unknown": ("Br", 1, [2]), "I.pi=0": ("I", 1, [0]), "I.pi=1": ("I", 1, [1]),
    "I.unknown": ("I", 1, [2]), "C.2.unknown": ("C.2", 0, [0, 1, 2]),
}  # fmt: skip


def test_atomic_logp_is_that_of_xlogp() -> None:
    known = published("logp")
    assert set(known) == set(LOGP_ROWS)
    assert {kind for kind, _, _ in LOGP_ROWS.values()} == set(LIGAND_LOGP)
    for name, (kind, heavy, pi) in LOGP_ROWS.items():
        found = LOGP[NAMES.index(kind), heavy, pi]
        assert found == pytest.approx([float(known[name]["logp"])] * len(pi)), name


@pytest.mark.parametrize(
    ("smiles", "atom", "name"),
    [
        ("CI", 1, "I"), ("Ic1ccccc1", 0, "I"), ("CBr", 1, "Br"), ("C[Si](C)(C)C", 1, "Si"),
        ("CCl", 1, "Cl"), ("CF", 1, "F"), ("CP(C)(C)=O", 1, "P.3"), ("CSC", 1, "S.3"),
    ],
)  # fmt: skip
def test_rare_elements_have_xscores_radii(smiles: str, atom: int, name: str) -> None:
    types = ligand_types(Graph.of(Chem.AddHs(Chem.MolFromSmiles(smiles))))
    assert types.radius[atom] == pytest.approx(float(published("atom")[name]["radius"]))
    assert types.interaction[atom] == CLASS[published("atom")[name]["class"]]


def test_xscore_has_these_amino_acids() -> None:
    known = published("residue")
    for name, row in known.items():
        residue, atom = name.split("/")
        found = receptor_type("ALA" if residue == "TER" else residue, atom, atom[0])
        expected = (float(row["radius"]), CLASS[row["class"]], float(row["logp"]))
        assert found[:3] == expected, name
    # OXT is a residue of its own in X-Score; selenomethionine is typed as methionine.
    ours = {f"{residue}/{atom}" for residue, atoms in RECEPTOR_TYPE.items() for atom in atoms}
    more = {f"{residue}/OXT" for residue in RECEPTOR_TYPE} | {"MET/SE"}
    assert ours == set(known) - {"TER/OXT"} | more
    assert len({tuple(table["OXT"]) for table in RECEPTOR_TYPE.values()}) == 1
    assert RECEPTOR_TYPE["MET"]["SE"] == RECEPTOR_TYPE["MET"]["SD"]


@pytest.mark.parametrize("row", published("ion").values(), ids=lambda row: row["name"])
def test_xscore_has_these_ions(row: dict[str, str]) -> None:
    found = receptor_type(row["name"], row["name"], row["name"])
    expected = (float(row["radius"]), CLASS[row["class"]], float(row["logp"]))
    assert found[:3] == expected


def test_metals_are_those_of_gemmi() -> None:
    # gemmi counts all that is no metalloid or non-metal; X-Score's list ends at uranium.
    for number in range(1, 93):
        element = gemmi.Element(number)
        if element.name.upper() in elements.METALS:
            assert element.is_metal


@pytest.mark.parametrize("symbol", elements.COVALENT_RADIUS)
def test_covalent_radii_are_those_of_rdkit(symbol: str) -> None:
    # Both take them from Cordero et al.
    known = Chem.GetPeriodicTable().GetRcovalent(symbol.capitalize())
    assert elements.COVALENT_RADIUS[symbol] == pytest.approx(known)
