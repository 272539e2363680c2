"""GET /api/v1/agents: the machines that run benchmarks, and what they are doing."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.accounts.workspace.workspaces import current_slug
from backend.api.protocol.auth import required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.paging import WORKSPACE
from backend.api.protocol.schema import operation
from backend.api.protocol.workspaces import require_slug
from backend.fleet.models import Progress
from backend.fleet.roster import NAMED_HOSTS, RosterRow, roster


class AgentRowSerializer(serializers.Serializer[RosterRow]):
    """An agent: a token on a host that sent a heartbeat."""

    name = serializers.CharField(source="token.name", help_text="The name of its token")
    token = serializers.UUIDField(source="token.pk", help_text="The id of the token, for revoking")
    author = serializers.CharField(source="token.user.username", default=None, allow_null=True)
    expires_at = serializers.DateTimeField(source="token.expires_at", allow_null=True)
    host = serializers.CharField(source="agent.host_name")
    program = serializers.CharField(source="agent.program")
    version = serializers.CharField(source="agent.version")
    last_seen_at = serializers.DateTimeField()
    run = serializers.UUIDField(allow_null=True, help_text="Its newest run")
    state = serializers.ChoiceField(
        [*Progress.State.values, "silent"],
        allow_null=True,
        help_text="The state of its newest run; silent: a heartbeat is overdue",
    )
    shared_with = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"Other hosts that use the same token: at most {NAMED_HOSTS}, then “and 94 more”",
    )


class AgentListSerializer(serializers.Serializer[Any]):
    """The agent that was heard last comes first."""

    agents = AgentRowSerializer(many=True)


class AgentList(APIView):
    @operation("agent_list", answer=AgentListSerializer, parameters=[WORKSPACE])
    def get(self, request: Request) -> dict[str, Any]:
        """All of them, with their hosts, versions and newest runs. For members."""
        actor = required_actor(request)
        slug = request.query_params.get("workspace")
        require_slug(actor, slug)
        readable = access.workspaces_of(actor)
        workspace = readable.filter(slug=current_slug(slug)).first() if slug else readable.first()
        return {"agents": roster(or_not_found(workspace))}
