"""Compare formulas that rank molecules, on the terms of docked poses.

    python benchmarks/order.py OUTPUT TARGET ... [--json FILE]

OUTPUT is that of terms.py. For each formula: mean ROC AUC and mean logAUC over the targets, the
mean of both over the pockets of other ligands (cross-docking), and the difference of each to
today's score, paired, with bootstrap intervals of 95 %: over actives and decoys of each target,
over pockets. Then the same for rankings by one property alone, and the correlation of score and
rows among decoys. A molecule counts with the best of its rows, costs of states and rows included.
"""

import argparse
import io
import json
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from ligen_py.records.properties import PROPERTY_NAMES
from ligen_py.summary.early import auc, log_auc, mean_rank, ranked

DRAWS = 1000
"""Bootstrap samples behind an interval."""

ROW_COST = 0.6
"""`score.row_cost`."""

TODAY = "today: E over (1 + 0.02 torsions) heavy^0.4"

VINA = tuple(f"vina.{name}" for name in ("gauss1", "gauss2", "repulsion", "hydrophobic", "hbond"))
VINARDO = tuple(name.replace("vina", "vinardo") for name in VINA)


@dataclass(frozen=True)
class Table:
    """The poses of some molecules in one pocket, best energy first in each row (ligand)."""

    columns: dict[str, np.ndarray]

    @classmethod
    def read(cls, archive: zipfile.ZipFile, name: str) -> "Table":
        """One file of an archive."""
        with np.load(io.BytesIO(archive.read(name))) as found:
            columns = dict(found)
        terms = columns.pop("terms").tolist()
        return cls(columns | dict(zip(terms, columns.pop("values"), strict=True)))

    def __getitem__(self, name: str) -> np.ndarray:
        """A column: of molecules, of rows or of poses, as terms.py has it."""
        return self.columns[name]

    @property
    def molecules(self) -> int:
        """Records of the library."""
        return len(self["name"])

    @cached_property
    def costs(self) -> np.ndarray:
        """What a row's state, stereoisomers and conformers cost, kcal/mol (rows,)."""
        first = self["conformer"] == 0
        block = np.cumsum(first)
        rows = self["isomers"] * np.bincount(block)[block]
        return np.asarray(self["state_cost"] + ROW_COST * np.log(rows))

    @cached_property
    def counts(self) -> np.ndarray:
        """Rows of each molecule (molecules,)."""
        return np.bincount(self["entry"], minlength=self.molecules)

    def total(self, *names: str) -> np.ndarray:
        """Sum of some terms (poses,)."""
        return np.sum([self[name] for name in names], axis=0, dtype=np.float64)

    def chosen(self, energy: np.ndarray) -> np.ndarray:
        """The pose of lowest energy (poses,) of each row; -1 where there is none."""
        order = np.lexsort((np.arange(len(energy)), energy, self["owner"]))
        rows, first = np.unique(self["owner"][order], return_index=True)
        result = np.full(len(self["entry"]), -1)
        result[rows] = order[first]
        return result

    def by_molecule(self, scores: np.ndarray) -> np.ndarray:
        """The best of each molecule's rows (molecules,); -inf without one."""
        result = np.full(self.molecules, -np.inf)
        np.fmax.at(result, self["entry"], np.where(np.isfinite(scores), scores, -np.inf))
        return result


Formula = Callable[[Table], np.ndarray]
"""Scores (molecules,) of a table, larger is better."""

Energy = Callable[[Table], np.ndarray]
"""kcal/mol (poses,)."""


def vina(table: Table) -> np.ndarray:
    """Vina's energy with the ligand's own, over which poses of a ligand are compared."""
    return table.total(*VINA, "vina.intra")


def choice(table: Table) -> np.ndarray:
    """The energy that chooses a pose: Vina's and half of AutoDock4's."""
    return vina(table) + 0.5 * table["ad4.affinity"]


def without_intra(table: Table) -> np.ndarray:
    """That energy without what the ligand's atoms do to each other."""
    return choice(table) - table["vina.intra"]


def over_free(table: Table) -> np.ndarray:
    """That energy over the lowest internal energy of the row's kept poses, bound or not."""
    return choice(table) - table["lowest_intra"][table["owner"]]


def torsions_once(table: Table) -> np.ndarray:
    """That energy without AutoDock4's term for torsions, which the divisor counts too."""
    return choice(table) - 0.5 * table["ad4.torsional"]


def torsions_once_without_intra(table: Table) -> np.ndarray:
    """Both."""
    return torsions_once(table) - table["vina.intra"]


def vinardo(table: Table) -> np.ndarray:
    """Vinardo's energy with the ligand's own."""
    return table.total(*VINARDO, "vinardo.intra")


def vinardo_and_ad4(table: Table) -> np.ndarray:
    """Vinardo's in place of Vina's."""
    return vinardo(table) + 0.5 * table["ad4.affinity"]


def all_three(table: Table) -> np.ndarray:
    """Half of Vina's and of Vinardo's, and half of AutoDock4's."""
    return 0.5 * vina(table) + 0.5 * vinardo(table) + 0.5 * table["ad4.affinity"]


def merit(energy: Energy, torsions: float = 0.02, power: float = 0.4) -> Formula:
    """Minus an energy over (1 + torsions * rotatable bonds) * heavy atoms^power.

    The pose is the one of `choice`; an energy above 0 is not divided.
    """

    def formula(table: Table) -> np.ndarray:
        rows = table.chosen(choice(table))
        found = energy(table)[rows] + table.costs
        scale = (1 + torsions * table["torsions"]) * table["atoms"].astype(float) ** power
        return table.by_molecule(
            np.where(rows < 0, -np.inf, np.where(found < 0, -found / scale, -found))
        )

    return formula


def total(function: str) -> Formula:
    """A function's own score of the pose, by the best of a molecule's rows."""

    def formula(table: Table) -> np.ndarray:
        rows = table.chosen(choice(table))
        return table.by_molecule(np.where(rows < 0, -np.inf, table[f"{function}.total"][rows]))

    return formula


def as_vina(table: Table) -> np.ndarray:
    """Vina's ranking: the affinity of the pose that its own energy chooses, without costs."""
    rows = table.chosen(vina(table))
    return table.by_molecule(np.where(rows < 0, -np.inf, table["vina.total"][rows]))


def one_row(table: Table) -> np.ndarray:
    """Today's score of each molecule's first row, its dominant state in one conformer."""
    rows = table.chosen(choice(table))
    found = choice(table)[rows]
    scale = (1 + 0.02 * table["torsions"]) * table["atoms"].astype(float) ** 0.4
    scores = np.where(rows < 0, -np.inf, np.where(found < 0, -found / scale, -found))
    _, first = np.unique(table["entry"], return_index=True)
    only = np.full(len(scores), -np.inf)
    only[first] = scores[first]
    return table.by_molecule(only)


def ranks(*formulas: Formula) -> Formula:
    """The mean of the ranks by some formulas."""
    return lambda table: mean_rank([formula(table) for formula in formulas])


def of_property(name: str) -> Formula:
    """A property of the molecule alone."""
    return lambda table: np.nan_to_num(table[name].astype(float), nan=-np.inf)


def of_rows(table: Table) -> np.ndarray:
    """The number of rows of a molecule."""
    return table.counts.astype(float)


TODAYS = merit(choice)

FORMULAS: dict[str, Formula] = {
    TODAY: TODAYS,
    "without the ligand's own energy": merit(without_intra),
    "minus the free ligand's energy": merit(over_free),
    "AutoDock4's torsional term left out": merit(torsions_once),
    "no divisor for torsions": merit(choice, 0.0),
    "no divisor for torsions, heavy^0.5": merit(choice, 0.0, 0.5),
    "both left out": merit(torsions_once_without_intra),
    "divisor 0.0585, heavy^0.3": merit(choice, 0.0585, 0.3),
    "heavy^0.2": merit(choice, 0.02, 0.2),
    "heavy^0.3": merit(choice, 0.02, 0.3),
    "heavy^0.5": merit(choice, 0.02, 0.5),
    "E alone": merit(choice, 0.0, 0.0),
    "Vina's energy": merit(vina),
    "Vinardo's energy": merit(vinardo),
    "Vinardo's and half AutoDock4's": merit(vinardo_and_ad4),
    "Vina's, Vinardo's, AutoDock4's, half each": merit(all_three),
    "Vina's ranking": as_vina,
    "vina": total("vina"),
    "ad4": total("ad4"),
    "xscore": total("xscore"),
    "vinardo": total("vinardo"),
    "ranks: vina, ad4, xscore": ranks(total("vina"), total("ad4"), total("xscore")),
    "ranks: today, vina": ranks(TODAYS, total("vina")),
    "ranks: today, vinardo": ranks(TODAYS, total("vinardo")),
    "ranks: today, Vinardo's energy": ranks(TODAYS, merit(vinardo)),
    "ranks: today, xscore": ranks(TODAYS, total("xscore")),
    "ranks: today, vina, vinardo": ranks(TODAYS, total("vina"), total("vinardo")),
    "one row a molecule": one_row,
}

NULLS: dict[str, Formula] = {
    "rows": of_rows,
    **{name: of_property(name) for name in PROPERTY_NAMES},
}


def joined(tables: list[Table]) -> Table:
    """Tables of different molecules in one pocket as one."""
    molecules = np.cumsum([0, *(table.molecules for table in tables)])
    rows = np.cumsum([0, *(len(table["entry"]) for table in tables)])
    offset = {"entry": molecules, "owner": rows}
    return Table(
        {
            name: np.concatenate(
                [
                    table[name] + (offset[name][i] if name in offset else 0)
                    if name in offset
                    else table[name]
                    for i, table in enumerate(tables)
                ]
            )
            for name in tables[0].columns
        }
    )


@dataclass(frozen=True)
class Screen:
    """A target's molecules."""

    name: str
    table: Table
    labels: np.ndarray

    @classmethod
    def of(cls, archive: zipfile.ZipFile, target: str, suffix: str = "") -> "Screen":
        """Actives and decoys of a target."""
        tables, labels = [], []
        for group in ("actives", "decoys"):
            for name in sorted(archive.namelist()):
                if name.startswith(f"{target}/{group}{suffix}-"):
                    tables.append(Table.read(archive, name))
                    labels.append(np.full(tables[-1].molecules, group == "actives"))
        return cls(target, joined(tables), np.concatenate(labels))


def both(scores: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """ROC AUC and logAUC (..., 2); equal scores in any order."""
    order = ranked(scores, np.broadcast_to(labels, scores.shape), rng)
    return np.stack([auc(order), log_auc(order)], axis=-1)


def of_screen(screen: Screen, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two figures (2,), and those of bootstrap samples (DRAWS, 2), the same for all scores."""
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(screen.labels == kind), (DRAWS, (screen.labels == kind).sum()))
            for kind in (True, False)
        ],
        axis=1,
    )
    many = np.broadcast_to(scores, (20, len(scores)))
    return (
        both(many, screen.labels, rng).mean(axis=0),
        both(scores[rows], screen.labels[rows], rng),
    )


def own_columns(names: list[str], table: Table) -> np.ndarray:
    """The record of each pocket's own ligand."""
    known = table["name"].tolist()
    return np.array([known.index(name) for name in names])


def of_cross(matrix: np.ndarray, own: np.ndarray) -> np.ndarray:
    """ROC AUC and logAUC with which each pocket's own ligand ranks (pockets, 2)."""
    labels = np.arange(matrix.shape[1]) == own[:, None]
    rng = np.random.default_rng(0)
    return np.mean(
        [
            np.stack([auc(order), log_auc(order)], axis=-1)
            for order in (ranked(matrix, labels, rng) for _ in range(5))
        ],
        axis=0,
    )


def cell(value: float, draws: np.ndarray) -> str:
    """A figure and its interval."""
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{value:+.3f} ({low:+.3f} to {high:+.3f})"


def main() -> int:
    """Print the tables."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("output", help="beginning of the names of the files")
    arguments.add_argument("targets", nargs="+", metavar="TARGET")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    archive = zipfile.ZipFile(f"{options.output}.screens.zip")
    screens = [Screen.of(archive, name) for name in options.targets]
    cross = zipfile.ZipFile(f"{options.output}.cross.zip")
    files = sorted(cross.namelist())
    pockets = {name.partition("/")[0]: Table.read(cross, name) for name in files}
    own = own_columns(list(pockets), next(iter(pockets.values())))
    print(f"{', '.join(options.targets)}; {len(pockets)} pockets of other ligands")
    draw = np.random.default_rng(1).integers(len(own), size=(DRAWS, len(own)))
    document = {}
    base: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    for name, formula in (FORMULAS | NULLS).items():
        single = [of_screen(screen, formula(screen.table)) for screen in screens]
        values = np.mean([value for value, _ in single], axis=0)
        samples = np.mean([drawn for _, drawn in single], axis=0)
        area = of_cross(np.stack([formula(table) for table in pockets.values()]), own)
        base = base or (values, samples, area)
        each = " ".join(f"{value[0]:.3f}/{value[1]:.3f}" for value, _ in single)
        means = f"{values[0]:.3f} {values[1]:.3f} | {area[:, 0].mean():.3f} {area[:, 1].mean():.3f}"
        gains = [cell(values[i] - base[0][i], (samples - base[1])[:, i]) for i in (0, 1)]
        gains += [
            cell((area - base[2])[:, i].mean(), (area - base[2])[draw, i].mean(axis=1))
            for i in (0, 1)
        ]
        print(f"{name:42} {each} | {means} | {' '.join(gains)}", flush=True)
        document[name] = {"targets": each, "means": means, "gains": gains}
    for screen in screens:
        scores = TODAYS(screen.table)
        kept = ~screen.labels & np.isfinite(scores)
        r = np.corrcoef(scores[kept], screen.table.counts[kept])[0, 1]
        rows = [screen.table.counts[screen.labels == kind].mean() for kind in (True, False)]
        print(f"{screen.name}: rows {rows[0]:.2f} and {rows[1]:.2f}, r {r:.3f}")
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
