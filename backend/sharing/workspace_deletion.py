"""Deleting a workspace for good."""

from django.db import transaction

from backend.accounts import workspaces
from backend.accounts.models import Workspace
from backend.sharing.models import ResultSet, SavedView, SharedRun


@transaction.atomic
def delete_workspace(workspace: Workspace) -> None:
    """End all access at once, also to what is shared; `ingest.purging` removes the data."""
    ResultSet.objects.filter(workspace=workspace).delete()
    SharedRun.objects.filter(run__workspace=workspace).delete()
    SavedView.objects.filter(workspace=workspace).delete()
    workspaces.close(workspace)
