"""The comparison: one question in, one answer out, the same for page, API, export and snapshot."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.analysis.cells import load_cells, slug_of, with_trials
from backend.analysis.checks import Fired, common_ceiling, fired_checks
from backend.analysis.conditions import conditions_of
from backend.analysis.facts import CellFact, RunFact
from backend.analysis.finding import finding_of, no_finding, nothing_at
from backend.analysis.merging import merged_percentiles
from backend.analysis.outcome import Outcome, outcome_of
from backend.analysis.points import Point, plain, point_of
from backend.analysis.query import CompareQuery
from backend.analysis.ranking import Entrant, Ranking, rank
from backend.analysis.series import SeriesGroup, axis_of, group, host_label
from backend.analysis.times import instant
from backend.runs.moment import one_moment

SCHEMA = 1
METRICS = [
    {"id": "throughput", "label": "Throughput", "unit": "req/s", "better": "higher"},
    {"id": "p50", "label": "Latency p50", "unit": "us", "better": "lower"},
    {"id": "p99", "label": "Latency p99", "unit": "us", "better": "lower"},
    {"id": "error_rate", "label": "Error rate", "unit": "ratio", "better": "lower"},
]
X_LABELS = {"connections": "Connections", "rate": "Offered requests/s"}


@dataclass(frozen=True, slots=True)
class Sweep:
    """One series with the figures of its points."""

    group: SeriesGroup
    points: tuple[Point, ...]

    def at(self, x: float) -> Point | None:
        return next((point for point in self.points if point.x == x), None)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything a comparison says, before it is put into words."""

    query: CompareQuery
    axis: str
    runs: tuple[RunFact, ...]
    sweeps: tuple[Sweep, ...]
    left_out: tuple[str, ...]

    @property
    def values(self) -> list[float]:
        return sorted({point.x for sweep in self.sweeps for point in sweep.points})

    @property
    def points(self) -> list[Point]:
        return [point for sweep in self.sweeps for point in sweep.points]

    @property
    def relevant(self) -> float:
        return max((run.relevant_share for run in self.runs), default=0.02)


def compare(query: CompareQuery, *, workspace_ids: Sequence[uuid.UUID]) -> dict[str, Any]:
    """The figures of `query` over what the owner of `workspace_ids` may see.

    Raises NotVisible for a run that does not exist or is not theirs.
    """
    gathered = gather(query, workspace_ids)
    fired = fired_checks(gathered.points, _ceiling(gathered))
    outcome = outcome_of(
        [sweep.group for sweep in gathered.sweeps],
        fired,
        trials=sum(len(point.trials) for point in gathered.points),
    )
    ranking = _ranking(gathered, outcome)
    return _answer(gathered, fired, outcome, ranking)


@one_moment()
def gather(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Gathered:
    """Load, group and compute the points."""
    loaded = load_cells(query, workspace_ids)
    axis = axis_of(query.x, loaded.cells)
    groups, left_out = group(loaded.cells, axis)
    # Trials are the many rows: read for what is shown only.
    cells, cut = with_trials([cell for one in groups for cell in one.cells()])
    groups, _ = group(cells, axis)
    merged = merged_percentiles(at for one in groups for at in one.points.values())
    sweeps = [
        Sweep(one, tuple(point_of(x, at, merged) for x, at in one.points.items())) for one in groups
    ]
    sentences = (*loaded.left_out, *left_out, *cut)
    return Gathered(query, axis, loaded.runs, tuple(sweeps), sentences)


def _ceiling(gathered: Gathered) -> list[Point]:
    """At the largest load a limit shared by several servers shows, if there is one."""
    if not gathered.values:
        return []
    last = gathered.values[-1]
    return common_ceiling([point for point in gathered.points if point.x == last])


def _ranking(gathered: Gathered, outcome: Outcome) -> Ranking | None:
    x = _ranking_load(gathered)
    if outcome.status == "not_comparable" or x is None:
        return None
    found = [(sweep, point) for sweep in gathered.sweeps if (point := sweep.at(x)) is not None]
    if not found:
        return None
    return rank(
        x,
        gathered.query.metric,
        [Entrant(sweep.group.id, sweep.group.label, point) for sweep, point in found],
        baseline=gathered.query.baseline,
        relevant=gathered.relevant,
    )


def _ranking_load(gathered: Gathered) -> float | None:
    """The asked load point, else the largest of those that most series share."""
    if gathered.query.at is not None:
        return gathered.query.at
    shared = Counter(point.x for point in gathered.points)
    return max(shared, key=lambda x: (shared[x], x), default=None)


def _finding(gathered: Gathered, outcome: Outcome, ranking: Ranking | None) -> str:
    if outcome.status == "not_comparable":
        return no_finding(outcome)
    if ranking is None:
        return nothing_at(gathered.query.at or 0.0, gathered.axis, gathered.values)
    text = finding_of(ranking, axis=gathered.axis, relevant=gathered.relevant)
    if gathered.query.baseline is not None and ranking.baseline is None:
        return f"{text}. The baseline {gathered.query.baseline} was not measured there"
    return text


def _answer(
    gathered: Gathered, fired: Sequence[Fired], outcome: Outcome, ranking: Ranking | None
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "query": gathered.query.canonical(),
        "links": _links(gathered),
        "finding": _finding(gathered, outcome, ranking),
        "conditions": conditions_of(gathered.points),
        "outcome": outcome.as_dict(),
        "x": {
            "field": gathered.axis,
            "label": X_LABELS[gathered.axis],
            "values": [plain(value) for value in gathered.values],
        },
        "metric": gathered.query.metric,
        "metrics": [dict(metric) for metric in METRICS],
        "series": [_series(sweep) for sweep in gathered.sweeps],
        "ranking": None if ranking is None else ranking.as_dict(),
        "checks": [one.as_dict() for one in fired],
        "runs": _runs(gathered),
        "truncated": _sentence(gathered.left_out),
    }


def _sentence(left_out: Sequence[str]) -> str | None:
    text = "; ".join(left_out)
    return f"Not everything is shown: {text}." if text else None


def _links(gathered: Gathered) -> dict[str, str]:
    query = gathered.query.canonical()
    tail = f"?{query}" if query else ""
    links = {"json": f"/api/v1/compare{tail}", "csv": f"/api/v1/compare.csv{tail}"}
    slug = gathered.query.workspace or next((run.workspace for run in gathered.runs), None)
    return links if slug is None else {"page": f"/w/{slug}/compare{tail}", **links}


def _series(sweep: Sweep) -> dict[str, Any]:
    first: CellFact = sweep.group.first
    host = first.run.server_host
    return {
        "id": sweep.group.id,
        "label": sweep.group.label,
        "server": first.server.name,
        "server_slug": slug_of(first.server.name),
        "version": first.server.version,
        "workload": first.workload.name,
        "tool": first.tool,
        "host": host_label(first.run),
        "host_slug": None if host is None else host.slug,
        "slot": first.server.slot,
        "points": [point.as_dict() for point in sweep.points],
    }


def _runs(gathered: Gathered) -> list[dict[str, Any]]:
    """The runs whose trials are shown, the newest first."""
    trials: Counter[uuid.UUID] = Counter()
    for point in gathered.points:
        for cell in point.cells:
            trials[cell.run.id] += len(cell.trials)
    return [
        {
            "id": str(run.id),
            "started_at": instant(run.started_at),
            "url": f"/r/{run.id}",
            "trials": trials[run.id],
        }
        for run in gathered.runs
        if trials[run.id]
    ]
