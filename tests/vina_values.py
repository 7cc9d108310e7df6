"""Vina's energies of tests/data, and what they are of: pairs of groups, and poses of ligands."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ligen_py.engine.functions.vina import reference as vina_reference
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor, VinaType
from tests import goldens, pdbqt
from tests.xscore_input import as_vina, random_receptor

GROUPS = {
    "C": ("C_H",), "C-OA": ("C_P", "O_A"), "N": ("N_P",), "N-HD": ("N_D",), "NA": ("N_A",),
    "NA-HD": ("N_DA",), "O": ("O_P",), "O-HD": ("O_D",), "OA": ("O_A",), "OA-HD": ("O_DA",),
    "S": ("S_P",), "SA": ("S_P",), "Se": ("S_P",), "P": ("P_P",), "F": ("F_H",),
    "Cl": ("CL_H",), "Br": ("BR_H",), "I": ("I_H",), "Si": ("SI",), "At": ("AT",), "Mg": ("MET_D",),
    "Ca": ("MET_D",), "Mn": ("MET_D",), "Fe": ("MET_D",), "Zn": ("MET_D",),
}  # fmt: skip
"""Types of the groups' atoms; the second of C-OA is 1.4 A behind the first."""

PAIRS = goldens.rows("vina_pairs.tsv")
REACH = [column["r"] for column in goldens.distances(list(PAIRS[0])[3:])]
LIGANDS = {each["name"]: each for each in goldens.document("vina_poses.json")["ligands"]}


def group(name: str, place: float, away: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions and types of a group on the x axis."""
    kinds = [VinaType[kind] for kind in GROUPS[name]]
    x = place + away * 1.4 * np.arange(len(kinds))
    return np.column_stack([x, 0 * x, 0 * x]).astype("f4"), np.array(kinds, "u1")


def receptor_of(xyz: np.ndarray, types: np.ndarray) -> VinaReceptor:
    return replace(as_vina(random_receptor(len(xyz), 1.0), types), xyz=xyz)


def known_pairs(form: str) -> np.ndarray:
    """Vina's energies (ligand groups, receptor groups, distances), in the order of `GROUPS`."""
    table = {
        (row["ligand"], row["receptor"]): [float(value) for value in list(row.values())[3:]]
        for row in PAIRS
        if row["form"] == form
    }
    return np.array([[table[own, other] for other in GROUPS] for own in GROUPS])


@cache
def pocket(name: str) -> VinaReceptor:
    return pdbqt.receptor_of(goldens.pocket(name))


def poses(name: str) -> Iterator[tuple[VinaLigands, dict]]:
    """Each pose of a ligand as a ligand that stands there, and what Vina computed of it."""
    file = pdbqt.read_lines(LIGANDS[name]["pdbqt"])
    for pose in LIGANDS[name]["poses"]:
        yield pdbqt.ligands_of(replace(file, xyz=np.array(pose["xyz"])))[0], pose


def as_vina_tabulates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look pairs up as Vina does: in steps of 1/32 A^2, each the mean of its two ends."""
    exact = vina_reference.pair_terms

    def looked_up(weights, distance, pair):  # type: ignore[no-untyped-def]
        step = np.floor(distance**2 * 32)
        ends = [exact(weights, np.sqrt((step + end) / 32), pair) for end in (0, 1)]
        return (ends[0] + ends[1]) / 2

    monkeypatch.setattr(vina_reference, "pair_terms", looked_up)
