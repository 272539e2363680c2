"""GET /api/v1/me, POST /api/v1/heartbeat and GET /api/v1/runs/<id>/progress."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.models import Token, User, Workspace
from backend.accounts.workspace import access
from backend.api.protocol.auth import agents_token, required_actor
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import OpenSerializer, validated
from backend.fleet import heartbeats, progress
from backend.fleet.models import Progress
from backend.links import absolute, link_to
from backend.untrusted.secrets.cleaning import clean_fields

DAY_S = 86_400.0


class WorkspaceSerializer(serializers.Serializer[Workspace]):
    """A workspace one may read."""

    slug = serializers.CharField()
    name = serializers.CharField()
    url = serializers.SerializerMethodField()

    def get_url(self, workspace: Workspace) -> str:
        return absolute(link_to("workspace", workspace.slug))


class MeSerializer(serializers.Serializer[Any]):
    """Who asks, and what time it is here."""

    kind = serializers.ChoiceField(["token", "user"])
    name = serializers.CharField(help_text="The name of the token or user")
    scopes = serializers.ListField(child=serializers.CharField(), help_text="Empty for a user")
    expires_at = serializers.DateTimeField(allow_null=True, help_text="Null for a user")
    workspaces = WorkspaceSerializer(many=True)
    time = serializers.DateTimeField(help_text="When this was answered, by the service's clock")


class Me(APIView):
    """Who asks."""

    @operation("me", (401,), answer=MeSerializer)
    def get(self, request: Request) -> dict[str, Any]:
        """The token or user, its workspaces, and the service's time to the microsecond."""
        return _me(required_actor(request))


def _me(actor: Token | User) -> dict[str, Any]:
    if isinstance(actor, Token):
        who: dict[str, Any] = {"kind": "token", "name": actor.name, "scopes": actor.scopes}
        # Its workspace is shown even to a token that may only write.
        workspaces = [actor.workspace]
    else:
        who = {"kind": "user", "name": str(actor), "scopes": []}
        workspaces = list(access.workspaces_of(actor))
    expires_at = actor.expires_at if isinstance(actor, Token) else None
    return {**who, "expires_at": expires_at, "workspaces": workspaces, "time": timezone.now()}


class AgentSerializer(OpenSerializer):
    """The program that measures, and where."""

    name = serializers.CharField(max_length=60)
    version = serializers.CharField(max_length=40)
    hostname = serializers.CharField(max_length=200)


class CurrentSerializer(OpenSerializer):
    """The trial under way."""

    ordinal = serializers.IntegerField(min_value=0, max_value=1_000_000)
    server = serializers.CharField(max_length=200)
    workload = serializers.CharField(max_length=200)
    connections = serializers.IntegerField(min_value=0, max_value=2**31 - 1, allow_null=True)
    rate_rps = serializers.FloatField(min_value=0, max_value=1e12, allow_null=True)
    repeat = serializers.IntegerField(min_value=0, max_value=1_000_000, allow_null=True)
    phase = serializers.ChoiceField(["warmup", "measure", "search", "confirm"])


class LastSerializer(OpenSerializer):
    """The load tool's own figures of the trial before. Null is unknown."""

    throughput_rps = serializers.FloatField(min_value=0, max_value=1e12, allow_null=True)
    p99_us = serializers.FloatField(min_value=0, max_value=1e12, allow_null=True)
    error_rate = serializers.FloatField(min_value=0, max_value=1, allow_null=True)


class ReportSerializer(OpenSerializer):
    """How far the run of the agent is."""

    id = serializers.UUIDField(help_text="The id of the run, and of its upload later")
    state = serializers.ChoiceField(Progress.State.choices)
    trials_planned = serializers.IntegerField(
        min_value=0, max_value=1_000_000, allow_null=True, default=None
    )
    trials_done = serializers.IntegerField(min_value=0, max_value=1_000_000)
    current = CurrentSerializer(allow_null=True, default=None)
    last = LastSerializer(allow_null=True, default=None)
    seconds_left = serializers.FloatField(
        min_value=0, max_value=365 * DAY_S, allow_null=True, default=None
    )
    silent_s = serializers.FloatField(
        min_value=0,
        max_value=7 * DAY_S,
        default=0.0,
        help_text="For how long the agent will send nothing, because it measures a trial",
    )


class HeartbeatSerializer(OpenSerializer):
    """The agent, and its run where it has one."""

    agent = AgentSerializer()
    run = ReportSerializer(allow_null=True, default=None)


class Heartbeat(APIView):
    # It has a limit of its own.
    throttle_classes = ()

    @operation("heartbeat", (401, 403, 415), body=HeartbeatSerializer, answer=MeSerializer)
    def post(self, request: Request) -> dict[str, Any]:
        """Report that an agent is alive and how far its run is. The answer is that of /me."""
        token = agents_token(request, to="report the progress of a run")
        _record(token, validated(HeartbeatSerializer, request))
        return _me(token)


def _record(token: Token, body: dict[str, Any]) -> None:
    agent, run = body["agent"], body["run"]
    if run is None:
        heartbeat = None
    else:
        heartbeat = heartbeats.Heartbeat(run=run.pop("id"), **clean_fields(run))
    heartbeats.record_heartbeat(
        token,
        host_name=agent["hostname"],
        program=agent["name"],
        version=agent["version"],
        heartbeat=heartbeat,
    )


class ProgressSerializer(serializers.Serializer[progress.RunProgress]):
    """How far a run is. Null is unknown."""

    run = serializers.UUIDField()
    state = serializers.ChoiceField(
        [*Progress.State.values, "silent"],
        help_text="silent: the run has not ended, and a heartbeat of its agent is overdue",
    )
    trials_recorded = serializers.IntegerField(help_text="Trials that the service has recorded")
    trials_done = serializers.IntegerField(allow_null=True, help_text="As counted by the agent")
    trials_planned = serializers.IntegerField(allow_null=True)
    current = CurrentSerializer(allow_null=True)
    last = LastSerializer(allow_null=True)
    seconds_left = serializers.FloatField(
        allow_null=True, help_text="As estimated by the agent at its last heartbeat"
    )
    heard_at = serializers.DateTimeField(allow_null=True)


class RunProgress(APIView):
    """How far a run is."""

    @operation("run_progress", answer=ProgressSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Poll it with If-None-Match: the answer is 304 while nothing changed."""
        visible = access.workspace_ids_of(required_actor(request))
        run = or_not_found(progress.run_progress(run_id, workspace_ids=visible))
        response = Response(ProgressSerializer(run).data)
        # Each browser keeps its own copy, and revalidates it before use.
        response["Cache-Control"] = "private, no-cache"
        return response
