"""The trials that several agents measured together."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.analysis.loading.viewer_slots import hold_slot
from backend.analysis.pages.session import describe_session
from backend.web.base import visible


@require_safe
def session(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The trials of a session, with the results of all agents combined."""
    workspace = visible.workspace_or_404(request, slug)
    # PostgreSQL keeps no name with NUL, and refuses to look for it.
    if "\0" in name:
        raise Http404
    # Before anything is read: however few the trials are, their time series may be long.
    hold_slot(visible.viewer_name(request))
    view = visible.or_404(describe_session(workspace.pk, name))
    context = {"workspace": workspace, "nav": "runs", "session": view}
    return render(request, "session.html", context)
