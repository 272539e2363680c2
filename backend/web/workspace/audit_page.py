"""The audit log of a workspace, for its admins and owners."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.audit import events_of
from backend.accounts.models import Act, AuditEvent
from backend.links import link_to
from backend.runs.database.cursors import page_by_time
from backend.web.base import visible

PER_PAGE = 100
# The detail of a takedown that is the path of what was taken down.
PAGE = "page"


@require_safe
def audit_log(request: HttpRequest, slug: str) -> HttpResponse:
    """Who did what, newest first; `act` chooses one kind of act."""
    workspace = visible.administered_workspace_or_404(request, slug)
    act = request.GET.get("act", "")
    act = act if act in Act.values else ""
    after = request.GET.get("after", "")
    page = page_by_time(events_of(workspace, act=act), "at", after=after, limit=PER_PAGE)
    chosen = {"act": act} if act else {}
    context = {
        "workspace": workspace,
        "nav": "audit",
        "rows": [
            {"event": event, "details": _details(event), "page": event.detail.get(PAGE, "")}
            for event in page.rows
        ],
        "acts": Act.choices,
        "act": act,
        "next_url": link_to("audit", workspace.slug, query={**chosen, "after": page.next})
        if page.next
        else "",
        "first_url": link_to("audit", workspace.slug, query=chosen) if after else "",
    }
    return render(request, "audit.html", context)


# What an empty detail means where it is not "none": without networks, a token works everywhere.
_EMPTY = {"networks": "all"}


def _details(event: AuditEvent) -> list[tuple[str, str]]:
    """Each detail as name and text; a change as `was → is`. The page is a link of the subject."""
    return [
        (name.replace("_", " "), _text(value, _EMPTY.get(name, "none")))
        for name, value in event.detail.items()
        if name != PAGE
    ]


def _text(value: Any, empty: str = "none") -> str:
    if isinstance(value, dict):
        return f"{_text(value.get('was'))} → {_text(value.get('is'))}"
    if isinstance(value, list):
        return ", ".join(_text(part) for part in value) or empty
    return empty if value is None or value == "" else str(value)
