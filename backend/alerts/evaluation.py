"""What the rules of a workspace say of a run, and of its agents and hosts.

A run is judged once, by every rule that selects it. Nobody is told of a bad sighting until a second
run shows it too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from backend.alerts.lifecycle import Sighting, apply_sightings
from backend.alerts.models import (
    OPEN_STATES,
    Alert,
    AlertRule,
    AlertState,
    PendingRun,
    RuleKind,
)
from backend.alerts.regressions import judge_regressions
from backend.alerts.thresholds import judge_error_rates, judge_hosts
from backend.analysis.loading.selection import NotVisible, select
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.models import Run
from backend.runs.tables.happening import happened_at, happened_at_of, newest_first

# Older runs say less about today's level.
HISTORY = 10


def judge_run(run: Run) -> None:
    """Judge a complete run by every rule of its workspace, and store what follows."""
    rules = AlertRule.objects.filter(workspace=run.workspace_id, is_enabled=True)
    for rule in rules.exclude(kind=RuleKind.SILENT_AGENT).select_related("view", "workspace"):
        problem = ""
        try:
            _judge(rule, run)
        except (QueryError, NotVisible) as error:
            problem = str(error)
        if problem != rule.problem:
            AlertRule.objects.filter(pk=rule.pk).update(problem=problem)


def _judge(rule: AlertRule, run: Run) -> None:
    if rule.kind == RuleKind.NOISY_HOST:
        apply_sightings(rule, judge_hosts(run, _threshold(rule)), run=run, before=None)
        return
    if rule.view is None:
        raise QueryError("view", "a deleted view", "a saved view: choose another for this rule")
    query = query_of(rule)
    runs = _runs_of(query, run)
    if _is_overtaken(runs, run):
        # It was uploaded late: later runs have decided already.
        return
    earlier = list(_baseline(rule, runs, run))
    sightings = _sightings(rule, query, run, earlier)
    apply_sightings(rule, sightings, run=run, before=earlier[0] if earlier else None)


def _sightings(
    rule: AlertRule, query: CompareQuery, run: Run, earlier: Sequence[Run]
) -> list[Sighting]:
    if rule.kind == RuleKind.ERROR_RATE:
        return judge_error_rates(query, run, _threshold(rule))
    return judge_regressions(query, run, [each.pk for each in earlier], rule.metrics)


def query_of(rule: AlertRule) -> CompareQuery:
    """The filters of the rule's view and label, without what only draws. Raises QueryError."""
    assert rule.view is not None
    asked = CompareQuery.parse(rule.view.query)
    query = replace(CompareQuery(), filters=asked.filters).with_filters(run=[])
    if not rule.label:
        return query
    return query.with_filters(label=sorted({*query.wanted("label"), rule.label}))


def _runs_of(query: CompareQuery, run: Run) -> QuerySet[Any]:
    """The complete runs that the query shows, with `happened_at`, the newest first.

    Raises QueryError.
    """
    selection = select(query, [run.workspace_id])
    own = selection.cells().filter(run=OuterRef("pk"), trial_count__gt=0)
    rows: QuerySet[Any] = selection.chosen_runs().filter(Exists(own), is_open=False)
    return newest_first(rows)


def _is_overtaken(runs: QuerySet[Any], run: Run) -> bool:
    """Whether a later run was judged already, or the query does not show this run."""
    later = runs.filter(happened_at__gt=happened_at(run))
    judged = later.exclude(pk__in=PendingRun.objects.values("run"))
    return judged.exists() or not runs.filter(pk=run.pk).exists()


def _baseline(rule: AlertRule, runs: QuerySet[Any], run: Run) -> Iterable[Run]:
    """The runs before an open alert began, else all before this one; without those of alerts that
    were fixed, and since the last accepted change of level."""
    rows = runs.exclude(pk=run.pk).filter(happened_at__lte=happened_at(run))
    if rule.baseline_since is not None:
        rows = rows.filter(happened_at__gte=rule.baseline_since)
    begun = _happened(rule, OPEN_STATES).order_by("first_at").values_list("first_at", flat=True)
    if (first_at := begun.first()) is not None:
        rows = rows.filter(happened_at__lt=first_at)
    fixed = _happened(rule, [AlertState.FIXED]).order_by("-first_at")
    for first, last in fixed.values_list("first_at", "last_at")[:HISTORY]:
        rows = rows.exclude(happened_at__gte=first, happened_at__lte=last)
    return rows[:HISTORY]


def _happened(rule: AlertRule, states: Iterable[str]) -> QuerySet[Any]:
    """Alerts of the rule with the times of their first and last run."""
    return Alert.objects.filter(rule=rule, state__in=states, first_run__isnull=False).annotate(
        first_at=happened_at_of("first_run__"), last_at=happened_at_of("last_run__")
    )


def _threshold(rule: AlertRule) -> float:
    assert rule.threshold is not None
    return rule.threshold
