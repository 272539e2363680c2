"""Listing alerts page by page, the newest first."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from backend.alerts.models import OPEN_STATES, Alert, AlertState
from backend.runs.database.cursors import Page, page_by_time
from backend.runs.tables.large_columns import large_columns

# What a list may show: every alert, those that have not ended, or those of one state.
SHOWN = ("open", "all", *AlertState.values)


def alert_page(
    workspace_ids: Iterable[UUID], shown: str = "all", *, after: str = "", limit: int
) -> Page[Alert]:
    """The alerts of these workspaces after the cursor; `shown` is in SHOWN. Raises BadCursor."""
    rows = _chosen(_alerts_in(workspace_ids), shown)
    return page_by_time(rows, "seen_at", after=after, limit=limit)


def find_alert(workspace_ids: Iterable[UUID], alert_id: UUID) -> Alert | None:
    """An alert of these workspaces."""
    return _alerts_in(workspace_ids).filter(pk=alert_id).first()


def _alerts_in(workspace_ids: Iterable[UUID]) -> QuerySet[Alert]:
    rows = Alert.objects.filter(workspace__in=list(workspace_ids))
    runs = ("before_run", "first_run", "last_run")
    large = (name for run in runs for name in large_columns(f"{run}__"))
    return rows.select_related("workspace", "rule__view", *runs).defer(*large)


def _chosen(rows: QuerySet[Alert], shown: str) -> QuerySet[Alert]:
    if shown == "all":
        return rows
    return rows.filter(state__in=OPEN_STATES if shown == "open" else [shown])
