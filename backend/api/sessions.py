"""POST /api/v1/sessions: agents that attack together meet before each trial."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.api.auth import agents_token
from backend.api.errors import Problem
from backend.api.schema import documented
from backend.fleet.meeting import MeetingRefused, Wish, meet

SESSION_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class WishSerializer(serializers.Serializer[Any]):
    """Which session an agent means, and for which trial it is ready."""

    name = serializers.RegexField(SESSION_NAME, max_length=100)
    parts = serializers.IntegerField(min_value=2, max_value=1000, help_text="Agents it takes")
    plan_sha256 = serializers.RegexField(r"^[0-9a-f]{64}$")
    seed = serializers.IntegerField(
        min_value=0, max_value=2**63 - 1, help_text="Of the order, where this agent is the first"
    )
    run = serializers.UUIDField()
    host_name = serializers.CharField(max_length=200)
    step = serializers.IntegerField(
        min_value=0,
        max_value=1_000_000,
        allow_null=True,
        default=None,
        help_text="Null: it only takes its place",
    )


class MeetingSerializer(serializers.Serializer[Any]):
    """How many have come, and when the trial begins once all are ready for it."""

    seats = serializers.IntegerField()
    parts = serializers.IntegerField()
    seed = serializers.IntegerField()
    starts_at = serializers.DateTimeField(allow_null=True)
    time = serializers.DateTimeField(help_text="Now, by the service's clock")


class SessionMeeting(APIView):
    """Meet the other agents of a session."""

    @extend_schema(
        operation_id="session_meet",
        request=WishSerializer,
        responses={200: MeetingSerializer, **documented(400, 401, 403, 409, 415, 429)},
    )
    def post(self, request: Request) -> Response:
        """To be asked again until starts_at is there."""
        token = agents_token(request, to="take part in a session")
        given = WishSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            found = meet(token, Wish(**given.validated_data))
        except MeetingRefused as refused:
            raise Problem(
                409, "No place", str(refused), hint="Begin a session of another name."
            ) from None
        answer = {name: getattr(found, name) for name in ("seats", "parts", "seed", "starts_at")}
        return Response(MeetingSerializer({**answer, "time": timezone.now()}).data)
