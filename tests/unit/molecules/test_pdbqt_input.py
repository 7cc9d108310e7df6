"""PDBQT ligands and receptors, read: against Meeko's files, autodock4's energies, and bad ones."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py.engine.functions.ad4 import reference as ad4
from ligen_py.errors import InputError
from ligen_py.molecules.pdbqt_input import (
    ELEMENT,
    MOST_TORSIONS,
    bonds_of,
    read_ligand,
    read_receptor,
)
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.limits import MAX_ATOMS
from tests.pdbqt import start_poses
from tests.with_meeko import MoleculePreparation, PDBQTWriterLegacy

SMILES = ("COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC", "OC(=O)C(F)(F)CN1CCN(CC1)S(=O)(=O)c1ccc(Cl)cc1", "O")


def meekos(smiles: str) -> str:
    """A molecule as Meeko writes it."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert AllChem.EmbedMolecule(mol, randomSeed=1) == 0
    text, good, why = PDBQTWriterLegacy.write_string(MoleculePreparation().prepare(mol)[0])
    assert good, why
    return text


@pytest.mark.parametrize("smiles", SMILES)
def test_ligands_are_those_of_meeko(smiles: str, tmp_path: Path) -> None:
    path = tmp_path / "one.pdbqt"
    path.write_text("\ufeff" + meekos(smiles))  # as Notepad saves it
    found = read_ligand(path)
    rows = [line for line in path.read_text().splitlines() if line.startswith("ATOM")]
    given = np.array([[float(row[n : n + 8]) for n in (30, 38, 46)] for row in rows])
    one = found.ligands
    assert found.order.tolist() != sorted(found.order) or len(rows) < 9
    assert one.xyz + found.center == pytest.approx(given[found.order], abs=1e-4)
    kinds = [rows[atom][77:].strip().upper() for atom in found.order]
    assert [Ad4Type(kind).name for kind in one.type] == kinds
    charges = [float(rows[atom][66:76]) for atom in found.order]
    assert one.partial_charge == pytest.approx(charges)
    branches = path.read_text().count("\nBRANCH")
    assert len(one.torsion_axis) == branches == one.torsions[0]
    mol = Chem.MolFromSmiles(smiles)
    heavy = one.bond[(one.bond < one.heavy[0]).all(axis=1)]
    assert len(heavy) == mol.GetNumBonds()


def test_remarks_may_be_in_any_letters(tmp_path: Path) -> None:
    path = tmp_path / "one.pdbqt"
    path.write_bytes(f"REMARK  Name = caf\xe9\r\n{meekos('CCO')}".encode("latin-1"))
    found = read_ligand(path)
    assert found.lines[0] == "REMARK  Name = caf\ufffd"
    assert found.ligands.heavy[0] == 3
    path.write_bytes(meekos("CCO").encode("utf-16"))
    with pytest.raises(InputError, match="no text; give a PDBQT file"):
        read_ligand(path)
    path.write_bytes(gzip.compress(meekos("CCO").encode()))
    with pytest.raises(InputError, match=r"one\.pdbqt: is compressed; unpack it"):
        read_ligand(path)


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028"])
def test_a_remark_is_one_line(character: str, tmp_path: Path) -> None:
    """Python ends lines at these; what stood behind them would be a line that no program reads."""
    path = tmp_path / "one.pdbqt"
    path.write_text(f"REMARK  Name = a{character}b\n{meekos('CCO')}")
    assert read_ligand(path).lines[0] == "REMARK  Name = a b"


@pytest.mark.parametrize("smiles", SMILES)
def test_a_pose_keeps_all_but_the_coordinates(smiles: str, tmp_path: Path) -> None:
    path = tmp_path / "one.pdbqt"
    path.write_text(meekos(smiles))
    found = read_ligand(path)
    same = found.moved(found.ligands.xyz.astype(float) + found.center)
    for ours, theirs in zip(same, path.read_text().splitlines(), strict=True):
        assert ours == theirs or ours.startswith("ATOM")
        assert ours[:30] + ours[54:] == theirs[:30] + theirs[54:]
    away = found.moved(found.ligands.xyz.astype(float) + found.center + 1)
    moved = [line for line in away if line.startswith("ATOM")]
    rows = [line for line in path.read_text().splitlines() if line.startswith("ATOM")]
    for ours, theirs in zip(moved, rows, strict=True):
        assert float(ours[30:38]) - float(theirs[30:38]) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("name", ["1ac8", "1stp", "3ce3", "3tmn", "7cpa"])
def test_internal_energies_are_those_of_autodock4(shared_data: Path, name: str) -> None:
    folder = shared_data / "reference" / "energies"
    ligand = read_ligand(folder / name / f"{name}_ligand.pdbqt")
    molecule = ad4.molecule(ligand.ligands, 0, start_poses(ligand.ligands), 0)
    found = sum(float(values.sum()) for values in ad4.pair_terms(molecule).values())
    known = json.loads((folder / "reference_energies.json").read_text())[name]
    assert found == pytest.approx(known["autodock4.2.6_epdb"]["internal"], abs=0.0105)


def changed(change: Callable[[str], str], folder: Path) -> Path:
    path = folder / "bad.pdbqt"
    path.write_text(change(meekos("CCOC(=O)Cc1ccccc1O")))
    return path


def retyped(word: str) -> Callable[[str], str]:
    """The first atom with another type."""

    def change(text: str) -> str:
        lines = text.splitlines()
        first = next(n for n, line in enumerate(lines) if line.startswith("ATOM"))
        lines[first] = f"{lines[first][:77]}{word}"
        return "\n".join(lines)

    return change


def joined(text: str) -> str:
    """The types of oxygens right-justified to column 78, as elements are in PDB."""
    return re.sub(r"(?m) OA *$", "OA", text)


def longer(text: str) -> str:
    """The first charge with a digit more, which ends in column 77."""
    return re.sub(r"(?m)^(ATOM.{62}.{10}) ", r"\g<1>1", text, count=1)


def second_root(text: str) -> str:
    return text + text


def two_molecules(text: str) -> str:
    """Ethane and another one beside it."""
    places = enumerate(((0, 0), (1.5, 0), (0, 9), (1.5, 9)), start=1)
    atoms = [
        f"ATOM  {n:5d}  C   UNL     1    {x:8.3f}{y:8.3f}{0:8.3f}  1.00  0.00    +0.000 C"
        for n, (x, y) in places
    ]
    return "\n".join(["REMARK", "ROOT", *atoms, "ENDROOT", "TORSDOF 0"])


def test_every_type_has_its_element() -> None:
    others = {"HD": "H", "A": "C", "NA": "N", "OA": "O", "SA": "S"}
    table = Chem.GetPeriodicTable()
    known = {kind: others.get(kind.name, kind.name.capitalize()) for kind in Ad4Type if kind}
    assert {kind: table.GetAtomicNumber(symbol) for kind, symbol in known.items()} == ELEMENT


@pytest.mark.parametrize(
    ("elements", "distance", "bonded"),
    [
        # The longest bond of an alkane: P. R. Schreiner et al., Nature 2011, 477, 308.
        ((6, 6), 1.704, True),
        # Across the cage of bicyclo[1.1.1]pentane: J. F. Chiang, S. H. Bauer, JACS 1970, 92, 1614.
        ((6, 6), 1.874, False),
        ((6, 53), 2.14, True),
        ((6, 14), 1.87, True),
        # AutoDock4 bonds no hydrogen to another one, at whatever distance.
        ((1, 1), 0.741, False),
    ],
)
def test_bonds_by_distance(elements: tuple[int, int], distance: float, bonded: bool) -> None:
    xyz = np.array([[0.0, 0, 0], [distance, 0, 0]])
    assert len(bonds_of(xyz, np.array(elements), [])) == bonded
    assert bonds_of(xyz, np.array(elements), [(1, 0)]).tolist() == [[0, 1]]


def moved(text: str) -> str:
    """The atoms of the last branch, 20 Angstrom away."""
    head, name, rest = text.rpartition("\nBRANCH")
    return (
        head
        + name
        + re.sub(r"(?m)^(ATOM.{24})(.{8})", lambda m: f"{m[1]}{float(m[2]) + 20:8.3f}", rest)
    )


BAD: list[tuple[Callable[[str], str], str]] = [
    (second_root, r"line \d+: a second ROOT, the first is on line \d+"),
    (retyped("W"), "hydrated docking"),
    (retyped("C1"), "reactive docking"),
    (retyped("CG0"), "macrocycles"),
    (retyped("G0"), "macrocycles"),
    (retyped("H"), "must be merged"),
    (retyped("NS"), "no parameters"),
    (retyped("B"), "atom type 'B': boron has no parameters here; leave the ligand out"),
    (two_molecules, r"line 5: this atom is not connected with the first one; give one molecule"),
    (
        joined,
        r"line \d+: 'O' stands in column 77; PDBQT has charges up to column 76 and types from",
    ),
    (longer, r"line \d+: '1' stands in column 77; PDBQT has charges up to column 76"),
    (retyped("Xx"), "atom type 'Xx' is unknown; there are: HD, C"),
    (retyped("Na"), "atom type 'Na': sodium has no parameters in AutoDock4; a nitrogen is NA"),
    (lambda text: text.replace("ROOT\n", "BEGIN_RES PHE A 1\nROOT\n", 1), "flexible-residue"),
    (
        lambda text: "\n".join(text.split("\nENDBRANCH")[:1]),
        r"line \d+: BRANCH +\d+ \d+ has no ENDBRANCH; prepare the ligand again",
    ),
    (
        lambda text: text.replace("\nENDROOT", "\nENDROOT\nENDBRANCH 1 2"),
        r"line \d+: ENDBRANCH of no open BRANCH; prepare",
    ),
    (lambda text: re.sub(r"\nBRANCH .*", "\nBRANCH 1", text), "BRANCH without two atoms; prepare"),
    (lambda text: "\n".join(x for x in text.splitlines() if x[:4] != "ROOT"), "before ROOT"),
    (lambda text: text.replace("\nBRANCH   ", "\nBRANCH  9", 1), "BRANCH"),
    (lambda text: "nothing", "no ROOT with atoms"),
    (
        lambda text: text.replace("\nBRANCH", "\nbranch", 1),
        r"line \d+: write BRANCH in place of branch; PDBQT has its keywords in capitals",
    ),
    (lambda text: text.replace("\nROOT", "\nroot", 1), r"line \d+: write ROOT in place of root"),
    (
        lambda text: f"ROOT\nATOM  {1:5d}  H   UNL     1    {0:8.3f}{0:8.3f}{0:8.3f}{0:22.3f} HD",
        "nothing but hydrogens",
    ),
    (lambda text: text.replace("ATOM      2", "ATOM      1", 1), r"line \d+: a second atom 1"),
    (lambda text: re.sub(r"BRANCH +(\d+ +)(\d+)", r"BRANCH \1 1", text), "BRANCH must name"),
    (lambda text: re.sub(r"BRANCH +(\d+ +)(\d+)", r"BRANCH \1 99", text), "BRANCH names an at"),
    (
        lambda text: text.replace(
            next(x for x in text.splitlines() if x.startswith("ATOM"))[66:76], "     0.555", 1
        ),
        "the partial charges add up to",
    ),
    (lambda text: text.replace("\nATOM      1", "\nATOM      1 ", 1), "columns of PDBQT"),
    (
        moved,
        r"line \d+: BRANCH \d+ \d+: these atoms are [12]\d\.\d A apart, which is no bond; prepare",
    ),
    # As Open Babel writes a ligand whose coordinates nobody made.
    (
        lambda text: re.sub(r"(?m)^(ATOM.{26}).{24}", rf"\1{3 * '   0.000'}", text),
        r"line \d+: an atom in the place of that of line \d+; give the ligand 3-D coordinates",
    ),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_bad_ligands_are_named(change: Callable[[str], str], words: str, tmp_path: Path) -> None:
    path = changed(change, tmp_path)
    with pytest.raises(InputError, match=words) as error:
        read_ligand(path)
    assert "bad.pdbqt" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_branch_that_is_still_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chain.pdbqt"
    path.write_text(chain(4).replace("ENDBRANCH   2   3\n", ""))
    words = r"line 6: BRANCH 2 3 is still open on line 11, at ENDBRANCH 1 2; prepare the ligand"
    with pytest.raises(InputError, match=words):
        read_ligand(path)


@pytest.mark.parametrize(("apart", "bonded"), [(1.9, True), (2.4, False)])
def test_the_atoms_of_a_branch_are_bonded(apart: float, bonded: bool, tmp_path: Path) -> None:
    """A long bond is taken; two atoms that are bonded to a third one are not bonded."""
    path = tmp_path / "chain.pdbqt"
    lines = chain(2).splitlines()
    last = next(n for n, line in enumerate(lines) if line.startswith("ATOM      2"))
    lines[last] = f"{lines[last][:30]}{apart:8.3f}{0:8.3f}{0:8.3f}{lines[last][54:]}"
    path.write_text("\n".join(lines))
    if bonded:
        assert len(read_ligand(path).ligands.torsion_axis) == 1
        return
    with pytest.raises(InputError, match=r"line 4: BRANCH 1 2: these atoms are 2\.4 A apart"):
        read_ligand(path)


def chain(length: int) -> str:
    """A ligand of one chain whose bonds all turn."""
    lines = []
    for i in range(length):
        name = "ROOT" if i == 0 else f"BRANCH{i:4d}{i + 1:4d}"
        x, y = 1.25 * i, 0.45 * (i % 2)
        atom = f"ATOM  {i + 1:5d}  C   UNL     1    {x:8.3f}{y:8.3f}{0:8.3f}  1.00  0.00"
        lines += [name, f"{atom}    {0:+6.3f} C", *(["ENDROOT"] if i == 0 else [])]
    lines += [f"ENDBRANCH{i:4d}{i + 1:4d}" for i in range(length - 1, 0, -1)]
    return "\n".join([*lines, f"TORSDOF {length - 1}"]) + "\n"


def test_torsions_and_atoms_have_limits(tmp_path: Path) -> None:
    path = tmp_path / "chain.pdbqt"
    path.write_text(chain(MOST_TORSIONS + 1))
    assert len(read_ligand(path).ligands.torsion_axis) == MOST_TORSIONS
    path.write_text(chain(MOST_TORSIONS + 2))
    with pytest.raises(InputError, match="33 torsions; a ligand may have at most 32"):
        read_ligand(path)
    path.write_text(chain(MAX_ATOMS + 1))
    with pytest.raises(InputError, match="257 atoms; a ligand may have at most 256; leave it out"):
        read_ligand(path)


def test_the_tree_is_the_files_where_atoms_clash(tmp_path: Path) -> None:
    """In a hexagon the last atom is as near to the first one as in a bond."""
    path = tmp_path / "chain.pdbqt"
    path.write_text(chain(6))
    free = read_ligand(path)
    lines = path.read_text().splitlines()
    atoms = [n for n, line in enumerate(lines) if line.startswith("ATOM")]
    for n, angle in zip(atoms, np.arange(6) * np.pi / 3, strict=True):
        x, y = 1.4 * np.cos(angle), 1.4 * np.sin(angle)
        lines[n] = f"{lines[n][:30]}{x:8.3f}{y:8.3f}{0:8.3f}{lines[n][54:]}"
    path.write_text("\n".join(lines))
    folded = read_ligand(path)
    for name in ("bond", "torsion_axis", "torsion_range", "pair_mask"):
        assert getattr(folded.ligands, name).tolist() == getattr(free.ligands, name).tolist()


def test_receptors_are_read_and_refused(tmp_path: Path) -> None:
    path = tmp_path / "receptor.pdbqt"
    atoms = [line for line in meekos("CC(=O)O").splitlines() if line.startswith("ATOM")]
    path.write_text("\n".join(atoms))
    assert len(read_receptor(path).xyz) == len(atoms)
    path.write_text("\n".join([*atoms, "BEGIN_RES PHE A 1"]))
    with pytest.raises(InputError, match=rf"line {len(atoms) + 1}: flexible-residue"):
        read_receptor(path)
    for text in ("MODEL 2", f"{atoms[0][:16]}B{atoms[0][17:]}"):
        path.write_text("\n".join(["MODEL 1", f"{atoms[0][:16]}A{atoms[0][17:]}", text]))
        with pytest.raises(InputError, match=r"line 3: (a second model|location B of an atom)"):
            read_receptor(path)
    path.write_text("\n".join([*atoms, "TER", *atoms]))
    words = f"line {len(atoms) + 2}: an atom in the place of that of line 1; keep one of them"
    with pytest.raises(InputError, match=words):
        read_receptor(path)
    path.write_text("REMARK nothing\n")
    with pytest.raises(InputError, match="no atoms"):
        read_receptor(path)
    path.write_text(meekos("CC(=O)O"))
    with pytest.raises(InputError, match=r"ROOT belongs to a ligand; give the receptor"):
        read_receptor(path)
