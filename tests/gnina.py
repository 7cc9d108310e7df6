"""Poses, receptors and random networks that stand in for gnina's, as their values were computed.

NumPy alone: `tests/data/make_gnina.py` runs where PyTorch is, and this package is not.
"""

import csv
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
NETWORKS = (
    "crossdock_default2018",
    "general_default2018_3",
    "redock_default2018_2",
    "dense",
    "dense_3",
)
"""The default ensemble of gnina 1.0."""

ELEMENTS = {"HD": 1, "C": 6, "A": 6, "N": 7, "NA": 7, "OA": 8, "S": 16, "SA": 16, "ZN": 30}


def receptor(code: str) -> list[dict[str, str]]:
    """Atoms of a prepared receptor around its site: heavy atoms and polar hydrogens."""
    lines = (DATA / f"pocket_{code}.tsv").read_text().splitlines()
    return list(csv.DictReader((x for x in lines if not x.startswith("#")), delimiter="\t"))


def places(rows: list[dict[str, str]]) -> np.ndarray:
    """Positions (atoms, 3)."""
    return np.array([[float(row[axis]) for axis in "xyz"] for row in rows])


def moved(xyz: np.ndarray, turn: list[float], shift: list[float]) -> np.ndarray:
    """Atoms turned about their centre by a quaternion (w, x, y, z) and shifted, to 0.001 A."""
    w, *axis = np.array(turn) / np.linalg.norm(turn)
    about = xyz - xyz.mean(axis=0)
    doubled = 2 * np.cross(axis, about)
    turned = about + w * doubled + np.cross(axis, doubled)
    return np.round(turned + xyz.mean(axis=0) + shift, 3)


def random_tensors(name: str) -> dict[str, np.ndarray]:
    """Tensors of a network of gnina's with random numbers: "plain" or "dense"."""
    rng = np.random.default_rng(2018 if name == "plain" else 2017)
    found: dict[str, np.ndarray] = {}

    def layer(name: str, *shape: int) -> None:
        inputs = int(np.prod(shape[1:]))
        found[f"{name}.weight"] = rng.normal(0, (2 / inputs) ** 0.5, shape).astype("f4")
        found[f"{name}.bias"] = rng.normal(0, 0.1, shape[0]).astype("f4")

    def norm(name: str, count: int) -> None:
        found[f"{name}.weight"] = rng.uniform(0.5, 1.5, count).astype("f4")
        found[f"{name}.bias"] = rng.normal(0, 0.2, count).astype("f4")
        found[f"{name}.running_mean"] = rng.normal(0, 0.3, count).astype("f4")
        found[f"{name}.running_var"] = rng.uniform(0.5, 2, count).astype("f4")

    if name == "plain":
        for unit, (inputs, outputs, side) in enumerate(
            ((28, 32, 3), (32, 32, 1), (32, 64, 3), (64, 64, 1), (64, 128, 3)), 1
        ):
            layer(f"unit{unit}_conv", outputs, inputs, side, side, side)
        values = 128 * 6**3
    else:
        layer("data_enc_init_conv", 32, 28, 3, 3, 3)
        values = 32
        for level in range(3):
            for number in range(4):
                room = f"dense_block_{level}.data_enc_level{level}"
                norm(f"{room}_batchnorm_conv{number}", values)
                layer(f"{room}_conv{number}", 16, values, 3, 3, 3)
                values += 16
            if level < 2:
                layer(f"data_enc_level{level}_bottleneck", values, values, 1, 1, 1)
    layer("pose_output", 2, values)
    layer("affinity_output", 1, values)
    return found


@contextmanager
def in_place_of_gninas(weights: Path) -> Iterator[None]:
    """A block in which one network, of a file of its own, stands in place of gnina's three."""
    from ligen_py.engine.functions.gnina import constants

    kept, folder = dict(constants.NETWORKS), os.environ.get("LIGEN_NETWORKS")
    constants.NETWORKS.clear()
    constants.NETWORKS[weights.stem] = hashlib.sha256(weights.read_bytes()).hexdigest()
    os.environ["LIGEN_NETWORKS"] = str(weights.parent)
    try:
        yield
    finally:
        constants.NETWORKS.clear()
        constants.NETWORKS.update(kept)
        if folder is None:
            del os.environ["LIGEN_NETWORKS"]
        else:
            os.environ["LIGEN_NETWORKS"] = folder


def weights_folder() -> Path | None:
    """Where gnina's own networks are, if anywhere."""
    from ligen_py.paths import network_folder

    folder = network_folder()
    return (
        folder if folder and all((folder / f"{name}.pt").is_file() for name in NETWORKS) else None
    )
