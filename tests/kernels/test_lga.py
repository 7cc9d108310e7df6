"""The genetic algorithm's kernels against their NumPy twin, on every OpenCL device found."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_args
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from ligen_py.engine.functions.ad4.constants import CLAMP
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.genetic import batched
from ligen_py.engine.genetic import reference as twin
from ligen_py.engine.genetic.batched import Form, Found, Lga
from ligen_py.engine.genetic.packing import LIGAND, pack
from ligen_py.engine.random_input import make_ligands
from ligen_py.engine.refinement.maps import Grid
from ligen_py.engine.refinement.reference import Genotype, Problem
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import build
from ligen_py.opencl.stream import Launch
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Type
from ligen_py.records.rows import rows_below, subset
from ligen_py.settings.lga import LgaSettings, LocalSearch
from tests.runtimes import leave_to_the_first
from tests.xscore_input import charged_receptor

SIZES = [(12, 3), (9, 0), (20, 5)]
LARGE = (80, 6)
"""Atoms and torsions of a ligand with more atoms than a sub-group has lanes."""
DEEP = (100, 30)
"""Of one with a branch of twenty torsions and more."""

both_forms = pytest.mark.parametrize("form", get_args(Form))


def leave_to_cards(device: Device, form: Form, local_search: str) -> None:
    """Skip what a processor's compiler takes half a minute for, and cards and the simulator run."""
    is_processor = device.kind == "cpu" and not device.is_simulator
    if is_processor and form == "sub_groups" and local_search == "solis_wets":
        pytest.skip("half a minute to compile; the simulator and cards run it")


def ligands_of(sizes: list[tuple[int, int]]) -> Ad4Ligands:
    """Ligands with random types and charges."""
    ligands, rng = make_ligands(sizes), np.random.default_rng(2)
    heavy = ligands.element > 1
    polar = ~heavy & (rng.random(len(heavy)) < 0.5)
    types = np.where(heavy, rng.integers(2, 14, len(heavy)), polar * Ad4Type.HD)
    charge = np.where(types > 0, rng.uniform(-0.5, 0.5, len(heavy)), 0).astype("f4")
    return extended(
        ligands,
        Ad4Ligands,
        torsions=np.zeros(len(sizes), "f4"),
        type=types.astype("u1"),
        partial_charge=charge,
    )


@pytest.fixture(scope="module")
def system(device: Device) -> tuple[Ad4Ligands, Ad4Field]:
    """Some ligands, and the field of a few receptor atoms."""
    ligands = ligands_of(SIZES[:1] if device.is_simulator else SIZES)
    return ligands, field_of(ligands, device)


def field_of(ligands: Ad4Ligands, device: Device) -> Ad4Field:
    """The field of a few receptor atoms."""
    side = 9 if device.is_simulator else 21
    grid = Grid(np.full(3, -0.25 * (side - 1), "f4"), 0.5, (side, side, side))
    receptor = charged_receptor(10, 4.0) if device.is_simulator else charged_receptor(120, 9.0)
    return Ad4Field(device, receptor, grid, ligands)


def problem(system: tuple[Ad4Ligands, Ad4Field], device: Device, number: int) -> Problem:
    ligands, field = system
    shape = (field.maps.count, *field.maps.grid.shape)
    values = buffers.download(device, field.maps.buffer, shape, np.float32)
    one = Problem.of("ad4", ligands, number, field, values)
    return replace(one, wall=twin.WALL, steepest=twin.STEEPEST)


def searched(system: tuple[Ad4Ligands, Ad4Field], device: Device, **given: Any) -> dict[int, Found]:
    """What was found, by the ligand's row; of one run the runs' poses."""
    ligands, field = system
    if given.get("form") == "sub_groups" and device.label.startswith("Portable"):
        pytest.skip("PoCL 6's compiler may abort at this form, and PoCL takes the other one")
    ways = ("form", "lanes", "splits", "room")
    lga = Lga(device, field, **{name: given.pop(name) for name in ways if name in given})
    settings = LgaSettings(**{"runs": 2, "population": 8, **given})
    result: dict[int, Found] = {}
    for rows, found in lga.search(ligands, settings):
        counts = np.diff(ligands.first_torsion)[rows]
        turns = np.repeat(counts, settings.runs)
        ends = np.concatenate([[0], np.cumsum(turns)])
        for place, row in enumerate(rows.tolist()):
            poses = slice(place * settings.runs, (place + 1) * settings.runs)
            angles = found.torsion[ends[poses.start] : ends[poses.stop]]
            result[row] = Found(
                found.translation[poses], found.quaternion[poses],
                angles.reshape(settings.runs, counts[place]),
                found.energy[poses], found.evaluations[poses], found.generations[poses],
            )  # fmt: skip
    return result


_twins: WeakKeyDictionary[Ad4Field, dict[str, twin.Run]] = WeakKeyDictionary()


def expected(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, number: int, run: int, **given: Any
) -> twin.Run:
    """What the twin finds; it takes longer than a device, so that both forms share it."""
    known = _twins.setdefault(system[1], {})
    key = str((number, run, sorted(given.items())))
    if key not in known:
        known[key] = searched_by_the_twin(system, device, number, run, **given)
    return known[key]


def searched_by_the_twin(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, number: int, run: int, **given: Any
) -> twin.Run:
    ligands, field = system
    settings = LgaSettings(**{"runs": 2, "population": 8, **given})
    batch = pack(ligands, np.array([number]), field, settings)
    grid = field.maps.grid
    box = grid.origin, grid.origin + grid.spacing * (np.array(grid.shape) - 1)
    row, most = batch.ligands[0], int(batch.ligands["evaluations"][0])
    pose = problem(system, device, number)
    own = int(row["torsions"]), int(row["atoms"]), float(row["arm"])
    size = twin.Size(*own, pose.first_inverse)
    return twin.search(pose.evaluate, box, size, int(row["key"]), run, settings, most)


def same(found: Found, run: int, twins: twin.Run, near: float) -> bool:
    """Whether a run's pose is that of the twin."""
    signs = np.sign(found.quaternion[run] @ twins.genotype.quaternion)
    angles = np.exp(1j * found.torsion[run]) - np.exp(1j * twins.genotype.torsion)
    return bool(
        np.isclose(found.energy[run], twins.energy, rtol=1e-3, atol=near)
        and np.allclose(found.translation[run], twins.genotype.translation, atol=near)
        and np.allclose(signs * found.quaternion[run], twins.genotype.quaternion, atol=near)
        and np.allclose(np.abs(angles), 0, atol=near)
    )


@both_forms
@pytest.mark.parametrize("generations", [1, 4])
def test_generations_without_local_search_are_those_of_the_twin(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, generations: int, form: Form
) -> None:
    if generations == 1:
        if device.is_simulator:
            pytest.skip("the first of four generations")
        leave_to_the_first(device)
    given = {"generations": generations, "iterations": 0, "mutation": 30, "stop": False}
    found = searched(system, device, **given, form=form)
    for number in found:
        for run in range(2):
            twins = expected(system, device, number, run, **given)
            assert same(found[number], run, twins, 2e-3), (number, run)
            assert found[number].evaluations[run] == twins.evaluations
            assert found[number].generations[run] == twins.generations == generations


@both_forms
@pytest.mark.parametrize("local_search", get_args(LocalSearch))
def test_short_local_searches_are_those_of_the_twin(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, local_search: str, form: Form
) -> None:
    leave_to_cards(device, form, local_search)
    given = {"generations": 2, "iterations": 6, "local_search": local_search, "stop": False}
    runs = 2 if device.is_simulator else 4
    given |= {"searched": 60, "runs": runs}
    given |= {"population": 4, "iterations": 4} if device.is_simulator else {}
    found = searched(system, device, **given, form=form)
    twins = {
        (number, run): expected(system, device, number, run, **given)
        for number in found
        for run in range(runs)
    }
    alike = [same(found[number], run, twins[number, run], 2e-2) for number, run in twins]
    # Clashes are steep, so that single precision may decide one of many comparisons otherwise.
    assert np.mean(alike) >= 0.75
    for (number, run), one in twins.items():
        assert abs(found[number].evaluations[run] - one.evaluations) <= 4


@pytest.mark.parametrize("local_search", ["bfgs", "adadelta"])
def test_forces_on_more_atoms_than_lanes_are_those_of_the_twin(
    device: Device, local_search: str
) -> None:
    if device.is_simulator:
        pytest.skip("large ligands are too much for a simulator")
    if local_search == "bfgs" and device.kind == "cpu":
        pytest.skip("more than a minute to compile; atoms get their forces as with adadelta")
    ligands = ligands_of([LARGE])
    large = ligands, field_of(ligands, device)
    given = {"generations": 1, "iterations": 3, "local_search": local_search, "stop": False}
    given |= {"searched": 100, "runs": 8, "population": 2}
    found = searched(large, device, **given, form="sub_groups")[0]
    alike = [same(found, run, expected(large, device, 0, run, **given), 2e-2) for run in range(8)]
    assert np.mean(alike) >= 0.75


@both_forms
def test_a_clash_at_the_most_energy_pushes_nothing(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, form: Form
) -> None:
    """Every pair of a ligand of a seventh of its size: only receptor and charges turn its bond."""
    if device.is_simulator:
        pytest.skip("other numbers take the same way")
    leave_to_the_first(device)
    ligands = ligands_of([(9, 1)])
    ligands = replace(ligands, xyz=ligands.xyz * np.float32(0.15))
    small = ligands, field_of(ligands, device)
    given = {"generations": 2, "iterations": 6, "local_search": "adadelta", "stop": False}
    given |= {"searched": 100, "runs": 8}
    found = searched(small, device, **given, form=form)[0]
    assert (found.energy > CLAMP).all()
    alike = [same(found, run, expected(small, device, 0, run, **given), 2e-2) for run in range(8)]
    # Single precision rounds such an energy to 0.03 kcal/mol, which may decide what is better; if
    # clashes pushed, no run at all would be alike.
    assert np.mean(alike) >= 0.25


@both_forms
@pytest.mark.parametrize("local_search", get_args(LocalSearch))
def test_results_do_not_depend_on_the_batch_or_on_where_they_are_computed(
    system: tuple[Ad4Ligands, Ad4Field],
    device: Device,
    local_search: str,
    form: Form,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if device.is_simulator:
        pytest.skip("whole runs are too much for a simulator")
    if local_search != "bfgs":
        leave_to_the_first(device)
    leave_to_cards(device, form, local_search)
    given = {"generations": 6, "iterations": 20, "local_search": local_search, "stop_every": 1}
    given["form"] = form
    first = searched(system, device, **given)
    ways: list[dict[str, int]] = [{"splits": 2}, {"room": 0}]
    if device.back_end == "khr":  # each is another program; that of few lanes compiles soonest
        ways[1]["lanes"] = 16 if local_search == "bfgs" else 8
        ways += [{"lanes": 8, "splits": 3}] if local_search == "adadelta" else []
    for way in ways if form == "lanes" else [{}]:
        again = searched(system, device, **given, **way)
        for number, found in first.items():
            for name in Found.__annotations__:
                assert np.array_equal(getattr(found, name), getattr(again[number], name)), name
    # Sub-groups that share the work; the last with the registers of a full device.
    for count in (1, 3, 64) if form == "sub_groups" else ():
        monkeypatch.setattr(batched, "GROUPS_PER_UNIT", count)
        monkeypatch.setattr(batched, "FEW_INDIVIDUALS", 0 if count == 64 else 26)
        again = searched(system, device, **given)
        for number, found in first.items():
            for name in Found.__annotations__:
                assert np.array_equal(getattr(found, name), getattr(again[number], name)), name
    ligands, field = system
    number = 1
    alone = subset_of(ligands, number)
    one = searched((alone, field), device, **given)[0]
    assert np.array_equal(one.energy, first[number].energy)
    more = searched(system, device, **given, runs=3)
    assert np.array_equal(more[number].energy[:2], first[number].energy)
    other = searched(system, device, **given, seed=2)
    assert not np.array_equal(other[number].energy, first[number].energy)


def test_batches_on_a_processor_are_as_small_as_asked(
    system: tuple[Ad4Ligands, Ad4Field], device: Device
) -> None:
    if device.kind == "gpu" or device.is_simulator:
        pytest.skip("all ligands are one batch, or too much")
    ligands, field = system
    settings = LgaSettings(runs=1, population=4, generations=1, iterations=0)
    found = [rows for rows, _ in Lga(device, field).search(ligands, settings, per_core=1)]
    assert sorted(np.concatenate(found).tolist()) == list(range(len(SIZES)))
    assert max(map(len, found)) <= int(device.handle.max_compute_units)


def test_launches_are_bounded_and_change_nothing(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a processor Ctrl-C acts between launches alone."""
    if device.is_simulator:
        pytest.skip("whole runs are too much for a simulator")
    given: dict[str, Any] = {"form": "lanes", "runs": 3, "generations": 6, "iterations": 5}
    first = searched(system, device, **given)
    judged: list[int] = []

    def noted(program: Any, name: str, items: int, *more: Any) -> Launch:
        judged.extend([items] if name == "judge" else [])
        return Launch(program, name, items, *more)

    monkeypatch.setattr(batched, "Launch", noted)
    monkeypatch.setattr(batched, "WORK_AT_ONCE", 1)
    again = searched(system, device, **given)
    assert set(judged) == {Lga(device, system[1])._lanes}  # of one run each
    for number, found in first.items():
        for name in Found.__annotations__:
            assert np.array_equal(getattr(found, name), getattr(again[number], name)), name


def subset_of(ligands: Ad4Ligands, number: int) -> Ad4Ligands:
    """One of the ligands alone."""
    return subset(ligands, rows_below(ligands, "ligand", np.array([number])))


@both_forms
def test_energies_are_those_of_the_poses(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, form: Form
) -> None:
    few = {"generations": 1, "iterations": 2, "population": 4}
    few = few if device.is_simulator else {"generations": 10}
    found = searched(system, device, **few, form=form)
    for number, poses in found.items():
        one = problem(system, device, number)
        for run in range(2):
            genotype = Genotype(
                poses.translation[run].astype(float),
                poses.quaternion[run].astype(float),
                poses.torsion[run].astype(float),
            )
            assert one.evaluate(genotype)[0] == pytest.approx(poses.energy[run], rel=1e-3, abs=5e-3)


@both_forms
def test_rounding_does_not_grow_along_many_torsions(device: Device, form: Form) -> None:
    """Along a branch, each turned by any angle."""
    if device.is_simulator:
        pytest.skip("large ligands are too much for a simulator")
    leave_to_the_first(device)
    ligands = ligands_of([DEEP])
    grid = Grid(np.full(3, -10, "f4"), 1.0, (21, 21, 21))
    deep = ligands, Ad4Field(device, charged_receptor(50, 9.0), grid, ligands)
    # Without local search any is alike, and of so many atoms this one compiles in half the time.
    few = {"generations": 1, "iterations": 0, "local_search": "adadelta"}
    found = searched(deep, device, **few, form=form)
    for number, poses in found.items():
        one = problem(deep, device, number)
        for run in range(2):
            genotype = Genotype(
                poses.translation[run].astype(float),
                poses.quaternion[run].astype(float),
                poses.torsion[run].astype(float),
            )
            assert one.evaluate(genotype)[0] == pytest.approx(poses.energy[run], rel=5e-3)


@both_forms
def test_the_automatic_stop_and_the_limit_end_runs(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, form: Form
) -> None:
    if device.is_simulator:
        pytest.skip("whole runs are too much for a simulator")
    given = {"iterations": 10, "stop_every": 1, "generations": 60, "form": form}
    stopped = searched(system, device, **given, stop_deviation=10)
    going = searched(system, device, **given, stop=False)
    limited = searched(system, device, **given, stop=False, evaluations=100)
    for number in stopped:
        assert (stopped[number].generations >= batched.LOOKS).all()
        assert stopped[number].generations.min() < 60
        assert (going[number].generations == 60).all()
        assert (limited[number].evaluations >= 100).all()
        assert (limited[number].evaluations < 100 + 8 * 21).all()


@both_forms
def test_a_descent_ends_where_it_gains_no_more(
    system: tuple[Ad4Ligands, Ad4Field], device: Device, form: Form
) -> None:
    """By the promised decrease, long before its last step; the twin takes about as many."""
    if device.is_simulator:
        pytest.skip("whole runs are too much for a simulator")
    leave_to_the_first(device)
    given = {"generations": 1, "iterations": 300, "searched": 100, "local_search": "bfgs"}
    given |= {"population": 4}
    found = searched(system, device, **given, form=form)
    used = sum(int(one.evaluations.sum()) for one in found.values())
    twins = sum(
        expected(system, device, number, run, **given).evaluations
        for number in found
        for run in range(2)
    )
    assert 0.7 * twins < used < 1.4 * twins


@pytest.fixture(scope="module")
def several_sizes(device: Device) -> tuple[Ad4Ligands, Ad4Field]:
    """Ligands of two classes, and their field."""
    if device.is_simulator:
        pytest.skip("large ligands are too much for a simulator")
    # A processor's compiler takes half a minute for a class: those that other tests have, too.
    large = [DEEP, DEEP] if device.kind == "cpu" else [(56, 5), (52, 4)]
    ligands = ligands_of([(12, 3), large[0], (9, 0), large[1]])
    return ligands, field_of(ligands, device)


@both_forms
def test_ligands_of_several_sizes_are_searched_side_by_side(
    several_sizes: tuple[Ad4Ligands, Ad4Field],
    device: Device,
    form: Form,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {"generations": 3, "iterations": 5, "stop": False, "form": form}
    given["local_search"] = "adadelta"  # compiles soonest
    queues = []
    run = Lga._run

    def noted(self: Lga, *arguments: Any) -> Found:
        queues.append(arguments[-1])
        return run(self, *arguments)

    monkeypatch.setattr(Lga, "_run", noted)
    monkeypatch.setattr(batched, "SIDE_BY_SIDE", {})
    in_turn = searched(several_sizes, device, **given)
    classes = len(queues)
    assert classes > 1
    assert queues == [device.queue] * classes
    queues.clear()
    monkeypatch.setattr(batched, "SIDE_BY_SIDE", {device.kind})
    for number, found in searched(several_sizes, device, **given).items():
        for name in Found.__annotations__:
            assert np.array_equal(getattr(found, name), getattr(in_turn[number], name)), name
    assert len({queue.int_ptr for queue in queues}) == classes


@both_forms
def test_a_class_without_room_beside_the_others_is_searched_after_them(
    several_sizes: tuple[Ad4Ligands, Ad4Field],
    device: Device,
    form: Form,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {"generations": 2, "iterations": 3, "form": form}
    given["local_search"] = "adadelta"
    expected_ones = searched(several_sizes, device, **given)
    monkeypatch.setattr(batched, "SIDE_BY_SIDE", {device.kind})
    run, second = Lga._run, device.queues(2)[1]

    def full(self: Lga, *arguments: Any) -> Found:
        if arguments[-1] == second:
            raise buffers.OutOfMemoryError("full")
        return run(self, *arguments)

    monkeypatch.setattr(Lga, "_run", full)
    found = searched(several_sizes, device, **given)
    assert found.keys() == expected_ones.keys()
    for number, one in found.items():
        assert np.array_equal(one.energy, expected_ones[number].energy)


@both_forms
@pytest.mark.parametrize("search", ["bfgs", "solis_wets"])
def test_the_memory_of_a_batch_is_bounded(
    device: Device, form: Form, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `_bytes` says covers all buffers, and batches keep to the room that there is."""
    if device.is_simulator:
        pytest.skip("the same buffers as on any other device")
    ligands = ligands_of([(12, 3), (20, 5), (2, 0), (80, 6), (150, 30)])
    lga, taken, told = Lga(device, field_of(ligands, device), form), [], []
    given: dict[str, Any] = {"runs": 3, "population": 7, "generations": 1, "iterations": 0}
    settings = LgaSettings(**given, local_search=search)  # type: ignore[arg-type]

    def noted(make: Any) -> Any:
        def made(*given: Any) -> Any:
            taken.append((buffer := make(*given)).size)
            return buffer

        return made

    def run(batch: Any, rows: np.ndarray, classes: tuple[int, int], *_: Any) -> Found:
        """All buffers, and no launch."""
        taken.clear()
        monkeypatch.setattr(lga, "program", lambda *_: (None, lga._slot_bytes(classes, settings)))
        Lga._run(lga, batch, rows, classes, settings, None, device.queue)
        told.append((rows.tolist(), sum(taken), int(bounds[rows].sum())))
        return none

    bounds = np.zeros(5, np.int64)
    for classes, members in lga._classes(ligands):
        bounds[members] = lga._bytes(ligands, members, classes, settings)
    none = Found(*(np.zeros(0) for _ in range(6)))
    for name in ("_filled", "empty"):
        monkeypatch.setattr(buffers, name, noted(getattr(buffers, name)))
    monkeypatch.setattr(batched, "SIDE_BY_SIDE", ())  # buffers are noted in one thread
    monkeypatch.setattr(batched, "Launch", lambda *_: None)
    monkeypatch.setattr(batched, "build", lambda *_: None)
    monkeypatch.setattr(lga, "_maps", lambda _: None)
    monkeypatch.setattr(lga, "_run", run)
    monkeypatch.setattr(batched._ByLanes, "enqueue", lambda *_: [buffers.zero(device, spare)])
    monkeypatch.setattr(batched._BySubGroups, "enqueue", lambda *_: [buffers.zero(device, spare)])
    spare = buffers.empty(device, 1, np.int32)
    for room in (1, int(bounds.sum())):
        told.clear()
        monkeypatch.setattr(buffers, "budget", lambda _, room=room: room)
        list(lga.search(ligands, settings))
        assert sorted(row for rows, *_ in told for row in rows) == list(range(5))
        assert all(len(rows) == 1 for rows, *_ in told) or room > 1
        for _, made, bound in told:
            assert bound / 4 < made <= bound


def test_no_ligand_is_no_work(device: Device) -> None:
    none = subset(ligands_of(SIZES), rows_below(ligands_of(SIZES), "ligand", np.zeros(0, int)))
    lga = Lga(device, field_of(ligands_of(SIZES[:1]), device))
    assert list(lga.search(none, LgaSettings())) == []
    assert lga.kernel_seconds == 0


def test_both_forms_find_the_same_poses_in_one_generation(
    system: tuple[Ad4Ligands, Ad4Field], device: Device
) -> None:
    given = {"generations": 1, "iterations": 4, "population": 4 if device.is_simulator else 16}
    lanes, sub_groups = (searched(system, device, **given, form=form) for form in get_args(Form))
    for number, found in lanes.items():
        other = sub_groups[number]
        assert np.allclose(found.energy, other.energy, rtol=2e-3, atol=2e-2)
        assert np.array_equal(found.evaluations, other.evaluations)


@pytest.mark.parametrize("bits", [0x7FC00000, 0xFFC00000])
def test_what_is_no_number_is_no_best_energy(device: Device, bits: int) -> None:
    """With its sign set it was lower than any energy."""
    energies = np.array([3, -5, 0, 7], np.float32)
    energies[2] = np.array([bits], np.uint32).view(np.float32)[0]
    ligand, runs = np.zeros(1, LIGAND), np.zeros(1, batched.RUN)
    ligand["evaluations"] = 1000
    lanes = device.sub_group_size
    macros = {"MAX_GENES": 33, "LOOKS": batched.LOOKS, "AHEAD": batched.AHEAD, "SG_SIZE": lanes}
    program = build(device, batched.JUDGE, {**macros, "WG_SUB_GROUPS": 1}, 0, batched.STRUCTS)
    held = buffers.exchange(device, runs)
    program.kernel("judge")(
        device.queue,
        (lanes,),
        (lanes,),
        batched._values(LgaSettings(runs=1, population=4, generations=5)),
        buffers.upload(device, ligand),
        buffers.upload(device, np.zeros(1, np.int32)),
        held,
        buffers.upload(device, np.zeros(28, np.float32)),
        buffers.upload(device, energies),
        buffers.empty(device, 33, np.float32),
    )
    (found,) = buffers.download(device, held, 1, batched.RUN)
    assert (found["best"], found["energy"]) == (1, -5)
    assert twin.lowest(energies) == 1


@pytest.mark.parametrize(
    ("back_end", "local", "kind", "form"),
    [
        ("ptx", 49152, "gpu", "sub_groups"),
        ("khr", 65536, "gpu", "sub_groups"),
        ("khr", 32768, "gpu", "lanes"),
        ("local", 65536, "gpu", "lanes"),  # AMD's: no fence between work-groups there
        ("local", 65536, "cpu", "lanes"),
    ],
)
def test_work_groups_hand_over_only_where_there_is_a_fence(
    back_end: str, local: int, kind: str, form: str
) -> None:
    device: Any = SimpleNamespace(
        back_end=back_end, kind=kind, handle=SimpleNamespace(local_mem_size=local)
    )
    assert batched.form_of(device) == form
