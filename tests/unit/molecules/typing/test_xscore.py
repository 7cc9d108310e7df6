"""X-Score atom types: ligands, rotors, receptor residues, cofactors."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing import xscore_ligands
from ligen_py.molecules.typing.xscore_cofactors import cofactor_types
from ligen_py.molecules.typing.xscore_ligands import LIGAND_TYPE, ligand_types
from ligen_py.molecules.typing.xscore_residues import (
    ANGLED,
    RECEPTOR_TYPE,
    STRAIGHT,
    is_standard,
    receptor_type,
)
from ligen_py.records.functions.xscore import Interaction

D, A, DA = Interaction.DONOR, Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR
H, P, M, NONE = (
    Interaction.HYDROPHOBIC,
    Interaction.POLAR,
    Interaction.METAL,
    Interaction.NONE,
)


def molecule(smiles: str) -> Graph:
    return Graph.of(Chem.AddHs(Chem.MolFromSmiles(smiles)))


def heavy_types(smiles: str) -> str:
    """Types of the heavy atoms in SMILES order."""
    return " ".join(name for name in atom_types(molecule(smiles)) if name != "H")


def atom_types(graph: Graph) -> list[str]:
    """Types of all atoms, by name."""
    codes = xscore_ligands._xscore_types(graph, xscore_ligands._sybyl(graph))
    return [xscore_ligands.NAMES[code] for code in codes]


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("CCO", "C.3 C.3.x O.3.h"),
        ("COC", "C.3.x O.3 C.3.x"),
        ("CC=C", "C.3 C.2 C.2"),
        ("CC#N", "C.3 C.1 N.1"),
        ("C=C=C", "C.2 C.1 C.2"),
        ("CC(C)=O", "C.3 C.2.x C.3 O.2"),
        ("CC(=O)O", "C.3 C.2.x O.2 O.3.h"),
        ("CC(=O)[O-]", "C.3 C.2.x O.co2 O.co2"),
        ("COP(=O)([O-])[O-]", "C.3.x O.3 P.3 O.co2 O.co2 O.co2"),
        ("CC(=O)NC", "C.3 C.2.x O.2 N.pl3.h C.3.x"),
        ("CN(C)C=O", "C.3.x N.pl3 C.3.x C.2.x O.2"),
        ("CN", "C.3.x N.4"),
        ("C[NH3+]", "C.3.x N.4"),
        ("CN(C)C", "C.3.x N.3 C.3.x C.3.x"),
        ("C[N+](C)(C)C", "C.3.x N.3.un C.3.x C.3.x C.3.x"),
        ("CC=N", "C.3 C.2.x N.2.h"),
        ("CC=NC", "C.3 C.2.x N.2 C.3.x"),
        ("NC(=N)N", "N.pl3.h C.cat N.pl3.h N.pl3.h"),
        ("NC(=[NH2+])N", "N.pl3.h C.cat N.pl3.h N.pl3.h"),
        ("CC(N)=[NH2+]", "C.3 C.2.x N.pl3.h N.pl3.h"),
        ("C[N+](=O)[O-]", "C.3.x N.pl3 O.2 O.2"),
        ("CS(=O)(=O)N", "C.3.x S.o O.2 O.2 N.pl3.h"),
        ("CS(C)=O", "C.3.x S.o C.3.x O.2"),
        ("CSC", "C.3.x S.3 C.3.x"),
        ("CS", "C.3.x S.3.h"),
        ("CC(C)=S", "C.3 C.2.x C.3 S.2"),
        ("C[Si](C)(C)C", "C.3 Si C.3 C.3 C.3"),
        ("CF", "C.3.x F"),
        ("CCl", "C.3.x Cl"),
        ("CBr", "C.3.x Br"),
        ("CI", "C.3.x I"),
        ("c1ccccc1", "C.ar C.ar C.ar C.ar C.ar C.ar"),
        ("Nc1ccccc1", "N.pl3.h C.ar.x C.ar C.ar C.ar C.ar C.ar"),
        ("c1ccncc1", "C.ar C.ar C.ar.x N.ar C.ar.x C.ar"),
        ("c1cc[nH+]cc1", "C.ar C.ar C.ar.x N.ar.h C.ar.x C.ar"),
        ("c1cc[nH]c1", "C.ar C.ar C.ar.x N.ar.h C.ar.x"),
        ("c1c[nH]cn1", "C.ar.x C.ar.x N.ar.h C.ar.x N.ar"),
        ("c1ccoc1", "C.ar C.ar C.ar.x O.3 C.ar.x"),
        ("c1ccsc1", "C.ar C.ar C.ar.x S.3 C.ar.x"),
    ],
)
def test_ligand_types(smiles: str, expected: str) -> None:
    assert heavy_types(smiles) == expected


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        # RDKit calls 2-pyridone aromatic; its N.pl3 gives two electrons to a six-ring: X-Score not
        ("O=c1cccc[nH]1", "O.2 C.2.x C.2 C.2 C.2 C.2.x N.pl3.h"),
        # maleimide: six electrons, but two single bonds meet at a carbonyl carbon
        ("O=C1C=CC(=O)N1", "O.2 C.2.x C.2 C.2 C.2.x O.2 N.pl3.h"),
        ("C1=CCC=C1", "C.2 C.2 C.3 C.2 C.2"),
        ("O=C1C=CC(=O)C=C1", "O.2 C.2.x C.2 C.2 C.2.x O.2 C.2 C.2"),
    ],
)
def test_rings_that_are_not_aromatic_to_xscore(smiles: str, expected: str) -> None:
    assert heavy_types(smiles) == expected


def test_fused_aromatics_do_not_depend_on_the_kekule_form() -> None:
    assert set(heavy_types("c1ccc2ccccc2c1").split()) == {"C.ar"}
    assert set(heavy_types("C1=CC=C2C=CC=CC2=C1").split()) == {"C.ar"}
    purine = "C.ar.x N.ar C.ar.x C.ar.x N.ar.h C.ar.x N.ar C.ar.x N.ar"
    assert heavy_types("c1ncc2[nH]cnc2n1") == purine


def test_every_type_is_in_the_table() -> None:
    for smiles in ("C[N+](C)(C)C", "CN=[N+]=[N-]", "C[S+](C)C", "C[O+](C)C", "[O-][n+]1ccccc1"):
        assert set(atom_types(molecule(smiles))) <= set(LIGAND_TYPE)


def test_ligand_columns_of_ethanolamine() -> None:
    types = ligand_types(molecule("NCCO"))
    assert types.radius[:4] == pytest.approx([1.80, 2.10, 2.10, 1.65])
    assert types.interaction[:4].tolist() == [D, P, P, DA]
    assert types.donor[:4].tolist() == [ANGLED, 0, 0, ANGLED]
    assert types.acceptor[:4].tolist() == [0, 0, 0, ANGLED]
    assert types.hydrogens[:4].tolist() == [2, 2, 2, 1]
    assert types.logp.tolist() == [0] * 11
    assert types.radius[4:].tolist() == [0] * 7
    assert types.interaction[4:].tolist() == [NONE] * 7
    assert types.radius.dtype == np.float32
    assert types.donor.dtype == types.hydrogens.dtype == np.uint8
    assert types.logp.dtype == np.float32


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        # sp3: by heavy neighbours and pi neighbours
        ("C", [0.528]),
        ("CCCC", [0.528, 0.358, 0.358, 0.528]),
        ("CC(C)C", [0.528, 0.127, 0.528, 0.528]),
        ("CC(C)(C)C", [0.528, -0.006, 0.528, 0.528, 0.528]),
        ("Cc1ccccc1", [0.267, 0.296] + [0.337] * 5),
        ("CCc1ccccc1", [0.528, -0.008, 0.296] + [0.337] * 5),
        ("CC(C)C=C", [0.528, -0.243, 0.528, 0.466, 0.420]),
        ("CC(C)(C)C=C", [0.528, -0.570, 0.528, 0.528, 0.466, 0.420]),
        ("C=CCC=C", [0.420, 0.466, -0.185, 0.466, 0.420]),
        ("C=CC(C)C=C", [0.420, 0.466, -0.499, 0.528, 0.466, 0.420]),
        ("C=CC(C)(C)C=C", [0.420, 0.466, -0.317, 0.528, 0.528, 0.466, 0.420]),
        ("CC#C", [0.267, 0, 0]),
        ("CC(C)=O", [0.267, 0, 0.267, 0]),
        # sp2: the other end of its double bond is no pi neighbour
        ("CC=C", [0.267, 0.466, 0.420]),
        ("CC(C)=C", [0.267, 0.050, 0.267, 0.420]),
        ("C=CC=C", [0.420, 0.136, 0.136, 0.420]),
        ("C=C(C)C=C", [0.420, 0.013, 0.267, 0.136, 0.420]),
        ("C=C=C", [0.420, 0, 0.420]),
        ("C=Cc1ccccc1", [0.420, 0.136, 0.296] + [0.337] * 5),
        # aromatic: six-rings; five-rings count as sp2
        ("c1ccncc1", [0.337, 0.337, 0, 0, 0, 0.337]),
        ("c1ccc2ccccc2c1", [0.337] * 3 + [0.296] + [0.337] * 4 + [0.296, 0.337]),
        ("c1ccsc1", [0.136, 0.136, 0, 0.255, 0]),
        ("Cc1ccsc1", [0.267, 0.013, 0.136, 0, 0.255, 0]),
        ("O=c1cccc[nH]1", [0, 0, 0.136, 0.136, 0.136, 0, 0]),
        ("c1ccc2cccc2cc1", [0.136] * 3 + [0.013] + [0.136] * 3 + [0.013, 0.136, 0.136]),
        # sulfur and halogens
        ("CCSCC", [0.528, 0, 0.255, 0, 0.528]),
        ("CCS", [0.528, 0, 0.419]),
        ("CCCl", [0.528, 0, 0.512]),
        ("CCBr", [0.528, 0, 0.850]),
        ("CCI", [0.528, 0, 1.050]),
        ("Clc1ccccc1", [0.663, 0] + [0.337] * 5),
        ("Brc1ccccc1", [0.839, 0] + [0.337] * 5),
        ("Ic1ccccc1", [1.109, 0] + [0.337] * 5),
        # whatever is not hydrophobic
        ("CCF", [0.528, 0, 0]),
        ("CS(C)(=O)=O", [0, 0, 0, 0, 0]),
        ("C[Si](C)(C)C", [0.528, 0, 0.528, 0.528, 0.528]),
    ],
)
def test_ligand_logp(smiles: str, expected: list[float]) -> None:
    graph = molecule(smiles)
    logp = ligand_types(graph).logp
    assert logp[graph.element > 1] == pytest.approx(expected)
    assert not logp[graph.element == 1].any()


@pytest.mark.parametrize(
    ("residue", "smiles", "names"),
    [
        ("ALA", "C", "CB"),
        ("ARG", "CCCNC(N)=[NH2+]", "CB CG CD NE CZ NH1 NH2"),
        ("ASN", "CC(N)=O", "CB CG ND2 OD1"),
        ("ASP", "CC(=O)[O-]", "CB CG OD1 OD2"),
        ("GLN", "CCC(N)=O", "CB CG CD NE2 OE1"),
        ("GLU", "CCC(=O)[O-]", "CB CG CD OE1 OE2"),
        ("HIS", "Cc1c[nH]cn1", "CB CG CD2 NE2 CE1 ND1"),
        ("ILE", "C(C)CC", "CB CG2 CG1 CD1"),
        ("LEU", "CC(C)C", "CB CG CD1 CD2"),
        ("LYS", "CCCC[NH3+]", "CB CG CD CE NZ"),
        ("PHE", "Cc1ccccc1", "CB CG CD1 CE1 CZ CE2 CD2"),
        ("SER", "CO", "CB OG"),
        ("THR", "C(O)C", "CB OG1 CG2"),
        ("TRP", "Cc1c[nH]c2ccccc12", "CB CG CD1 NE1 CE2 CZ2 CH2 CZ3 CE3 CD2"),
        ("TYR", "Cc1ccc(O)cc1", "CB CG CD1 CE1 CZ OH CE2 CD2"),
        ("VAL", "C(C)C", "CB CG1 CG2"),
    ],
)
def test_ligand_logp_agrees_with_the_table_of_residues(
    residue: str, smiles: str, names: str
) -> None:
    # All but CYS and MET, whose carbons beside sulfur are polar in a ligand.
    logp = ligand_types(molecule(f"NC({smiles})C=O")).logp
    rows = [RECEPTOR_TYPE[residue][name] for name in names.split()]
    expected = [value if role == H else 0 for _, role, value in rows]
    assert logp[2 : 2 + len(rows)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("smiles", "atom", "donor", "acceptor"),
    [
        ("CC(=O)NC", 3, STRAIGHT, 0),  # amide N-H: two heavy neighbours
        ("CC(=O)N", 3, ANGLED, 0),  # amide NH2
        ("CNC", 1, ANGLED, 0),  # amine with two heavy neighbours
        ("c1ccncc1", 3, 0, STRAIGHT),  # pyridine
        ("c1cc[nH]c1", 3, STRAIGHT, 0),  # pyrrole
        ("CC=N", 2, ANGLED, ANGLED),  # imine N-H
        ("CC=NC", 2, 0, STRAIGHT),
        ("CC#N", 2, 0, ANGLED),
        ("CC(C)=O", 3, 0, ANGLED),
        ("COC", 1, 0, ANGLED),
        ("CN(C)C", 1, 0, 0),
        ("CS", 1, 0, 0),
    ],
)
def test_ligand_geometry(smiles: str, atom: int, donor: int, acceptor: int) -> None:
    types = ligand_types(molecule(smiles))
    assert (types.donor[atom], types.acceptor[atom]) == (donor, acceptor)


@pytest.mark.parametrize(
    ("smiles", "rotors"),
    [
        # an atom with one rotor gives 0.5, with two 1.0, with three or more 0.5
        ("C", 0), ("CC", 0), ("CCC", 0),
        ("CCCC", 1),  # one bond, two atoms: 0.5 + 0.5
        ("CCCCC", 2),  # two bonds: 0.5 + 1.0 + 0.5
        ("CCC(CC)CC", 2),  # three bonds at one carbon: 3 * 0.5 + 0.5
        ("c1ccccc1-c1ccccc1", 0),  # sp2 - sp2
        ("c1ccccc1Cc1ccccc1", 2),
        ("CCC(F)(F)F", 0),  # CF3 is a symmetric top
        ("CCC(F)(F)Cl", 1),  # not symmetric
        ("CCC(C)(C)C", 0),
        ("CCC(C)(C)CC", 2),  # not symmetric: 0.5 + 1.0 + 0.5
        ("CC[N+](C)(C)C", 0),
        ("CCOP(=O)([O-])[O-]", 1),  # PO3 is a symmetric top; C-O turns
        ("CC(=O)NC", 0),  # amide
        ("CC(=O)OCC", 2),  # ester: C.2 - O.3 and O.3 - C.3
        ("C1CCCCC1", 0), ("C1CCCCC1C1CCCCC1", 1),
        ("CC#CC", 0),
        ("OCCO", 1), ("NCCN", 1),
    ],
)  # fmt: skip
def test_rotors(smiles: str, rotors: float) -> None:
    assert ligand_types(molecule(smiles)).rotors.sum() == rotors


def test_unsupported_element_is_named() -> None:
    with pytest.raises(ValueError, match="element B"):
        ligand_types(molecule("CB(O)O"))


def test_types_do_not_depend_on_atom_order() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("CC(=O)Nc1ccc2[nH]cnc2c1"))
    order = np.random.default_rng(0).permutation(mol.GetNumAtoms())
    shuffled = Chem.RenumberAtoms(mol, order.tolist())
    first, second = ligand_types(Graph.of(mol)), ligand_types(Graph.of(shuffled))
    assert second.radius.tolist() == first.radius[order].tolist()
    assert second.donor.tolist() == first.donor[order].tolist()
    assert second.logp.tolist() == first.logp[order].tolist()
    assert second.rotors.tolist() == first.rotors[order].tolist()


@pytest.mark.parametrize(
    ("residue", "atom", "element", "expected"),
    [
        ("ALA", "N", "N", (1.75, D, -0.096, STRAIGHT, 0)),
        ("ALA", "CA", "C", (2.20, P, -0.305, 0, 0)),
        ("GLY", "CA", "C", (2.20, P, -0.303, 0, 0)),
        ("ALA", "O", "O", (1.55, A, -0.399, 0, ANGLED)),
        ("ALA", "OXT", "O", (1.55, A, -0.399, 0, ANGLED)),
        ("PRO", "N", "N", (1.75, P, 0.078, 0, 0)),
        ("ARG", "NH1", "N", (1.75, D, -0.646, ANGLED, 0)),
        ("ARG", "NE", "N", (1.75, D, -0.096, STRAIGHT, 0)),
        ("ASN", "ND2", "N", (1.75, D, -0.646, ANGLED, 0)),
        ("GLN", "NE2", "N", (1.75, D, -0.646, ANGLED, 0)),
        ("ASP", "OD2", "O", (1.55, A, -0.880, 0, ANGLED)),
        ("HIS", "ND1", "N", (1.75, DA, 0.135, STRAIGHT, STRAIGHT)),
        ("HIE", "NE2", "N", (1.75, DA, 0.135, STRAIGHT, STRAIGHT)),
        ("LYS", "NZ", "N", (1.80, D, -1.200, ANGLED, 0)),
        ("SER", "OG", "O", (1.65, DA, -0.467, ANGLED, ANGLED)),
        ("TRP", "NE1", "N", (1.75, D, 0.545, STRAIGHT, 0)),
        ("MSE", "SE", "SE", (2.10, H, 0.255, 0, 0)),
        ("PHE", "CZ", "C", (2.00, H, 0.337, 0, 0)),
        ("ZN", "ZN", "Zn", (1.25, M, -2.0, STRAIGHT, 0)),
        ("CA", "CA", "CA", (1.25, M, -2.0, STRAIGHT, 0)),
        ("CL", "CL", "Cl", (1.75, P, -1.0, 0, 0)),
        ("HOH", "O", "O", (0.0, NONE, 0.0, 0, 0)),
        ("ALA", "HA", "H", (0.0, NONE, 0.0, 0, 0)),
    ],
)
def test_receptor_types(residue: str, atom: str, element: str, expected: tuple) -> None:
    assert tuple(receptor_type(residue, atom, element)) == expected


def test_receptor_atoms_without_a_table_fall_back_on_the_element() -> None:
    assert receptor_type("TPO", "O1P", "O")[:2] == (1.55, A)
    assert receptor_type("TPO", "P", "P")[:2] == (2.00, P)
    assert receptor_type("CME", "CZ", "C")[:2] == (2.20, P)
    assert receptor_type("UNK", "N", "N")[:2] == (1.75, D)
    assert receptor_type("UNK", "S", "S")[:2] == (2.00, P)
    assert receptor_type("UNK", "SE", "Se")[:2] == (2.00, P)
    assert receptor_type("UNK", "SI", "Si")[:2] == (2.00, P)
    for symbol, radius in (("F", 1.50), ("Cl", 1.75), ("Br", 1.90), ("I", 2.05)):
        assert receptor_type("UNK", symbol, symbol)[:3] == (radius, P, -1.0)


def test_a_cation_of_carbon_is_planar_and_an_anion_is_not() -> None:
    assert heavy_types("C[C+](C)C") == "C.3 C.2 C.3 C.3"
    assert heavy_types("C[C-](C)C") == "C.3 C.3 C.3 C.3"
    assert heavy_types("CC(C)C") == "C.3 C.3 C.3 C.3"


def test_all_twenty_residues_have_their_heavy_atoms() -> None:
    sizes = {
        "ALA": 5, "ARG": 11, "ASN": 8, "ASP": 8, "CYS": 6, "GLN": 9, "GLU": 9, "GLY": 4, "HIS": 10,
        "ILE": 8, "LEU": 8, "LYS": 9, "MET": 9, "PHE": 11, "PRO": 7, "SER": 6, "THR": 7, "TRP": 14,
        "TYR": 12, "VAL": 7,
    }  # fmt: skip
    # One more for OXT, and for selenium in methionine.
    assert {name: len(table) - 1 for name, table in RECEPTOR_TYPE.items()} == sizes
    assert all(is_standard(name) for name in sizes)
    assert is_standard("HOH")
    assert not is_standard("NAP")


def geometry(smiles: str) -> tuple[list[str], np.ndarray]:
    """Heavy atoms of a molecule's optimised conformer, bonds forgotten."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(mol, randomSeed=7)
    AllChem.MMFFOptimizeMolecule(mol)
    heavy = [atom.GetIdx() for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1]
    symbols = [mol.GetAtomWithIdx(atom).GetSymbol() for atom in heavy]
    return symbols, mol.GetConformer().GetPositions()[heavy]


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("CC(=O)[O-]", [(2.10, H), (1.90, P), (1.55, A), (1.55, A)]),
        ("CCO", [(2.10, H), (2.10, P), (1.65, DA)]),
        ("CCOCC", [(2.10, H), (2.10, P), (1.65, A), (2.10, P), (2.10, H)]),
        ("CC[NH3+]", [(2.10, H), (2.10, P), (1.80, D)]),
        ("CC(=O)N", [(2.10, H), (1.90, P), (1.55, A), (1.75, D)]),
        ("c1ccccc1", [(2.00, H)] * 6),
        ("c1ccncc1", [(2.00, H)] * 2 + [(2.00, P), (1.75, DA), (2.00, P), (2.00, H)]),
        ("CSC", [(2.10, P), (2.10, H), (2.10, P)]),
        ("COP(=O)([O-])[O-]", [(2.10, P), (1.65, A), (2.00, P)] + [(1.55, A)] * 3),
        ("CC(=O)O", [(2.10, H), (1.90, P), (1.55, A), (1.55, A)]),
        ("CNC", [(2.10, P), (1.80, D), (2.10, P)]),
        ("CN(C)C", [(2.10, P), (1.80, P), (2.10, P), (2.10, P)]),
        ("C[N+](C)(C)C", [(2.10, P), (1.80, P)] + [(2.10, P)] * 3),
        ("CS(C)=O", [(2.10, P), (2.00, P), (2.10, P), (1.55, A)]),
        ("CS(C)(=O)=O", [(2.10, P), (2.00, P), (2.10, P), (1.55, A), (1.55, A)]),
        ("CF", [(2.10, P), (1.50, P)]),
        ("CCl", [(2.10, P), (1.75, H)]),
        ("CBr", [(2.10, P), (1.90, H)]),
        ("CI", [(2.10, P), (2.05, H)]),
    ],
)
def test_cofactor_types(smiles: str, expected: list) -> None:
    assert [found[:2] for found in cofactor_types(*geometry(smiles))] == expected


def test_cofactor_adenine() -> None:
    found = cofactor_types(*geometry("Cn1cnc2c(N)ncnc21"))
    symbols = geometry("Cn1cnc2c(N)ncnc21")[0]
    nitrogens = [t for symbol, t in zip(symbols, found, strict=True) if symbol == "N"]
    # N9 carries three heavy neighbours; N7, N1, N3 stay open; N6 is an amino group.
    assert [t.interaction for t in nitrogens] == [P, DA, D, DA, DA]
    assert [t.donor for t in nitrogens] == [0, STRAIGHT, ANGLED, STRAIGHT, STRAIGHT]
    assert all(t.radius == 2.00 for s, t in zip(symbols[1:], found[1:], strict=True) if s == "C")


def test_cofactor_metals_and_lone_atoms() -> None:
    found = cofactor_types(["FE", "CL"], np.array([[0, 0, 0], [9, 0, 0]], float))
    assert [tuple(t)[:2] for t in found] == [(1.25, M), (1.75, P)]
    assert cofactor_types([], np.zeros((0, 3))) == []
