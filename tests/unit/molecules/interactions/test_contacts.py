"""Interactions: made-up geometries about each limit, and crystal complexes by ProLIF."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gemmi
import numpy as np
import pytest
from rdkit import Chem

from ligen_py import pocket
from ligen_py.molecules.elements import COVALENT_RADIUS
from ligen_py.molecules.interactions.contacts import KINDS, contacts
from ligen_py.molecules.interactions.ligand import ligand_groups
from ligen_py.molecules.interactions.receptor import RADIUS, _acids, _flat_rings, surroundings
from ligen_py.records.functions.xscore import Interaction
from ligen_py.records.site import Site
from ligen_py.settings.pocket import PocketSettings, Structure
from ligen_py.settings.pocket import Site as SiteSettings
from ligen_py.store.campaign.site import read_site
from tests.data.sources import COMPLEXES, ligand, ligand_file, structure_file
from tests.goldens import rows

Atom = tuple[str, int, Sequence[float], Interaction]
DONOR, ACCEPTOR = Interaction.DONOR, Interaction.ACCEPTOR
BOTH, GREASY = Interaction.DONOR_ACCEPTOR, Interaction.HYDROPHOBIC


def site(*atoms: Atom, hydrogens: Sequence[Sequence[float]] = ()) -> Site:
    """Atoms by label `A/RES/1/NAME`, element, position and role; then hydrogens."""
    names = [label.rpartition("/")[0] for label, *_ in atoms]
    order = list(dict.fromkeys(names))
    count, bare = len(atoms), len(hydrogens)
    return Site(
        xyz=np.array([*(xyz for _, _, xyz, _ in atoms), *hydrogens], "f4"),
        element=np.array([*(element for _, element, _, _ in atoms), *[1] * bare], "u1"),
        residue=np.array([*(order.index(name) for name in names), *[0] * bare], "i4"),
        label=np.array([*(label for label, *_ in atoms), *[atoms[0][0]] * bare], object),
        role=np.array([*(role for *_, role in atoms), *[Interaction.NONE] * bare], "u1"),
        conformation=np.array([""] * (count + bare), object),
        receptor=np.array(["protein.pdb"], object),
        box=np.array([""], object),
        warning=np.array([], object),
    )


def kinds(smiles: str, xyz: Iterable[Sequence[float]], around: Site) -> list[tuple[str, str]]:
    """Kind and residue of the contacts of a ligand, whose hydrogens RDKit builds.

    Each contact's distance is that of its ends.
    """
    mol = Chem.MolFromSmiles(smiles)
    conformer = Chem.Conformer(mol.GetNumAtoms())
    conformer.SetPositions(np.array(list(xyz), float))
    mol.AddConformer(conformer)
    mol = Chem.AddHs(mol, addCoords=True)
    found = contacts(ligand_groups(mol, mol.GetConformer().GetPositions()), surroundings(around))
    assert [one.distance for one in found] == pytest.approx(
        [float(np.linalg.norm(np.subtract(one.start, one.end))) for one in found], abs=1e-5
    )
    return [(one.kind, one.residue) for one in found]


ACETATE = ((0, 0, 0), (1.52, 0, 0), (2.15, 1.08, 0), (2.15, -1.08, 0))
"""CC(=O)[O-] along x."""


@pytest.mark.parametrize(("apart", "bonded"), [(2.8, True), (3.4, True), (3.6, False)])
def test_a_hydrogen_bond_has_a_distance(apart: float, bonded: bool) -> None:
    """A backbone nitrogen, with its hydrogen on the line to the ligand's oxygen."""
    x, y = 2.15 + apart, 1.08
    around = site(
        ("A/ALA/7/N", 7, (x, y, 0), DONOR),
        ("A/ALA/7/CA", 6, (x + 0.7, y + 1.25, 0), Interaction.POLAR),
        ("A/ALA/6/C", 6, (x + 0.7, y - 1.2, 0), Interaction.POLAR),
        hydrogens=[(x - 1.0, y, 0)],
    )
    found = kinds("CC(=O)[O-]", ACETATE, around)
    assert (("hydrogen bond", "ALA7 A") in found) == bonded


@pytest.mark.parametrize(("degrees", "bonded"), [(0, True), (30, True), (40, False), (180, False)])
def test_a_hydrogen_bond_has_an_angle(degrees: float, bonded: bool) -> None:
    """The hydrogen leaves the line by so many degrees at the nitrogen."""
    x, y, turn = 2.15 + 2.9, 1.08, np.radians(degrees)
    around = site(
        ("A/ALA/7/N", 7, (x, y, 0), DONOR),
        ("A/ALA/7/CA", 6, (x + 0.7, y + 1.25, 0), Interaction.POLAR),
        ("A/ALA/6/C", 6, (x + 0.7, y - 1.2, 0), Interaction.POLAR),
        hydrogens=[(x - np.cos(turn), y + np.sin(turn), 0)],
    )
    found = kinds("CC(=O)[O-]", ACETATE, around)
    assert (("hydrogen bond", "ALA7 A") in found) == bonded


def test_a_hydroxyl_turns_to_where_it_binds() -> None:
    """Its hydrogen points away in the file; the angle at the oxygen decides, not the hydrogen."""
    x, y = 2.15 + 2.8, 1.08

    def serine(carbon: Sequence[float], hydrogen: Sequence[float]) -> Site:
        return site(
            ("A/SER/3/OG", 8, (x, y, 0), BOTH),
            ("A/SER/3/CB", 6, carbon, Interaction.POLAR),
            hydrogens=[hydrogen],
        )

    bent = serine((x + 0.5, y + 1.33, 0), (x + 0.3, y - 0.9, 0))
    assert ("hydrogen bond", "SER3 A") in kinds("CC(=O)[O-]", ACETATE, bent)
    across = serine((x - 1.3, y + 0.55, 0), (x + 0.3, y - 0.9, 0))  # the carbon is in the way
    assert ("hydrogen bond", "SER3 A") not in kinds("CC(=O)[O-]", ACETATE, across)


@pytest.mark.parametrize(("apart", "bound"), [(3.0, True), (4.4, True), (4.6, False)])
def test_a_salt_bridge_has_a_distance(apart: float, bound: bool) -> None:
    around = site(
        ("A/LYS/5/NZ", 7, (2.15 + apart, 1.08, 0), DONOR),
        ("A/LYS/5/CE", 6, (3.3 + apart, 2.0, 0), Interaction.POLAR),
    )
    assert (("salt bridge", "LYS5 A") in kinds("CC(=O)[O-]", ACETATE, around)) == bound
    assert ("salt bridge", "LYS5 A") not in kinds("CC(=O)O", ACETATE, around)


@pytest.mark.parametrize(
    ("hydrogens", "bound"),
    [([], True), ([(5.9, 1.3, 0)], False), ([(6.1, -0.5, 0)], False), ([(9.0, 0, 0)], True)],
)
@pytest.mark.parametrize("name", ["ASP", "ASH"])
def test_an_acid_with_a_hydrogen_bridges_no_salt(
    name: str, hydrogens: list[Sequence[float]], bound: bool
) -> None:
    around = site(
        (f"A/{name}/25/OD1", 8, (5.0, 1.1, 0), ACCEPTOR),
        (f"A/{name}/25/OD2", 8, (5.2, -0.9, 0), ACCEPTOR),
        (f"A/{name}/25/CG", 6, (5.7, 0.1, 1.1), Interaction.POLAR),
        hydrogens=hydrogens,
    )
    found = kinds("C[NH3+]", [(0.2, 0, 0), (1.7, 0, 0)], around)
    assert (("salt bridge", f"{name}25 A") in found) == bound


@pytest.mark.parametrize(("count", "bound"), [(0, True), (2, False), (3, True)])
def test_a_lysine_with_two_hydrogens_bridges_no_salt(count: int, bound: bool) -> None:
    x, y = 2.15 + 3.2, 1.08
    places = [(x - 0.5, y + 0.85, 0), (x - 0.5, y - 0.85, 0), (x, y, 1.0)]
    around = site(
        ("A/LYN/5/NZ", 7, (x, y, 0), DONOR),
        ("A/LYN/5/CE", 6, (x + 1.2, y + 0.8, 0), Interaction.POLAR),
        hydrogens=places[:count],
    )
    assert (("salt bridge", "LYN5 A") in kinds("CC(=O)[O-]", ACETATE, around)) == bound


@pytest.mark.parametrize(
    ("residue", "hydrogens", "bound"), [("GLY", 3, True), ("LYS", 3, True), ("GLY", 2, False)]
)
def test_the_ammonium_of_a_first_residue_bridges_a_salt(
    residue: str, hydrogens: int, bound: bool
) -> None:
    x, y = 2.15 + 3.2, 1.08
    places = [(x - 0.5, y + 0.85, 0), (x - 0.5, y - 0.85, 0), (x, y, 1.0)]
    around = site(
        (f"A/{residue}/1/N", 7, (x, y, 0), DONOR),
        (f"A/{residue}/1/CA", 6, (x + 1.2, y + 0.8, 0), Interaction.POLAR),
        hydrogens=places[:hydrogens],
    )
    found = kinds("CC(=O)[O-]", ACETATE, around)
    assert (("salt bridge", f"{residue}1 A") in found) == bound


@pytest.mark.parametrize(("length", "bound"), [(1.23, False), (9.0, True)])
def test_the_amide_of_a_lysine_bridges_no_salt(length: float, bound: bool) -> None:
    """Biotinyl-lysine; without the oxygen it is the imine of pyridoxal phosphate."""
    x, y = 2.15 + 2.9, 1.08
    around = site(
        ("A/LYS/5/NZ", 7, (x, y, 0), DONOR),
        ("A/LYS/5/CE", 6, (x + 0.8, y + 1.2, 0), Interaction.POLAR),
        ("A/BTN/9/C11", 6, (x + 0.7, y - 1.15, 0), Interaction.POLAR),
        ("A/BTN/9/O11", 8, (x + 0.7, y - 1.15 - length, 0), Interaction.ACCEPTOR),
        ("A/BTN/9/C10", 6, (x + 2.2, y - 1.15, 0), GREASY),
        hydrogens=[(x - 1.0, y, 0)],
    )
    assert (("salt bridge", "LYS5 A") in kinds("CC(=O)[O-]", ACETATE, around)) == bound


@pytest.mark.parametrize(("partner", "apart"), [(6, 1.43), (6, 9.0), (7, 1.33)])
def test_the_ester_and_the_amide_of_an_aspartate_bridge_no_salt(partner: int, apart: float) -> None:
    oxygen, carbon = np.array([4.4, 0, 0]), np.array([5.6, 0, 0])
    other = np.array([6.2, 1.1, 0])
    far = other + np.array([apart, 0, 0]) if partner == 6 else carbon + np.array([0.6, -1.2, 0])
    around = site(
        ("A/ASP/5/OD1", 8, oxygen, Interaction.ACCEPTOR),
        ("A/ASP/5/CG", 6, carbon, Interaction.POLAR),
        ("A/ASP/5/OD2", 8, other, Interaction.ACCEPTOR),
        ("A/XYZ/9/X", partner, far, Interaction.POLAR),
    )
    methylammonium = ((1.5, 0, 0), (0, 0, 0))
    found = ("salt bridge", "ASP5 A") in kinds("[NH3+]C", methylammonium, around)
    assert found == (partner == 6 and apart > 2)


def test_trimethyllysine_is_charged() -> None:
    names = ("CE", "CM1", "CM2", "CM3")
    ends = [(7.0, 1.0, 1.4), (7.0, 1.0, -0.9), (5.4, 2.2, -0.6), (5.0, 0, -0.9)]
    carbons: list[Any] = [
        (f"A/M3L/4/{name}", 6, xyz, GREASY) for name, xyz in zip(names, ends, strict=True)
    ]
    around = site(("A/M3L/4/NZ", 7, (5.8, 1.0, 0), Interaction.POLAR), *carbons)
    assert ("salt bridge", "M3L4 A") in kinds("CC(=O)[O-]", ACETATE, around)


def hexagon(centre: Sequence[float], across: Sequence[float], up: Sequence[float]) -> np.ndarray:
    angles = np.radians(60 * np.arange(6))
    a, b = np.array(across, float), np.array(up, float)
    return np.array(centre) + 1.39 * (np.cos(angles)[:, None] * a + np.sin(angles)[:, None] * b)


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


@pytest.mark.parametrize(
    ("centre", "across", "up", "stacked"),
    [
        ((0, 0, 3.7), X, Y, True),  # face to face
        ((1.5, 0, 3.6), X, Y, True),  # with an offset
        ((4.2, 0, 3.4), X, Y, False),  # beside each other
        ((0, 0, 6.0), X, Y, False),
        ((0, 0, 5.0), X, Z, True),  # an edge on a face
        ((0, 0, 6.8), X, Z, False),
        ((5.0, 0, 0), X, Y, False),  # in one plane
    ],
)
def test_rings_stack(
    centre: Sequence[float], across: Sequence[float], up: Sequence[float], stacked: bool
) -> None:
    names = ["CG", "CD1", "CE1", "CZ", "CE2", "CD2"]
    places = hexagon(centre, across, up).tolist()
    atoms: list[Any] = [
        (f"A/PHE/9/{name}", 6, xyz, GREASY) for name, xyz in zip(names, places, strict=True)
    ]
    found = kinds("c1ccccc1", hexagon((0, 0, 0), X, Y), site(*atoms))
    assert (("pi stacking", "PHE9 A") in found) == stacked


@pytest.mark.parametrize(
    ("residue", "names", "stacked"),
    [
        ("PTR", "CG CD1 CE1 CZ CE2 CD2", True),
        ("FOL", "C11 C12 C13 C14 C15 C16", True),  # its glutamate has a CA, too
        ("HYP", "CA CB CG CD1 CD2 N", False),
        ("PRO", "C1 C2 C3 C4 C5 C6", False),
    ],
)
def test_rings_of_modified_residues_stack(residue: str, names: str, stacked: bool) -> None:
    places = hexagon((0, 0, 3.7), X, Y).tolist()
    atoms: list[Any] = [
        (f"A/{residue}/9/{name}", 6, xyz, GREASY)
        for name, xyz in zip(names.split(), places, strict=True)
    ]
    alpha = (f"A/{residue}/9/CA", 6, (9.0, 0, 3.7), Interaction.POLAR)
    found = kinds("c1ccccc1", hexagon((0, 0, 0), X, Y), site(*atoms, alpha))
    assert (("pi stacking", f"{residue}9 A") in found) == stacked


def test_a_charge_above_a_ring() -> None:
    names = ["CG", "CD1", "CE1", "CZ", "CE2", "CD2"]
    places = hexagon((0, 0, 0), X, Y).tolist()
    atoms: list[Any] = [
        (f"A/PHE/9/{name}", 6, xyz, GREASY) for name, xyz in zip(names, places, strict=True)
    ]

    def methylammonium(x: float, z: float) -> list[tuple[str, str]]:
        return kinds("C[NH3+]", [(x, 0, z + 1.48), (x, 0, z)], site(*atoms))

    assert ("cation-pi", "PHE9 A") in methylammonium(0, 3.8)
    assert ("cation-pi", "PHE9 A") in methylammonium(1.5, 3.6)
    assert ("cation-pi", "PHE9 A") not in methylammonium(0, 4.7)
    assert ("cation-pi", "PHE9 A") not in methylammonium(3.4, 2.0)
    assert ("cation-pi", "PHE9 A") not in kinds(
        "CN", [(0, 0, 5.3), (0, 0, 3.8)], site(*atoms)
    )  # fmt: skip


def test_a_halogen_bond_is_straight_and_meets_the_lone_pair() -> None:
    carbonyl = (
        ("A/GLY/2/O", 8, (3.1, 0, 0), ACCEPTOR),
        ("A/GLY/2/C", 6, (3.7, 1.05, 0), Interaction.POLAR),
    )
    straight = [(-1.9, 0, 0), (0, 0, 0)]
    bent = [(0.4, 1.85, 0), (0, 0, 0)]
    assert ("halogen bond", "GLY2 A") in kinds("CBr", straight, site(*carbonyl))
    assert ("halogen bond", "GLY2 A") not in kinds("CBr", bent, site(*carbonyl))
    assert ("halogen bond", "GLY2 A") not in kinds("CF", straight, site(*carbonyl))
    along = (carbonyl[0], ("A/GLY/2/C", 6, (4.33, 0, 0), Interaction.POLAR))
    assert ("halogen bond", "GLY2 A") not in kinds("CBr", straight, site(*along))


def test_a_metal_and_a_water_that_bridges() -> None:
    metal = site(("A/ZN/1/ZN", 30, (2.15 + 2.1, 1.08, 0), Interaction.METAL))
    assert kinds("CC(=O)[O-]", ACETATE, metal) == [("metal", "ZN1 A")]
    water = site(
        ("A/HOH/8/O", 8, (2.15 + 2.8, 1.08, 0), Interaction.NONE),
        ("A/ASP/4/OD1", 8, (2.15 + 5.5, 1.08, 0), ACCEPTOR),
        ("A/ASP/4/CG", 6, (2.15 + 6.7, 1.08, 0), Interaction.POLAR),
    )
    found = kinds("CC(=O)[O-]", ACETATE, water)
    assert found == [("water", "HOH8 A"), ("water bridge", "ASP4 A")]


def test_nonpolar_contacts_are_one_a_residue() -> None:
    around = site(
        ("A/VAL/1/CB", 6, (0, 3.8, 0), GREASY),
        ("A/VAL/1/CG1", 6, (1.4, 4.0, 0.5), GREASY),
        ("A/SER/2/CB", 6, (0, -3.8, 0), Interaction.POLAR),
        ("A/SER/2/OG", 8, (0, -5.2, 0), BOTH),
    )
    assert kinds("CC", [(0, 0, 0), (1.54, 0, 0)], around) == [("hydrophobic", "VAL1 A")]


def test_every_kind_has_a_letter_of_its_own() -> None:
    assert len(set(KINDS.values())) == len(KINDS)


STANDARD = frozenset(gemmi.expand_one_letter_sequence("ACDEFGHIKLMNPQRSTVWY", gemmi.ResidueKind.AA))
COMPARED = ("hydrogen bond", "pi stacking", "halogen bond", "hydrophobic")


def both(
    folder: Path, name: str, structure: Path, crystal: Path, chains: str, mol: Chem.Mol
) -> set[tuple[str, str]]:
    """Residues and kinds by this program, of amino acids."""
    file = folder / f"{name}.h5"
    asked = pocket.Inputs(
        structure, Structure(chains=tuple(chains)), SiteSettings(ligand=str(crystal))
    )
    pocket.run(asked, PocketSettings(), None, file)
    part: Any = SimpleNamespace(pocket=file, conformation="")
    around = surroundings(read_site([part]))
    found = contacts(ligand_groups(mol, mol.GetConformer().GetPositions()), around)
    return {
        (one.residue, one.kind)
        for one in found
        if one.kind in COMPARED and one.residue[:3] in STANDARD
    }


def compared(found: dict[str, set[tuple[str, str]]]) -> dict[str, tuple[int, int, int]]:
    """Of each kind: residues by both programs, by ours only, by ProLIF only."""
    expected: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in rows("prolif.tsv"):
        expected[row["complex"]].add((row["residue"], row["kind"]))
    counts = {}
    for kind in COMPARED:
        ours = {(name, *one) for name, own in found.items() for one in own if one[1] == kind}
        theirs = {(name, *one) for name in found for one in expected[name] if one[1] == kind}
        counts[kind] = len(ours & theirs), len(ours - theirs), len(theirs - ours)
    return counts


def test_crystal_complexes_have_the_interactions_that_prolif_finds(tmp_path: Path) -> None:
    found = {
        name: both(tmp_path, name, structure_file(name), ligand_file(name), chains, ligand(name))
        for name, chains in COMPLEXES.items()
    }
    counts = compared(found)
    shared, ours, theirs = counts["hydrogen bond"]
    assert shared >= 8
    assert theirs == 0
    assert ours <= 3  # hydroxyls that turn
    assert counts["pi stacking"][2] == 0
    assert counts["pi stacking"][1] <= 1


def test_fourteen_complexes_have_the_interactions_that_prolif_finds(
    shared_data: Path, tmp_path: Path
) -> None:
    """Every second of those in which ProLIF finds some: both halogen bonds are among them."""
    known = {row["complex"] for row in rows("prolif.tsv")}
    found = {}
    folders = [one for one in sorted((shared_data / "redock").iterdir()) if one.name in known]
    for folder in folders[1::2]:
        mol = Chem.MolFromMolFile(str(folder / "ligand.sdf"))
        mol = Chem.AddHs(mol, addCoords=True)
        files = folder / "protein.pdb", folder / "ligand.sdf"
        found[folder.name] = both(tmp_path, folder.name, *files, "", mol)
    counts = compared(found)
    for kind, least, most_ours, most_theirs in (
        ("hydrogen bond", 27, 10, 0),
        ("pi stacking", 8, 1, 0),
        ("halogen bond", 2, 0, 0),
        # PLIP's limit is 4.0 Å, ProLIF's 4.5, and ProLIF leaves methyl groups out.
        ("hydrophobic", 53, 60, 18),
    ):
        shared, ours, theirs = counts[kind]
        assert shared >= least, (kind, counts[kind])
        assert ours <= most_ours, (kind, counts[kind])
        assert theirs <= most_theirs, (kind, counts[kind])


def test_covalent_radii_stand_at_their_elements() -> None:
    table = Chem.GetPeriodicTable()
    for symbol in ("B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Se", "Br", "I"):
        assert RADIUS[table.GetAtomicNumber(symbol)] == COVALENT_RADIUS[symbol.upper()], symbol
        assert RADIUS[table.GetAtomicNumber(symbol)] == pytest.approx(
            table.GetRcovalent(symbol), abs=0.12
        )


@pytest.mark.parametrize(
    "symbol", ["Li", "Na", "Mg", "Al", "K", "Ca", "Sc", "Zn", "Ga", "Rb", "Sn"]
)
def test_metals_of_a_ligand(symbol: str) -> None:
    assert ligand_groups(Chem.MolFromSmiles(f"[{symbol}]"), np.zeros((1, 3))).metals == [0]


@pytest.mark.parametrize("symbol", ["Be", "B", "Ne", "Si", "P", "Ar", "Ge", "Se", "Kr", "Sb", "I"])
def test_what_is_no_metal_of_a_ligand(symbol: str) -> None:
    assert ligand_groups(Chem.MolFromSmiles(f"[{symbol}]"), np.zeros((1, 3))).metals == []


@pytest.mark.parametrize(
    ("elements", "raised", "count"),
    [
        ([6] * 6, 0.0, 1),
        ([6, 7, 6, 7, 6, 6], 0.0, 1),
        ([7, 6, 7, 6, 6], 0.0, 1),
        ([6, 8, 6, 6, 6], 0.0, 0),
        ([16, 6, 6, 6, 6], 0.0, 0),
        ([6] * 4, 0.0, 0),
        ([6] * 7, 0.0, 0),
        # One atom out of the plane moves the centre and the plane, too: two thirds of it remain.
        ([6] * 6, 0.08, 1),
        ([6] * 6, 0.40, 0),
    ],
)
def test_flat_rings_of_a_cofactor(elements: list[int], raised: float, count: int) -> None:
    size = len(elements)
    turns = 2 * np.pi * np.arange(size) / size
    xyz = 1.39 * np.column_stack([np.cos(turns), np.sin(turns), np.zeros(size)])
    xyz[0, 2] = raised
    around = [[(i - 1) % size, (i + 1) % size] for i in range(size)]
    found = list(_flat_rings(np.arange(size), xyz, np.array(elements), around))
    assert len(found) == count


@pytest.mark.parametrize(("height", "flat"), [(0.075, True), (0.085, False)])
def test_a_chair_of_a_twelfth_of_an_angstrom_is_not_flat(height: float, flat: bool) -> None:
    """Every other atom above the mean plane, the others below."""
    turns = np.pi * np.arange(6) / 3
    heights = height * np.array([1, -1, 1, -1, 1, -1])
    xyz = np.column_stack([1.39 * np.cos(turns), 1.39 * np.sin(turns), heights])
    around = [[(i - 1) % 6, (i + 1) % 6] for i in range(6)]
    assert len(list(_flat_rings(np.arange(6), xyz, np.full(6, 6), around))) == flat


@pytest.mark.parametrize(("apart", "held"), [(1.29, True), (1.31, False)])
def test_a_hydrogen_belongs_to_an_atom_within_a_bond(apart: float, held: bool) -> None:
    around = surroundings(
        site(("A/LYS/7/NZ", 7, (0, 0, 0), DONOR), hydrogens=[(apart, 0, 0)]),
    )
    assert len(around.groups.donors) == held


def test_an_atom_needs_no_residue() -> None:
    around = surroundings(site(("NZ", 7, (0, 0, 0), DONOR), hydrogens=[(1, 0, 0)]))
    assert around.name == ["NZ"]
    assert len(around.groups.donors) == 1


@pytest.mark.parametrize(
    ("centre", "bonded", "count", "protonated"),
    [
        (15, 4, 4, 3), (16, 4, 4, 3), (6, 2, 2, 0), (6, 3, 3, 2),
        (6, 1, 0, 0), (7, 3, 0, 0), (17, 4, 0, 0),
    ],
)  # fmt: skip
def test_acids_of_a_cofactor(centre: int, bonded: int, count: int, protonated: int) -> None:
    """Phosphate, sulfate, carboxylate, carbonate; not a ketone, a nitrate or a perchlorate.

    With one hydrogen a carboxylate is neutral, the others are not.
    """
    element = np.array([centre, *[8] * bonded])
    around = [list(range(1, bonded + 1)), *([[0]] * bonded)]
    held = [np.empty((0, 3))] * len(element)
    kind, names = ["XYZ"] * len(element), ["X"] * len(element)
    assert len(_acids(element, kind, names, around, held)) == count
    held = [np.empty((0, 3)), np.zeros((1, 3)), *held[2:]]
    assert len(_acids(element, kind, names, around, held)) == protonated
    glu = ["GLU"] * len(element)
    assert _acids(element, glu, ["OE1"] * len(element), around, held) == []  # from the table
    assert len(_acids(element, glu, ["OXT"] * len(element), around, held)) == protonated


@pytest.mark.parametrize(
    ("smiles", "positive", "negative"),
    [
        ("C[NH3+]", "N", ""), ("CC(=O)[O-]", "", "OO"), ("CS(=O)(=O)[O-]", "", "OOO"),
        # Whichever atom the drawing puts the charge on.
        ("Cc1c[nH]c[nH+]1", "NN", ""), ("Cc1c[nH+]c[nH]1", "NN", ""), ("Nc1cccc[nH+]1", "NN", ""),
        ("CC(N)=[NH2+]", "NN", ""), ("CNC(N)=[NH2+]", "NNN", ""), ("CC1=[NH+]CCN1", "NN", ""),
        ("Cc1nnn[n-]1", "", "NNNN"), ("Cc1nn[n-]n1", "", "NNNN"), ("Cc1nc[n-]n1", "", "NNN"),
        # Balanced on the spot, or not shared.
        ("C[N+](=O)[O-]", "", ""), ("c1c[nH]c([N+](=O)[O-])n1", "", ""), ("C[NH+](C)[O-]", "", ""),
        ("Nc1cccc[n+]1[O-]", "", ""), ("NCC[NH3+]", "N", ""), ("Nc1cc[nH+]cc1", "N", ""),
        ("CN=[N+]=[N-]", "", ""), ("NC(=O)C=[N+]=[N-]", "", ""),
    ],
)  # fmt: skip
def test_charges_of_a_ligand_and_where_resonance_puts_them(
    smiles: str, positive: str, negative: str
) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    groups = ligand_groups(mol, np.zeros((mol.GetNumAtoms(), 3)))
    for rows_of, wanted in ((groups.positive, positive), (groups.negative, negative)):
        assert "".join(mol.GetAtomWithIdx(row).GetSymbol() for row in rows_of) == wanted


@pytest.mark.parametrize(
    ("smiles", "accepting"),
    [
        ("CC(=O)OC", [2]), ("CC(=O)Oc1ccccc1", [2]), ("CNC(=O)OC", [3]), ("COC", [1]),
        ("c1ccccc1Oc1ccccc1", []), ("COc1ccccc1", [1]), ("c1ccoc1", []),
        ("C[N+](=O)[O-]", []), ("CO[N+](=O)[O-]", [1]), ("C[N+](C)(C)[O-]", [4]),
        ("CC=[N+](C)[O-]", [4]), ("[O-][n+]1ccccc1", [0]), ("CN=O", [1, 2]),
    ],
)  # fmt: skip
def test_which_atoms_of_a_ligand_accept(smiles: str, accepting: list[int]) -> None:
    """Not the bridging oxygen of an ester, nor a nitro group; an N-oxide does."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    assert ligand_groups(mol, np.zeros((mol.GetNumAtoms(), 3))).acceptors == accepting


@pytest.mark.parametrize(
    ("smiles", "charged"),
    [
        ("CS(=O)C", 0), ("CS(=O)(=O)C", 0), ("CS(=O)(=O)N", 0), ("CSO", 0), ("CP(C)(C)=O", 0),
        ("COP(=O)(OC)OC", 0), ("CS(=O)[O-]", 2), ("CS(=O)(=O)[O-]", 3), ("COS(=O)(=O)[O-]", 3),
        ("COP(=O)([O-])OC", 2), ("COP(=O)([O-])[O-]", 3), ("COP(=S)([O-])OC", 1),
    ],
)  # fmt: skip
def test_which_oxygens_on_sulfur_and_phosphorus_are_charged(smiles: str, charged: int) -> None:
    """Dimethyl sulfoxide and oxidised methionine are neutral."""
    mol = Chem.MolFromSmiles(smiles)
    element = np.array([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    around = [[other.GetIdx() for other in atom.GetNeighbors()] for atom in mol.GetAtoms()]
    bare = [np.empty((0, 3))] * len(element)
    kind, names = ["XYZ"] * len(element), ["X"] * len(element)
    assert len(_acids(element, kind, names, around, bare)) == charged


@pytest.mark.parametrize(
    ("smiles", "hydrogens", "turns"),
    [
        ("CO", 1, True), ("CS", 1, True), ("C[NH3+]", 3, True),
        # These are flat, or held by two atoms; a water has no bond to turn about.
        ("CNC", 1, False), ("C[NH2+]C", 2, False), ("CC(=O)N", 2, False), ("O", 2, False),
    ],
)  # fmt: skip
def test_donors_that_turn_about_a_bond(smiles: str, hydrogens: int, turns: bool) -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    (donor,) = ligand_groups(mol, np.zeros((mol.GetNumAtoms(), 3))).donors
    assert len(donor.hydrogens) == hydrogens
    assert (donor.neighbour is not None) == turns
