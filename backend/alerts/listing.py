"""Listing alerts page by page, the newest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from backend.alerts.models import OPEN_STATES, Alert, AlertState
from backend.runs.cursors import pack_cursor, read_instant_cursor

# What a list may show: every alert, those that have not ended, or those of one state.
SHOWN = ("open", "all", *AlertState.values)


@dataclass(frozen=True, slots=True)
class AlertPage:
    """One page, and the cursor of the next page or None."""

    alerts: Sequence[Alert]
    next: str | None


def alert_page(
    workspace_ids: Iterable[UUID], shown: str = "all", *, after: str = "", limit: int
) -> AlertPage:
    """The alerts of these workspaces after the cursor; `shown` is in SHOWN. Raises BadCursor."""
    rows = _chosen(_alerts_in(workspace_ids), shown)
    if after:
        seen_at, alert_id = read_instant_cursor(after)
        rows = rows.filter(Q(seen_at__lt=seen_at) | Q(seen_at=seen_at, pk__lt=alert_id))
    alerts = list(rows.order_by("-seen_at", "-pk")[: limit + 1])
    page = alerts[:limit]
    has_more = len(alerts) > limit
    cursor = pack_cursor(page[-1].seen_at.isoformat(), str(page[-1].pk)) if has_more else None
    return AlertPage(page, cursor)


def find_alert(workspace_ids: Iterable[UUID], alert_id: UUID) -> Alert | None:
    """An alert of these workspaces."""
    return _alerts_in(workspace_ids).filter(pk=alert_id).first()


def _alerts_in(workspace_ids: Iterable[UUID]) -> QuerySet[Alert]:
    rows = Alert.objects.filter(workspace__in=list(workspace_ids))
    runs = ("before_run", "first_run", "last_run")
    return rows.select_related("workspace", "rule__view", *runs)


def _chosen(rows: QuerySet[Alert], shown: str) -> QuerySet[Alert]:
    if shown == "all":
        return rows
    return rows.filter(state__in=OPEN_STATES if shown == "open" else [shown])
