"""Conformers from pieces: geometry, stereochemistry, and the file that keeps the shapes."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom, rdMolTransforms

from ligen_py.molecules.arrays import Arrays
from ligen_py.molecules.graph import Graph, outlines
from ligen_py.molecules.ligands import assembly, conformers
from ligen_py.molecules.ligands.assembly import (
    TOO_NEAR,
    TORSIONS,
    Torsions,
    assemble,
    can_exist,
    combinations,
)
from ligen_py.molecules.ligands.conformers import NoConformerError, embed
from ligen_py.molecules.ligands.rotatable_bonds import (
    heavy_first,
    neighbours_of,
    rotatable_bonds,
)
from ligen_py.molecules.ligands.shapes import ShapeCache, Shapes, check_file, make_shapes
from ligen_py.molecules.lists import Lists

MOLECULES = {
    "imatinib": "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1",
    "atorvastatin": "CC(C)c1c(C(=O)Nc2ccccc2)c(-c2ccccc2)c(-c2ccc(F)cc2)"
    "n1CC[C@@H](O)C[C@@H](O)CC(=O)O",
    "penicillin G": "CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O",
    "sildenafil": "CCCc1nn(C)c2c1nc([nH]c2=O)-c1cc(ccc1OCC)S(=O)(=O)N1CCN(C)CC1",
    "oseltamivir": "CCOC(=O)C1=C[C@@H](OC(CC)CC)[C@H](NC(C)=O)[C@@H](N)C1",
    "tamoxifen": "CC/C(=C(\\c1ccccc1)c1ccc(OCCN(C)C)cc1)c1ccccc1",
    "adenosine phosphate": "Nc1ncnc2c1ncn2[C@@H]1O[C@H](COP(=O)([O-])[O-])[C@@H](O)[C@H]1O",
    "threonyl-proline": "C[C@@H](O)[C@H]([NH3+])C(=O)N1CCC[C@H]1C(=O)[O-]",
    "a bridged sugar": "CC(=O)N[C@@H]1[C@@H](O)[C@H](NC)[C@H]2CO[C@@H]1O2",
    "two equal arms": "OC[C@@H](CO)CN1C[C@@H](CO)[C@H](CN)C1",
}
"""Flexible and stiff rings, centres that differ only beyond rotatable bonds, charges, E and Z."""

CLARITHROMYCIN = (
    "CC[C@H]1OC(=O)[C@H](C)[C@@H](O[C@H]2C[C@@](C)(OC)[C@@H](O)[C@H](C)O2)[C@H](C)"
    "[C@@H](O[C@@H]2O[C@H](C)C[C@H](N(C)C)[C@H]2O)[C@](C)(OC)C[C@@H](C)C(=O)[C@H](C)"
    "[C@@H](O)[C@]1(C)O"
)
"""In some shapes of its ring the sugars have no room."""


@pytest.mark.parametrize(
    ("flat_ends", "usual"), [(0, {60, 180, 300}), (1, {90, 270}), (2, {0, 180})]
)
def test_every_twelfth_of_a_turn_is_tried_once_and_the_usual_ones_first(
    flat_ends: int, usual: set[int]
) -> None:
    """Staggered between sp3 ends, across a flat end, and flat between two of them."""
    tried = TORSIONS[flat_ends]
    assert sorted(tried) == list(range(0, 360, 30))
    assert set(tried[: len(usual)]) == usual


CAGES = {
    "morphine": "CN1CC[C@]23C4=C5C=CC(O)=C4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",
    "digoxigenin": "C[C@]12CC[C@H](O)C[C@H]1CC[C@@H]1[C@@H]2C[C@@H](O)[C@]2(C)[C@@H](C3=CC(=O)OC3)"
    "CC[C@]12O",
    "camphor": "CC1(C)[C@@H]2CC[C@@]1(C)C(=O)C2",
    "bicyclo[3.3.3]undecane": "C1CC2CCCC(C1)CCC2",
    "adamantane": "C1C2CC3CC1CC(C2)C3",
    "a macrolide's ring": "CO[C@H]1[C@@H](C)[C@@H](C)OC(=O)[C@H](C)[C@@H](O)[C@H](C)[C@@H](O)"
    "[C@@H](C)C[C@@]2(CO2)C(=O)[C@@H]1C",
}
"""Bridged and fused rings; for the last, hydrogens at ring fusions alone may not be enough."""

IMPOSSIBLE, POSSIBLE = "CN1[C@H]2CC[C@H]1CCC2", "CN1[C@H]2CC[C@@H]1CCC2"
"""A bridge excludes one of these isomers."""


def made(
    smiles: str, limit: int = 4, cache: ShapeCache | None = None
) -> tuple[Chem.Mol, np.ndarray]:
    """A molecule with hydrogens in docking order, and its conformers."""
    bare, mol, near, torsions = ordered(smiles)
    found = assemble(bare, near, torsions, cache or ShapeCache(None, 1, limit, limit), limit)
    assert found is not None
    return mol, found[0]


def ordered(smiles: str) -> tuple[Chem.Mol, Chem.Mol, list[list[int]], Torsions]:
    bare = Chem.MolFromSmiles(smiles)
    mol = Chem.AddHs(bare)
    arrays = Arrays([Lists(mol)])
    bond = np.stack([arrays.near, arrays.far], axis=1)
    found = heavy_first(arrays.element > 1, bond, rotatable_bonds(arrays), arrays.first)
    order = found.order.tolist()
    return (
        Chem.RenumberAtoms(bare, order[: bare.GetNumAtoms()]),
        Chem.RenumberAtoms(mol, order),
        neighbours_of(Graph.of_outlines(outlines(arrays, found.order))),
        Torsions(found.axes, found.far_sides),
    )


Written = tuple[str, list[int], bool]
"""A fragment's SMILES, its atoms in their order, and whether it is its mirror image's."""


class AnyShapes(ShapeCache):
    """Shapes without a meaning for every fragment."""

    def __init__(self) -> None:
        """Keep nothing."""

    def shapes(self, smiles: str, makes: bool = True) -> Shapes:
        atoms = list(Chem.MolFromSmiles(smiles).GetAtoms())
        first = np.cumsum([len(atoms), *(atom.GetTotalNumHs() for atom in atoms)]).tolist()
        return Shapes(np.zeros((1, first[-1], 3)), first, np.zeros(1), 0.0)


class Forgetful(dict):  # type: ignore[type-arg]
    """Keeps nothing."""

    def __setitem__(self, key: object, value: object) -> None:
        """Forget it."""


@pytest.fixture
def fragments(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Written]]:
    """What the pieces of a molecule are known by: SMILES and atoms in their order."""
    found: list[Written] = []
    real = assembly._Fragments.written

    def noted(*arguments: Any) -> Written:
        found.append(real(*arguments))
        return found[-1]

    monkeypatch.setattr(assembly._Fragments, "written", noted)

    def of(smiles: str) -> list[Written]:
        bare, _, near, torsions = ordered(smiles)
        found.clear()
        assert can_exist(bare, near, torsions, AnyShapes())
        return list(found)

    return of


ALIKE = [
    *("OCC(=O)CCS", "[O-]CC(=O)CCS", "OCC(=O)CC=S", "[18OH]CC(=O)CCS"),
    *("C/C=C/C=CCO", "C/C=C\\C=CCO"),
    *("COc1ccc(S(=O)(=O)NCCO)c(OC)c1", "COc1ccc(OC)c(S(=O)(=O)NCCN)c1"),
    *("O=S(=O)(O)C[C@@H](O)COc1ccccc1", "CC(C)(COC[C@@H](O)CN1CCNCC1)COC[C@H](O)CN1CCNCC1"),
    *("CC[C@](O)(CN)CO", "CC[C@@](O)(CN)CO", "C[P@](=O)(CC=O)[P@](=O)(C)CC=O"),
    *("C[C@H](CCCF)CCCCl", "C[C@H](CCCCl)CCCF"),
    *("F[P@TB1](C)(N)(O)CCC=O", "F[P@TB2](C)(N)(O)CCC=O"),
    *("C[S@](=O)N(CCCC)[S@](C)=O", "C[S@](=O)N(CCCC)[S@@](C)=O"),
    *("C[S@](=O)C(=C(CCC)CCC)[S@](C)=O", "C[P@](F)(=O)N(CCCC)[P@](C)(F)=O"),
]
"""Atoms, charges, isotopes, bonds, stereochemistry, or which atoms are the piece's own differ."""


def test_a_fragment_that_was_met_before_has_the_same_smiles(
    monkeypatch: pytest.MonkeyPatch, fragments: Callable[[str], list[Written]]
) -> None:
    """Whatever was met in between; labels of atoms count for nothing."""
    every = [*MOLECULES.values(), *ALIKE]
    every += [mirrored(smiles) for smiles in MOLECULES.values()]
    monkeypatch.setattr(assembly, "_known", Forgetful())
    alone = [fragments(smiles) for smiles in every]
    monkeypatch.setattr(assembly, "_known", {})
    for _ in range(2):
        assert [fragments(smiles) for smiles in every] == alone
    assert fragments("[OH:2]C[C:1](=O)CCS") == fragments("OCC(=O)CCS")


def mirrored(smiles: str) -> str:
    return smiles.replace("@", "@@").replace("@@@@", "@")


@pytest.mark.parametrize("smiles", [*MOLECULES.values(), CAGES["morphine"], CAGES["camphor"]])
def test_mirror_images_share_the_shapes_of_their_pieces(
    smiles: str, fragments: Callable[[str], list[Written]]
) -> None:
    one, other = fragments(smiles), fragments(mirrored(smiles))
    assert sorted(fragment[0] for fragment in one) == sorted(fragment[0] for fragment in other)
    flat = {fragment[0] for fragment in one if "@" not in fragment[0]}
    assert not any(is_mirrored for known, _, is_mirrored in (*one, *other) if known in flat)
    mol, conformers = made(mirrored(smiles))
    for xyz in conformers:
        placed = with_conformer(mol, xyz)
        Chem.AssignStereochemistryFrom3D(placed)
        assert Chem.MolToSmiles(Chem.RemoveHs(placed)) == Chem.CanonSmiles(mirrored(smiles))


def with_conformer(mol: Chem.Mol, xyz: np.ndarray) -> Chem.Mol:
    placed = Chem.Mol(mol)
    placed.RemoveAllConformers()
    conformer = Chem.Conformer(len(xyz))
    conformer.SetPositions(np.ascontiguousarray(xyz))
    placed.AddConformer(conformer, assignId=True)
    return placed


@pytest.mark.parametrize("smiles", MOLECULES.values(), ids=MOLECULES)
def test_stereochemistry_is_that_of_the_drawing(smiles: str) -> None:
    mol, conformers = made(smiles)
    for xyz in conformers:
        placed = with_conformer(mol, xyz)
        Chem.AssignStereochemistryFrom3D(placed)
        assert Chem.MolToSmiles(Chem.RemoveHs(placed)) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize(
    "smiles",
    [
        "C[C@H](OC(=O)Cn1ccc(=O)[nH]c1=O)C(=O)Nc1ccc(S(N)(=O)=O)cc1",
        "COc1ccc(NC(=O)COC(=O)[C@H]2CC(=O)N(c3cccc([N+](=O)[O-])c3)C2)cc1",
        "O=C(OCCOC(=O)N[C@H]1CCS(=O)(=O)C1)N[C@@H]1CCS(=O)(=O)C1",
        "CC(=O)OC[C@@H]1O[C@H](n2cc(F)c(=O)[nH]c2=O)[C@H](OC(C)=O)[C@H]1OC(C)=O",
    ],
)
def test_esters_begin_with_the_carbonyl_oxygen_beside_the_alkyl_group(smiles: str) -> None:
    """The other form is 3 to 8 kcal/mol higher, and its carbon atoms are nearly in contact."""
    mol, conformers = made(smiles)
    esters = mol.GetSubstructMatches(Chem.MolFromSmarts("O=[CX3]-!@[OX2]-!@[#6X4]"))
    assert esters
    for xyz in conformers:
        placed = with_conformer(mol, xyz).GetConformer()
        turns = [rdMolTransforms.GetDihedralDeg(placed, *ester) for ester in esters]
        assert np.abs(turns) == pytest.approx(0, abs=35)


@pytest.mark.parametrize("smiles", MOLECULES.values(), ids=MOLECULES)
def test_lengths_and_angles_are_those_of_the_whole_molecule(smiles: str) -> None:
    mol, conformers = made(smiles)
    whole = Chem.Mol(mol)
    embed(whole, 1, "key", 4)
    best = min(
        (
            deviations(mol, with_conformer(mol, xyz).GetConformer(), there)
            for xyz in conformers
            for there in whole.GetConformers()
        ),
        key=lambda both: float(np.median(both[1])),
    )
    assert np.median(best[0]) < 0.01
    assert np.max(best[0]) < 0.06
    assert np.median(best[1]) < 1.5


def deviations(
    mol: Chem.Mol, here: Chem.Conformer, there: Chem.Conformer
) -> tuple[np.ndarray, np.ndarray]:
    """Of the lengths of bonds (Angstrom) and of the angles (degrees) of heavy atoms."""
    heavy = mol.GetNumHeavyAtoms()
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()]
    lengths = [
        rdMolTransforms.GetBondLength(here, *bond) - rdMolTransforms.GetBondLength(there, *bond)
        for bond in bonds
        if max(bond) < heavy
    ]
    near = [[n.GetIdx() for n in a.GetNeighbors() if n.GetIdx() < heavy] for a in mol.GetAtoms()]
    angles = [
        rdMolTransforms.GetAngleDeg(here, a, b, c) - rdMolTransforms.GetAngleDeg(there, a, b, c)
        for b in range(heavy)
        for a in near[b]
        for c in near[b]
        if a < c
    ]
    return np.abs(lengths), np.abs(angles)


def test_no_atoms_of_two_pieces_clash() -> None:
    for smiles in MOLECULES.values():
        assert not any(clashing(*made(smiles)))


def clashing(mol: Chem.Mol, conformers: np.ndarray, too_near: float = TOO_NEAR) -> list[bool]:
    """Whether heavy atoms of each conformer are too near."""
    heavy = mol.GetNumHeavyAtoms()
    distant = Chem.GetDistanceMatrix(mol)[:heavy, :heavy] > 3
    return [
        bool((np.linalg.norm(xyz[:, None] - xyz, axis=-1)[distant] < too_near).any())
        for xyz in conformers[:, :heavy]
    ]


def test_shapes_that_clash_give_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, too_near = ShapeCache(None, 1, 4, 8), 2.6
    monkeypatch.setattr("ligen_py.molecules.ligands.assembly.TOO_NEAR", too_near)
    mol, conformers = made(CLARITHROMYCIN, 8, cache)
    assert len(conformers) == 8
    assert not any(clashing(mol, conformers, too_near))
    assert len({xyz.tobytes() for xyz in conformers}) == 8
    monkeypatch.setattr("ligen_py.molecules.ligands.assembly.BLOCKS", 1)
    fewer = made(CLARITHROMYCIN, 8, cache)[1]
    assert 0 < len(fewer) < 8  # so some of the first eight clash
    assert np.array_equal(fewer, conformers[: len(fewer)])


def test_a_molecule_whose_pieces_always_clash_is_not_joined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ligen_py.molecules.ligands.assembly.TOO_NEAR", 99)
    bare, _, near, torsions = ordered(MOLECULES["imatinib"])
    assert assemble(bare, near, torsions, ShapeCache(None, 1, 4, 4), 4) is None


@pytest.mark.parametrize("smiles", CAGES.values(), ids=CAGES)
def test_hydrogens_of_a_cage_point_outwards_and_its_centres_are_as_drawn(smiles: str) -> None:
    mol, conformers = made(smiles, 4)
    rings = mol.GetRingInfo()
    for xyz in conformers:
        placed = with_conformer(mol, xyz)
        Chem.AssignStereochemistryFrom3D(placed)
        assert Chem.MolToSmiles(Chem.RemoveHs(placed)) == Chem.CanonSmiles(smiles)
        for atom in mol.GetAtoms():
            near = [other.GetIdx() for other in atom.GetNeighbors()]
            hydrogens = [other for other in near if other >= mol.GetNumHeavyAtoms()]
            if rings.NumAtomRings(atom.GetIdx()) > 1 and hydrogens:
                there = xyz[atom.GetIdx()]
                others = xyz[[other for other in near if other not in hydrogens]].mean(axis=0)
                assert (xyz[hydrogens[0]] - there) @ (others - there) < 0


def test_conformers_differ_in_their_rings() -> None:
    mol, conformers = made("CC1CCCCC1")
    turns = {
        round(
            abs(
                rdMolTransforms.GetDihedralDeg(with_conformer(mol, xyz).GetConformer(), 0, 1, 2, 3)
            ),
            -1,
        )
        for xyz in conformers
    }
    assert min(turns) < 90  # axial: gauche to the ring
    assert max(turns) > 150  # equatorial: along the ring


def test_strain_is_the_energy_above_the_lowest_shapes() -> None:
    """Of methylcyclohexane: a chair, that with an axial methyl group (1.6 kcal/mol), boats."""
    bare, _, near, torsions = ordered("CC1CCCCC1")
    found = assemble(bare, near, torsions, ShapeCache(None, 1, 4, 4), 4)
    assert found is not None
    _, alone = found
    assert alone[0] == 0
    assert alone[1] == pytest.approx(1.6, abs=0.3)
    assert alone[2] > 4
    bare, _, near, torsions = ordered("C1CCCCC1CCC1CCCCC1")
    found = assemble(bare, near, torsions, ShapeCache(None, 1, 4, 4), 4)
    assert found is not None
    _, both = found
    assert both[0] == 0
    assert both[1] == both[2]  # one ring or the other
    assert len(both) == 4


def test_strained_conformers_are_made_only_where_all_others_clash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of dicyclohexylethane both rings are chairs; without a limit one of them is a boat."""
    bare, _, near, torsions = ordered("C1CCCCC1CCC1CCCCC1")
    cache = ShapeCache(None, 1, 4, 4)
    every = assemble(bare, near, torsions, cache, 9)
    chairs = assemble(bare, near, torsions, cache, 9, most_strain=4.0)
    assert every is not None
    assert chairs is not None
    assert chairs[1].max() <= 4 < every[1].max()
    wanted = every[1] <= 4
    assert np.array_equal(chairs[0], every[0][wanted])
    assert np.array_equal(chairs[1], every[1][wanted])

    def strained_fit(xyz: np.ndarray, *_: object) -> np.ndarray:
        """As if all but the last ones of a block clashed."""
        return np.arange(len(xyz)) >= wanted.sum()

    monkeypatch.setattr("ligen_py.molecules.ligands.assembly._repaired", strained_fit)
    others = assemble(bare, near, torsions, cache, 9, most_strain=4.0)
    assert others is not None
    assert others[1].min() > 4


def test_the_most_common_shapes_are_combined_first() -> None:
    assert combinations([2, 1, 3], 4).tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 2]]
    assert combinations([1, 1], 4).tolist() == [[0, 0]]


def test_a_molecule_does_not_depend_on_those_before_it(tmp_path: Path) -> None:
    alone = {smiles: made(smiles)[1] for smiles in MOLECULES.values()}
    shared = ShapeCache(tmp_path / "s.sqlite", 1, 4, 4)
    for smiles in reversed(MOLECULES.values()):
        assert np.array_equal(made(smiles, cache=shared)[1], alone[smiles])


def filled(path: Path) -> tuple[list[str], list[Shapes | None]]:
    """A file of shapes as one process leaves it, and what it holds: one piece has no shape."""
    cache = ShapeCache(path, 1, 2, 2)
    pieces = ["CCO", "CC1CCCCC1", IMPOSSIBLE, "[CH2]C"]
    shapes = [cache.shapes(piece) for piece in pieces]
    cache.save()
    return pieces, shapes


def equal(one: Shapes | None, other: Shapes | None) -> bool:
    if one is None or other is None:
        return one is other
    same = np.array_equal(one.xyz, other.xyz) and np.array_equal(one.strain, other.strain)
    return same and one.first == other.first


def test_other_users_share_the_file_as_the_umask_lets_them(tmp_path: Path) -> None:
    for umask, mode in ((0o002, 0o664), (0o077, 0o600)):
        before = os.umask(umask)
        try:
            filled(tmp_path / str(umask))
            filled(tmp_path / str(umask))
        finally:
            os.umask(before)
        assert (tmp_path / str(umask)).stat().st_mode & 0o777 == mode


def test_shapes_pass_through_a_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces, shapes = filled(tmp_path / "s.sqlite")
    monkeypatch.setattr("ligen_py.molecules.ligands.shapes.make_shapes", None)  # none is made
    cache = ShapeCache(tmp_path / "s.sqlite", 1, 2, 2)
    assert all(equal(cache.shapes(p), s) for p, s in zip(pieces, shapes, strict=True))


def test_a_damaged_row_or_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    pieces, shapes = filled(path)
    with sqlite3.connect(path) as file:
        file.execute(
            "update pieces set shapes = substr(shapes, 1, 40) || x'00' || substr(shapes, 42)"
        )
    cache = ShapeCache(path, 1, 2, 2)
    assert all(equal(cache.shapes(p), s) for p, s in zip(pieces, shapes, strict=True))
    path.write_bytes(b"no database at all" * 100)
    cache = ShapeCache(path, 1, 2, 2)
    assert equal(cache.shapes(pieces[1]), shapes[1])


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert equal(
        ShapeCache(tmp_path / "file" / "s", 1, 2, 2).shapes("CCO"), make_shapes("CCO", 1, 2, 2)
    )


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    one, other = (ShapeCache(path, 1, 2, 2) for _ in range(2))
    for cache, piece in ((one, "CCO"), (other, "CCN"), (one, "CCC")):
        cache.shapes(piece)
        cache.save()
    with sqlite3.connect(path) as file:
        rows = file.execute("select piece from pieces").fetchall()
    assert sorted(row.rpartition("/")[2] for (row,) in rows) == ["CCC", "CCN", "CCO"]


def test_a_file_that_others_hold_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ligen_py.molecules.ligands.shapes.WAIT", 0.01)
    path = tmp_path / "s.sqlite"
    pieces, shapes = filled(path)
    cache = ShapeCache(path, 1, 2, 2)
    with sqlite3.connect(path) as holder:
        holder.execute("begin exclusive")
        assert all(equal(cache.shapes(p), s) for p, s in zip(pieces, shapes, strict=True))
        cache.shapes("CCN")
        cache.save()
    cache.save()  # what could not be written is tried again
    with sqlite3.connect(path) as file:
        (count,) = file.execute("select count(*) from pieces where piece like '%/CCN'").fetchone()
    assert count == 1


def test_a_damaged_file_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "s.sqlite"
    check_file(path, "delete it")
    filled(path)
    check_file(path, "delete it")
    assert not caplog.messages
    path.write_bytes(b"no database at all" * 100)
    check_file(path, "delete it")
    assert caplog.messages == [f"{path}: not a file of shapes, so none are kept; delete it"]


def test_another_programs_database_stays_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "mine.db"
    with sqlite3.connect(path) as file:
        file.execute("create table orders (name text)")
    before = path.read_bytes()
    check_file(path, "name another file")
    cache = ShapeCache(path, 1, 2, 2)
    cache.shapes("CCO")
    cache.save()
    assert path.read_bytes() == before
    assert caplog.messages[0].endswith("not a file of shapes, so none are kept; name another file")


def test_a_piece_without_a_shape_has_none() -> None:
    assert make_shapes("no SMILES", 1, 1, 1) is None
    assert make_shapes("[CH2]C", 1, 1, 1) is None  # a radical: a fragment cut in the wrong place


def test_a_cage_without_hydrogens_at_its_fusions_may_be_impossible() -> None:
    """Procymidone, with its methyl groups on two sides and on one."""
    trans, cis = (f"C[C@]12C[C@{mark}]1(C)C(=O)NC2=O" for mark in ("", "@"))
    shapes = make_shapes(trans, 1, 4, 4)
    assert shapes is not None
    assert len(shapes.xyz) == len(shapes.strain) == 0
    shapes = make_shapes(cis, 1, 4, 4)
    assert shapes is not None
    assert len(shapes.xyz) == len(shapes.strain) > 0


def test_a_cage_that_takes_many_attempts_is_not_impossible() -> None:
    """With seed 1 the first ten fail."""
    smiles = "C[1O][C@@H]1C[N@+]2(C)CC[C@H]1CC2"
    _, _, free = conformers._piece_ways(1, smiles)
    mol = conformers._with_fusions(Chem.MolFromSmiles(smiles))
    assert rdDistGeom.EmbedMolecule(mol, free) == -1
    shapes = make_shapes(smiles, 1, 1, 1)
    assert shapes is not None
    assert len(shapes.xyz) == 1


@pytest.mark.parametrize("smiles", ["C1CCCCCCC1", "O=C1CCCCCCCCCCN1"])
def test_a_macrocycle_has_the_shapes_of_all_its_conformers(
    smiles: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of them are made first, and are enough where all of these differ."""
    counts = []
    embed = rdDistGeom.EmbedMultipleConfs

    def counted(mol: Chem.Mol, count: int, way: rdDistGeom.EmbedParameters) -> Any:
        counts.append(count)
        return embed(mol, count, way)

    monkeypatch.setattr(conformers.rdDistGeom, "EmbedMultipleConfs", counted)
    found = make_shapes(smiles, 1, 4, 6)
    assert counts == [6, 12] if len(found.xyz) < 6 else [6]
    monkeypatch.setattr(conformers, "macrocycle", lambda rings: 0)
    other = make_shapes(smiles, 1, 4, 6)
    assert counts[-1] == 12
    assert len(found.xyz) == len(other.xyz)


def test_stereocentres_that_exclude_each_other_are_known_from_the_piece() -> None:
    shapes = make_shapes(IMPOSSIBLE, 1, 1, 1)
    assert shapes is not None
    assert len(shapes.xyz) == 0
    cache = ShapeCache(None, 1, 1, 1)
    bare, _, near, torsions = ordered("c1ccccc1CC" + IMPOSSIBLE)
    with pytest.raises(NoConformerError, match="exclude each other"):
        assemble(bare, near, torsions, cache, 1)
    assert not can_exist(bare, near, torsions, cache)
    assert can_exist(*[ordered("c1ccccc1CC" + POSSIBLE)[i] for i in (0, 2, 3)], cache)
