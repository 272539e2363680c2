"""GET /api/v1/workspaces/<slug>/usage: how much of its limits a workspace uses."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.accounts.workspace.workspaces import current_slug
from backend.api.protocol.auth import required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.schema import operation
from backend.ingest.quota.usage import Usage, usage_of


class UsageSerializer(serializers.Serializer[Usage]):
    """How much of one limit is used."""

    id = serializers.ChoiceField(["uploads_per_day", "stored_bytes", "members", "reads"])
    # Popped by DRF's metaclass.
    label = serializers.CharField()  # type: ignore[assignment]
    unit = serializers.CharField()
    used = serializers.IntegerField()
    limit = serializers.IntegerField()
    state = serializers.ChoiceField(
        ["ok", "warning", "full"], help_text="`warning` from 80% of the limit, `full` at the limit"
    )
    beyond = serializers.CharField(help_text="What happens beyond the limit")
    resets_at = serializers.DateTimeField(
        allow_null=True, help_text="When the count starts again; null if it never does"
    )


class WorkspaceUsageSerializer(serializers.Serializer[Any]):
    """How much of its limits a workspace uses."""

    workspace = serializers.CharField(help_text="Slug")
    usage = UsageSerializer(many=True)


class WorkspaceUsage(APIView):
    @operation("workspace_usage", answer=WorkspaceUsageSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Uploads today, stored bytes, members with open invitations, and uploads that are being
        read, each with the limit of this workspace."""
        readable = access.workspaces_of(required_actor(request))
        workspace = or_not_found(readable.filter(slug=current_slug(slug)).first())
        return {"workspace": workspace.slug, "usage": usage_of(workspace.pk)}
