"""The badge of a result set for a README: its title, and the figure of one series."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from msgspec.structs import replace

from backend.analysis.export.comparability_text import is_overridden
from backend.analysis.figures import Figures, Measure, Ranking, RankRow
from backend.analysis.grouping.measure_texts import measure_text
from backend.analysis.query.units import short_figure_text
from backend.errors import InvalidInput
from backend.sharing.text import plain

LONGEST_TITLE, LONGEST_VALUE = 40, 48
RANKED_ANYWAY = "not comparable, ranked anyway"
PADDING_PX = 7
# The site's status colours: white text on them has a contrast of at least 4.5 to 1.
COLOURS = {"comparable": "#0b6b66", "caveats": "#8a5300", "not_comparable": "#a61b3c"}
# Widths of an 11 px sans-serif; the drawn text is fitted to their sum, so they need not be exact.
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%")


class NoSuchSeries(InvalidInput):
    """This series is not ranked here; the message names the ranked ones."""


@dataclass(frozen=True, slots=True)
class Side:
    """One half of the badge; sizes in pixels."""

    text: str
    x: int
    width: int

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def text_width(self) -> int:
        return self.width - 2 * PADDING_PX


@dataclass(frozen=True, slots=True)
class Part:
    """A comparison, or a panel of it as a comparison of its own."""

    figures: Figures
    panel: str | None = None

    @property
    def rows(self) -> list[tuple[Part, RankRow]]:
        """The ranked series."""
        ranking = self.figures.ranking
        return [] if ranking is None else [(self, row) for row in ranking.rows]


@dataclass(frozen=True, slots=True)
class Badge:
    title: Side
    value: Side
    colour: str

    @property
    def width(self) -> int:
        return self.title.width + self.value.width

    @property
    def sentence(self) -> str:
        """The text for screen readers."""
        return f"{self.title.text}: {self.value.text}"


def badge_of(title: str, figures: Figures, series: str | None = None) -> Badge:
    """The badge of the series with this id, else of the first in the ranking.

    With panels it shows the first panel that has a figure. Raises NoSuchSeries.
    """
    part, row = _shown(figures, series)
    left = _side(plain(title, LONGEST_TITLE) or "Loadsheet", 0)
    right = _side(_value(part, row), left.width)
    return Badge(left, right, COLOURS[part.figures.outcome.status])


def taken_down_badge() -> Badge:
    """In place of the badge of a result set that staff took down."""
    left = _side("Loadsheet", 0)
    return Badge(left, _side("taken down", left.width), COLOURS["not_comparable"])


def _shown(figures: Figures, series: str | None) -> tuple[Part, RankRow | None]:
    """The comparison with the figure, the whole or a panel of it, and the figure's row."""
    ranked = [pair for part in _parts(figures) for pair in part.rows]
    if series is not None:
        ranked = _only(ranked, series)
    with_figure = next(((part, row) for part, row in ranked if row.value is not None), None)
    if with_figure is not None:
        return with_figure
    # A series without a figure has its own outcome; otherwise show that of the whole.
    return (ranked[0][0] if series is not None else Part(figures)), None


def _parts(figures: Figures) -> list[Part]:
    if not figures.panels:
        return [Part(figures)]
    return [
        Part(replace(figures, outcome=panel.outcome, ranking=panel.ranking), panel.value)
        for panel in figures.panels
    ]


def _only(ranked: list[tuple[Part, RankRow]], series: str) -> list[tuple[Part, RankRow]]:
    matching = [(part, row) for part, row in ranked if row.series == series]
    if not matching:
        names = ", ".join(row.series for _, row in ranked) or "none"
        raise NoSuchSeries(f"series: got {series[:40]!r}, ranked here are {names}.")
    return matching


def _value(part: Part, row: RankRow | None) -> str:
    figures = part.figures
    if row is None or row.value is None or figures.ranking is None:
        return _why_no_value(figures)
    figure, label = _figure(figures, figures.ranking, row), row.label
    if part.panel and not label.startswith(part.panel):
        label = f"{part.panel}: {label}"
    text = f"{plain(label, LONGEST_VALUE - len(figure) - 1)} {figure}"
    return f"{RANKED_ANYWAY}: {text}" if is_overridden(figures) else text


def _figure(figures: Figures, ranking: Ranking, row: RankRow) -> str:
    """The figure of a row, or the step of the load tool where the tool rounded it to 0."""
    unit = next(metric.unit for metric in figures.metrics if metric.id == ranking.metric)
    measure = _measure(figures, ranking, row)
    text = None if measure is None else measure_text(measure, unit, short_figure_text)
    return text or short_figure_text(row.value or 0.0, unit)


def _measure(figures: Figures, ranking: Ranking, row: RankRow) -> Measure | None:
    """The figure of a row, as its point has it; None where the point is not among the figures."""
    points = (
        point for series in figures.series if series.id == row.series for point in series.points
    )
    measures = (point.metrics.get(ranking.metric) for point in points if point.x == ranking.x)
    return next(measures, None)


def _why_no_value(figures: Figures) -> str:
    if figures.outcome.status == "not_comparable":
        return "not comparable"
    return "compared by workload" if figures.ratios else "unknown"


def _side(text: str, x: int) -> Side:
    return Side(text, x, round(sum(map(_width, text))) + 2 * PADDING_PX)


def _width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 12.0
    if char in _NARROW:
        return 4.0
    return 10.0 if char in _WIDE else 6.8
