"""An alert in words and as JSON: its range of runs and commits, and the links to look further."""

from typing import Any

from backend.alerts.models import Alert, AlertState, RuleKind
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.analysis.query.timestamps import instant
from backend.links import absolute, link_to, pair_link, run_link
from backend.runs.models import Run
from backend.runs.tables.happening import happened_at

STATE_TEXTS = {
    AlertState.UNCONFIRMED: "Not confirmed yet",
    AlertState.NEW: "New alert",
    AlertState.ACKNOWLEDGED: "Acknowledged",
    AlertState.FIXED: "Fixed",
    AlertState.NOT_A_REGRESSION: "Not a regression",
}
# Labels that name a commit, the first that a run has.
COMMIT_LABELS = ("commit", "sha", "revision")
SHORT_COMMIT = 12


def commit_of(run: Run | None) -> str | None:
    """The commit that a run's labels name; None if none does."""
    if run is None:
        return None
    named = (run.labels.get(name) for name in COMMIT_LABELS)
    return next((str(commit) for commit in named if commit), None)


def range_text(alert: Alert) -> str:
    """`Between commit 1a2b and 3c4d.`; the runs' dates where commits are unknown."""
    first = alert.first_run
    if first is None:
        return ""
    before = alert.before_run
    commits = commit_of(before), commit_of(first)
    if commits[1] is not None:
        since = commits[1][:SHORT_COMMIT]
        if commits[0] is None:
            return f"Since commit {since}."
        if commits[0] == commits[1]:
            return f"At commit {since}, which was good before: the machine may have changed."
        return f"After commit {commits[0][:SHORT_COMMIT]}, up to {since}."
    if before is None:
        return f"Since the run of {_day(first)}."
    return f"Between the runs of {_day(before)} and {_day(first)}."


def _day(run: Run) -> str:
    return f"{happened_at(run):%Y-%m-%d %H:%M} UTC"


def chart_link(alert: Alert) -> str:
    """The page that shows it: the trend of the view, the host, or the agents."""
    slug, rule = alert.workspace.slug, alert.rule
    if rule.kind == RuleKind.NOISY_HOST and "host_id" in alert.data:
        return link_to("host-page", slug, alert.data["host_id"])
    if rule.kind == RuleKind.SILENT_AGENT:
        return link_to("agents-page", slug)
    return link_to("compare-page", slug, query=_trend_query(alert))


def _trend_query(alert: Alert) -> str:
    rule, data = alert.rule, alert.data
    try:
        asked = CompareQuery.parse(rule.view.query if rule.view is not None else "")
    except QueryError:
        asked = CompareQuery()
    filters: dict[str, list[str]] = {
        name: [data[name]] for name in ("server", "workload") if data.get(name)
    }
    if rule.label:
        filters["label"] = sorted({*asked.wanted("label"), rule.label})
    if data.get("axis") and (x := data.get("x")) is not None:
        filters[data["axis"]] = [f"{x:g}" if isinstance(x, int | float) else str(x)]
    kept = CompareQuery(
        filters=asked.with_filters(**filters).filters,
        x="date",
        view="trend",
        metric=data.get("metric", "throughput"),
    )
    return kept.canonical()


def pair_url(alert: Alert) -> str | None:
    """The two runs side by side that the change lies between; None if one is unknown."""
    if alert.before_run_id is None or alert.first_run_id is None:
        return None
    return pair_link(alert.workspace.slug, alert.before_run_id, alert.first_run_id)


def describe_alert(alert: Alert) -> dict[str, Any]:
    """The alert as the API, webhooks and pages give it. Null is unknown."""
    pair = pair_url(alert)
    return {
        "id": str(alert.pk),
        "workspace": alert.workspace.slug,
        "rule": {"id": str(alert.rule_id), "name": alert.rule.name, "kind": alert.rule.kind},
        "state": alert.state,
        "text": alert.text,
        "range": range_text(alert) or None,
        "commits": {"good": commit_of(alert.before_run), "bad": commit_of(alert.first_run)},
        "runs": {
            "before": _run_record(alert.before_run),
            "first": _run_record(alert.first_run),
            "last": _run_record(alert.last_run),
        },
        "figures": alert.data,
        "seen_at": instant(alert.seen_at),
        "confirmed_at": instant(alert.confirmed_at),
        "ended_at": instant(alert.ended_at),
        "url": absolute(link_to("alert-page", alert.workspace.slug, alert.pk)),
        "chart_url": absolute(chart_link(alert)),
        "pair_url": None if pair is None else absolute(pair),
    }


def _run_record(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "id": str(run.pk),
        "url": absolute(run_link(run.pk)),
        "at": instant(happened_at(run)),
        "commit": commit_of(run),
    }
