"""MOL2 records as programs other than Corina write them: aromatic pyrroles, hydrogens left out."""

import re

import pytest
from rdkit import Chem
from rdkit.Chem.rdDistGeom import EmbedMolecule

from ligen_py.molecules.mol2 import lost_bond, read_mol2

TYPES = {
    **{("C", "SP3"): "C.3", ("C", "SP2"): "C.2", ("C", "SP"): "C.1", ("C", "ar"): "C.ar"},
    **{("N", "SP3"): "N.3", ("N", "SP2"): "N.2", ("N", "SP"): "N.1", ("N", "ar"): "N.ar"},
    **{("O", "SP3"): "O.3", ("O", "SP2"): "O.2"},
}

TAKEN = {"none": "[#1]", "polar": "[#1;$([#1][#6])]", "imine": "[#1;!$([#1]N=C)]"}


def written(smiles: str, hydrogens: str) -> str:
    """A MOL2 record with the hydrogens of `TAKEN` taken off, or "all"; aromatic bonds are "ar"."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert EmbedMolecule(mol, randomSeed=1) == 0
    if hydrogens != "all":
        mol = Chem.DeleteSubstructs(mol, Chem.MolFromSmarts(TAKEN[hydrogens]))
    atoms, xyz = list(mol.GetAtoms()), mol.GetConformer().GetPositions()
    lines = ["@<TRIPOS>MOLECULE", "x", f"{len(atoms)} {mol.GetNumBonds()}", "SMALL", "NO_CHARGES"]
    lines += ["", "@<TRIPOS>ATOM"]
    for atom, (x, y, z) in zip(atoms, xyz, strict=True):
        kind = "ar" if atom.GetIsAromatic() else str(atom.GetHybridization())
        name = TYPES.get((atom.GetSymbol(), kind), atom.GetSymbol())
        lines.append(f"{atom.GetIdx() + 1} A {x:.4f} {y:.4f} {z:.4f} {name} 1 LIG 0")
    lines.append("@<TRIPOS>BOND")
    for number, bond in enumerate(mol.GetBonds(), 1):
        order = "ar" if bond.GetIsAromatic() else str(int(bond.GetBondTypeAsDouble()))
        ends = f"{bond.GetBeginAtomIdx() + 1} {bond.GetEndAtomIdx() + 1}"
        lines.append(f"{number} {ends} {order}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "smiles",
    [
        "c1cc[nH]c1", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "c1c[nH+]c[nH]1", "C[n+]1ccccc1",
        "Cn1cccc1-c1cc[n+](C)cc1", "C[C@H](N)C(=O)O", "C[N+]#[C-]",
        # These have Kekule forms of other molecules, too, or none with RDKit's charges.
        "O=c1[nH]cnc2[nH]cnc12", "Nc1nc2c(ncn2C)c(=O)[nH]1", "Cn1cc[nH]c(=O)c1=O", "O=c1cccc[nH]1",
        "Cn1cc[nH+]c1", "Cc1c[nH+]cn1C", "O=c1ccc2ccccc2o1", "O=c1ccoc2ccccc12", "O=c1ccscc1",
        "Cc1cc2ccccc2[o+]c1", "[O-][n+]1ccccc1", "Cn1cc[n+]([O-])c1", "c1ccc2sccc2c1",
    ],
)  # fmt: skip
def test_aromatic_bonds_and_all_hydrogens(smiles: str) -> None:
    mol = read_mol2(written(smiles, "all"))
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize(
    "smiles",
    [
        "Cc1nnn[n-]1", "c1ccc2[n-]nnc2c1", "Cc1nc[n-]n1", "c1nn[n-]c1Cc1n[n-]nc1",
        "C[NH2+]Cc1nn[n-]n1", "c1cc[n-]c1", "Cn1c(=O)c2[n-]cnc2n(C)c1=O",
    ],
)  # fmt: skip
def test_azoles_without_a_hydrogen_are_anions(smiles: str) -> None:
    """As tetrazoles at pH 7; which nitrogen has the charge in the drawing is open."""
    mol = read_mol2(written(smiles, "all"))
    assert mol is not None
    assert Chem.MolToInchi(mol) == Chem.MolToInchi(Chem.MolFromSmiles(smiles))


@pytest.mark.parametrize(
    "smiles",
    [
        "C[C@H](N)C(=O)O",
        "C/C=C/c1ccncc1",
        "NC[C@@H](F)O",
        "CN=[N+]=[N-]",
        "Cc1cc[nH]c1",
        "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
        "NC(N)=O",
        "Cc1nnc(C)n1N",
        "O=c1cc[nH]cc1",
    ],
)
@pytest.mark.parametrize("hydrogens", ["polar", "none"])
def test_missing_hydrogens_are_implicit(smiles: str, hydrogens: str) -> None:
    """RDKit takes a carbon without them for a radical, and an amine without them for an anion."""
    mol = read_mol2(written(smiles, hydrogens))
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize(
    "smiles",
    [
        "N=C(N)c1ccccc1", "N=C(N)NCCN", "CC(=N)CC(N)=O", "CC(=N)CCS(N)(=O)=O", "CC(=N)NN",
        "N=C(N)c1cc[nH]c1", "CC(=N)CCN=[N+]=[N-]", "N=C(N)CNCCO",
    ],
)  # fmt: skip
def test_nitrogens_lack_hydrogens_whether_or_not_others_have_some(smiles: str) -> None:
    """RDKit's RemoveHs leaves the hydrogen of C=N-H, whose side it names, and no other."""
    mol = read_mol2(written(smiles, "imine"))
    assert mol is not None
    assert Chem.CanonSmiles(Chem.MolToSmiles(Chem.RemoveAllHs(mol)), 0) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize("smiles", ["CS(=O)(=O)[N-]c1ccccc1", "CC(=O)[N-]C(C)=O", "Cc1nn[n-]n1"])
def test_nitrogens_that_are_anions_stay_so_without_hydrogens_of_carbons(smiles: str) -> None:
    mol = read_mol2(written(smiles, "all"))
    assert mol is not None
    assert Chem.GetFormalCharge(mol) == -1
    mol = read_mol2(written(f"{smiles}.NCCO", "polar"))
    assert mol is not None
    assert Chem.GetFormalCharge(mol) == -1


@pytest.mark.parametrize("hydrogens", ["all", "polar"])
@pytest.mark.parametrize("smiles", ["CC(C)NC(=N)Nc1ccccc1", "c1ccccc1N=C1NCCN1"])
def test_guanidines_may_be_neutral(smiles: str, hydrogens: str) -> None:
    """RDKit takes a carbon of type C.cat for a cation's; in Open Babel any guanidine has it."""
    (carbon,) = Chem.MolFromSmiles(smiles).GetSubstructMatch(Chem.MolFromSmarts("[$(C(N)(N)=N)]"))
    lines = written(smiles, hydrogens).splitlines()
    row = lines.index("@<TRIPOS>ATOM") + 1 + carbon
    lines[row] = lines[row].replace(" C.2 ", " C.cat ")
    mol = read_mol2("\n".join(lines) + "\n")
    assert mol is not None
    assert Chem.CanonSmiles(Chem.MolToSmiles(Chem.RemoveAllHs(mol)), 0) == Chem.CanonSmiles(smiles)


def test_an_ammonium_ion_keeps_its_charge_without_its_hydrogen() -> None:
    """SYBYL's N.4, of which RDKit makes a cation."""
    lines = written("C[NH+](C)CCc1ccccc1", "none").splitlines()
    row = lines.index("@<TRIPOS>ATOM") + 2
    lines[row] = re.sub(r" N\S* 1 LIG", " N.4 1 LIG", lines[row])
    mol = read_mol2("\n".join(lines) + "\n")
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == "C[NH+](C)CCc1ccccc1"


def test_other_names_of_types_are_known() -> None:
    """An imidazolium with N.pl3, and a sulfonate of aromatic bonds with S.O2 in place of S.o2."""
    text = written("Cn1cc[nH+]c1", "all").replace("N.ar", "N.pl3")
    mol = read_mol2(text)
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == Chem.CanonSmiles("Cn1cc[nH+]c1")
    text = written("CS(=O)(=O)[O-]", "all").replace(" S 1 ", " S.O2 1 ")
    text = text.replace("O.2", "O.co2").replace("O.3", "O.co2")
    bonds = text.partition("BOND")[2].splitlines()
    for line in (line for line in bonds if line.split()[1:2] == ["2"]):
        if line.split()[2] in ("3", "4", "5"):
            text = text.replace(line, " ".join([*line.split()[:3], "ar"]))
    mol = read_mol2(text)
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == "CS(=O)(=O)[O-]"


def with_charges(text: str, smiles: str) -> str:
    """A record as Open Babel writes it: charges in a list, and O.co2 for oxygens that have one."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    charged = [atom for atom in mol.GetAtoms() if atom.GetFormalCharge()]
    lines = text.splitlines()
    for atom in charged:
        if atom.GetAtomicNum() == 8:
            row = lines.index("@<TRIPOS>ATOM") + 1 + atom.GetIdx()
            lines[row] = lines[row].replace(" O.3 ", " O.co2 ").replace(" O.2 ", " O.co2 ")
    listed = [f"{atom.GetIdx() + 1} 1\ncharge {atom.GetFormalCharge()}" for atom in charged]
    place = lines.index("@<TRIPOS>BOND")
    return "\n".join([*lines[:place], "@<TRIPOS>UNITY_ATOM_ATTR", *listed, *lines[place:]]) + "\n"


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(C)[NH2+]CCO", "C[N+](=O)[O-]", "O=[N+]([O-])c1ccccc1", "[O-]c1ccccc1", "C[n+]1ccccc1",
        "[O-][n+]1ccccc1", "C[N+](C)(C)[O-]", "CC(=O)[O-]", "COP(=O)([O-])[O-]",
        "NC(=[NH2+])c1ccccc1",
        "C[S+](C)C", "CS(=O)(=O)[O-]", "[S-]c1ccccc1", "CO[N+](=O)[O-]", "C[NH+](C)CCC(=O)[O-]",
    ],
)  # fmt: skip
def test_charges_that_are_listed_are_taken(smiles: str) -> None:
    """RDKit then charges no atom itself, so phenolates and phosphates were radicals."""
    mol = read_mol2(with_charges(written(smiles, "all"), smiles))
    assert mol is not None
    assert not sum(atom.GetNumRadicalElectrons() for atom in mol.GetAtoms())
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize(
    "smiles",
    [
        "O=[N+]([O-])c1ccccc1", "CC(C)C(=O)Nc1ccc([N+](=O)[O-])cc1", "O=[N+]([O-])c1cc[nH]c1",
        "Nc1cc[n+]([O-])cc1", "C[N+](C)(C)CCO", "CC(=O)Oc1cc(C[NH2+]C)ccc1",
        "O=C([O-])CNc1nnn[n-]1", "O=[N+]([O-])c1ccc2[nH]cnc2c1", "CN=[N+]=[N-]",
        "O=[N+]([O-])c1ncnc2[nH]cnc12",
    ],
)  # fmt: skip
@pytest.mark.parametrize("hydrogens", ["polar", "none"])
def test_missing_hydrogens_beside_listed_charges_are_implicit(smiles: str, hydrogens: str) -> None:
    mol = read_mol2(with_charges(written(smiles, hydrogens), smiles))
    assert mol is not None
    assert not sum(atom.GetNumRadicalElectrons() for atom in mol.GetAtoms())
    assert Chem.MolToInchi(mol) == Chem.MolToInchi(Chem.MolFromSmiles(smiles))


def test_an_acid_of_aromatic_bonds_without_its_hydrogen() -> None:
    """Open Babel writes it as a carboxylate, but lists no charge of it."""
    smiles = "C[N+](C)(C)CC(=O)O"
    text = with_charges(written(smiles, "none"), smiles)
    for order, oxygen in (("2", 7), ("1", 8)):
        text = text.replace(
            f"\n{oxygen - 1} 6 {oxygen} {order}\n", f"\n{oxygen - 1} 6 {oxygen} ar\n"
        )
    assert text.count(" ar\n") == 2
    mol = read_mol2(text)
    assert mol is not None
    assert Chem.MolToSmiles(mol) == smiles


def test_a_carboxylate_of_aromatic_bonds_with_its_charge() -> None:
    smiles = "C[NH2+]CC(=O)[O-]"
    text = with_charges(written(smiles, "all"), smiles).replace(" O.2 ", " O.co2 ")
    bonds = text.partition("BOND")[2].splitlines()
    for line in (line for line in bonds if line.split()[1:3] in (["4", "5"], ["4", "6"])):
        text = text.replace(line, " ".join([*line.split()[:3], "ar"]))
    mol = read_mol2(text)
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == smiles


@pytest.mark.parametrize(
    "smiles",
    [
        "c1cnc2[nH]ccc2c1", "Nc1ncnc2[nH]cnc12", "c1cc2cc[nH]c2cn1", "c1cc2[nH]ccc2cn1",
        "c1ncc2nc[nH]c2n1", "Nc1ncnc2[nH]ccc12",
    ],
)  # fmt: skip
def test_a_missing_hydrogen_belongs_to_the_five_ring(smiles: str) -> None:
    mol = read_mol2(written(smiles, "none"))
    assert mol is not None
    (hydrogen,) = mol.GetSubstructMatches(Chem.MolFromSmarts("[nH]"))
    assert mol.GetRingInfo().IsAtomInRingOfSize(hydrogen[0], 5)


@pytest.mark.parametrize("kind", ["nc", "un", "du", "0", "4", "AR", "**"])
def test_bonds_that_would_be_left_out_are_named(kind: str) -> None:
    text = written("C1CCCC1", "all")
    assert lost_bond(text) == lost_bond(f"{text}# a comment of five words\n") == ""
    odd = text.replace("\n2 2 3 1\n", f"\n2 2 3 {kind}\n")
    assert lost_bond(odd) == f"bond 2 has the type {kind!r}, which is none of 1, 2, 3, am, ar"
    assert read_mol2(odd) is None


def test_bonds_beyond_the_number_in_the_head_are_said() -> None:
    text = written("C1CCCC1", "all")
    few = text.replace("\n15 15\n", "\n15 14\n")
    assert lost_bond(few) == "the record has 15 bonds, but its third line says 14"
    assert read_mol2(few) is None


def test_comments_are_left_out_wherever_they_stand() -> None:
    smiles = "C[NH2+]CC(=O)[O-]"
    text = with_charges(written(smiles, "all"), smiles).replace("\nx\n", "\n# title\n")
    lines = text.splitlines()
    said = "\n# by @ a program\n".join(["# first", *lines, ""])
    said = said.replace("MOLECULE\n# by @ a program\n", "MOLECULE\n")
    mol = read_mol2(said)
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == smiles
    assert mol.GetProp("_Name") == "# title"
    assert lost_bond(said) == ""


def test_of_several_records_the_first_is_read() -> None:
    """The charges are its own."""
    ion = with_charges(written("C[NH3+]", "all"), "C[NH3+]")
    mol = read_mol2(written("CCO", "all") + ion)
    assert mol is not None
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == "CCO"
