"""The workspace of a request: where it keeps what it sends, or what it manages.

A token has one workspace. What names another one contradicts it, and is refused.
"""

from typing import Any, TypeVar
from urllib.parse import parse_qs
from uuid import UUID

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from backend.accounts.models import Token, User, Workspace
from backend.accounts.workspace import access
from backend.accounts.workspace.workspaces import current_slug
from backend.api.protocol.auth import required_actor
from backend.api.protocol.errors import Problem, or_not_found

Row = TypeVar("Row", bound=Model)


def workspace_field() -> serializers.CharField:
    """The member of a request that names the workspace."""
    return serializers.CharField(
        required=False,
        max_length=60,
        help_text="The slug of the workspace; not needed with a token",
    )


def writable_workspace(actor: Token | User, slug: str | None) -> Workspace:
    """Where to keep it. Raises NotFound, also for a workspace that the actor may only read."""
    visible = access.workspaces_of(actor)
    require_slug(actor, slug)
    rows = visible if slug is None else visible.filter(slug=current_slug(slug))
    workspace = or_not_found(rows.first())
    or_not_found(access.may_write(actor, workspace.pk))
    return workspace


def managed_workspace(actor: Token | User, slug: str | None) -> Workspace:
    """The workspace whose tokens, channels or audit log are asked for.

    Raises NotFound, also for a workspace that the actor does not administer.
    """
    require_slug(actor, slug)
    rows = Workspace.objects.filter(deleted_at=None)
    if slug is not None:
        rows = rows.filter(slug=current_slug(slug))
    if isinstance(actor, Token):
        rows = rows.filter(pk=actor.workspace_id)
    workspace = or_not_found(rows.first())
    or_not_found(access.may_administer(actor, workspace.pk))
    return workspace


def member_workspace(actor: Token | User, slug: str | None) -> Workspace:
    """The workspace whose members, tokens or feed tokens are asked for.

    A person must be a member, a token must have the scope admin. Raises NotFound.
    """
    if isinstance(actor, Token):
        return managed_workspace(actor, slug)
    require_slug(actor, slug)
    own = access.workspaces_of(actor).filter(slug=current_slug(slug or ""))
    return or_not_found(own.first())


def owned_workspace(actor: Token | User, slug: str) -> Workspace:
    """The workspace, for what only its owners may do. Raises NotFound."""
    workspace = managed_workspace(actor, slug)
    or_not_found(access.may_own(actor, workspace.pk))
    return workspace


def refuse_other_workspace(token: Token, slug: str) -> None:
    """Raise Problem 400 where a request names another workspace than that of its token.

    A former address of the workspace is the workspace. Whether another one exists is not told.
    """
    own = token.workspace.slug
    if not _names(slug, token.workspace):
        raise Problem(
            400,
            "Other workspace",
            f"workspace: got {slug[:60]!r}, expected {own!r}, the workspace of this token.",
            hint="Leave out workspace, or send a token of the workspace that you mean.",
            field="workspace",
            allowed=own,
        )


def _names(slug: str, workspace: Workspace) -> bool:
    """Whether this is its slug, or was before."""
    # The database takes no NUL.
    return slug == workspace.slug or ("\0" not in slug and current_slug(slug) == workspace.slug)


def refuse_other_workspace_in(request: Request) -> None:
    """As `refuse_other_workspace`, for a body of JSON."""
    slug = request.data.get("workspace") if isinstance(request.data, dict) else None
    if isinstance(request.auth, Token) and isinstance(slug, str):
        refuse_other_workspace(request.auth, slug)


def refuse_other_question(workspace: Workspace, query: str) -> None:
    """Raise Problem 400 where a query to keep in `workspace` asks another one."""
    for slug in parse_qs(query).get("workspace", ()):
        if not _names(slug, workspace):
            raise Problem(
                400,
                "Other workspace",
                f"query: got workspace={slug[:60]}, expected {workspace.slug}, where it is kept.",
                hint="Leave workspace out of the query, or keep it in the workspace that it asks.",
                field="query",
            )


class RefuseOtherWorkspace(BasePermission):
    """Refuses a query that names another workspace than that of the token, of every operation.

    A view whose questions may name a public workspace says so by `asks_public = True`. Bodies are
    judged where they are read: by `validated`, and in the form of an upload.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises Problem 400."""
        if isinstance(request.auth, Token) and not getattr(view, "asks_public", False):
            for slug in request.query_params.getlist("workspace"):
                refuse_other_workspace(request.auth, slug)
        return True


def require_slug(actor: Token | User, slug: str | None) -> None:
    """Raise Problem 400 where a session names no workspace."""
    if slug is None and isinstance(actor, User):
        raise Problem(
            400,
            "No workspace",
            "workspace: got nothing, expected the slug of a workspace.",
            hint="A token knows its workspace; a session must name one.",
            field="workspace",
        )


def writable_row(request: Request, rows: QuerySet[Row], id_: UUID) -> Row:
    """A row of a workspace, for a change. Raises NotFound, also where it may only be read."""
    actor = required_actor(request)
    row = or_not_found(rows.select_related("workspace").filter(pk=id_).first())
    or_not_found(access.may_write(actor, _workspace_id(row)))
    return row


def managed_row(request: Request, rows: QuerySet[Row], id_: UUID) -> Row:
    """A row of a workspace that the sender administers. Raises NotFound."""
    actor = required_actor(request)
    own = rows.select_related("workspace").filter(pk=id_, workspace__deleted_at=None)
    row = or_not_found(own.first())
    or_not_found(access.may_administer(actor, _workspace_id(row)))
    return row


def _workspace_id(row: Any) -> UUID:
    id_: UUID = row.workspace_id
    return id_
