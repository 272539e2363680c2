"""What differs between the figures that were frozen and those the same runs give now."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.analysis.comparison import compare
from backend.analysis.known import UnknownValue
from backend.analysis.names import NAMED
from backend.analysis.query import CompareQuery
from backend.runs.models import Run
from backend.sharing.models import ResultSet
from backend.stats import Ratio, ratio

Figures = Mapping[str, Any]
Key = tuple[str, Any]
# Figures that differ by less were computed in another order, not from something else.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Place:
    """One point of one series."""

    series: str
    label: str
    x: Any
    trials: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that is another now. Null is unknown, then or now."""

    place: Place
    metric: str
    label: str
    unit: str
    before: float | None
    after: float | None
    # After ÷ before over the trials; None where a side is unknown.
    ratio: Ratio | None


@dataclass(frozen=True, slots=True)
class Differences:
    """`before` and `after` hold the finding and the status of the outcome of each side."""

    before: tuple[str, str]
    after: tuple[str, str] | None
    missing_runs: tuple[str, ...]
    figures: tuple[Difference, ...]
    gone: tuple[Place, ...]
    new: tuple[Place, ...]
    renamed: tuple[tuple[str, str], ...]

    @property
    def nothing(self) -> bool:
        return not (
            self.missing_runs or self.figures or self.gone or self.new or self.renamed
        ) and (self.after == self.before)


def differences_since(result_set: ResultSet) -> Differences:
    """Ask the frozen question again of the runs that are left. Raises QueryError."""
    snapshot = result_set.frozen_snapshot()
    question = CompareQuery.parse(snapshot["query"])
    rows = Run.objects.filter(workspace_id=result_set.workspace_id, pk__in=question.run)
    left = set(rows.values_list("pk", flat=True))
    missing = tuple(str(run) for run in question.run if run not in left)
    now = _asked_again(question, left, result_set) if left else None
    share = result_set.workspace.relevant_share
    return compared(snapshot["figures"], now, missing_runs=missing, relevant=share)


def _asked_again(
    question: CompareQuery, left: set[uuid.UUID], result_set: ResultSet
) -> Figures | None:
    """The figures of the runs that are `left`; None where nothing that was asked for is."""
    runs = tuple(run for run in question.run if run in left)
    asked: CompareQuery | None = replace(question, run=runs, workspace=result_set.workspace.slug)
    while asked is not None:
        try:
            return compare(asked, workspace_ids=[result_set.workspace_id])
        except UnknownValue as gone:
            # With its last run a server is gone from the workspace, and from the question.
            asked = gone.rest
    return None


def compared(
    before: Figures, after: Figures | None, *, missing_runs: Sequence[str], relevant: float
) -> Differences:
    """Point by point, matched by the series and the place on the axis."""
    known = {} if after is None else _counterparts(before, after)
    places = {} if after is None else _renamed_places(before, after)
    was = _points(before, {}, {})
    now = {} if after is None else _points(after, known, places)
    both = [key for key in was if key in now]
    return Differences(
        before=_said(before),
        after=None if after is None else _said(after),
        missing_runs=tuple(missing_runs),
        figures=tuple(
            one for key in both for one in _of_point(was[key], now[key], before, relevant)
        ),
        gone=tuple(was[key][0] for key in was if key not in now),
        new=tuple(now[key][0] for key in now if key not in was),
        renamed=()
        if after is None
        else (*((old, new) for new, old in places.items()), *_renamed(before, after, known)),
    )


def _counterparts(before: Figures, after: Figures) -> dict[str, str]:
    """The ids of series as they are now -> as they were: a new name may make a new id, but the
    cells below stay the same."""
    was = {series["id"] for series in before["series"]}
    now = {series["id"] for series in after["series"]}
    owner = {cell: series["id"] for series in before["series"] for cell in _cells(series)}
    found: dict[str, str] = {}
    for series in after["series"]:
        owners = Counter(owner[cell] for cell in _cells(series) if cell in owner)
        others = [id_ for id_, _ in owners.most_common() if id_ not in now]
        if series["id"] not in was and others:
            found[series["id"]] = others[0]
    return found


def _cells(series: Mapping[str, Any]) -> list[str]:
    return [cell for point in series["points"] for cell in point.get("cells") or [point["cell"]]]


Found = tuple[Place, Mapping[str, Any]]


def _renamed_places(before: Figures, after: Figures) -> dict[str, str]:
    """On an axis of names, the names now -> those of before: the cells below stay the same."""
    if (before.get("x") or {}).get("field") not in NAMED:
        return {}
    at = {cell: x for x, cell in _cells_by_place(before)}
    known = set(at.values())
    found = {x: at[cell] for x, cell in _cells_by_place(after) if x not in known and cell in at}
    # Where one of the old names is still used, nothing was renamed.
    return {now: old for now, old in found.items() if old not in set(after["x"]["values"])}


def _cells_by_place(figures: Figures) -> Iterator[tuple[str, str]]:
    for series in figures["series"]:
        for point in series["points"]:
            for cell in point.get("cells") or [point["cell"]]:
                yield point["x"], cell


def _points(
    figures: Figures, known: Mapping[str, str], places: Mapping[str, str]
) -> dict[Key, Found]:
    """By the series and the place, as both were called before."""
    return {
        (known.get(series["id"], series["id"]), places.get(point["x"], point["x"])): (
            Place(series["id"], series["label"], point["x"], point["trials"]),
            point["metrics"],
        )
        for series in figures["series"]
        for point in series["points"]
    }


def _of_point(was: Found, now: Found, figures: Figures, relevant: float) -> Iterator[Difference]:
    for metric in figures["metrics"]:
        id_ = metric["id"]
        if id_ not in was[1] or id_ not in now[1]:
            continue
        old, new = was[1][id_] or {}, now[1][id_] or {}
        before, after = old.get("value"), new.get("value")
        if _same(before, after):
            continue
        found = None
        if before is not None and after is not None:
            found = ratio(_each(old), _each(new), better=metric["better"], relevant=relevant)
        yield Difference(now[0], id_, metric["label"], metric["unit"], before, after, found)


def _each(measure: Mapping[str, Any]) -> list[float]:
    return [one for one in measure.get("each") or [] if one is not None]


def _same(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return math.isclose(before, after, rel_tol=SAME)


def _said(figures: Figures) -> tuple[str, str]:
    return figures["finding"], figures["outcome"]["status"]


def _renamed(
    before: Figures, after: Figures, known: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    labels = {known.get(one["id"], one["id"]): one["label"] for one in after["series"]}
    for one in before["series"]:
        now = labels.get(one["id"])
        if now is not None and now != one["label"]:
            yield one["label"], now
