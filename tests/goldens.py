"""Values of independent programs in tests/data; the scripts that made them lie beside them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.records.ligands import Ligands
from ligen_py.records.poses import Poses
from tests.pdbqt import METALS, Pdbqt, ligands_of, read_lines

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, str]]:
    """A table, one dict of texts a row."""
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[1:]]


def document(name: str) -> Any:
    return json.loads((DATA / name).read_text())


def pocket(name: str) -> Pdbqt:
    """Receptor atoms near a crystal ligand, as Meeko typed and charged them."""
    found = rows(f"pocket_{name}.tsv")
    return Pdbqt(
        [f"{row['chain']}/{row['residue']}/{row['number']}/{row['atom']}" for row in found],
        np.array([[float(row[axis]) for axis in "xyz"] for row in found]),
        np.array([float(row["charge"]) for row in found]),
        [METALS.get(row["type"], row["type"]) for row in found],
        [],
    )


def distances(columns: Sequence[str]) -> list[dict[str, float]]:
    """What columns named as in `r=3.1,q1=0.2` stand for."""
    return [
        {name: float(value) for name, value in (part.split("=") for part in column.split(","))}
        for column in columns
    ]


def clustered() -> tuple[Ligands, Poses, np.ndarray, float]:
    """A ligand, poses of it, spyrmsd's RMSD of each pair (poses, poses), and the limit."""
    stored = document("cluster.json")
    (ligand,) = (
        each for each in document("vina_poses.json")["ligands"] if each["name"] == stored["ligand"]
    )
    start = np.array(stored["xyz"])
    ligands, _ = ligands_of(replace(read_lines(ligand["pdbqt"]), xyz=start))
    number = [int(np.abs(start - place).sum(axis=1).argmin()) for place in ligands.xyz]
    axes = [[number[near], number[far]] for near, far in ligands.torsion_axis.tolist()]
    column = [stored["axes"].index(axis) for axis in axes]
    poses = stored["poses"]
    count, torsions = len(poses), len(axes)
    none = np.zeros(count, "i4")
    return (
        ligands,
        Poses(
            first_pose=np.array([0, count], "i8"),
            first_torsion=torsions * np.arange(count + 1, dtype="i8"),
            restart=np.arange(count, dtype="i4"),
            translation=np.array([pose["translation"] for pose in poses], "f4"),
            quaternion=np.array([pose["quaternion"] for pose in poses], "f4"),
            torsion=np.array([pose["torsion"] for pose in poses], "f4")[:, column].ravel(),
            score=np.array(stored["score"], "i4"),
            internal_bumps=none,
            pocket_bumps=none,
            outside=none,
        ),
        np.array(stored["rmsd"]),
        stored["limit"],
    )


def leaders(score: np.ndarray, rmsd: np.ndarray, limit: float) -> np.ndarray:
    """The pose (poses,) that leads each pose's cluster: the best that is free, and what is near."""
    leader = np.full(len(score), -1)
    for best in np.argsort(-score):
        if leader[best] < 0:
            leader[(leader < 0) & (rmsd[best] <= limit)] = best
    return leader
