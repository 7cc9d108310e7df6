"""The NumPy twin of kernels/batched/dock.cl: LiGen's Algorithm 1, readable and slow.

It is the specification of the search. All restarts of one ligand advance together (the first
dimension of every array); otherwise it reads as the kernel does, function by function.
"""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine import geometry
from ligen_py.engine.constants import CORE
from ligen_py.engine.docking.search import DockBatch, Plan
from ligen_py.engine.geometry import F4

SHIFTS = [(m // 9 - 1, m // 3 % 3 - 1, m % 3 - 1) for m in ((c + 13) % 27 for c in range(27))]
"""The 27 shifts of the alignment in steps; the first is no shift."""


@dataclass(frozen=True)
class Ligand:
    """One ligand's heavy atoms in box units, as `problem_t` in search.clh."""

    xyz: np.ndarray
    radius: np.ndarray
    torsions: np.ndarray
    inverse_length: np.ndarray
    order: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, batch: DockBatch, number: int) -> "Ligand":
        """Take one ligand out of a batch and unpack its bit matrix of pairs."""
        row = batch.ligands[number]
        atoms, words = int(row["atoms"]), int(row["words"])
        a, t, w = int(row["first_atom"]), int(row["first_torsion"]), int(row["first_word"])
        conformer = batch.conformers[a : a + atoms]
        bits = batch.pairs[w : w + atoms * words].reshape(atoms, words)
        column = np.arange(atoms)
        torsions = slice(t, t + int(row["torsions"]))
        return cls(
            xyz=conformer[:, :3],
            radius=conformer[:, 3],
            torsions=batch.torsions[torsions],
            inverse_length=batch.inverse_lengths[torsions],
            order=batch.orders[2 * t : 2 * (t + int(row["torsions"]))],
            pairs=(bits[:, column // 32] >> (column % 32).astype(np.uint32) & 1).astype(bool),
        )


@dataclass
class State:
    """Genotypes and coordinates of all restarts: the working memory of the search."""

    xyz: np.ndarray
    turns: np.ndarray
    quaternion: np.ndarray
    shift: np.ndarray


def field_values(plan: Plan, xyz: np.ndarray) -> np.ndarray:
    """Field value (..., atoms) at the nearest grid points of positions (..., atoms, 3)."""
    point = _points(plan, xyz)
    return plan.field[point[..., 0], point[..., 1], point[..., 2]].astype(np.int32)


def _points(plan: Plan, xyz: np.ndarray) -> np.ndarray:
    shift = F4(1 << 23)
    inside = np.clip(xyz, F4(0), F4(1))
    return (geometry.fma32(inside, F4(plan.side - 1), shift) - shift).astype(np.int32)


def _sums(plan: Plan, xyz: np.ndarray, matrix: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Field sums (restarts, candidates) of atoms after each candidate's rigid motion."""
    moved = geometry.transform(matrix[..., None, :, :], shift[..., None, :], xyz[:, None])
    return field_values(plan, moved).sum(axis=-1)


def _bumps(
    ligand: Ligand, a: np.ndarray, b: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Which pairs of atoms (restarts, rows, columns) are nearer than their radii allow."""
    d = a[:, :, None, :] - b[:, None, :, :]
    squared = geometry.fma32(
        d[..., 0], d[..., 0], geometry.fma32(d[..., 1], d[..., 1], d[..., 2] * d[..., 2])
    )
    reach = ligand.radius[rows][:, None] + ligand.radius[columns][None, :]
    return (squared < reach * reach) & ligand.pairs[np.ix_(rows, columns)]


def count_bumps(ligand: Ligand, xyz: np.ndarray) -> np.ndarray:
    """Number of bumped pairs (restarts,) of poses (restarts, atoms, 3)."""
    everyone = np.arange(len(ligand.xyz))
    return _bumps(ligand, xyz, xyz, everyone, everyone).sum(axis=(1, 2)) // 2


def build_poses(plan: Plan, ligand: Ligand, state: State) -> None:
    """Coordinates from the genotype."""
    xyz = np.broadcast_to(ligand.xyz, (len(state.turns), *ligand.xyz.shape)).copy()
    for n, torsion in enumerate(ligand.torsions):
        angle = plan.angles[state.turns[:, n]]
        xyz = geometry.turn_far_side(
            xyz,
            torsion[:2],
            torsion[2:],
            ligand.inverse_length[n],
            angle[:, 0],
            angle[:, 1],
        )
    matrix = geometry.quaternion_matrix(state.quaternion)
    state.xyz = geometry.transform(matrix[:, None], state.shift[:, None], xyz)


def align(plan: Plan, state: State) -> None:
    """Two rounds of: best rotation about x, y, z through the ligand's origin; best of 27 shifts."""
    for step in plan.steps:
        for axis in range(3):
            direction = np.eye(3, dtype=F4)[axis]
            matrix = geometry.rotation(direction, plan.angles[:, 0], plan.angles[:, 1])
            shift = geometry.about(matrix, state.shift[:, None])
            sums = _sums(plan, state.xyz, matrix[None], shift)
            best = sums.argmax(axis=1)
            rows = np.arange(len(best))
            state.xyz = geometry.transform(
                matrix[best][:, None], shift[rows, best][:, None], state.xyz
            )
            _turn_frame(plan, state, np.broadcast_to(direction, state.shift.shape), best)
        shifts = np.array(SHIFTS, F4) * step
        matrix = np.broadcast_to(np.eye(3, dtype=F4), (1, 27, 3, 3))
        sums = _sums(plan, state.xyz, matrix, shifts[None])
        best = sums.argmax(axis=1)
        state.xyz = geometry.transform(np.eye(3, dtype=F4), shifts[best][:, None], state.xyz)
        state.shift = state.shift + shifts[best]


def _turn_frame(plan: Plan, state: State, direction: np.ndarray, chosen: np.ndarray) -> None:
    half = plan.angles[chosen][:, 2:]
    turn = np.concatenate([half[:, :1], direction * half[:, 1:]], axis=1)
    state.quaternion = geometry.quaternion_product(turn, state.quaternion)


def optimize(plan: Plan, ligand: Ligand, state: State, fragment: int, clean: np.ndarray) -> None:
    """Turn one fragment of every restart to its best angle without an internal bump."""
    n, near_side = fragment >> 1, bool(fragment & 1)
    near, far = ligand.torsions[n, :2]
    beyond = far_side(ligand, n)
    moved = np.flatnonzero(beyond != near_side)
    pivot = state.xyz[:, near]
    direction = geometry.unit((state.xyz[:, far] - pivot) * ligand.inverse_length[n])

    matrix = geometry.rotation(direction[:, None], plan.angles[:, 0], plan.angles[:, 1])
    shift = geometry.about(matrix, pivot[:, None])
    sums = _sums(plan, state.xyz[:, moved], matrix, shift)
    chosen = _choose(plan, ligand, state, sums, (matrix, shift), beyond, near_side, clean)

    rows = np.flatnonzero(chosen)
    best = chosen[rows]
    state.xyz[np.ix_(rows, moved)] = geometry.transform(
        matrix[rows, best][:, None], shift[rows, best][:, None], state.xyz[np.ix_(rows, moved)]
    )
    turned = plan.settings.n_angles - chosen if near_side else chosen
    state.turns[:, n] = (state.turns[:, n] + turned) % plan.settings.n_angles
    if near_side:
        moving = State(state.xyz, state.turns, state.quaternion[rows], state.shift[rows])
        _turn_frame(plan, moving, direction[rows], best)
        state.quaternion[rows] = moving.quaternion
        state.shift[rows] = geometry.transform(
            matrix[rows, best], shift[rows, best], state.shift[rows]
        )


def far_side(ligand: Ligand, n: int) -> np.ndarray:
    """Which atoms (atoms,) lie beyond a rotatable bond."""
    first, last = ligand.torsions[n, 2:4]
    atom = np.arange(len(ligand.xyz))
    return (atom >= first) & (atom < last)


def _choose(
    plan: Plan,
    ligand: Ligand,
    state: State,
    sums: np.ndarray,
    motion: tuple[np.ndarray, np.ndarray],
    beyond: np.ndarray,
    near_side: bool,
    clean: np.ndarray,
) -> np.ndarray:
    """The angle (restarts,) that each restart takes; 0 where its best angles all bump."""
    candidates = np.argsort(-sums, axis=1, kind="stable")[:, : plan.settings.bump_tests]
    far_moves = 2 * beyond.sum() > len(beyond)
    moving, resting = np.flatnonzero(beyond == far_moves), np.flatnonzero(beyond != far_moves)
    rows = np.arange(len(sums))
    chosen = np.zeros(len(sums), int)
    searching = np.ones(len(sums), bool)
    for a in candidates.T:
        searching &= ~((a == 0) & clean)
        # The side with more atoms moves: rotating one side is rotating the other backwards.
        turn = (
            (plan.settings.n_angles - a) % plan.settings.n_angles if far_moves == near_side else a
        )
        matrix, shift = motion[0][rows, turn], motion[1][rows, turn]
        moved = geometry.transform(matrix[:, None], shift[:, None], state.xyz[:, moving])
        bumped = _bumps(ligand, moved, state.xyz[:, resting], moving, resting)
        accepted = searching & ~bumped.any(axis=(1, 2))
        chosen[accepted] = a[accepted]
        searching &= ~accepted
    return chosen


def dock(
    plan: Plan, batch: DockBatch, number: int, restarts: slice = slice(None)
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Dock one ligand of a batch, from all restarts or some.

    Returns:
        results (restarts, 4) int32: score, internal bumps, pocket bumps, atoms outside;
        quaternions (restarts, 4) float32; shifts (restarts, 3) float32, box units;
        turns (restarts, torsions) uint8, angle steps.
    """
    ligand = Ligand.of(batch, number)
    turns = plan.start_turns[restarts, : len(ligand.torsions)].astype(int)
    rotation, position = plan.start_rotation[restarts], plan.start_position[restarts]
    state = State(np.empty(0), turns, rotation.copy(), position.copy())
    build_poses(plan, ligand, state)
    align(plan, state)
    clean = np.zeros(len(turns), bool)
    for _ in range(plan.settings.num_iterations):
        # A pose without bumps keeps none, because only unbumped angles are taken.
        clean |= count_bumps(ligand, state.xyz) == 0
        for fragment in ligand.order:
            optimize(plan, ligand, state, int(fragment), clean)
    state.quaternion = geometry.quaternion_normalised(state.quaternion)
    build_poses(plan, ligand, state)
    return (
        evaluate(plan, ligand, state.xyz),
        state.quaternion,
        state.shift,
        state.turns.astype(np.uint8),
    )


def evaluate(plan: Plan, ligand: Ligand, xyz: np.ndarray) -> np.ndarray:
    """Score, internal bumps, pocket bumps, atoms outside (restarts, 4) of poses."""
    values = field_values(plan, xyz)
    point = _points(plan, xyz)
    outside = ((point == 0) | (point > plan.box)).any(axis=-1)
    columns = [values.sum(1), count_bumps(ligand, xyz), (values == CORE).sum(1), outside.sum(1)]
    return np.stack(columns, axis=1).astype(np.int32)
