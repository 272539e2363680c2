"""Saved views: creating, changing and finding them. One view of a workspace can be its default."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from backend.accounts.audit import record
from backend.accounts.models import Act, User, Workspace
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.analysis.query.compare_query import CompareQuery
from backend.errors import Conflict, InvalidInput, NotFound
from backend.sharing.models import SavedView
from backend.transactions import whole

MAX_NAME = 120
MAX_VIEWS = 200


class BadView(InvalidInput):
    """A view cannot be saved like this; the message says what was sent and what is allowed."""


class ViewRefused(Conflict):
    """A view contradicts the saved views; the message says why and what can be done."""


def views_in(workspace_ids: Iterable[UUID]) -> QuerySet[SavedView]:
    """The saved views of these workspaces, by name."""
    rows = SavedView.objects.filter(workspace__in=list(workspace_ids))
    return rows.select_related("workspace", "author")


def default_view(workspace: Workspace) -> SavedView | None:
    """The view that Compare opens; None if the workspace chose none."""
    return views_in([workspace.pk]).filter(is_default=True).first()


def save_view(
    workspace: Workspace, *, author: User | None, name: str, query: str, is_default: bool = False
) -> SavedView:
    """Keep a query under a name. Raises BadView, ViewRefused, and QueryError for the query."""
    view = SavedView(workspace=workspace, author=author)
    with transaction.atomic():
        _lock(workspace.pk)
        if SavedView.objects.filter(workspace=workspace).count() >= MAX_VIEWS:
            raise ViewRefused(f"This workspace has {MAX_VIEWS} saved views. Delete one first.")
        _set(view, name=name, query=query, is_default=is_default)
    return view


def change_view(
    view: SavedView,
    *,
    name: str | None = None,
    query: str | None = None,
    is_default: bool | None = None,
) -> None:
    """Change what is not None. Raises BadView, ViewRefused, QueryError for the query, and NotFound
    where the view was deleted meanwhile.
    """
    with transaction.atomic():
        _lock(view.workspace_id)
        if not SavedView.objects.select_for_update(no_key=True).filter(pk=view.pk).exists():
            raise NotFound("There is no such view any more.")
        # What was read before the lock may be out of date, and all columns are stored.
        view.refresh_from_db()
        _set(
            view,
            name=view.name if name is None else name,
            query=view.query if query is None else query,
            is_default=view.is_default if is_default is None else is_default,
        )


@whole
def delete_view(view: SavedView) -> None:
    """Forget the view. Nothing that was measured is deleted."""
    if SavedView.objects.filter(pk=view.pk).delete()[0]:
        record(Act.VIEW_DELETED, view.workspace, subject=view.name, subject_id=view.pk)


def _lock(workspace_id: UUID) -> None:
    # One change at a time in a workspace: two at once could take one name or be two defaults.
    lock_workspace(workspace_id)


def _set(view: SavedView, *, name: str, query: str, is_default: bool) -> None:
    view.name, view.is_default = _name(name), is_default
    view.query = replace(CompareQuery.parse(query), workspace=None).canonical()
    others = SavedView.objects.filter(workspace=view.workspace_id).exclude(pk=view.pk)
    if others.filter(name=view.name).exists():
        raise ViewRefused(
            f"This workspace already has a view named “{view.name}”. Choose another name."
        )
    if is_default:
        others.filter(is_default=True).update(is_default=False)
    view.save()


def _name(text: str) -> str:
    # PostgreSQL stores no NUL in a text.
    name = " ".join(text.replace("\0", "").split())
    if not 0 < len(name) <= MAX_NAME:
        raise BadView(f"name: got {len(name)} characters, allowed are 1 to {MAX_NAME}.")
    return name
