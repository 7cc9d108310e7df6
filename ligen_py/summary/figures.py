"""Figures of the page, as numbers that its template draws: no plotting library, crisp in print."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ligen_py.summary.facts import Target
from ligen_py.summary.table import counted

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, FOOT = 46, 12, 10, 40
"""Size of a figure, and of the margins around its plane, in CSS pixels."""

MOST_DOTS = 600
"""With more molecules a figure shades cells by their number instead of drawing dots."""
CELLS = 48, 24


@dataclass(frozen=True)
class Scale:
    """One axis: values low to high upon pixels first to last."""

    low: float
    high: float
    first: float
    last: float
    least: float = 0.0
    """Of the step between two ticks."""

    def __call__(self, value: float) -> float:
        """Pixel of a value."""
        span = self.high - self.low or 1.0
        share = (value - self.low) / span
        return round(self.first + share * (self.last - self.first), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Pixels and words of round values."""
        step = _round_step(max((self.high - self.low) / 5 or 1.0, self.least))
        start = math.ceil(self.low / step - 1e-9)
        stop = math.floor(self.high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(self(i * step), f"{i * step:.{digits}f}") for i in range(start, stop + 1)]


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= step - 1e-12)


@dataclass(frozen=True)
class Mark:
    """A dot with a name, or a line of the histogram."""

    x: float
    y: float
    kind: str
    """hit, one of another target, member of a group, or reference: how it is drawn."""
    words: str


@dataclass(frozen=True)
class Figure:
    """A plane with axes."""

    x: Scale
    y: Scale
    across: str
    up: str
    cells: list[tuple[float, float, float, float, float, str]] = field(default_factory=list)
    """x, y, width, height, shade from 0 to 1, words."""
    dots: list[tuple[float, float]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    diagonal: bool = False
    left_out: int = 0
    """Molecules that lie too far below the others to be drawn."""


def distribution(target: Target, marks: Sequence[tuple[float, str, str]]) -> Figure:
    """How scores are distributed, and where some molecules (score, kind, words) stand."""
    lowest = min([target.lowest, *(score for score, _, _ in marks)])
    highest = max([target.highest, *(score for score, _, _ in marks)])
    x = Scale(lowest, highest, LEFT, WIDTH - RIGHT)
    y = Scale(0, max(target.bars, default=1) * 1.05, HEIGHT - FOOT, TOP, least=1)
    step = (target.highest - target.lowest) / max(len(target.bars), 1)
    cells = []
    for i, count in enumerate(target.bars):
        if count:
            first = target.lowest + i * step
            # The first bar holds what lies far below, too.
            words = f"{f'{first:.2f}' if i else 'up'} to {first + step:.2f}: {count}"
            left, right, top = x(first), x(first + step), y(count)
            cells.append((left, top, max(right - left - 0.6, 0.4), y(0) - top, 1.0, words))
    found = [Mark(x(score), y(0), kind, words) for score, kind, words in marks]
    return Figure(x, y, "score (larger is better)", "molecules", cells, marks=found)


def scatter(
    across: str,
    up: str,
    xs: np.ndarray,
    ys: np.ndarray,
    marks: Sequence[tuple[float, float, str, str]],
    diagonal: bool = False,
) -> Figure:
    """Molecules by two values, and some of them (x, y, kind, words) marked."""
    low_x, high_x = _span(np.append(xs, [mark[0] for mark in marks]))
    low_y, high_y = _span(np.append(ys, [mark[1] for mark in marks]))
    if diagonal:
        low_x = low_y = min(low_x, low_y)
        high_x = high_y = max(high_x, high_y)
    x = Scale(low_x, high_x, LEFT, WIDTH - RIGHT)
    y = Scale(low_y, high_y, HEIGHT - FOOT, TOP)
    inside = (xs >= low_x) & (xs <= high_x) & (ys >= low_y) & (ys <= high_y)
    xs, ys = xs[inside], ys[inside]
    left_out = int((~inside).sum())
    figure = Figure(x, y, across, up, diagonal=diagonal, left_out=left_out)
    figure.marks.extend(Mark(x(one), y(two), kind, words) for one, two, kind, words in marks)
    if len(inside) <= MOST_DOTS:
        figure.dots.extend((x(one), y(two)) for one, two in zip(xs, ys, strict=True))
        return figure
    ranges = ((low_x, high_x), (low_y, high_y))
    counts, edges_x, edges_y = np.histogram2d(xs, ys, bins=CELLS, range=ranges)
    most = math.log1p(counts.max(initial=1))
    for i, j in np.argwhere(counts):
        left, right, top = x(edges_x[i]), x(edges_x[i + 1]), y(edges_y[j + 1])
        shade = round(0.15 + 0.85 * math.log1p(counts[i, j]) / most, 2)
        words = counted(int(counts[i, j]), "molecule")
        size = right - left, y(edges_y[j]) - top
        figure.cells.append((left, top, round(size[0], 1), round(size[1], 1), shade, words))
    return figure


def _span(values: np.ndarray) -> tuple[float, float]:
    """The range of the values but for what lies far below the others, with a little room."""
    found = values[np.isfinite(values)]
    if not len(found):
        return 0.0, 1.0
    low, mark, high = np.quantile(found, [0, 0.01, 1])
    low = max(low, mark - (high - mark))
    room = 0.04 * (high - low) or 0.5
    return float(low - room), float(high + room)
