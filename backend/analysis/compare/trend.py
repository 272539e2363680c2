"""Changes of a figure over versions or days: where each series got better or worse, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from backend.analysis import figures
from backend.analysis.compare.headline import ratio_text
from backend.analysis.grouping.measures import trial_values
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.field import number_text
from backend.analysis.query.metrics import Metric
from backend.analysis.query.units import figure_text
from backend.stats.changes import LEAST_POSITIONS, Change, find_changes

Axis = Literal["version", "date"]
_WITH: dict[Axis, str] = {"version": "with version", "date": "on"}
_MANY: dict[Axis, str] = {"version": "versions", "date": "dates"}


@dataclass(frozen=True, slots=True)
class Track:
    """A series over the x axis, in its order: at each x the values of its trials.

    An x where the figure is unknown or not ranked (too many failed requests, or a latency at an
    unmet rate) has no values, and is passed over.
    """

    series: str
    label: str
    values: Sequence[tuple[str | float, Sequence[float]]]

    @property
    def known(self) -> int:
        return sum(1 for _, trials in self.values if trials)


def track_of(sweep: Sweep, metric: str, unranked: Callable[[Point], str | None]) -> Track:
    """The track of a series; `unranked` says why a point may not be compared, or None."""
    values = [
        (point.x, () if unranked(point) else tuple(trial_values(point.metrics[metric])))
        for point in sweep.points
        if point.x is not None
    ]
    return Track(sweep.group.id, sweep.group.label, values)


def list_changes(
    tracks: Sequence[Track], *, metric: Metric, axis: Axis, relevant: float
) -> list[figures.Change]:
    """`changes` of the figures: significant and relevant changes of each series, in order.

    before, after: the level (geometric mean of the trials) in the metric's unit; ratio: after ÷
    before.
    """
    return [
        _change(track, change, metric, axis)
        for track in tracks
        for change in find_changes(
            [trials for _, trials in track.values],
            better=metric.better,
            relevant=relevant,
        )
    ]


def _change(track: Track, change: Change, metric: Metric, axis: Axis) -> figures.Change:
    x = track.values[change.index][0]
    return figures.Change(
        series=track.series,
        x=x,
        before=change.before,
        after=change.after,
        ratio=change.ratio.value,
        low=change.ratio.low,
        high=change.ratio.high,
        verdict=change.ratio.verdict,
        text=change_text(track.label, x, change, metric=metric, axis=axis),
    )


def change_text(label: str, x: str | float, change: Change, *, metric: Metric, axis: Axis) -> str:
    """`nginx regressed with version 1.4: latency p99 1.31× [1.2, 1.4], 4 ms before, 5 ms since`"""
    place = x if isinstance(x, str) else number_text(float(x))
    before, after = (figure_text(value, metric.unit) for value in (change.before, change.after))
    name = metric.label[0].lower() + metric.label[1:]
    return (
        f"{label} {change.ratio.verdict} {_WITH[axis]} {place}: {name} {ratio_text(change.ratio)}, "
        f"{before} before, {after} since"
    )


def trend_headline(
    changes: Sequence[figures.Change],
    tracks: Sequence[Track],
    *,
    metric: Metric,
    axis: Axis,
) -> str:
    """The sentence above the trend: its largest change, or why there is none."""
    if changes:
        largest = max(changes, key=_size)
        more = len(changes) - 1
        rest = f"; {more} more change{'' if more == 1 else 's'}" if more else ""
        return f"{largest.text}{rest}"
    longest = max((track.known for track in tracks), default=0)
    if longest < LEAST_POSITIONS:
        return (
            f"Too few {_MANY[axis]} to find changes: a series needs {LEAST_POSITIONS}, the longest "
            f"has {longest}"
        )
    name = metric.label[0].lower() + metric.label[1:]
    return f"No change of {name} beyond noise and threshold over {longest} {_MANY[axis]}"


def _size(change: figures.Change) -> float:
    return max(change.ratio, 1 / change.ratio) if change.ratio else 0.0
