"""GET and POST /api/v1/merges, DELETE /api/v1/merges/<id>."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.api.protocol.auth import author_of, required_actor, viewer_name
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.idempotency import idempotent
from backend.api.protocol.paging import ONLY_WORKSPACE, list_operation, newest_first
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer, validated
from backend.api.protocol.workspaces import workspace_field, writable_row, writable_workspace
from backend.api.runs.runs import workspaces_asked
from backend.ingest.reprocessing.merging import merge_names, undo_merged_names
from backend.runs.database.cursors import Page
from backend.runs.models import FormerName, Merge
from backend.runs.tables.names import MAX_NAME


class MergeSerializer(serializers.ModelSerializer[Merge]):
    """Two names of one server, host or workload."""

    workspace = serializers.CharField(source="workspace.slug")
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    undone_by = serializers.CharField(source="undone_by.username", default=None, allow_null=True)

    class Meta:
        model = Merge
        fields = ["id", "workspace", "kind", "source", "target", "author", "merged_at"]
        fields += ["undone_by", "undone_at"]


class MergeRequestSerializer(StrictSerializer):
    """Everything of the name `source` gets the name `target`."""

    workspace = workspace_field()
    kind = serializers.ChoiceField(FormerName.Kind.choices)
    # Popped by DRF's metaclass.
    source = serializers.CharField(max_length=MAX_NAME)  # type: ignore[assignment]
    target = serializers.CharField(max_length=MAX_NAME)


class MergeList(APIView):
    @list_operation("merge_list", "merges", MergeSerializer, ONLY_WORKSPACE)
    def get(self, request: Request) -> Page[Merge]:
        """The latest merges first, undone ones included."""
        rows = Merge.objects.filter(workspace__in=workspaces_asked(request))
        rows = rows.select_related("workspace", "author", "undone_by").defer("rows")
        return newest_first(request, rows, "merged_at")

    @idempotent
    @operation(
        "merge_make",
        (401, 404, 507),
        body=MergeRequestSerializer,
        answer=MergeSerializer,
        status=201,
    )
    def post(self, request: Request) -> Merge:
        """Merge two names. Links and uploads with the source name lead to the target name."""
        actor = required_actor(request)
        asked = validated(MergeRequestSerializer, request)
        workspace = writable_workspace(actor, asked.get("workspace"))
        hold_slot_if_workspace_large(workspace.pk, viewer=viewer_name(request))
        kind = FormerName.Kind(asked["kind"])
        return merge_names(workspace, kind, asked["source"], asked["target"], author_of(actor))


class MergeDetail(APIView):
    @operation("merge_undo")
    def delete(self, request: Request, merge_id: UUID) -> None:
        """Undo it: what was uploaded under the source name gets that name again."""
        merged = writable_row(request, Merge.objects.all(), merge_id)
        hold_slot_if_workspace_large(merged.workspace_id, viewer=viewer_name(request))
        or_not_found(undo_merged_names(merged, by=author_of(required_actor(request))))
