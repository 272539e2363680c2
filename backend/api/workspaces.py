"""Where a request keeps what it sends."""

from __future__ import annotations

from backend.accounts import access
from backend.accounts.models import Token, User, Workspace
from backend.accounts.workspaces import current_slug
from backend.api.errors import NOT_FOUND, Problem
from backend.errors import NotFound


def writable_workspace(actor: Token | User, slug: str | None) -> Workspace:
    """Where to keep it. Raises NotFound, also for a workspace that the actor may only read."""
    visible = access.workspaces_of(actor)
    if slug is None and isinstance(actor, User):
        raise Problem(
            400,
            "No workspace",
            "workspace: got nothing, expected the slug of a workspace.",
            hint="A token knows its workspace; a session must name one.",
            field="workspace",
        )
    workspace = visible.first() if slug is None else visible.filter(slug=current_slug(slug)).first()
    if workspace is None or not access.may_write(actor, workspace.pk):
        raise NotFound(NOT_FOUND)
    return workspace
