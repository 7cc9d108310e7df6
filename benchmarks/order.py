"""Compare formulas that rank molecules, on the terms of docked poses.

    python benchmarks/order.py OUTPUT TARGET ... [--json FILE]

OUTPUT is that of terms.py. For each formula: ROC AUC and logAUC of each target, their means over
the targets, the means of both over the pockets of other ligands (cross-docking), and the difference
of each mean to the first formula, paired, with bootstrap intervals of 95 %: over actives and decoys
of each target, over pockets. Then the correlation of score and number of rows among the decoys of
each target. The same for rankings by one property alone. A molecule counts with the best of its
rows, costs of states and rows included. Without OUTPUT.cross.zip the targets stand alone. With what
networks say of the poses (terms.py --networks) the first formula is the score, and those follow in
which networks choose poses and rank.

With --halves instead: how much is won by choosing? Of all energies, divisors and powers the formula
with the largest sum of the four means on a random half of actives, decoys and pockets is measured
on the other half, 200 times. With --references: cross-docking by scores less a share of the
molecule's mean in other pockets.
"""

import argparse
import io
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.figures import save, writable
from benchmarks.leaving import in_words
from ligen_py.errors import InputError
from ligen_py.records.properties import PROPERTY_NAMES
from ligen_py.summary.early import auc, log_auc, mean_rank, ranked, resampled

DRAWS = 1000
"""Bootstrap samples behind an interval."""

ROW_COST = 0.6
"""`score.row_cost` of the formulas that name no other."""

STRAIN_COST = 0.5
"""`score.strain_cost` of all formulas."""

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

    def costs(self, row_cost: float) -> np.ndarray:
        """What a row's state, strain, stereoisomers and conformers cost, kcal/mol (rows,)."""
        first = self["conformer"] == 0
        block = np.cumsum(first)
        unknown = np.bincount(block, self["strain"]) == 0
        rows = self["isomers"] * np.where(unknown, np.bincount(block), 1)[block]
        cost = self["state_cost"] + STRAIN_COST * self["strain"]
        return np.asarray(cost + row_cost * np.log(rows))

    @cached_property
    def counts(self) -> np.ndarray:
        """Rows of each molecule (molecules,)."""
        return np.bincount(self["entry"], minlength=self.molecules)

    def total(self, *names: str) -> np.ndarray:
        """Sum of some terms (poses,)."""
        return np.asarray(np.sum([self[name] for name in names], axis=0, dtype=np.float64))

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


def between(table: Table) -> np.ndarray:
    """That without the ligand's own energy: Vina's and half of AutoDock4's with the receptor."""
    return torsions_once(table) - table["vina.intra"]


def gained(table: Table) -> np.ndarray:
    """That over the lowest internal energy of the row's kept poses: what the score divides."""
    return over_free(table) - 0.5 * table["ad4.torsional"]


def vinardo(table: Table) -> np.ndarray:
    """Vinardo's energy with the ligand's own."""
    return table.total(*VINARDO, "vinardo.intra")


def vinardo_and_ad4(table: Table) -> np.ndarray:
    """Vinardo's in place of Vina's."""
    return vinardo(table) + 0.5 * table["ad4.affinity"]


def all_three(table: Table) -> np.ndarray:
    """Half of Vina's and of Vinardo's, and half of AutoDock4's."""
    return 0.5 * vina(table) + 0.5 * vinardo(table) + 0.5 * table["ad4.affinity"]


def merit(
    energy: Energy,
    torsions: float = 0.02,
    power: float = 0.4,
    row_cost: float = ROW_COST,
    first_row: bool = False,
    chosen_by: Energy = choice,
    said: Energy | None = None,
) -> Formula:
    """Minus an energy over (1 + torsions * rotatable bonds) * heavy atoms^power.

    The pose is that of the lowest `chosen_by`; an energy above 0 is not divided. With `first_row`
    only the first of a molecule's rows counts: its dominant state in one conformer. What is `said`
    of the pose is added as it is.
    """

    def formula(table: Table) -> np.ndarray:
        rows = table.chosen(chosen_by(table))
        found = energy(table)[rows] + table.costs(row_cost)
        scale = (1 + torsions * table["torsions"]) * table["atoms"].astype(float) ** power
        scores = np.where(found < 0, -found / scale, -found)
        scores = np.where(rows < 0, -np.inf, scores + (said(table)[rows] if said else 0.0))
        if first_row:
            _, first = np.unique(table["entry"], return_index=True)
            scores[np.setdiff1d(np.arange(len(scores)), first)] = -np.inf
        return table.by_molecule(scores)

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


def with_networks(weight: float) -> Energy:
    """The energy by which networks help to choose a pose."""
    return lambda table: choice(table) - weight * table["gnina.logit"].astype(float)


def heard(term: str, share: float, weight: float = 2.0, first_row: bool = False) -> Formula:
    """The score of the pose that networks help to choose, and a share of what they say of it."""
    return merit(
        gained,
        power=0.5,
        row_cost=0.0 if first_row else 0.4,
        first_row=first_row,
        chosen_by=with_networks(weight),
        said=lambda table: share * table[f"gnina.{term}"],
    )


def by_networks(term: str) -> Formula:
    """What networks say of the pose that they help to choose, alone."""

    def formula(table: Table) -> np.ndarray:
        rows = table.chosen(with_networks(2.0)(table))
        return table.by_molecule(np.where(rows < 0, -np.inf, table[f"gnina.{term}"][rows]))

    return formula


def ranks(*formulas: Formula) -> Formula:
    """The mean of the ranks by some formulas."""
    return lambda table: mean_rank([formula(table) for formula in formulas])


def of_property(name: str) -> Formula:
    """A property of the molecule alone."""
    return lambda table: np.nan_to_num(table[name].astype(float), nan=-np.inf)


def of_rows(table: Table) -> np.ndarray:
    """The number of rows of a molecule."""
    return table.counts.astype(float)


BEFORE = merit(choice)

FORMULAS: dict[str, Formula] = {
    "before: E over (1 + 0.02 t) h^0.4": BEFORE,
    "without the ligand's own energy": merit(without_intra),
    "over the free ligand's": merit(over_free),
    "without AutoDock4's torsions": merit(torsions_once),
    "without both": merit(between),
    "over the free ligand's, without torsions": merit(gained),
    "no divisor for torsions": merit(choice, 0.0),
    "divisor 0.0585, h^0.3": merit(choice, 0.0585, 0.3),
    "h^0.3": merit(choice, 0.02, 0.3),
    "h^0.5": merit(choice, 0.02, 0.5),
    "h^0.6": merit(choice, 0.02, 0.6),
    "without AutoDock4's torsions, h^0.5": merit(torsions_once, 0.02, 0.5),
    "without both, h^0.5": merit(between, 0.02, 0.5),
    "over the free ligand's, h^0.5": merit(over_free, 0.02, 0.5),
    "over free, without torsions, h^0.5": merit(gained, 0.02, 0.5),
    "the same, row cost 0.2": merit(gained, 0.02, 0.5, 0.2),
    "now: the same, row cost 0.4": merit(gained, 0.02, 0.5, 0.4),
    "the same, one row a molecule": merit(gained, 0.02, 0.5, 0.0, first_row=True),
    "before, one row a molecule": merit(choice, row_cost=0.0, first_row=True),
    "E alone": merit(choice, 0.0, 0.0),
    "Vina's energy": merit(vina),
    "Vinardo's energy": merit(vinardo),
    "Vinardo's and half AutoDock4's": merit(vinardo_and_ad4),
    "half Vina's, Vinardo's, AutoDock4's": merit(all_three),
    "as Vina ranks": as_vina,
    "vina": total("vina"),
    "vinardo": total("vinardo"),
    "ad4": total("ad4"),
    "xscore": total("xscore"),
    "ranks: vina, ad4, xscore": ranks(total("vina"), total("ad4"), total("xscore")),
    "ranks: before, vina": ranks(BEFORE, total("vina")),
    "ranks: before, vinardo": ranks(BEFORE, total("vinardo")),
    "ranks: before, Vinardo's energy": ranks(BEFORE, merit(vinardo)),
    "ranks: before, xscore": ranks(BEFORE, total("xscore")),
}
"""`t` is the number of rotatable bonds, `h` that of heavy atoms."""

SHARES: dict[str, tuple[float, ...]] = {
    "logit": (0.05, 0.1, 0.2, 0.3, 0.5),
    "pose": (0.5, 1.0, 2.0, 3.0),
    "affinity": (0.1, 0.2, 0.4),
    "total": (0.05, 0.1, 0.2, 0.3, 0.5, 1.0),
}
"""Of each term of the networks, what a unit adds to the score."""

NOW = FORMULAS["now: the same, row cost 0.4"]

NETWORKS: dict[str, Formula] = {
    "the score": NOW,
    "its pose chosen by networks, too": heard("logit", 0.0),
    **{
        f"and {share:g} {term}": heard(term, share)
        for term, shares in SHARES.items()
        for share in shares
    },
    "and 0.3 logit, pose by energies": heard("logit", 0.3, weight=0.0),
    "and 0.3 logit, one row": heard("logit", 0.3, first_row=True),
    "ranks: score, total": ranks(NOW, by_networks("total")),
    **{f"{term} alone": by_networks(term) for term in SHARES if term != "logit"},
}
"""Formulas with what gnina's networks say of the poses: logit, its probability (`pose`), affinity,
and the product of these two (`total`)."""

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
                    table[name] + offset[name][i] if name in offset else table[name]
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
        if len({bool(label[0]) for label in labels if len(label)}) < 2:
            known = sorted({name.partition("/")[0] for name in archive.namelist()})
            raise InputError(
                f"{archive.filename}: has no actives and decoys of {target}; it has "
                f"{', '.join(known) or 'nothing'}"
            )
        return cls(target, joined(tables), np.concatenate(labels))


def both(scores: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """ROC AUC and logAUC (..., 2); equal scores in any order."""
    order = ranked(scores, np.broadcast_to(labels, scores.shape), rng)
    return np.stack([auc(order), log_auc(order)], axis=-1)


def of_screen(screen: Screen, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two figures (2,), and those of bootstrap samples (DRAWS, 2), the same for all scores."""
    rng = np.random.default_rng(0)
    rows = resampled(screen.labels, DRAWS, rng)
    many = np.broadcast_to(scores, (20, len(scores)))
    return (
        both(many, screen.labels, rng).mean(axis=0),
        both(scores[rows], screen.labels[rows], rng),
    )


def own_columns(names: list[str], table: Table) -> np.ndarray:
    """The record of each pocket's own ligand."""
    known = table["name"].tolist()
    return np.array([known.index(name) for name in names])


def without_pocket(pockets: dict[str, Table]) -> list[str]:
    """The complexes whose ligands were docked, but into whose pockets nothing could be."""
    ligands = {str(name) for table in pockets.values() for name in table["name"]}
    return sorted(ligands - set(pockets))


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


@dataclass(frozen=True)
class Measured:
    """Figures of one formula; the last axis is ROC AUC and logAUC."""

    targets: np.ndarray
    """(targets, 2)."""
    drawn: np.ndarray
    """Means over the targets of bootstrap samples (DRAWS, 2)."""
    pockets: np.ndarray
    """(pockets, 2)."""
    rows: list[float]
    """Correlation of score and rows among decoys, by target."""

    @classmethod
    def of(cls, screens: list[Screen], pockets: dict[str, Table], formula: Formula) -> "Measured":
        """Rank everything by a formula."""
        scores = [formula(screen.table) for screen in screens]
        single = [of_screen(*pair) for pair in zip(screens, scores, strict=True)]
        area = np.zeros((0, 2))
        if pockets:
            own = own_columns(list(pockets), next(iter(pockets.values())))
            area = of_cross(np.stack([formula(table) for table in pockets.values()]), own)
        correlations = []
        for screen, values in zip(screens, scores, strict=True):
            kept = ~screen.labels & np.isfinite(values)
            varied = np.ptp(values[kept]) > 0
            r = np.corrcoef(values[kept], screen.table.counts[kept])[0, 1] if varied else 0.0
            correlations.append(float(r))
        targets = np.stack([value for value, _ in single])
        return cls(targets, np.mean([drawn for _, drawn in single], axis=0), area, correlations)

    def gains(self, other: "Measured") -> list[tuple[float, float, float]]:
        """Differences to another formula with intervals: of targets, then of pockets."""
        values = list((self.targets - other.targets).mean(axis=0))
        samples = list((self.drawn - other.drawn).T)
        if len(self.pockets):
            drawn = np.random.default_rng(1).integers(
                len(self.pockets), size=(DRAWS, len(self.pockets))
            )
            more = self.pockets - other.pockets
            values += list(more.mean(axis=0))
            samples += list(more[drawn].mean(axis=1).T)
        return [
            (float(value), float(low), float(high))
            for value, sample in zip(values, samples, strict=True)
            for low, high in [np.percentile(sample, [2.5, 97.5])]
        ]

    def document(self, first: "Measured") -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            "targets": self.targets.round(4).tolist(),
            "mean": self.targets.mean(axis=0).round(4).tolist(),
            "pockets": self.pockets.mean(axis=0).round(4).tolist() if len(self.pockets) else None,
            "gains": np.round(self.gains(first), 4).tolist(),
            "rows": np.round(self.rows, 4).tolist(),
        }

    def line(self, name: str, first: "Measured") -> str:
        """All figures as a line."""
        parts = [" ".join(f"{area:.3f}/{early:.3f}" for area, early in self.targets)]
        parts.append("/".join(f"{value:.3f}" for value in self.targets.mean(axis=0)))
        if len(self.pockets):
            parts.append("/".join(f"{value:.3f}" for value in self.pockets.mean(axis=0)))
        parts.append(
            " ".join(f"{v:+.3f} ({low:+.3f} to {high:+.3f})" for v, low, high in self.gains(first))
        )
        parts.append("r " + " ".join(f"{r:.2f}" for r in self.rows))
        return f"{name:41} {' | '.join(parts)}"


ENERGIES: dict[str, Energy] = {
    "E": choice,
    "without the ligand's own": without_intra,
    "over the free ligand's": over_free,
    "without torsions": torsions_once,
    "without both": between,
    "over the free ligand's, without torsions": gained,
}


def print_halves(screens: list[Screen], pockets: dict[str, Table], divisions: int = 200) -> None:
    """What a choice among many formulas is worth where it was not made."""
    first = "E, 0.02, h^0.4"
    grid = {
        f"{name}, {t:g}, h^{power:g}": merit(energy, t, power)
        for name, energy in ENERGIES.items()
        for t in (0, 0.02, 0.04)
        for power in (0.3, 0.4, 0.5, 0.6)
    }
    if "gnina.logit" in screens[0].table.columns:
        first = "the score"
        names = [f"and {share:g} {term}" for term, shares in SHARES.items() for share in shares]
        grid = {name: NETWORKS[name] for name in (first, *names)}
    rng = np.random.default_rng(0)
    own = own_columns(list(pockets), next(iter(pockets.values())))
    scores = [np.stack([f(screen.table) for f in grid.values()]) for screen in screens]
    area = np.stack(
        [of_cross(np.stack([f(t) for t in pockets.values()]), own) for f in grid.values()]
    )
    before = list(grid).index(first)
    chosen: Counter[str] = Counter()
    gains = []
    for _ in range(divisions):
        means = np.zeros((2, len(grid), 4))
        for screen, values in zip(screens, scores, strict=True):
            is_first = half(screen.labels, rng)
            for part, rows in enumerate((is_first, ~is_first)):
                found = both(values[:, rows], screen.labels[rows], rng)
                means[part, :, :2] += found / len(screens)
        is_first = half(np.ones(len(own), bool), rng)
        for part, rows in enumerate((is_first, ~is_first)):
            means[part, :, 2:] = area[:, rows].mean(axis=1)
        best = int(np.argmax(means[0].sum(axis=1)))
        chosen[list(grid)[best]] += 1
        gains.append(means[1, best] - means[1, before])
    for name, count in chosen.most_common(6):
        print(f"{count:4} {name}")
    print("gain of the choice on the other half, targets and pockets:", np.mean(gains, axis=0))


def half(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random half of both kinds."""
    result = np.zeros(len(labels), bool)
    for kind in (True, False):
        rows = rng.permutation(np.flatnonzero(labels == kind))
        result[rows[: len(rows) // 2]] = True
    return result


def print_references(pockets: dict[str, Table]) -> None:
    """Cross-docking by scores less a share of the molecule's mean in all other pockets."""
    own = own_columns(list(pockets), next(iter(pockets.values())))
    matrix = np.stack([NOW(table) for table in pockets.values()])
    is_own = np.arange(matrix.shape[1]) == own[:, None]
    known = np.isfinite(matrix) & ~is_own
    totals, counts = np.where(known, matrix, 0).sum(axis=0), known.sum(axis=0)
    others = (totals - np.where(known, matrix, 0)) / np.maximum(counts - known, 1)
    for share in (0.0, 0.3, 0.5, 0.7, 1.0):
        print(f"{share:g}", of_cross(matrix - share * others, own).mean(axis=0).round(3))


def opened(path: Path) -> zipfile.ZipFile:
    """An archive of terms.py; InputError where it is none, or is cut short."""
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise InputError(f"{path}: is no archive of terms.py ({error})") from None


def main() -> int:
    """Print the tables."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("output", help="beginning of the names of the files")
    arguments.add_argument("targets", nargs="+", metavar="TARGET")
    arguments.add_argument("--halves", action="store_true", help="choose on a half")
    arguments.add_argument("--references", action="store_true", help="subtract other pockets")
    arguments.add_argument("--targets-alone", action="store_true", help="without cross-docking")
    arguments.add_argument("--json", type=writable, help="also write all figures here")
    options = arguments.parse_args()
    archive = opened(Path(f"{options.output}.screens.zip"))
    screens = [Screen.of(archive, name) for name in options.targets]
    pockets: dict[str, Table] = {}
    others = Path(f"{options.output}.cross.zip")
    if others.exists() and not options.targets_alone:
        cross = opened(others)
        pockets = {name.partition("/")[0]: Table.read(cross, name) for name in cross.namelist()}
    print(f"{', '.join(options.targets)}; {len(pockets)} pockets of other ligands")
    if failed := without_pocket(pockets):
        print(f"failed in terms.py and left out: {', '.join(failed)}")
    if (options.halves or options.references) and not pockets:
        arguments.error(f"--halves and --references need pockets of other ligands: {others}")
    if options.halves:
        print_halves(screens, pockets)
        return 0
    if options.references:
        print_references(pockets)
        return 0
    document = {}
    first: Measured | None = None
    has_networks = all("gnina.logit" in screen.table.columns for screen in screens)
    formulas = NETWORKS if has_networks else FORMULAS
    for name, formula in (formulas | NULLS).items():
        found = Measured.of(screens, pockets, formula)
        first = first or found
        document[name] = found.document(first)
        print(found.line(name, first), flush=True)
        save(options.json, document)
    for screen in screens:
        rows = [screen.table.counts[screen.labels == kind].mean() for kind in (True, False)]
        print(f"{screen.name}: {rows[0]:.2f} rows of an active, {rows[1]:.2f} of a decoy")
    return 0


if __name__ == "__main__":
    with in_words():
        sys.exit(main())
