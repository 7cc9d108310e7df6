"""What is kept of a structure file, on files of a few atoms written here."""

import gzip
import random
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from ligen_py.errors import InputError
from ligen_py.molecules.receptor import protonation
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.preparation import Prepared, prepare
from ligen_py.molecules.receptor.selection import Selection, near_pairs
from ligen_py.molecules.receptor.site import (
    Site,
    nearby,
    site_at,
    site_of_ligand,
    site_of_residue,
    site_of_residues,
)
from ligen_py.molecules.receptor.structure import read_atoms
from ligen_py.molecules.receptor.writing import receptor_pdb
from ligen_py.molecules.typing.xscore_residues import receptor_type
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.vina import VinaType
from ligen_py.records.functions.xscore import Interaction
from ligen_py.records.pocket import Audit
from ligen_py.settings.pocket import PocketSettings, Structure
from tests.mini import DHFR

LIGAND = """ligand
  test

  3  2  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0
    1.5000    0.0000    0.0000 C   0  0
   -0.4000    0.0000    1.0000 H   0  0
  1  2  1  0
  1  3  1  0
M  END
$$$$
"""

CENTER = (0.75, 0.0, 0.0)


def atom(
    name: str,
    residue: str,
    number: int,
    xyz: tuple[float, float, float],
    element: str = "C",
    chain: str = "A",
    altloc: str = " ",
    occupancy: float = 1.0,
    record: str = "ATOM",
    insertion: str = " ",
) -> str:
    x, y, z = xyz
    padded = name if len(name) == 4 or len(element) == 2 else f" {name}"
    return (
        f"{record:<6}{1:5d} {padded:<4}{altloc}{residue:>3} {chain}{number:4d}{insertion}   "
        f"{x:8.3f}{y:8.3f}{z:8.3f}{occupancy:6.2f}{0.0:6.2f}          {element:>2}"
    )


def het(*args: object, **kwargs: object) -> str:
    return atom(*args, record="HETATM", **kwargs)  # type: ignore[arg-type]


# Two linked alanines beside the site, and one that no box reaches.
ALANINES = [
    atom("N", "ALA", 1, (5.0, 0.0, 0.0), "N"),
    atom("CA", "ALA", 1, (6.45, 0.0, 0.0)),
    atom("C", "ALA", 1, (7.0, 1.42, 0.0)),
    atom("O", "ALA", 1, (6.3, 2.4, 0.0), "O"),
    atom("CB", "ALA", 1, (7.0, -0.75, 1.2)),
    atom("N", "ALA", 2, (8.33, 1.5, 0.0), "N"),
    atom("CA", "ALA", 2, (9.0, 2.8, 0.0)),
    atom("CA", "ALA", 9, (60.0, 0.0, 0.0)),
]

WALL = [
    atom("CA", "ALA", 200 + 10 * i + j, (3.0 * i - 6.0, 5.0, 3.0 * j - 6.0), chain="W")
    for i in range(5)
    for j in range(5)
]
"""As many atoms as are around a ligand in a pocket, 5 A and more from the origin."""


CAPPED = [
    ("CAY", 1, (2.53, 2.47, -1.41)),
    ("CY", 1, (2.06, 1.38, -0.48)),
    ("OY", 1, (1.42, 1.61, 0.54)),
    ("N", 1, (2.36, 0.11, -0.9)),
    ("CA", 1, (1.92, -1.06, -0.14)),
    ("CB", 1, (2.81, -2.26, -0.46)),
    ("C", 1, (0.44, -1.36, -0.48)),
    ("O", 1, (0.09, -2.3, -1.19)),
    ("N", 2, (-0.44, -0.46, 0.07)),
    ("CA", 2, (-1.86, -0.44, -0.3)),
    ("CB", 2, (-2.07, 0.28, -1.62)),
    ("C", 2, (-2.71, 0.19, 0.82)),
    ("O", 2, (-3.8, 0.72, 0.62)),
    ("NT", 2, (-2.19, -0.01, 2.09)),
    ("CAT", 2, (-2.92, 0.38, 3.27)),
    ("HN", 1, (2.58, -0.03, -1.88)),
    ("HN", 2, (-0.05, 0.4, 0.46)),
    ("HNT", 2, (-1.39, -0.62, 2.17)),
]
"""Two alanines with ACE and CT3 of CHARMM: names, residues, places; polar hydrogens alone."""


@pytest.fixture
def ligand_site(tmp_path: Path) -> Site:
    path = tmp_path / "ligand.sdf"
    path.write_text(LIGAND)
    return site_of_ligand(path, 10.0)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join([*lines, "END", ""]))
    return path


def run(tmp_path: Path, lines: list[str], site: Site, chains: tuple[str, ...] = ()) -> Prepared:
    return keep(write(tmp_path / "receptor.pdb", lines), site, chains=chains)


def keep(path: Path, site: Site, **settings: Any) -> Prepared:
    chosen = {name: settings.pop(name) for name in Structure.model_fields if name in settings}
    structure = Structure(**chosen)
    return prepare(open_structure(path, structure), site, structure, PocketSettings(**settings))


def rows(prepared: Prepared) -> dict[str, tuple[str, int, str]]:
    """Part -> kept or dropped, atoms, reason; only for parts with one such row."""
    audit = prepared.audit
    columns = (audit.part, audit.action, audit.atoms.tolist(), audit.reason)
    return {
        part: (action, atoms, reason)
        for part, action, atoms, reason in zip(*columns, strict=True)
        if action in ("kept", "dropped")
    }


def settled(prepared: Prepared) -> list[tuple[str, int, str]]:
    """All rows that say kept or dropped: action, atoms, reason."""
    audit = prepared.audit
    columns = (audit.action, audit.atoms.tolist(), audit.reason)
    return [row for row in zip(*columns, strict=True) if row[0] in ("kept", "dropped")]


def noted(prepared: Prepared, part: str) -> list[str]:
    """What else the audit says of a part."""
    audit = prepared.audit
    columns = (audit.part, audit.action, audit.reason)
    return [
        f"{action}: {reason}"
        for name, action, reason in zip(*columns, strict=True)
        if name == part and action not in ("kept", "dropped")
    ]


def labels(prepared: Prepared) -> list[str]:
    return prepared.receptor.label.tolist()


def test_a_chain_is_kept_as_whole_residues_within_the_margin(
    tmp_path: Path, ligand_site: Site
) -> None:
    prepared = run(tmp_path, ALANINES, ligand_site)
    assert labels(prepared) == [
        "A/ALA/1/C",
        "A/ALA/1/CA",
        "A/ALA/1/CB",
        "A/ALA/1/N",
        "A/ALA/1/O",
        "A/ALA/2/CA",
        "A/ALA/2/N",
    ]
    assert prepared.receptor.residue.tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert len(prepared.xyz) == 8  # the field sees the far residue, too
    assert [count for _, count, _ in settled(prepared)] == [7, 1]
    assert "more than 8 A outside the box" in settled(prepared)[1][2]


def test_a_residue_with_one_atom_within_the_margin_is_kept_whole(tmp_path: Path) -> None:
    long_one = [
        atom("N", "LYS", 1, (9.0, 0.0, 0.0), "N"),
        atom("CA", "LYS", 1, (17.0, 0.0, 0.0)),
        atom("NZ", "LYS", 1, (40.0, 0.0, 0.0), "N"),
    ]
    prepared = run(tmp_path, long_one, site_at((0.0, 0.0, 0.0), 10.0))
    assert labels(prepared) == ["A/LYS/1/CA", "A/LYS/1/N", "A/LYS/1/NZ"]


def test_names_in_wrong_columns_or_elements_of_names_make_no_calcium_of_carbon(
    tmp_path: Path, ligand_site: Site
) -> None:
    ion = het("CA", "CA", 50, (-5.0, 0.0, 0.0), "CA")
    sodium = het("SOD", "SOD", 51, (0.0, 5.0, 0.0), "NA")
    lines = [*ALANINES, ion, sodium]
    right = run(tmp_path, lines, ligand_site)
    by_name = [f"{line[:76]}{line[12:16].strip()[:2]:>2}" for line in lines]
    assert run(tmp_path, by_name[:-1], ligand_site).receptor.element.tolist() == [
        *right.receptor.element.tolist()[:-1],
    ]
    bare = [line[:76] for line in lines]
    flush = [f"{line[:12]}{line[12:16].strip():<4}{line[16:]}" for line in bare]
    moved = [f"{line[:12]} {line[12:16].strip():<3}{line[16:]}" for line in bare]
    for changed in (bare, flush, moved):
        found = run(tmp_path, changed, ligand_site)
        assert found.receptor.element.tolist() == right.receptor.element.tolist()
        assert found.typed["vina"].type.tolist() == right.typed["vina"].type.tolist()


@pytest.mark.parametrize(
    ("name", "residue", "element"),
    [
        (" Na+", "Na+", "NA"), (" K+ ", "K+ ", "K"), (" NA ", "NA+", "NA"),
        ("CAD ", "CAD", "CD"), ("RUB ", "RUB", "RB"), ("ZN  ", "ZN2", "ZN"),
        (" FE ", "FE2", "FE"), (" CU ", "CU1", "CU"), (" CO ", "3CO", "CO"), (" MN ", "MN3", "MN"),
        (" LIT", "LIT", "LI"), (" BAR", "BAR", "BA"),
    ],
)  # fmt: skip
def test_ions_of_simulations_are_no_nitrogen_or_carbon(
    tmp_path: Path, ligand_site: Site, name: str, residue: str, element: str
) -> None:
    ion = het("X", residue, 50, (-5.0, 0.0, 0.0))
    ion = f"{ion[:12]}{name}{ion[16:76]}"
    prepared = run(tmp_path, [*ALANINES, ion], ligand_site)
    (found,) = [
        number
        for label, number in zip(labels(prepared), prepared.receptor.element, strict=True)
        if label.startswith(f"A/{residue.strip()}/50/")
    ]
    assert found == gemmi.Element(element).atomic_number


@pytest.mark.parametrize(
    ("name", "residue", "element"),
    [("FE", "HEM", "FE"), ("MG", "CLA", "MG"), ("FE2", "SF4", "FE"), ("ZN", "ZNH", "ZN")],
)
def test_metals_of_cofactors_are_no_fluorine_where_names_are_one_column_on(
    tmp_path: Path, ligand_site: Site, name: str, residue: str, element: str
) -> None:
    atoms = [het(name, residue, 50, (-5.0, 0.0, 0.0)), het("S1", residue, 50, (-5.0, 2.3, 0.0))]
    bare = [f"{line[:12]} {line[12:16].strip():<3}{line[16:76]}" for line in atoms]
    prepared = run(tmp_path, [*ALANINES, *bare], ligand_site)
    found = dict(zip(labels(prepared), prepared.receptor.element.tolist(), strict=True))
    assert found[f"A/{residue}/50/{name}"] == gemmi.Element(element).atomic_number
    assert found[f"A/{residue}/50/S1"] == 16


def test_left_aligned_names_without_elements_are_those_of_carbon_and_nitrogen(
    tmp_path: Path,
) -> None:
    """A haem had calcium, curium, sodium and niobium, and the methyl of a cap had no element."""
    haem = {
        "CAA": "C", "CMA": "C", "CBA1": "C", "NA": "N", "NB": "N", "O1A": "O", "PB": "P",
        "FE": "FE", "CL1": "CL", "BR10": "BR", "SE": "SE", "1HB": "H", "HH11": "H", "HO1": "H",
    }  # fmt: skip
    group = [het(name, "HEM", 50, (-5.0, 2.0 * k, 0.0)) for k, name in enumerate(haem)]
    ions = [het("CA", "CA", 51, (5.0, 5.0, 5.0)), het("CD", "ODD", 52, (5.0, 9.0, 5.0))]
    cap = atom("CH3", "ACE", 60, (5.0, 15.0, 5.0)), atom("C", "ACE", 60, (6.5, 15.0, 5.0))
    lines = [
        f"{line[:12]}{line[12:16].strip():<4}{line[16:]}"
        for line in [*ALANINES[:5], *group, *ions, *cap]
    ]
    for end in (76, 66, 60):
        path = write(tmp_path / "receptor.pdb", [line[:end] for line in lines])
        atoms = read_atoms(path)
        found = {
            (place.residue, name): symbol
            for place, name, symbol in zip(atoms.place, atoms.name, atoms.symbol, strict=True)
        }
        assert {name: found["HEM", name] for name in haem} == haem
        assert (found["CA", "CA"], found["ODD", "CD"]) == ("CA", "CD")
        assert found["ACE", "CH3"] == found["ALA", "CA"] == "C"
        assert (atoms.occupancy == 1).all()


def test_a_molecule_that_is_called_like_a_state_or_water_is_what_it_is(tmp_path: Path) -> None:
    """Phosphohistidine had the charge of a histidinium ion, sorbose left as water."""
    histidine = {
        "CG": (0.0, 0.0, 0.0), "CD2": (1.36, 0.0, 0.0), "NE2": (1.78, 1.31, 0.0),
        "CE1": (0.66, 2.04, 0.0), "ND1": (-0.45, 1.3, 0.0), "CB": (-0.85, -1.25, 0.0),
    }  # fmt: skip
    phosphate = {
        "P": (-2.14, 1.77, 0.0), "O1P": (-2.2, 3.28, 0.0), "O2P": (-2.8, 1.2, 1.25),
        "O3P": (-2.8, 1.2, -1.25),
    }  # fmt: skip
    ring = [atom(name, "HIP", 40, xyz, name[0]) for name, xyz in histidine.items()]
    more = [atom(name, "HIP", 40, xyz, name[0]) for name, xyz in phosphate.items()]
    sugar = [het("C1", "SOL", 50, (0.0, 6.0, 0.0)), het("O1", "SOL", 50, (1.43, 6.0, 0.0), "O")]
    water = het("O", "SOL", 51, (4.0, 6.0, 4.0), "O")
    site = site_at((0.0, 0.0, 0.0), 12.0)
    found = run(tmp_path, [*ALANINES, *ring, *more, *sugar, water], site)
    assert {label.split("/")[1] for label in labels(found)} == {"ALA", "HIP'", "SOL'"}
    ad4 = found.typed["ad4"]
    charges = dict(zip(labels(found), ad4.partial_charge.tolist(), strict=False))
    assert charges["A/HIP'/40/O1P"] < -0.2
    assert " P   HIP A  40 " in receptor_pdb(found.whole, ad4)
    selection = open_structure(tmp_path / "receptor.pdb", Structure())
    for word in ("SOL", "A/50", "A/SOL/50", "A/SOL'/50"):
        assert site_of_residue(selection, word, 9.0).center == pytest.approx((0.715, 6.0, 0.0))
    plain = run(tmp_path, [*ALANINES, *ring], site)
    assert "A/HIP/40/CG" in labels(plain)
    end = run(tmp_path, [*ALANINES, *ring, atom("OT", "HIP", 40, (-1.0, -2.3, 1.0), "O")], site)
    assert "A/HIP/40/CG" in labels(end)
    # Without elements and with names one column to the left HE1 is no helium.
    bare = [*ALANINES, *ring, atom("HE1", "HIP", 40, (0.8, 3.1, 0.0), "H")]
    bare = [f"{line[:12]}{line[12:16].strip():<4}{line[16:76]}" for line in bare]
    assert labels(run(tmp_path, bare, site)) == labels(plain)


def test_ions_that_share_a_number_are_residues_of_their_own(
    tmp_path: Path, ligand_site: Site
) -> None:
    """They were one group: a far calcium stayed with a near one, chlorides were no additives."""
    names = {
        "CA": ("CA", (-5.0, 0.0, 0.0), (0.0, -5.0, 0.0), (60.0, 9.0, 0.0)),
        "CL": ("CL", (0.0, 5.0, 5.0), (0.0, 9.0, 9.0)),
        "CUA": ("CU", (0.0, 0.0, -6.0), (2.5, 0.0, -6.0)),
        "ZN": ("ZN", (-8.0, -8.0, 0.0)),
    }
    ions = [
        het(f"{element}{k}" if residue == "CUA" else element, residue, 50, xyz, element)
        for residue, (element, *places) in names.items()
        for k, xyz in enumerate(places, start=1)
    ]
    taken = het("MG", "MG", 50, (-5.0, -5.0, 5.0), "MG", insertion="A")
    two = [
        het("MN", "MN", 70, (x, 6.0, -6.0), "MN", altloc=letter, occupancy=0.5)
        for x, letter in ((0.0, "A"), (3.5, "B"))
    ]
    prepared = run(tmp_path, [*ALANINES, *ions, taken, *two], ligand_site)
    found = rows(prepared)
    kept = {part for part, (action, *_) in found.items() if action == "kept"}
    assert kept >= {"A/CA/50", "A/CA/50B", "A/MG/50A", "A/ZN/50", "A/CUA/50", "A/MN/70"}
    assert found["A/CA/50C"][:2] == ("dropped", 1)
    assert {found[part][2] for part in found if "/CL/" in part} == {"crystallisation additive"}
    assert found["A/CUA/50"][:2] == ("kept", 2)
    many = [het("NA", "NA", 9, (4.0 * k, 30.0, 0.0), "NA") for k in range(60)]
    atoms = read_atoms(write(tmp_path / "many.pdb", [*ALANINES, *many]))
    places = [place for place in atoms.place if place.residue == "NA"]
    assert len(set(places)) == 60
    assert {(place.number, place.insertion) for place in places} >= {(9, ""), (9, "Z"), (10, "A")}


@pytest.mark.parametrize("shift", [0, 7])
def test_caps_within_amino_acids_are_residues_of_their_own(
    tmp_path: Path, ligand_site: Site, shift: int
) -> None:
    """They had no charges, and the nitrogen at CHARMM's ACE those of an amine."""
    own = {"CAY": ("CH3", "ACE", 0), "CY": ("C", "ACE", 0), "OY": ("O", "ACE", 0)} | {
        "NT": ("N", "NME", 3), "CAT": ("CH3", "NME", 3), "HNT": ("HNT", "NME", 3)
    }  # fmt: skip
    inside, apart = [], []
    for name, number, xyz in CAPPED:
        other, residue, place = own.get(name, (name, "ALA", number))
        inside.append(atom(name, "ALA", number + shift, xyz, name[0]))
        apart.append(atom(other, residue, place + shift, xyz, name[0]))
    found = run(tmp_path, inside, ligand_site)
    expected = run(tmp_path, apart, ligand_site)
    assert labels(found) == labels(expected)
    for column in ("type", "partial_charge"):
        one, other = (getattr(one.typed["ad4"], column) for one in (found, expected))
        assert one.tolist() == other.tolist()
    charges = dict(zip(labels(found), found.typed["ad4"].partial_charge.tolist(), strict=False))
    assert charges[f"A/ACE/{shift}/O"] < -0.2
    taken = run(tmp_path, [*inside, het("O", "HOH", 3 + shift, (0.0, 6.0, 0.0), "O")], ligand_site)
    assert f"A/NME/{2 + shift}~/N" in labels(taken)


def test_the_charged_point_of_a_water_is_no_second_oxygen(
    tmp_path: Path, ligand_site: Site
) -> None:
    places = {"OH2": (0.0, 5.0, 0.0), "H1": (0.76, 5.59, 0.0), "H2": (-0.76, 5.59, 0.0)}
    water = [het(name, "TP4", 60, xyz, name[0]) for name, xyz in places.items()]
    point = het("OM", "TP4", 60, (0.0, 5.15, 0.0))[:76]
    prepared = keep(
        write(tmp_path / "wet.pdb", [*ALANINES, *water, point]), ligand_site, waters="all"
    )
    assert [label for label in labels(prepared) if "HOH" in label] == ["A/HOH/60/OH2"]


def test_a_chain_called_by_the_sign_between_names_is_written_and_exported(
    tmp_path: Path, ligand_site: Site
) -> None:
    prepared = run(tmp_path, [f"{line[:21]}/{line[22:]}" for line in ALANINES], ligand_site)
    assert labels(prepared)[0] == "|/ALA/1/C"
    assert " ALA |   1 " in receptor_pdb(prepared.whole, prepared.typed["ad4"])


def test_the_exported_hydrogens_are_on_no_carbon_where_a_chain_leaves_the_reach(
    tmp_path: Path,
) -> None:
    place = [(0.0, 0.0, 0.0), (1.2, 0.9, 0.0), (1.2, 2.4, 0.0), (2.3, 3.0, 0.0)]
    far = [(-1.1, 0.75, 0.0), (-2.3, 0.0, 0.0), (-1.1, 1.95, 0.0)]
    lines = [
        *(atom(n, "GLY", 1, xyz, n[0]) for n, xyz in zip(("C", "CA", "O"), far, strict=True)),
        *(
            atom(n, "ALA", 2, xyz, n[0])
            for n, xyz in zip(("N", "CA", "C", "O"), place, strict=True)
        ),
    ]
    lines.append(atom("CA", "GLY", 9, (12.0, 3.0, 0.0)))
    prepared = run(tmp_path, lines, site_at((12.3, 3.0, 0.0), 4.0))
    text = receptor_pdb(prepared.whole, prepared.typed["ad4"])
    names = [
        (line[17:20], line[12:16].strip()) for line in text.splitlines() if line[76:78] == " H"
    ]
    assert names == [("ALA", "H")]


def test_roots_are_means_of_bonded_heavy_neighbours(tmp_path: Path, ligand_site: Site) -> None:
    metal = het("ZN", "ZN", 50, (5.2, 3.5, 0.0), "ZN")
    receptor = run(tmp_path, [*ALANINES, metal], ligand_site).typed["xscore"]
    root = dict(zip(receptor.label, receptor.root, strict=True))
    rooted = dict(zip(receptor.label, receptor.rooted, strict=True))
    assert root["A/ALA/1/O"] == pytest.approx([7.0, 1.42, 0.0])  # its C, not the metal
    assert root["A/ALA/2/N"] == pytest.approx([8.0, 2.11, 0.0])  # C of residue 1 and its own CA
    assert root["A/ALA/1/CA"] == pytest.approx([19 / 3, 0.67 / 3, 0.4], abs=1e-5)
    assert root["A/ALA/1/N"] == pytest.approx([6.45, 0.0, 0.0])
    assert rooted["A/ALA/1/N"] == 1
    assert rooted["A/ZN/50/ZN"] == 0


def test_disulfides_bind_and_close_contacts_do_not(tmp_path: Path, ligand_site: Site) -> None:
    lines = [
        atom("CB", "CYS", 1, (5.0, 0.0, 0.0)),
        atom("SG", "CYS", 1, (6.8, 0.0, 0.0), "S"),
        atom("SG", "CYS", 7, (8.84, 0.0, 0.0), "S", chain="B"),
        atom("CB", "CYS", 9, (5.0, 5.0, 0.0)),
        atom("CD", "LYS", 20, (5.0, 6.5, 0.0)),
    ]
    receptor = run(tmp_path, lines, ligand_site).typed["xscore"]
    root = dict(zip(receptor.label, receptor.root, strict=True))
    assert root["A/CYS/1/SG"] == pytest.approx([6.92, 0.0, 0.0])
    assert root["B/CYS/7/SG"] == pytest.approx([6.8, 0.0, 0.0])
    assert receptor.rooted[receptor.label == "A/CYS/9/CB"].tolist() == [0]


@pytest.mark.parametrize("apart", [2.04, 2.55])
def test_a_disulfide_that_is_noted_has_no_thiols(
    tmp_path: Path, ligand_site: Site, apart: float
) -> None:
    lines = [
        atom("CB", "CYS", 1, (5.0, 0.0, 0.0)),
        atom("SG", "CYS", 1, (6.8, 0.0, 0.0), "S"),
        atom("HG", "CYS", 1, (7.2, 1.27, 0.0), "H"),
        atom("SG", "CYS", 7, (6.8 + apart, 0.0, 0.0), "S", chain="B"),
        atom("CB", "CYS", 7, (8.6 + apart, 0.0, 0.0), chain="B"),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    assert noted(prepared, "A/CYS/1")[-1] == "noted: disulfide: with B/CYS/7 (in the box)"
    assert (prepared.typed["ad4"].type == Ad4Type.HD).sum() == 0
    assert prepared.typed["ad4"].partial_charge.sum() == pytest.approx(0, abs=0.15)


def test_types_come_from_the_residue_or_from_the_geometry(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        *ALANINES,
        het("CA", "CA", 50, (-5.0, 0.0, 0.0), "CA"),
        het("C1", "XYZ", 60, (0.0, 5.0, 0.0)),
        het("O1", "XYZ", 60, (0.0, 6.22, 0.0), "O"),
        het("C2", "XYZ", 60, (1.3, 4.2, 0.0)),
        het("C3", "XYZ", 60, (-1.3, 4.2, 0.0)),
    ]
    receptor = run(tmp_path, lines, ligand_site).typed["xscore"]
    seen = dict(
        zip(
            receptor.label,
            zip(receptor.radius.tolist(), receptor.interaction.tolist(), strict=True),
            strict=True,
        )
    )
    assert seen["A/ALA/1/CB"] == pytest.approx((2.20, Interaction.HYDROPHOBIC))
    assert seen["A/ALA/1/O"] == pytest.approx((1.55, Interaction.ACCEPTOR))
    assert seen["A/CA/50/CA"] == pytest.approx((1.25, Interaction.METAL))
    assert seen["A/XYZ/60/O1"] == pytest.approx((1.55, Interaction.ACCEPTOR))
    assert seen["A/XYZ/60/C1"] == pytest.approx((1.90, Interaction.POLAR))


@pytest.mark.parametrize(
    ("residue", "hydrogens", "types"),
    [
        ("ASP", [], ["O_A", "O_A"]),
        ("ASH", [], ["O_A", "O_DA"]),
        ("ASP", [(0.0, 5.3, 1.0)], ["O_DA", "O_A"]),
        ("ASP", [(3.2, 5.0, 0.7)], ["O_A", "O_DA"]),
        ("LYS", [], ["N_D"]),
        ("LYN", [], ["N_DA"]),
        ("LYS", [(0.5, 5.9, 0.3), (-0.9, 5.5, 0.3)], ["N_DA"]),
    ],
)
def test_an_acid_with_its_hydrogen_gives_and_a_neutral_lysine_takes(
    tmp_path: Path,
    ligand_site: Site,
    residue: str,
    hydrogens: list[tuple[float, float, float]],
    types: list[str],
) -> None:
    """As Vina sees them in a PDBQT file with these hydrogens."""
    acid = [
        atom("CG", residue, 3, (1.3, 5.6, 0.0)),
        atom("OD1", residue, 3, (0.1, 5.2, 0.0), "O"),
        atom("OD2", residue, 3, (2.3, 4.9, 0.0), "O"),
    ]
    amine = [
        atom("CE", residue, 3, (0.0, 3.9, 0.0)),
        atom("NZ", residue, 3, (0.0, 5.4, 0.0), "N"),
    ]
    lines = acid if residue.startswith("AS") else amine
    lines += [atom(f"H{row}", residue, 3, xyz, "H") for row, xyz in enumerate(hydrogens)]
    typed = run(tmp_path, [*ALANINES, *lines], ligand_site).typed
    mine = [
        row
        for row, label in enumerate(typed["vina"].label)
        if label.endswith(("/OD1", "/OD2", "/NZ"))
    ]
    assert [VinaType(kind).name for kind in typed["vina"].type[mine]] == types
    gives_and_takes = [kind.endswith("_DA") for kind in types]
    both = typed["xscore"].interaction[mine] == Interaction.DONOR_ACCEPTOR
    assert both.tolist() == gives_and_takes


def test_a_modified_residue_keeps_the_types_of_a_backbone(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        *ALANINES[:4],
        het("N", "SEP", 2, (8.33, 1.5, 0.0), "N"),
        het("CA", "SEP", 2, (9.0, 2.8, 0.0)),
        het("CB", "SEP", 2, (10.5, 2.8, 0.0)),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    receptor = prepared.typed["xscore"]
    seen = dict(zip(receptor.label, receptor.interaction.tolist(), strict=True))
    assert seen["A/SEP/2/N"] == Interaction.DONOR
    assert seen["A/SEP/2/CB"] == Interaction.HYDROPHOBIC
    logp = dict(zip(receptor.label, receptor.logp.tolist(), strict=True))
    plain = [receptor_type("ALA", name, name[0]).logp for name in ("N", "CA")]
    assert [logp["A/SEP/2/N"], logp["A/SEP/2/CA"]] == pytest.approx(plain)
    assert rows(prepared)["chain A"] == ("kept", 7, "residue of a chain, within reach of the box")


@pytest.mark.parametrize(
    ("more", "role", "type_"),
    [
        ([], Interaction.DONOR, VinaType.N_D),
        ([het("CD", "HYP", 2, (9.1, 0.3, 0.0))], Interaction.POLAR, VinaType.N_P),
    ],
)
def test_the_nitrogen_of_a_modified_proline_gives_nothing(
    tmp_path: Path, ligand_site: Site, more: list[str], role: Interaction, type_: VinaType
) -> None:
    lines = [
        *ALANINES[:4],
        het("N", "HYP", 2, (8.33, 1.5, 0.0), "N"),
        het("CA", "HYP", 2, (9.0, 2.8, 0.0)),
        *more,
    ]
    typed = run(tmp_path, lines, ligand_site).typed
    row = typed["vina"].label.tolist().index("A/HYP/2/N")
    assert typed["xscore"].interaction[row] == role
    assert typed["vina"].type[row] == type_


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (het("O", "HOH", 70, (0.0, 3.0, 0.0), "O"), "water"),
        (het("O", "DOD", 70, (0.0, 3.0, 0.0), "O"), "water"),
        (het("O", "SPC", 70, (0.0, 3.0, 0.0), "O"), "water"),
        (het("C1", "GOL", 70, (0.0, 3.0, 0.0)), "crystallisation additive"),
        (het("S", "SO4", 70, (0.0, 3.0, 0.0), "S"), "crystallisation additive"),
        (het("CLA", "CLA", 70, (0.0, 3.0, 0.0), " "), "crystallisation additive"),
        (het("Cl-", "Cl-", 70, (0.0, 3.0, 0.0), "CL"), "crystallisation additive"),
        (het("N", "DUM", 70, (0.0, 3.0, 0.0), "N"), "mark of a membrane's plane, no atom"),
        (het("C", "T3P", 70, (0.0, 16.1, 0.0)), "farther than 6 A: 6.1 A"),
        (het("PA", "NDP", 70, (0.0, 16.1, 0.0), "P"), "farther than 6 A: 6.1 A from the box, 16.1"),
        (het("ZN", "ZN", 70, (0.0, -17.0, 0.0), "ZN"), "farther than 6 A"),
        (het("C5", "OLD", 70, (0.0, 0.9, 0.0)), "stands where the reference ligand is"),
        (het("C1", "LIG", 70, (0.0, 0.1, 0.0)), "the reference ligand itself"),
        (atom("C", "ALA", 70, (1.4, 0.1, 0.0)), "the reference ligand itself"),
        (atom("HA", "ALA", 1, (6.9, -0.4, -0.9), "H"), "hydrogen: implied"),
        (atom("DA", "ALA", 1, (6.9, -0.4, -0.9), "D"), "hydrogen: implied"),
        (het("Q", "XYZ", 70, (0.0, 4.0, 0.0), "X"), "unknown element"),
        (atom("Q", "ALA", 1, (4.5, 0.0, 0.9), "X"), "unknown element"),
    ],
)
def test_what_is_dropped_has_its_reason(
    tmp_path: Path, ligand_site: Site, line: str, reason: str
) -> None:
    prepared = run(tmp_path, [*ALANINES, line], ligand_site)
    assert labels(prepared) == labels(run(tmp_path, ALANINES, ligand_site))
    assert len([r for _, _, r in settled(prepared) if reason in r]) == 1
    assert sum(count for _, count, _ in settled(prepared)) == 9


@pytest.mark.parametrize(
    "line",
    [
        het("PA", "NDP", 70, (0.0, 15.9, 0.0), "P"),
        het("P", "PO4", 70, (0.0, 4.0, 0.0), "P"),
        het("MG", "MG", 70, (0.0, -2.1, 0.0), "MG"),
        het("N", "GLU", 70, (0.0, 4.0, 0.0), "N"),
    ],
)
def test_hetero_groups_beside_the_ligand_are_kept(
    tmp_path: Path, ligand_site: Site, line: str
) -> None:
    prepared = run(tmp_path, [*ALANINES, line], ligand_site)
    part = f"A/{line[17:20].strip()}/70"
    action, atoms, reason = rows(prepared)[part]
    assert (action, atoms) == ("kept", 1)
    assert "from the reference ligand" in reason
    assert any(label.startswith(part) for label in labels(prepared))


def test_a_free_amino_acid_far_away_is_a_ligand(tmp_path: Path, ligand_site: Site) -> None:
    prepared = run(tmp_path, [*ALANINES, het("N", "GLU", 70, (0.0, 17.0, 0.0), "N")], ligand_site)
    assert rows(prepared)["A/GLU/70"][0] == "dropped"


def test_without_a_ligand_hetero_groups_are_measured_from_the_box(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        *ALANINES,
        het("C1", "XYZ", 60, (3.0, 0.0, 0.0)),
        het("C1", "XYZ", 61, (15.0, 0.0, 0.0)),
        het("C1", "XYZ", 62, (18.0, 0.0, 0.0)),
    ]
    seen = rows(run(tmp_path, lines, site_at((0.0, 0.0, 0.0), 10.0)))
    assert seen["A/XYZ/60"][0] == seen["A/XYZ/61"][0] == "kept"
    assert seen["A/XYZ/62"] == ("dropped", 1, "hetero group farther than 6 A: 8.0 A from the box")
    assert caplog.messages == [
        "A/XYZ/60 lies in the box and is kept as part of the receptor; if it is a ligand, drop it, "
        "or give it as the reference ligand"
    ]


def test_chains_restrict_the_polymer_and_its_hetero_groups(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        *ALANINES,
        atom("CA", "GLY", 1, (0.0, 5.0, 0.0), chain="B"),
        het("PA", "NDP", 70, (0.0, 4.0, 3.0), "P", chain="B"),
    ]
    both = run(tmp_path, lines, ligand_site)
    assert {"B/GLY/1/CA", "B/NDP/70/PA"} <= set(labels(both))
    one = run(tmp_path, lines, ligand_site, ("A",))
    assert {label[0] for label in labels(one)} == {"A"}
    assert rows(one)["chain B"] == ("dropped", 2, "not a chosen chain")
    chosen = one.audit.action == "chosen"
    assert one.audit.part[chosen].tolist() == ["chain A", "site"]
    assert one.audit.reason[chosen][0] == "of A, B"


def test_the_most_occupied_then_the_first_location_is_kept_for_a_whole_residue(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        atom("CA", "SER", 1, (6.0, 0.0, 0.0)),
        atom("CB", "SER", 1, (7.0, 0.0, 0.0), altloc="A", occupancy=0.4),
        atom("CB", "SER", 1, (7.0, 1.0, 0.0), altloc="B", occupancy=0.6),
        atom("OG", "SER", 1, (8.0, 0.0, 0.0), "O", altloc="A", occupancy=0.4),
        atom("OG", "SER", 1, (8.0, 1.0, 0.0), "O", altloc="B", occupancy=0.6),
        atom("CB", "SER", 2, (7.0, 4.0, 0.0), altloc="C", occupancy=0.5),
        atom("CB", "SER", 2, (7.0, 5.0, 0.0), altloc="B", occupancy=0.5),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    where = dict(zip(labels(prepared), prepared.receptor.xyz.tolist(), strict=True))
    assert where == {
        "A/SER/1/CA": [6, 0, 0],
        "A/SER/1/CB": [7, 1, 0],
        "A/SER/1/OG": [8, 1, 0],
        "A/SER/2/CB": [7, 5, 0],
    }
    assert rows(prepared)["A/SER/1 other than B"][1] == 2
    assert rows(prepared)["A/SER/2 other than B"][1] == 1


def test_a_location_without_letter_is_one_of_those_of_its_atom(
    tmp_path: Path, ligand_site: Site
) -> None:
    other = atom("CB", "ALA", 1, (7.0, 0.75, -1.2), altloc="B", occupancy=0.3)
    prepared = run(tmp_path, [*ALANINES, other], ligand_site)
    assert labels(prepared) == labels(run(tmp_path, ALANINES, ligand_site))
    assert rows(prepared)["A/ALA/1 other than blank"][:2] == ("dropped", 1)


def test_a_smiles_that_is_that_of_no_residue_is_said(
    tmp_path: Path, ligand_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    water = het("O1", "XYZ", 3, (3.0, 3.0, 0.0), "O")
    path = write(tmp_path / "a.pdb", [*ALANINES, *WALL, water])
    keep(path, ligand_site, cofactors={"XYZ": "O"})
    assert not caplog.messages
    keep(path, ligand_site, cofactors={"XYZ": "CN", "XZY": "O"})
    assert caplog.messages == [
        f"cofactors.XZY: no residue of {path} is called so",
        "cofactors.XYZ: A/XYZ/3 is another molecule by its atoms, so this one is not used",
    ]


def test_an_alternate_location_is_that_of_the_reference_ligand(
    tmp_path: Path, ligand_site: Site
) -> None:
    """Without it the pocket was the empty one, where the ligand was not in all molecules."""
    lines = [
        het("C1", "LIG", 9, (0.0, 0.0, 0.0), "C"),  # a core without a letter
        het("C2", "LIG", 9, (1.5, 0.0, 0.0), "C", altloc="B", occupancy=0.3),
        het("C2", "LIG", 9, (1.5, 0.4, 0.0), "C", altloc="A", occupancy=0.7),
    ]
    for number, x in ((1, 6.0), (2, 20.0)):  # the second one is far from the ligand
        lines += [
            atom("CA", "SER", number, (x - 1, 0.0, 0.0)),
            atom("OG", "SER", number, (x, 0.0, 0.0), "O", altloc="A", occupancy=0.7),
            atom("OG", "SER", number, (x, 2.0, 0.0), "O", altloc="B", occupancy=0.3),
        ]
    path = write(tmp_path / "a.pdb", [*lines, *ALANINES])
    prepared = keep(path, ligand_site, margin=20.0)
    where = dict(zip(labels(prepared), prepared.receptor.xyz.tolist(), strict=True))
    assert [where[f"A/SER/{number}/OG"][1] for number in (1, 2)] == [2, 0]
    reason = "alternate location; that of the reference ligand is kept"
    assert rows(prepared)["A/SER/1 other than B"] == ("dropped", 1, reason)
    assert "most occupied" in rows(prepared)["A/SER/2 other than A"][2]


@pytest.mark.parametrize(
    ("lines", "kept", "gone"),
    [
        (
            [
                het("CD", " CD", 401, (0.0, 6.1, 0.0), "CD", altloc="B", occupancy=0.4),
                het("ZN", " ZN", 400, (0.0, 6.0, 0.0), "ZN", altloc="A", occupancy=0.6),
            ],
            ["A/ZN/400"],
            {"A/CD/401": "A/ZN/400"},
        ),
        (
            [het("O", "HOH", 600 + n, (0.0, 6.0 + n, 0.0), "O", occupancy=0.5) for n in range(3)],
            ["A/HOH/600", "A/HOH/602"],
            {"A/HOH/601": "A/HOH/600"},
        ),
        (
            [
                het(name, "BTN", 300 + n, (x, 6.0 + 0.7 * n, 0.0), "C", occupancy=0.4 + 0.1 * n)
                for n in range(2)
                for name, x in (("C1", 0.0), ("C2", 1.5))
            ],
            ["A/BTN/301"],
            {"A/BTN/300": "A/BTN/301"},
        ),
    ],
)
def test_of_what_stands_in_one_place_under_two_numbers_one_is_kept(
    tmp_path: Path,
    ligand_site: Site,
    lines: list[str],
    kept: list[str],
    gone: dict[str, str],
) -> None:
    path = write(tmp_path / "a.pdb", [*ALANINES, *lines])
    found = rows(keep(path, ligand_site, waters="all"))
    assert [part for part, row in found.items() if row[0] == "kept" and "/" in part] == kept
    for part, other in gone.items():
        assert found[part][0] == "dropped"
        assert found[part][2] == f"stands where {other} is, which is kept"
    dropped = next(iter(gone))
    found = rows(keep(path, ligand_site, waters="all", keep=(dropped,)))
    assert found[dropped][0] == "kept"


@pytest.mark.parametrize("distance", [1.1, 1.9, 2.3])
def test_a_water_in_the_place_of_the_ligand_is_of_the_empty_site(
    tmp_path: Path, ligand_site: Site, distance: float
) -> None:
    water = het("O", "HOH", 70, (0.0, distance, 0.0), "O")
    path = write(tmp_path / "a.pdb", [*ALANINES, water])
    action, _, reason = rows(keep(path, ligand_site, waters="near", water_contacts=0))["A/HOH/70"]
    assert action == ("kept" if distance > 2 else "dropped")
    assert ("stands where the reference ligand is" in reason) == (distance < 2)
    asked = rows(keep(path, ligand_site, waters="near", keep=("A/HOH/70",)))
    assert asked["A/HOH/70"][0] == "kept"


def test_a_reference_ligand_of_several_residues_is_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        het("C1", "BTN", 300, (0.0, 0.0, 0.0), "C"),
        het("C2", "BTN", 300, (1.5, 0.0, 0.0), "C"),
        het("N1", "XYZ", 301, (2.9, 0.0, 0.0), "N"),
        het("C1", "BTN", 302, (0.0, 9.0, 0.0), "C"),  # another copy
        het("ZN", " ZN", 303, (2.9, 1.9, 0.0), "ZN"),
    ]
    path = write(tmp_path / "a.pdb", [*ALANINES, *lines])
    selection = open_structure(path, Structure())
    site = site_of_residue(selection, "BTN", 10.0)
    assert site.source == "centroid of the 3 heavy atoms of A/BTN/300 and A/XYZ/301, bound to it"
    assert site.center[0] == pytest.approx(4.4 / 3)
    assert caplog.messages == [
        "A/BTN/300 is the reference ligand; others so named: A/BTN/302",
        "the reference ligand A/BTN/300 includes A/XYZ/301, bound to it",
    ]
    found = rows(prepare(selection, site, Structure(), PocketSettings()))
    assert found["A/XYZ/301"][::2] == (
        "dropped",
        "the reference ligand itself, bound to A/BTN/300/C2",
    )


@pytest.mark.parametrize(
    ("name", "letters", "whole"),
    [("XYZ", "  ", True), ("FAD", "  ", False), ("GAL", "  ", True), ("XYZ", "AB", False)],
)
def test_a_cofactor_that_is_bound_to_the_reference_ligand_stays(
    tmp_path: Path, name: str, letters: str, whole: bool
) -> None:
    """Sugars are parts of a ligand, and another location is no part."""
    lines = [
        het("C1", "INH", 300, (0.0, 0.0, 0.0), "C", altloc=letters[0]),
        het("C2", "INH", 300, (1.5, 0.0, 0.0), "C", altloc=letters[0]),
        het("N5", name, 301, (2.9, 0.0, 0.0), "N", altloc=letters[1]),
    ]
    selection = open_structure(write(tmp_path / "a.pdb", [*ALANINES, *lines]), Structure())
    assert len(site_of_residue(selection, "INH", 10.0).ligand) == 2 + whole


def test_a_water_takes_no_cofactor_away(tmp_path: Path, ligand_site: Site) -> None:
    """One of full occupancy in a molecule of less removed all of it."""
    lines = [het(f"C{n}", "NAD", 500, (1.5 * n, 6.0, 0.0), "C", occupancy=0.8) for n in range(3)]
    other = [
        het("O", "HOH", 900, (0.3, 6.2, 0.0), "O"),
        het("ZN", " ZN", 901, (3.0, 6.3, 0.0), "ZN"),
    ]
    found = rows(
        keep(write(tmp_path / "a.pdb", [*ALANINES, *lines, *other]), ligand_site, waters="all")
    )
    assert found["A/NAD/500"][0] == "kept"
    assert [found[f"A/{one}"][0] for one in ("HOH/900", "ZN/901")] == ["dropped", "dropped"]


@pytest.mark.parametrize("names", [("ALA", "GLY", "ALA"), ("DA", "DT", "DA")])
def test_a_peptide_with_a_gap_is_no_two_copies(tmp_path: Path, names: tuple[str, ...]) -> None:
    lines = [
        atom("CA", name, number, (9.0 * number, 0.0, 0.0)) for number, name in enumerate(names)
    ]
    path = write(tmp_path / "peptide.pdb", lines)
    assert len(site_of_ligand(path, 10.0).ligand) == 3


@pytest.mark.parametrize("apart", [5.0, 25.0])
def test_the_first_of_two_copies_in_a_file_of_the_reference_ligand(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, apart: float
) -> None:
    """As all lines with the ligand's name of a dimer: the box was between the two."""
    lines = [
        het(f"C{number}", name, 300, (start + 1.5 * number, 0.0, 0.0), "C", chain=chain)
        for chain, start in (("A", 0.0), ("B", apart))
        for name, number in (("MTX", 0), ("MTX", 1))
    ]
    tail = [het("N1", "TAI", 301, (2.9, 0.0, 0.0), "N"), het("NA", " NA", 400, (9, 9, 9), "NA")]
    path = write(tmp_path / "ref.pdb", [*lines, *tail])
    assert site_of_ligand(path, 10.0).ligand[:, 0].tolist() == [0.0, 1.5, 2.9, 9.0]
    assert "contains several molecules; the first is used" in caplog.text


def test_a_ligand_in_another_frame_overlaps_and_is_not_bound(
    tmp_path: Path, ligand_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    moved = [f"{line[:30]}{float(line[30:38]) - 4.7:8.3f}{line[38:]}" for line in ALANINES]
    prepared = run(tmp_path, [*moved, *WALL], ligand_site)
    assert noted(prepared, "reference ligand") == [
        "noted: overlaps with the receptor: 0.2 A from A/ALA/1/CA"
    ]
    assert "is it in the receptor's frame" in caplog.messages[0]


def test_an_atom_that_touches_three_others_is_not_bound(tmp_path: Path, ligand_site: Site) -> None:
    near = [(0.0, 1.8, 0.0), (1.8, 0.0, 0.0), (0.0, 0.0, 1.8)]
    lines = [atom("CA", "ALA", 30 + number, xyz) for number, xyz in enumerate(near)]
    prepared = run(
        tmp_path, [*ALANINES, *WALL, *lines], replace(ligand_site, ligand=np.zeros((1, 3)))
    )
    assert noted(prepared, "reference ligand") == [
        "noted: overlaps with the receptor: 1.8 A from A/ALA/30/CA"
    ]


def test_a_chain_may_begin_with_a_proline_without_its_ring(tmp_path: Path) -> None:
    """PDB2PQR gave up the whole structure."""
    lines = DHFR.joinpath("1ia1_protein_one_lig_removed.pdb").read_text("ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    numbers = list(dict.fromkeys(line[22:26] for line in lines))
    prolines = [line[22:26] for line in lines if line[17:20] == "PRO"]
    first = prolines[0]
    cut = [
        line
        for line in lines
        if numbers.index(line[22:26]) >= numbers.index(first)
        and not (line[22:26] == first and line[12:16].strip() in ("CG", "CD"))
    ]
    site = site_of_ligand(DHFR / "1ia1_ligand.sdf", 10.0)
    prepared = keep(write(tmp_path / "a.pdb", cut), site, protonation="propka", margin=20.0)
    words = "noted: lacks atoms of its ring, with which a chain begins: PDB2PQR did not see it"
    assert words in noted(prepared, f"B/PRO/{first.strip()}")


def test_no_side_chain_beside_the_reference_ligand_is_turned(tmp_path: Path) -> None:
    """PDB2PQR does not see the ligand, and broke its hydrogen bonds."""
    file = DHFR.parent / "1s3v" / "1s3v_protein_one_lig_removed.pdb"
    site = site_of_ligand(file.parent / "1s3v_ligand.sdf", 10.0)
    prepared = keep(file, site, protonation="propka")
    words = "beside the reference ligand; PDB2PQR would turn it, and is not followed"
    assert f"noted: {words}" in noted(prepared, "A/GLN/35")
    alone = keep(file, replace(site, ligand=np.empty((0, 3))), protonation="propka")
    assert "changed: side chain turned by half by PDB2PQR" in noted(alone, "A/GLN/35")
    lines = file.read_text(encoding="ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM")]
    for number, xyz in ((900, site.ligand), (901, site.ligand + 60.0)):
        lines += [het(f"C{n}", "LIG", number, tuple(one), "C") for n, one in enumerate(xyz)]
    elsewhere = replace(site, ligand=site.ligand + 60.0)
    copied = keep(write(tmp_path / "a.pdb", lines), elsewhere, protonation="propka")
    assert rows(copied)["A/LIG/900"][2].startswith("another copy of the reference ligand")
    words = "beside a hetero group; PDB2PQR would turn it, and is not followed"
    assert f"noted: {words}" in noted(copied, "A/GLN/35")


SWAPS = {
    "GLU": (("OE1", "OE2"),),
    "HIS": (("ND1", "CD2"), ("CE1", "NE2")),
}


def test_a_side_chain_that_is_not_turned_keeps_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the reference ligand is beside a carboxylic acid or an imidazolium ion."""

    def turned(text: str, *_: object) -> gemmi.Structure:
        answer = gemmi.read_pdb_string(text)
        for residue in answer[0]["A"]:
            for one, two in SWAPS.get(residue.name, ()):
                first, second = (next(a for a in residue if a.name == name) for name in (one, two))
                places = [gemmi.Position(*a.pos.tolist()) for a in (first, second)]
                second.pos, first.pos = places
            ends = {"GLU": [("HE2", "OE2")], "HIS": [("HD1", "ND1"), ("HE2", "NE2")]}
            for name, end in ends.get(residue.name, ()):
                hydrogen = gemmi.Atom()
                hydrogen.name, hydrogen.element = name, gemmi.Element("H")
                beside = next(a for a in residue if a.name == end).pos
                middle = next(a for a in residue if a.name == "CB").pos
                away = (beside - middle) / (beside - middle).length()
                hydrogen.pos = beside + away * 0.96
                residue.add_atom(hydrogen)
        return answer

    monkeypatch.setattr(protonation, "_run_pdb2pqr", turned)
    file = DHFR / "1ia1_protein_one_lig_removed.pdb"
    lines = file.read_text(encoding="ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    by_place = {f"{line[17:20]}/{int(line[22:26])}/{line[12:16].strip()}": line for line in lines}
    for place, atoms, state, hydrogens in (
        ("GLU/32", ("OE1", "OE2"), "GLH", [1, 0]),
        ("HIS/129", ("ND1", "NE2"), "HIP", [1, 1]),
    ):
        ends = np.array(
            [
                [float(by_place[f"{place}/{name}"][start : start + 8]) for start in (30, 38, 46)]
                for name in atoms
            ]
        )
        site = replace(site_at(tuple(ends[0].tolist()), 8.0), ligand=ends[:1] + 2.0)
        prepared = keep(write(tmp_path / "a.pdb", lines), site, protonation="propka")
        words = "beside the reference ligand; PDB2PQR would turn it, and is not followed"
        said = noted(prepared, f"B/{place}")
        assert f"noted: {words}, but in its state {state}" in said
        assert f"noted: state {state}: by its hydrogens" in said
        xyz = prepared.typed["ad4"].xyz[len(prepared.receptor.label) :]
        apart = np.linalg.norm(xyz[:, None] - ends, axis=2) < 1.1
        assert apart.sum(axis=0).tolist() == hydrogens


def test_one_residue_is_kept_where_two_share_a_position(tmp_path: Path, ligand_site: Site) -> None:
    lines = [
        atom("CA", "SER", 1, (6.0, 0.0, 0.0), altloc="A", occupancy=0.3),
        atom("CA", "THR", 1, (6.1, 0.0, 0.0), altloc="B", occupancy=0.7),
        atom("CA", "GLY", 2, (6.0, 4.0, 0.0)),
        atom("CA", "GLY", 2, (6.0, 8.0, 0.0), insertion="A"),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    assert labels(prepared) == ["A/THR/1/CA", "A/GLY/2/CA", "A/GLY/2A/CA"]
    assert rows(prepared)["A/SER/1"] == ("dropped", 1, "alternate residue; THR is kept there")


def test_only_the_first_model_is_used(tmp_path: Path, ligand_site: Site) -> None:
    moved = [atom("CA", "GLY", 1, (0.0, 5.0, 0.0))]
    lines = ["MODEL        1", *ALANINES, "ENDMDL", "MODEL        2", *moved, "ENDMDL"]
    prepared = run(tmp_path, lines, ligand_site)
    assert "A/GLY/1/CA" not in labels(prepared)
    assert noted(prepared, "model 1") == ["chosen: the first of 2"]
    assert ("dropped", 1, "not model 1") in settled(prepared)
    assert sum(count for _, count, _ in settled(prepared)) == 9
    second = keep(tmp_path / "receptor.pdb", ligand_site, model=2)
    assert labels(second) == ["A/GLY/1/CA"]
    with pytest.raises(InputError, match="has no model 3; its models are 1, 2"):
        keep(tmp_path / "receptor.pdb", ligand_site, model=3)


MIXED = [
    *ALANINES,
    atom("CB", "ALA", 2, (9.0, 3.5, 1.3), altloc="A", occupancy=0.5),
    atom("CB", "ALA", 2, (9.0, 3.5, -1.3), altloc="B", occupancy=0.5),
    atom("HA", "ALA", 2, (9.9, 2.8, 0.5), "H"),
    het("PA", "NDP", 70, (0.0, 5.0, 0.0), "P"),
    het("O1", "NDP", 70, (0.0, 5.0, 1.5), "O"),
    het("O", "HOH", 80, (0.0, 3.0, 5.0), "O"),
    atom("CA", "GLY", 1, (0.0, 0.0, 7.0), chain="B"),
]


def test_the_order_of_the_atoms_in_the_file_does_not_matter(
    tmp_path: Path, ligand_site: Site
) -> None:
    first = run(tmp_path, MIXED, ligand_site)
    for seed in range(5):
        shuffled = random.Random(seed).sample(MIXED, len(MIXED))
        again = run(tmp_path, shuffled, ligand_site)
        for one, two in ((first.receptor, again.receptor), (first.audit, again.audit)):
            for column in type(one).__dataclass_fields__:
                assert getattr(one, column).tolist() == getattr(two, column).tolist()
        assert first.xyz.tobytes() == again.xyz.tobytes()


@pytest.mark.parametrize("form", ["pdb.gz", "cif", "cif.gz", "crlf", "bom", "no name"])
def test_every_form_of_a_file_reads_the_same(tmp_path: Path, ligand_site: Site, form: str) -> None:
    plain = write(tmp_path / "plain.pdb", MIXED)
    data, path = plain.read_bytes(), tmp_path / f"again.{form}"
    if form.startswith("cif"):
        data = gemmi.read_structure(str(plain)).make_mmcif_document().as_string().encode()
    if form == "crlf":
        data = data.replace(b"\n", b"\r\n")
    if form == "bom":
        data = b"\xef\xbb\xbf" + data
    path.write_bytes(gzip.compress(data) if form.endswith("gz") else data)
    one = keep(plain, ligand_site)
    two = keep(path, ligand_site)
    assert one.receptor.label.tolist() == two.receptor.label.tolist()
    assert one.receptor.xyz.tobytes() == two.receptor.xyz.tobytes()
    assert one.audit.atoms.tolist() == two.audit.atoms.tolist()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "contains no atoms"),
        (b"this is no structure\n", "contains no atoms"),
        (b"\x00\x01\x02" * 50, "contains no atoms"),
        (
            b"data_x\nloop_\n_atom_site.id\n_atom_site.type_symbol\n1\n",
            "not a PDB or mmCIF structure",
        ),
        (b"data_x\n_cell.length_a 10\n", "contains no atoms"),
        (gzip.compress(b"ATOM " * 1000, mtime=0)[:40], "the .gz is cut short or damaged"),
        (b"ATOM  short\n", "line 1: no coordinates in columns 31 to 54"),
        (ALANINES[0][:32].encode() + b"********" * 3 + b"\n", "line 1: no coordinates"),
        (
            f"{ALANINES[0]}\nEND\n{ALANINES[1]}\n".encode(),
            "an unexplained loss: the file has 2 atoms, 1 could be read",
        ),
        (
            het("O", "HOH", 1, (0.0, 0.0, 0.0), "O").encode(),
            r"no receptor atoms are left \(water\)",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, ligand_site: Site, data: bytes, message: str
) -> None:
    path = tmp_path / "bad.pdb"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        keep(path, ligand_site)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, ligand_site: Site) -> None:
    with pytest.raises(InputError, match=r"nothing.pdb: does not exist"):
        keep(tmp_path / "nothing.pdb", ligand_site)
    with pytest.raises(InputError, match="is a folder; give a file"):
        keep(tmp_path, ligand_site)


def test_a_box_away_from_the_receptor_says_how_far(tmp_path: Path) -> None:
    words = "in A/ALA/1, is 95.0 A from the centre; check the site and the chains to keep$"
    with pytest.raises(InputError, match=words):
        run(tmp_path, ALANINES[:5], site_at((-90.0, 0.0, 0.0), 10.0))


def test_an_unknown_chain_lists_the_chains_there(tmp_path: Path, ligand_site: Site) -> None:
    with pytest.raises(InputError, match=r"has no chain Q; its chains are A, B"):
        run(tmp_path, MIXED, ligand_site, ("A", "Q"))


def test_unknown_coordinates_in_mmcif_are_dropped_with_a_row(
    tmp_path: Path, ligand_site: Site
) -> None:
    document = gemmi.read_structure(
        str(write(tmp_path / "plain.pdb", ALANINES))
    ).make_mmcif_document()
    document[0].find_values("_atom_site.Cartn_x")[4] = "?"
    path = tmp_path / "unknown.cif"
    path.write_text(document.as_string())
    prepared = keep(path, ligand_site)
    assert rows(prepared)["A/ALA/1"] == ("dropped", 1, "no coordinates")
    assert sum(count for _, count, _ in settled(prepared)) == 8


def test_an_unknown_element_of_mmcif_is_in_no_columns(tmp_path: Path, ligand_site: Site) -> None:
    path = cif(tmp_path)
    path.write_text(path.read_text().replace(" C CB ", " X XB "))
    action, atoms, reason = rows(keep(path, ligand_site))["A/ALA/1"]
    assert (action, atoms) == ("dropped", 1)
    assert "type_symbol" in reason


def test_an_element_left_out_is_the_first_letter_of_the_name(
    tmp_path: Path, ligand_site: Site
) -> None:
    bare = [line[:76] for line in ALANINES] + [atom("CB", "ALA", 2, (9.0, 3.5, 1.3), "A")]
    prepared = run(tmp_path, bare, ligand_site)
    assert prepared.receptor.element.tolist() == [6, 6, 6, 7, 8, 6, 6, 7]


def pdbqt(line: str, kind: str) -> str:
    """A line of a PDB file with AutoDock's type, and a charge, in place of the element."""
    return f"{line[:66]}    {-0.123:6.3f} {kind:2}"


PDBQT_TYPES = ("N", "C", "C", "OA", "C", "NA", "A", "C")


def test_a_receptor_as_pdbqt_is_that_of_its_pdb_file(tmp_path: Path, ligand_site: Site) -> None:
    lines = [
        *ALANINES,
        atom("HN", "ALA", 2, (8.8, 0.65, 0.0), "H"),
        het("ZN", "ZN", 3, (4.0, 3.0, 3.0), "ZN"),
        het("NA", "NA", 4, (4.0, -3.0, -3.0), "NA"),
    ]
    kinds = [*PDBQT_TYPES, "HD", "Zn", "Na"]
    plain = keep(write(tmp_path / "receptor.pdb", lines), ligand_site)
    named = [pdbqt(line, kind) for line, kind in zip(lines, kinds, strict=True)]
    for ending in (".pdbqt", ".PDBQT.gz"):
        path = write(tmp_path / "receptor.pdbqt", ["REMARK  made for AutoDock", *named, "TER"])
        if ending.endswith("gz"):
            path = tmp_path / f"receptor{ending}"
            path.write_bytes(gzip.compress((tmp_path / "receptor.pdbqt").read_bytes()))
        read = keep(path, ligand_site)
        for column in fields(plain.receptor):
            one, two = (getattr(each.receptor, column.name) for each in (plain, read))
            assert np.array_equal(one, two), column.name
        assert list(read.audit.reason) == list(plain.audit.reason)
        assert 30 in read.receptor.element


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("ROOT", "line 1: ROOT belongs to a ligand; give the receptor"),
        ("BRANCH   1   2", "line 1: BRANCH belongs to a ligand; give the receptor"),
        ("BEGIN_RES ALA A   1", "line 1: flexible-residue docking is not supported"),
        (pdbqt(ALANINES[0], "W"), "line 1: atom type 'W' stands for no element"),
        (pdbqt(ALANINES[0], "")[:76] + "OA", "line 1: 'O' stands in column 77; PDBQT has"),
        (pdbqt(ALANINES[0], "TZ"), "line 1: atom type 'TZ' stands for no element"),
        (ALANINES[0], "line 1: no partial charge in columns 67 to 76, so this is no PDBQT"),
    ],
)
def test_a_pdbqt_that_is_no_rigid_receptor_says_so(
    tmp_path: Path, ligand_site: Site, first: str, message: str
) -> None:
    rest = [pdbqt(line, kind) for line, kind in zip(ALANINES, PDBQT_TYPES, strict=True)]
    path = write(tmp_path / "receptor.pdbqt", [first, *rest])
    with pytest.raises(InputError, match=message):
        keep(path, ligand_site)


def test_near_pairs_are_all_pairs_within_the_cutoff() -> None:
    rng = np.random.default_rng(1)
    xyz, mask = rng.uniform(-6, 6, (300, 3)), rng.random(300) < 0.8
    distance = np.linalg.norm(xyz[:, None] - xyz, axis=2)
    expected = np.argwhere(np.triu((distance < 2.6) & mask & mask[:, None], 1))
    assert near_pairs(xyz, mask, 2.6).tolist() == expected.tolist()
    assert near_pairs(xyz, np.zeros(300, bool), 2.6).shape == (0, 2)


# --- the site ---------------------------------------------------------------------------------

MOL2 = """@<TRIPOS>MOLECULE
ligand
 3 2 0 0 0
SMALL
NO_CHARGES

@<TRIPOS>ATOM
 1 C1 0.0 0.0 0.0 C.3 1 LIG 0.0
 2 C2 1.5 0.0 0.0 C.3 1 LIG 0.0
 3 H1 -0.4 0.0 1.0 H 1 LIG 0.0
@<TRIPOS>BOND
 1 1 2 1
 2 1 3 1
"""

PDB = "\n".join(
    [
        het("C1", "LIG", 1, (0.0, 0.0, 0.0)),
        het("C2", "LIG", 1, (1.5, 0.0, 0.0), altloc="A", occupancy=0.6),
        het("C2", "LIG", 1, (2.5, 0.0, 0.0), altloc="B", occupancy=0.4),
        het("H1", "LIG", 1, (-0.4, 0.0, 1.0), "H"),
        het("O", "HOH", 2, (9.0, 9.0, 9.0), "O"),
        "END\n",
    ]
)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.sdf", LIGAND), ("a.mol", LIGAND), ("a.mol2", MOL2), ("a.pdb", PDB), ("A.ENT", PDB)],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_site_is_the_heavy_atom_centroid_in_every_format(
    tmp_path: Path, name: str, text: str, packed: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    site = site_of_ligand(path, 7.0)
    assert site.center == CENTER
    assert site.ligand.tolist() == [[0.0, 0.0, 0.0], [1.5, 0.0, 0.0]]
    assert site.half_side == 7.0


def test_a_mol2_whose_types_do_not_go_together_has_places_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.mol2"
    path.write_text(MOL2.replace(" C.3", " C.cat", 1))
    assert site_of_ligand(path, 7.0).center == CENTER
    path.write_text(MOL2.replace("@<TRIPOS>BOND\n", "# none of them is double\n@<TRIPOS>BOND\n"))
    assert site_of_ligand(path, 7.0).center == CENTER


def test_a_ligand_whose_atoms_stand_twice_is_not_in_nm(tmp_path: Path) -> None:
    places = [(2.0 * i, 0.0, 0.0) for i in range(4)]
    twice = [(x, 0.0, 0.2) for x, _, _ in places]
    rows = [het(f"C{n}", "LIG", 1, xyz, "C") for n, xyz in enumerate([*places, *twice], start=1)]
    assert site_of_ligand(write(tmp_path / "a.pdb", rows), 7.0).center[0] == pytest.approx(3.0)


def test_hydrogens_without_elements_are_no_holmium(tmp_path: Path, ligand_site: Site) -> None:
    line = het("HO1", "LIG", 1, (3.0, 1.0, 0.0))
    lines = [
        het("O1", "LIG", 1, (3.0, 0.0, 0.0), "O")[:76],
        f"{line[:12]}HO1 {line[16:76]}",
    ]
    path = write(tmp_path / "ligand.pdb", lines)
    assert site_of_ligand(path, 7.0).center == (3.0, 0.0, 0.0)
    kept = labels(run(tmp_path, [*ALANINES, *lines], ligand_site))
    assert [label for label in kept if "LIG" in label] == ["A/LIG/1/O1"]


def test_a_ligand_outside_the_box_and_further_molecules_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "long.sdf"
    path.write_text(LIGAND.replace("1.5000", "30.000") + LIGAND)
    site_of_ligand(path, 10.0)
    assert "contains several molecules; the first is used" in caplog.messages[0]
    assert (
        "the 2 heavy atoms in long.sdf: 2 of them lie outside the box, up to 5.0 A; "
        "a half side of 15 A would contain it"
    ) in caplog.messages[1]
    path = write(
        tmp_path / "two.pdb", ["MODEL        1", *ALANINES[:2], "ENDMDL", "MODEL        2"]
    )
    site_of_ligand(path, 10.0)
    assert "contains several molecules; the first is used" in caplog.messages[2]


def test_a_reference_may_be_a_pdbqt_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kinds = {
        "C": (1.0, "A"),
        "N": (2.4, "NA"),
        "C2": (3.1, "CG0"),
        "G": (4.2, "G0"),
        "H": (0, "HD"),
    }
    model = ["ROOT"]
    for name, (x, kind) in kinds.items():
        line = atom(name, "UNL", 1, (float(x), 0.0, 1.0))
        model.append(f"{line[:66]}    +0.100 {kind}")
    model += ["ENDROOT", "TORSDOF 0"]
    path = write(tmp_path / "docked.pdbqt", [*("MODEL 1", *model, "ENDMDL"), "MODEL 2", *model])
    assert site_of_ligand(path, 10.0).ligand[:, 0].tolist() == [1.0, 2.4, 3.1]
    assert "contains several molecules; the first is used" in caplog.messages[0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.pdbqt", "rubbish\n", "contains no readable molecule|has 0 heavy atoms"),
        ("a.sdf", "", "contains no readable molecule"),
        ("a.sdf", "rubbish\n", "contains no readable molecule"),
        ("a.mol2", "rubbish\n", "contains no readable molecule"),
        ("a.mol2", MOL2.replace(" C.3", " c3"), "a MOL2 file with SYBYL's atom types"),
        ("a.pdb", "rubbish\n", "has 0 heavy atoms"),
        ("a.pdb", f"{ALANINES[0]}\n{ALANINES[1][:30]}{'*' * 24}\n", "line 2: no coordinates"),
        ("a.xyz", LIGAND, "give an SDF, MOL, MOL2, PDB or PDBQT file"),
        ("a.sdf", LIGAND.replace("1.5000", "0.0000"), "has no coordinates"),
        ("a.sdf", LIGAND[:60], "contains no readable molecule"),
        ("a.sdf", LIGAND.replace("1.5000", "0.1500"), "are 0.15 A apart.*in Angstrom, not in nm"),
    ],
)
def test_a_reference_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        site_of_ligand(path, 10.0)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_table_of_atoms_is_sorted_as_people_read(tmp_path: Path) -> None:
    atoms = read_atoms(write(tmp_path / "a.pdb", MIXED[::-1]))
    shown = [f"{place}/{name}" for place, name in zip(atoms.place, atoms.name, strict=True)]
    assert shown[:2] == ["A/ALA/1/C", "A/ALA/1/CA"]
    assert shown[-2:] == ["A/HOH/80/O", "B/GLY/1/CA"]
    assert atoms.hetero.sum() == 3


HELD = [
    *ALANINES,
    # held by O of residue 1 and N of residue 2, 3.0 A from the ligand
    het("O", "HOH", 80, (5.0, 3.4, 1.0), "O"),
    # beside the ligand, held by nothing
    het("O", "HOH", 81, (0.0, -3.0, 0.0), "O"),
    het("O", "HOH", 82, (9.0, 9.0, 9.0), "O"),
]


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, []),
        ({"waters": "all"}, ["80", "81", "82"]),
        ({"waters": "near", "water_distance": 6.0, "water_contacts": 1}, ["80"]),
        ({"waters": "near", "water_distance": 4.0, "water_contacts": 0}, ["81"]),
        ({"keep": ["A/HOH/82"]}, ["82"]),
        ({"waters": "all", "drop": ["A/81"]}, ["80", "82"]),
        ({"keep": ["HOH"]}, ["80", "81", "82"]),
    ],
)
def test_waters_are_kept_by_rule_or_by_name(
    tmp_path: Path, ligand_site: Site, settings: dict[str, Any], kept: list[str]
) -> None:
    prepared = keep(write(tmp_path / "w.pdb", HELD), ligand_site, **settings)
    assert [label.split("/")[2] for label in labels(prepared) if "HOH" in label] == kept
    assert sum(count for _, count, _ in settled(prepared)) == len(HELD)
    wet = [i for i, label in enumerate(labels(prepared)) if "HOH" in label]
    assert prepared.typed["xscore"].radius[wet].tolist() == [0.0] * len(
        wet
    )  # X-Score leaves them out
    assert prepared.typed["vina"].type[wet].tolist() == [VinaType.O_DA] * len(wet)


@pytest.mark.parametrize(("apart", "kept"), [(3.49, 1), (3.51, 0)])
def test_a_water_touches_polar_atoms_up_to_three_and_a_half_angstrom(
    tmp_path: Path, ligand_site: Site, apart: float, kept: int
) -> None:
    # Beneath the first nitrogen, with no other polar atom near.
    lines = [*ALANINES, het("O", "HOH", 80, (5.0, 0.0, -apart), "O")]
    settings = {"waters": "near", "water_distance": 9.0, "water_contacts": 1}
    prepared = keep(write(tmp_path / "w.pdb", lines), ligand_site, **settings)
    assert sum("HOH" in label for label in labels(prepared)) == kept


def test_a_residue_that_is_not_there_is_named_with_its_neighbours(
    tmp_path: Path, ligand_site: Site
) -> None:
    path = write(tmp_path / "w.pdb", HELD)
    with pytest.raises(InputError, match=r"keep: no residue is called A/HOH/83; near .*A/HOH/8"):
        keep(path, ligand_site, keep=["A/HOH/83"])
    with pytest.raises(InputError, match=r"keep: no residue is called hoh; near to it are HOH$"):
        keep(path, ligand_site, keep=["hoh"])


def test_a_ligand_that_is_not_there_is_named_with_the_hetero_groups(tmp_path: Path) -> None:
    water = het("O", "HOH", 75, (0.0, 9.0, 0.0), "O")
    groups = [
        het("ZN", "ZN", 70, (0.0, 5.0, 0.0), "ZN"),
        het("C1", "LIG", 71, (0.0, 0.0, 0.0)),
        het("C2", "LIG", 71, (1.5, 0.0, 0.0)),
    ]
    ions = [het("ZN", "ZN", 80 + row, (0.0, 0.0, 9.0 * row), "ZN") for row in range(1, 12)]
    for lines, words in (
        (groups, "the hetero groups are A/LIG/71, A/ZN/70"),
        ([], "no hetero group is there"),
        ([*groups, *ions], r"the hetero groups are A/LIG/71, A/ZN/70, .*A/ZN/90, \.\.\."),
    ):
        path = write(tmp_path / "l.pdb", [*ALANINES, *lines, water])
        selection = open_structure(path, Structure())
        with pytest.raises(InputError, match=f"ligand_name: no residue is called A/7; {words}$"):
            site_of_residue(selection, "A/7", 9.0)
    with pytest.raises(InputError, match=r"no residue is called lig; near to it are LIG$"):
        site_of_residue(selection, "lig", 9.0)


def test_a_residue_of_a_chain_that_is_left_out_is_said_to_be_there(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [*ALANINES, het("C1", "LIG", 90, (5.0, 0.0, 3.0), "C").replace(" A  90", " B  90")]
    path = write(tmp_path / "w.pdb", lines)
    with pytest.raises(InputError, match="keep: LIG is B/LIG/90, which is left out; check chains"):
        keep(path, ligand_site, keep=["LIG"], chains=["A"])


def test_what_is_to_be_kept_and_dropped_is_an_error(tmp_path: Path, ligand_site: Site) -> None:
    waters = [het("O", "HOH", number, (5.0, 0.0, 3.0 * number - 210), "O") for number in (71, 72)]
    path = write(tmp_path / "w.pdb", [*ALANINES, *waters])
    for word in ("HOH", "A/71"):
        with pytest.raises(InputError, match=f"keep: all that {word} names is in drop, too"):
            keep(path, ligand_site, keep=[word], drop=["HOH"])
    some = rows(keep(path, ligand_site, keep=["HOH"], drop=["A/HOH/71"]))
    assert [some[f"A/HOH/{number}"][0] for number in (71, 72)] == ["dropped", "kept"]


def test_the_reference_ligand_cannot_be_kept(tmp_path: Path) -> None:
    xyz = ((0.0, 0.0, 0.0), (3.0, 0.0, 3.0))
    ligands = [het("C1", "LIG", 90 + number, one) for number, one in enumerate(xyz)]
    path = write(tmp_path / "w.pdb", [*ALANINES, *ligands])
    site = site_of_residue(open_structure(path, Structure()), "LIG", 8.0)
    with pytest.raises(InputError, match="keep: all that A/90 names is the reference ligand or"):
        keep(path, site, keep=["A/90"])
    found = rows(keep(path, site, keep=["LIG"]))
    assert [found[f"A/LIG/{number}"][0] for number in (90, 91)] == ["dropped", "kept"]


ASSEMBLY = """REMARK 350 BIOMOLECULE: 1
REMARK 350 APPLY THE FOLLOWING TO CHAINS: A
REMARK 350   BIOMT1   1  1.000000  0.000000  0.000000        0.00000
REMARK 350   BIOMT2   1  0.000000  1.000000  0.000000        0.00000
REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        0.00000
REMARK 350   BIOMT1   2 -1.000000  0.000000  0.000000        0.00000
REMARK 350   BIOMT2   2  0.000000 -1.000000  0.000000        0.00000
REMARK 350   BIOMT3   2  0.000000  0.000000  1.000000        0.00000"""


def test_an_assembly_adds_copies_and_leaves_chains_out(tmp_path: Path) -> None:
    lines = [
        ASSEMBLY,
        *ALANINES[:7],
        het("ZN", "ZN", 50, (0.0, 0.0, 5.0), "ZN"),  # on the axis
        atom("CA", "GLY", 1, (0.0, 5.0, 0.0), chain="B"),
    ]
    path, site = write(tmp_path / "a.pdb", lines), site_at((0.0, 0.0, 0.0), 12.0)
    prepared = keep(path, site, assembly="1")
    assert {label.split("/")[0] for label in labels(prepared)} == {"A", "A-2"}
    xyz = dict(zip(labels(prepared), prepared.receptor.xyz.tolist(), strict=True))
    assert xyz["A-2/ALA/1/C"] == pytest.approx([-7.0, -1.42, 0.0])
    assert noted(prepared, "assembly 1") == ["chosen: built by the operators in the file"]
    assert "added: copy of chain A in assembly 1" in noted(prepared, "chain A-2")
    assert rows(prepared)["chain B"] == ("dropped", 1, "not in assembly 1")
    assert rows(prepared)["A-2/ZN/50"][2] == "copy on an axis of symmetry; the first is kept"
    assert sum(count for _, count, _ in settled(prepared)) == 9 + 8
    with pytest.raises(InputError, match="has no assembly 2; its assemblies are: 1"):
        keep(path, site, assembly="2")


REASON = "within 0.1 A of the same atom of another residue; the first is kept"


def test_a_chain_that_the_file_has_twice_counts_once(tmp_path: Path) -> None:
    """Under another name and a little off, as in files of assemblies; with hydrogens of its own."""
    site = site_at((0.0, 0.0, 0.0), 12.0)
    zinc = het("ZN", "ZN", 50, (0.0, 0.0, 5.0), "ZN")
    once = keep(write(tmp_path / "a.pdb", [*ALANINES, zinc]), site)
    lines = [line[:21] + "B" + line[22:] for line in [*ALANINES, zinc]]
    moved = [f"{line[:30]}{float(line[30:38]) + 0.05:8.3f}{line[38:]}" for line in lines]
    hydrogen = atom("HA", "ALA", 1, (6.8, -0.5, -0.9), "H", chain="B")
    for double in (lines, [*moved, hydrogen]):
        twice = keep(write(tmp_path / "b.pdb", [*ALANINES, zinc, *double]), site)
        assert labels(twice) == labels(once)
        assert np.array_equal(twice.receptor.xyz, once.receptor.xyz)
        assert np.array_equal(twice.xyz, once.xyz)
        assert rows(twice)["chain B"] == ("dropped", len(double), REASON)


def test_only_the_same_atom_is_a_double(tmp_path: Path) -> None:
    """Alternate locations, also of two residues in one place, and other atoms are left alone."""
    site = site_at((0.0, 0.0, 0.0), 12.0)
    serine = [line[:17] + "SER" + line[20:] for line in ALANINES[:4]]
    lines = [line[:16] + "A" + line[17:] for line in ALANINES[:4]]
    other = [line[:16] + "B" + line[17:] for line in serine]
    prepared = keep(write(tmp_path / "a.pdb", [*lines, *other, *ALANINES[5:]]), site)
    assert REASON not in " ".join(prepared.audit.reason)
    near = [f"{line[:21]}B{line[22:30]}{float(line[30:38]) + 0.11:8.3f}{line[38:]}"
            for line in ALANINES]  # fmt: skip
    prepared = keep(write(tmp_path / "b.pdb", [*ALANINES, *near]), site)
    assert REASON not in " ".join(prepared.audit.reason)


@pytest.mark.filterwarnings("error")
def test_an_atom_without_coordinates_hides_no_copy_on_an_axis(tmp_path: Path) -> None:
    """All atoms were in one cell with it: 8,000 of them took 25 seconds and 5 GB."""
    zinc = het("ZN", "ZN", 50, (0.0, 0.0, 5.0), "ZN")
    path = write(tmp_path / "a.pdb", [ASSEMBLY, *ALANINES[:7], zinc])
    structure = gemmi.read_structure(str(path))
    structure.setup_entities()
    document = structure.make_mmcif_document()
    for axis in "xyz":
        document[0].find_values(f"_atom_site.Cartn_{axis}")[4] = "?"
    path = tmp_path / "a.cif"
    path.write_text(document.as_string())
    prepared = keep(path, site_at((0.0, 0.0, 0.0), 12.0), assembly="1")
    assert rows(prepared)["A-2/ZN/50"][2] == "copy on an axis of symmetry; the first is kept"
    assert rows(prepared)["A/ALA/1"] == ("dropped", 1, "no coordinates")


def cif(tmp_path: Path, text: str = "", drop: str = "") -> Path:
    """The alanines as mmCIF, without a column, and with more text behind them."""
    path = write(tmp_path / "receptor.pdb", ALANINES)
    structure = gemmi.read_structure(str(path))
    for residue in structure[0]["A"]:
        residue.subchain = "A"
    document = structure.make_mmcif_document()
    if drop:
        document[0].find_mmcif_category("_atom_site.").loop.remove_column(f"_atom_site.{drop}")
    path = tmp_path / "receptor.cif"
    path.write_text(document.as_string() + text)
    return path


def test_assemblies_of_any_details_are_there_and_count_a_chain_once(
    tmp_path: Path, ligand_site: Site
) -> None:
    columns = [f"matrix[{row}][{column}]" for row in "123" for column in "123"]
    columns = ["id", "type", *columns, "vector[1]", "vector[2]", "vector[3]"]
    text = ["loop_", *(f"_pdbx_struct_oper_list.{name}" for name in columns)]
    text += ["1 . 1 0 0 0 1 0 0 0 1 0 0 0", "2 . 1 0 0 0 1 0 0 0 1 0 0 50"]
    names = ("assembly_id", "oper_expression", "asym_id_list")
    text += ["loop_", *(f"_pdbx_struct_assembly_gen.{name}" for name in names)]
    text += ["9 1 A", "9 1,2 A", "loop_", "_pdbx_struct_assembly.id"]
    text += ["_pdbx_struct_assembly.details", "9 'icosahedral pentamer'", ""]
    prepared = keep(cif(tmp_path, "\n".join(text)), ligand_site, assembly="9")
    assert "added: copy of chain A in assembly 9" in noted(prepared, "chain A-3")
    assert sum(atoms for _, atoms, _ in settled(prepared)) == 2 * len(ALANINES)


@pytest.mark.parametrize("column", ["id", "label_alt_id", "Cartn_y"])
def test_a_column_that_mmcif_lacks_is_named(tmp_path: Path, ligand_site: Site, column: str) -> None:
    with pytest.raises(InputError, match=f"its atoms have no column {column}"):
        keep(cif(tmp_path, drop=column), ligand_site)


@pytest.mark.parametrize("drop", ["auth_seq_id", ""])
def test_residues_of_mmcif_without_numbers_by_its_authors_are_not_one(
    tmp_path: Path, ligand_site: Site, drop: str
) -> None:
    water = [het("O", "HOH", 1, (3.0 * n, 6.0, 0.0), "O") for n in range(3)]
    sugar = [
        het(name, "XYZ", 1, (x, -6.0, y)) for x in (-4.0, 4.0) for name, y in (("C1", 0), ("C2", 1))
    ]
    path = cif(tmp_path)
    document = gemmi.cif.read(str(path))
    loop = document[0].find_mmcif_category("_atom_site.").loop
    own = {tag.rpartition(".")[2]: place for place, tag in enumerate(loop.tags)}
    for record in (*sugar, *water):
        row = loop.values[: loop.width()]
        for tag, value in {
            "group_PDB": "HETATM",
            "type_symbol": record[76:78].strip(),
            "label_atom_id": record[12:16].strip(),
            "auth_atom_id": record[12:16].strip(),
            "label_comp_id": record[17:20],
            "auth_comp_id": record[17:20],
            "label_seq_id": ".",
            "auth_seq_id": "?",
            "Cartn_x": record[30:38].strip(),
            "Cartn_y": record[38:46].strip(),
            "Cartn_z": record[46:54].strip(),
        }.items():
            if tag in own:
                row[own[tag]] = value
        loop.add_row(row)
    if drop:
        loop.remove_column(f"_atom_site.{drop}")
    path.write_text(document.as_string())
    found = rows(keep(path, ligand_site, waters="all"))
    # The alanines are 1, 2 and 9 by the authors, and the first three of the sequence.
    n = 4 if drop else 10
    assert {part for part in found if "XYZ" in part} == {f"A/XYZ/{n}", f"A/XYZ/{n + 1}"}
    assert {part for part in found if "HOH" in part} == {f"A/HOH/{n + k}" for k in (2, 3, 4)}


def test_the_atoms_of_mmcif_may_stand_in_any_block(tmp_path: Path, ligand_site: Site) -> None:
    path = cif(tmp_path)
    plain = keep(path, ligand_site)
    path.write_text(f"data_comp_list\n_chem_comp.id ALA\n{path.read_text()}")
    assert labels(keep(path, ligand_site)) == labels(plain)


def test_insertion_codes_may_count_down(tmp_path: Path, ligand_site: Site) -> None:
    first = [f"{line[:26]}A{line[27:]}" for line in ALANINES[:5]]
    second = [f"{line[:22]}   1 {line[27:]}" for line in ALANINES[5:7]]
    third = [
        atom("C", "ALA", 1, (10.4, 2.6, 0.0)),
        atom("N", "ALA", 2, (11.0, 3.8, 0.0), "N"),
        atom("CA", "ALA", 2, (12.4, 3.9, 0.0)),
    ]
    audit = run(tmp_path, [*first, *second, *third], ligand_site).audit
    assert not [words for words in audit.reason if "chain break" in words]


@pytest.mark.parametrize(
    ("symbol", "charge"), [("XE", 0.0), ("TE", 0.0), ("MO", 2.0), ("RB", 1.0), ("CS", 1.0)]
)
def test_only_metals_have_the_charge_of_one(
    tmp_path: Path, ligand_site: Site, symbol: str, charge: float
) -> None:
    prepared = run(tmp_path, [het(symbol, "XYZ", 70, (4.0, 0.0, 0.0), symbol)], ligand_site)
    assert prepared.typed["ad4"].partial_charge.tolist() == [charge]


def test_hydrogen_and_deuterium_in_one_place_are_one(tmp_path: Path, ligand_site: Site) -> None:
    place = (4.4, -0.8, 0.0)
    lines = [
        *ALANINES,
        atom("H", "ALA", 1, place, "H", altloc="A", occupancy=0.4),
        atom("D", "ALA", 1, place, "D", altloc="B", occupancy=0.6),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    assert ("kept", 1, "polar hydrogen of the file, for AutoDock4") in settled(prepared)
    assert rows(prepared)["A/ALA/1 other than B"][:2] == ("dropped", 1)


def test_a_phosphorus_that_lacks_its_oxygens_gets_hydrogens(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        het("C1", "XYZ", 70, (4.0, 0.0, 0.0)),
        het("P", "XYZ", 70, (5.84, 0.0, 0.0), "P"),
        het("C2", "XYZ", 70, (6.1, 1.82, 0.0)),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    assert "CPC" in noted(prepared, "A/XYZ/70")[0]
    assert len(prepared.typed["ad4"].xyz) == 4


@pytest.mark.parametrize("sign", "'*")
def test_the_oxygen_between_nucleotides_is_no_hydroxyl(
    tmp_path: Path, ligand_site: Site, sign: str
) -> None:
    lines = [
        atom("C2'", "A", 1, (3.2, 1.3, 0.0)),
        atom("C3'", "A", 1, (4.0, 0.0, 0.0)),
        atom("O3'", "A", 1, (5.4, 0.0, 0.0), "O"),
        atom("P", "A", 2, (6.2, 1.4, 0.0), "P"),
    ]
    path = write(tmp_path / "receptor.pdb", [line.replace("'", sign) for line in lines])
    prepared = keep(path, ligand_site, cofactors={"A": "CCO"})
    assert prepared.typed["vina"].type[2] == VinaType.O_A
    assert prepared.typed["xscore"].radius[2] == pytest.approx(1.65)  # an ether's
    distance = np.linalg.norm(prepared.typed["ad4"].xyz[4:] - np.array([5.4, 0.0, 0.0]), axis=1)
    assert (distance > 1.3).all()


def test_chains_and_waters_of_one_name_and_number_are_refused_where_they_count(
    tmp_path: Path, ligand_site: Site
) -> None:
    copy = [f"{line[:38]}{30.0:8.3f}{line[46:]}" for line in ALANINES[:5]]
    waters = [het("O", "HOH", 70, (3.0, y, 3.0), "O") for y in (0.0, 3.0)]
    path = write(tmp_path / "receptor.pdb", [*ALANINES, *waters, ALANINES[-1]])
    assert len(keep(path, ligand_site).receptor.xyz) == 7  # what is there twice is out of reach
    with pytest.raises(InputError, match="A/HOH/70 has 2 atoms O, which are no alternate loc"):
        keep(path, ligand_site, waters="all")
    with pytest.raises(InputError, match=r"receptor.pdb: A/ALA/1 has 2 atoms C, .* give each chai"):
        run(tmp_path, [*ALANINES, "TER", *copy], ligand_site)


def test_a_chain_by_the_names_of_charmm_and_gromacs_is_the_same(
    tmp_path: Path, ligand_site: Site
) -> None:
    places = [
        ("N", "N", (5.0, 0.0, 0.0), "N"),
        ("CA", "CA", (6.45, 0.0, 0.0), "C"),
        ("C", "C", (7.0, 1.42, 0.0), "C"),
        ("O", "OC1", (6.3, 2.4, 0.0), "O"),
        ("OXT", "OC2", (8.25, 1.5, 0.0), "O"),
        ("CB", "CB", (7.0, -0.75, 1.2), "C"),
        ("CG1", "CG1", (6.5, -0.1, 2.5), "C"),
        ("CG2", "CG2", (8.5, -0.75, 1.2), "C"),
        ("CD1", "CD", (7.0, -0.8, 3.75), "C"),
    ]
    own, other = (
        run(tmp_path, [atom(row[i], "ILE", 1, row[2], row[3]) for row in places], ligand_site)
        for i in (0, 1)
    )
    for name, typed in own.typed.items():
        for field in vars(typed):
            assert np.array_equal(getattr(typed, field), getattr(other.typed[name], field)), name
    assert own.audit.reason.tolist() == other.audit.reason.tolist()
    assert not [words for words in other.audit.action if "missing" in words]


def test_gromacs_names_of_four_letters_are_no_chains(tmp_path: Path, ligand_site: Site) -> None:
    lines = [f"{line[:17]}LYSH{line[21:]}" if line[25] == "2" else line for line in ALANINES]
    expected = [
        label.replace("ALA/2", "LYS/2") for label in labels(run(tmp_path, ALANINES, ligand_site))
    ]
    prepared = run(tmp_path, lines, ligand_site)
    assert labels(prepared) == expected
    assert not any("break" in words for words in noted(prepared, "A/ALA/1"))
    lines = [f"{line[:17]}GLUP{line[21:]}" if line[25] == "2" else line for line in ALANINES]
    assert {label.partition("/")[0] for label in labels(run(tmp_path, lines, ligand_site))} == {"A"}
    lines = [f"{line[:17]}ARGN{line[21:]}" if line[25] == "2" else line for line in ALANINES]
    assert (
        noted(run(tmp_path, lines, ligand_site), "A/ARN/2")[-1] == "noted: state ARN: by its name"
    )
    # A chain of two letters has them in every residue.
    prepared = run(tmp_path, [f"{line[:20]}H{line[21:]}" for line in lines], ligand_site)
    assert {label.partition("/")[0] for label in labels(prepared)} == {"HA"}


def test_gaps_and_odd_residues_are_noted(tmp_path: Path) -> None:
    lines = [
        *ALANINES[:5],
        atom("N", "LYS", 4, (8.33, 3.5, 0.0), "N"),
        atom("CA", "LYS", 4, (9.0, 4.8, 0.0)),
        atom("C", "LYS", 4, (8.0, 5.9, 0.0)),
        atom("O", "LYS", 4, (6.9, 5.6, 0.5), "O"),
        atom("CB", "LYS", 4, (9.9, 4.9, 1.2)),
        atom("SG", "CYS", 8, (0.0, 0.0, 0.0), "S", chain="B"),
        atom("SG", "CYS", 9, (0.0, 2.04, 0.0), "S", chain="B"),
        het("N", "SEP", 5, (8.33, 7.1, 0.0), "N"),
    ]
    prepared = run(tmp_path, lines, site_at((5.0, 0.0, 0.0), 10.0))
    assert "noted: missing atoms: CG, CD, CE, NZ (in the box)" in noted(prepared, "A/LYS/4")
    assert "noted: chain break: the next residue is A/LYS/4 (in the box)" in noted(
        prepared, "A/ALA/1"
    )
    assert "noted: disulfide: with B/CYS/9 (in the box)" in noted(prepared, "B/CYS/8")
    assert any("non-standard residue" in words for words in noted(prepared, "A/SEP/5"))
    assert noted(prepared, "A/ALA/1")[0].startswith("noted: first residue of its chain")


def test_glycans_covalent_ligands_and_ions_have_their_names(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        *ALANINES,
        atom("ND2", "ASN", 20, (0.0, 6.0, 0.0), "N"),
        het("C1", "NAG", 30, (0.0, 7.45, 0.0)),
        atom("SG", "CYS", 21, (0.0, -6.0, 0.0), "S"),
        het("C1", "XYZ", 31, (0.0, -7.8, 0.0)),
        het("F", "F", 32, (0.0, 0.0, 6.0), "F"),
        het("CO", "CO", 33, (0.0, 0.0, -6.0), "CO"),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    found = rows(prepared)
    assert found["A/NAG/30"][2].startswith("glycan in the box")
    assert found["A/NAG/30"][2].endswith("bound to A/ASN/20/ND2")
    assert found["A/XYZ/31"][2].startswith("covalent ligand in the box")
    assert found["A/F/32"][2].startswith("ion in the box")
    assert "takes FE, charge +2" in noted(prepared, "A/CO/33")[0]
    charges = dict(
        zip(labels(prepared), prepared.typed["ad4"].partial_charge.tolist(), strict=False)
    )
    assert charges["A/F/32/F"] == -1.0


@pytest.mark.parametrize(("distance", "is_bound"), [(1.82, True), (2.4, False)])
def test_a_reference_ligand_that_is_bound_to_the_protein_is_named(
    distance: float, is_bound: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where its file is not the structure, from which it was removed."""
    site = Site((0.0, 0.0, 0.0), 10.0, np.array([[0.0, 2.5 - distance, 0.0]]), "a file")
    lines = [*ALANINES, atom("SG", "CYS", 21, (0.0, 2.5, 0.0), "S"), *WALL]
    found = noted(run(tmp_path, lines, site), "reference ligand")
    words = "1.8 A from A/CYS/21/SG, as a bond is long; all ligands are docked without a bond"
    assert [words in note for note in found] == [True] * is_bound
    assert [words in said for said in caplog.messages if "bond" in said] == [True] * is_bound


@pytest.mark.parametrize(
    ("x", "half_side", "is_empty"), [(0.0, 4.0, False), (20.0, 15.0, True), (20.0, 30.0, False)]
)
@pytest.mark.parametrize("ligand", [True, False])
def test_a_site_in_solvent_is_named(
    x: float,
    half_side: float,
    is_empty: bool,
    ligand: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A centre in nm, or a ligand of another frame; some atom of the receptor is in the box."""
    here = (x, 0.0, 0.0)
    waters = [het("O", "HOH", 80 + n, (x + 3.0, 3.0 * n, 0.0), "O") for n in range(6)]
    xyz = np.array([here]) if ligand else np.empty((0, 3))
    path = write(tmp_path / "receptor.pdb", [*ALANINES, *WALL, *waters])
    prepared = keep(path, Site(here, half_side, xyz, "a file"), waters="all")
    part = "reference ligand" if ligand else "site"
    words = "in solvent: 0 receptor atoms within 8 A of its centre"
    is_empty |= ligand and x == 20.0
    found = [note for note in noted(prepared, part) if "solvent" in note]
    assert found == [f"noted: {words}"] * is_empty
    said = [one for one in caplog.messages if "in solvent" in one]
    assert [words in one for one in said] == [True] * is_empty


@pytest.mark.parametrize("distance", [1.9, 2.8])
def test_a_ligand_of_another_frame_that_touches_an_atom_by_chance_is_in_solvent(
    distance: float, tmp_path: Path, ligand_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """It was called bound, or nothing was said of it."""
    xyz = np.array([[9.0 + distance, 2.8, 0.0], [15.0, 2.8, 0.0]])
    prepared = run(tmp_path, ALANINES, replace(ligand_site, ligand=xyz))
    words = "in solvent: 6 receptor atoms within 8 A of its centre"
    assert noted(prepared, "reference ligand") == [f"noted: {words}"]
    assert [words in said for said in caplog.messages] == [True]


COVALENT = [
    atom("CB", "CYS", 3, (3.0, 5.0, 0.0)),
    atom("SG", "CYS", 3, (4.8, 5.0, 0.0), "S"),
    het("C1", "XYZ", 60, (5.4, 6.7, 0.0)),
    het("C2", "XYZ", 60, (6.9, 6.7, 0.0)),
    het("C3", "XYZ", 60, (7.4, 8.1, 0.0)),
    atom("CB", "SER", 4, (3.0, -5.0, 0.0)),
    atom("OG", "SER", 4, (4.42, -5.0, 0.0), "O"),
    het("C1", "XYZ", 61, (5.1, -6.25, 0.0)),
    het("C2", "XYZ", 61, (6.6, -6.25, 0.0)),
    het("C3", "XYZ", 61, (7.1, -7.65, 0.0)),
]
"""A thioether and an ether."""


@pytest.mark.parametrize("hydrogen", [False, True])
def test_a_covalent_ligand_is_in_the_place_of_a_hydrogen(
    tmp_path: Path, ligand_site: Site, hydrogen: bool
) -> None:
    backbone = [atom("N", "CYS", 3, (2.4, 3.7, 0.0), "N"), atom("H", "CYS", 3, (1.4, 3.7, 0), "H")]
    lines = [*COVALENT, *backbone] if hydrogen else COVALENT
    prepared = run(tmp_path, lines, ligand_site)
    ad4 = prepared.typed["ad4"]
    bearers = prepared.receptor.xyz[prepared.receptor.element != 6]
    hydrogens = ad4.xyz[ad4.type == Ad4Type.HD]
    near = np.linalg.norm(hydrogens[:, None] - bearers, axis=2) < 1.4
    assert near.sum() == len(hydrogens) == hydrogen
    assert not any("CYM" in words for words in noted(prepared, "A/CYS/3"))
    xscore = prepared.typed["xscore"]
    assert xscore.interaction[labels(prepared).index("A/SER/4/OG")] == Interaction.ACCEPTOR
    smiles = [words.rpartition(" ")[2] for words in noted(prepared, "A/XYZ/60")]
    assert smiles == ["CCCSC"]


def bound_peptide(letter: str, name: str, group: str, residue: str, charge: int) -> list[str]:
    """Records of a tripeptide whose middle has a group, a SMILES from the atom *, on an atom."""
    peptide = Chem.MolFromSequence(f"A{letter}A")
    mol = Chem.RWMol(Chem.CombineMols(peptide, Chem.MolFromSmiles(group)))
    info = [atom.GetPDBResidueInfo() for atom in peptide.GetAtoms()]
    here = next(
        i for i, one in enumerate(info) if (one.GetResidueNumber(), one.GetName()) == (2, name)
    )
    place = next(atom for atom in mol.GetAtoms() if atom.GetAtomicNum() == 0)
    (bond,) = place.GetBonds()
    mol.AddBond(here, bond.GetOtherAtomIdx(place.GetIdx()), bond.GetBondType())
    bearer = mol.GetAtomWithIdx(here)
    bearer.SetNumExplicitHs(0)
    bearer.SetNoImplicit(False)
    bearer.SetFormalCharge(charge)
    mol.RemoveAtom(place.GetIdx())
    for number, one in enumerate(mol.GetAtoms()):
        if number >= len(info):
            hetero = Chem.AtomPDBResidueInfo(f" {one.GetSymbol()}{number}".ljust(4))
            hetero.SetResidueName(residue)
            hetero.SetResidueNumber(9)
            hetero.SetChainId("A")
            hetero.SetIsHeteroAtom(True)
            one.SetMonomerInfo(hetero)
    Chem.SanitizeMol(mol)
    whole = Chem.AddHs(mol)
    assert rdDistGeom.EmbedMolecule(whole, randomSeed=7) == 0
    block = Chem.MolToPDBBlock(Chem.RemoveHs(whole), flavor=4)
    return [line for line in block.splitlines() if line.startswith(("ATOM", "HETATM"))]


BIOTIN, PLP = "*C(=O)CCCCC1SCC2NC(=O)NC12", "*=Cc1c(COP(=O)([O-])[O-])c[nH+]c(C)c1[O-]"


@pytest.mark.parametrize(
    ("letter", "atom", "group", "residue", "formal", "state", "hydrogens"),
    [
        ("K", " NZ ", BIOTIN, "BTN", 0, "amide: by what is bound to NZ", 1),
        ("K", " NZ ", "*S(=O)(=O)c1ccccc1", "XYZ", 0, "amide: by what is bound to NZ", 1),
        ("K", " NZ ", PLP, "PLP", -1, "imine: by what is bound to NZ", 1),
        ("K", " NZ ", "*CCO", "XYZ", 1, "ammonium: by what is bound to NZ", 2),
        ("D", " OD2", "*C1OC(CO)C(O)C(O)C1O", "GLC", 0, "ASH: an ester of what is bound to it", 0),
        ("E", " OE2", "*CCO", "XYZ", 0, "GLH: an ester of what is bound to it", 0),
        ("H", " NE2", "*CC(=O)NC", "XYZ", 0, "HIE: by what is bound to it", 0),
        ("N", " ND2", "*C1OC(CO)C(O)C(O)C1NC(C)=O", "NAG", 0, "", 1),
    ],
)
def test_a_side_chain_that_is_bound_to_a_group_has_its_state(
    tmp_path: Path, letter: str, atom: str, group: str, residue: str, formal: int, state: str,
    hydrogens: int,
) -> None:  # fmt: skip
    lines = bound_peptide(letter, atom, group, residue, int(state[:5] in ("imine", "ammon")))
    if letter == "E":  # the bond may be on either oxygen
        other = {"OE1": "OE2", "OE2": "OE1"}
        lines = [line[:13] + other.get(line[13:16], line[13:16]) + line[16:] for line in lines]
        atom = " OE1"
    prepared = keep(write(tmp_path / "bound.pdb", lines), site_at((0.0, 0.0, 0.0), 30.0))
    (place,) = {label.rpartition("/")[0] for label in labels(prepared) if "/2/" in label}
    said = [words for words in noted(prepared, place) if "state" in words]
    assert said == ([f"noted: state {state}"] if state else [])
    ad4, xyz = prepared.typed["ad4"], prepared.receptor.xyz
    near = np.linalg.norm(ad4.xyz[:, None] - xyz, axis=2).argmin(axis=1)
    is_mine = np.array([not {"1", "3"} & {*label.split("/")} for label in labels(prepared)])
    # What a bond draws from one side is on the other, but for hydrogens that it takes the place of.
    assert ad4.partial_charge[is_mine[near]].sum() == pytest.approx(formal, abs=0.2)
    bearer = labels(prepared).index(f"{place}/{atom.strip()}")
    assert (near == bearer).sum() == 1 + hydrogens
    role = Interaction(prepared.typed["xscore"].interaction[bearer])
    assert role == (
        Interaction.DONOR
        if hydrogens
        else {"H": Interaction.POLAR}.get(letter, Interaction.ACCEPTOR)
    )
    if letter == "E":
        charges = dict(zip(labels(prepared), ad4.partial_charge.tolist(), strict=False))
        assert charges[f"{place}/OE1"] > charges[f"{place}/OE2"] + 0.05
    if letter == "H":
        (smiles,) = (words.rpartition(" ")[2] for words in noted(prepared, "A/XYZ/9"))
        assert smiles == "CNC(=O)Cn1ccnc1"


@pytest.mark.parametrize("chain", ["A", "B"])
def test_an_isopeptide_has_no_charges(tmp_path: Path, ligand_site: Site, chain: str) -> None:
    lines = [
        *ALANINES,
        atom("CD", "LYS", 20, (0.0, 8.4, 0.0)),
        atom("CE", "LYS", 20, (0.0, 6.9, 0.0)),
        atom("NZ", "LYS", 20, (1.2, 6.1, 0.0), "N"),
        atom("CD", "GLU", 40, (1.2, 4.77, 0.0), chain=chain),
        atom("OE1", "GLU", 40, (0.15, 4.14, 0.0), "O", chain=chain),
        atom("CG", "GLU", 40, (2.5, 4.0, 0.0), chain=chain),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    assert "noted: state amide: by what is bound to NZ" in noted(prepared, "A/LYS/20")
    words = "noted: state GLN: an amide of what is bound to it"
    assert words in noted(prepared, f"{chain}/GLU/40")
    ad4 = prepared.typed["ad4"]
    charges = dict(zip(labels(prepared), ad4.partial_charge.tolist(), strict=False))
    assert charges[f"{chain}/GLU/40/OE1"] == pytest.approx(-0.28, abs=0.02)
    nitrogen = prepared.receptor.xyz[labels(prepared).index("A/LYS/20/NZ")]
    near = np.linalg.norm(ad4.xyz - nitrogen, axis=1) < 1.1
    assert (near & (ad4.type == Ad4Type.HD)).sum() == 1


@pytest.mark.parametrize(
    ("residue", "name"),
    [("HIS", "CE1"), ("TYR", "CE2"), ("GLN", "CD"), ("ALA", "CB"), ("ACE", "CH3")],
)
@pytest.mark.parametrize(("x", "hydrogens"), [(1.8, 0), (2.4, 1)])
def test_a_cysteine_bound_to_a_carbon_is_no_thiol(
    tmp_path: Path, ligand_site: Site, residue: str, name: str, x: float, hydrogens: int
) -> None:
    lines = [
        *ALANINES,
        atom("CB", "CYS", 20, (-0.8, 7.6, 0.0)),
        atom("SG", "CYS", 20, (0.0, 6.0, 0.0), "S"),
        atom(name, residue, 22, (x, 6.0, 0.0)),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    sulfur = prepared.receptor.xyz[labels(prepared).index("A/CYS/20/SG")]
    ad4 = prepared.typed["ad4"]
    near = np.linalg.norm(ad4.xyz - sulfur, axis=1) < 1.4
    assert (near & (ad4.type == Ad4Type.HD)).sum() == hydrogens


@pytest.mark.parametrize("others", [1.0, 0.0])
def test_atoms_without_density_are_noted_where_others_have_it(
    tmp_path: Path, ligand_site: Site, others: float
) -> None:
    lines = [
        *ALANINES,
        atom("CB", "CYS", 20, (-0.8, 7.6, 0.0), occupancy=0.0),
        atom("SG", "CYS", 20, (0.0, 6.0, 0.0), "S", occupancy=0.0),
    ]
    lines = [line.replace("  1.00", f"  {others:.2f}") for line in lines]
    prepared = run(tmp_path, lines, ligand_site)
    words = "noted: occupancy 0: CB, SG (in the box)"
    assert (words in noted(prepared, "A/CYS/20")) == (others > 0)


@pytest.mark.parametrize(("bond", "hydrogens"), [(1.45, 1), (2.8, 3)])
def test_a_lysine_bound_to_the_oxygen_of_a_cysteine_has_no_charge(
    tmp_path: Path, ligand_site: Site, bond: float, hydrogens: int
) -> None:
    lines = [
        *ALANINES,
        atom("SG", "CSO", 20, (-1.6, 6.0, 0.0), "S"),
        atom("OD", "CSO", 20, (0.0, 6.0, 0.0), "O"),
        atom("CE", "LYS", 22, (bond + 0.5, 7.4, 0.0)),
        atom("NZ", "LYS", 22, (bond, 6.0, 0.0), "N"),
    ]
    prepared = run(tmp_path, lines, ligand_site)
    nitrogen = prepared.receptor.xyz[labels(prepared).index("A/LYS/22/NZ")]
    ad4 = prepared.typed["ad4"]
    near = np.linalg.norm(ad4.xyz - nitrogen, axis=1) < 1.2
    assert (near & (ad4.type == Ad4Type.HD)).sum() == hydrogens
    oxygen = prepared.receptor.xyz[labels(prepared).index("A/CSO/20/OD")]
    near = np.linalg.norm(ad4.xyz - oxygen, axis=1) < 1.2
    assert (near & (ad4.type == Ad4Type.HD)).sum() == (bond > 2)


def test_pdb2pqr_gives_no_hydrogen_where_a_covalent_ligand_is(tmp_path: Path) -> None:
    lines = DHFR.joinpath("1ia1_protein_one_lig_removed.pdb").read_text("ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    structure = gemmi.read_pdb_string("\n".join(lines))
    lysine = next(residue for residue in structure[0]["B"] if residue.name == "LYS")
    end, before = (np.array(lysine[name][0].pos.tolist()) for name in ("NZ", "CE"))
    bond = (end - before) / np.linalg.norm(end - before)
    ligand = [het(f"C{n}", "XYZ", 900, tuple(end + 1.47 * n * bond), chain="B") for n in (1, 2, 3)]
    path = write(tmp_path / "bound.pdb", [*lines, *ligand])
    site = site_at(tuple(end.tolist()), 8.0)
    prepared = keep(path, site, protonation="propka")
    ad4 = prepared.typed["ad4"]
    near = np.linalg.norm(ad4.xyz - end, axis=1) < 1.3
    assert (near & (ad4.type == Ad4Type.HD)).sum() == 2
    words = "noted: bound to a hetero group, which PDB2PQR did not see; left as it is"
    assert words in noted(prepared, f"B/LYS/{lysine.seqid}")


def test_pdb2pqr_gives_an_isopeptide_no_ammonium_ion(tmp_path: Path) -> None:
    lines = DHFR.joinpath("1ia1_protein_one_lig_removed.pdb").read_text("ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    structure = gemmi.read_pdb_string("\n".join(lines))
    lysine = next(residue for residue in structure[0]["B"] if residue.name == "LYS")
    end, before = (np.array(lysine[name][0].pos.tolist()) for name in ("NZ", "CE"))
    along = (end - before) / np.linalg.norm(end - before)
    aside = np.cross(along, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(along, [0.0, 0.0, 1.0]))
    carbon = end + 1.33 * along
    places = {
        "CD": carbon,
        "OE1": carbon + 0.6 * along + 1.06 * aside,
        "CG": carbon + 0.75 * along - 1.3 * aside,
    }
    acid = [
        atom(name, "GLU", 950, tuple(xyz.tolist()), name[0], chain="B")
        for name, xyz in places.items()
    ]
    path = write(tmp_path / "lactam.pdb", [*lines, *acid])
    prepared = keep(path, site_at(tuple(end.tolist()), 8.0), protonation="propka")
    ad4 = prepared.typed["ad4"]
    near = np.linalg.norm(ad4.xyz - end, axis=1) < 1.3
    assert (near & (ad4.type == Ad4Type.HD)).sum() == 1
    words = "noted: bound to another side chain, which PDB2PQR does not know; left as it is"
    assert words in noted(prepared, f"B/LYS/{lysine.seqid}")


def test_a_group_has_the_hydrogens_of_the_file(tmp_path: Path, ligand_site: Site) -> None:
    acid = [
        het("C1", "XYZ", 60, (5.0, 6.5, 0.0)),
        het("C2", "XYZ", 60, (5.0, 5.0, 0.0)),
        het("O1", "XYZ", 60, (6.08, 4.37, 0.0), "O"),
        het("O2", "XYZ", 60, (3.92, 4.37, 0.0), "O"),
    ]
    hydrogen = het("HO1", "XYZ", 60, (6.08, 3.41, 0.0), "H")
    for lines, formal, role in (
        (acid, -1, Interaction.ACCEPTOR),
        ([*acid, hydrogen], 0, Interaction.DONOR_ACCEPTOR),
    ):
        prepared = run(tmp_path, [*ALANINES, *lines], ligand_site)
        mine = np.array(["/XYZ/" in label for label in labels(prepared)])
        ad4 = prepared.typed["ad4"]
        own = np.linalg.norm(ad4.xyz - [6.08, 3.41, 0.0], axis=1) < 0.1
        own[: len(mine)] |= mine
        assert ad4.partial_charge[own].sum() == pytest.approx(formal, abs=0.02)
        oxygen = labels(prepared).index("A/XYZ/60/O1")
        assert prepared.typed["xscore"].interaction[oxygen] == role


def test_other_copies_of_the_ligand_leave_and_can_be_kept(
    tmp_path: Path, ligand_site: Site
) -> None:
    lines = [
        *ALANINES,
        het("C1", "LIG", 70, (0.0, 0.1, 0.0)),
        het("C1", "LIG", 71, (0.0, 5.0, 0.0)),
    ]
    path = write(tmp_path / "l.pdb", lines)
    assert "another copy" in rows(keep(path, ligand_site))["A/LIG/71"][2]
    assert rows(keep(path, ligand_site, keep=["A/LIG/71"]))["A/LIG/71"][2].endswith("as asked")


def test_a_ligand_with_two_locations_is_the_ligand_itself(tmp_path: Path) -> None:
    """One of them is the reference: half of its atoms, so that its copies were kept."""
    two = [
        het(name, "LIG", 70, (x, y, 0.0), altloc=letter, occupancy=0.5)
        for letter, y in (("A", 0.0), ("B", 0.9))
        for name, x in (("C1", 0.0), ("C2", 1.5))
    ]
    lines = [*ALANINES, *two, het("C1", "LIG", 71, (0.0, 5.0, 0.0))]
    selection = open_structure(write(tmp_path / "l.pdb", lines), Structure())
    site = site_of_residue(selection, "A/LIG/70", 10.0)
    found = rows(prepare(selection, site, Structure(), PocketSettings()))
    assert found["A/LIG/70"] == ("dropped", 4, "the reference ligand itself")
    assert "another copy" in found["A/LIG/71"][2]


def test_a_site_is_a_ligand_or_residues_of_the_structure(tmp_path: Path) -> None:
    lines = [
        *ALANINES,
        het("C1", "LIG", 70, (1.0, 2.0, 3.0)),
        het("O1", "LIG", 70, (2.0, 2.0, 3.0), "O"),
        het("C1", "LIG", 71, (1.0, 5.0, 0.0)),
    ]
    selection = open_structure(write(tmp_path / "l.pdb", lines), Structure())
    by_name = site_of_residue(selection, "LIG", 9.0)
    assert by_name.center == pytest.approx((1.5, 2.0, 3.0))
    assert "A/LIG/70" in by_name.source
    prepared = prepare(selection, by_name, Structure(), PocketSettings())
    assert rows(prepared)["A/LIG/70"][2] == "the reference ligand itself"
    assert noted(prepared, "A/LIG/70") == [
        "chosen: the reference ligand; others so named: A/LIG/71"
    ]
    again = open_structure(tmp_path / "l.pdb", Structure())
    assert site_of_residue(again, "A/71", 9.0).center == pytest.approx((1.0, 5.0, 0.0))
    both = site_of_residues(again, ["A/ALA/1", "A/2"], 9.0)
    expected = again.xyz[[label.number < 3 for label in again.atoms.place]].mean(axis=0)
    assert both.center == pytest.approx(tuple(expected))
    with pytest.raises(InputError, match="A/ALA/1 is part of a chain"):
        site_of_residue(again, "A/ALA/1", 9.0)


def test_a_name_of_several_residues_as_the_site_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    selection = open_structure(write(tmp_path / "l.pdb", ALANINES), Structure())
    site_of_residues(selection, ["A/ALA/1", "A/2"], 9.0)
    assert not caplog.messages
    site_of_residues(selection, ["ALA"], 9.0)
    (warning,) = caplog.messages
    count = len(selection.places)
    assert warning.startswith(f"residues: ALA names {count} residues (A/ALA/1, A/ALA/2")


def test_a_place_is_beside_a_residue_and_not_beside_the_water_in_it(tmp_path: Path) -> None:
    lines = [*ALANINES, het("O", "HOH", 80, (0.0, 0.0, 0.0), "O")]
    selection = open_structure(write(tmp_path / "a.pdb", lines), Structure())
    assert nearby(selection, (0.0, 0.5, 0.0)) == "near A/ALA/1"


@pytest.mark.parametrize(("occupancy", "x"), [(0.4, 1.0), (0.5, 1.0), (0.6, 3.0)])
def test_a_site_is_at_the_most_occupied_then_the_first_location(
    tmp_path: Path, occupancy: float, x: float
) -> None:
    lines = [
        *ALANINES,
        het("C1", "LIG", 70, (1.0, 2.0, 3.0), altloc="A", occupancy=0.5),
        het("C1", "LIG", 70, (3.0, 2.0, 3.0), altloc="B", occupancy=occupancy),
    ]
    selection = open_structure(write(tmp_path / "l.pdb", lines), Structure())
    assert site_of_residue(selection, "LIG", 9.0).center == pytest.approx((x, 2.0, 3.0))


@pytest.mark.parametrize(("more", "kept"), [(-0.125, True), (0.0, True), (0.125, False)])
def test_a_residue_is_kept_that_has_an_atom_within_the_margin(
    tmp_path: Path, more: float, kept: bool
) -> None:
    site = site_at((0.5, 0.0, 0.0), 4.0, "test")
    settings = PocketSettings(margin=2.0)
    far = atom("CB", "SER", 9, (0.5 + 4.0 + 2.0 + more, 0.0, 0.0))
    inside = atom("CB", "SER", 8, (1.0, 1.0, 1.0))
    path = write(tmp_path / "receptor.pdb", [inside, far])
    prepared = prepare(open_structure(path, Structure()), site, Structure(), settings)
    assert ("A/SER/9/CB" in labels(prepared)) == kept


def test_an_atom_that_the_audit_does_not_explain_is_an_error(
    tmp_path: Path, ligand_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Selection.audit

    def without_its_last(selection: Selection) -> Audit:
        found = whole(selection)
        return Audit(*(getattr(found, spec.name)[:-1] for spec in fields(Audit)))

    monkeypatch.setattr(Selection, "audit", without_its_last)
    with pytest.raises(InputError, match=r"an unexplained loss: there are \d+ atoms, the audit"):
        run(tmp_path, ALANINES, ligand_site)


def test_what_pdb2pqr_cannot_protonate_is_one_sentence(tmp_path: Path, ligand_site: Site) -> None:
    stub = [atom("N", "TRP", 1, (3.0, 0.0, 0.0), "N"), atom("CA", "TRP", 1, (4.4, 0.0, 0.0))]
    path = write(tmp_path / "a.pdb", [*stub, atom("C", "TRP", 1, (5.0, 1.4, 0.0))])
    message = r"PDB2PQR cannot protonate it \(.* TRP 1 .*\); .*--protonation given"
    with pytest.raises(InputError, match=message):
        keep(path, ligand_site, protonation="propka")


def test_what_pdb2pqr_does_not_see_keeps_the_hydrogens_of_the_file(tmp_path: Path) -> None:
    lines = DHFR.joinpath("1ia1_protein_one_lig_removed.pdb").read_text("ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    water = [
        het("O", "HOH", 900, (10.3, 36.3, 18.6), "O", "B"),
        het("H1", "HOH", 900, (10.3, 37.26, 18.6), "H", "B"),
        het("H2", "HOH", 900, (11.2, 35.98, 18.6), "H", "B"),
        het("H3", "HOH", 901, (90.0, 0.0, 0.0), "H", "B"),
    ]
    site = site_at((10.3, 36.3, 18.6), 8.0)
    path = write(tmp_path / "a.pdb", [*lines, *water])
    prepared = keep(path, site, protonation="propka", waters="all")
    hydrogens = prepared.typed["ad4"].xyz[prepared.typed["ad4"].type == Ad4Type.HD]
    for line in water[1:3]:
        xyz = [float(line[start : start + 8]) for start in (30, 38, 46)]
        assert np.linalg.norm(hydrogens - xyz, axis=1).min() < 1e-3
    assert ("kept", 2, "polar hydrogen of the file, for AutoDock4") in settled(prepared)
    (words,) = [words for words in noted(prepared, "hydrogens") if words.startswith("added")]
    assert words == "added: polar hydrogens for AutoDock4, by PDB2PQR"


@pytest.mark.parametrize("place", [0, 60])
def test_an_amide_behind_a_modified_residue_has_its_hydrogen(tmp_path: Path, place: int) -> None:
    """With PDB2PQR it had three where a chain began, else one on the wrong side or none."""
    lines = DHFR.joinpath("1ia1_protein_one_lig_removed.pdb").read_text("ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    number = list(dict.fromkeys(line[22:26] for line in lines))[place]
    lines = [f"{x[:17]}XYZ{x[20:]}" if x[22:26] == number else x for x in lines]
    row = max(row for row, line in enumerate(lines) if line[22:26] == number)
    nitrogen = lines[row + 1]
    xyz = tuple(float(nitrogen[start : start + 8]) for start in (30, 38, 46))
    prepared = keep(write(tmp_path / "a.pdb", lines), site_at(xyz, 8.0), protonation="propka")
    ad4 = prepared.typed["ad4"]
    hydrogens = ad4.xyz[ad4.type == Ad4Type.HD].astype(float)
    (own,) = hydrogens[np.linalg.norm(hydrogens - xyz, axis=1) < 1.3]
    heavy = ad4.xyz[ad4.type != Ad4Type.HD].astype(float)
    assert np.linalg.norm(heavy - own, axis=1).min() == pytest.approx(1.01, abs=0.01)
    assert np.sort(np.linalg.norm(heavy - own, axis=1))[1] > 1.9


def test_a_residue_without_its_backbone_does_not_stop_pdb2pqr(tmp_path: Path) -> None:
    lines = DHFR.joinpath("1ia1_protein_one_lig_removed.pdb").read_text("ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"]
    lines += [atom("N", "SER", 900, (13.0, 36.0, 19.0), "N", "B")]
    site = site_of_ligand(DHFR / "1ia1_ligand.sdf", 10.0)
    prepared = keep(write(tmp_path / "a.pdb", lines), site, protonation="propka")
    words = "noted: lacks atoms of its backbone: PDB2PQR did not see it"
    assert words in noted(prepared, "B/SER/900")
    assert "noted: state HID: by its hydrogens" in noted(prepared, "B/HIS/129")


def test_a_chain_that_ends_within_is_protonated_in_all_its_parts(tmp_path: Path) -> None:
    """As where a chain has two molecules: PDB2PQR gives the first one a letter of its own."""
    file = DHFR / "1ia1_protein_one_lig_removed.pdb"
    lines = [
        line
        for line in file.read_text(encoding="ascii").splitlines()
        if line.startswith("ATOM") and line[21] == "B"
    ]
    own = [row for row, line in enumerate(lines) if int(line[22:26]) == 120]
    oxygen = next(lines[row] for row in own if lines[row][12:16].strip() == "O")
    x, y, z = (float(oxygen[start : start + 8]) + 0.7 for start in (30, 38, 46))
    end = atom("OXT", oxygen[17:20], 120, (x, y, z), "O", "B")
    parted = [*lines[: own[-1] + 1], end, *lines[own[-1] + 1 :]]
    site = site_of_ligand(DHFR / "1ia1_ligand.sdf", 10.0)
    whole, cut = (
        keep(write(tmp_path / name, atoms), site, protonation="propka")
        for name, atoms in (("whole.pdb", lines), ("parted.pdb", parted))
    )
    states = [
        {part: why for part, why in zip(p.audit.part, p.audit.reason, strict=True) if "HIS" in part}
        for p in (whole, cut)
    ]
    assert states[0] == states[1]
    assert {part for part, why in states[0].items() if "by its hydrogens" in why} == {
        *("B/HIS/92", "B/HIS/129", "B/HIS/137"),
    }


def start_of_dhfr() -> tuple[gemmi.Structure, Site]:
    """The first residues of a chain B, and a site at their center of mass."""
    file = DHFR / "1ia1_protein_one_lig_removed.pdb"
    lines = file.read_text(encoding="ascii").splitlines()
    lines = [line for line in lines if line.startswith("ATOM") and line[21] == "B"][:100]
    structure = gemmi.read_pdb_string("\n".join(lines))
    x, y, z = structure[0].calculate_center_of_mass().tolist()
    return structure, site_at((x, y, z), 10.0)


def test_propka_decides_whatever_a_residue_s_state_is_called(tmp_path: Path) -> None:
    file = DHFR / "1ia1_protein_one_lig_removed.pdb"
    lines = [x for x in file.read_text("ascii").splitlines() if x[:4] == "ATOM" and x[21] == "B"]
    names = {"HIS": "HSP", "ASP": "ASH", "GLU": "GLH", "LYS": "LYN", "ARG": "ARN"}
    called = [f"{x[:17]}{names.get(x[17:20], x[17:20])}{x[20:]}" for x in lines]
    site = site_of_ligand(DHFR / "1ia1_ligand.sdf", 10.0)
    plain, other = (
        keep(write(tmp_path / "a.pdb", atoms), site, protonation="propka").typed["ad4"]
        for atoms in (lines, called)
    )
    assert np.array_equal(plain.xyz, other.xyz)
    assert np.array_equal(plain.partial_charge, other.partial_charge)


@pytest.mark.parametrize("name", ["CYX", "CYM", "CSS"])
def test_pdb2pqr_sees_a_cysteine_without_its_other_name(tmp_path: Path, name: str) -> None:
    structure, site = start_of_dhfr()
    valine = structure[0]["B"][5]
    valine.remove_atom("CG2", "\0")
    sulfur = valine["CG1"][0]
    sulfur.name, sulfur.element = "SG", gemmi.Element("S")
    found = []
    for valine.name in ("CYS", name):
        structure.write_pdb(str(tmp_path / "a.pdb"))
        found.append(keep(tmp_path / "a.pdb", site, protonation="propka").typed["ad4"])
    assert np.array_equal(found[0].xyz, found[1].xyz)
    assert np.array_equal(found[0].partial_charge, found[1].partial_charge)


def test_residues_beyond_the_numbers_of_a_pdb_are_protonated_as_others(tmp_path: Path) -> None:
    structure, site = start_of_dhfr()
    found = []
    for more in (0, 9995):
        for residue in structure[0]["B"]:
            residue.seqid = gemmi.SeqId(residue.seqid.num + more, " ")
        path = tmp_path / f"{more}.cif"
        structure.make_mmcif_document().write_file(str(path))
        found.append(keep(path, site, protonation="propka"))
    assert np.array_equal(found[0].typed["ad4"].xyz, found[1].typed["ad4"].xyz)


def test_the_numbers_of_a_fused_protein_need_not_follow_the_sequence(tmp_path: Path) -> None:
    structure, site = start_of_dhfr()
    found = []
    for more in (0, 1000):
        for residue in structure[0]["B"][4:8]:
            residue.seqid = gemmi.SeqId(residue.seqid.num + more, " ")
        path = tmp_path / f"{more}.pdb"
        structure.write_pdb(str(path))
        found.append(keep(path, site, protonation="propka"))
    hydrogens = [sorted(each.typed["ad4"].xyz.tolist()) for each in found]
    assert hydrogens[0] == hydrogens[1]
    first, fused = ([*each.audit.reason] for each in found)
    assert not [words for words in fused if "chain break" in words]
    assert [words for words in fused if "of its chain" in words] == [
        words for words in first if "of its chain" in words
    ]
