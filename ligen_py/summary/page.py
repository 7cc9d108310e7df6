"""A campaign's dossier as one HTML page: no network, light and dark, on paper and on a phone."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from ligen_py.molecules.hits.checks import CHECKS
from ligen_py.molecules.hits.depiction import HEIGHT, WIDTH
from ligen_py.molecules.interactions.contacts import KINDS
from ligen_py.store.campaign.layout import Runs
from ligen_py.store.campaign.times import Time
from ligen_py.summary import figures, glossary
from ligen_py.summary.dossier import Dossier, Row, letters_of
from ligen_py.summary.embedded import embedded
from ligen_py.summary.facts import Group, Target, settings_of
from ligen_py.summary.figures import Figure, distribution, scatter
from ligen_py.summary.methods import citations, methods
from ligen_py.summary.searches import Search
from ligen_py.summary.selectivity import selectivity
from ligen_py.summary.table import NAME_WIDTH, counted
from ligen_py.summary.text import (
    caution,
    control_words,
    crystal_words,
    network_words,
    nothing_words,
    null_words,
    ranked_words,
    score_name,
)
from ligen_py.summary.verdict import FOUND, verdict

TEMPLATES = "page.html.j2", "figures.html.j2", "searches.html.j2"
"""The page as Jinja templates, beside this module."""

ASSETS = "page.css", "viewer.js", "page.js"
"""Styles and scripts that the page contains."""

ON_PAPER = 60
"""Rows of the list and of the table of interactions that are printed."""

SHOWN = 100
"""Rows of the list that are shown when the page opens; a button shows the others."""

MATRIX_ROWS = 40
"""Hits in the table of interactions."""

CLUSTERS = 24
"""Clusters that are shown with a drawing."""

KNOWN = 24
"""Known molecules that are named: a file of them may have thousands."""

SCREENED = frozenset(("dock", "lga", "filter", "refine", "score", "screen"))

POLAR = frozenset("HSMX")

NAMED = {"radius": "radius where a site has none"}
"""Settings that would be misread under their own name."""

HERE = Path(__file__).parent


def page_of(
    dossiers: Sequence[Dossier],
    runs: Runs | None,
    files: Mapping[str, str],
    effort: str,
    date: str,
    times: Sequence[Time],
    searches: Sequence[Search],
    networks: Mapping[str, str] | None,
) -> str:
    """The page as text; everything that comes from data is escaped.

    A campaign of searches alone has no dossiers and no `runs`. `networks` is the run record of what
    networks say.
    """
    known = list(dict.fromkeys(name for one in dossiers for name in one.target.functions))
    known += ["gnina"] if networks and "gnina" not in known else []
    # The files are the program's own; no data are in them.
    style, *scripts = (Markup((HERE / name).read_text(encoding="utf-8")) for name in ASSETS)
    return _page().render(
        citations=citations(known, runs) if runs else [],
        date=date,
        dossiers=dossiers,
        effort=effort,
        files=files,
        methods=methods(dossiers, runs, effort) if runs else [],
        runs=[
            *(_runs(runs) if runs else ()),
            *([_run("networks", networks)] if networks else ()),
            *_runs_of(searches),
        ],
        scripts=scripts,
        searches=searches,
        selectivity=selectivity(dossiers),
        style=style,
        throughput=_throughput(dossiers, times),
        times=times,
    )


@cache
def _page() -> jinja2.Template:
    """The page's template, which takes time to compile; a process may write several pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        keep_trailing_newline=True,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        CHECKS=CHECKS,
        CLUSTERS=CLUSTERS,
        FOUND=FOUND,
        KINDS=KINDS,
        KNOWN=KNOWN,
        MATRIX_ROWS=MATRIX_ROWS,
        NAME_WIDTH=NAME_WIDTH,
        MOL=f"0 0 {WIDTH} {HEIGHT}",
        ON_PAPER=ON_PAPER,
        SHOWN=SHOWN,
        STRIP=STRIP,
        caution=caution,
        null_words=null_words,
        columns=glossary.columns,
        counted=counted,
        crystal_of=_crystal,
        crystal_words=crystal_words,
        data=embedded,
        distribution=_distribution,
        drawn=_drawn,
        failed_of=_failed,
        heads=_heads,
        matrix_rows=_matrix_rows,
        network_words=network_words,
        number_of=_number,
        nothing_words=nothing_words,
        ranked_words=ranked_words,
        sizes=_sizes,
        strength=_strength,
        verdict=verdict,
        words=control_words,
        score_name=score_name,
        x_of_rank=_x_of_rank,
        **{name: getattr(figures, name) for name in ("HEIGHT", "LEFT", "RIGHT", "WIDTH")},
    )
    return environment.get_template(TEMPLATES[0])


def _number(value: float, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return f"{round(value, digits) + 0.0:.{digits}f}" if math.isfinite(value) else "–"


def _drawn(row: Row) -> Markup:
    """A drawing; its letters are element symbols and numbers."""
    return Markup(row.analysis.drawing)


def _failed(row: Row) -> list[str]:
    """What each check that a pose does not pass would show."""
    return [f"not: {CHECKS[name]}" for name, passed in row.analysis.checks.items() if not passed]


def _heads(target: Target, vendor: bool) -> list[tuple[str, bool | None, str]]:
    """Columns of the list: title, whether it is sorted upwards first (None: never), meaning."""
    words = {one.name: one.words for one in glossary.columns(target.rank_by, target.functions)}
    networks = target.networks is not None
    judged = [(one.name, False, one.words) for one in glossary.JUDGED] if networks else []
    columns: list[tuple[str, bool | None, str]] = [
        ("rank", True, "place in the ranking"),
        ("structure", None, ""),
        ("name", True, ""),
        ("score", False, words["Score"]),
        ("size rank", True, words["Size rank"]),
        ("LE", False, words["LE"]),
        ("gap", False, words["Gap"]),
        ("strain", True, words["Strain"]),
        *judged,
        ("MW", True, "molecular weight, g/mol"),
        ("logP", True, words["logP"]),
        ("TPSA", True, words["TPSA"]),
        ("HBD", True, "hydrogen-bond donors"),
        ("HBA", True, "hydrogen-bond acceptors"),
        ("rot", True, words["Rot"]),
        ("charge", True, "formal charge of the docked state"),
        ("alerts", True, words["Alerts"]),
        ("checks", True, "; ".join(CHECKS.values())),
        ("library", True, ""),
    ]
    return [*columns, ("vendor", True, "further columns of the input")] if vendor else columns


def _crystal(dossier: Dossier) -> list[str]:
    """Letters of the crystal ligand's interactions with the residues of the table."""
    return [] if dossier.crystal is None else letters_of(dossier.crystal, dossier.matrix.residues)


def _matrix_rows(dossier: Dossier) -> list[tuple[int, Sequence[str]]]:
    """Rows of the table of interactions: the first hits, and the crystal ligand wherever it is."""
    hits = [place for place, row in enumerate(dossier.rows) if not row.reference]
    late = set(hits[MATRIX_ROWS:])
    return [cell for cell in dossier.matrix.cells if cell[0] not in late]


def _throughput(dossiers: Sequence[Dossier], times: Sequence[Time]) -> str:
    """Molecules by hour over the stages that screen, in words."""
    seconds = sum(time.seconds for time in times if time.stage in SCREENED)
    docked = sum(one.target.size for one in dossiers)
    if not seconds or not docked:
        return ""
    rate = 3600 * docked / seconds
    what = "molecule" if docked == 1 else f"{docked:,} molecules"
    if len(dossiers) > 1:
        pairs = "pair" if docked == 1 else f"{docked:,} pairs"
        what = f"{pairs} of a molecule and one of the {len(dossiers)} targets"
    took = f"{seconds / 3600:.2f} hours" if seconds >= 3600 else f"{seconds:.3g} seconds"
    return (
        f"From docking to scores, without preparation, the last jobs of "
        f"{'this' if docked == 1 else 'these'} {what} took {took}: "
        f"{rate:,.0f} an hour, or {seconds / docked:.2g} seconds each. A million of them would "
        f"take {1e6 / rate:,.0f} hours on the same device. A job that keeps its poses, as after a "
        "change of score alone, docks nothing. Jobs that ran at one time shared the device."
    )


def _strength(letters: str) -> str:
    """Class of a cell of the interactions: polar, other directed, or hydrophobic."""
    if POLAR & set(letters):
        return "c1"
    return "c2" if letters.strip("h") else "c3"


STRIP = 720
"""Width of the strip of ranks."""


def _x_of_rank(rank: int, group: Group) -> float:
    """Position of a rank on a strip from the first to the last."""
    size = group.enrichment.size if group.enrichment else 1
    return STRIP * (rank - 0.5) / size


def _distribution(dossier: Dossier) -> Figure:
    marks = [
        (member.score, "member", f"{member.name}: {member.score:.2f}")
        for group in dossier.target.groups[:1]
        for member in group.ranked
        if member.score is not None
    ]
    if row := dossier.reference:
        marks.append((row.score, "reference", f"{row.name}, crystal ligand: {row.score:.2f}"))
    return distribution(dossier.target, marks)


def _sizes(dossier: Dossier) -> Figure:
    marks = []
    for row in dossier.rows:
        heavy = sum(number > 1 for number in row.analysis.elements)
        if heavy and (row.rank <= 10 or row.reference):
            kind = "reference" if row.reference else "hit"
            marks.append((heavy, row.score, kind, f"{row.name}: {heavy} atoms, {row.score:.2f}"))
    every = dossier.every
    return scatter("heavy atoms", "score", every.heavy, every.score, marks)


def _runs(runs: Runs) -> list[dict[str, str]]:
    return [
        {
            "kind": str(runs.kind[i]),
            "device": str(runs.device[i]) or "-",
            "program": f"{runs.created_by[i]}, code {runs.stage_digest[i]}",
            "settings": _plain(str(runs.settings[i])),
        }
        for i in range(len(runs.kind))
    ]


def _runs_of(searches: Sequence[Search]) -> list[dict[str, str]]:
    return [
        _run(f"{search.run['stage']} {search.name}", search.run)
        for search in searches
        if search.run
    ]


def _run(kind: str, record: Mapping[str, str]) -> dict[str, str]:
    return {
        "kind": kind,
        "device": record["device"] or "-",
        "program": f"{record['created-by']}, code {record['stage-digest']}",
        "settings": _plain(record["settings"]),
    }


def _plain(settings: str) -> str:
    """Settings as `name value` pairs; text that is not a JSON object is not changed."""
    values = settings_of(settings)
    if not values:
        return settings
    return ", ".join(f"{NAMED.get(name, name)} {_word(value)}" for name, value in values.items())


def _word(value: object) -> str:
    if value in ([], {}, "", None):
        return "none"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
