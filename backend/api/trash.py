"""GET /api/v1/trash, and POST /api/v1/runs/<id>/restore."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts import access
from backend.analysis.loading.large_runs import hold_slot_if_large
from backend.api.auth import required_actor, viewer_name
from backend.api.errors import NOT_FOUND
from backend.api.paging import ONLY_WORKSPACE, PAGING, PageSerializer, newest_first
from backend.api.runs import RunRowSerializer, workspaces_asked
from backend.api.schema import documented
from backend.errors import NotFound
from backend.ingest.trash import (
    TrashedRun,
    describe_trashed,
    find_trashed_run,
    restore_run,
    runs_in_trash,
)


class TrashedRunSerializer(serializers.Serializer[TrashedRun]):
    """A run in the trash."""

    run = RunRowSerializer()
    trashed_at = serializers.DateTimeField()
    trashed_by = serializers.CharField(source="trashed_by.username", default=None, allow_null=True)
    gone_at = serializers.DateTimeField(help_text="When it is deleted for good")


class TrashSerializer(PageSerializer):
    """The trash. Its raw files count as stored until a run is deleted for good."""

    runs = TrashedRunSerializer(many=True)


class TrashList(APIView):
    """Runs that were deleted and can be restored."""

    @extend_schema(
        operation_id="trash_list",
        parameters=[ONLY_WORKSPACE, *PAGING],
        responses={200: TrashSerializer, **documented(400, 401, 404)},
    )
    def get(self, request: Request) -> Response:
        """The latest first."""
        rows = runs_in_trash(workspaces_asked(request))
        page, following = newest_first(request, "trash-list", rows, "trashed_at")
        return TrashSerializer.answer(request, describe_trashed(page), following)


class RunRestore(APIView):
    """Taking a run out of the trash."""

    @extend_schema(
        operation_id="run_restore",
        request=None,
        responses={204: None, **documented(400, 401, 404)},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Restore the run with everything it had. 404 for a run that is not in the trash."""
        actor = required_actor(request)
        run = find_trashed_run(run_id, access.workspace_ids_of(actor))
        if run is None or not access.may_write(actor, run.workspace_id):
            raise NotFound(NOT_FOUND)
        hold_slot_if_large(run.trials.all(), viewer=viewer_name(request))
        restore_run(run)
        return Response(status=204)
