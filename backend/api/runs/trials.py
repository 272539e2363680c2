"""GET /api/v1/trials/<id> and /api/v1/trials/<id>/timeline."""

from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.analysis.loading.viewer_slots import hold_slot
from backend.api.protocol.auth import required_actor, viewer_name
from backend.api.protocol.errors import or_not_found
from backend.api.protocol.parameters import FIELDS, asked_parts, expand_parameter, only_asked
from backend.api.protocol.schema import operation
from backend.api.runs.run_answer import trial_answer
from backend.api.runs.run_json import ReadTrialSerializer, TimelineSerializer
from backend.runs.models import Trial, TrialTimeline

TIMELINE = "timeline"
# Packed.
LARGE_TIMELINE_BYTES = 64 << 10


class TrialDetail(APIView):
    @operation(
        "trial_read",
        (401, 404),
        answer=ReadTrialSerializer,
        parameters=[FIELDS, expand_parameter(TIMELINE)],
    )
    def get(self, request: Request, trial_id: UUID) -> Response:
        """The trial with its command and raw output."""
        parts = asked_parts(request, TIMELINE)
        trial = trial_answer(request, trial_id)
        if TIMELINE in parts:
            trial[TIMELINE] = _timeline(request, trial_id)
        return Response(only_asked(request, [trial])[0])


class TrialTimelineDetail(APIView):
    @operation("trial_timeline", (401, 404), answer=TimelineSerializer)
    def get(self, request: Request, trial_id: UUID) -> Response:
        """What completed in each stretch; 404 too where the output has no time series."""
        visible = access.workspace_ids_of(required_actor(request))
        kept = Trial.of_kept_runs.filter(pk=trial_id, run__workspace__in=visible)
        return Response(or_not_found(_timeline(request, trial_id) if kept.exists() else None))


def _timeline(request: Request, trial_id: UUID) -> dict[str, Any] | None:
    """As TimelineSerializer describes it; None if the output has no time series.

    A long one holds a slot of the sender until the answer is written.
    """
    timeline = TrialTimeline.objects.filter(trial=trial_id).first()
    if timeline is None:
        return None
    if len(timeline.packed) > LARGE_TIMELINE_BYTES:
        hold_slot(viewer_name(request))
    seconds = timeline.seconds
    ends = (second["start_s"] + second["length_s"] for second in seconds)
    answer = {"trial": trial_id, "length_s": max(ends, default=0.0), "seconds": seconds}
    return dict(TimelineSerializer(answer).data)
