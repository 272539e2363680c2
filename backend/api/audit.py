"""GET /api/v1/audit: who did what in a workspace."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.audit import events_of
from backend.accounts.models import Act, AuditEvent
from backend.api.auth import required_actor
from backend.api.paging import WORKSPACE, list_operation, newest_first
from backend.api.parameters import not_allowed
from backend.api.workspaces import managed_workspace
from backend.runs.cursors import Page


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """One act. Null: the service itself, or unknown."""

    actor = serializers.CharField(source="actor_name", help_text="The user; empty for the service")
    token = serializers.CharField(source="token_name", help_text="Empty if a session was used")
    subject = serializers.CharField(help_text="The name or id that the subject had on that day")
    detail = serializers.DictField(help_text="{was, is} if something changed")

    class Meta:
        model = AuditEvent
        fields = ["id", "at", "act", "label", "actor", "actor_id", "token", "token_id"]
        fields += ["address", "subject", "subject_id", "detail"]
        extra_kwargs = {"label": {"help_text": "The act in words"}}


class AuditList(APIView):
    @list_operation(
        "audit_list",
        "events",
        AuditEventSerializer,
        WORKSPACE,
        OpenApiParameter("act", str, enum=sorted(Act.values), description="Only these acts"),
    )
    def get(self, request: Request) -> Page[AuditEvent]:
        """The newest first. For admins and owners."""
        given = request.query_params
        workspace = managed_workspace(required_actor(request), given.get("workspace"))
        rows = events_of(workspace, act=_act(given.get("act", "")))
        return newest_first(request, rows, "at")


def _act(asked: str) -> str:
    if asked and asked not in Act.values:
        raise not_allowed("act", asked, f"are {', '.join(Act.values)}")
    return asked
