"""GET /api/v1/trials: the trials behind a point of a comparison."""

from typing import Any
from uuid import UUID

from django.db.models import F, Func, JSONField, Value
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.api.protocol.auth import readable_ids
from backend.api.protocol.errors import Problem, or_not_found
from backend.api.protocol.parameters import names_of_arrays
from backend.api.protocol.schema import operation
from backend.links import trial_link
from backend.runs.models import Trial
from backend.runs.tables.happening import happened_at_of

MAX_CELLS = 100
MAX_TRIALS = 500
# Of the percentiles of a trial, which may be thousands, no other is read. Django takes such a key
# for a place in a list.
_P99_US = Func(
    F("percentiles_us"),
    Value("99"),
    function="jsonb_extract_path",
    output_field=JSONField(),
)
PARAMETERS = [
    OpenApiParameter(
        "cell",
        OpenApiTypes.UUID,
        required=True,
        many=True,
        description="The cells of a point, as the comparison names them",
    )
]


class PointTrialSerializer(serializers.Serializer[Trial]):
    """One trial of a point. Null is unknown."""

    id = serializers.UUIDField()
    run = serializers.UUIDField(source="run_id")
    started_at = serializers.SerializerMethodField(
        help_text="When the trial started, or if that is unknown, its run"
    )
    throughput = serializers.FloatField(source="throughput_rps", allow_null=True)
    p99_us = serializers.FloatField(allow_null=True)
    error_rate = serializers.FloatField(allow_null=True)
    url = serializers.SerializerMethodField(help_text="The page of the trial")

    def get_started_at(self, trial: Trial) -> str | None:
        started_at = trial.started_at or trial.run.started_at
        return None if started_at is None else started_at.isoformat()

    def get_url(self, trial: Trial) -> str:
        return trial_link(trial.pk)


class PointTrialsSerializer(serializers.Serializer[Any]):
    """In the order in which they were measured."""

    trials = PointTrialSerializer(many=True)


class PointTrials(APIView):
    arrays = names_of_arrays(PARAMETERS)

    @operation("trial_list", answer=PointTrialsSerializer, parameters=PARAMETERS)
    def get(self, request: Request) -> dict[str, Any]:
        """The trials of these cells without warm-ups; 404 where the sender may see none."""
        workspaces = readable_ids(request)
        rows = Trial.of_kept_runs.filter(
            cell__in=_cells(request), run__workspace__in=workspaces, warmup=False
        )
        needed = ("run__started_at", "started_at", "throughput_rps", "error_rate")
        in_order = rows.order_by(happened_at_of("run__"), "ordinal")
        ordered = in_order.select_related("run").only(*needed).annotate(p99_us=_P99_US)
        return {"trials": or_not_found(list(ordered[:MAX_TRIALS]))}


def _cells(request: Request) -> list[UUID]:
    """Raises Problem for none, too many, and an id that is no UUID."""
    asked = request.query_params.getlist("cell")
    try:
        cells = [UUID(text) for text in asked]
    except ValueError:
        cells = []
    if not 0 < len(cells) <= MAX_CELLS:
        got = f"{len(asked)} values" if asked else "nothing"
        raise Problem(
            400,
            "Bad cell",
            f"cell: got {got}, expected 1 to {MAX_CELLS} ids of cells (UUIDs).",
            hint="Take them from `cells` of a point at /api/v1/compare.",
            field="cell",
        )
    return cells
