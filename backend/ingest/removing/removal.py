"""Deleting a run for good."""

from uuid import UUID

from backend.accounts.models import Workspace
from backend.ingest.artefacts.evidence import any_of, uploads_by_name, uploads_of_runs
from backend.ingest.models import Upload
from backend.ingest.removing.upload_removal import remove_uploads
from backend.noise.record import hosts_of, refresh_hosts
from backend.runs.database.bulk import delete_rows
from backend.runs.models import Run
from backend.runs.registry.registry import lock_names
from backend.runs.registry.shown import remove_unused
from backend.transactions import whole


@whole
def remove_run(run: Run) -> None:
    """Delete a run with its trials, its uploads and their raw files permanently.

    Frozen result sets keep what they show; an agent that sends the same upload once more makes
    the run again. A file stays where another upload holds the same bytes.
    """
    # Alone, so that no recording takes a series that is about to go.
    lock_names(run.workspace, exclusive=True)
    remove_uploads(run.workspace, run.pk, uploads_of_runs(run.workspace, [run.pk]))
    # The row of the workspace comes before what goes with the run: its link, and what alerts say.
    run.workspace.changed()
    delete_rows(Run.with_trash.filter(pk=run.pk))
    remove_unused(run.workspace_id)
    refresh_hosts(hosts_of(run))


@whole
def remove_unread(workspace: Workspace, run_id: UUID) -> bool:
    """Delete the uploads that would make this run when they are read; whether there were any.

    A run without an id in its envelope gets that of its upload.
    """
    own = Upload.objects.filter(pk=run_id, workspace=workspace).order_by()
    named = uploads_by_name(workspace.pk, [run_id])
    uploads = any_of(own.values_list("pk"), named.values_list("pk"))
    return remove_uploads(workspace, run_id, uploads)
