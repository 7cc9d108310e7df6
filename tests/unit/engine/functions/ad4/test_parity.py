"""AutoDock4's energies against autodock4 4.2.6 (pairs, atoms) and AutoGrid 4.2 (maps)."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from ligen_py.engine.functions.ad4 import reference as ad4_reference
from ligen_py.engine.functions.ad4.constants import WEIGHTS
from ligen_py.molecules.typing.ad4 import charged_receptor
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from tests import pdbqt

NAMES = ("1ac8", "1stp", "3ce3", "3tmn")
UPPER_STEP = {"1ac8": 24, "3tmn": 24, "7cpa": 24}
"""Steps of 0.01 A that AutoGrid's smoothing looks upwards: versions differ; the others' 25."""
MAPS = {
    "1stp": ("HD", "C", "A", "N", "OA", "SA", "e", "d"),
    "1iep": ("HD", "C", "A", "NA", "OA", "e", "d"),
}
TERMS = ("vdw", "hbond", "estat", "desolv")


def receptor_of(path: Path) -> Ad4Receptor:
    file = pdbqt.read(path)
    return charged_receptor(file.xyz, file.ad4_types(), file.charge)


def as_autogrid_tabulates(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Look functions of the distance up as AutoGrid does, in steps of 0.01 A, rounded down."""
    upper = UPPER_STEP.get(name, 25)
    sampled = {name: getattr(ad4_reference, name) for name in ("dielectric", "solvation_range")}
    for function, exact in sampled.items():
        step = lambda r, exact=exact: exact(np.floor(r * 100) / 100)  # noqa: E731
        monkeypatch.setattr(ad4_reference, function, step)

    def smoothed(r: np.ndarray, distance: np.ndarray) -> np.ndarray:
        step = np.floor(r * 100)
        return np.clip(np.round(distance * 100), step - 25, step + upper) / 100

    monkeypatch.setattr(ad4_reference, "smoothed", smoothed)


def map_energy(receptor: Ad4Receptor, place: np.ndarray, name: str) -> float:
    """What AutoGrid writes: energy of an atom of a type without charge, or of a bare charge."""
    if name == "e":
        return ad4_reference.receptor_terms(receptor, place, Ad4Type.C, 1.0)["estat"]
    if name == "d":
        charges = (1.0, 0.0)
        one, none = (
            ad4_reference.receptor_terms(receptor, place, Ad4Type.C, charge)["desolv"]
            for charge in charges
        )
        return one - none
    found = ad4_reference.receptor_terms(receptor, place, Ad4Type[name], 0.0)
    return found["vdw"] + found["hbond"] + found["desolv"]


def read_map(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Positions (points, 3) and energies (points,) of a map file."""
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    spacing = float(lines[3].split()[1])
    counts = np.array(lines[4].split()[1:], int)
    centre = np.array(lines[5].split()[1:], float)
    energy = np.array([line for line in lines[6:] if line], float)
    z, y, x = np.indices(counts[::-1] + 1).reshape(3, -1)
    return centre + spacing * (np.stack([x, y, z], axis=1) - counts / 2), energy


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in MAPS for kind in MAPS[name]])
def test_maps_are_those_of_autogrid(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    reference = shared_data / "reference"
    if name == "1stp":
        path = reference / "energies" / "1stp" / "maps" / f"1stp_protein.{kind}.map.gz"
        receptor = receptor_of(reference / "energies" / "1stp" / "receptor.pdbqt")
    else:
        path = reference / "vina_1iep" / f"1iep_receptor.{kind}.map.gz"
        receptor = receptor_of(reference / "vina_1iep" / "1iep_receptor.pdbqt")
    places, energies = read_map(path)
    rng = np.random.default_rng(0)
    chosen = rng.choice(np.flatnonzero(np.abs(energies) < 5), 40, replace=False)
    exact = np.array([map_energy(receptor, places[i], kind) for i in chosen])
    as_autogrid_tabulates(monkeypatch, name)
    found = np.array([map_energy(receptor, places[i], kind) for i in chosen])
    assert np.abs(found - energies[chosen]).max() < 0.01
    assert np.median(np.abs(found - energies[chosen])) < 0.001
    # Only on the steep walls does AutoGrid's table of 0.01 A show.
    calm = energies[chosen] < 0.5
    assert np.median(np.abs(exact - energies[chosen])[calm]) < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_pairs_within_a_ligand_are_those_of_autodock(shared_data: Path, name: str) -> None:
    folder = shared_data / "reference" / "energies"
    file = pdbqt.read(folder / name / f"{name}_ligand.pdbqt")
    _, ligands = pdbqt.ligands_of(file)
    molecule = ad4_reference.molecule(ligands, 0, pdbqt.start_poses(ligands), 0)
    number = [int(np.abs(file.xyz - place).sum(axis=1).argmin()) + 1 for place in molecule.xyz]
    found = ad4_reference.pair_terms(molecule)
    pairs = [tuple(sorted((number[a], number[b]))) for a, b in molecule.pairs]

    row = re.compile(r" +\d+ +(\d+)-(\d+) +[\d.]+ +\S+ +(\S+) +(\S+) +(\S+) +(\S+) ")
    table = [match for line in _lines(folder, name) if (match := row.match(line))]
    expected = {
        tuple(sorted((int(one), int(two)))): (float(vdw), float(hbond), float(elec), float(desolv))
        for one, two, elec, vdw, hbond, desolv in (match.groups() for match in table)
    }
    assert set(pairs) == set(expected)
    for place, term in enumerate(TERMS):
        known = np.array([expected[pair][place] for pair in pairs])
        assert found[term] == pytest.approx(known, abs=0.003), term
        assert found[term].sum() == pytest.approx(known.sum(), abs=0.003), term
    known = json.loads((folder / "reference_energies.json").read_text())[name]
    total = sum(values.sum() for values in found.values())
    assert total == pytest.approx(known["autodock4.2.6_epdb"]["internal"], abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_atoms_have_autodocks_energies_on_its_grid(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # autodock4 interpolates between the grid's points, so the same is done here.
    folder = shared_data / "reference" / "energies"
    receptor = receptor_of(folder / name / "receptor.pdbqt")
    lines = _lines(folder, name)
    (corner,) = (line for line in lines if line.startswith("Minimum coordinates in grid"))
    origin = np.array(re.findall(r"-?\d+\.\d+", corner), float)
    row = re.compile(r" +\d+ +([A-Z][A-Za-z]?)" + r" +(-?\d+\.\d+)" * 8 + "$")
    table = [match.groups() for line in lines if (match := row.match(line))]
    as_autogrid_tabulates(monkeypatch, name)
    sums = np.zeros(3)
    for kind, _, contact, elec, desolv, charge, *xyz in table:
        place = np.array(xyz, float)
        known = np.array([contact, elec, desolv], float)
        found = interpolated(receptor, place, origin, kind, float(charge))
        sums += found - known
        assert found == pytest.approx(known, abs=0.01), (kind, place)
    assert len(table) == len(pdbqt.read(folder / name / f"{name}_ligand.pdbqt").kind)
    assert sums == pytest.approx(0, abs=0.01)


def test_the_sums_of_7cpa_are_autodocks(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this complex autodock4's sums are known, not its atoms; the box is AutoDock-GPU's."""
    folder = shared_data / "reference" / "energies"
    receptor = receptor_of(folder / "7cpa" / "receptor.pdbqt")
    file = pdbqt.read(folder / "7cpa" / "7cpa_ligand.pdbqt")
    origin = np.array([49.836, 17.609, 36.272]) - 30 * 0.375
    known = json.loads((folder / "reference_energies.json").read_text())["7cpa"]
    known = known["autodock4.2.6_epdb"]
    as_autogrid_tabulates(monkeypatch, "7cpa")
    atoms = zip(file.xyz, file.kind, file.charge, strict=True)
    terms = [interpolated(receptor, xyz, origin, kind, float(q)) for xyz, kind, q in atoms]
    contact, elec, desolv = np.sum(terms, axis=0)
    assert contact + desolv == pytest.approx(known["vdw_hb_desolv"], abs=0.01)
    assert elec == pytest.approx(known["elec"], abs=0.01)


def interpolated(
    receptor: Ad4Receptor, place: np.ndarray, origin: np.ndarray, kind: str, charge: float
) -> np.ndarray:
    """Contacts, electrostatics, desolvation by charge, between points 0.375 A apart."""
    cell, within = np.divmod((place - origin) / 0.375, 1)
    total = np.zeros(3)
    for corner in np.ndindex(2, 2, 2):
        point = origin + 0.375 * (cell + corner)
        weight = np.prod(np.where(corner, within, 1 - within))
        energies = [map_energy(receptor, point, name) for name in (kind, "e", "d")]
        total += weight * np.array(energies) * [1, charge, abs(charge)]
    return total


@pytest.mark.parametrize("name", NAMES)
def test_torsions_cost_what_they_cost_in_autodock(shared_data: Path, name: str) -> None:
    folder = shared_data / "reference" / "energies"
    _, ligands = pdbqt.ligands_of(pdbqt.read(folder / name / f"{name}_ligand.pdbqt"))
    known = json.loads((folder / "reference_energies.json").read_text())[name]
    assert WEIGHTS["TORSION"] * ligands.torsions[0] == pytest.approx(
        known["autodock4.2.6_epdb"]["tors"], abs=0.01
    )


def _lines(folder: Path, name: str) -> list[str]:
    return (folder / name / "epdb.dlg").read_text().splitlines()
