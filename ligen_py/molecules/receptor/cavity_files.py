"""Read cavities from result files of P2Rank and of fpocket."""

import csv
import re
from collections import Counter
from pathlib import Path

import gemmi
import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.structure import read_text
from ligen_py.records.pocket import FoundCavity

POCKET = re.compile(r"^Pocket\s+(\d+)\s*:", re.MULTILINE)
LINE = re.compile(r"^\s*(Score|Druggability Score|Volume)\s*:\s*(\S+)", re.MULTILINE)


def read_found(path: Path) -> list[FoundCavity]:
    """Cavities by rank, from P2Rank's *_predictions.csv or fpocket's *_info.txt or *_out folder.

    fpocket's centres are the means of the alpha spheres in pockets/pocketN_vert.pqr beside it, or,
    where these are missing, of the atoms in pockets/pocketN_atm.pdb. Raises InputError that names
    the file.
    """
    if path.is_dir():
        infos = sorted(path.glob("*_info.txt"))
        if len(infos) != 1:
            raise InputError(
                f"{path}: contains {len(infos)} *_info.txt files; give fpocket's folder"
            )
        path = infos[0]
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".csv"):
        found = _p2rank(path)
    elif name.endswith("_info.txt"):
        found = _fpocket(path)
    else:
        raise InputError(
            f"{path}: give P2Rank's *_predictions.csv or fpocket's *_info.txt, or its folder"
        )
    if not found:
        raise InputError(f"{path}: lists no cavities")
    for rank, count in Counter(one.rank for one in found).items():
        if count > 1:
            raise InputError(f"{path}: {count} cavities are of rank {rank}; give each its own")
    for one in found:
        if not np.isfinite(one.center).all():
            raise InputError(f"{path}: cavity {one.rank} has no centre; correct its coordinates")
    return sorted(found, key=lambda one: one.rank)


def _p2rank(path: Path) -> list[FoundCavity]:
    lines = read_text(path).splitlines()
    rows = [
        {str(key).strip(): str(value).strip() for key, value in row.items()}
        for row in csv.DictReader(lines)
    ]
    try:
        return [
            FoundCavity(
                int(row["rank"]),
                (float(row["center_x"]), float(row["center_y"]), float(row["center_z"])),
                float(row["score"]),
                f"probability {row['probability']}" if "probability" in row else "",
            )
            for row in rows
        ]
    except (KeyError, ValueError) as error:
        raise InputError(
            f"{path}: not P2Rank's predictions ({error}); its columns are name, rank, score, "
            "probability, ..., center_x, center_y, center_z"
        ) from error


def _fpocket(path: Path) -> list[FoundCavity]:
    text = read_text(path)
    parts = POCKET.split(text)[1:]
    found = []
    for number, body in zip(parts[::2], parts[1::2], strict=True):
        values = dict(LINE.findall(body))
        words = [
            f"{name.lower()} {values[name]}"
            for name in ("Druggability Score", "Volume")
            if name in values
        ]
        try:
            score = float(values["Score"])
        except (KeyError, ValueError) as error:
            raise InputError(f"{path}: pocket {number} has no score; is it fpocket's?") from error
        center = _fpocket_center(path.parent / "pockets", int(number))
        found.append(FoundCavity(int(number), center, score, ", ".join(words)))
    return found


def _fpocket_center(folder: Path, number: int) -> tuple[float, float, float]:
    """Mean (3,) of a pocket's alpha spheres, or of the atoms around it, Angstrom."""
    for name in (f"pocket{number}_vert.pqr", f"pocket{number}_atm.pdb"):
        path = folder / name
        if not path.is_file():
            continue
        xyz = _positions(path)
        if len(xyz):
            x, y, z = xyz.mean(axis=0).tolist()
            return x, y, z
    raise InputError(
        f"{folder}: has neither pocket{number}_vert.pqr nor pocket{number}_atm.pdb with atoms; "
        "keep fpocket's folder together"
    )


def _positions(path: Path) -> np.ndarray:
    """Positions (atoms, 3); PQR files keep PDB's columns up to the coordinates."""
    lines = [line[:54] for line in read_text(path).splitlines()]
    kept = [line for line in lines if line.startswith(("ATOM", "HETATM"))]
    try:
        structure = gemmi.read_pdb_string("\n".join([*kept, "END", ""]))
    except (RuntimeError, ValueError) as error:
        raise InputError(f"{path}: has no readable positions ({error})") from error
    return np.array(
        [site.atom.pos.tolist() for model in structure for site in model.all()], np.float64
    ).reshape(-1, 3)
