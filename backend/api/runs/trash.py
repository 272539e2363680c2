"""GET /api/v1/trash, and POST /api/v1/runs/<id>/restore."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.analysis.loading.large_runs import hold_slot_if_large
from backend.api.protocol.auth import required_actor, viewer_name
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.paging import ONLY_WORKSPACE, list_operation, newest_first
from backend.api.protocol.schema import operation
from backend.api.runs.runs import RunRowSerializer, workspaces_asked
from backend.ingest.listing.trash_listing import (
    TrashedRun,
    describe_trashed,
    find_trashed_run,
    runs_in_trash,
)
from backend.ingest.removing.trash import restore_run
from backend.runs.database.cursors import Page


class TrashedRunSerializer(serializers.Serializer[TrashedRun]):
    """A run in the trash."""

    run = RunRowSerializer()
    trashed_at = serializers.DateTimeField()
    trashed_by = serializers.CharField(source="trashed_by.username", default=None, allow_null=True)
    gone_at = serializers.DateTimeField(help_text="When it is deleted for good")


class TrashList(APIView):
    @list_operation("trash_list", "runs", TrashedRunSerializer, ONLY_WORKSPACE)
    def get(self, request: Request) -> Page[TrashedRun]:
        """The latest first. Raw files count as stored until a run is deleted for good."""
        page = newest_first(request, runs_in_trash(workspaces_asked(request)), "trashed_at")
        return Page(describe_trashed(page.rows), page.next)


class RunRestore(APIView):
    """Taking a run out of the trash."""

    @operation("run_restore", body=None)
    def post(self, request: Request, run_id: UUID) -> None:
        """Restore the run with everything it had. 404 for a run that is not in the trash."""
        actor = required_actor(request)
        run = or_not_found(find_trashed_run(run_id, access.workspace_ids_of(actor)))
        or_not_found(access.may_write(actor, run.workspace_id))
        hold_slot_if_large(run.trials.all(), viewer=viewer_name(request))
        restore_run(run)
