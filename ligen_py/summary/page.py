"""A report as one HTML page: no network, no scripts, light and dark."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from ligen_py.store.campaign.layout import Runs
from ligen_py.summary.facts import Group, Target, settings_of
from ligen_py.summary.searches import Search
from ligen_py.summary.text import caution, control_words, ranked_words

TEMPLATE = "page.html.j2"
"""The page as a Jinja template, beside this module."""

WIDTH, HEIGHT, FOOT = 720, 150, 26
"""Size of a figure's plane and of the strip below it, in CSS pixels."""

GOOD_RMSD = 2.0
"""A redocked pose nearer than this to the crystal pose counts as found, by convention; Angstrom."""


def page_of(
    targets: Sequence[Target],
    runs: Runs | None,
    files: Mapping[str, str],
    effort: str = "",
    searches: Sequence[Search] = (),
) -> str:
    """The page as text; everything that comes from data is escaped.

    A campaign of searches alone has no targets and no `runs`.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        keep_trailing_newline=True,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        bars=_bars,
        ticks=_ticks,
        x_of_rank=_x_of_rank,
        caution=caution,
        words=control_words,
        ranked_words=ranked_words,
    )
    environment.globals.update(WIDTH=WIDTH, HEIGHT=HEIGHT, FOOT=FOOT, GOOD_RMSD=GOOD_RMSD)
    page = environment.get_template(TEMPLATE)
    made = [*(_runs(runs) if runs else ()), *_runs_of(searches)]
    return page.render(targets=targets, runs=made, files=files, effort=effort, searches=searches)


def _bars(target: Target) -> list[tuple[float, float, float, float, str]]:
    """Bars of the score histogram: x, y, width, height, and label."""
    highest = max(target.bars, default=0)
    step = (target.highest - target.lowest) / max(len(target.bars), 1)
    width = WIDTH / max(len(target.bars), 1)
    result = []
    for i, count in enumerate(target.bars):
        if count:
            height = max(HEIGHT * count / highest, 1)
            first = target.lowest + i * step
            said = f"{first:.2f} to {first + step:.2f}: {count}"
            result.append((i * width + 0.5, HEIGHT - height, width - 1, height, said))
    return result


def _ticks(target: Target) -> list[tuple[float, str, str]]:
    """Marks of the score axis: x, label, and how the label is anchored."""
    span = target.highest - target.lowest
    places = [(0.0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1.0, "end")]
    return [(WIDTH * at, f"{target.lowest + span * at:.2f}", anchor) for at, anchor in places]


def _x_of_rank(rank: int, group: Group) -> float:
    """Position of a rank on a strip from the first to the last."""
    size = group.enrichment.size if group.enrichment else 1
    return WIDTH * (rank - 0.5) / size


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
        {
            "kind": f"{search.run['stage']} {search.name}",
            "device": search.run["device"] or "-",
            "program": f"{search.run['created-by']}, code {search.run['stage-digest']}",
            "settings": _plain(search.run["settings"]),
        }
        for search in searches
        if search.run
    ]


def _plain(settings: str) -> str:
    """Settings as `name value` pairs; text that is not a JSON object is not changed."""
    values = settings_of(settings)
    if not values:
        return settings
    return ", ".join(f"{name} {_word(value)}" for name, value in values.items())


def _word(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
