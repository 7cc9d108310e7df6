"""Docked molecules, best first, and those that could not be docked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, overload

from ligen_py.molecules.export import one_line, posed, sdf_record
from ligen_py.molecules.given import Molecule
from ligen_py.store.files.parquet import parquet_bytes
from ligen_py.store.files.text import csv_line, harmless, write_texts
from ligen_py.summary.glossary import units
from ligen_py.summary.molecule import MOST_COLUMNS, columns, kind_of
from ligen_py.summary.table import counted, cut, readable, table
from ligen_py.target_files import Posed

SHOWN = 10
"""Hits that a printed table has."""

NARROWEST = 20
"""Characters of a row that a table has however narrow it is to be."""


@dataclass(frozen=True)
class Failure:
    """A molecule that is not among the hits, and why."""

    name: str
    status: str
    """'rejected', 'failed' or 'duplicate'."""
    reason: str
    source: str
    """Where it was given: a file and line, or its place in the list of ligands."""
    index: int | None = None
    """Its place among the ligands that were given, from 0; None for a molecule of a file."""


@dataclass(frozen=True)
class Redocking:
    """How well the reference ligand was redocked, from scratch, to where the crystal has it."""

    name: str
    score: float | None
    """None where it could not be docked."""
    rmsd: float | None
    """Best-scored pose to crystal: heavy atoms, symmetry-corrected, not aligned, Angstrom."""
    rmsd_kept: float | None
    """The kept pose nearest to the crystal's, Angstrom."""
    problem: str = ""
    _posed: Posed | None = field(default=None, repr=False, compare=False)

    @property
    def pose(self) -> Molecule | None:
        """The best-scored pose, as that of a hit; None where it could not be docked."""
        one = self._posed
        return None if one is None else posed(one.molecule, one.xyz, one.items)


@dataclass(frozen=True)
class Hit:
    """One docked molecule."""

    rank: int
    """From 1."""
    name: str
    score: float
    """Larger is better; see config/README.md, `score.rank_by`."""
    terms: dict[str, float] = field(hash=False)
    """Every term of every scoring function in the best pose: 'vina.total' and so on."""
    smiles: str
    """Canonical SMILES of the molecule."""
    state: str
    """Canonical SMILES of the protonation state, tautomer and stereoisomer that was docked best."""
    states: int
    """How many states and ring shapes were docked."""
    note: str
    """What was removed, chosen or excluded, in words."""
    others: list[str] = field(hash=False)
    """Names of its duplicates, other than its own, each once."""
    columns: dict[str, str] = field(hash=False)
    """Further columns, data items or properties of the input, as text: 00123 keeps its zeros."""
    source: str
    """Where it was given: a file and line, or its place in the list of ligands."""
    index: int | None
    """Its place among the ligands that were given, from 0; None for a molecule of a file."""
    _posed: list[Posed] = field(repr=False, compare=False)

    @property
    def pose(self) -> Molecule:
        """The best pose: an RDKit molecule with hydrogens, bond orders and all items of an SDF."""
        return self.poses[0]

    @cached_property
    def poses(self) -> list[Molecule]:
        """The best poses, lowest energy first; `dock` says how many."""
        return [posed(one.molecule, one.xyz, one.items) for one in self._posed]

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: without RDKit's molecules, which would lose their items."""
        return {name: value for name, value in vars(self).items() if name != "poses"}


class Hits(Sequence[Hit]):
    """All docked molecules, best first."""

    def __init__(
        self,
        hits: Sequence[Hit],
        failures: Sequence[Failure],
        terms: Sequence[str],
        functions: Sequence[str],
        redocking: Redocking | None,
        folder: Path | None,
    ) -> None:
        self._hits = list(hits)
        self._terms = list(terms)
        self.functions = list(functions)
        """Scoring functions that were evaluated."""
        self.failures = list(failures)
        """Molecules that could not be docked, and duplicates, each with a reason; in the order in
        which they were given."""
        self.redocking = redocking
        """The redocking of the reference ligand, where it was asked for."""
        self.folder = folder
        """Folder of all files, where one was named and something was docked."""

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        """The hit at a place, from 0, or several."""
        return self._hits[place]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    def to_sdf(self, path: str | Path) -> None:
        """Write every pose with its scores as SDF."""
        path = Path(path)
        records = (
            sdf_record(pose.molecule, pose.xyz, pose.items["name"], pose.items)
            for hit in self._hits
            for pose in hit._posed
        )
        write_texts(path.parent, {path.name: records})

    def to_csv(self, path: str | Path) -> None:
        """Write a line for each hit as CSV that no spreadsheet evaluates."""
        path, header = Path(path), self._columns()
        lines = [csv_line(map(harmless, header))]
        for row in self._rows():
            lines.append(csv_line(harmless(one_line(row.get(key, ""))) for key in header))
        write_texts(path.parent, {path.name: lines})

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of `to_csv` as Parquet."""
        path = Path(path)
        kinds = {name: kind_of(name, self._terms) for name in self._columns()}
        write_texts(path.parent, {path.name: parquet_bytes(kinds, self._rows())})

    def frame(self) -> Any:
        """A pandas data frame of the table of `to_csv`, and a column `pose` of RDKit molecules.

        Scores and properties are numbers; the input's own columns are text, of which
        `pandas.to_numeric` makes numbers. Raises ImportError where pandas is not installed.
        """
        try:
            pandas = import_module("pandas")  # of the user, where it is; nothing here needs it
        except ImportError as error:
            raise ImportError("pandas is not installed: pip install pandas") from error
        kinds = {name: kind_of(name, self._terms) for name in self._columns()}
        data = {
            name: [kind(row[name]) if name in row else None for row in self._rows()]
            for name, kind in kinds.items()
        }
        return pandas.DataFrame(data | {"pose": [hit.pose for hit in self._hits]})

    def _rows(self) -> Iterator[dict[str, str]]:
        return (hit._posed[0].items for hit in self._hits)

    def _columns(self) -> list[str]:
        # Those of the input are named apart from ours already.
        names = {name: None for hit in self._hits for name in hit.columns}
        return [*columns(self._terms, []), *list(names)[:MOST_COLUMNS]]

    def table(self, count: int = SHOWN, width: int | None = None) -> str:
        """The best hits as a table of text, with units and signs below it; empty without any hit.

        Args:
            count: most hits.
            width: most characters of a row; names are cut first. By default rows are whole.
        """
        rows = [["rank", "score", *self.functions, "states", "name"]]
        for hit in self._hits[:count]:
            totals = [f"{hit.terms[f'{name}.total']:.2f}" for name in self.functions]
            numbers = [str(hit.rank), f"{hit.score:.2f}", *totals, str(hit.states)]
            rows.append([*numbers, cut(readable(hit.name))])
        if len(rows) == 1:
            return ""
        lines = table(rows, ">" * (len(rows[0]) - 1) + "<")
        if width is not None:
            most = max(width, NARROWEST)
            lines = [line if len(line) <= most else f"{line[: most - 1]}…" for line in lines]
        lines += [f"  and {len(self) - count} more"] if len(self) > count else []
        return "\n".join([*lines, f"  {units(self.functions)}"])

    def __repr__(self) -> str:
        left = f", {counted(len(self.failures), 'failure')}" if self.failures else ""
        return "\n".join(
            filter(None, (f"<Hits: {counted(len(self), 'molecule')}{left}>", self.table()))
        )
