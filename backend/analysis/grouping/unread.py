"""Series that were measured and are not in the answer, or not with all trials, and why."""

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from backend.analysis import figures
from backend.analysis.grouping.grouping import Grouping, SeriesGroup
from backend.analysis.grouping.points import place_of
from backend.analysis.grouping.series import group_by_name
from backend.analysis.loading.rows import fetch_reasons, fetch_trial_counts
from backend.analysis.query.field import Value, reader_of
from backend.analysis.query.fields import FIELDS
from backend.analysis.query.records import LoadedCell

MAX_REASON = 300
MAX_RUNS = 20


@dataclass(frozen=True, slots=True)
class UnreadSeries:
    """Trials of one series that are in no figure.

    `x`: their place on the axis, None if they have none. `trials`: how many they are.
    """

    series: str
    label: str
    x: Value
    trials: int
    reason: str
    runs: tuple[str, ...] = ()

    def to_record(self) -> figures.NotRead:
        return figures.NotRead(
            series=self.series,
            label=self.label,
            x=None if self.x is None else place_of(self.x),
            trials=self.trials,
            reason=self.reason,
            runs=self.runs or UNSET,
        )


def find_unread_series(
    groups: Sequence[SeriesGroup],
    labels: Mapping[str, str],
    unread: Mapping[uuid.UUID, Sequence[uuid.UUID]],
) -> list[UnreadSeries]:
    """The series and places where trials have no figure, in the order of `groups`.

    `labels`: of the series that are shown, by id. `unread`: the trials without a figure by cell.
    """
    if not unread:
        return []
    reasons = fetch_reasons(trial for trials in unread.values() for trial in trials)
    return [
        UnreadSeries(
            series=group.id,
            label=labels.get(group.id) or group.label,
            x=place,
            trials=count,
            reason=reason,
            runs=_runs_of(cell for cell in cells if unread.get(cell.id)),
        )
        for group in groups
        for place, cells in group.points.items()
        for reason, count in _count_reasons(cells, unread, reasons).items()
    ]


def _runs_of(cells: Iterable[LoadedCell]) -> tuple[str, ...]:
    runs = dict.fromkeys(str(cell.run.id) for cell in cells)
    return tuple(runs)[:MAX_RUNS]


def _count_reasons(
    cells: Iterable[LoadedCell],
    unread: Mapping[uuid.UUID, Sequence[uuid.UUID]],
    reasons: Mapping[uuid.UUID, str],
) -> Counter[str]:
    trials = (trial for cell in cells for trial in unread.get(cell.id, ()))
    return Counter(reasons[trial][:MAX_REASON] for trial in trials if trial in reasons)


def find_unplaced_series(cells: Iterable[LoadedCell], grouping: Grouping) -> list[UnreadSeries]:
    """The series with trials that have no known place on the axis."""
    axis = FIELDS[grouping.x]
    read = reader_of(axis)
    unplaced = [cell for cell in cells if read(cell) is None]
    trials = fetch_trial_counts(cell.id for cell in unplaced)
    reason = f"The {axis.noun} is unknown."
    return [
        UnreadSeries(group.id, group.label, None, count, reason, _runs_of(group.cells()))
        for group in (group_by_name(unplaced, grouping) if unplaced else ())
        if (count := sum(trials.get(cell.id, 0) for cell in group.cells()))
    ]
