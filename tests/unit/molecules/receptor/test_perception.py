"""Bonds, hydrogens and charges from coordinates alone, against molecules that are known."""

from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path

import gemmi
import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers, rdMolHash

from ligen_py.molecules.elements import BOND_TOLERANCE, COVALENT_RADIUS, METALS
from ligen_py.molecules.ligands.protonation import neutral
from ligen_py.molecules.receptor import atoms
from ligen_py.molecules.receptor.cofactors import known
from ligen_py.molecules.receptor.inspection import NO_TEMPLATE
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.perception import _matching, perceive
from ligen_py.molecules.receptor.preparation import Prepared, prepare
from ligen_py.molecules.receptor.site import site_at, site_of_ligand
from ligen_py.molecules.receptor.templates import amino_acid, of_molecule
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.settings.pocket import PocketSettings, Structure


@cache
def embedded(smiles: str) -> Chem.Mol:
    """A molecule with hydrogens and MMFF coordinates to 0.001 A, as a file has them."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    done = rdDistGeom.EmbedMolecule(mol, randomSeed=7)
    assert done == 0 or rdDistGeom.EmbedMolecule(mol, randomSeed=7, useRandomCoords=True) == 0
    if rdForceFieldHelpers.MMFFHasAllMoleculeParams(mol):
        rdForceFieldHelpers.MMFFOptimizeMolecule(mol, maxIters=2000)
    mol.GetConformer().SetPositions(mol.GetConformer().GetPositions().round(3))
    return mol


def bonded(symbols: list[str], xyz: np.ndarray) -> list[list[int]]:
    radius = np.array([COVALENT_RADIUS[symbol.upper()] for symbol in symbols])
    near = np.linalg.norm(xyz[:, None] - xyz, axis=2) < radius[:, None] + radius + BOND_TOLERANCE
    return [np.flatnonzero(row & (np.arange(len(row)) != i)).tolist() for i, row in enumerate(near)]


def heavy(mol: Chem.Mol) -> tuple[list[str], np.ndarray]:
    rows = [atom.GetIdx() for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1]
    xyz = mol.GetConformer().GetPositions()[rows]
    return [mol.GetAtomWithIdx(i).GetSymbol() for i in rows], xyz


def seen(mol: Chem.Mol, noise: float = 0.0, left_out: tuple[int, ...] = ()) -> Chem.Mol | None:
    """What is perceived of a molecule's heavy atoms; bonds are those of the places."""
    symbols, xyz = heavy(mol)
    kept = [i for i in range(len(symbols)) if i not in left_out]
    symbols, near = [symbols[i] for i in kept], xyz[kept]
    shifted = near + np.random.default_rng(1).normal(0, noise, near.shape) if noise else near
    return perceive(symbols, shifted, bonded(symbols, near))


def flat(mol: Chem.Mol) -> Chem.Mol:
    result = Chem.Mol(mol)
    Chem.RemoveStereochemistry(result)
    return result


def agreement(found: Chem.Mol | None, mol: Chem.Mol) -> str:
    """same (bonds and charges), form (another protonation state), tautomer, other or none."""
    if found is None:
        return "none"
    pairs = [(flat(found), flat(mol)), (flat(neutral(found)), flat(neutral(mol)))]
    for word, (one, two) in zip(("same", "form"), pairs, strict=True):
        if Chem.MolToSmiles(one) == Chem.MolToSmiles(two):
            return word
    kind = rdMolHash.HashFunction.HetAtomTautomerv2
    one, two = (rdMolHash.MolHash(each, kind) for each in pairs[1])
    return "tautomer" if one == two else "other"


def hydrogens_right(found: Chem.Mol, mol: Chem.Mol) -> int:
    """Atoms with the right number of hydrogens, both uncharged, up to the symmetry of the atoms."""
    bare = Chem.RWMol(mol)
    for atom in bare.GetAtoms():
        atom.SetFormalCharge(0)
        atom.SetIsAromatic(False)
        atom.SetNoImplicit(True)
        atom.SetNumExplicitHs(0)
    for bond in bare.GetBonds():
        bond.SetBondType(Chem.BondType.SINGLE)
        bond.SetIsAromatic(False)
    classes = list(Chem.CanonicalRankAtoms(bare, breakTies=False, includeChirality=False))
    counts = [
        Counter(zip(classes, (atom.GetTotalNumHs() for atom in each.GetAtoms()), strict=True))
        for each in (neutral(found), neutral(mol))
    ]
    return (counts[0] & counts[1]).total()


ANIONS = ("NO2", "CYN", "SCN", "OCN", "AZI", "THJ", "LCP", "ART")
"""Of these the table alone says what they are."""


# Measured: same 143, other protonation states 10, refused 8 (porphyrins), wrong none. With noise of
# 0.05 A: 126, 7, tautomers 6, refused 12, wrong 10; of 0.1 A: 78, 5, 24, 15, 39.
@pytest.mark.parametrize(
    ("noise", "same", "wrong"), [(0.0, 142, 0), (0.05, 100, 24), (0.1, 50, 55)]
)
def test_every_cofactor_of_the_table(noise: float, same: int, wrong: int) -> None:
    words = Counter(
        agreement(seen(embedded(smiles), noise), Chem.MolFromSmiles(smiles))
        for name, smiles in known().items()
        if name not in ANIONS
    )
    assert words.total() == 161
    assert words["same"] >= same, words
    assert words["other"] <= wrong, words


# Measured, in this order: every bond right, other tautomers, wrong, refused, atoms with their
# hydrogens: 150, 9, 9, 2, 98.9 %; 39, 2, 4, 0, 98.8 %. Evidence was weighted on the first two sets.
@pytest.mark.parametrize(
    ("folders", "count", "same", "wrong"),
    [(("redock", "redock_more"), 170, 148, 10), (("redock_test",), 45, 39, 4)],
)
def test_ligands_of_crystal_structures(
    shared_data: Path, folders: tuple[str, ...], count: int, same: int, wrong: int
) -> None:
    words: Counter[str] = Counter()
    right = atoms = 0
    for file in (file for name in folders for file in shared_data.glob(f"{name}/*/ligand.sdf")):
        mol = Chem.MolFromMolFile(str(file))
        found = seen(mol)
        # The files have mostly no charges, so every protonation state counts as right.
        words[agreement(found, mol)] += 1
        if found is not None:
            atoms += mol.GetNumAtoms()
            right += hydrogens_right(found, mol)
    assert words.total() == count
    assert words["same"] + words["form"] >= same, words
    assert words["other"] <= wrong, words
    assert right >= 0.985 * atoms


def test_cofactors_of_crystal_structures(shared_data: Path) -> None:
    """Groups of the table, whole, in the structures of the redocking sets; one of each kind."""
    words: Counter[str] = Counter()
    folders = ("redock", "redock_more", "redock_test")
    for file in sorted(f for name in folders for f in shared_data.glob(f"{name}/*/protein.pdb*")):
        done = set()
        for residue in (one for chain in gemmi.read_structure(str(file))[0] for one in chain):
            smiles = known().get(residue.name)
            kept = [a for a in residue if a.altloc in ("\0", "A") and not a.element.is_hydrogen]
            if not smiles or residue.name in done or len(kept) < 3:
                continue
            mol = Chem.MolFromSmiles(smiles)
            symbols = [one.element.name.upper() for one in kept]
            xyz = np.array([one.pos.tolist() for one in kept])
            if len(kept) != mol.GetNumAtoms() or METALS & set(symbols):
                continue
            done.add(residue.name)
            words[agreement(perceive(symbols, xyz, bonded(symbols, xyz)), mol)] += 1
    # Measured: 23 with every bond and charge of the table, 2 other tautomers, a flavin taken for
    # its reduced form; an NADPH whose ring is refined flat is refused.
    assert words.total() >= 25
    assert words["same"] >= 0.8 * words.total(), words
    assert words["other"] <= 1, words


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(=O)[O-]",
        "COP(=O)([O-])[O-]",
        "CCOS(=O)(=O)[O-]",
        "CNC(N)=[NH2+]",
        "Cc1c[nH]c[nH+]1",
        "CCn1ccnc1",
        "NC(=O)c1ccc[n+](C)c1",
        "NC(=O)C1=CN(C)C=CC1",
        "Cc1ccc([N+](=O)[O-])cc1",
        "C[n+]1csc(CCO)c1C",
        "[O-][n+]1ccccc1C",
        "CC#N",
        "CC#CCO",
        "C=C=CC",
        "CCN=[N+]=[N-]",
        "C[N+](C)(C)CCO",
        "CS(C)=O",
        "CS(=O)(=O)Nc1ccccc1",
        "OB(O)c1ccccc1",
        "O=C1C=CC(=O)C=C1",
        "CC(=S)NC",
        "OCc1cc2ccccc2o1",
        "c1ccc2c(c1)[nH]c1ccccc12",
        "CC(C)CCCC(C)C",
    ],
)
def test_functional_groups(smiles: str) -> None:
    found = seen(embedded(smiles))
    assert found is not None
    assert agreement(found, Chem.MolFromSmiles(smiles)) in ("same", "tautomer")
    assert Chem.GetFormalCharge(found) == Chem.GetFormalCharge(Chem.MolFromSmiles(smiles))
    assert [atom.GetSymbol() for atom in found.GetAtoms()] == heavy(embedded(smiles))[0]


def test_charges_add_up_to_those_of_the_molecule() -> None:
    for name in ("ATP", "FMN", "SAM", "BEN", "SIA"):
        found = seen(embedded(known()[name]))
        assert found is not None
        total = float(gasteiger(Chem.AddHs(found)).sum())
        assert total == pytest.approx(Chem.GetFormalCharge(found), abs=1e-3)
        assert total == pytest.approx(round(total), abs=1e-3)


def test_what_is_not_sure_is_refused() -> None:
    assert seen(embedded(known()["HEM"])) is None  # where a porphyrin has hydrogens is not seen
    assert perceive(["C", "O"], np.eye(2, 3), [[1], [0]]) is None
    assert perceive([], np.empty((0, 3)), []) is None
    symbols, xyz = heavy(embedded("CCOC(C)=O"))
    near = bonded(symbols, xyz)
    assert perceive(symbols, xyz, near) is not None
    for strange in ("FE", "AS", "SE", "X"):
        assert perceive([strange, *symbols[1:]], xyz, near) is None
    assert perceive(symbols, xyz, [[1, 2, 3, 4, 5], *near[1:]]) is None
    # All atoms of a ring flat, one of them with too many neighbours for a double bond.
    ring = heavy(embedded("Cc1ccccc1"))[1]
    assert perceive(["C", "C", "C", "C", "O", "C", "C"], ring, bonded(["C"] * 7, ring)) is None


@pytest.mark.parametrize("name", ["FMN", "SAH", "PLP", "NAG"])
def test_a_group_that_lacks_an_atom_is_refused_or_sound(name: str) -> None:
    """What is given has whole valences; atoms that are far from the gap are what they were."""
    mol = embedded(known()[name])
    whole = seen(mol)
    assert whole is not None
    for gone in range(whole.GetNumAtoms()):
        found = seen(mol, left_out=(gone,))
        if found is None:
            continue
        Chem.SanitizeMol(found)
        assert not any(atom.GetNumRadicalElectrons() for atom in found.GetAtoms())
        hydrogens = [atom.GetTotalNumHs() for atom in whole.GetAtoms() if atom.GetIdx() != gone]
        changed = sum(
            atom.GetTotalNumHs() != count
            for atom, count in zip(found.GetAtoms(), hydrogens, strict=True)
        )
        assert changed <= 6, (name, gone)


def test_the_matching_is_the_best_of_all() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        pairs = [pair for pair in combinations(range(7), 2) if rng.random() < 0.45]
        weights = {((i, 0), (j, 0)): float(rng.normal(1, 2)) for i, j in pairs}
        best = max(
            sum(weights[pair] for pair in some)
            for count in range(4)
            for some in combinations(weights, count)
            if len({place for pair in some for place in pair}) == 2 * count
        )
        found = _matching(weights)
        assert len({place for pair in found for place in pair}) == 2 * len(found)
        total = sum(weights[min(pair), max(pair)] for pair in found)
        assert total == pytest.approx(best)


def written(mol: Chem.Mol, names: dict[str, str]) -> str:
    """A PDB file of the heavy atoms; residues are called otherwise."""
    block = Chem.MolToPDBBlock(Chem.RemoveHs(mol), flavor=2 | 8)
    for old, new in names.items():
        block = block.replace(f" {old} ", f" {new} ")
    return block


def prepared(path: Path, text: str, structure: Structure) -> Prepared:
    path.write_text(text)
    selection = open_structure(path, structure)
    return prepare(selection, site_at((0.0, 0.0, 0.0), 15.0), structure, PocketSettings())


def notes(found: Prepared, part: str) -> list[str]:
    audit = found.audit
    return [why for who, why in zip(audit.part, audit.reason, strict=True) if part in who]


def test_an_unknown_group_is_what_its_smiles_makes_of_it(tmp_path: Path) -> None:
    smiles = known()["FMN"]
    text = written(embedded(smiles), {"UNL": "XYZ"})
    found = prepared(tmp_path / "perceived.pdb", text, Structure())
    given = prepared(tmp_path / "given.pdb", text, Structure(cofactors={"XYZ": smiles}))
    canonical = Chem.CanonSmiles(smiles)
    words = f"bonds, charges and hydrogens perceived from its geometry: SMILES {canonical}"
    assert f"hetero group, {words}" in notes(found, "XYZ")
    assert "hetero group, charges and hydrogens of its SMILES" in notes(given, "XYZ")
    one, two = found.typed["ad4"], given.typed["ad4"]
    assert (one.type == two.type).all()
    assert one.partial_charge == pytest.approx(two.partial_charge)
    assert float(one.partial_charge.sum()) == pytest.approx(-2, abs=0.02)
    assert (one.type == Ad4Type.HD).sum() == 4
    assert (found.typed["xscore"].interaction == given.typed["xscore"].interaction).all()
    assert (found.typed["vina"].type == given.typed["vina"].type).all()


def test_an_element_that_autodock_lacks_takes_another_type() -> None:
    """As a group without a molecule: boron is carbon, selenium sulfur."""
    for smiles, at, kind in (("OB(O)c1ccccc1", 1, Ad4Type.C), ("C[Se]CCO", 1, Ad4Type.S)):
        templates = of_molecule(Chem.AddHs(Chem.MolFromSmiles(smiles)))
        assert templates[at].kind == kind
        assert all(template.kind != Ad4Type.NONE for template in templates)


def test_what_is_refused_is_as_before(tmp_path: Path) -> None:
    text = written(embedded(known()["HEM"]), {"UNL": "XYZ"})
    found = prepared(tmp_path / "refused.pdb", text, Structure())
    assert f"hetero group, {NO_TEMPLATE}" in notes(found, "XYZ")
    assert not found.typed["ad4"].partial_charge.any()
    assert not (found.typed["ad4"].type == Ad4Type.HD).any()


@pytest.mark.parametrize(("letter", "name"), [("Y", "TYR"), ("K", "LYS"), ("E", "GLU")])
def test_an_unknown_residue_of_a_chain_has_the_charges_of_an_amino_acid(
    tmp_path: Path, letter: str, name: str
) -> None:
    mol = Chem.AddHs(Chem.MolFromSequence(f"GA{letter}AG"), addResidueInfo=True)
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=3) == 0
    rdForceFieldHelpers.MMFFOptimizeMolecule(mol, maxIters=2000)
    found = prepared(tmp_path / "chain.pdb", written(mol, {name: "XYZ"}), Structure())
    (words,) = [why for why in notes(found, "A/XYZ/3") if "non-standard residue" in why]
    assert "perceived from its geometry: SMILES" in words
    charges = found.typed["ad4"].partial_charge
    expected = amino_acid(name)
    mine = {
        label.rpartition("/")[2]: (float(charge), Ad4Type(kind))
        for label, charge, kind in zip(
            found.receptor.label, charges, found.typed["ad4"].type, strict=False
        )
        if "/XYZ/" in label
    }
    assert set(mine) == set(expected)
    # Resonance draws the charge on the other oxygen or nitrogen; Gasteiger's charges are equal.
    for atom, template in expected.items():
        assert mine[atom][0] == pytest.approx(template.charge, abs=0.02), atom
        assert mine[atom][1] == template.kind, atom


def test_a_histidine_of_another_name_is_neutral_as_well(tmp_path: Path) -> None:
    mol = Chem.AddHs(Chem.MolFromSequence("GAHAG"), addResidueInfo=True)
    assert rdDistGeom.EmbedMolecule(mol, randomSeed=3) == 0
    rdForceFieldHelpers.MMFFOptimizeMolecule(mol, maxIters=2000)
    found = prepared(tmp_path / "chain.pdb", written(mol, {"HIS": "DHI"}), Structure())
    (words,) = [why for why in notes(found, "A/DHI/3") if "non-standard residue" in why]
    assert "SMILES" in words
    assert "+" not in words


def test_receptors_without_unknown_groups_are_as_before(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Perception is not asked where every residue is known, as in dihydrofolate reductase."""

    def never(*_: object) -> None:
        raise AssertionError("a group was perceived")

    monkeypatch.setattr(atoms, "perceive", never)
    folder = shared_data / "redock" / "1IA1"
    structure = Structure()
    site = site_of_ligand(folder / "ligand.sdf", 10.0)
    selection = open_structure(folder / "protein.pdb", structure)
    found = prepare(selection, site, structure, PocketSettings())
    assert "hetero group, charges and hydrogens of its SMILES" in notes(found, "NDP")
    # Its nicotinamide is refined flat, which NADP+ is and NADPH is not: not sure, so refused.
    monkeypatch.undo()
    text = (folder / "protein.pdb").read_text().replace("NDP", "XYZ")
    (tmp_path / "unknown.pdb").write_text(text)
    selection = open_structure(tmp_path / "unknown.pdb", structure)
    found = prepare(selection, site, structure, PocketSettings())
    assert any("without charges for AutoDock4" in words for words in notes(found, "XYZ"))
