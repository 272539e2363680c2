"""The checks that fired among what a comparison shows, counted."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.analysis.grouping.points import Point
from backend.analysis.query.records import LoadedDismissal
from backend.runs.checks import CHECKS, Check

MAX_LISTED = 100
CEILING_SERVERS = 3
CEILING_SHARE = 0.01
_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(slots=True)
class Fired:
    """One check with the cells and trials it fired on."""

    check: Check
    cells: list[str] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)
    # Where it fired too, but a member said why that is no finding: counted nowhere above.
    dismissed: dict[uuid.UUID, LoadedDismissal] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.cells) + len(self.trials)

    def as_dict(self) -> dict[str, object]:
        return {
            **describe_check(self.check),
            "count": self.count,
            "cells": self.cells[:MAX_LISTED],
            "trials": self.trials[:MAX_LISTED],
            "dismissed": [one.as_dict() for one in self.dismissed.values()],
        }


def find_check(id_: str) -> Check:
    """The check, or a stand-in for one that an older version stored and is gone since."""
    gone = Check(id_, "info", id_, "This version of Loadsheet no longer has this check.")
    return CHECKS.get(id_, gone)


def describe_check(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "severity": check.severity,
        "title": check.title,
        "explanation": check.explanation,
        "section": f"/docs/checks#{check.id}",
    }


Dismissals = Mapping[tuple[uuid.UUID, str], LoadedDismissal]


def collect_fired_checks(
    points: Iterable[Point], ceiling: Sequence[Point] = (), dismissals: Dismissals | None = None
) -> list[Fired]:
    """Every check that fired, the gravest first. `ceiling`: points with one common limit."""
    found: dict[str, Fired] = {}
    known = dismissals or {}
    for point in points:
        runs = {cell.run.id for cell in point.cells}
        for id_ in point.cell_checks:
            if not _dismissed(found, id_, runs, known):
                _of(found, id_).cells.append(str(point.cells[0].id))
        for cell in point.cells:
            for where, id_ in ((one.id, id_) for one in cell.trials for id_ in one.checks):
                if not _dismissed(found, id_, {cell.run.id}, known):
                    _of(found, id_).trials.append(str(where))
    for point in ceiling:
        _of(found, "common-ceiling").cells.append(str(point.cells[0].id))
    return sorted(found.values(), key=lambda one: (_ORDER[one.check.severity], one.check.id))


def _dismissed(
    found: dict[str, Fired], id_: str, runs: set[uuid.UUID], dismissals: Dismissals
) -> bool:
    """Whether the finding is dismissed in every run it is of; then it is listed as such."""
    if not dismissals or not all((run, id_) in dismissals for run in runs):
        return False
    _of(found, id_).dismissed.update({run: dismissals[run, id_] for run in runs})
    return True


def _of(found: dict[str, Fired], id_: str) -> Fired:
    return found.setdefault(id_, Fired(find_check(id_)))


def common_ceiling(points: Sequence[Point]) -> list[Point]:
    """The points of one load, when three or more servers reach the same throughput."""
    known = [point for point in points if point.metrics["throughput"].value]
    names = {point.cells[0].server.name for point in known}
    rates = [point.metrics["throughput"].value or 0.0 for point in known]
    if len(names) < CEILING_SERVERS or max(rates) / min(rates) - 1 > CEILING_SHARE:
        return []
    return known
