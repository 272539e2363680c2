"""POST /api/v1/sessions: agents of a session wait for each other before each trial."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.api.protocol.auth import agents_token
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import OpenSerializer, validated
from backend.fleet.sessions import JoinRequest, join_session

SESSION_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class JoinSerializer(OpenSerializer):
    """Which session an agent joins, and the step of the plan it is ready for."""

    name = serializers.RegexField(SESSION_NAME, max_length=100)
    parts = serializers.IntegerField(min_value=2, max_value=1000, help_text="Number of agents")
    plan_sha256 = serializers.RegexField(r"^[0-9a-f]{64}$")
    seed = serializers.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        help_text="Seeds the order of trials; the first agent gives it",
    )
    run = serializers.UUIDField()
    host_name = serializers.CharField(max_length=200)
    step = serializers.IntegerField(
        min_value=0,
        max_value=1_000_000,
        allow_null=True,
        default=None,
        help_text="Null if the agent only joins",
    )


class SessionSerializer(serializers.Serializer[Any]):
    """How many agents joined, and when the trial begins once all are ready."""

    seats = serializers.IntegerField()
    parts = serializers.IntegerField()
    seed = serializers.IntegerField()
    starts_at = serializers.DateTimeField(allow_null=True)
    time = serializers.DateTimeField(help_text="Now, by the service's clock")


class Sessions(APIView):
    # It has a limit of its own.
    throttle_classes = ()

    @operation("session_meet", (401, 403, 409, 415), body=JoinSerializer, answer=SessionSerializer)
    def post(self, request: Request) -> dict[str, Any]:
        """Repeat the request until starts_at is set."""
        token = agents_token(request, to="take part in a session")
        status = join_session(token, JoinRequest(**validated(JoinSerializer, request)))
        answer = {name: getattr(status, name) for name in ("seats", "parts", "seed", "starts_at")}
        return {**answer, "time": timezone.now()}
