"""Alerts of a workspace: the list, the page of one, and what members say of it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from backend.accounts.models import Workspace
from backend.alerts.lifecycle import MAX_NOTE, answer_alert
from backend.alerts.listing import SHOWN, alert_page, find_alert
from backend.alerts.models import SAID_STATES, Alert, AlertState
from backend.alerts.wording import STATE_TEXTS, chart_link, commit_of, pair_url, range_text
from backend.links import link_to
from backend.web.base import visible

PER_PAGE = 50
# What a member presses to say it.
VERBS = {
    AlertState.ACKNOWLEDGED: "Acknowledge",
    AlertState.FIXED: "Mark as fixed",
    AlertState.NOT_A_REGRESSION: "Not a regression",
}
TONES = {
    AlertState.UNCONFIRMED: "info",
    AlertState.NEW: "error",
    AlertState.ACKNOWLEDGED: "warning",
    AlertState.FIXED: "ok",
    AlertState.NOT_A_REGRESSION: "ok",
}


@require_safe
def alerts(request: HttpRequest, slug: str) -> HttpResponse:
    """The alerts, newest first; state=open leaves those that have not ended."""
    workspace = visible.own_workspace_or_404(request, slug)
    asked = request.GET.get("state", "open")
    shown = asked if asked in SHOWN else "open"
    page = alert_page([workspace.pk], shown, after=request.GET.get("after", ""), limit=PER_PAGE)
    context = {
        "workspace": workspace,
        "nav": "alerts",
        "rows": [_row(alert) for alert in page.rows],
        "shown": shown,
        "has_rules": workspace.alert_rules.exists(),
        "first_url": _list_url(slug, shown) if "after" in request.GET else "",
        "next_url": _list_url(slug, shown, after=page.next) if page.next else "",
    }
    return render(request, "alerts.html", context)


def _list_url(slug: str, state: str, **more: str) -> str:
    return link_to("alerts-page", slug, query={"state": state, **more})


@require_safe
def alert(request: HttpRequest, slug: str, alert_id: UUID) -> HttpResponse:
    """One alert with its range, its chart and all that was said of it."""
    workspace = visible.own_workspace_or_404(request, slug)
    shown_alert = _alert_or_404(workspace, alert_id)
    changes = [
        {"change": change, "state": STATE_TEXTS[AlertState(change.state)]}
        for change in shown_alert.changes.select_related("by")
    ]
    may_answer = visible.may_write(request, workspace) and shown_alert.is_open
    context = {
        "workspace": workspace,
        "nav": "alerts",
        "row": _row(shown_alert),
        "changes": changes,
        "answers": [(state.value, VERBS[state]) for state in SAID_STATES] if may_answer else [],
        "max_note": MAX_NOTE,
    }
    return render(request, "alert.html", context)


@require_POST
def answer(request: HttpRequest, slug: str, alert_id: UUID) -> HttpResponse:
    """Fields: state (acknowledged, fixed or not_a_regression), note."""
    workspace = visible.writable_workspace_or_404(request, slug)
    answered = _alert_or_404(workspace, alert_id)
    answer_alert(
        answered,
        request.POST.get("state", ""),
        by=visible.viewer(request),
        note=request.POST.get("note", ""),
    )
    messages.info(request, f"Saved: {STATE_TEXTS[AlertState(answered.state)].lower()}.")
    return HttpResponseRedirect(link_to("alert-page", workspace.slug, answered.pk))


def _alert_or_404(workspace: Workspace, alert_id: UUID) -> Alert:
    return visible.or_404(find_alert([workspace.pk], alert_id))


def _row(alert_row: Alert) -> dict[str, Any]:
    """What the list and the page show of an alert."""
    state = AlertState(alert_row.state)
    return {
        "alert": alert_row,
        "state": STATE_TEXTS[state],
        "tone": TONES[state],
        "range": range_text(alert_row),
        "chart_url": chart_link(alert_row),
        "pair_url": pair_url(alert_row),
        "commit": commit_of(alert_row.first_run),
    }
