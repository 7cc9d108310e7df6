"""The facts of the page that a chemist decides from: hits with their chemistry, poses, clusters."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from ligen_py.molecules.hits.analysis import Analysis, Posed, analyse
from ligen_py.molecules.hits.similarity import clusters, fingerprints, nearest, scaffold
from ligen_py.molecules.interactions.contacts import KINDS
from ligen_py.molecules.ligands.standardising import parent_smiles
from ligen_py.records.site import Site
from ligen_py.store.campaign.judged import Judgement
from ligen_py.store.campaign.layout import Pose, Reference, columns_of
from ligen_py.store.campaign.reader import CampaignReader, Every, TargetReader
from ligen_py.summary.doubts import doubts
from ligen_py.summary.facts import Target
from ligen_py.summary.glossary import SIZE_POWER, function
from ligen_py.summary.table import counted, readable

MOST_VENDOR = 12
"""Columns of the input that the list shows of a molecule."""

CRYSTAL_LIGAND = " (crystal ligand)"
"""Behind the name of the reference ligand among the known molecules."""

RESIDUES = 18
"""Columns of the table of interactions."""


@dataclass(frozen=True)
class Row:
    """A molecule in the list: a hit, or the reference ligand."""

    name: str
    rank: int
    """Of the reference ligand: the rank it would have."""
    score: float
    parent: str
    state: str
    analysis: Analysis
    terms: dict[str, float]
    library: str = ""
    states: int = 0
    others: Sequence[str] = ()
    """Its other names."""
    note: str = ""
    conformation: str = ""
    vendor: dict[str, str] = field(default_factory=dict)
    gap: float = math.nan
    runs: Sequence[tuple[float, float, int]] = ()
    """Clusters of a genetic algorithm's runs: lowest and mean energy, kcal/mol, and how many."""
    efficiency: float = math.nan
    size_rank: int = 0
    doubts: Sequence[str] = ()
    reference: bool = False
    cluster: int = -1
    nearest: tuple[str, float] = ("", 0.0)
    """The most similar known molecule, and its Tanimoto similarity."""
    judgement: Judgement | None = None
    """What networks say of it, where they judged it."""
    elsewhere: Analysis | None = None
    """The networks' pose, where energies choose another one."""


@dataclass(frozen=True)
class Cluster:
    """Hits that are alike; the first leads."""

    scaffold: str
    rows: Sequence[int]
    """Numbers of rows of the list."""


@dataclass(frozen=True)
class Matrix:
    """Hits by residues."""

    residues: Sequence[str]
    cells: Sequence[tuple[int, Sequence[str]]]
    """Number of a row, and for each residue the letters of its interactions."""
    touched: int
    """Residues that a row or the crystal ligand interacts with, shown or not."""


@dataclass(frozen=True)
class Dossier:
    """All of a target that the page shows beside `facts.Target`."""

    target: Target
    rows: Sequence[Row]
    """Hits and the reference ligand, best first."""
    crystal: Analysis | None
    """The reference ligand where the crystal has it."""
    site: Site
    clusters: Sequence[Cluster]
    matrix: Matrix
    known: Sequence[str]
    """Names of the known molecules that hits are compared with."""
    every: Every
    libraries: Sequence[str]

    @property
    def reference(self) -> Row | None:
        """The reference ligand's row."""
        return next((row for row in self.rows if row.reference), None)

    @property
    def box(self) -> str:
        """The box and what gave its centre, in words; of all conformations where they differ."""
        found = dict.fromkeys(str(words) for words in self.site.box if words)
        return readable("; ".join(words.replace(" A, ", " Å, ", 1) for words in found))

    @property
    def place(self) -> str:
        """Where the site is, in words: structure, box, chains, residues that line it."""
        labels = [str(label).split("/") for label in self.site.label[self.site.element > 1]]
        chains = sorted({label[0] for label in labels if label[0]})
        count = len({tuple(label[:3]) for label in labels})
        structure = readable(", ".join(self.site.receptor))
        where = f"chain{'s' if len(chains) > 1 else ''} {', '.join(chains)}"
        return f"{structure}; {self.box}; {where}; {counted(count, 'residue')} around the box"

    @property
    def hits(self) -> list[Row]:
        """The rows without the reference."""
        return [row for row in self.rows if not row.reference]

    @property
    def directed(self) -> list[str]:
        """Residues that a hit interacts with, other than by touching."""
        found = (_strong(row.analysis) for row in self.hits)
        return sorted(set().union(*found), key=_place)

    @property
    def shares(self) -> list[tuple[str, int, int, int]]:
        """Of each library: molecules ranked, in the best tenth, and among the hits."""
        order = np.argsort(self.every.rank)
        best = self.every.library[order[: max(1, math.ceil(len(order) / 10))]]
        hits = Counter(row.library for row in self.hits)
        return [
            (
                name,
                int((self.every.library == number).sum()),
                int((best == number).sum()),
                hits[name],
            )
            for number, name in enumerate(self.libraries)
        ]


def dossier_of(
    campaign: CampaignReader, facts: Target, count: int, known: Mapping[str, str], jobs: int
) -> Dossier:
    """The dossier of a target's `count` best molecules, computed in `jobs` processes.

    Hits are compared with `known` molecules, SMILES by name, and with the groups of the settings.
    """
    target = campaign.target(facts.name)
    site, every = target.site(), target.every()
    known = {**known, **_grouped(target, facts)}
    rows = _rows(campaign, target, facts, count, every)
    reference = target.reference()
    poses = _reference_poses(reference, site)
    posed = [Posed(p.parent, p.state, pose.molecule, pose.xyz) for p, pose in rows]
    places = [p.conformation for p, _ in rows]
    for pose in poses.values():
        posed.append(Posed(pose.smiles, pose.state, pose.molecule, pose.xyz))
        places.append(pose.conformation)
    other = [number for number, (row, _) in enumerate(rows) if _is_elsewhere(row.judgement)]
    for number in other:
        row, pose = rows[number]
        assert row.judgement is not None
        posed.append(Posed(row.parent, row.state, pose.molecule, row.judgement.xyz))
        places.append(row.conformation)
    found = iter(_analysed(posed, places, site, jobs))  # in the order of `posed`
    among = Among.of(every, facts.functions)
    hits = [
        _finished(row, analysis, facts, among)
        for (row, _), analysis in zip(rows, islice(found, len(rows)), strict=True)
    ]
    of_reference = dict(zip(poses, islice(found, len(poses)), strict=True))
    for number, analysis in zip(other, found, strict=True):
        hits[number] = replace(hits[number], elsewhere=analysis)
    if "docked" in poses and facts.control and facts.control.score is not None:
        row = _reference_row(reference, poses["docked"], facts, every)
        known = {f"{row.name}{CRYSTAL_LIGAND}": row.parent, **known}
        hits.append(_finished(row, of_reference["docked"], facts, among))
    elif "crystal" in poses:
        name = readable(reference.name[0])
        known = {f"{name}{CRYSTAL_LIGAND}": poses["crystal"].smiles, **known}
    hits = _compared(sorted(hits, key=lambda row: (-row.score, row.rank)), known)
    return Dossier(
        target=facts,
        rows=hits,
        crystal=of_reference.get("crystal"),
        site=site,
        clusters=_clusters(hits),
        matrix=matrix_of(hits, of_reference.get("crystal")),
        known=list(known),
        every=every,
        libraries=campaign.libraries,
    )


def _rows(
    campaign: CampaignReader, target: TargetReader, facts: Target, count: int, every: Every
) -> list[tuple[Row, Pose]]:
    """Rows of the best molecules as the campaign has them, and their poses."""
    best = target.best(min(count, target.stored))
    others = target.others(best.row)
    poses = target.poses(len(best.rank))
    result = []
    for i, pose in enumerate(poses):
        scored = best.scored
        vendor = list(columns_of(pose.extra).items())[:MOST_VENDOR]
        row = Row(
            name=readable(scored.name[i]),
            rank=int(best.rank[i]),
            score=float(scored.score[i]),
            parent=pose.smiles,
            state=pose.state,
            analysis=Analysis(),
            terms={name: float(values[i]) for name, values in best.terms.items()},
            library=campaign.libraries[scored.library[i]],
            states=int(scored.states[i]),
            others=[readable(name) for name in others.get(int(best.row[i]), [])],
            note=readable(scored.note[i]),
            conformation=pose.conformation,
            vendor={readable(name): readable(text) for name, text in vendor},
            gap=pose.gap,
            runs=_runs(pose.clusters),
            judgement=facts.networks.judgements.get(int(best.row[i])) if facts.networks else None,
        )
        result.append((row, pose))
    return result


def _is_elsewhere(found: Judgement | None) -> bool:
    return found is not None and not found.is_same


def _runs(clusters: str) -> list[tuple[float, float, int]]:
    """The clusters of a pose's column; ValueError where it has no list of them."""
    return [
        (float(lowest), float(mean), int(count))
        for lowest, mean, count in json.loads(clusters or "[]")
    ]


def _reference_poses(found: Reference, site: Site) -> dict[str, Pose]:
    """Poses of the reference ligand by origin.

    No file says of which conformation the crystal's is: it is looked at where the ligand docks
    best, else in the first one.
    """
    atoms, octets = found.first_atom, found.first_byte
    places = [str(place) for place in (*found.conformation, *site.conformation[:1])]
    place = next(filter(None, places), "")
    return {
        str(origin): Pose(
            smiles=parent_smiles(str(found.state[i])),  # it is docked as drawn
            state=str(found.state[i]),
            extra="",
            xyz=found.xyz[atoms[i] : atoms[i + 1]],
            molecule=found.molecule[octets[i] : octets[i + 1]],
            conformation=str(found.conformation[i]) or place,
            gap=float(found.gap[i]),
        )
        for i, origin in enumerate(found.origin)
    }


def _reference_row(found: Reference, pose: Pose, facts: Target, every: Every) -> Row:
    number = list(found.origin).index("docked")
    control = facts.control
    assert control is not None
    assert control.score is not None
    terms = {name: float(value) for name, value in json.loads(found.terms[number]).items()}
    score = control.score
    if facts.rank_by == "consensus":
        # Its own score is an energy's: among the others it has the mean of the ranks it would have.
        score = -float(np.mean(_ranks_among(terms, every)))
    return Row(
        name=readable(found.name[number]),
        rank=int((every.score > score).sum()) + 1,
        score=score,
        parent=pose.smiles,
        state=pose.state,
        analysis=Analysis(),
        terms=terms,
        library="crystal ligand, docked again",
        conformation=pose.conformation,
        gap=pose.gap,
        reference=True,
        judgement=facts.networks.crystal if facts.networks else None,
    )


def _ranks_among(terms: Mapping[str, float], every: Every) -> list[int]:
    """The rank by each scoring function, from 1, of what has these terms among all molecules."""
    return [
        int((totals > np.float32(terms[f"{name}/total"])).sum()) + 1
        for name, totals in every.totals.items()
    ]


def _analysed(
    posed: Sequence[Posed], places: Sequence[str], site: Site, jobs: int
) -> list[Analysis]:
    """The analyses in order, each in the receptor of its conformation."""
    found = [Analysis()] * len(posed)
    for place in dict.fromkeys(places):
        mine = [number for number, name in enumerate(places) if name == place]
        done = analyse([posed[number] for number in mine], site.of(place), jobs)
        for number, analysis in zip(mine, done, strict=True):
            found[number] = analysis
    return found


@dataclass(frozen=True)
class Among:
    """Values of all molecules of a target, ascending: a hit's place among them is looked up."""

    size: int
    totals: dict[str, np.ndarray]
    """Scoring function -> totals."""
    scaled: np.ndarray
    """Totals of the first function over a power of the size."""

    @classmethod
    def of(cls, every: Every, functions: Sequence[str]) -> "Among":
        """The values of some scoring functions, sorted."""
        scaled = np.empty(0)
        if functions:
            scaled = every.totals[functions[0]] / every.heavy.astype(float) ** SIZE_POWER
        totals = {name: _ascending(every.totals[name]) for name in functions}
        return cls(len(every.score), totals, _ascending(scaled))


def _ascending(values: np.ndarray) -> np.ndarray:
    return np.sort(values[~np.isnan(values)])


def _above(values: np.ndarray, value: float) -> int:
    """How many of some ascending values are greater."""
    # Of the same type, else all values would be converted at each call.
    return len(values) - int(np.searchsorted(values, values.dtype.type(value), side="right"))


def _finished(row: Row, found: Analysis, facts: Target, among: Among) -> Row:
    """A row with what follows from its analysis and from all scores."""
    shares = {}
    for name in facts.functions:
        if f"{name}/total" in row.terms and among.size:
            higher = _above(among.totals[name], row.terms[f"{name}/total"])
            shares[function(name).name] = higher / among.size
    first = facts.functions[0] if facts.functions else ""
    total, heavy = row.terms.get(f"{first}/total", math.nan), 0
    if found.properties is not None:
        heavy = sum(number > 1 for number in found.elements)
    size_rank = 0
    if heavy and first:
        # Its own value is rounded like the others', so that it is not counted before itself.
        own = float(np.float32(total)) / float(heavy) ** SIZE_POWER
        size_rank = _above(among.scaled, own + 1e-9) + 1
    return replace(
        row,
        analysis=found,
        efficiency=total / heavy if heavy else math.nan,
        size_rank=size_rank,
        doubts=doubts(found, row.gap, row.rank / max(1, among.size), shares),
    )


def _grouped(target: TargetReader, facts: Target) -> dict[str, str]:
    """Members of the groups of known molecules by name, with their SMILES where they are stored.

    Equal names get a number as in `add_known`.
    """
    names = frozenset(member.name for group in facts.groups for member in group.ranked)
    if not names:
        return {}
    found = target.named(names)
    smiles = target.structures(found.row)
    known: dict[str, str] = {}
    for i, row in enumerate(found.row):
        if int(row) in smiles:
            add_known(known, readable(found.scored.name[i]), smiles[int(row)])
    return known


def add_known(known: dict[str, str], name: str, smiles: str) -> None:
    """Add a molecule to known ones by name; a number goes behind the name of another one."""
    own, number = name, 1
    while known.get(own, smiles) != smiles:
        number += 1
        own = f"{name} ({number})"
    known[own] = smiles


def _compared(rows: Sequence[Row], known: dict[str, str]) -> list[Row]:
    """Rows with their clusters and the most similar known molecule.

    A known molecule under the same name is the row itself, but under another one worth knowing. The
    reference ligand is in no cluster: if it led one, hits that are like it alone would be together.
    """
    prints = fingerprints(row.parent for row in rows)
    names, references = list(known), fingerprints(known.values())
    hits = [own for row, own in zip(rows, prints, strict=True) if not row.reference]
    numbers = iter(clusters(hits))
    result = []
    for row, own in zip(rows, prints, strict=True):
        itself = row.name + CRYSTAL_LIGAND if row.reference else row.name
        # A file of known molecules may have the name several times: later ones got a number.
        own_names = re.compile(re.escape(itself) + r"( \(\d+\))?")
        others = [
            i
            for i, name in enumerate(names)
            if known[name] != row.parent or not own_names.fullmatch(name)
        ]
        best, similarity = nearest(own, [references[i] for i in others])
        like = (names[others[best]], similarity) if best >= 0 else ("", 0.0)
        number = -1 if row.reference else next(numbers)
        result.append(replace(row, cluster=number, nearest=like))
    return result


def _clusters(rows: Sequence[Row]) -> list[Cluster]:
    found: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        if not row.reference:
            found.setdefault(row.cluster, []).append(number)
    return [Cluster(scaffold(rows[own[0]].parent), own) for own in found.values()]


def matrix_of(rows: Sequence[Row], crystal: Analysis | None = None) -> Matrix:
    """The residues that most hits interact with, other than by touching, and who does.

    Those of the reference ligand in the crystal come first: that no hit makes one is worth knowing.
    """
    count: Counter[str] = Counter()
    known = _strong(crystal) if crystal else set()
    count.update(dict.fromkeys(known, 0))
    for row in rows:
        strong = _strong(row.analysis)
        every = {one.residue for one in row.analysis.contacts}
        for residue in every:
            count[residue] += 3 if residue in strong else 1
    # Ties are decided by place: the order of a set differs from one process to the next.
    order = sorted(count, key=lambda one: (one not in known, -count[one], _place(one)))
    chosen = order[:RESIDUES]
    chosen.sort(key=_place)
    cells = [(number, letters_of(row.analysis, chosen)) for number, row in enumerate(rows)]
    return Matrix(chosen, cells, len(count))


def _strong(found: Analysis) -> set[str]:
    """Residues that a pose interacts with, other than by touching."""
    return {one.residue for one in found.contacts if one.kind != "hydrophobic"}


def letters_of(found: Analysis, residues: Sequence[str]) -> list[str]:
    """Letters of the interactions with each of some residues."""
    kinds: dict[str, set[str]] = {}
    for one in found.contacts:
        kinds.setdefault(one.residue, set()).add(one.kind)
    return [
        "".join(letter for kind, letter in KINDS.items() if kind in kinds.get(residue, ()))
        for residue in residues
    ]


def _place(residue: str) -> tuple[str, int, str]:
    """Chain and number of a residue such as `ASP27 A`."""
    name, _, chain = residue.partition(" ")
    digits = "".join(c for c in name[3:] if c.isdigit())
    return chain, int(digits or 0), name
