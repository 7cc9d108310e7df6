"""Maps and refinement against their NumPy twin, on every OpenCL device found."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ligen_py.engine.filtering import batched as filtering
from ligen_py.engine.functions.ad4 import constants as ad4
from ligen_py.engine.functions.ad4 import reference as ad4_reference
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.functions.vina import constants as vina
from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.engine.functions.vina.field import VinaField
from ligen_py.engine.functions.xscore import constants as xscore
from ligen_py.engine.functions.xscore import reference as xscore_reference
from ligen_py.engine.functions.xscore.field import XScoreField
from ligen_py.engine.pose_arrays import places, ranges, take
from ligen_py.engine.random import uniform
from ligen_py.engine.random_input import make_field, make_ligands, make_poses
from ligen_py.engine.refinement import batched as refining
from ligen_py.engine.refinement import choice, packing
from ligen_py.engine.refinement import reference as twin
from ligen_py.engine.refinement.batched import Refined, Refiner
from ligen_py.engine.refinement.chemical_field import field_over
from ligen_py.engine.refinement.ligand_keys import FREEDOM_CLASSES
from ligen_py.engine.refinement.maps import Grid, field_macros
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.opencl.tuning import Tuning
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Type
from ligen_py.records.functions.vina import VinaLigands
from ligen_py.records.functions.xscore import XScoreLigands
from ligen_py.records.kept import Verdict
from ligen_py.records.limits import MAX_ATOMS
from ligen_py.records.poses import Poses
from ligen_py.records.rows import rows_below, subset, unequal
from ligen_py.settings.refine import RefineSettings
from tests.runtimes import leave_to_the_first
from tests.xscore_input import as_vina, charged_receptor, random_receptor, with_types

CENTER = np.array([0, 7.5, 6.5])
FIELDS = ("vina", "vinardo", "ad4", "xscore")


@dataclass(frozen=True)
class System:
    """Ligands, some atoms outside the box, in a loosely packed receptor, and its field."""

    name: str
    ligands: Any
    poses: Poses
    receptor: Any
    kinds: np.ndarray
    refiner: Refiner

    @property
    def counts(self) -> np.ndarray:
        """Poses of each ligand (ligands,)."""
        return np.diff(self.poses.first_pose)

    @property
    def maps(self) -> np.ndarray:
        """Values of all maps (maps, x, y, z)."""
        field = self.refiner.field.maps
        return buffers.download(
            self.refiner.device, field.buffer, (field.count, *field.grid.shape), np.float32
        )

    def by(self, form: str) -> "System":
        """The same, refined by another form of the kernel than the device's own.

        Of ligands of one class, where each is another program that takes a minute to compile.
        """
        refiner, first = self.refiner, np.arange(2)
        other = replace(self, refiner=Refiner(refiner.device, refiner.field, source=form))
        if form == refining.BY_LANES or refiner.device.kind != "cpu" or len(self.counts) < 3:
            return other
        ligands = subset(self.ligands, rows_below(self.ligands, "ligand", first))
        poses = subset(self.poses, rows_below(self.poses, "ligand", first))
        return replace(other, ligands=ligands, poses=poses, kinds=self.kinds[: len(ligands.xyz)])

    def problem(self, number: int, maps: np.ndarray) -> twin.Problem:
        """What the twin knows of a ligand."""
        return twin.Problem.of(self.name, self.ligands, number, self.refiner.field, maps)

    def refined(self, rounds: int, evaluations: int, **more: Any) -> Refined:
        """All poses after so many rounds of so many evaluations, in one heat."""
        chain = {"temperature": 1.2, "amplitude": 2.0, "finalists": 0, **more}
        settings = RefineSettings(rounds=rounds, evaluations=evaluations, **chain)
        return self.refiner.refine(self.ligands, self.poses, settings, self.kinds)


@pytest.fixture(params=["sub-groups", "few-lanes", "lanes", "vectors"])
def form(request: pytest.FixtureRequest, device: Device, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each form of the kernel: a pose has a sub-group, or one of 8 lanes, or a lane, or a part."""
    if request.param in ("sub-groups", "few-lanes"):
        if request.param == "few-lanes":
            if device.is_simulator and device.sub_group_size == 64:
                pytest.skip("the simulator runs 8 lanes of a sub-group of 32")
            monkeypatch.setattr(refining, "lanes_of", lambda *_, few: 8)
        if device.back_end == "local" and not device.is_simulator:
            pytest.skip("PoCL compiles so many barriers for minutes, and takes the other form")
        name = request.node.callspec.params.get("name", "vina")
        if device.kind == "cpu" and (request.param == "few-lanes" or name != "vina"):
            pytest.skip("compiles for minutes, and a processor takes the other form")
        return refining.BY_SUB_GROUPS
    if request.param == "lanes" and device.kind == "cpu" and device.back_end == "khr":
        pytest.skip("Intel's runtime makes vectors of these lanes itself, and they crash")
    vectors = {device.kind: 16} if request.param == "vectors" else {}
    monkeypatch.setattr(refining, "VECTORS", vectors)
    return refining.BY_LANES


def system(device: Device, name: str = "vina", spacing: float = 0.5) -> System:
    """A field and its poses, with a refiner that has no state of another test's."""
    found = _system(device, name, spacing)
    return replace(found, refiner=Refiner(device, found.refiner.field))


@cache
def _system(device: Device, name: str, spacing: float) -> System:
    """Ligands of one class where kernels take long to compile, of several elsewhere."""
    rng = np.random.default_rng(1)
    sizes = (
        [(5, 0), (20, 4), (33, 6), (70, 12)] if device.back_end != "local" else [(20, 4), (9, 2)]
    )
    sizes = [(9, 2)] if device.is_simulator else sizes
    ligands = make_ligands(sizes)
    types = np.where(ligands.element == 1, 0, rng.integers(1, 13, len(ligands.xyz)))
    heavy, others = ligands.element > 1, np.random.default_rng(2)
    polar = ~heavy & (others.random(len(heavy)) < 0.5)
    ad4_types = np.where(heavy, others.integers(2, 14, len(heavy)), polar * Ad4Type.HD)
    zero, plain = np.zeros(len(sizes), "f4"), with_types(ligands)
    charge = np.where(ad4_types > 0, others.uniform(-0.5, 0.5, len(heavy)), 0).astype("f4")
    radius = np.where(heavy, others.choice([1.55, 1.75, 1.9, 2.1], len(heavy)), 0).astype("f4")
    interaction = np.where(heavy, others.integers(1, 6, len(heavy)), 0).astype("u1")
    in_vina = extended(ligands, VinaLigands, rotors=zero, type=types.astype("u1"))
    in_ad4 = extended(
        ligands, Ad4Ligands, torsions=zero, type=ad4_types.astype("u1"), partial_charge=charge
    )
    in_xscore = replace(plain["xscore"], radius=radius, interaction=interaction)
    assert isinstance(in_xscore, XScoreLigands)
    poses = make_poses(ligands, 2 if device.is_simulator else 5)
    poses = replace(poses, translation=(poses.translation + CENTER).astype("f4"))
    receptor = random_receptor(120, 9.0)
    receptor = replace(receptor, xyz=(receptor.xyz + CENTER).astype("f4"))
    of_vina = in_vina, as_vina(receptor, rng.integers(1, 13, 120))
    charged = charged_receptor(
        10 if device.is_simulator else 120, 4.0 if device.is_simulator else 9.0
    )
    charged = replace(charged, xyz=(charged.xyz + CENTER).astype("f4"))
    box = make_field(shape=(9, 9, 9) if device.is_simulator else (21, 23, 25))
    grid = Grid.over(box, spacing)
    seen = {"ad4": (in_ad4, charged), "xscore": (in_xscore, receptor)}.get(name, of_vina)
    field = field_over(name, device, seen[1], grid, seen[0])
    return System(name, seen[0], poses, seen[1], in_vina.type, Refiner(device, field))


def owners(poses: Poses) -> np.ndarray:
    return np.repeat(np.arange(len(poses.first_pose) - 1), np.diff(poses.first_pose))


@pytest.mark.lanes_64("Oclgrind")
@pytest.mark.parametrize("name", FIELDS)
def test_maps_equal_the_direct_sum(device: Device, name: str) -> None:
    given = system(device, name, 1.0)
    field = given.refiner.field
    xyz = given.receptor.xyz
    # The terms end with a jump at the cut-off; leave out points where rounding decides on it.
    points = field.maps.grid.points
    distance = np.linalg.norm(points[:, None] - xyz, axis=-1)
    cutoff = {"ad4": ad4.CUTOFF, "xscore": xscore.FIELD_CUTOFF}.get(name, vina.CUTOFF)
    clear = (np.abs(distance - cutoff) > 1e-4).all(axis=1)
    assert clear.sum() > 0.9 * len(points)
    some = np.random.default_rng(0).permutation(np.flatnonzero(clear))[:100]
    if isinstance(field, Ad4Field):
        types = np.flatnonzero(field.slot >= 0)
        expected = ad4_reference.field_energy(points[some], given.receptor, types)
    elif isinstance(field, XScoreField):
        expected = xscore_reference.field_energy(points[some], given.receptor, field.radii)
    else:
        assert isinstance(field, VinaField)
        types = np.flatnonzero(field.slot >= 0)
        expected = vina_reference.field_energy(points[some], given.receptor, types, field.form)
    found = given.maps.reshape(len(expected), -1)[:, some]
    assert (np.abs(expected).max(axis=1) > 0.1).all()
    assert found == pytest.approx(expected, rel=2e-5, abs=1e-3)


@pytest.mark.lanes_64("Oclgrind")
@pytest.mark.parametrize("name", FIELDS)
def test_energies_and_gradients_equal_the_twin(device: Device, name: str, form: str) -> None:
    if device.is_simulator and device.sub_group_size == 64 and name != "vina":
        pytest.skip("fields do not depend on the lanes")
    given = system(device, name).by(form)
    maps = given.maps
    found = given.refined(0, 1)
    for pose, number in enumerate(owners(given.poses)):
        energy, gradient = given.problem(number, maps).evaluate(twin.Genotype.of(given.poses, pose))
        size = np.abs(gradient).max()
        assert found.before[pose] == pytest.approx(energy, rel=1e-5, abs=1e-3)
        assert found.gradients[pose, : len(gradient)] == pytest.approx(gradient, abs=1e-4 * size)


@pytest.mark.parametrize("name", FIELDS)
def test_gradients_are_derivatives(device: Device, name: str) -> None:
    if device.is_simulator:
        pytest.skip("the devices' maps serve a test of the twin; one more adds nothing")
    for pocket, start in first_poses(system(device, name)):
        still = np.zeros(twin.RIGID + len(start.torsion))
        for freedom, slope in enumerate(pocket.evaluate(start)[1]):
            step = still.copy()
            step[freedom] = 1e-6
            ahead, back = (pocket.evaluate(start.moved(s))[0] for s in (step, -step))
            assert (ahead - back) / 2e-6 == pytest.approx(slope, rel=1e-5, abs=1e-4)


def first_poses(given: System) -> Iterator[tuple[twin.Problem, twin.Genotype]]:
    """The first pose of each ligand, its quaternion of unit length in float64."""
    maps = given.maps
    for number in range(len(given.ligands.entry)):
        start = twin.Genotype.of(given.poses, int(given.poses.first_pose[number]))
        still = np.zeros(twin.RIGID + len(start.torsion))
        yield given.problem(number, maps), start.moved(still)


@pytest.mark.parametrize("name", ["vina", "ad4"])
def test_a_descent_begins_as_if_springs_held_every_atom(device: Device, name: str) -> None:
    """Along any step a degree of freedom takes, the atoms move as far as its Hessian says."""
    if device.is_simulator:
        pytest.skip("a test of the twin; one more device adds nothing")
    for pocket, start in first_poses(system(device, name)):
        freedoms = twin.RIGID + len(start.torsion)
        ahead, back = (
            [pocket.places(start.moved(step)) for step in way * 1e-5 * np.eye(freedoms)]
            for way in (1, -1)
        )
        moves = (np.array(ahead) - np.array(back)).reshape(freedoms, -1) / 2e-5
        springs = moves @ moves.T / len(pocket.xyz)
        held = springs + np.diag(0.02 * springs.diagonal() + 0.05)
        inverse = pocket.first_inverse(start)
        assert inverse @ held == pytest.approx(np.eye(freedoms), abs=1e-6)


@pytest.mark.lanes_64("Oclgrind")
@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("evaluations", [2, 4, 8])
@pytest.mark.parametrize("near", [False, True])
def test_a_short_descent_equals_the_twin(
    device: Device, name: str, form: str, evaluations: int, *, near: bool
) -> None:
    """From far a step has its longest length; near a minimum it is as long as the Hessian says."""
    if device.is_simulator and (near or evaluations > 2):
        pytest.skip("too long for a simulator")
    if device.is_simulator and name != "vina":
        pytest.skip("the descent is the same in every field, whose energies the simulator computes")
    if near or evaluations < 8:
        leave_to_the_first(device)
    given = system(device, name).by(form)
    if near:
        given = replace(given, poses=given.refined(1, 40).poses)
    found, maps = given.refined(1, evaluations), given.maps
    tolerance, by_rounding = 2e-3 if near else 1e-2, 0
    for pose, number in enumerate(owners(given.poses)):
        pocket = given.problem(number, maps)
        start = twin.Genotype.of(given.poses, pose)
        energy = descended(pocket, start, evaluations)
        if found.after[pose] != pytest.approx(energy, rel=1e-3, abs=tolerance):
            # A descent that decides by a hair ends elsewhere, as the twin's own does from beside.
            rng, by_rounding = np.random.default_rng(pose), by_rounding + 1
            beside = [start.moved(rng.normal(0, 1e-4, 6 + len(start.torsion))) for _ in range(16)]
            ends = [descended(pocket, place, evaluations) for place in beside]
            room = tolerance + 1e-3 * abs(energy)
            assert min(ends) - room <= found.after[pose] <= max(ends) + room
    assert by_rounding <= len(given.poses.restart) / 5


def descended(pocket: twin.Problem, start: twin.Genotype, evaluations: int) -> float:
    """The energy where the twin's descent ends."""
    inverse = pocket.first_inverse(start)
    return twin.descend(pocket.evaluate, start, evaluations, pocket.squared_scale, inverse)[0]


@pytest.mark.lanes_64("Oclgrind")
@pytest.mark.parametrize("heat", [0, 1])
def test_random_changes_equal_the_twin(
    device: Device, form: str, heat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if device.is_simulator and not heat:
        pytest.skip("the second heat has all of the first")
    if device.is_simulator and device.sub_group_size == 64 and form == refining.BY_LANES:
        pytest.skip("lanes have no sub-group")
    # One evaluation a descent leaves a pose where it is, so a pose that got better in the second
    # round is exactly what the random change made of it. A second heat of two rounds follows one of
    # a single round, so its change has the next number.
    given = system(device).by(form)
    ligands, poses, refiner = given.ligands, given.poses, given.refiner
    numbers, changes, turn = np.arange(len(ligands.entry)), set(), 1 + heat
    if heat:
        monkeypatch.setattr(
            packing, "rounds_of", lambda torsions, rounds: np.full(len(torsions), min(rounds, 2))
        )
    for seed in range(1 if device.is_simulator else 12):
        found = given.refined(2 - heat, 1, amplitude=1.5, seed=seed, finalists=2 * heat)
        settings = RefineSettings(rounds=2 - heat, seed=seed)
        packed = packing.pack(ligands, numbers, refiner.field, settings, given.kinds, 1 + heat)
        rows = packed.heats[heat]
        twice = rows["rounds"][owners(poses)] == 2
        for pose in np.flatnonzero(twice & (found.after < found.before)):
            row = rows[owners(poses)[pose]]
            place, spread = twin.Genotype.of(poses, pose), float(row["radius_of_gyration"])
            key, restart = int(row["key"]), int(poses.restart[pose])
            expected = twin.perturbed(place, key, restart, turn, 1.5, spread)
            changed = twin.Genotype.of(found.poses, pose)
            assert changed.translation == pytest.approx(expected.translation, abs=1e-4)
            alike = abs(float(changed.quaternion @ expected.quaternion))
            assert alike == pytest.approx(np.linalg.norm(place.quaternion), abs=1e-5)
            assert np.cos(changed.torsion - expected.torsion) == pytest.approx(1, abs=1e-6)
            changes.add(int(uniform(key, restart, turn, 0) * (len(place.torsion) + 2)))
    # Position, orientation, the first torsion and others.
    assert changes >= ({0, 1} if heat else {0, 1, 2, 3}) or device.is_simulator


def test_no_rounds_change_no_bit(device: Device, form: str) -> None:
    given = system(device).by(form)
    poses = given.poses
    found = given.refined(0, 30)
    assert np.array_equal(found.before, found.after)
    for column in ("translation", "quaternion", "torsion"):
        assert np.array_equal(getattr(found.poses, column), getattr(poses, column))


def test_rounds_lower_the_energy_and_it_is_that_of_the_pose(device: Device, form: str) -> None:
    if device.is_simulator:
        pytest.skip("too slow")
    given = system(device).by(form)
    once = given.refined(1, 30)
    often = given.refined(6, 30)
    assert (once.after < once.before).any()
    assert (once.after <= once.before).all()
    assert (often.after <= once.after).all()
    torsions = np.diff(given.ligands.first_torsion)
    rounds = packing.rounds_of(torsions, 1) + packing.rounds_of(torsions, 6)
    descents = int((rounds * np.diff(given.poses.first_pose)).sum())
    assert descents <= given.refiner.evaluations <= 30 * descents
    again = replace(given, poses=often.poses).refined(0, 1)
    assert again.before == pytest.approx(often.after, rel=1e-3, abs=1e-2)


def test_long_ligands_get_more_rounds() -> None:
    torsions = np.array([0, 6, 7, 9, 13, 14, 64])
    assert packing.rounds_of(torsions, 20).tolist() == [20, 20, 27, 45, 93, 100, 100]
    assert packing.rounds_of(torsions, 6).tolist() == [6, 6, 8, 13, 28, 30, 30]
    for single in (0, 1):
        assert packing.rounds_of(torsions, single).tolist() == [single] * 7


def test_a_quarter_goes_on_until_the_finalists_are_left() -> None:
    counts, seen = np.array([192, 193, 13, 3, 1, 0]), []
    while (counts := packing.quarter(counts, 3)).any():
        seen.append(counts.tolist())
    assert seen[:2] == [[48, 49, 4, 0, 0, 0], [12, 13, 3, 0, 0, 0]]
    assert seen[2:] == [[3, 4, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0]]
    assert packing.quarter(np.array([64]), 0).tolist() == [0]  # without finalists none goes on


def heats(most: int) -> RefineSettings:
    """Two heats or more, with so many finalists."""
    return RefineSettings(rounds=1, evaluations=12, finalists=most)


def test_heats_of_a_ligand_depend_on_it_alone(device: Device, form: str) -> None:
    if device.is_simulator:
        pytest.skip("too slow")
    given = system(device).by(form)
    ligands, refiner = given.ligands, given.refiner
    # Ligands with other numbers of heats, and one without poses.
    counts = np.array([5, 1, 0, 3] if len(given.counts) > 2 else given.counts)
    first = given.poses.first_pose[:-1]
    poses = take(given.poses, ranges(first, counts), counts)
    every = refiner.refine(ligands, poses, heats(1), given.kinds)
    for ligand in range(len(counts)):
        rows = np.arange(*poses.first_pose[ligand : ligand + 2])
        own = take(poses, rows, np.where(np.arange(len(counts)) == ligand, counts, 0))
        alone = refiner.refine(ligands, own, heats(1), given.kinds)
        assert np.array_equal(alone.before, every.before[rows])
        assert np.array_equal(alone.after, every.after[rows])
        assert np.array_equal(alone.poses.translation, every.poses.translation[rows])
    # The energies are those of the poses.
    same = given.by(form).refiner.refine(ligands, every.poses, no_rounds(), given.kinds)
    assert same.before == pytest.approx(every.after, rel=1e-3, abs=1e-2)


def no_rounds() -> RefineSettings:
    """Energies alone."""
    return RefineSettings(rounds=0)


def test_the_lowest_poses_go_on_from_where_they_are(device: Device, form: str) -> None:
    """Heats one by one: the quarter of lowest energy, and chains that go on with other numbers."""
    if device.is_simulator:
        pytest.skip("too slow")
    given = system(device).by(form)
    ligands, refiner, poses = given.ligands, given.refiner, given.poses
    first = given.refined(1, 12)
    one_heat = refiner.evaluations
    both = refiner.refine(ligands, poses, heats(2), given.kinds)
    assert np.array_equal(both.before, first.before)
    more = 2 * packing.rounds_of(np.diff(ligands.first_torsion), 4).sum()
    assert one_heat + more <= refiner.evaluations - one_heat <= one_heat + 12 * more
    rivals = np.arange(len(given.counts))
    rows = twin.lowest(first.after, poses.first_pose, rivals, packing.quarter(given.counts, 2))
    left_out = np.setdiff1d(np.arange(len(first.after)), rows)
    assert np.array_equal(both.after[left_out], first.after[left_out])
    assert np.array_equal(both.poses.quaternion[left_out], first.poses.quaternion[left_out])
    assert (both.after[rows] <= first.after[rows]).all()
    assert (both.after[rows] < first.after[rows] - 1e-3).any()
    # The chains of the second heat are those of rounds that no other heat has.
    packed = packing.pack(
        ligands, np.arange(len(given.counts)), refiner.field, heats(2), given.kinds, 3
    )
    assert [table["first_round"].tolist() for table in packed.heats] == [
        [0] * len(given.counts),
        packed.heats[0]["rounds"].tolist(),
        (packed.heats[0]["rounds"] + packed.heats[1]["rounds"]).tolist(),
    ]
    assert packed.heats[2]["rounds"][0] == 16


def test_conformers_of_a_state_compete(
    device: Device, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three conformers as many poses go on as of one, whatever batch they would be cut into."""
    if device.is_simulator:
        pytest.skip("too slow")
    monkeypatch.setattr(refining, "BATCH_LIGANDS", 2)
    given = system(device).by(form)
    atoms = rows_below(given.ligands, "ligand", np.array([1, 1, 1, 1, 0]))
    ligands = subset(given.ligands, atoms)
    smiles = np.array(["C", "C", "C", "N", "N"], object)
    ligands = replace(ligands, entry=np.array([0, 0, 0, 0, 1]), smiles=smiles)
    poses = take(
        replace(make_poses(ligands, 5), translation=np.tile(given.poses.translation[:5], (5, 1))),
        *(np.arange(25)[:-2], np.array([5, 5, 5, 5, 3])),
    )
    kinds = given.kinds[atoms["atom"]]
    settings = heats(2).model_copy(update={"conformers_compete": True})
    first = given.refiner.refine(
        ligands, poses, settings.model_copy(update={"finalists": 0}), kinds
    )
    before = given.refiner.evaluations
    both = given.refiner.refine(ligands, poses, settings, kinds)
    rivals = packing.rivals_of(ligands, settings)
    assert rivals.tolist() == [0, 0, 0, 1, 2]
    rows = twin.lowest(first.after, poses.first_pose, rivals, np.array([2, 2, 2]))
    assert given.refiner.evaluations > 2 * before
    left_out = np.setdiff1d(np.arange(len(first.after)), rows)
    assert np.array_equal(both.after[left_out], first.after[left_out])
    assert np.array_equal(both.poses.quaternion[left_out], first.poses.quaternion[left_out])
    assert (both.after[rows] <= first.after[rows]).all()
    assert (both.after[rows] < first.after[rows] - 1e-3).sum() > 2


def test_a_second_heat_begins_where_the_first_has_ended(
    device: Device, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one round in each heat the second is a descent from the end of the first."""
    if device.is_simulator:
        pytest.skip("too slow")
    monkeypatch.setattr(packing, "rounds_of", lambda torsions, _: np.ones(len(torsions), int))
    given = system(device).by(form)
    poses = given.poses
    first, both = (given.refined(1, 3, finalists=finalists) for finalists in (0, 2))
    fewer = packing.quarter(given.counts, 2)
    rows = twin.lowest(first.after, poses.first_pose, np.arange(len(fewer)), fewer)
    then = replace(given, poses=take(first.poses, rows, fewer)).refined(1, 3)
    assert (then.after < first.after[rows] - 0.1).any()
    assert both.after[rows] == pytest.approx(then.after, rel=1e-3, abs=2e-2)


def test_the_device_chooses_as_numpy_does(device: Device) -> None:
    """Ties, numbers that are none and ligands of which none or all go on, among other poses."""
    rng = np.random.default_rng(4)
    counts = np.array([7, 0, 1, 130, 12, 3, 60, 4, 0, 9])
    rivals = np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 6])
    together = np.array([2, 0, 1, 33, 0, 3, 20])
    fewer = np.minimum(counts, together[rivals])
    energies = rng.integers(0, 9, (counts.sum(), 2)).astype(np.float32)
    energies[rng.random(len(energies)) < 0.2, 1] = np.nan
    energies[rng.random(len(energies)) < 0.1, 1] = np.inf
    order = rng.permutation(len(energies)).astype(np.int32)  # places of poses in the heat
    first = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(counts)), counts)
    # Places at the end of a ligand that nobody took in the heat before.
    taken = np.ones(len(order), bool)
    taken[first[1:][counts > 3] - 1] = False
    energies[order[~taken], 1] = np.nan  # so the twin would choose them last
    expected = twin.lowest(energies[order, 1], first, rivals, together)
    places = np.where(taken, order, packing.EMPTY).astype(np.int32)
    limits = packing.limits_of(rivals, counts, together[rivals])
    given = (*limits, places, energies, np.full(fewer.sum(), packing.EMPTY, np.int32))
    arrays = [buffers.exchange(device, array) for array in given]
    program = build(device, refining.HEATS)
    program.kernel("keep_lowest")(device.queue, (192, len(counts)), (64, 1), *arrays)
    found = buffers.download(device, arrays[-1], fewer.sum(), np.int32)
    for ligand, (last, number) in enumerate(zip(np.cumsum(fewer), fewer, strict=True)):
        mine = found[last - number : last]
        wanted = order[expected[(owner[expected] == ligand) & taken[expected]]]
        assert sorted(mine[mine != packing.EMPTY]) == sorted(wanted)
        assert (mine[len(wanted) :] == packing.EMPTY).all()


@pytest.mark.parametrize("name", ["vina", "ad4"])
def test_batches_and_work_groups_change_no_bit(
    device: Device, name: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if device.is_simulator:
        pytest.skip("too slow")
    given = system(device, name).by(form)
    expected = given.refined(3, 12, finalists=2)
    monkeypatch.setattr(refining, "BATCH_LIGANDS", 1)
    for name in ("GROUPS_PER_UNIT", "GROUPS_TO_FILL"):  # poses are taken one after another
        monkeypatch.setattr(refining, name, 1e-9)
    if device.back_end != "local":
        monkeypatch.setattr(refining, "tuned", lambda *_: Tuning(sub_groups=3))
    found = given.refined(3, 12, finalists=2)
    assert np.array_equal(found.after, expected.after)
    for column in ("translation", "quaternion", "torsion"):
        assert np.array_equal(getattr(found.poses, column), getattr(expected.poses, column))


def test_batches_side_by_side_change_no_bit(
    device: Device, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if device.is_simulator:
        pytest.skip("too slow")
    given = system(device)
    count = len(given.ligands.entry)
    together = min(3, count)
    monkeypatch.setattr(refining, "QUEUES", {})
    expected = given.refined(1, 12, finalists=2)
    monkeypatch.setattr(refining, "BATCH_LIGANDS", 1)
    monkeypatch.setattr(refining, "QUEUES", {device.kind: 2})
    monkeypatch.setattr(refining, "_bytes", lambda *_: 1)
    monkeypatch.setattr(buffers, "budget", lambda _: together)
    launched: list[int] = []
    run = Refiner._run

    def counted(self: Refiner, ready: list[Any]) -> Any:
        """Without the memory for so many batches side by side, the second time."""
        launched.append(len(ready))
        if len(ready) > 1 and launched.count(together) == 2:
            raise buffers.OutOfMemoryError("the device is full")
        return run(self, ready)

    monkeypatch.setattr(Refiner, "_run", counted)
    whole, rest = divmod(count, together)
    for before in (0, 1):
        launched[:] = [together] * before
        found = given.refined(1, 12, finalists=2)
        alone = [1] * (together * before)
        assert launched == [together] * (before + whole) + alone + [rest] * (rest > 0)
        assert np.array_equal(found.after, expected.after)
        assert np.array_equal(found.poses.torsion, expected.poses.torsion)
    assert "trying again with one batch at a time" in caplog.text


def test_a_launch_without_memory_is_tried_again_alone(
    device: Device, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The launches before it run then, and what they change must not reach the result."""
    given = system(device)
    if device.is_simulator or len(given.counts) < 3:
        pytest.skip("too slow, or too few batches")
    expected = given.refined(2, 12, finalists=2)
    monkeypatch.setattr(refining, "BATCH_LIGANDS", 1)
    monkeypatch.setattr(refining, "QUEUES", {device.kind: 2})
    monkeypatch.setattr(refining, "_bytes", lambda *_: 1)
    start, launched = refining.Launch.start, []

    def full(self: refining.Launch, queue: Any) -> list[Any]:
        """No memory for the third launch."""
        launched.append(self)
        if len(launched) == 3:
            raise buffers.OutOfMemoryError("the device is full")
        return start(self, queue)

    monkeypatch.setattr(refining.Launch, "start", full)
    found = given.refined(2, 12, finalists=2)
    assert len(launched) == 3 + len(given.counts)
    assert np.array_equal(found.after, expected.after)
    assert np.array_equal(found.poses.torsion, expected.poses.torsion)
    assert "trying again with one batch at a time" in caplog.text


@pytest.mark.parametrize("rounds", [0, 3])
@pytest.mark.parametrize("lanes", [8, 16, 32])
def test_the_memory_of_a_batch_is_bounded(
    device: Device, lanes: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `_bytes` says of each batch covers all buffers that it makes on a GPU."""
    if device.is_simulator:
        pytest.skip("the same buffers as on any other device")
    refiner = Refiner(device, system(device).refiner.field, source=refining.BY_SUB_GROUPS)
    taken: list[int] = []

    def noted(make: Any) -> Any:
        """An allocation whose size is remembered."""

        def made(*given: Any) -> Any:
            taken.append((buffer := make(*given)).size)
            return buffer

        return made

    for name in ("_filled", "empty"):
        monkeypatch.setattr(buffers, name, noted(getattr(buffers, name)))
    for name in ("build", "lanes_of"):  # compiled kernels are not asked for
        monkeypatch.setattr(refining, name, lambda *_, **__: lanes)
    monkeypatch.setattr(choice, "build", lambda *_, **__: None)
    monkeypatch.setattr(filtering, "program_of", lambda *_: (None, 1))
    monkeypatch.setattr(Refiner, "_cells_on", lambda *_: None)
    settings = RefineSettings(rounds=rounds, finalists=1)
    for size in ((1, 0), (2, 0), (24, 10), (33, 4), (70, 12), (256, 64)):
        for ligands, count in ((1, 1), (1, 192), (4, 1), (4, 192)):
            given = as_vina_ligands(make_ligands([size] * ligands))
            poses = make_poses(given, count)
            rivals = packing.rivals_of(given, settings)
            for rows, classes in refiner._batches(given, rivals, poses):
                taken.clear()
                kinds, choose = given.type, rounds > 0
                refiner._prepared(
                    given, rows, classes, rivals, poses, settings, kinds, choose=choose
                )
                assert sum(taken) <= refining._bytes(len(rows), len(rows) * count, classes)


@pytest.mark.lanes_64("Oclgrind")
def test_the_largest_ligands_fit_into_the_local_memory_of_a_gpu(device: Device) -> None:
    """48 KB is what NVIDIA's GPUs have; others have as much or more."""
    if not device.is_simulator:
        pytest.skip("takes a compiler minutes, and the layout is the same")
    field = system(device).refiner.field
    macros = {**field_macros(field), "SG_SIZE": device.sub_group_size, "MAX_ATOMS": MAX_ATOMS}
    macros["MAX_FREEDOMS"] = FREEDOM_CLASSES[-1]
    program = build(device, refining.BY_SUB_GROUPS, macros, structs=packing.STRUCTS)
    assert program.local_bytes("refine") <= 48 << 10


def as_vina_ligands(ligands: Any) -> VinaLigands:
    """Ligands whose heavy atoms all have a type."""
    kinds = (ligands.element > 1).astype("u1")
    found = extended(ligands, VinaLigands, rotors=np.zeros(len(ligands.entry), "f4"), type=kinds)
    assert isinstance(found, VinaLigands)
    return found


@dataclass(frozen=True)
class Card:
    """What decisions about lanes ask of a device."""

    back_end: str
    sub_group_size: int = 64
    max_compute_units: int = 2

    @property
    def handle(self) -> "Card":
        """This card."""
        return self


def test_lanes_depend_on_the_ligand_and_on_how_many_poses_it_has() -> None:
    def lanes(atoms: int, freedoms: int, *, few: bool) -> int:
        """On an NVIDIA GPU."""
        return refining.lanes_of(Card("ptx"), atoms, freedoms, few=few)  # type: ignore[arg-type]

    assert [lanes(size, 16, few=False) for size in (24, 48, 64, 96, 128)] == [8, 16, 16, 16, 32]
    assert [lanes(24, width, few=False) for width in (16, 24, 40, 70)] == [8, 16, 16, 32]
    assert {lanes(size, 16, few=True) for size in (24, 64, 256)} == {32}
    local = Card("local")
    assert refining.lanes_of(local, 24, 16, few=False) == 64  # type: ignore[arg-type]


def test_every_pose_is_in_one_item_and_long_chains_come_first() -> None:
    counts = np.array([5, 1, 64, 0, 9])
    ligands = np.zeros(5, packing.LIGAND)
    ligands["rounds"] = [1, 4, 2, 9, 4]
    ends = np.cumsum(counts)
    for wide, groups in ((4, 1), (1, 1000), (32, 1), (4, 0.001)):
        card = Card("ptx")
        items = refining.items_of(card, ligands, counts, wide, groups)  # type: ignore[arg-type]
        met = np.concatenate([np.arange(first, last) for _, first, last, _ in items])
        assert np.array_equal(np.sort(met), np.arange(counts.sum()))
        owner, first, last, _ = items.T
        assert ((first >= (ends - counts)[owner]) & (last <= ends[owner]) & (first < last)).all()
        assert (last - first <= wide * refining.MOST_TURNS).all()
        assert (np.diff(ligands["rounds"][owner]) <= 0).all()
    assert (last - first).max() == wide * refining.MOST_TURNS  # the last of these has many poses


def test_time_in_which_any_kernel_ran() -> None:
    spans, waited = [(5, 9), (0, 4), (3, 6), (20, 21), (7, 8)], []
    events = [
        SimpleNamespace(profile=SimpleNamespace(start=a, end=b), wait=lambda a=a: waited.append(a))
        for a, b in spans
    ]
    assert buffers.busy(events) == pytest.approx(10e-9)  # type: ignore[arg-type]
    assert sorted(waited) == [0, 3, 5, 7, 20]
    assert buffers.busy([]) == 0


@pytest.mark.parametrize(("most", "apart"), [(4, 0.0), (3, 6.0), (4, 20.0), (100, 1.0)])
def test_the_best_of_each_minimum_is_kept(device: Device, most: int, apart: float) -> None:
    given = system(device)
    every = given.refined(1, 3)
    settings = RefineSettings(
        rounds=1, evaluations=3, finalists=0, max_num_poses=most, cluster_rmsd=apart
    )
    kept, verdicts, energies = given.refiner.keep(given.ligands, given.poses, settings, given.kinds)
    rows = []
    for number, first in enumerate(given.poses.first_pose[:-1]):
        some = slice(first, given.poses.first_pose[number + 1])
        heavy = places(given.ligands, every.poses, number)[:, : given.ligands.heavy[number]]
        chosen, clusters = twin.keep_best(every.after[some], heavy, apart, most)
        assert verdicts.cluster[kept.first_pose[number] : kept.first_pose[number + 1]].tolist() == (
            clusters.tolist()
        )
        rows.append(first + chosen)
    assert np.diff(kept.first_pose).tolist() == [len(some) for some in rows]
    expected = take(every.poses, np.concatenate(rows), np.diff(kept.first_pose))
    assert unequal(kept, expected) == []
    assert (verdicts.verdict == Verdict.REPRESENTATIVE).all()
    assert np.array_equal(energies.after, every.after[np.concatenate(rows)])
    assert np.array_equal(energies.before, every.before[np.concatenate(rows)])


def test_places_that_do_not_fit_follow_one_another(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = system(device)
    settings = RefineSettings(rounds=1, evaluations=2, finalists=0, cluster_rmsd=6.0)
    kept = []
    for room in (filtering.BATCH_BYTES, 1):
        monkeypatch.setattr(filtering, "BATCH_BYTES", room)
        kept.append(given.refiner.keep(given.ligands, given.poses, settings, given.kinds))
    assert [unequal(*both) for both in zip(*kept, strict=True)] == [[], [], []]


def test_energies_that_are_no_number_are_kept_last(device: Device) -> None:
    energies = np.array([3, np.nan, -2, np.inf, -1e9, 1e9], np.float32)
    program = build(device, choice.KEEP, structs=filtering.STRUCTS)
    pairs = buffers.upload(device, np.stack([np.zeros_like(energies), energies], axis=1))
    score = buffers.empty(device, len(energies), np.int32)
    program.kernel("scores")(device.queue, (64,), (64,), np.int32(len(energies)), pairs, score)
    found = buffers.download(device, score, len(energies), np.int32)
    lowest = np.iinfo(np.int32).min
    assert found.tolist() == [-3000, lowest, 2000, -(10**9), 10**9, -(10**9)]
    apart = np.zeros((6, 1, 3), np.float32) + 10 * np.arange(6, dtype=np.float32)[:, None, None]
    assert twin.keep_best(energies, apart, 1.0, 6)[0].tolist() == [4, 2, 0, 3, 5, 1]


def test_the_lowest_of_equals_come_first() -> None:
    energies = np.array([1, np.nan, 1, np.inf, 0, 0, np.nan, -1], np.float32)
    first = np.array([0, 4, 4, 6, 8])
    alone = np.arange(4)
    found = twin.lowest(energies, first, alone, np.array([3, 0, 1, 2]))
    assert found.tolist() == [0, 2, 3, 4, 6, 7]
    assert twin.lowest(energies, first, alone, np.array([1, 0, 2, 1])).tolist() == [0, 4, 5, 7]
    together = np.array([0, 0, 1, 1])
    assert twin.lowest(energies, first, together, np.array([2, 3])).tolist() == [0, 2, 4, 5, 7]
