"""GET /api/v1/limits: the table of limits, and how full the workspaces are."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.accounts.workspace.quotas import limits_of
from backend.api.limits.limit_table import Limit, limits
from backend.api.protocol.auth import actor_of
from backend.api.protocol.schema import operation
from backend.ingest.quota.stored_sums import stored_bytes


class LimitSerializer(serializers.Serializer[Limit]):
    """A limit. More is answered with `status`."""

    name = serializers.CharField()
    value = serializers.IntegerField()
    unit = serializers.CharField()
    bounds = serializers.CharField(help_text="What is limited")
    status = serializers.IntegerField(help_text="HTTP status of the answer beyond the limit")


class StoredBytesSerializer(serializers.Serializer[Any]):
    """How full a workspace is."""

    workspace = serializers.CharField(help_text="Slug")
    stored_bytes = serializers.IntegerField(
        help_text="Bytes of raw files, envelopes, observations, corrections, merges and result sets"
    )
    max_bytes = serializers.IntegerField(help_text="The limit of this workspace")


class LimitListSerializer(serializers.Serializer[Any]):
    """The limits of this installation."""

    limits = LimitSerializer(many=True)
    workspaces = StoredBytesSerializer(
        many=True, help_text="The workspaces that the token or session may read"
    )


class LimitList(APIView):
    @operation("limit_list", (), answer=LimitListSerializer)
    def get(self, request: Request) -> dict[str, Any]:
        """The limits of sizes, counts and lengths, and how full the workspaces are. Anyone may ask;
        without a token or session there are no workspaces."""
        workspaces = [
            {
                "workspace": workspace.slug,
                "stored_bytes": stored_bytes(workspace.pk),
                "max_bytes": limits_of(workspace.pk).stored_bytes,
            }
            for workspace in access.workspaces_of(actor_of(request))
        ]
        return {"limits": limits(), "workspaces": workspaces}
