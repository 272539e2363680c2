"""The badge of a result set for a README: its title, and the figure of one series."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.analysis.export.comparability_text import is_overridden
from backend.errors import InvalidInput
from backend.sharing.text import plain

Figures = Mapping[str, Any]
Row = Mapping[str, Any]

LONGEST_TITLE, LONGEST_VALUE = 40, 48
BY_REQUEST = "not comparable, by request"
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
    return Badge(left, right, COLOURS[part["outcome"]["status"]])


def _shown(figures: Figures, series: str | None) -> tuple[Figures, Row | None]:
    """The comparison with the figure, the whole or a panel of it, and the figure's row."""
    ranked = [
        (part, row)
        for part in _parts(figures)
        if part["ranking"] is not None
        for row in part["ranking"]["rows"]
    ]
    if series is not None:
        ranked = _only(ranked, series)
    with_figure = next(((part, row) for part, row in ranked if row["value"] is not None), None)
    if with_figure is not None:
        return with_figure
    # A series without a figure has its own outcome; otherwise show that of the whole.
    return (ranked[0][0] if series is not None else figures), None


def _parts(figures: Figures) -> list[Figures]:
    """The comparison, or each of its panels as a comparison of its own."""
    panels = figures.get("panels")
    if not panels:
        return [figures]
    return [
        {
            **figures,
            "panel": panel["value"],
            "outcome": panel["outcome"],
            "ranking": panel["ranking"],
        }
        for panel in panels
    ]


def _only(ranked: list[tuple[Figures, Row]], series: str) -> list[tuple[Figures, Row]]:
    matching = [(part, row) for part, row in ranked if row["series"] == series]
    if not matching:
        names = ", ".join(row["series"] for _, row in ranked) or "none"
        raise NoSuchSeries(f"series: got {series[:40]!r}, ranked here are {names}.")
    return matching


def _value(part: Figures, row: Row | None) -> str:
    if row is None:
        refused = part["outcome"]["status"] == "not_comparable"
        apart = "compared by workload" if part.get("ratios") else "unknown"
        return "not comparable" if refused else apart
    ranked_by = part["ranking"]["metric"]
    metric = next(metric for metric in part["metrics"] if metric["id"] == ranked_by)
    figure = figure_text(row["value"], metric["unit"])
    panel, label = part.get("panel"), row["label"]
    if panel and not label.startswith(panel):
        label = f"{panel}: {label}"
    text = f"{plain(label, LONGEST_VALUE - len(figure) - 1)} {figure}"
    return f"{BY_REQUEST}: {text}" if is_overridden(part) else text


_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "req/s": ((1e6, "M req/s"), (1e3, "k req/s"), (1, " req/s")),
    "us": ((1e6, " s"), (1e3, " ms"), (1, " µs")),
    "bytes/s": ((1e9, " GB/s"), (1e6, " MB/s"), (1e3, " kB/s"), (1, " B/s")),
    "bytes": ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"), (1, " B")),
    "ratio": ((0.01, " %"),),
}


def figure_text(value: float, unit: str) -> str:
    """Three significant digits in a unit that suits the size: 52.3k req/s, 1.41 ms, 0.12 %."""
    scales = _SCALES.get(unit, ((1, f" {unit}".rstrip()),))
    factor, suffix = next((scale for scale in scales if abs(value) >= scale[0]), scales[-1])
    shown = value / factor
    digits = f"{shown:,.0f}" if abs(shown) >= 1000 else f"{shown:.3g}"
    return f"{digits}{suffix}"


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
