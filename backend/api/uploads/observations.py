"""POST /api/v1/runs/<id>/observations: what was seen on the server host of a run."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import UPLOADS
from backend.accounts.models import Token, User
from backend.accounts.workspace import access
from backend.analysis.loading.viewer_slots import hold_slot
from backend.api.protocol.auth import required_actor, viewer_name
from backend.api.protocol.errors import Problem, or_not_found
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import OpenSerializer, validated
from backend.fleet.progress import run_progress
from backend.ingest.envelope.envelope import read_host
from backend.ingest.quota.quota import check_quota
from backend.ingest.quota.stored_sums import add_later
from backend.noise.record import refresh_noise
from backend.runs.models import Observation, Run
from backend.runs.recording.observations import KEPT_BYTES, Sample, observe
from backend.runs.tables.happening import refuse_future
from backend.untrusted.limits import OBSERVATION_BYTES

MAX_SAMPLES = 20_000
MAX_CORES = 4096


class SampleSerializer(OpenSerializer):
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


class HostField(serializers.JSONField):
    """A host as it was sent; `read_host` checks it."""

    def to_internal_value(self, data: Any) -> Any:
        """`data`: the library would write it as JSON only to see whether that can be done."""
        return data


class ObservationSerializer(OpenSerializer):
    """What an agent on the server host saw in some time."""

    id = serializers.UUIDField(
        help_text="Made by the agent; an id that is sent again creates nothing"
    )
    host = HostField(help_text="Like a host of an envelope")
    uncertainty_s = serializers.FloatField(
        min_value=0, max_value=3600, help_text="Uncertainty of the times, ±"
    )
    samples = serializers.ListField(child=SampleSerializer(), max_length=MAX_SAMPLES)


class KeptSerializer(serializers.Serializer[Observation]):
    """The observation as it is kept."""

    id = serializers.UUIDField()
    run = serializers.UUIDField()
    samples = serializers.IntegerField(source="sample_count")


class Observations(APIView):
    # It has limits of its own.
    throttle_classes = ()
    json_bytes = OBSERVATION_BYTES

    @operation(
        "observation_create",
        (401, 403, 404, 409, 415, 425, 507),
        body=ObservationSerializer,
        answer=OpenApiResponse(KeptSerializer, "Kept, and added to the trials that it covers"),
        status=201,
    )
    def post(self, request: Request, run_id: UUID) -> Observation:
        """Add facts and resource samples of the server host to a run measured from elsewhere."""
        token = required_actor(request)
        _require_run(token, run_id)
        if not isinstance(token, Token):
            raise Problem(
                403,
                "Not allowed",
                "Only a token with the scope agent adds an observation.",
                hint="Make a token on the Agents page of the workspace.",
            )
        throttle.require(UPLOADS, throttle.payer_of(token.pk))
        # Of a long run it reads hundreds of thousands of samples, and completes all trials.
        hold_slot(viewer_name(request))
        return _observe(token, run_id, validated(ObservationSerializer, request))


def _require_run(actor: Token | User, run_id: UUID) -> None:
    """Raise NotFound unless the actor's workspaces have a run of this id, or a report of one."""
    own = [actor.workspace_id] if isinstance(actor, Token) else access.workspace_ids_of(actor)
    or_not_found(run_progress(run_id, workspace_ids=own))


def _refuse_future_samples(samples: Sequence[Mapping[str, Any]]) -> None:
    if samples:
        latest = datetime.fromtimestamp(max(sample["at_s"] for sample in samples), UTC)
        refuse_future("samples: the latest at_s", latest)


def _observe(token: Token, run_id: UUID, fields: dict[str, Any]) -> Observation:
    host = read_host(fields["host"], "server")
    _refuse_future_samples(fields["samples"])
    with transaction.atomic():
        had_host = Run.with_trash.filter(pk=run_id, server_host__isnull=False).exists()
        rows = Observation.objects.all()
        is_new = not rows.filter(pk=fields["id"]).exists()
        observation = observe(
            token.workspace,
            id_=fields["id"],
            run_id=run_id,
            host=host,
            uncertainty_s=fields["uncertainty_s"],
            samples=[Sample(**sample) for sample in fields["samples"]],
        )
        if is_new:
            (size_bytes,) = rows.filter(pk=observation.pk).values_list(KEPT_BYTES, flat=True)
            check_quota(observation.workspace_id, size_bytes)
            add_later(observation.workspace_id, size_bytes)
        if not had_host:
            # Resource use changes no noise, but the host is whose noise it is.
            refresh_noise(run_id)
    return observation
