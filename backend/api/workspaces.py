"""The workspace of a request: where it keeps what it sends, or what it manages."""

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from backend.accounts import access
from backend.accounts.models import Token, User, Workspace
from backend.accounts.workspaces import current_slug
from backend.api.auth import required_actor
from backend.api.errors import Problem, or_not_found

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
