"""The front page, a workspace's front, and making a token there."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from backend.accounts import access, tokens
from backend.accounts.models import TokenKind, Workspace
from backend.runs.models import Run
from backend.web import visible

PLACEHOLDER = "<token>"


def curl_command(token: str = PLACEHOLDER) -> str:
    """The one command that uploads a saved output."""
    header = f'"Authorization: Bearer {token}"'
    return f"curl -H {header} -F file=@ab.txt {settings.PUBLIC_URL}/api/v1/uploads"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is; for a member, how to send the first file."""
    workspace = access.workspaces_of(visible.viewer(request)).first()
    return _front(request, workspace)


@require_safe
def workspace_front(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs of a workspace; how to send the first file while there is none."""
    workspace = visible.workspace_or_404(request, slug)
    if Run.objects.filter(workspace=workspace).exists():
        return HttpResponseRedirect(f"/w/{workspace.slug}/runs")
    return _front(request, workspace)


@require_POST
def make_token(request: HttpRequest, slug: str) -> HttpResponse:
    """A new agent token, shown this once inside the command that uses it."""
    workspace = visible.writable_workspace_or_404(request, slug)
    clear = tokens.issue(
        TokenKind.AGENT,
        workspace,
        user=visible.viewer(request),
        name=request.POST.get("name", "")[:120] or "made on the page",
        lifetime=tokens.AGENT_LIFETIME,
    )
    return _front(request, workspace, token=clear)


def _front(request: HttpRequest, workspace: Workspace | None, *, token: str = "") -> HttpResponse:
    if workspace is None:
        return render(request, "home.html", {"workspace": None, "curl_command": ""})
    writable = access.may_write(visible.viewer(request), workspace.pk)
    context = {
        "workspace": workspace,
        "curl_command": curl_command(token or PLACEHOLDER),
        "token_url": f"/w/{workspace.slug}/tokens" if writable else "",
        "new_token": token,
    }
    return render(request, "home.html", context)
