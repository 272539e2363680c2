"""Creating, changing and deleting rules."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from backend.accounts.audit import record
from backend.accounts.models import Act, User, Workspace
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.alerts.models import Alert, AlertRule, RuleKind
from backend.deliveries.channels import checked_name
from backend.errors import Conflict, InvalidInput, NotFound
from backend.sharing.models import SavedView
from backend.stats.thresholds import HIGH_ERROR_RATE
from backend.transactions import whole

MAX_LABEL = 300
MAX_RULES = 30
METRICS = ("p99", "throughput")
# Thresholds of rules that have one: the usual value, the lowest and the highest.
THRESHOLDS: dict[str, tuple[float, float, float]] = {
    RuleKind.ERROR_RATE: (HIGH_ERROR_RATE, 0.0, 1.0),
    RuleKind.NOISY_HOST: (0.05, 0.001, 10.0),
    RuleKind.SILENT_AGENT: (24.0, 0.5, 24.0 * 365),
}
OVER_A_VIEW = (RuleKind.REGRESSION, RuleKind.ERROR_RATE)


class BadRule(InvalidInput):
    """A rule cannot be like this; the message says what was got and what is expected."""


class RuleRefused(Conflict):
    """A rule contradicts those that exist; the message says why and what can be done."""


def rules_in(workspace_ids: Iterable[UUID]) -> QuerySet[AlertRule]:
    """The rules of these workspaces, by name."""
    rows = AlertRule.objects.filter(workspace__in=list(workspace_ids))
    return rows.select_related("workspace", "author", "view")


def add_rule(workspace: Workspace, *, author: User | None, kind: str, **asked: Any) -> AlertRule:
    """A new rule. `asked`: name, view (an id), label, metrics, threshold, is_enabled.

    Raises BadRule and RuleRefused.
    """
    if kind not in RuleKind.values:
        raise BadRule(f"kind: got “{kind[:40]}”, expected {', '.join(RuleKind.values)}.")
    rule = AlertRule(workspace=workspace, author=author, kind=kind)
    with transaction.atomic():
        _lock(workspace.pk)
        if AlertRule.objects.filter(workspace=workspace).count() >= MAX_RULES:
            raise RuleRefused(f"This workspace has {MAX_RULES} rules. Delete one first.")
        _set(rule, asked)
    return rule


def change_rule(rule: AlertRule, **asked: Any) -> None:
    """Change what is asked; the rest stays.

    Raises BadRule, RuleRefused, and NotFound where the rule was deleted meanwhile.
    """
    with transaction.atomic():
        _lock(rule.workspace_id)
        lock_rule(rule.pk)
        # What was read before the lock may be out of date, and all columns are stored.
        rule.refresh_from_db()
        current = {
            "name": rule.name,
            "view": rule.view_id,
            "label": rule.label,
            "metrics": rule.metrics,
            "threshold": rule.threshold,
            "is_enabled": rule.is_enabled,
        }
        if {"view", "label"} & {name for name, value in asked.items() if value != current[name]}:
            Alert.objects.filter(rule=rule, state="unconfirmed").delete()
        _set(rule, {**current, **asked})


@whole
def delete_rule(rule: AlertRule) -> None:
    """Delete the rule with its alerts. Raises NotFound where it was deleted meanwhile."""
    lock_rule(rule.pk)
    if AlertRule.objects.filter(pk=rule.pk).delete()[0]:
        record(
            Act.ALERT_RULE_DELETED,
            rule.workspace,
            subject=rule.name,
            subject_id=rule.pk,
            kind=rule.kind,
        )


def lock_rule(rule_id: UUID) -> None:
    """Until the transaction ends, nobody else changes the rule or its alerts; before the first of
    these is changed. Raises NotFound for a rule that was deleted.
    """
    if AlertRule.objects.select_for_update(no_key=True).filter(pk=rule_id).first() is None:
        raise NotFound("There is no such alert rule any more.")


def _lock(workspace_id: UUID) -> None:
    # One change at a time in a workspace: two at once could take one name.
    lock_workspace(workspace_id)


def _set(rule: AlertRule, asked: dict[str, Any]) -> None:
    rule.name = checked_name(str(asked.get("name") or ""), BadRule)
    rule.label = _checked_label(rule.kind, str(asked.get("label") or ""))
    rule.view = _checked_view(rule, asked.get("view"))
    rule.metrics = _checked_metrics(rule.kind, asked.get("metrics"))
    rule.threshold = _checked_threshold(rule.kind, asked.get("threshold"))
    rule.is_enabled = bool(asked.get("is_enabled", True))
    rule.problem = ""
    others = AlertRule.objects.filter(workspace=rule.workspace, name=rule.name)
    if others.exclude(pk=rule.pk).exists():
        raise RuleRefused(f"There is a rule “{rule.name}”. Choose another name.")
    rule.save()


def _checked_label(kind: str, label: str) -> str:
    cleaned = label.strip()
    if kind not in OVER_A_VIEW or not cleaned:
        return ""
    if ":" not in cleaned or "\0" in cleaned or len(cleaned) > MAX_LABEL:
        raise BadRule(
            f"label: got “{cleaned[:80]}”, expected key:value such as branch:main, or nothing."
        )
    return cleaned


def _checked_view(rule: AlertRule, view_id: UUID | str | None) -> SavedView | None:
    if rule.kind not in OVER_A_VIEW:
        return None
    rows = SavedView.objects.filter(workspace=rule.workspace)
    try:
        view = None if not view_id else rows.filter(pk=UUID(str(view_id))).first()
    except ValueError:
        view = None
    if view is None:
        raise BadRule(
            "view: expected the id of a saved view of this workspace.",
            hint="Save a comparison as a view first: open Compare and press Saved views.",
        )
    return view


def _checked_metrics(kind: str, metrics: Sequence[str] | None) -> list[str]:
    if kind != RuleKind.REGRESSION:
        return []
    asked = list(METRICS) if metrics is None else list(metrics)
    unknown = [name for name in asked if name not in METRICS]
    if unknown or not asked:
        got = f"“{str(unknown[0])[:40]}”" if unknown else "none"
        raise BadRule(f"metrics: got {got}, expected some of {', '.join(METRICS)}.")
    return [name for name in METRICS if name in asked]


def _checked_threshold(kind: str, threshold: float | None) -> float | None:
    if kind not in THRESHOLDS:
        return None
    usual, least, most = THRESHOLDS[kind]
    if threshold is None:
        return usual
    if not isfinite(threshold) or not least <= threshold <= most:
        unit = "hours" if kind == RuleKind.SILENT_AGENT else "a share (0.05 is 5 %)"
        raise BadRule(f"threshold: got {threshold:g}, expected {least:g} to {most:g}: {unit}.")
    return threshold
