"""Cofactors by name: their atoms, charges and hydrogens, laid over coordinates made by RDKit."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.charges import charge
from ligen_py.molecules.receptor.cofactors import TABLE, known, molecule, placed, smiles_of
from ligen_py.molecules.receptor.heavy import Heavy
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.preparation import prepare
from ligen_py.molecules.receptor.site import site_of_ligand
from ligen_py.molecules.receptor.templates import as_given, cofactor, of_molecule
from ligen_py.molecules.typing.xscore_cofactors import with_hydrogens
from ligen_py.molecules.typing.xscore_residues import receptor_type, typed
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction
from ligen_py.settings.pocket import PocketSettings, Structure
from tests import one_residue

HEAVY_ATOMS = {
    "NAD": 44, "NAP": 48, "NDP": 48, "FAD": 53, "FMN": 31, "HEM": 42, "SAM": 27, "SAH": 26,
    "AMP": 23, "ADP": 27, "ATP": 31, "GTP": 32, "UDP": 25, "COA": 48, "ACO": 51, "PLP": 16,
    "TPP": 26, "BTN": 16, "NAG": 15, "CLR": 28, "PO4": 5, "GOL": 6,
}  # fmt: skip
"""Of the components of the Protein Data Bank (haem without its iron)."""


HAEM = """\
CHA-C1A CHA-C4D CHB-C4A CHB-C1B CHC-C4B CHC-C1C CHD-C4C CHD-C1D NA-C1A NA-C4A C1A-C2A C2A-C3A
C3A-C4A C3A-CMA C2A-CAA CAA-CBA CBA-CGA CGA-O1A CGA-O2A NB-C1B NB-C4B C1B-C2B C2B-C3B C3B-C4B
C2B-CMB C3B-CAB CAB-CBB NC-C1C NC-C4C C1C-C2C C2C-C3C C3C-C4C C2C-CMC C3C-CAC CAC-CBC ND-C1D
ND-C4D C1D-C2D C2D-C3D C3D-C4D C2D-CMD C3D-CAD CAD-CBD CBD-CGD CGD-O1D CGD-O2D
"""
"""The bonds of HEM in the Protein Data Bank's component, without its iron."""


def test_haem_has_its_side_chains_where_the_component_has_them() -> None:
    bonds = [bond.split("-") for bond in HAEM.split()]
    names = sorted({name for bond in bonds for name in bond})
    around = [
        [names.index(other) for bond in bonds if name in bond for other in bond if other != name]
        for name in names
    ]
    found = placed(known()["HEM"], [name[0] for name in names], around)
    assert found is not None
    mol = molecule(known()["HEM"])
    vinyl = [mol.GetAtomWithIdx(found[names.index(name)]) for name in ("CBB", "CBC", "CMA")]
    assert [atom.GetTotalNumHs(includeNeighbors=True) for atom in vinyl] == [2, 2, 3]


@pytest.mark.parametrize("name", ["HEM", "MNH", "MNR", "COH", "ZNH", "HNI"])
def test_a_protoporphyrin_has_the_charge_of_its_acids(name: str) -> None:
    heavy, _ = residue(name)
    metal = replace(
        heavy,
        xyz=np.append(heavy.xyz, [[90.0, 0, 0]], axis=0),
        symbol=[*heavy.symbol, "MN"],
        name=[*heavy.name, "MN"],
        residue=np.zeros(len(heavy.name) + 1, int),
        residue_name=[name] * (len(heavy.name) + 1),
        role=[*heavy.role, Interaction.METAL],
        bonded=[*heavy.bonded, []],
    )
    charges = charge(metal, np.empty((0, 3))).receptor.partial_charge
    assert charges.sum() == pytest.approx(-2, abs=0.01)


@pytest.mark.parametrize(
    ("name", "formal"),
    [
        ("NO2", -1), ("CYN", -1), ("SCN", -1), ("OCN", -1), ("AZI", -1), ("THJ", -2), ("LCP", -1),
        ("ART", -2), ("NO3", -1), ("CO3", -2), ("SO4", -2),
    ],
)  # fmt: skip
def test_small_anions_have_their_charge(name: str, formal: int) -> None:
    mol = Chem.RemoveHs(molecule(known()[name]))
    around = [[n.GetIdx() for n in one.GetNeighbors()] for one in mol.GetAtoms()]
    found = cofactor(name, [one.GetSymbol() for one in mol.GetAtoms()], around, {}, {})
    total = sum(one.charge + one.hydrogens * one.hydrogen_charge for one in found.values())
    assert total == pytest.approx(formal, abs=0.01)


def residue(name: str, left_out: frozenset[int] = frozenset()) -> tuple[Heavy, Chem.Mol]:
    """A residue as a structure file gives it: atoms in another order, bonds without orders."""
    mol = molecule(known()[name])
    bare = Chem.RemoveHs(mol)
    whole = Chem.Mol(mol)
    assert rdDistGeom.EmbedMolecule(whole, randomSeed=7, useRandomCoords=True) == 0
    order = [i for i in range(bare.GetNumAtoms())[::-1] if i not in left_out]
    row = {old: new for new, old in enumerate(order)}
    symbols = [bare.GetAtomWithIdx(i).GetSymbol() for i in order]
    near = [[n.GetIdx() for n in bare.GetAtomWithIdx(i).GetNeighbors()] for i in order]
    heavy = Heavy(
        xyz=whole.GetConformer().GetPositions()[order],
        symbol=[symbol.upper() for symbol in symbols],
        name=[f"{symbol}{i}" for i, symbol in enumerate(symbols)],
        residue=np.zeros(len(order), int),
        residue_name=[name] * len(order),
        role=[Interaction.ACCEPTOR if symbol == "O" else Interaction.POLAR for symbol in symbols],
        bonded=[[row[other] for other in some if other in row] for some in near],
    )
    return heavy, bare


def test_every_row_can_be_read_and_names_are_given_once() -> None:
    with TABLE.open(newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))[1:]
    names = [name for row in rows for name in row[0].split()]
    assert len(names) == len(set(names)) == len(known()) > 120
    assert all(len(row) == 4 and row[3] for row in rows)
    assert smiles_of(Structure(cofactors=dict(known())))
    for name, count in HEAVY_ATOMS.items():
        assert Chem.MolFromSmiles(known()[name]).GetNumAtoms() == count, name


@pytest.mark.parametrize(
    "name", ["NDP", "FAD", "HEM", "SAM", "ATP", "PLP", "COA", "NAG", "MTE", "MGD"]
)
def test_charges_add_up_and_polar_hydrogens_are_built(name: str) -> None:
    heavy, bare = residue(name)
    result = charge(heavy, np.empty((0, 3)))
    assert result.cofactors == {0}
    total = float(result.receptor.partial_charge.sum())
    assert total == pytest.approx(Chem.GetFormalCharge(bare), abs=0.05)
    polar = sum(
        atom.GetTotalNumHs() for atom in bare.GetAtoms() if atom.GetSymbol() in ("N", "O", "S")
    )
    assert (result.receptor.type == Ad4Type.HD).sum() == polar
    built = result.receptor.xyz[result.receptor.type == Ad4Type.HD]
    distance = np.linalg.norm(built[:, None] - heavy.xyz, axis=2).min(axis=1)
    assert np.all((distance > 0.9) & (distance < 1.4))


def test_a_thiol_that_binds_a_metal_is_a_thiolate() -> None:
    heavy, bare = residue("GSH")
    sulfur = heavy.symbol.index("S")
    beside = heavy.xyz[heavy.bonded[sulfur][0]]
    away = (heavy.xyz[sulfur] - beside) / np.linalg.norm(heavy.xyz[sulfur] - beside)
    zinc = replace(
        heavy,
        xyz=np.vstack([heavy.xyz, heavy.xyz[sulfur] + 2.3 * away]),
        symbol=[*heavy.symbol, "ZN"],
        name=[*heavy.name, "ZN"],
        residue=np.append(heavy.residue, 1),
        residue_name=[*heavy.residue_name, "ZN"],
        role=[*heavy.role, Interaction.METAL],
        bonded=[*heavy.bonded, []],
    )
    alone, bound = (charge(one, np.empty((0, 3))).receptor for one in (heavy, zinc))
    count = [int((one.type == Ad4Type.HD).sum()) for one in (alone, bound)]
    assert count[1] == count[0] - 1
    total = float(bound.partial_charge.sum())
    assert total == pytest.approx(Chem.GetFormalCharge(bare) - 1 + 2, abs=0.05)


def test_names_of_atoms_need_not_differ() -> None:
    heavy, _ = residue("NDP")
    same = replace(heavy, name=list(heavy.symbol))
    expected, found = (charge(one, np.empty((0, 3))) for one in (heavy, same))
    assert found.receptor.partial_charge.tolist() == expected.receptor.partial_charge.tolist()


def test_a_residue_may_lack_atoms_but_not_be_another_molecule() -> None:
    heavy, _ = residue("NDP", frozenset(range(5)))
    assert charge(heavy, np.empty((0, 3))).cofactors == {0}
    other = Heavy(**{n: getattr(heavy, n) for n in Heavy.__dataclass_fields__} | {
        "residue_name": ["PLP"] * len(heavy.name)
    })  # fmt: skip
    found = charge(other, np.empty((0, 3)))
    assert found.cofactors == set()
    assert (found.receptor.partial_charge == 0).all()
    assert placed("CCO", ["ZN"], [[]]) is None


def test_a_smiles_of_the_config_is_used_first() -> None:
    symbols, bonded = ["C", "C", "O"], [[1], [0, 2], [1]]
    assert cofactor("XYZ", symbols, bonded, {}, {}) == {}
    acid = cofactor("xyz", symbols, bonded, {}, {"XYZ": "CC=O"})
    alcohol = cofactor("XYZ", symbols, bonded, {}, {"XYZ": "CCO"})
    ester = cofactor("XYZ", symbols, bonded, {2: "C"}, {"XYZ": "CCO"})
    assert (acid[2].hydrogens, alcohol[2].hydrogens, ester[2].hydrogens) == (0, 1, 0)
    ether = cofactor("XYZ", [*symbols, "C"], [*bonded[:2], [1, 3], [2]], {}, {"XYZ": "CCOC"})
    assert ester[2].charge == pytest.approx(ether[2].charge)
    with pytest.raises(InputError, match=r"cofactors.XYZ: the SMILES cannot be read: 'C\(C'"):
        smiles_of(Structure(cofactors={"xyz": "C(C"}))
    assert Structure(cofactors={"xyz": "CCO"}).cofactors == {"XYZ": "CCO"}


@pytest.mark.parametrize(
    ("smiles", "hydrogens", "expected"),
    [
        ("CC(=O)[O-]", {2: 1, 3: 0}, "CC(=O)O"),
        ("CC(=O)[O-]", {2: 0, 3: 1}, "CC(=O)O"),
        ("COP(=O)([O-])[O-]", {1: 0, 3: 1, 4: 0, 5: 0}, "COP(=O)([O-])O"),
        ("COP(=O)([O-])[O-]", {1: 0, 3: 1, 4: 1, 5: 0}, "COP(=O)(O)O"),
        ("CC[NH3+]", {2: 2}, "CCN"),
        ("CCN", {2: 3}, "CC[NH3+]"),
        ("Cc1c[nH]cn1", {3: 0, 5: 1}, "Cc1cnc[nH]1"),
        ("Cc1c[nH]cn1", {3: 1, 5: 1}, "Cc1c[nH]c[nH+]1"),
        ("[O-]C(=O)Cc1c[nH]cn1", {0: 1, 2: 0, 6: 0, 8: 1}, "OC(=O)Cc1cnc[nH]1"),
        ("Cc1c[nH+]ccc1O", {3: 0, 7: 1}, "Cc1cnccc1O"),
        # What a file may leave out, and what is no molecule, changes nothing.
        ("CO", {1: 0}, "CO"),
        ("CC(N)=O", {2: 1, 3: 0}, "CC(N)=O"),
        ("CC[NH3+]", {2: 1}, "CC[NH3+]"),
        ("CN(C)C(C)=O", {1: 2, 5: 0}, "CC(=O)N(C)C"),
    ],
)
def test_hydrogens_of_a_file_make_the_state(
    smiles: str, hydrogens: dict[int, int], expected: str
) -> None:
    found = as_given(Chem.MolFromSmiles(smiles), hydrogens)
    assert Chem.MolToSmiles(found) == Chem.CanonSmiles(expected)


def test_a_group_with_too_few_hydrogens_is_named() -> None:
    atoms = {"C1": [-0.8, 1.2, 0.0], "C2": [0.0, 0.0, 0.0], "N": [1.47, 0.0, 0.0]}
    amine = one_residue.heavy(atoms, "XYZ", [("C1", "C2"), ("C2", "N")])
    found = charge(amine, np.array([[1.8, 0.95, 0.0]]), {"XYZ": "CC[NH3+]"})
    words = "N's polar hydrogens are 1 in the file, 3 in the state that AutoDock4 takes it for"
    assert found.states == [(0, f"{words}; correct the file")]


def test_a_cofactor_has_the_charge_of_its_hydrogens() -> None:
    heavy, _ = residue("PLP")
    standard = charge(heavy, np.empty((0, 3))).receptor
    hydrogens = standard.xyz[standard.type == Ad4Type.HD].astype(float)
    assert len(hydrogens) == 1  # on the ring's nitrogen
    oxygens = [
        i for i, near in enumerate(heavy.bonded) if len(near) == 1 and heavy.symbol[i] == "O"
    ]
    phosphate = next(i for i in oxygens if heavy.symbol[heavy.bonded[i][0]] == "P")
    middle = heavy.xyz[heavy.bonded[phosphate][0]]
    outward = heavy.xyz[phosphate] - middle
    more = heavy.xyz[phosphate] + 0.96 * outward / np.linalg.norm(outward)
    found = charge(heavy, np.array([*hydrogens, more])).receptor.partial_charge
    assert found.sum() == pytest.approx(standard.partial_charge.sum() + 1, abs=0.02)


@pytest.mark.parametrize("name", ["A", "G", "C", "U", "DA", "DG", "DC", "DT"])
def test_a_nucleotide_between_two_others_has_one_charge(name: str) -> None:
    mol = Chem.MolFromSmiles(known()[name])
    oxo, first, second = (
        next(atom for atom, *_ in mol.GetSubstructMatches(Chem.MolFromSmarts(smarts)))
        for smarts in ("O=P", "[O-]P", "[OH][C;R]1[C;R][C;R]O[C;R]1C")
    )
    for left_out in (oxo, first):  # whichever the residue's two oxygens are laid over
        rows = [i for i in range(mol.GetNumAtoms()) if i != left_out]
        around = [
            [
                rows.index(n.GetIdx())
                for n in mol.GetAtomWithIdx(i).GetNeighbors()
                if n.GetIdx() in rows
            ]
            for i in rows
        ]
        symbols = [mol.GetAtomWithIdx(i).GetSymbol().upper() for i in rows]
        ties = {rows.index(second): "P", symbols.index("P"): "O"}
        found = cofactor(name, symbols, around, ties, {})
        total = sum(one.charge + one.hydrogens * one.hydrogen_charge for one in found.values())
        assert total == pytest.approx(-1, abs=0.01)
        assert found[rows.index(second)].hydrogens == 0


@pytest.mark.parametrize("names", [("DA", "DT", "DG"), ("A", "T", "G")])
def test_the_charges_of_nucleotides_are_those_of_their_strand(names: tuple[str, ...]) -> None:
    """The phosphate of the next one was a methyl group, to the oxygen between them.

    Files from before 2007 call nucleotides of DNA as those of RNA.
    """
    strand = Chem.RWMol(Chem.MolFromSequence("ATG", flavor=6))
    for oxygen, _ in strand.GetSubstructMatches(Chem.MolFromSmarts("[OH]P")):
        strand.GetAtomWithIdx(oxygen).SetFormalCharge(-1)
        strand.GetAtomWithIdx(oxygen).SetNumExplicitHs(0)
    Chem.SanitizeMol(strand)
    expected = of_molecule(Chem.AddHs(strand))
    total = 0.0
    for number, name in enumerate(names, start=1):
        atoms = [
            atom
            for atom in strand.GetAtoms()
            if atom.GetPDBResidueInfo().GetResidueNumber() == number
        ]
        row = {atom.GetIdx(): place for place, atom in enumerate(atoms)}
        around = [[n.GetIdx() for n in atom.GetNeighbors()] for atom in atoms]
        inside = [[row[i] for i in near if i in row] for near in around]
        ties = {
            place: strand.GetAtomWithIdx(i).GetSymbol()
            for place, near in enumerate(around)
            for i in near
            if i not in row
        }
        found = cofactor(name, [atom.GetSymbol() for atom in atoms], inside, ties, {})
        assert len(found) == len(atoms)
        for i, place in row.items():
            assert found[place].charge == pytest.approx(expected[i].charge, abs=0.005)
        total += sum(one.charge + one.hydrogens * one.hydrogen_charge for one in found.values())
    assert total == pytest.approx(-2, abs=0.01)


def test_a_nucleotide_without_its_phosphate_begins_a_chain_with_a_hydroxyl() -> None:
    mol = Chem.MolFromSmiles(known()["G"])
    ((fifth, _, phosphorus),) = mol.GetSubstructMatches(Chem.MolFromSmarts("O(C)P"))
    gone = {phosphorus} | {n.GetIdx() for n in mol.GetAtomWithIdx(phosphorus).GetNeighbors()}
    rows = [i for i in range(mol.GetNumAtoms()) if i not in gone - {fifth}]
    around = [
        [rows.index(n.GetIdx()) for n in mol.GetAtomWithIdx(i).GetNeighbors() if n.GetIdx() in rows]
        for i in rows
    ]
    symbols = [mol.GetAtomWithIdx(i).GetSymbol().upper() for i in rows]
    first = cofactor("G", symbols, around, {}, {})
    assert first[rows.index(fifth)].hydrogens == 1
    total = sum(one.charge + one.hydrogens * one.hydrogen_charge for one in first.values())
    assert total == pytest.approx(0, abs=0.01)
    bound = cofactor("G", symbols, around, {rows.index(fifth): "P"}, {})
    assert bound[rows.index(fifth)].hydrogens == 0


def test_a_cofactor_may_be_a_file(tmp_path: Path) -> None:
    mol = Chem.MolFromSmiles("CC(=O)[O-]")
    sdf, mol2 = tmp_path / "acid.SDF", tmp_path / "acid.mol2"
    sdf.write_text(Chem.MolToMolBlock(mol) + "$$$$\n")
    rows = ("1 C1 0 0 0 C.3", "2 C2 1.5 0 0 C.2", "3 O1 2 1 0 O.co2", "4 O2 2 -1 0 O.co2")
    bonds = ("1 1 2 1", "2 2 3 ar", "3 2 4 ar")
    parts = ("MOLECULE", "x", " 4 3", "SMALL", "NO_CHARGES", "", "@<TRIPOS>ATOM", *rows)
    mol2.write_text("@<TRIPOS>" + "\n".join((*parts, "@<TRIPOS>BOND", *bonds)) + "\n")
    given = Structure(cofactors={"a": str(sdf), "b": str(mol2), "c": "CO"})
    assert given.cofactor_files == {"A": str(sdf), "B": str(mol2)}
    assert smiles_of(given) == {"A": "CC(=O)[O-]", "B": "CC(=O)[O-]", "C": "CO"}
    sdf.write_text("nothing\n")
    with pytest.raises(InputError, match=r"cofactors.A: no molecule can be read from '.*acid.SDF'"):
        smiles_of(given)
    with pytest.raises(InputError, match=r"none\.sdf"):
        smiles_of(Structure(cofactors={"a": str(tmp_path / "none.sdf")}))


def test_hydrogens_decide_what_nitrogens_and_oxygens_do() -> None:
    both = typed(1.75, Interaction.DONOR_ACCEPTOR, 0.0, 1)
    assert with_hydrogens(both, "N", 2, 0, True).interaction == Interaction.ACCEPTOR
    assert with_hydrogens(both, "N", 2, 1, False).interaction == Interaction.DONOR
    assert with_hydrogens(both, "N", 3, 0, False).interaction == Interaction.POLAR
    assert with_hydrogens(both, "O", 1, 1, False).interaction == Interaction.DONOR_ACCEPTOR
    carbonyl = with_hydrogens(both, "O", 1, 0, True)
    assert (carbonyl.interaction, carbonyl.radius) == (Interaction.ACCEPTOR, 1.55)
    assert with_hydrogens(both, "C", 3, 0, False) == both


@pytest.mark.parametrize(
    ("residue", "atom", "bonds", "hydrogens"),
    [("TRP", "NE1", 2, 1), ("ARG", "NE", 2, 1), ("ARG", "NH1", 1, 2), ("LYS", "NZ", 1, 3)],
)
def test_hydrogens_of_a_nitrogen_point_as_those_of_amino_acids(
    residue: str, atom: str, bonds: int, hydrogens: int
) -> None:
    """Along the root bond or aside of it, as in X-Score's table of residues."""
    known = receptor_type(residue, atom, "N")
    found = with_hydrogens(known, "N", bonds, hydrogens, False)
    assert known.donor
    assert (found.interaction, found.donor) == (known.interaction, known.donor)


def test_a_cofactor_of_a_structure_has_charges_and_the_audit_says_so(shared_data: Path) -> None:
    folder = shared_data / "redock" / "1IA1"
    site = site_of_ligand(folder / "ligand.sdf", 10.0)
    structure = Structure()
    selection = open_structure(folder / "protein.pdb", structure)
    found = prepare(selection, site, structure, PocketSettings())
    notes = [
        reason
        for part, reason in zip(found.audit.part, found.audit.reason, strict=True)
        if "NDP" in part
    ]
    assert any("charges and hydrogens of its SMILES" in note for note in notes)
    mine = np.array(["/NDP/" in label for label in found.receptor.label])
    assert mine.sum() == 48
    charges = found.typed["ad4"].partial_charge[: len(mine)][mine]
    assert np.count_nonzero(charges) == 48
    assert charges.min() < -0.5
