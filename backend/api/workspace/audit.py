"""GET /api/v1/audit: who did what in a workspace."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.audit import events_of
from backend.accounts.models import Act, AuditEvent, Token
from backend.accounts.workspace.scopes import Scope
from backend.api.protocol.auth import required_actor
from backend.api.protocol.paging import WORKSPACE, list_operation, newest_first
from backend.api.protocol.parameters import not_allowed
from backend.api.protocol.workspaces import managed_workspace
from backend.runs.database.cursors import Page

# Acts on results: their subjects are names and titles, which take the scope runs:read.
ON_RESULTS = ("run.", "raw_output.", "merge.", "share.", "view.", "alert_rule.")


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """One act. Null: the service itself, or unknown."""

    actor = serializers.CharField(source="actor_name", help_text="The user; empty for the service")
    token = serializers.CharField(source="token_name", help_text="Empty if a session was used")
    subject = serializers.CharField(
        help_text="The name or id that the subject had on that day; empty for an act on results "
        "where the token lacks the scope runs:read"
    )
    detail = serializers.DictField(help_text="{was, is} if something changed")

    class Meta:
        model = AuditEvent
        fields = ["id", "at", "act", "label", "actor", "actor_id", "token", "token_id"]
        fields += ["address", "subject", "subject_id", "detail"]
        extra_kwargs = {"label": {"help_text": "The act in words"}}

    def to_representation(self, event: AuditEvent) -> dict[str, Any]:
        """The event, of an act on results without its words where the sender reads no results."""
        shown = super().to_representation(event)
        if event.act.startswith(ON_RESULTS) and not self.context["reads_results"]:
            shown |= {"subject": "", "detail": {}}
        return shown


class AuditList(APIView):
    @list_operation(
        "audit_list",
        "events",
        AuditEventSerializer,
        WORKSPACE,
        OpenApiParameter("act", str, enum=sorted(Act.values), description="Only these acts"),
    )
    def get(self, request: Request) -> tuple[Page[AuditEvent], dict[str, Any]]:
        """The newest first. For admins and owners."""
        given, actor = request.query_params, required_actor(request)
        workspace = managed_workspace(actor, given.get("workspace"))
        rows = events_of(workspace, act=_act(given.get("act", "")))
        reads_results = not isinstance(actor, Token) or Scope.RUNS_READ in actor.scopes
        return newest_first(request, rows, "at"), {"reads_results": reads_results}


def _act(asked: str) -> str:
    if asked and asked not in Act.values:
        raise not_allowed("act", asked, f"are {', '.join(Act.values)}")
    return asked
