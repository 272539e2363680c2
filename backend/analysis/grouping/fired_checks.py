"""The checks that fired among what a comparison shows, counted."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from msgspec import UNSET

from backend.analysis import figures
from backend.analysis.grouping.points import Point
from backend.analysis.query.records import LoadedCell, LoadedDismissal, LoadedTrial
from backend.links import check_link
from backend.runs.checks import CHECKS, SEVERITIES, Check

MAX_LISTED = 100


@dataclass(slots=True)
class Fired:
    """One check with the cells and trials it fired on."""

    check: Check
    cells: list[str] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)
    # The runs of both, each once.
    runs: dict[uuid.UUID, None] = field(default_factory=dict)
    # Where it fired too, but a member said why that is no finding: counted nowhere above.
    dismissed: dict[uuid.UUID, LoadedDismissal] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.cells) + len(self.trials)

    def to_record(self) -> figures.FiredCheck:
        return figures.FiredCheck(
            id=self.check.id,
            severity=self.check.severity,
            title=self.check.title,
            explanation=self.check.advice,
            section=check_link(self.check.id),
            count=self.count,
            cells=self.cells[:MAX_LISTED],
            trials=self.trials[:MAX_LISTED],
            runs=self._blocking_runs() or UNSET,
            dismissed=[dismissal.to_record() for dismissal in self.dismissed.values()],
        )

    def _blocking_runs(self) -> list[str]:
        """The runs to look at where the check keeps series out of a ranking; none otherwise."""
        if self.check.severity != "error":
            return []
        return [str(run) for run in islice(self.runs, MAX_LISTED)]


def find_check(id_: str) -> Check:
    """The check, or a stand-in for one that an older version stored and is gone since."""
    if (check := CHECKS.get(id_)) is not None:
        return check
    return Check(
        id=id_,
        severity="info",
        title=id_,
        explanation="This version of Loadsheet no longer has this check.",
        remedy="",
    )


def describe_check(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "severity": check.severity,
        "title": check.title,
        "explanation": check.advice,
        "section": check_link(check.id),
    }


Dismissals = Mapping[tuple[uuid.UUID, str], LoadedDismissal]


def collect_fired_checks(
    points: Iterable[Point],
    shared: Mapping[str, Sequence[Point]],
    dismissals: Dismissals | None = None,
) -> list[Fired]:
    """Every check that fired, the gravest first.

    `shared`: the ids of the rules over several series that fire, each with its points.
    """
    collection = _Collection(dismissals or {})
    for point in points:
        for id_ in point.cell_checks:
            collection.add_point(id_, point)
        for cell, trial, id_ in _trial_checks(point):
            collection.add_trial(id_, cell, trial)
    for id_, members in shared.items():
        for point in members:
            collection.add_point(id_, point)
    return sorted(
        collection.by_id.values(),
        key=lambda fired: (SEVERITIES.index(fired.check.severity), fired.check.id),
    )


def undismissed_checks(point: Point, dismissals: Dismissals) -> list[str]:
    """The ids of the checks that fired on a point and that no member dismissed in its runs."""
    fired = [(cell.run.id, id_) for cell in point.cells for id_ in point.cell_checks]
    fired += [(cell.run.id, id_) for cell, _, id_ in _trial_checks(point)]
    return list(dict.fromkeys(id_ for run, id_ in fired if (run, id_) not in dismissals))


def _trial_checks(point: Point) -> Iterator[tuple[LoadedCell, LoadedTrial, str]]:
    for cell in point.cells:
        for trial in cell.trials:
            for id_ in trial.checks:
                yield cell, trial, id_
        for trial in cell.duplicates:
            for id_ in (*trial.checks, "duplicate"):
                yield cell, trial, id_


def count_trials(points: Iterable[Point]) -> int:
    """The trials that a check can fire on, those that count in no figure included."""
    cells = (cell for point in points for cell in point.cells)
    return sum(len(cell.trials) + len(cell.duplicates) for cell in cells)


@dataclass(frozen=True, slots=True)
class _Collection:
    """Fired checks by id, while they are collected."""

    dismissals: Dismissals
    by_id: dict[str, Fired] = field(default_factory=dict)

    def add_point(self, id_: str, point: Point) -> None:
        if fired := self.undismissed(id_, {cell.run.id for cell in point.cells}):
            fired.cells.append(str(point.cells[0].id))
            fired.runs |= dict.fromkeys(cell.run.id for cell in point.cells)

    def add_trial(self, id_: str, cell: LoadedCell, trial: LoadedTrial) -> None:
        if fired := self.undismissed(id_, {cell.run.id}):
            fired.trials.append(str(trial.id))
            fired.runs[cell.run.id] = None

    def fired(self, id_: str) -> Fired:
        if id_ not in self.by_id:
            self.by_id[id_] = Fired(find_check(id_))
        return self.by_id[id_]

    def undismissed(self, id_: str, runs: set[uuid.UUID]) -> Fired | None:
        """The check to count; None if it is dismissed in every run, which is listed then."""
        fired = self.fired(id_)
        if not all((run, id_) in self.dismissals for run in runs):
            return fired
        fired.dismissed.update({run: self.dismissals[run, id_] for run in runs})
        return None
