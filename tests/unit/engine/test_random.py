"""Counter-based random numbers against the published vectors of their authors."""

import hashlib

import numpy as np
import pytest

from ligen_py.engine import random


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        (0, (0, 0), 0xFF1DAE59),
        (0xFFFFFFFF, (0xFFFFFFFF, 0xFFFFFFFF), 0x2C3F628B),
        (0x13198A2E, (0x243F6A88, 0x85A308D3), 0xDD7CE038),
    ],
)
def test_philox_gives_the_known_answers(key: int, counter: tuple[int, int], expected: int) -> None:
    # Random123's kat_vectors, philox2x32 with 10 rounds, first word.
    assert int(random.philox(np.array(key), *map(np.array, counter))) == expected


def test_numbers_are_even_and_the_ball_is_filled() -> None:
    drawn = np.array([random.uniform(7, restart, 0, 0) for restart in range(2000)])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=0.03)
    points = np.array([random.in_ball(7, restart, 0) for restart in range(2000)])
    radius = np.linalg.norm(points, axis=1)
    assert radius.max() <= 1
    # Half the volume of the unit ball lies within 0.5 ** (1 / 3) = 0.794 of its centre.
    assert (radius < 0.5 ** (1 / 3)).mean() == pytest.approx(0.5, abs=0.05)
    assert np.abs(points.mean(axis=0)).max() < 0.05


def test_keys_follow_content() -> None:
    shape, kind = np.arange(12, dtype="f4").reshape(4, 3), np.array([7, 7, 8, 8, 7], "u1")
    keys = random.content_keys(b"seed", (shape, np.array([1, 0, 3])), (kind, np.array([2, 2, 1])))
    whole = [b"seed" + part for part in (shape[:1].tobytes() + b"\7\7", b"\10\10")]
    whole.append(b"seed" + shape[1:].tobytes() + b"\7")
    expected = [hashlib.blake2b(content, digest_size=4).digest() for content in whole]
    assert [key.to_bytes(4, "little") for key in keys] == expected
