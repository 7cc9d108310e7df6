"""Counter-based random numbers: the NumPy twin of kernels/include/random.clh."""

import hashlib

import numpy as np


def philox(key: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Philox2x32 with 10 rounds (Salmon et al., SC 2011): uint32 arrays, broadcast.

    The known answer of its authors for key 0 and counter 0, 0:

    >>> zero = np.zeros(1, np.uint32)
    >>> hex(int(philox(zero, zero, zero)[0]))
    '0xff1dae59'
    """
    key, x, y = (np.asarray(value, np.uint64) for value in (key, x, y))
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        product = np.uint64(0xD256D193) * x
        x = (product >> np.uint64(32)) ^ key ^ y
        y = product & mask
        key = (key + np.uint64(0x9E3779B9)) & mask
    return x.astype(np.uint32)


def uniform(key: int, restart: int, turn: int, which: int) -> float:
    """Uniform in 0 <= u < 1, 24 bits; `which` is the number within one round, up to 8."""
    bits = philox(np.array(key), np.array(turn * 8 + which), np.array(restart))
    return int(bits >> np.uint32(8)) / 2**24


def in_ball(key: int, restart: int, turn: int) -> np.ndarray:
    """A point (3,) of the unit ball, uniformly distributed."""
    z = 2 * uniform(key, restart, turn, 1) - 1
    azimuth = 2 * np.pi * uniform(key, restart, turn, 2)
    radius = np.cbrt(uniform(key, restart, turn, 3))
    flat = radius * np.sqrt(max(1 - z * z, 0.0))
    return np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), radius * z])


def content_keys(first: bytes, *columns: tuple[np.ndarray, np.ndarray]) -> list[int]:
    """Keys of 32 bits from content, equal on every machine: of `first` and some rows of columns.

    A column is an array, and the number of its consecutive rows for each key.
    """
    start = hashlib.blake2b(first, digest_size=4)
    parts = []
    for array, counts in columns:
        row = array.itemsize * int(np.prod(array.shape[1:]))
        ends = (row * np.cumsum(counts)).tolist()
        parts.append((memoryview(array.tobytes()), [0, *ends[:-1]], ends))
    keys = []
    for number in range(len(columns[0][1])):
        digest = start.copy()
        for content, begins, ends in parts:
            digest.update(content[begins[number] : ends[number]])
        keys.append(int.from_bytes(digest.digest(), "little"))
    return keys
