"""Pairs of a ligand's atoms in steps, so that lanes add to forces without meeting at one atom.

A lane owns an atom, whose place and force it keeps, and meets a partner of it in each step. In a
step no two lanes of the same half of a sub-group have the same partner: each half adds to forces of
its own. Of more atoms than lanes, lanes own the last block, then the one before.
"""

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
        held = _dealt(dict(zip(rows.tolist(), pairs[rows].tolist(), strict=True)), own)
        others = np.flatnonzero(left & (pairs[:, 0] < first) & (pairs[:, 1] >= first))
        _fill(held, dict(zip(others.tolist(), pairs[others].tolist(), strict=True)), own)
        left[[row for partners in held for row in partners.values()]] = False
        halves = held[: lanes // 2], held[lanes // 2 :]
        in_turn = [_coloured(half) if apart else _one_by_one(half) for half in halves]
        table = np.full((_even(max(map(len, in_turn))), lanes, 3), NONE, np.int32)
        table[:, :, 0], table[:, :, 1] = own, atoms
        for start, half in zip((0, lanes // 2), in_turn, strict=True):
            for step, partners in enumerate(half):
                for lane, partner in partners.items():
                    table[step, start + lane, 1:] = partner, held[start + lane][partner]
        found.append(table)
    return np.concatenate(found)


def _even(count: int) -> int:
    return count + count % 2


def _ways(pairs: list[list[int]], own: list[int]) -> list[list[tuple[int, int]]]:
    """Of each pair the lanes that own one of its atoms, each with the other atom."""
    lanes_of: dict[int, list[int]] = {}
    for lane, atom in enumerate(own):
        lanes_of.setdefault(atom, []).append(lane)
    return [
        [(lane, j) for lane in lanes_of.get(i, ())] + [(lane, i) for lane in lanes_of.get(j, ())]
        for i, j in pairs
    ]


def _met(held: Held) -> list[dict[int, int]]:
    """How often lanes of each half meet each partner."""
    counts: list[dict[int, int]] = [{}, {}]
    for lane, partners in enumerate(held):
        of_half = counts[2 * lane // len(held)]
        for partner in partners:
            of_half[partner] = of_half.get(partner, 0) + 1
    return counts


def _dealt(pairs: dict[int, list[int]], own: list[int]) -> Held:
    """Pairs by row dealt out to lanes that own one of their atoms, as evenly as can be."""
    found = _ways(list(pairs.values()), own)
    ways = {row: dict(some) for row, some in zip(pairs, found, strict=True)}
    # Where lane and partner have fewest so far, those first that have fewest ways.
    held: Held = [{} for _ in own]
    met = _met(held)
    for row in sorted(ways, key=lambda row: len(ways[row])):
        choices = []
        for lane, partner in ways[row].items():
            counts = len(held[lane]), met[2 * lane // len(own)].get(partner, 0)
            choices.append((max(counts), sum(counts), lane, partner))
        lane, partner = min(choices)[2:]
        held[lane][partner] = row
        of_half = met[2 * lane // len(own)]
        of_half[partner] = of_half.get(partner, 0) + 1
    enough = max(max(of_half.values(), default=0) for of_half in met)
    while _hand_on(held, ways, enough):
        pass
    return held


def _hand_on(held: Held, ways: dict[int, dict[int, int]], enough: int) -> bool:
    """Let one of the lanes with most pairs hand one on, which may push another further.

    Whether that was possible; not if they have no more than `enough`.
    """
    most = max(map(len, held))
    waiting = [lane for lane, partners in enumerate(held) if len(partners) == most]
    came = dict.fromkeys(waiting, (NONE, NONE))
    for lane in waiting if most > enough else []:
        for row in held[lane].values():
            for other in ways[row]:
                if other not in came:
                    came[other] = lane, row
                    waiting.append(other)
        if len(held[lane]) < most - 1:
            while came[lane][0] != NONE:
                before, row = came[lane]
                del held[before][ways[row][before]]
                held[lane][ways[row][lane]] = row
                lane = before
            return True
    return False


def _fill(held: Held, others: dict[int, list[int]], own: list[int]) -> None:
    """Add pairs that could as well wait for the next block, where lanes are idle in some step."""
    met = _met(held)
    most = _even(max([*map(len, held), *(n for half in met for n in half.values())]))
    for row, ways in zip(others, _ways(list(others.values()), own), strict=True):
        for lane, partner in ways:
            of_half = met[2 * lane // len(own)]
            if len(held[lane]) < most and of_half.get(partner, 0) < most:
                held[lane][partner] = row
                of_half[partner] = of_half.get(partner, 0) + 1
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
