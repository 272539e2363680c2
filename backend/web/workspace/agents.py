"""The agents of a workspace: listing and adding them."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from backend.accounts.models import Workspace
from backend.accounts.sign_in import recent_sign_in
from backend.accounts.tokens.token_making import make_agent_token
from backend.accounts.workspace import access
from backend.fleet.roster import RosterRow, roster
from backend.links import link_to, run_link
from backend.web.base import visible
from backend.web.documents import agent_files


@require_http_methods(["GET", "HEAD", "POST"])
def agents(request: HttpRequest, slug: str) -> HttpResponse:
    """The agents and how to add one. A POST creates a token, which is shown once."""
    if request.method != "POST":
        return _page(request, visible.own_workspace_or_404(request, slug))
    workspace = visible.writable_workspace_or_404(request, slug)
    recent_sign_in.require(request)
    maker = visible.viewer_or_404(request)
    clear = make_agent_token(maker, workspace, request.POST.get("name", ""))
    return _page(request, workspace, token=clear)


def _page(request: HttpRequest, workspace: Workspace, *, token: str = "") -> HttpResponse:
    rows = roster(workspace)
    context = {
        "workspace": workspace,
        "nav": "agents",
        "rows": [_shown(request, workspace, row) for row in rows],
        "running": sum(row.is_running for row in rows),
        "writable": visible.may_write(request, workspace),
        "token": token,
        "base": settings.PUBLIC_URL,
        "pyz": agent_files.offered(agent_files.PYZ),
        "wheel": agent_files.offered_wheel(),
    }
    return render(request, "agents.html", context)


def _shown(request: HttpRequest, workspace: Workspace, row: RosterRow) -> dict[str, Any]:
    may_revoke = access.may_revoke(visible.viewer(request), row.token)
    return {
        "row": row,
        "run_url": run_link(row.run) if row.run else "",
        "revoke_label": f"Revoke {row.token.name} on {row.agent.host_name}",
        "revoke_url": link_to("revoke-token", workspace.slug, row.token.pk) if may_revoke else "",
    }
