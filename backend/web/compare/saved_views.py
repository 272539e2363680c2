"""Saved views of a workspace: the list, and the forms that change it."""

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from backend.alerts.models import AlertRule
from backend.links import link_to
from backend.sharing.models import SavedView
from backend.sharing.saved_views import MAX_NAME, change_view, delete_view, save_view, views_in
from backend.web.base import visible

Change = Callable[[HttpRequest, SavedView], None]


@require_safe
def saved_views(request: HttpRequest, slug: str) -> HttpResponse:
    """The saved views of a workspace, by name."""
    workspace = visible.own_workspace_or_404(request, slug)
    context = {
        "workspace": workspace,
        "nav": "compare",
        "views": views_in([workspace.pk]),
        "writable": visible.may_write(request, workspace),
        "max_name": MAX_NAME,
        "deleted": request.session.pop(_deleted_in(slug), None),
    }
    return render(request, "saved_views.html", context)


def _deleted_in(slug: str) -> str:
    """Where the session keeps the view that was just deleted, so that it can be undone."""
    return f"deleted-view:{slug}"


@require_POST
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Fields: name, query, is_default. Leads back to the comparison."""
    workspace = visible.writable_workspace_or_404(request, slug)
    form = request.POST
    view = save_view(
        workspace,
        author=visible.viewer(request),
        name=form.get("name", ""),
        query=form.get("query", ""),
        is_default="is_default" in form,
    )
    messages.info(request, f"Saved as “{view.name}”.")
    return HttpResponseRedirect(view.path)


def _changing(change: Change) -> Callable[[HttpRequest, str, UUID], HttpResponse]:
    """Decorate a change by a member of the workspace; it redirects to the list."""

    @require_POST
    @wraps(change)
    def changed(request: HttpRequest, slug: str, view_id: UUID) -> HttpResponse:
        workspace = visible.writable_workspace_or_404(request, slug)
        change(request, get_object_or_404(views_in([workspace.pk]), pk=view_id))
        return HttpResponseRedirect(link_to("saved-views", slug))

    return changed


@_changing
def edit(request: HttpRequest, view: SavedView) -> None:
    """Fields: name, is_default (0 or 1); a field that is left out stays as it is."""
    default = request.POST.get("is_default")
    change_view(
        view,
        name=request.POST.get("name"),
        is_default=None if default is None else default == "1",
    )


@_changing
def delete(request: HttpRequest, view: SavedView) -> None:
    """Forget the view. Nothing that was measured is deleted."""
    has_rules = AlertRule.objects.filter(view=view.pk).exists()
    delete_view(view)
    request.session[_deleted_in(view.workspace.slug)] = {
        "name": view.name,
        "query": view.query,
        "is_default": view.is_default,
        "has_rules": has_rules,
    }
