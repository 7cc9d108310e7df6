"""A scoring function that is added by one folder and one row of the table, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from pydantic import ValidationError

from ligen_py import provenance, refine, score
from ligen_py.engine.refinement.batched import BY_LANES, BY_SUB_GROUPS, Refiner
from ligen_py.engine.refinement.chemical_field import field_over
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.reference import Genotype, Problem
from ligen_py.functions import FUNCTIONS, AtomTypes, Function
from ligen_py.opencl import buffers
from ligen_py.opencl.device import select
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, GeometricField
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED, Refinement
from ligen_py.records.scores import SCORES, Check, Checks
from ligen_py.settings.campaign import schema
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.terms import read_terms
from ligen_py.store.files.typed import read_typed
from tests.functions.linear_contacts import reference
from tests.mini import Mini

NAME, ROOM = "linear_contacts", "tests.functions.linear_contacts"
ROW = Function(ROOM, AtomTypes(NAME, f"{ROOM}.types", f"{ROOM}.typing"))


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """What was read of sources while the row was there must not reach other modules' tests."""
    yield
    provenance._named.cache_clear()
    provenance.stage_digest.cache_clear()


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FUNCTIONS, NAME, ROW)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    """A campaign that refines in the field of the new function and scores with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FUNCTIONS, NAME, ROW)
        flags = {"refine": ("--field", NAME), "score": ("--functions", NAME, "vina")}
        return Mini(tmp_path_factory.mktemp("contacts"), flags=flags).run()


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    """A campaign that was made before the function was added."""
    return Mini(tmp_path_factory.mktemp("older")).run()


def words(mini: Mini, poses: str, *more: str) -> list[str]:
    (part,) = mini.parts()
    files = {"ligands": part.ligands, "pocket": part.pocket, "poses": getattr(part, poses)}
    files |= {kind: getattr(part, kind) for kind in more}
    return ["--quiet", *(word for flag, path in files.items() for word in (f"--{flag}", str(path)))]


def test_settings_offer_it_by_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="'vina', 'vinardo', 'ad4' or 'xscore'"):
        RefineSettings(field=NAME)
    assert NAME not in schema()
    monkeypatch.setitem(FUNCTIONS, NAME, ROW)
    assert RefineSettings(field=NAME).field == NAME
    assert ScoreSettings(functions=(NAME,), pose_weights={NAME: 2.0}).functions == (NAME,)
    assert schema().count(f'"{NAME}"') == 3


def test_parse_fills_its_group(campaign: Mini, row: None) -> None:
    (part,) = campaign.parts()
    ligands = read(part.ligands, LIGANDS, Ligands)
    typed = read_typed([NAME], part.ligands, part.pocket, ligands)[NAME].ligands
    assert np.array_equal(typed.weight, (ligands.element > 1).astype("f4"))
    with h5py.File(part.ligands) as file:
        assert list(file[NAME]) == ["weight"]
    with h5py.File(part.pocket) as file:
        assert NAME not in file  # the receptor has no types for it


def test_score_has_its_column_and_the_watch_its_twin(campaign: Mini, row: None) -> None:
    (part,) = campaign.parts()
    total = read_terms(part.scores)[NAME]["total"]
    assert len(total)
    assert (total > 1).all()
    checks = read(part.scores, SCORES, Checks)
    assert checks.seen[Check.TWIN] > 0
    assert checks.suspect[Check.TWIN] == 0


def test_refine_goes_down_in_its_field(campaign: Mini) -> None:
    (part,) = campaign.parts()
    energy = read(part.refined, REFINED, Refinement)
    assert (energy.after <= energy.before).all()
    assert (energy.after < energy.before - 0.1).any()


def test_its_kernels_equal_its_twins(campaign: Mini, row: None) -> None:
    (part,) = campaign.parts()
    given = read(part.ligands, LIGANDS, Ligands)
    seen = read_typed([NAME], part.ligands, part.pocket, given)[NAME]
    poses, box = read(part.refined, REFINED, Poses), read(part.pocket, POCKET, GeometricField)
    found = read_terms(part.scores)[NAME]["total"]
    expected = reference.score_poses(seen.ligands, seen.receptor, poses)["total"]
    assert found == pytest.approx(expected, rel=1e-5)

    device = select(None)
    grid = Grid.over(box, 1.0)
    field = field_over(NAME, device, seen.receptor, grid, seen.ligands)
    values = buffers.download(device, field.maps.buffer, (1, *grid.shape), np.float32)
    r = np.linalg.norm(grid.points[:, None] - seen.receptor.xyz, axis=2)
    direct = reference.energy_slope(r)[0].sum(axis=1)
    assert values.ravel() == pytest.approx(direct, rel=1e-5, abs=1e-4)
    still = RefineSettings(rounds=0, field=NAME)
    kinds = np.zeros(len(given.xyz), "u1")
    # A processor takes the second, and compiles the first, which cards take, for a minute.
    for form in (BY_LANES,) if device.kind == "cpu" else (BY_SUB_GROUPS, BY_LANES):
        refiner = Refiner(device, field, source=form)
        refined = refiner.refine(seen.ligands, poses, still, kinds)
        for number, first in enumerate(poses.first_pose[:-1]):
            problem = Problem.of(NAME, seen.ligands, number, field, values)
            energy, gradient = problem.evaluate(Genotype.of(poses, int(first)))
            assert refined.before[first] == pytest.approx(energy, rel=1e-5, abs=1e-3)
            size = np.abs(gradient).max()
            slopes = refined.gradients[first, : len(gradient)]
            assert slopes == pytest.approx(gradient, abs=1e-3 * size)


def test_an_older_ligands_file_serves_the_other_functions(
    older: Mini, row: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "out.h5")]
    assert score.main([*words(older, "refined"), *output, "--functions", "vina", "ad4"]) == 0
    flags = ["--rounds", "1", "--field", "ad4"]
    assert refine.main([*words(older, "poses", "kept"), *output, *flags]) == 0
    assert score.main([*words(older, "refined"), *output, "--functions", NAME]) == 1
    said = capsys.readouterr().err
    assert "has no atom types for the scoring function linear_contacts" in said
    assert "make it again with the stage that writes ligands files" in said
