"""POST /api/v1/runs/<id>/observations: what was seen on the server host of a run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts import access, throttle
from backend.accounts.models import Token, User
from backend.api.auth import required_actor
from backend.api.errors import NOT_FOUND, NOT_FOUND_HINT, Problem, TooMany
from backend.api.schema import documented
from backend.fleet.progress import run_progress
from backend.ingest.envelope import EnvelopeError, read_host
from backend.runs.models import Observation
from backend.runs.observations import Sample, observe
from backend.runs.record import RunElsewhere

MAX_SAMPLES = 20_000
MAX_CORES = 4096


class SampleSerializer(serializers.Serializer[Any]):
    """The server at one moment. Null is unknown."""

    at_s = serializers.FloatField(
        min_value=0, max_value=1e11, help_text="Seconds since 1970 by the service's clock"
    )
    cpu_s = serializers.FloatField(min_value=0, max_value=1e12, allow_null=True, default=None)
    rss_bytes = serializers.IntegerField(
        min_value=0, max_value=2**62, allow_null=True, default=None
    )
    threads = serializers.IntegerField(min_value=0, max_value=2**31, allow_null=True, default=None)
    processes = serializers.IntegerField(
        min_value=0, max_value=2**31, allow_null=True, default=None
    )
    time_wait = serializers.IntegerField(
        min_value=0, max_value=2**31, allow_null=True, default=None
    )
    cores = serializers.ListField(
        child=serializers.FloatField(min_value=0, max_value=1),
        max_length=MAX_CORES,
        allow_null=True,
        default=None,
        help_text="Busy share of each core since the sample before",
    )


class ObservationSerializer(serializers.Serializer[Any]):
    """What an agent on the server host saw in some time."""

    id = serializers.UUIDField(help_text="Made by the agent; sent again it is the same")
    host = serializers.JSONField(help_text="As a host of an envelope")
    uncertainty_s = serializers.FloatField(
        min_value=0, max_value=3600, help_text="To how much the times are known"
    )
    samples = serializers.ListField(child=SampleSerializer(), max_length=MAX_SAMPLES)


class KeptSerializer(serializers.Serializer[Observation]):
    """The observation as it is kept."""

    id = serializers.UUIDField()
    run = serializers.UUIDField()
    samples = serializers.IntegerField(source="sample_count")


class Observations(APIView):
    """Observations of a run."""

    @extend_schema(
        operation_id="observation_create",
        request=ObservationSerializer,
        responses={
            201: OpenApiResponse(KeptSerializer, "Kept, and given to the trials it lies in"),
            **documented(400, 401, 403, 404, 409, 415, 429),
        },
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Add facts and resource samples of the server host to a run measured from elsewhere."""
        token = required_actor(request)
        _require_run(token, run_id)
        if not isinstance(token, Token) or not access.may_write(token, token.workspace_id):
            raise Problem(
                403,
                "Not allowed",
                "Only an agent's token with the scope runs:write adds an observation.",
                hint="Make a token on the Agents page of the workspace.",
            )
        if wait := throttle.seconds_until_upload(str(token.pk)):
            raise TooMany("This token sent too much within a minute.", wait)
        given = ObservationSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        kept = _observe(token, run_id, given.validated_data)
        return Response(KeptSerializer(kept).data, status=status.HTTP_201_CREATED)


def _require_run(actor: Token | User, run_id: UUID) -> None:
    """That a run of this id was heard of where the actor belongs; 404 else."""
    own = [actor.workspace_id] if isinstance(actor, Token) else access.workspace_ids_of(actor)
    if run_progress(run_id, workspace_ids=own) is None:
        raise Problem(404, "Not found", NOT_FOUND, hint=NOT_FOUND_HINT)


def _observe(token: Token, run_id: UUID, said: dict[str, Any]) -> Observation:
    try:
        read_host(said["host"], "server")
        return observe(
            token.workspace,
            id_=said["id"],
            run_id=run_id,
            host=said["host"] or {},
            uncertainty_s=said["uncertainty_s"],
            samples=[Sample(**one) for one in said["samples"]],
        )
    except EnvelopeError as error:
        raise Problem(400, "Bad host", str(error), hint="Mend it and send it again.") from None
    except RunElsewhere as taken:
        raise Problem(
            409,
            "Id used before",
            f"The run id {taken} is not one of this workspace, or the observation's id is not new.",
            hint="Give the id of a run of this workspace.",
        ) from None
