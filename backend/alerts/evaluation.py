"""What the rules of a workspace say of a run, and of its agents and hosts.

A run is judged once, by every rule that selects it. Nobody is told of a bad sighting until a second
run shows it too.
"""

import time
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from backend.alerts.lifecycle import Sighting, apply_sightings
from backend.alerts.models import AlertRule, RuleKind
from backend.alerts.regressions import find_baseline, judge_regressions
from backend.alerts.rules import OVER_A_VIEW
from backend.alerts.series_runs import MOST_SERIES, SeriesRuns, WatchedSeries
from backend.alerts.subject_states import find_subject_states
from backend.alerts.thresholds import judge_error_rates, judge_hosts
from backend.analysis.judge.history import History
from backend.analysis.loading.selection import NotVisible, select
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.models import Run
from backend.runs.tables.happening import newest_first

# After so long, no further series of a view is loaded: the runs of other people wait.
VIEW_S = 60.0


def rules_by_view(run: Run, *, without: Collection[UUID] = ()) -> list[list[AlertRule]]:
    """The rules that judge a run: those that watch the same runs together, so that these are loaded
    once. `without`: ids of rules."""
    groups: dict[Hashable, list[AlertRule]] = {}
    rows = _rules_over_runs(run.workspace_id).exclude(pk__in=without)
    for rule in rows.select_related("view", "workspace"):
        watched = None if rule.view is None else rule.view.query
        is_over_view = rule.kind in OVER_A_VIEW
        groups.setdefault((is_over_view, is_over_view and (watched, rule.label)), []).append(rule)
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class Judgement:
    """What rules of one view say of a run. `problem`: why it is not all, in a sentence, or empty.

    `sightings`: by rule; empty where a problem kept the rules from judging.
    """

    run: Run
    rules: Sequence[AlertRule]
    sightings: Sequence[Sequence[Sighting]] = ()
    problem: str = ""

    def store(self) -> None:
        """Write what follows from it. Call it in a transaction."""
        for rule, sightings in zip(self.rules, self.sightings, strict=False):
            apply_sightings(rule, sightings, run=self.run)
        changed = [rule.pk for rule in self.rules if rule.problem != self.problem]
        AlertRule.objects.filter(pk__in=changed).update(problem=self.problem)


def judge_alike(rules: Sequence[AlertRule], run: Run) -> Judgement:
    """Judge a complete run by rules of one view. Nothing is stored."""
    try:
        return _judge(rules, run)
    except (QueryError, NotVisible) as error:
        return Judgement(run, rules, problem=str(error))


def note_problem(workspace_id: UUID, problem: str, *, without: Collection[UUID] = ()) -> None:
    """Tell the rules over runs, without these ids, why a run was not judged."""
    _rules_over_runs(workspace_id).exclude(pk__in=without).update(problem=problem)


def _rules_over_runs(workspace_id: UUID) -> QuerySet[AlertRule]:
    rules = AlertRule.objects.filter(workspace=workspace_id, is_enabled=True)
    return rules.exclude(kind=RuleKind.SILENT_AGENT)


def _judge(rules: Sequence[AlertRule], run: Run) -> Judgement:
    first = rules[0]
    if first.kind == RuleKind.NOISY_HOST:
        return Judgement(run, rules, [judge_hosts(run, _threshold(rule)) for rule in rules])
    if first.view is None:
        raise QueryError("view", "a deleted view", "a saved view: choose another for this rule")
    runs = _runs_of(query_of(first), run)
    if not runs.includes(run):
        return Judgement(run, rules)
    needs_baseline = any(rule.kind == RuleKind.REGRESSION for rule in rules)
    watched, is_late = _load(runs, run, needs_baseline=needs_baseline)
    sightings = [_sightings(rule, watched) for rule in rules]
    left_out = _left_out(len(watched) if is_late else MOST_SERIES, runs.count_series(run))
    return Judgement(run, rules, sightings, left_out)


def _load(
    runs: SeriesRuns, run: Run, *, needs_baseline: bool
) -> tuple[list[tuple[WatchedSeries, History | None]], bool]:
    """The series of the run with their baselines, and whether `VIEW_S` was over before the last."""
    deadline = time.monotonic() + VIEW_S
    loaded: list[tuple[WatchedSeries, History | None]] = []
    for series in runs.watch(run):
        if loaded and time.monotonic() > deadline:
            return loaded, True
        loaded.append((series, find_baseline(series, runs.query) if needs_baseline else None))
    return loaded, False


def _left_out(judged: int, count: int) -> str:
    if count <= judged:
        return ""
    return (
        f"Only the first {judged} of {count:,} series of the newest run were judged, by server. "
        "Make several rules, each with a view of fewer servers or workloads."
    )


def _sightings(
    rule: AlertRule, watched: Sequence[tuple[WatchedSeries, History | None]]
) -> Sequence[Sighting]:
    if rule.kind == RuleKind.ERROR_RATE:
        return judge_error_rates([series for series, _ in watched], _threshold(rule))
    pairs = [(series, history) for series, history in watched if history is not None]
    return list(judge_regressions(pairs, rule.metrics, find_subject_states(rule)))


def query_of(rule: AlertRule) -> CompareQuery:
    """The filters of the rule's view and label, without what only draws. Raises QueryError."""
    assert rule.view is not None
    asked = CompareQuery.parse(rule.view.query)
    query = replace(CompareQuery(), filters=asked.filters).with_filters(run=[])
    if not rule.label:
        return query
    return query.with_filters(label=sorted({*query.wanted("label"), rule.label}))


def _runs_of(query: CompareQuery, run: Run) -> SeriesRuns:
    """The complete runs that the query shows. Raises QueryError."""
    selection = select(query, [run.workspace_id])
    cells = selection.cells().filter(trial_count__gt=0)
    own = Exists(cells.filter(run=OuterRef("pk")))
    rows: QuerySet[Any] = selection.chosen_runs().filter(own, is_open=False)
    return SeriesRuns(query, newest_first(rows), cells)


def _threshold(rule: AlertRule) -> float:
    assert rule.threshold is not None
    return rule.threshold
