"""The watch: believable scores raise no alarm; each planted fault raises its own."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.engine.functions.vinardo import reference as vinardo_reference
from ligen_py.engine.random_input import make_field, make_ligands, make_poses
from ligen_py.engine.scoring import watch
from ligen_py.engine.scoring.scores import best_poses
from ligen_py.records.poses import Poses
from ligen_py.records.scores import Check
from ligen_py.records.typed import Typed
from tests.xscore_input import as_vina, random_receptor, with_types

COUNT = 40
Change = Callable[[np.ndarray], None] | None


@pytest.fixture(scope="module")
def believable() -> tuple[object, ...]:
    """Ligands, receptor, poses in the box, and the twin's scores moved to where good ones lie."""
    ligands = with_types(make_ligands([(8, 1)] * COUNT))["vina"]
    field = make_field()
    middle = field.origin + field.spacing * (np.array(field.value.shape) - 1) / 2
    poses = make_poses(ligands, 2)
    shifted = np.tile(middle, (len(poses.restart), 1)).astype("f4")
    poses = replace(poses, translation=shifted)
    receptor = random_receptor(60, 12.0)
    receptor = as_vina(replace(receptor, xyz=(receptor.xyz + middle).astype("f4")))
    terms = vina_reference.score_poses(ligands, receptor, poses)
    total, intra = (terms[name].astype("f4") for name in ("total", "intra"))
    return ligands, receptor, poses, field, total, intra


def run(believable: tuple, change: Change = None, poses: Poses | None = None) -> dict[Check, int]:
    ligands, receptor, given, field, total, intra = believable
    total = total.copy()
    if change is not None:
        change(total)
    poses = given if poses is None else poses
    scores = best_poses(poses, total, -total)
    terms = {"vina": {"total": total, "intra": intra}}
    found = watch.watch({"vina": Typed(ligands, receptor)}, poses, scores, field, terms, 1000)
    return {Check(check): row for check, row in zip(found.check, found.alarm, strict=True)}


def alarmed(found: dict) -> set[str]:
    return {check.name for check, alarm in found.items() if alarm}


def test_only_the_twin_is_sampled(believable: tuple) -> None:
    ligands, receptor, poses, field, total, intra = believable
    scores = best_poses(poses, total, -total)
    terms = {"vina": {"total": total, "intra": intra}}
    seen = {
        every: watch.watch(
            {"vina": Typed(ligands, receptor)}, poses, scores, field, terms, every
        ).seen
        for every in (0, 1, 2, 1000)
    }
    twin = {every: int(rows[Check.TWIN]) for every, rows in seen.items()}
    assert twin == {0: 0, 1: COUNT, 2: 20, 1000: watch.ENOUGH}
    assert (seen[1000][: Check.TWIN] == COUNT).all()


def test_the_sample_is_evenly_spread_from_the_first_ligand_to_the_last() -> None:
    best = np.arange(5000)
    best[[0, 7, 4999]] = -1
    scores = SimpleNamespace(best=best)
    rows = np.flatnonzero(best >= 0)
    assert watch.sample(scores, 1).tolist() == rows.tolist()
    some = watch.sample(scores, 1000)
    assert len(some) == watch.ENOUGH
    assert (some[0], some[-1]) == (1, 4998)
    steps = np.diff(np.searchsorted(rows, some))
    assert steps.max() - steps.min() <= 1
    assert watch.sample(SimpleNamespace(best=np.full(3, -1)), 1).tolist() == []


def zero(total: np.ndarray) -> None:
    total[:12] = 0


def huge(total: np.ndarray) -> None:
    total[7] = np.finfo("f4").max


def steep(total: np.ndarray) -> None:
    total[:20] = -50 - np.arange(20)


def frozen(total: np.ndarray) -> None:
    total[20:60] = 5.25


def slightly_wrong(total: np.ndarray) -> None:
    total *= np.float32(1.02)
    total += np.float32(0.05)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (None, set()),
        (zero, {"ZERO"}),
        (huge, {"SENTINEL"}),
        (steep, {"POSITIVE"}),
        (frozen, {"FROZEN"}),
        (slightly_wrong, {"TWIN"}),
    ],
)
def test_each_fault_raises_its_alarm(believable: tuple, change: Change, expected: set[str]) -> None:
    found = alarmed(run(believable, change))
    assert expected <= found
    assert expected or not found


def test_a_second_function_with_a_say_is_scored_again_too(believable: tuple) -> None:
    ligands, receptor, poses, field, total, intra = believable
    scores = best_poses(poses, total, -total)
    second = vinardo_reference.score_poses(ligands, receptor, poses)
    typed = dict.fromkeys(("vina", "vinardo"), Typed(ligands, receptor))
    for shift, alarm in ((0, set()), (1, {"TWIN"})):
        moved = {name: (values + shift).astype("f4") for name, values in second.items()}
        terms = {"vina": {"total": total, "intra": intra}, "vinardo": moved}
        found = watch.watch(typed, poses, scores, field, terms, 1000)
        rows = zip(found.check, found.alarm, strict=True)
        assert {Check(check).name for check, row in rows if row} == alarm


def test_poses_outside_the_box_raise_an_alarm(believable: tuple) -> None:
    poses = believable[2]
    away = poses.translation.copy()
    away[:10] += 1000
    assert "OUTSIDE" in alarmed(run(believable, poses=replace(poses, translation=away)))


def test_the_box_reaches_from_its_first_to_its_last_point(believable: tuple) -> None:
    *_, poses, field, _, _ = believable
    first = field.origin.astype("f4")
    last = (field.origin + field.spacing * (np.array(field.value.shape) - 1)).astype("f4")
    step = np.float32(0.01)
    for place, outside in (
        (first + step, 0),
        (last - step, 0),
        (first - step, 1),
        (last + step, 1),
    ):
        moved = np.tile(place.astype("f4"), (len(poses.restart), 1))
        found = run(believable, poses=replace(poses, translation=moved))
        assert found[Check.OUTSIDE] == outside
