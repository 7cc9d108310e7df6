"""AutoDock's docking log (.dlg): what Meeko, Ringtail and AutoDockTools read of a docking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ligen_py.molecules.clusters import Member
from ligen_py.molecules.pdbqt_input import PdbqtLigand

LINE = "_" * 80

OF_A_POSE = (
    "MODEL", "ENDMDL", "USER", "REMARK RUN:", "REMARK VINA RESULT:", "REMARK INTER:",
    "REMARK INTRA:", "REMARK INTER + INTRA:", "REMARK UNBOUND:",
)  # fmt: skip
"""Starts of lines that say something of the pose that a ligand's file contains. Where they stayed,
Meeko would take its energies for those of the poses that are found."""


def _posed(ligand: PdbqtLigand, run: "DockedRun") -> Iterator[tuple[int, str]]:
    """Number and text of each line of a pose that stands between MODEL and ENDMDL.

    Without END, with which a file may end: programs would read no model behind it.
    """
    for number, line in enumerate(ligand.moved(run.xyz)):
        if not line.startswith(OF_A_POSE) and line.strip() != "END":
            yield number, line


@dataclass(frozen=True)
class DockedRun:
    """The pose of one run, energies in kcal/mol."""

    xyz: np.ndarray
    """(atoms, 3), Angstrom, in the order of the ligand's record."""
    vdw: np.ndarray
    """Of each atom: van der Waals, hydrogen bonds and desolvation."""
    electrostatic: np.ndarray
    """Of each atom."""
    internal: float
    torsional: float
    evaluations: int
    generations: int

    @property
    def intermolecular(self) -> float:
        """Of all atoms in the receptor."""
        return float(self.vdw.sum() + self.electrostatic.sum())

    @property
    def binding(self) -> float:
        """AutoDock's estimate of the free energy of binding."""
        return self.intermolecular + self.torsional


def dlg(
    ligand: PdbqtLigand,
    runs: Sequence[DockedRun],
    groups: Sequence[Sequence[Member]],
    reference: Sequence[float],
    grid: tuple[str, tuple[int, int, int], float, np.ndarray],
    parameters: Mapping[str, object],
) -> str:
    """A docking log.

    Args:
        ligand: as it was given.
        runs: in the order of their numbers.
        groups: clusters, the best first.
        reference: RMSD of each run from the given pose, Angstrom.
        grid: name of the receptor, points along each axis, spacing and centre, Angstrom.
        parameters: of the search, in words.
    """
    receptor, points, spacing, center = grid
    sizes = [spacing * (count - 1) for count in points]
    lines = [
        "AutoDock-GPU compatible docking log of ligen_py", "",
        "    DOCKING PARAMETERS", "    ________________________", "",
        f"Ligand file:                               {shown(ligand.path)}",
        *(f"{name + ':':<43}{value}" for name, value in parameters.items()), "",
        "    GRID PARAMETERS", "    ________________________", "",
        f"Receptor name:                             {receptor}",
        f"Number of grid points (x, y, z):           {', '.join(map(str, points))}",
        f"Grid size (x, y, z):                       {', '.join(f'{v:f}' for v in sizes)}A",
        f"Grid center (x, y, z):                     {', '.join(f'{v:f}' for v in center)}",
        f"Grid spacing:                              {spacing:f}A", "",
        "    LIGAND PARAMETERS", "    ________________________", "",
        f"Ligand name:                               {shown(ligand.name)}",
        f"Number of atoms:                           {len(ligand.order)}",
        f"Number of rotatable bonds:                 {len(ligand.ligands.torsion_axis)}", "",
        "    INPUT LIGAND PDBQT FILE:", "    ________________________", "",
        *(f"INPUT-LIGAND-PDBQT: {line}" for line in ligand.lines), "",
    ]  # fmt: skip
    for number, run in enumerate(runs, start=1):
        lines += ["", "    FINAL DOCKED STATE:", "    ________________________", ""]
        lines += [f"Run:   {number} / {len(runs)}", ""]
        lines += [f"DOCKED: {line}" for line in _model(ligand, number, run)]
        lines += [LINE, ""]
    return "\n".join([*lines, *_histogram(runs, groups), *_ranking(runs, groups, reference)]) + "\n"


def shown(name: Path | str) -> str:
    """The name of a file, which may be in any encoding, as text that can be written in a line."""
    return " ".join(str(name).encode(errors="replace").decode().splitlines())


def poses_pdbqt(ligand: PdbqtLigand, runs: Sequence[DockedRun]) -> str:
    """All poses as models of one PDBQT file, the lowest energy of binding first."""
    order = np.argsort([run.binding for run in runs], kind="stable").tolist()
    models = []
    for rank, number in enumerate(order, start=1):
        run = runs[number]
        models += [
            f"MODEL {rank}",
            f"REMARK VINA RESULT: {run.binding:9.3f}      0.000      0.000",
            f"REMARK INTER: {run.intermolecular:11.3f}",
            f"REMARK INTRA: {run.internal:11.3f}",
            f"REMARK RUN: {number + 1}",
            *(line for _, line in _posed(ligand, run)),
            "ENDMDL",
        ]
    return "\n".join(models) + "\n"


def energy_lines(run: DockedRun) -> list[str]:
    """The energies of a pose as AutoDock-GPU lists them."""
    rows = (
        ("(1) Final Intermolecular Energy    ", run.intermolecular, ".2f"),
        ("    vdW + Hbond + desolv Energy    ", float(run.vdw.sum()), ".2f"),
        ("    Electrostatic Energy           ", float(run.electrostatic.sum()), ".2f"),
        ("    Moving Ligand-Fixed Receptor   ", run.intermolecular, ".2f"),
        ("    Moving Ligand-Moving Receptor  ", 0.0, "+.2f"),
        ("(2) Final Total Internal Energy    ", run.internal, ".2f"),
        ("(3) Torsional Free Energy          ", run.torsional, "+.2f"),
        ("(4) Unbound System's Energy        ", run.internal, ".2f"),
    )
    total = f"Estimated Free Energy of Binding    = {run.binding:6.2f} kcal/mol"
    return [
        f"{total}  [=(1)+(2)+(3)-(4)]",
        *(f"{words} = {format(value + 0.0, form):>6} kcal/mol" for words, value, form in rows),
    ]


def _model(ligand: PdbqtLigand, number: int, run: DockedRun) -> list[str]:
    total, *terms = energy_lines(run)
    lines = [
        f"MODEL     {number:4d}", f"USER    Run = {number}", "USER",
        f"USER    {total}", "USER", *(f"USER    {line}" for line in terms), "USER",
        f"USER    Number of energy evaluations: {run.evaluations}",
        f"USER    Number of generations: {run.generations}", "USER",
        "USER                              x       y       z     vdW  Elec       q    Type",
        "USER                           _______ _______ _______ _____ _____    ______ ____",
    ]  # fmt: skip
    place = {line: row for row, line in enumerate(ligand.atom_lines)}
    new = np.argsort(ligand.order)
    for at, line in _posed(ligand, run):
        if at in place:
            row = new[place[at]]
            vdw, elec = (np.clip(v[row], -99.99, 99.99) for v in (run.vdw, run.electrostatic))
            line = f"{line[:54]}{vdw:+6.2f}{elec:+6.2f}{line[66:]}"
        if not line.startswith("TER"):
            lines.append(line)
    return [*lines, "TER", "ENDMDL"]


def _histogram(runs: Sequence[DockedRun], groups: Sequence[Sequence[Member]]) -> list[str]:
    rule = "_____|___________|_____|___________|_____|"
    rows = []
    for rank, group in enumerate(groups, start=1):
        energies = [runs[member.pose].binding for member in group]
        rows.append(
            f"{rank:4d} |{energies[0]:10.2f} |{group[0].pose + 1:4d} |{np.mean(energies):10.2f} |"
            f"{len(group):4d} |{'#' * len(group)}"
        )
    return [
        "", "    CLUSTERING HISTOGRAM", "    ____________________", "", LINE,
        "     |           |     |           |     |",
        "Clus | Lowest    | Run | Mean      | Num | Histogram",
        "-ter | Binding   |     | Binding   | in  |",
        "Rank | Energy    |     | Energy    | Clus|    5    10   15   20   25   30   35",
        f"{rule}____:____|____:____|____:____|____:___", *rows, rule + "_" * 38, "",
    ]  # fmt: skip


def _ranking(
    runs: Sequence[DockedRun], groups: Sequence[Sequence[Member]], reference: Sequence[float]
) -> list[str]:
    rows = [
        f"{rank:4d}   {place:4d}   {member.pose + 1:4d}  {runs[member.pose].binding:10.2f}"
        f"{member.rmsd:10.2f}{reference[member.pose]:10.2f}           RANKING"
        for rank, group in enumerate(groups, start=1)
        for place, member in enumerate(group, start=1)
    ]
    return [
        "", "    RMSD TABLE", "    __________", "", LINE[:69],
        "     |      |      |           |         |                 |",
        "Rank | Sub- | Run  | Binding   | Cluster | Reference       | Grep",
        "     | Rank |      | Energy    | RMSD    | RMSD            | Pattern",
        "_____|______|______|___________|_________|_________________|___________",
        *rows,
    ]  # fmt: skip
