"""Batches, the choice of the best pose, and the ledger after scoring."""

from dataclasses import replace

import numpy as np
import pytest

from ligen_py.engine.random_input import make_ligands, make_poses
from ligen_py.engine.scoring.scores import (
    batches,
    best_poses,
    choice_energy,
    handicap,
    merit,
    pose_scores,
    score,
    settle,
)
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.poses import Poses
from ligen_py.records.typed import Typed
from ligen_py.settings.score import ScoreSettings

NAN = np.nan
NONE = np.zeros(0, "f4")
PAIR_TERMS = {
    "vina": ("gauss1", "gauss2", "repulsion", "hydrophobic", "hbond", "intra"),
    "ad4": ("vdw", "hbond", "estat", "desolv"),
}
"""Whose sum is the energy of a pose in Vina."""


def uneven_poses(counts: list[int]) -> Poses:
    """Poses of ligands without torsions, so many for each."""
    total = sum(counts)
    poses = make_poses(make_ligands([(5, 0)]), total)
    return replace(poses, first_pose=np.cumsum([0, *counts]).astype("i8"))


def ledger(*status: Status) -> Ledger:
    count = len(status)
    return Ledger(
        np.array(status, "u1"), np.zeros(count, "u1"), np.array([""] * count, dtype=object)
    )


def test_best_pose_is_the_largest_total_and_the_lowest_row_of_equals() -> None:
    totals = np.array([1, 5, 5, 2, 1], "f4")
    scores = best_poses(uneven_poses([3, 0, 2]), totals, -totals)
    assert scores.best.tolist() == [1, -1, 3]
    assert scores.score[[0, 2]].tolist() == [5, 2]
    assert np.isnan(scores.score[1])


def test_totals_that_are_not_finite_never_win() -> None:
    totals = np.array([NAN, 4, np.inf, NAN, -np.inf], "f4")
    assert best_poses(uneven_poses([3, 2]), totals, -totals).best.tolist() == [1, -1]


def test_no_poses_at_all() -> None:
    assert best_poses(uneven_poses([0, 0]), NONE, NONE).best.tolist() == [-1, -1]


def test_settle_scores_or_fails_every_ready_record() -> None:
    ligands = replace(make_ligands([(5, 0)] * 3), entry=np.array([1, 2, 4], "i8"))
    before = ledger(Status.REJECTED, Status.READY, Status.READY, Status.DUPLICATE, Status.READY)
    totals = np.array([1, 2, NAN], "f4")
    scores = best_poses(uneven_poses([2, 0, 1]), totals, -totals)
    after = settle(before, ligands, scores)
    assert after.status.tolist() == [
        Status.REJECTED,
        Status.SCORED,
        Status.FAILED,
        Status.DUPLICATE,
        Status.FAILED,
    ]
    assert after.reason[[2, 4]].tolist() == [Reason.NO_FINITE_SCORE] * 2
    assert after.reason[[0, 1, 3]].tolist() == [Reason.NONE] * 3
    assert after.detail.tolist() == [
        "",
        "",
        "there is no pose to score",
        "",
        "none of 1 poses has a finite score",
    ]
    assert before.status[1] == Status.READY


def test_settle_leaves_records_alone_that_an_earlier_stage_failed() -> None:
    ligands = make_ligands([(5, 0)])
    scores = best_poses(uneven_poses([0]), NONE, NONE)
    assert settle(ledger(Status.FAILED), ligands, scores).detail[0] == ""


def test_settle_refuses_a_ledger_of_other_ligands() -> None:
    scores = best_poses(uneven_poses([0]), NONE, NONE)
    with pytest.raises(ValueError, match="no ligand belongs to it"):
        settle(ledger(Status.READY, Status.READY), make_ligands([(5, 0)]), scores)
    with pytest.raises(ValueError, match="fewer than"):
        settle(ledger(), make_ligands([(5, 0)]), scores)


@pytest.mark.parametrize("budget", [1, 500, 2000, 10**9])
def test_batches_cover_every_pose_once_within_the_budget(budget: int) -> None:
    ligands = make_ligands([(5, 0)] * 7)
    poses = uneven_poses([3, 0, 1, 9, 0, 0, 2])
    rows = [
        row
        for first, last in batches(ligands, poses, budget)
        for row in range(poses.first_pose[first], poses.first_pose[last])
    ]
    assert rows == list(range(15))
    # 36 + 36 * 5 bytes a ligand, 64 a pose
    for first, last in batches(ligands, poses, budget):
        count = poses.first_pose[last] - poses.first_pose[first]
        assert last == first + 1 or (last - first) * 216 + count * 64 <= budget


def test_a_ligand_larger_than_any_kernel_is_refused() -> None:
    ligands = make_ligands([(5, 0)])
    huge = replace(
        ligands,
        **{
            name: np.resize(getattr(ligands, name), (257, *getattr(ligands, name).shape[1:]))
            for name in ("xyz", "element", "charge")
        },
        first_atom=np.array([0, 257], "i8"),
    )
    with pytest.raises(ValueError, match="257 atoms"):
        score(None, {"xscore": Typed(huge, None)}, uneven_poses([1]))  # type: ignore[arg-type]


def columns_of(**totals: list[float]) -> dict[str, dict[str, np.ndarray]]:
    """Terms of functions with one pose a number: its energy, kcal/mol."""
    found = {}
    for name, values in totals.items():
        first, *others = PAIR_TERMS[name]
        zero = {term: np.zeros(3, "f4") for term in others}
        found[name] = zero | {first: np.array(values, "f4")}
    return found


def test_a_pose_is_chosen_by_the_weighed_energies_and_keeps_its_own_score() -> None:
    columns = columns_of(vina=[-9, -8, -7], ad4=[0, -4, -5])
    energy = choice_energy(columns, {"vina": 1.0, "ad4": 0.5, "xscore": 3.0})
    assert energy.tolist() == [-9, -10, -9.5]
    scores = best_poses(uneven_poses([3]), np.array([9, 8, 7], "f4"), energy)
    assert (scores.best[0], scores.score[0]) == (1, 8)


def test_the_score_of_a_large_and_of_a_small_ligand_by_hand() -> None:
    ligands = make_ligands([(10, 5), (40, 10)])
    poses = uneven_poses([1, 2])
    energy = np.array([-9, -9, 2], "f4")
    assert ligands.heavy.tolist() == [8, 30]
    # The roots of 8 and 30 are 2.8284 and 5.4772; 5 and 10 torsions cost 1.1 and 1.2.
    by_hand = [9 / 1.1 / 2.8284, 9 / 1.2 / 5.4772, -2]
    assert merit(ligands, poses, energy) == pytest.approx(by_hand, rel=1e-4)


def test_the_handicap_of_states_and_of_many_rows_by_hand() -> None:
    """Two states: the dominant one as two isomers with two and one conformers, and another one.

    The first two conformers have a strain; those of the last molecule have none that is known.
    """
    ligands = replace(
        make_ligands([(10, 5)] * 6),
        entry=np.array([0, 0, 0, 0, 1, 1]),
        conformer=np.array([0, 1, 0, 0, 0, 1], "u2"),
        isomers=np.array([2, 2, 2, 1, 1, 1], "u2"),
        state_cost=np.array([0, 0, 0, 0.9, 0, 0], "f4"),
        strain=np.array([0, 3, 0, 0, 0, 0], "f4"),
    )
    ln2 = np.log(2)
    every = handicap(ligands, ScoreSettings(strain_cost=0.5, row_cost=0.5))
    assert every == pytest.approx([ln2 / 2, ln2 / 2 + 1.5, ln2 / 2, 0.9, ln2 / 2, ln2 / 2])
    states = handicap(ligands, ScoreSettings(strain_cost=0, row_cost=0))
    assert states.tolist() == ligands.state_cost.tolist()
    rows = handicap(ligands, ScoreSettings(row_cost=1, strain_cost=0, state_cost=False))
    assert rows == pytest.approx([ln2, ln2, ln2, 0, ln2, ln2])
    assert handicap(make_ligands([]), ScoreSettings()).tolist() == []


def test_the_handicap_counts_between_ligands_and_not_between_poses() -> None:
    ligands = replace(make_ligands([(10, 5)] * 2), state_cost=np.array([0, 1.5], "f4"))
    columns = columns_of(vina=[-9, -8, -9])
    columns["vina"]["total"] = np.array([9, 8, 9], "f4")
    ranks, energy = pose_scores(ligands, uneven_poses([2, 1]), columns, ScoreSettings())
    assert energy.tolist() == [-9, -8, -9]
    assert ranks.tolist() == merit(ligands, uneven_poses([2, 1]), np.array([-9, -8, -7.5])).tolist()
    without = ScoreSettings(state_cost=False)
    ranks, _ = pose_scores(ligands, uneven_poses([2, 1]), columns, without)
    assert ranks.tolist() == merit(ligands, uneven_poses([2, 1]), energy).tolist()


def test_a_molecule_gains_by_the_receptor_alone_and_pays_for_strain() -> None:
    """Two ligands with poses of own energies -3, -2 and -1: the lowest is that of the free one."""
    ligands, poses = make_ligands([(10, 5)] * 2), uneven_poses([2, 1])
    columns = columns_of(vina=[-9, -10, -9], ad4=[-4, -4, -4])
    for name in ("vina", "ad4"):  # AutoDock4's pose energy has no term of the ligand's own
        columns[name] |= {"intra": np.array([-3, -2, -1], "f4"), "total": np.ones(3, "f4")}
    settings = ScoreSettings(pose_weights={"vina": 1.0, "ad4": 0.5}, row_cost=0)
    ranks, energy = pose_scores(ligands, poses, columns, settings)
    assert energy.tolist() == [-14, -14, -12]
    assert ranks.tolist() == merit(ligands, poses, np.array([-11, -11, -11])).tolist()
    columns["vina"]["intra"][0] = NAN
    ranks, energy = pose_scores(ligands, poses, columns, settings)
    assert energy[1:].tolist() == [-14, -12]
    assert ranks[1:].tolist() == merit(ligands, poses, np.array([0, -12, -11]))[1:].tolist()


def test_what_ranks_is_what_the_settings_say() -> None:
    ligands, poses = make_ligands([(10, 5)]), uneven_poses([3])
    columns = columns_of(vina=[-9, -8, -7], ad4=[0, -4, -5])
    columns["vina"]["total"] = np.array([9, 8, NAN], "f4")

    def settings(rank_by: str) -> ScoreSettings:
        return ScoreSettings(pose_weights={"vina": 1.0, "ad4": 0.5}, rank_by=rank_by)

    first, energy = pose_scores(ligands, poses, columns, settings("first"))
    assert first.tolist()[:2] == [9, 8]
    ranks, same = pose_scores(ligands, poses, columns, settings("energy"))
    assert energy.tolist() == same.tolist() == [-9, -10, -9.5]
    assert ranks[:2].tolist() == merit(ligands, poses, energy)[:2].tolist()
    assert np.isnan(ranks[2])
    assert best_poses(poses, ranks, energy).best[0] == 1


def test_networks_rank_by_their_logit_beside_the_energy() -> None:
    """0.3 a unit, whatever the size; a pose that they say nothing of has no score."""
    ligands, poses = make_ligands([(10, 5), (30, 2)]), uneven_poses([2, 1])
    columns = columns_of(vina=[-9, -8, -9])
    columns["vina"]["total"] = np.array([9, 8, 9], "f4")
    columns["gnina"] = {"logit": np.array([-1, 2, 1], "f4"), "total": np.ones(3, "f4")}
    energies = ScoreSettings(functions=("vina", "gnina"))
    both = energies.model_copy(update={"rank_by": "networks"})
    physics, energy = pose_scores(ligands, poses, columns, energies)
    ranks, same = pose_scores(ligands, poses, columns, both)
    assert energy.tolist() == same.tolist() == [-7, -12, -11]
    assert ranks - physics == pytest.approx([-0.3, 0.6, 0.3])
    columns["gnina"]["logit"][1] = NAN
    assert best_poses(poses, *pose_scores(ligands, poses, columns, both)).best.tolist() == [0, 2]


def test_the_first_function_chooses_where_no_weight_is_left() -> None:
    columns = columns_of(ad4=[0, -4, -5], vina=[-9, -8, -7])
    assert choice_energy(columns, {}).tolist() == [0, -4, -5]
    assert choice_energy(columns, {"xscore": 1.0}).tolist() == [0, -4, -5]


def test_a_function_alone_counts_whole_beside_the_costs_of_states() -> None:
    """Else AutoDock4's energy is halved, and a state's cost weighs twice as much."""
    ligands, poses = make_ligands([(10, 5)]), uneven_poses([3])
    columns = columns_of(ad4=[-9, -8, -7])
    columns["ad4"]["total"] = np.ones(3, "f4")
    ranks, energy = pose_scores(ligands, poses, columns, ScoreSettings(functions=("ad4",)))
    assert energy.tolist() == [-9, -8, -7]
    assert ranks.tolist() == merit(ligands, poses, energy).tolist()


@pytest.mark.parametrize(
    ("beside", "chooses"), [("xscore", [-9, -8, -7]), ("gnina", [-4.5, -4, -3.5])]
)
def test_a_weighted_energy_counts_whole_beside_functions_that_are_not(
    beside: str, chooses: list[float]
) -> None:
    """X-Score has no weight, networks have no energy: neither may halve AutoDock4's in the rank."""
    ligands, poses = make_ligands([(10, 5)]), uneven_poses([3])
    columns = columns_of(ad4=[-9, -8, -7])
    columns["ad4"]["total"] = np.ones(3, "f4")
    columns[beside] = {"logit": np.zeros(3, "f4")}
    settings = ScoreSettings(functions=("ad4", beside))
    ranks, energy = pose_scores(ligands, poses, columns, settings)
    assert energy.tolist() == chooses
    assert ranks.tolist() == merit(ligands, poses, np.array([-9, -8, -7], "f4")).tolist()


def test_a_function_without_a_value_has_no_say() -> None:
    energy = choice_energy(columns_of(vina=[-9, -8, NAN], ad4=[NAN] * 3), {"vina": 1.0, "ad4": 0.5})
    assert energy[:2].tolist() == [-9, -8]
    assert np.isnan(energy[2])
