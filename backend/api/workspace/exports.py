"""Archives of a workspace: asking for one, following it, downloading and deleting it."""

import logging
from uuid import UUID

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.api.protocol.auth import author_of, required_actor
from backend.api.protocol.errors import Problem
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import WORKSPACE, list_operation, newest_first
from backend.api.protocol.rendering import AnyFormat
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import managed_row, managed_workspace, workspace_field
from backend.links import link_to
from backend.runs.database.cursors import Page
from backend.transfer.exporting import delete_export, download, exports_of, request_export
from backend.transfer.models import Export

log = logging.getLogger(__name__)


class NewExportSerializer(StrictSerializer):
    """The archive to write."""

    workspace = workspace_field()


class ExportSerializer(serializers.ModelSerializer[Export]):
    """An archive of a workspace, and how far it is."""

    workspace = serializers.CharField(source="workspace.slug")
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    rows_done = serializers.IntegerField(help_text="Rows written so far")
    files_done = serializers.IntegerField(help_text="Large raw files written so far")
    files_total = serializers.IntegerField(
        allow_null=True, help_text="How many there are; null while rows are written"
    )
    size_bytes = serializers.IntegerField(allow_null=True, help_text="Null until it is done")
    sha256 = serializers.CharField(help_text="Of the archive; empty until it is done")
    expires_at = serializers.DateTimeField(allow_null=True, help_text="When it is removed")
    reason = serializers.CharField(help_text="Why it failed, or why the last attempt did")
    retry_at = serializers.DateTimeField(
        allow_null=True, help_text="When the next attempt begins, if the last one failed"
    )
    file_url = serializers.SerializerMethodField(help_text="The archive; empty until it is done")

    class Meta:
        model = Export
        fields = ["id", "workspace", "author", "state", "requested_at", "finished_at"]
        fields += ["rows_done", "files_done", "files_total", "size_bytes", "sha256"]
        fields += ["expires_at", "reason", "retry_at", "file_url"]

    def get_file_url(self, export: Export) -> str:
        return link_to("export-file-api", export.pk) if export.sha256 else ""


class ExportList(APIView):
    @list_operation("export_list", "exports", ExportSerializer, WORKSPACE)
    def get(self, request: Request) -> Page[Export]:
        """The newest first. For admins and owners."""
        actor = required_actor(request)
        workspace = managed_workspace(actor, request.query_params.get("workspace"))
        return newest_first(request, exports_of(workspace), "requested_at")

    @idempotent
    @operation(
        "export_create",
        (401, 404, 409, 507),
        body=NewExportSerializer,
        answer=ExportSerializer,
        status=202,
    )
    def post(self, request: Request) -> Export:
        """Write an archive of everything in the workspace, in the background. For admins and
        owners. 409 while one is being written, 507 while there is no room for one."""
        actor = required_actor(request)
        asked = validated(NewExportSerializer, request)
        workspace = managed_workspace(actor, asked.get("workspace"))
        return request_export(workspace, author=author_of(actor))


class ExportDetail(APIView):
    @operation("export_read", answer=ExportSerializer)
    def get(self, request: Request, export_id: UUID) -> Export:
        """Its state and progress."""
        return _managed(request, export_id)

    @operation("export_delete")
    def delete(self, request: Request, export_id: UUID) -> None:
        """Remove it now, or stop writing it."""
        delete_export(_managed(request, export_id))


class ExportFile(APIView):
    content_negotiation_class = AnyFormat

    @operation(
        "export_file",
        (401, 404, 409),
        answer={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The archive")},
    )
    def get(self, request: Request, export_id: UUID) -> FileResponse:
        """The archive, a zip; `manage.py import_workspace` makes a workspace of it. 409 until it is
        done."""
        export = _managed(request, export_id)
        try:
            return download(export)
        except FileNotFoundError:
            log.exception("archive_missing", extra={"export": str(export.pk)})
            raise Problem(
                500,
                "File missing",
                "The bytes of this archive are not in the storage.",
                hint="Delete it and ask for another one.",
            ) from None


def _managed(request: Request, export_id: UUID) -> Export:
    return managed_row(request, Export.objects.select_related("author"), export_id)
