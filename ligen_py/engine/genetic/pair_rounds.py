"""Pairs of a ligand's atoms in rounds, so that lanes add to forces without meeting at one atom.

A lane takes two pairs that have an atom in common, which it reads once. In a round no two lanes of
the same half of a sub-group have the same atom in the same of three roles: the common atom, the
first other one, the second.
"""

import numpy as np

NONE = -1
"""No pair: what fills a round."""

Record = tuple[int, int, int, int, int]
"""Common atom, the two others, rows of the two pairs."""


def rounds(pairs: np.ndarray, atoms: int, lanes: int, *, apart: bool) -> np.ndarray:
    """Rounds of pairs (rounds, lanes, 5): common atom, the two others, rows of the two pairs.

    Args:
        pairs: (pairs, 2), atoms i < j.
        atoms: of the ligand; its number stands for no atom.
        lanes: of a round.
        apart: whether lanes must not meet at an atom; else a round is any two pairs a lane.
    """
    left = _records(pairs, atoms)
    done = [left[n : n + lanes] for n in range(0, len(left), lanes)]
    if apart:
        done = []
        while left:
            taken, left = _one_round(left, lanes)
            done.append(taken)
    table = np.full((len(done), lanes, 5), NONE, np.int32)
    for number, one in enumerate(done):
        table[number, : len(one)] = one
    table[:, :, :3][table[:, :, :3] == NONE] = atoms
    return table


def _one_round(records: list[Record], lanes: int) -> tuple[list[Record], list[Record]]:
    """Records of one round, in either order of their pairs, and the others."""
    halves: tuple[list[Record], list[Record]] = ([], [])
    used = [[0, 0, 0], [0, 0, 0]]  # atoms that have each role in a half, as bits
    left: list[Record] = []
    for place, record in enumerate(records):
        center, one, two, row, other = record
        bits = 1 << center, 1 << one, 1 << two if two != NONE else 0
        for half, taken in zip(halves, used, strict=True):
            if 2 * len(half) >= lanes or taken[0] & bits[0]:
                continue
            if not (taken[1] & bits[1] or taken[2] & bits[2]):
                half.append(record)
                taken[1] |= bits[1]
                taken[2] |= bits[2]
            elif not (taken[1] & bits[2] or taken[2] & bits[1]):
                half.append((center, two, one, other, row))
                taken[1] |= bits[2]
                taken[2] |= bits[1]
            else:
                continue
            taken[0] |= bits[0]
            break
        else:
            left.append(record)
            if len(halves[0]) + len(halves[1]) == lanes:
                left += records[place + 1 :]
                break
    none = (NONE, NONE, NONE, NONE, NONE)
    fill = [none] * (lanes // 2 - len(halves[0]))
    return sorted(halves[0]) + fill + sorted(halves[1]), left


def _records(pairs: np.ndarray, atoms: int) -> list[Record]:
    """Two pairs each with a common atom, those first whose common atom has most records left.

    The common atom of a pair is the one that is it less often: an atom needs a round for each two
    pairs of which it is the common one.
    """
    others: list[dict[int, int]] = [{} for _ in range(atoms)]
    for row, (i, j) in enumerate(pairs.tolist()):
        if len(others[i]) < len(others[j]) or (len(others[i]) == len(others[j]) and (i + j) % 2):
            others[i][j] = row
        else:
            others[j][i] = row
    # An odd one is left over at an atom; a pair between two such atoms counts from its other end.
    for i in range(atoms):
        if len(others[i]) % 2:
            for j in others[i]:
                if len(others[j]) % 2:
                    others[j][i] = others[i].pop(j)
                    break
    found = []
    for center, mine in enumerate(others):
        ordered = list(mine.items())
        for n in range(0, len(ordered), 2):
            one, row = ordered[n]
            two, other = ordered[n + 1] if n + 1 < len(ordered) else (NONE, NONE)
            rest = len(ordered) - n
            found.append((-rest, center, one, two, row, other))
    found.sort()
    return [record[1:] for record in found]
