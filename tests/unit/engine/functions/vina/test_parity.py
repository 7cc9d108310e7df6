"""Vina and Vinardo against AutoDock Vina 1.2.7: its Python package, and scores it gave before."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.engine.functions.vina.constants import VINA
from ligen_py.engine.functions.vinardo import reference as vinardo_reference
from ligen_py.molecules.graph import Graph
from ligen_py.molecules.library.parsing import assemble
from ligen_py.molecules.library.reading import records
from ligen_py.molecules.ligands.preparation import prepare
from ligen_py.molecules.receptor import preparation as receptor
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.site import site_of_ligand
from ligen_py.molecules.typing.vina import active_torsions
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType
from ligen_py.records.functions.xscore import XScoreReceptor
from ligen_py.settings.parse import AS_GIVEN, ParseSettings
from ligen_py.settings.pocket import PocketSettings, Structure
from tests import pdbqt
from tests.placed import placed
from tests.vina_values import as_vina_tabulates

CRYSTAL = ParseSettings(**AS_GIVEN)
TWINS = {"vina": vina_reference, "vinardo": vinardo_reference}
COMPLEXES = ("1IA1", "3CE3", "5SIS", "6TW5", "6XG5", "7AKL", "7LT0", "7N03", "7POM", "7UYB")
"""All thirty take a minute and a half."""


@cache
def complex_of(folder: Path) -> tuple[VinaLigands, VinaReceptor, XScoreReceptor, list[float]]:
    """A crystal complex through the project's own preparation, and the ligand's centroid.

    The ligand stands at its place, with the three decimals that a PDBQT file has.
    """
    site = site_of_ligand(folder / "ligand.sdf", 10.0)
    (record,) = records(folder / "ligand.sdf")
    ligands = assemble([(record, prepare(record, CRYSTAL))]).typed["vina"]
    structure = Structure()
    selection = open_structure(folder / "protein.pdb", structure)
    pocket = receptor.prepare(selection, site, structure, PocketSettings()).typed
    in_place = np.round(ligands.xyz.astype(float) + site.center, 3).astype("f4")
    return replace(ligands, xyz=in_place), pocket["vina"], pocket["xscore"], list(site.center)


def score(form: str, ligands: VinaLigands, pocket: VinaReceptor) -> dict[str, float]:
    poses = pdbqt.start_poses(ligands)
    found = TWINS[form].score_poses(ligands, pocket, poses)
    return {term: float(values[0]) for term, values in found.items()}


def ligand_lines(ligands: VinaLigands, cuts: list[tuple[int, int]]) -> str:
    neighbours: list[list[int]] = [[] for _ in ligands.element]
    for a, b in ligands.bond.astype(int).tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    return pdbqt.ligand_lines(ligands.xyz, ligands.element, ligands.type, neighbours, cuts)


@pytest.mark.parametrize("form", ["vina", "vinardo"])
@pytest.mark.parametrize("name", COMPLEXES)
def test_crystal_poses_score_as_in_vina(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    # Vina makes its types from AutoDock's and from the bonds that it finds itself.
    vina = pytest.importorskip("vina")
    ligands, pocket, rooted, centre = complex_of(shared_data / "redock" / name)
    mol = placed(ligands.molecule, ligands.xyz)
    (tmp_path / "receptor.pdbqt").write_text(pdbqt.receptor_lines(pocket, rooted))
    program = vina.Vina(sf_name=form, cpu=1, verbosity=0)
    program.set_receptor(str(tmp_path / "receptor.pdbqt"))
    graph = Graph.of(mol)
    turning = graph.bond[active_torsions(graph)].tolist()
    program.set_ligand_from_string(ligand_lines(ligands, turning))
    program.compute_vina_maps(center=centre, box_size=[30, 30, 30], spacing=3.0)
    total, between, *_ = program.score()

    exact = score(form, ligands, pocket)
    divisor = 1 + VINA.weights.rotor_weight * exact["rotors"]
    # Vina's look-up table alone is worth up to 0.015 kcal/mol.
    assert exact["affinity"] == pytest.approx(total, abs=0.015)
    as_vina_tabulates(monkeypatch)
    tabulated = score(form, ligands, pocket)
    assert tabulated["affinity"] == pytest.approx(total, abs=0.002)
    assert tabulated["affinity"] * divisor == pytest.approx(between, abs=0.002)
    assert tabulated["total"] == -tabulated["affinity"]


@pytest.mark.parametrize("form", ["vina", "vinardo"])
@pytest.mark.parametrize("name", ["1IEP", "3CE3", "7N03", "7UYB"])
def test_crystal_poses_have_vinas_internal_energy(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    # With the torsions that the search turns. Ligands with three-membered rings are left out:
    # there, Vina's walk to the atoms within three bonds misses some and counts them as pairs.
    vina = pytest.importorskip("vina")
    ligands, pocket, rooted, centre = complex_of(shared_data / "redock" / name)
    (tmp_path / "receptor.pdbqt").write_text(pdbqt.receptor_lines(pocket, rooted))
    program = vina.Vina(sf_name=form, cpu=1, verbosity=0)
    program.set_receptor(str(tmp_path / "receptor.pdbqt"))
    axes = ligands.torsion_axis.astype(int).tolist()
    program.set_ligand_from_string(ligand_lines(ligands, axes))
    program.compute_vina_maps(center=centre, box_size=[30, 30, 30], spacing=3.0)
    as_vina_tabulates(monkeypatch)
    assert score(form, ligands, pocket)["intra"] == pytest.approx(program.score()[5], abs=0.002)


@pytest.mark.parametrize("form", ["vina", "vinardo"])
@pytest.mark.parametrize("name", ["1ac8", "1stp", "3ce3", "3tmn"])
def test_prepared_files_score_as_in_vina(shared_data: Path, name: str, form: str) -> None:
    folder = shared_data / "reference" / "energies"
    known = json.loads((folder / "reference_energies.json").read_text())[name]
    expected = known[f"vina1.2.7_{form}"]
    ligands, _ = pdbqt.ligands_of(pdbqt.read(folder / name / f"{name}_ligand.pdbqt"))
    pocket = pdbqt.receptor_of(pdbqt.read(folder / name / "receptor.pdbqt"))
    found = score(form, ligands, pocket)
    divisor = 1 + VINA.weights.rotor_weight * found["rotors"]
    assert found["affinity"] == pytest.approx(expected["total"], abs=0.01)
    assert found["affinity"] * divisor == pytest.approx(expected["inter"], abs=0.01)
    assert found["intra"] == pytest.approx(expected["internal"], abs=0.01)


def test_receptor_types_agree_with_prepared_files(shared_data: Path) -> None:
    # Its five histidines are charged there. Here the file has no hydrogens, and each is neutral.
    prepared = pdbqt.read(shared_data / "reference" / "vina_1iep" / "1iep_receptor.pdbqt")
    expected = dict(zip(prepared.label, prepared.vina_types(), strict=True))
    _, pocket, _, _ = complex_of(shared_data / "redock" / "1IEP")
    different, rings = set(), 0
    for label, kind in zip(pocket.label, pocket.type, strict=True):
        _, residue, number, atom = label.split("/")
        rings += residue == "HIS" and atom == "ND1"
        if kind != expected[f"{residue}/{number}/{atom}"]:
            different.add((residue, number, atom, VinaType(kind)))
    assert len(pocket.label) > 1000
    assert rings == 5
    assert different == {
        *(("HIS", number, "ND1", VinaType.N_A) for number in ("246", "295", "361", "375")),
        ("HIS", "490", "NE2", VinaType.N_A),
    }
