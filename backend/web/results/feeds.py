"""Atom feeds. A private one opens by a feed token in its address, or by a session."""

import hashlib
from collections.abc import Iterable
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from backend.accounts.limits.addresses import sender_address
from backend.accounts.models import Workspace
from backend.accounts.workspace.workspaces import with_slug
from backend.feeds.atom import CONTENT_TYPE, write_feed
from backend.feeds.entries import (
    Entry,
    entries_of_alerts,
    entries_of_result_set,
    entries_of_server,
    entries_of_workspace,
)
from backend.feeds.tokens import opened_by
from backend.links import absolute, link_to
from backend.runs.models import Server
from backend.runs.registry.shown import shown_rows
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.reading import find_result_set
from backend.web.base import visible
from backend.web.results.result_set_answers import gone


@require_safe
def workspace_feed(request: HttpRequest, slug: str) -> HttpResponse:
    """New runs and result sets of a workspace; of a public one everybody's."""
    workspace = _workspace_or_404(request, slug)
    result_sets = ResultSet.objects.all()
    if not _is_own(request, workspace):
        result_sets = result_sets.standing().filter(visibility=Visibility.PUBLIC)
    entries = entries_of_workspace(workspace, result_sets)
    page = link_to("workspace", workspace.slug)
    return _answer(request, entries, title=f"{workspace.name}: runs and result sets", page=page)


@require_safe
def alerts_feed(request: HttpRequest, slug: str) -> HttpResponse:
    """Alerts of a workspace, for its members."""
    workspace = _workspace_or_404(request, slug)
    visible.or_404(_is_own(request, workspace))
    entries = entries_of_alerts(workspace)
    page = link_to("alerts-page", workspace.slug)
    return _answer(request, entries, title=f"{workspace.name}: alerts", page=page)


@require_safe
def server_feed(request: HttpRequest, slug: str, server_id: UUID) -> HttpResponse:
    """New runs of a server."""
    workspace = _workspace_or_404(request, slug)
    server = get_object_or_404(shown_rows(Server, [workspace.pk]), pk=server_id)
    page = link_to("server-page", workspace.slug, server.pk)
    return _answer(
        request,
        entries_of_server(server),
        title=f"{server.name} in {workspace.name}: runs",
        page=page,
    )


@require_safe
def result_set_feed(request: HttpRequest, link: UUID) -> HttpResponse:
    """What became of a result set."""
    own = _own_ids(request)
    result_set = visible.or_404(find_result_set(link, workspace_ids=own))
    if result_set.is_gone:
        return gone(request, result_set)
    entries = entries_of_result_set(
        result_set,
        is_member=result_set.workspace_id in own,
        viewer=visible.viewer_name(request),
    )
    return _answer(request, entries, title=result_set.title or "Result set", page=result_set.path)


def _own_ids(request: HttpRequest) -> list[UUID]:
    """The workspaces whose private feeds the request opens."""
    own = visible.own_ids(request)
    opened = _opened(request)
    return own if opened is None else [*own, opened]


def _opened(request: HttpRequest) -> UUID | None:
    """The workspace that the feed token of the address opens; None without a token that works."""
    return opened_by(request.GET.get("token", ""), sender_address(request.META))


def _is_own(request: HttpRequest, workspace: Workspace) -> bool:
    return workspace.pk in _own_ids(request)


def _workspace_or_404(request: HttpRequest, slug: str) -> Workspace:
    """Raises Moved and Http404, as for the page of the workspace."""
    opened = _opened(request)
    if opened is not None:
        workspace = with_slug(slug).filter(pk=opened).first()
        if workspace is not None:
            return workspace
    return visible.workspace_or_404(request, slug)


def _answer(
    request: HttpRequest, entries: Iterable[Entry], *, title: str, page: str
) -> HttpResponse:
    """The document, or 304 where the reader has it. The token is not repeated in it."""
    document = write_feed(
        list(entries), title=title, page_url=absolute(page), feed_url=absolute(request.path)
    )
    etag = f'"{hashlib.sha256(document).hexdigest()[:32]}"'
    answer = HttpResponse(document, content_type=CONTENT_TYPE)
    answer["ETag"] = etag
    answer["X-Robots-Tag"] = "noindex"
    return get_conditional_response(request, etag=etag, response=answer) or answer
