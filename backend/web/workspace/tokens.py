"""The tokens of a workspace: listing, making and revoking them."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from backend.accounts.models import Token, Workspace
from backend.accounts.sign_in import recent_sign_in
from backend.accounts.tokens import tokens
from backend.accounts.tokens.token_making import (
    LONGEST_DAYS,
    MAX_NAME,
    USUAL_DAYS,
    TokenNotMade,
    TokenRequest,
    make_token,
    scopes_to_give,
    tokens_of,
    usable_tokens,
)
from backend.accounts.workspace import access
from backend.accounts.workspace.scopes import Scope
from backend.errors import InvalidInput
from backend.fleet.models import Agent
from backend.links import link_to
from backend.runs.database.cursors import page_by_time
from backend.web.base import visible
from backend.whole_numbers import whole_number

PER_PAGE = 100


@require_http_methods(["GET", "HEAD", "POST"])
def tokens_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The tokens. A POST makes one with the chosen scopes; its clear text is shown once."""
    workspace = visible.own_workspace_or_404(request, slug)
    if request.method != "POST":
        return _page(request, workspace)
    maker = visible.viewer_or_404(request)
    visible.or_404(scopes_to_give(maker, workspace))
    recent_sign_in.require(request)
    try:
        token, clear = make_token(maker, workspace, _request_from(request))
    except InvalidInput as refused:
        return _page(request, workspace, refused=refused)
    return _page(request, workspace, made=token, clear=clear)


@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, slug: str, token_id: UUID) -> HttpResponse:
    """What revoking a token changes. A POST revokes it."""
    workspace = visible.own_workspace_or_404(request, slug)
    token = visible.or_404(usable_tokens(workspace).filter(pk=token_id).first())
    visible.or_404(access.may_revoke(visible.viewer(request), token))
    hosts = list(
        Agent.objects.filter(token=token).order_by("host_name").values_list("host_name", flat=True)
    )
    list_route = "agents-page" if hosts else "tokens-page"
    if request.method == "POST":
        tokens.revoke(token)
        messages.info(
            request, f"The token “{token.name}” was revoked. The service no longer accepts it."
        )
        return HttpResponseRedirect(link_to(list_route, workspace.slug))
    context = {
        "workspace": workspace,
        "nav": "agents",
        "token": token,
        "hosts": hosts,
        "list_url": link_to(list_route, workspace.slug),
    }
    return render(request, "revoke_token.html", context)


def _request_from(request: HttpRequest) -> TokenRequest:
    form = request.POST
    days = form.get("days", "").strip()
    number = whole_number(days, range(1, LONGEST_DAYS + 1)) if days else None
    if days and number is None:
        raise TokenNotMade(
            f"The number of days is “{days[:20]}”; expected 1 to {LONGEST_DAYS}, or nothing."
        )
    return TokenRequest(
        name=form.get("name", ""),
        scopes=form.getlist("scope"),
        days=number,
        networks=form.get("networks", "").replace(",", " ").split(),
    )


def _page(
    request: HttpRequest,
    workspace: Workspace,
    *,
    made: Token | None = None,
    clear: str = "",
    refused: InvalidInput | None = None,
) -> HttpResponse:
    viewer = visible.viewer_or_404(request)
    given = request.POST if refused else {}
    page = page_by_time(
        tokens_of(workspace), "created_at", after=request.GET.get("after", ""), limit=PER_PAGE
    )
    page_url = link_to("tokens-page", workspace.slug)
    chosen = request.POST.getlist("scope") if refused else [Scope.RUNS_READ.value]
    context: dict[str, Any] = {
        "workspace": workspace,
        "nav": "tokens",
        "rows": [_row(request, workspace, token) for token in page.rows],
        "scopes": [
            {"id": scope.value, "help": scope.label, "is_chosen": scope.value in chosen}
            for scope in scopes_to_give(viewer, workspace)
        ],
        "made": made,
        "clear": clear,
        "refused": refused,
        "max_name": MAX_NAME,
        "longest_days": LONGEST_DAYS,
        "name": given.get("name", ""),
        "days": given.get("days", str(USUAL_DAYS)),
        "networks": given.get("networks", ""),
        "next_url": link_to("tokens-page", workspace.slug, query={"after": page.next})
        if page.next
        else "",
        "first_url": page_url if request.GET.get("after") else "",
    }
    return render(request, "tokens.html", context, status=400 if refused else 200)


def _row(request: HttpRequest, workspace: Workspace, token: Token) -> dict[str, Any]:
    is_usable = token.revoked_at is None and not token.is_expired
    may_revoke = is_usable and access.may_revoke(visible.viewer(request), token)
    return {
        "token": token,
        "end": "" if is_usable else _end_of(token),
        "revoke_url": link_to("revoke-token", workspace.slug, token.pk) if may_revoke else "",
    }


def _end_of(token: Token) -> str:
    """Why the token no longer works."""
    if token.leaked_at is not None:
        return f"Revoked {token.leaked_at:%Y-%m-%d}: it was published"
    return f"Revoked {token.revoked_at:%Y-%m-%d}" if token.revoked_at else "Expired"
