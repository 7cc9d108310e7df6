"""Pairs of a ligand's atoms in steps, so that lanes add to forces without meeting at one atom.

A lane owns an atom, whose place and force it keeps, and meets a partner of it in each step. In a
step no two lanes of the same half of a sub-group have the same partner: each half adds to forces of
its own. Of more atoms than lanes, lanes own the last block, then the one before.
"""

import math
from itertools import chain

import numpy as np

NONE = -1
"""No pair: what fills a step."""
BANKS = 8
"""Lanes that read vectors of 16 bytes in one cycle, if their atoms differ in the last 3 bits."""

Held = list[dict[int, int]]
"""Of each lane the partners that it meets, with the rows of the pairs."""


def owners(atoms: int, lanes: int) -> list[int]:
    """Atoms that lanes own, of so many; `atoms` stands for none.

    The second half owns those left over and then the first ones again: no half has one twice.

    >>> owners(3, 4), owners(6, 8), owners(2, 8)
    ([0, 1, 2, 0], [0, 1, 2, 3, 4, 5, 0, 1], [0, 1, 2, 2, 0, 1, 2, 2])
    """
    half = lanes // 2
    fill = [atoms] * half
    first = [*range(min(half, atoms)), *fill][:half]
    return first + [*range(half, atoms), *first][:half]


def steps(pairs: np.ndarray, atoms: int, lanes: int, *, apart: bool) -> np.ndarray:
    """Steps of pairs (steps, lanes, 3), int32: a lane's atom, its partner, the pair's row.

    Lanes own the same atoms in an even number of steps after one another.

    Args:
        pairs: (pairs, 2), atoms i < j.
        atoms: of the ligand; its number stands for no atom.
        lanes: of a step.
        apart: whether lanes must not meet at a partner; else any order will do.
    """
    found = [np.zeros((0, lanes, 3), np.int32)]
    left = np.ones(len(pairs), bool)
    for first in reversed(range(0, atoms, lanes)):  # lanes of the last block are the idlest
        own = [first + atom for atom in owners(min(lanes, atoms - first), lanes)]
        rows = np.flatnonzero(left & (pairs[:, 0] >= first))
        deal = _Deal(own)
        deal.deal(dict(zip(rows.tolist(), pairs[rows].tolist(), strict=True)))
        others = np.flatnonzero(left & (pairs[:, 0] < first) & (pairs[:, 1] >= first))
        deal.fill(dict(zip(others.tolist(), pairs[others].tolist(), strict=True)))
        halves = deal.held[: lanes // 2], deal.held[lanes // 2 :]
        in_turn = [_coloured(half) if apart else _one_by_one(half) for half in halves]
        table = np.full((_even(max(map(len, in_turn))), lanes, 3), NONE, np.int32)
        table[:, :, 0], table[:, :, 1] = own, atoms
        met = [
            (step, start + lane, partner, deal.held[start + lane][partner])
            for start, half in zip((0, lanes // 2), in_turn, strict=True)
            for step, partners in enumerate(half)
            for lane, partner in partners.items()
        ]
        step, lane, partner, row = np.array(met, np.int64).reshape(-1, 4).T
        table[step, lane, 1], table[step, lane, 2] = partner, row
        left[row] = False
        found.append(table)
    return np.concatenate(found)


def _even(count: int) -> int:
    return count + count % 2


class _Deal:
    """Pairs dealt out to lanes that own one of their atoms."""

    def __init__(self, own: list[int]) -> None:
        """Lanes with the atoms that they own."""
        self.own = own
        self.lanes: dict[int, list[int]] = {}
        """Of an atom the lanes that own it."""
        for lane, atom in enumerate(own):
            self.lanes.setdefault(atom, []).append(lane)
        self.held: Held = [{} for _ in own]
        half = len(own) // 2
        counts: list[dict[int, int]] = [{}, {}]
        self.met = [counts[lane >= half] for lane in range(len(own))]
        """Of each lane how often lanes of its half meet each partner."""

    def deal(self, pairs: dict[int, list[int]]) -> None:
        """Deal out pairs by row, as evenly as can be."""
        lanes, held, met = self.lanes, self.held, self.met
        ways = {row: len(lanes.get(i, ())) + len(lanes.get(j, ())) for row, (i, j) in pairs.items()}
        # Where lane and partner have fewest so far, those first that have fewest ways.
        for row in sorted(ways, key=ways.__getitem__):
            i, j = pairs[row]
            fewest, taken, met_by = math.inf, NONE, NONE
            for atom, partner in ((i, j), (j, i)):
                for lane in lanes.get(atom, ()):
                    here, there = len(held[lane]), met[lane].get(partner, 0)
                    # The larger number counts, of equals the smaller one.
                    count = here + there / 1024 if here > there else there + here / 1024
                    if count < fewest:
                        fewest, taken, met_by = count, lane, partner
            self._take(taken, met_by, row)
        able = [lane for lane, partners in enumerate(held) if partners]
        enough = _even(max(self._most_met(), -(-len(pairs) // max(len(able), 1))))
        for lane in able:
            while len(held[lane]) > enough:
                if not self._hand_on(lane, enough, pairs):
                    enough += 2

    def _take(self, lane: int, partner: int, row: int) -> None:
        self.held[lane][partner] = row
        self.met[lane][partner] = self.met[lane].get(partner, 0) + 1

    def _most_met(self) -> int:
        """How often the most wanted partner of a half is met."""
        return max((n for lane in (0, -1) for n in self.met[lane].values()), default=0)

    def _hand_on(self, first: int, enough: int, pairs: dict[int, list[int]]) -> bool:
        """Let a lane hand on one of its pairs, which may push another further.

        The last lane of that chain has fewer than `enough` before. Whether there is such a chain.
        """
        came = {first: (NONE, NONE)}
        waiting = [first]
        for lane in waiting:
            for row in self.held[lane].values():
                for other in chain(*(self.lanes.get(atom, ()) for atom in pairs[row])):
                    if other in came:
                        continue
                    came[other] = lane, row
                    waiting.append(other)
                    if len(self.held[other]) < enough:
                        while other != first:
                            before, row = came[other]
                            ends = sum(pairs[row])
                            del self.held[before][ends - self.own[before]]
                            self.met[before][ends - self.own[before]] -= 1
                            self._take(other, ends - self.own[other], row)
                            other = before
                        return True
        return False

    def fill(self, pairs: dict[int, list[int]]) -> None:
        """Add pairs that could as well wait for the next block, where lanes are idle in a step."""
        most = _even(max(*map(len, self.held), self._most_met()))
        for row, (i, j) in pairs.items():
            for lane in self.lanes.get(j, ()):
                if len(self.held[lane]) < most and self.met[lane].get(i, 0) < most:
                    self._take(lane, i, row)
                    break


def _one_by_one(held: Held) -> list[dict[int, int]]:
    """Steps in which each lane takes its partners one after another."""
    lists = [list(one) for one in held]
    return [
        {lane: one[step] for lane, one in enumerate(lists) if step < len(one)}
        for step in range(max(map(len, lists), default=0))
    ]


def _coloured(held: Held) -> list[dict[int, int]]:
    """Steps of some lanes (lane: partner), no two with the same partner, as few as possible.

    Lanes and partners are a bipartite graph, whose edges are coloured: as many steps are enough as
    a lane or a partner has pairs (D. Koenig, Math. Ann. 77 (1916) 453-465). Where there is a
    choice, lanes that read together take partners of different banks.
    """
    degree: dict[int, int] = {}
    for one in held:
        for partner in one:
            degree[partner] = degree.get(partner, 0) + 1
    count = max([*degree.values(), *map(len, held)], default=0)
    of_lane: list[dict[int, int]] = [{} for _ in range(count)]  # by step: the lane's partner
    of_partner: list[dict[int, int]] = [{} for _ in range(count)]
    free_lane = [(1 << count) - 1] * len(held)  # steps as bits
    free_partner = dict.fromkeys(degree, (1 << count) - 1)
    taken = [[0] * BANKS for _ in range(0, len(held), BANKS)]
    for lane, one in enumerate(held):
        for partner in one:
            bank = partner % BANKS
            both = free_lane[lane] & free_partner[partner]
            if both:
                both = both & ~taken[lane // BANKS][bank] or both
            else:
                both = free_lane[lane] & -free_lane[lane]
                other = free_partner[partner] & -free_partner[partner]
                at, on_lane = _exchange(partner, both, other, of_lane, of_partner)
                free_partner[partner] ^= both | other
                if on_lane:
                    free_lane[at] ^= both | other
                else:
                    free_partner[at] ^= both | other
            bit = both & -both
            step = bit.bit_length() - 1
            of_lane[step][lane], of_partner[step][partner] = partner, lane
            free_lane[lane] ^= bit
            free_partner[partner] ^= bit
            taken[lane // BANKS][bank] |= bit
    return of_lane


def _exchange(
    partner: int,
    one: int,
    other: int,
    of_lane: list[dict[int, int]],
    of_partner: list[dict[int, int]],
) -> tuple[int, bool]:
    """Exchange two steps (bits) along the path of pairs that begins at a partner, `one` first.

    Where the path ends, and whether that is a lane. It does not end at a lane that has `one` free.
    """
    steps = one.bit_length() - 1, other.bit_length() - 1
    path, at, on_lane, turn = [], partner, False, 0
    while at in (table := (of_lane if on_lane else of_partner)[steps[turn]]):
        following = table[at]
        path.append((steps[turn], *((at, following) if on_lane else (following, at))))
        at, on_lane, turn = following, not on_lane, 1 - turn
    for step, lane, there in path:
        del of_lane[step][lane], of_partner[step][there]
    for step, lane, there in path:
        new = sum(steps) - step
        of_lane[new][lane], of_partner[new][there] = there, lane
    return at, on_lane
