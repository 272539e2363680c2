"""The comparison: one question in, one answer out, the same for page, API, export and snapshot."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.analysis.compare.comparability import Comparability, Status, judge_comparability
from backend.analysis.compare.conditions import conditions_of
from backend.analysis.compare.headline import explain_no_points, explain_no_ranking, write_headline
from backend.analysis.compare.ranking import Entrant, Ranking, rank
from backend.analysis.compare.views import Demands, Derived, Panel, curve_points, derive
from backend.analysis.grouping.fired_checks import (
    Dismissals,
    Fired,
    collect_fired_checks,
    common_ceiling,
)
from backend.analysis.grouping.grouping import Grouping, choose_grouping, group_cells
from backend.analysis.grouping.points import Point, plain, point_of
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.loading.histogram_cache import curves, merged_percentiles
from backend.analysis.loading.rows import fetch_cells, fetch_dismissals, fetch_trials
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.fields import FIELDS, Value, text_of
from backend.analysis.query.metrics import METRICS, shown
from backend.analysis.query.natural_order import ordered
from backend.analysis.query.records import LoadedCell, LoadedRun, slug_of
from backend.analysis.query.timestamps import instant
from backend.runs.transactions import repeatable_read

SCHEMA = 2
MAX_SAID_PANELS = 3
BY_REQUEST = "Not comparable, ranked by request"


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything a comparison says, before it is put into words."""

    query: CompareQuery
    grouping: Grouping
    runs: tuple[LoadedRun, ...]
    sweeps: tuple[Sweep, ...]
    left_out: tuple[str, ...]
    dismissals: Dismissals

    @property
    def values(self) -> list[Value]:
        return ordered({point.x for sweep in self.sweeps for point in sweep.points})

    @property
    def points(self) -> list[Point]:
        return [point for sweep in self.sweeps for point in sweep.points]

    @property
    def demands(self) -> Demands:
        """The largest of the workspaces' thresholds, and all that any of them demands."""
        if not self.runs:
            return Demands()
        return Demands(
            relevant=max(run.relevant_share for run in self.runs),
            must_match=frozenset(name for run in self.runs for name in run.must_match),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """What may be said of series that are held against each other."""

    panel: str | None
    sweeps: tuple[Sweep, ...]
    fired: tuple[Fired, ...]
    outcome: Comparability
    ranking: Ranking | None
    finding: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "value": self.panel,
            "series": [sweep.group.id for sweep in self.sweeps],
            "finding": self.finding,
            "outcome": self.outcome.as_dict(),
            "ranking": None if self.ranking is None else self.ranking.as_dict(),
        }


def compare(query: CompareQuery, *, workspace_ids: Sequence[uuid.UUID]) -> dict[str, Any]:
    """The figures of `query` over what the owner of `workspace_ids` may see.

    Raises NotVisible for a run that does not exist or is not theirs.
    """
    with repeatable_read():
        gathered = gather(query, workspace_ids)
        judged = [_judge(gathered, panel, sweeps) for panel, sweeps in _panels(gathered).items()]
        derived = _derive(gathered, judged)
    return _answer(gathered, judged, derived)


def _derive(gathered: Gathered, judged: Sequence[Judged]) -> Derived:
    panels = {one.panel: Panel(ranking_place(gathered, one.sweeps), one.outcome) for one in judged}
    points = curve_points(gathered.sweeps, panels)
    return derive(
        gathered.query,
        gathered.grouping,
        gathered.sweeps,
        panels=panels,
        curves=curves(point.cells for point in points),
        demands=gathered.demands,
    )


def gather(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Gathered:
    """Load, group and compute the points."""
    loaded = fetch_cells(query, workspace_ids)
    query = loaded.query
    grouping = choose_grouping(query, loaded.cells)
    groups, left_out = group_cells(loaded.cells, grouping)
    metrics = _metrics(query, loaded.cells)
    # Trials are the many rows: read for what is shown only.
    cells, cut = fetch_trials([cell for one in groups for cell in one.cells()], metrics)
    groups, _ = group_cells(cells, grouping)
    merged = merged_percentiles(at for one in groups for at in one.points.values())
    sweeps = [
        Sweep(one, tuple(point_of(x, at, merged, metrics) for x, at in one.points.items()))
        for one in groups
    ]
    sentences = (*loaded.left_out, *left_out, *cut)
    dismissals = fetch_dismissals([run.id for run in loaded.runs])
    return Gathered(query, grouping, loaded.runs, tuple(sweeps), sentences, dismissals)


def _metrics(query: CompareQuery, cells: Sequence[LoadedCell]) -> tuple[str, ...]:
    """The metrics of every point; the share of the offered rate where one was offered."""
    asked = shown(query.metric)
    offered = "achieved" not in asked and any(cell.rate_rps is not None for cell in cells)
    return (*asked, "achieved") if offered else asked


def _panels(gathered: Gathered) -> dict[str | None, tuple[Sweep, ...]]:
    return _parted(gathered.sweeps, lambda sweep: sweep.group.panel) or {None: ()}


def _parted(
    sweeps: Sequence[Sweep], read: Callable[[Sweep], str | None]
) -> dict[str | None, tuple[Sweep, ...]]:
    found: dict[str | None, list[Sweep]] = defaultdict(list)
    for sweep in sweeps:
        found[read(sweep)].append(sweep)
    return {key: tuple(inside) for key, inside in found.items()}


def _judge(gathered: Gathered, panel: str | None, sweeps: tuple[Sweep, ...]) -> Judged:
    """Checks, outcome, ranking and finding of the series of one panel."""
    judged = _checked(gathered, panel, sweeps)
    ranking = _ranking(gathered, sweeps) if judged.outcome.ranks else None
    finding = _finding(gathered, sweeps, judged.outcome, ranking)
    return replace(judged, ranking=ranking, finding=finding)


def _checked(gathered: Gathered, panel: str | None, sweeps: tuple[Sweep, ...]) -> Judged:
    """Whether the series may be held against each other; not ranked, nothing found yet."""
    points = [point for sweep in sweeps for point in sweep.points]
    fired = collect_fired_checks(points, _ceiling(points), gathered.dismissals)
    outcome = judge_comparability(
        [sweep.group for sweep in sweeps],
        fired,
        trials=sum(len(point.trials) for point in points),
        grouping=gathered.grouping,
        must_match=gathered.demands.must_match,
        override=gathered.query.override,
    )
    return Judged(panel, sweeps, tuple(fired), outcome, None, "")


def _ceiling(points: Sequence[Point]) -> list[Point]:
    """At the largest load a limit shared by several servers shows, if there is one."""
    if not points:
        return []
    last = ordered({point.x for point in points})[-1]
    return common_ceiling([point for point in points if point.x == last])


def _ranking(gathered: Gathered, sweeps: Sequence[Sweep]) -> Ranking | None:
    x = ranking_place(gathered, sweeps)
    found = [(sweep, point) for sweep in sweeps if (point := sweep.at(x)) is not None]
    if x is None or not found:
        return None
    return rank(
        x,
        gathered.query.metric,
        [Entrant(sweep.group.id, sweep.group.label, point) for sweep, point in found],
        baseline=gathered.query.baseline,
        relevant=gathered.demands.relevant,
    )


def ranking_place(gathered: Gathered, sweeps: Sequence[Sweep]) -> Value:
    """The asked place on the axis, else the last of those that most series share."""
    places = Counter(point.x for sweep in sweeps for point in sweep.points)
    if gathered.query.at is not None:
        return next((x for x in places if x is not None and text_of(x) == gathered.query.at), None)
    most = max(places.values(), default=0)
    shared = ordered(x for x, count in places.items() if count == most)
    return shared[-1] if shared else None


def _finding(
    gathered: Gathered, sweeps: Sequence[Sweep], outcome: Comparability, ranking: Ranking | None
) -> str:
    if not outcome.ranks:
        return explain_no_ranking(outcome)
    if ranking is None:
        places = ordered({point.x for sweep in sweeps for point in sweep.points})
        return explain_no_points(gathered.query.at or "", gathered.grouping.x, places)
    text = write_headline(ranking, axis=gathered.grouping.x, relevant=gathered.demands.relevant)
    if outcome.overridden:
        text = f"{BY_REQUEST}: {text}"
    if gathered.query.baseline is not None and ranking.baseline is None:
        return f"{text}. The baseline {gathered.query.baseline} was not measured there"
    return text


def _answer(gathered: Gathered, judged: Sequence[Judged], derived: Derived) -> dict[str, Any]:
    one = judged[0] if gathered.grouping.facet is None else None
    outcome = one.outcome if one else _outcomes(judged)
    ranking = one.ranking if one else None
    finding = one.finding if one else _findings(gathered, judged)
    figures = derived.as_dict(gathered.query)
    if derived.ratios is not None:
        by_workload = _by_workload(gathered) if one else outcome
        figures["ratios"]["outcome"] = by_workload.as_dict()
        # Where ratios are what is asked for, nothing is said across the workloads.
        if gathered.query.view == "ratios":
            outcome, ranking = by_workload, None
    return {
        "schema": SCHEMA,
        "query": gathered.query.canonical(),
        "links": _links(gathered),
        "finding": _ratio_finding(gathered, outcome, derived)
        or _with_derived(finding, derived.finding, outcome),
        "conditions": conditions_of(gathered.points),
        "outcome": outcome.as_dict(),
        "x": _axis(gathered),
        "metric": gathered.query.metric,
        "metrics": [metric.as_dict() for metric in METRICS.values()],
        "series": [_series(sweep, gathered.grouping) for sweep in gathered.sweeps],
        "ranking": None if ranking is None else ranking.as_dict(),
        "panels": None if one else [panel.as_dict() for panel in judged],
        **figures,
        "checks": [fired.as_dict() for fired in _together(judged)],
        "runs": _runs(gathered),
        "truncated": _sentence(gathered.left_out),
    }


def _ratio_finding(gathered: Gathered, outcome: Comparability, derived: Derived) -> str | None:
    """The sentence of the table of ratios, where that is what was asked for."""
    if gathered.query.view != "ratios" or derived.ratios is None or not outcome.ranks:
        return None
    label = METRICS[gathered.query.metric].label
    text = derived.ratios.finding(label)
    if text is None and gathered.grouping.facet is None:
        text = f"{label} relative to {derived.ratios.baseline}. {derived.ratios.means_text()}"
    return f"{BY_REQUEST}: {text}" if text and outcome.overridden else text


def _with_derived(finding: str, derived: str | None, outcome: Comparability) -> str:
    """The sentence of the asked view in place of the ranking's; never without why there is none."""
    if derived is None:
        return finding
    if outcome.overridden:
        return f"Not comparable, shown by request: {derived}"
    return derived if outcome.ranks else f"{finding}. Each for itself: {derived}"


def _findings(gathered: Gathered, judged: Sequence[Judged]) -> str:
    """What the panels find, one after the other."""
    said = [_of_panel(one) for one in judged[:MAX_SAID_PANELS]]
    more = len(judged) - len(said)
    tail = f"; and {more} more" if more else ""
    return f"By {FIELDS[gathered.grouping.facet or ''].label.lower()}: {'; '.join(said)}{tail}"


def _of_panel(one: Judged) -> str:
    """The finding of a panel under its name, which is not said twice: in a panel of one server
    the finding begins with that server."""
    named = one.finding == one.panel or one.finding.startswith(f"{one.panel} ")
    return one.finding if named else f"{one.panel}: {one.finding}"


_GRAVITY: tuple[Status, ...] = ("comparable", "caveats", "not_comparable")


def _outcomes(judged: Sequence[Judged]) -> Comparability:
    """The gravest outcome of the panels, with the reasons of all; those of each are said once."""
    gravest = max((one.outcome.status for one in judged), key=_GRAVITY.index)
    differing = dict.fromkeys(id_ for one in judged for id_ in one.outcome.differing)
    every = Counter(text for one in judged for text in one.outcome.reasons)
    reasons = dict.fromkeys(
        text if every[text] == len(judged) > 1 else f"{one.panel}: {text}"
        for one in judged
        for text in one.outcome.reasons
    )
    # What a comparison is about is said of all panels where it is so in each.
    about = {(one.outcome.intent, one.outcome.confounded) for one in judged}
    intent, confounded = about.pop() if len(about) == 1 else (None, ())
    overridden = any(one.outcome.overridden for one in judged)
    return Comparability(gravest, tuple(differing), tuple(reasons), intent, confounded, overridden)


def _by_workload(gathered: Gathered) -> Comparability:
    """The outcome of a table of ratios: nothing in it is held against another workload.

    Where some workloads are withheld and others not, that is a caveat of the table.
    """
    parts = _parted(gathered.sweeps, lambda sweep: sweep.group.first.workload.name)
    judged = [_checked(gathered, workload, sweeps) for workload, sweeps in parts.items()]
    outcome = _outcomes(judged)
    alike = [one for one in judged if one.outcome.status != "not_comparable"]
    if alike and not outcome.overridden and len(alike) < len(judged):
        return replace(outcome, status="caveats")
    return outcome


def _together(judged: Sequence[Judged]) -> list[Fired]:
    """The checks of all panels, each once."""
    found: dict[str, Fired] = {}
    for fired in (fired for one in judged for fired in one.fired):
        known = found.setdefault(fired.check.id, Fired(fired.check))
        known.cells += fired.cells
        known.trials += fired.trials
        known.dismissed |= fired.dismissed
    return list(found.values())


def _axis(gathered: Gathered) -> dict[str, Any]:
    field = FIELDS[gathered.grouping.x]
    return {
        "field": field.id,
        "label": field.label,
        "kind": field.kind,
        "values": [plain(value) for value in gathered.values],
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


def _series(sweep: Sweep, grouping: Grouping) -> dict[str, Any]:
    first: LoadedCell = sweep.group.first
    series, host = first.series, first.series.server_host
    return {
        "id": sweep.group.id,
        "label": sweep.group.label,
        "server": series.server.name,
        "server_slug": slug_of(series.server.name),
        "version": series.server.version,
        "runtime": series.server.runtime,
        "configuration": " ".join(series.server.settings) or None,
        "workload": series.workload.name,
        "workload_slug": slug_of(series.workload.name),
        "tool": series.tool,
        "loop": series.loop,
        "load": sweep.group.held,
        "host": None if host is None else host.label,
        "host_slug": None if host is None else host.slug,
        "facet": sweep.group.panel,
        "slot": series.server.slot,
        "points": [point.as_dict() for point in sweep.points],
    }


def _runs(gathered: Gathered) -> list[dict[str, Any]]:
    """The runs whose trials are shown, the newest first."""
    trials: Counter[uuid.UUID] = Counter()
    servers: dict[uuid.UUID, set[str]] = {}
    for cell in (cell for point in gathered.points for cell in point.cells):
        trials[cell.run.id] += len(cell.trials)
        servers.setdefault(cell.run.id, set()).add(cell.server.name)
    return [
        {
            "id": str(run.id),
            "started_at": instant(run.started_at),
            "recorded_at": instant(run.recorded_at),
            "url": f"/r/{run.id}",
            "servers": sorted(servers[run.id]),
            "trials": trials[run.id],
            # Of a run that has ended nothing is said, so that what was frozen keeps its bytes.
            **({"open": True} if run.is_open else {}),
        }
        for run in gathered.runs
        if trials[run.id]
    ]
