"""What the rules of a workspace say of a run, and of its agents and hosts.

A run is judged once, by every rule that selects it. Nobody is told of a bad sighting until a second
run shows it too.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from backend.alerts.lifecycle import Sighting, apply_sightings
from backend.alerts.models import AlertRule, RuleKind
from backend.alerts.regressions import judge_regressions
from backend.alerts.series_runs import MOST_SERIES, SeriesRuns
from backend.alerts.subject_states import find_subject_states
from backend.alerts.thresholds import judge_error_rates, judge_hosts
from backend.analysis.loading.selection import NotVisible, select
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.models import Run
from backend.runs.tables.happening import newest_first


def judge_run(run: Run) -> None:
    """Judge a complete run by every rule of its workspace, and store what follows."""
    rules = AlertRule.objects.filter(workspace=run.workspace_id, is_enabled=True)
    for rule in rules.exclude(kind=RuleKind.SILENT_AGENT).select_related("view", "workspace"):
        try:
            problem = _judge(rule, run)
        except (QueryError, NotVisible) as error:
            problem = str(error)
        if problem != rule.problem:
            AlertRule.objects.filter(pk=rule.pk).update(problem=problem)


def _judge(rule: AlertRule, run: Run) -> str:
    """What was not judged, in a sentence; empty where everything was."""
    if rule.kind == RuleKind.NOISY_HOST:
        apply_sightings(rule, judge_hosts(run, _threshold(rule)), run=run)
        return ""
    if rule.view is None:
        raise QueryError("view", "a deleted view", "a saved view: choose another for this rule")
    runs = _runs_of(query_of(rule), run)
    if not runs.includes(run):
        return ""
    apply_sightings(rule, _sightings(rule, run, runs), run=run)
    count = runs.count_series(run)
    if count <= MOST_SERIES:
        return ""
    return (
        f"The newest run has {count:,} series, and the first {MOST_SERIES} by server were judged. "
        "Make a rule for each part, with views that choose servers or workloads."
    )


def _sightings(rule: AlertRule, run: Run, runs: SeriesRuns) -> Sequence[Sighting]:
    if rule.kind == RuleKind.ERROR_RATE:
        return judge_error_rates(run, runs, _threshold(rule))
    return list(judge_regressions(run, runs, rule.metrics, find_subject_states(rule)))


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
