"""Deleting a workspace for good."""

from backend.accounts.models import Workspace
from backend.accounts.workspace import workspaces
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.runs.database.bulk import delete_rows
from backend.sharing.models import ResultSet, SavedView, SharedRun
from backend.transactions import whole


@whole
def delete_workspace(workspace: Workspace) -> None:
    """End all access at once, also to what is shared; `ingest.purging` removes the data.

    It takes no lock that an upload or a reading holds, so it waits for none, however many there
    are. Raises NotFound where it was deleted already.
    """
    lock_workspace(workspace.pk)
    delete_rows(ResultSet.objects.filter(workspace=workspace))
    SharedRun.objects.filter(run__workspace=workspace).delete()
    SavedView.objects.filter(workspace=workspace).delete()
    workspaces.close(workspace)
