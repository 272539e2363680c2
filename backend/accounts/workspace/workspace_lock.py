"""The row of a workspace, as the lock on the workspace and on what members change in it.

Decision 0069 has the order of all locks.
"""

from uuid import UUID

from backend.accounts.models import Workspace
from backend.errors import NotFound


def lock_workspace(workspace_id: UUID) -> Workspace:
    """The workspace as it is now. Until the transaction ends, nobody else changes it, its members,
    tokens, invitations, links, views, rules or channels.

    Who only refers to it, such as an upload, goes on beside it. Raises NotFound where it was
    deleted.
    """
    rows = Workspace.objects.select_for_update(no_key=True)
    workspace = rows.filter(pk=workspace_id, deleted_at=None).first()
    if workspace is None:
        raise NotFound("There is no such workspace any more.")
    return workspace
