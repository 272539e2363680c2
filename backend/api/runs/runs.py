"""GET /api/v1/runs, /api/v1/runs/<id> and /api/v1/trials/<id>."""

from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.accounts.workspace.workspaces import current_slug
from backend.analysis.loading.large_runs import (
    hold_slot_if_large,
    hold_slot_if_long,
    hold_slot_of_search,
)
from backend.api.protocol.auth import author_of, required_actor, viewer_name
from backend.api.protocol.errors import Problem, or_not_found
from backend.api.protocol.paging import (
    AFTER,
    LIMIT,
    LIMITS,
    ONLY_WORKSPACE,
    limit_asked,
    next_field,
    next_page,
)
from backend.api.protocol.parameters import (
    FIELDS,
    asked_parts,
    expand_parameter,
    not_allowed,
    only_asked,
)
from backend.api.protocol.preconditions import (
    conditional,
    is_as_read,
    is_conditional,
    tag_of_answer,
)
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import validated
from backend.api.protocol.workspaces import writable_row
from backend.api.runs.run_answer import run_answer
from backend.api.runs.run_json import STATE_HELP, RunEditSerializer, RunSerializer, TrialSerializer
from backend.fleet.heartbeats import forget_progress
from backend.ingest.listing.download import plan_file
from backend.ingest.removing.trash import delete_run, trash_run
from backend.ingest.reprocessing.editing import edit_run, undo_edit
from backend.links import links_by_id
from backend.runs.amending.editing import recorded_values
from backend.runs.catalogue.listing import RunRow, run_page
from backend.runs.catalogue.run_order import DIRECTIONS, SORTS, RunOrder
from backend.runs.catalogue.run_states import STATES
from backend.runs.catalogue.search import RunSearch
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import Run
from backend.runs.registry.registry import lock_names
from backend.untrusted.limits import ENVELOPE_TRIALS

# With their trials, runs are many times as large.
TRIALS = "trial_details"
LIMITS_WITH_TRIALS = range(1, 11)
# The largest single run has as many: a page of more would need hundreds of MB.
MOST_TRIALS = ENVELOPE_TRIALS
EXPANDED = (
    f"then at most {LIMITS_WITH_TRIALS.stop - 1} runs of at most {MOST_TRIALS:,} trials together"
)
# Fields of every list, beside those that choose.
PAGING = ("workspace", "limit", "after", "fields", "expand")
ORDERING = ("sort", "direction")


class RunRowSerializer(serializers.Serializer[RunRow]):
    """One run in the list."""

    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Its servers, workloads and load tools")
    workspace = serializers.CharField()
    started_at = serializers.DateTimeField(allow_null=True)
    recorded_at = serializers.DateTimeField()
    state = serializers.ChoiceField(STATES, help_text=STATE_HELP)
    interrupted = serializers.BooleanField()
    open = serializers.BooleanField(source="is_open", help_text="Whether more trials will arrive")
    labels = serializers.DictField()
    trials = serializers.IntegerField(help_text="Warm-ups included")
    warmups = serializers.IntegerField()
    failed_trials = serializers.IntegerField()
    throughput_rps = serializers.FloatField(
        allow_null=True,
        help_text="The centre of the best load point, as in a comparison. In a list for a server, "
        "workload or tool: of its best load point",
    )
    servers = serializers.ListField(child=serializers.CharField())
    workloads = serializers.ListField(child=serializers.CharField())
    tools = serializers.ListField(child=serializers.CharField())
    server_host = serializers.CharField(allow_null=True)
    url = serializers.CharField(read_only=True)

    def to_representation(self, row: RunRow) -> dict[str, Any]:
        """What the fields say of the row: for a page of runs, they take ten times as long."""
        return {
            "id": str(row.id),
            "name": row.name,
            "workspace": row.workspace,
            "started_at": self._instant(row.started_at),
            "recorded_at": self._instant(row.recorded_at),
            "state": row.state,
            "interrupted": row.interrupted,
            "open": row.is_open,
            "labels": row.labels,
            "trials": row.trials,
            "warmups": row.warmups,
            "failed_trials": row.failed_trials,
            "throughput_rps": row.throughput_rps,
            "servers": list(row.servers),
            "workloads": list(row.workloads),
            "tools": list(row.tools),
            "server_host": row.server_host,
            "url": self._link_of(row.id),
        }

    @cached_property
    def _instant(self) -> Callable[[datetime | None], str | None]:
        write = self.fields["recorded_at"].to_representation
        return lambda at: None if at is None else write(at)

    @cached_property
    def _link_of(self) -> Callable[[UUID], str]:
        return links_by_id("run")


class ListedRunSerializer(RunRowSerializer):
    """One run in the list of runs."""

    trial_details = TrialSerializer(
        many=True, required=False, help_text="Its trials as the run itself has them, if expanded"
    )


class RunPageSerializer(serializers.Serializer[Any]):
    """One page of runs."""

    runs = ListedRunSerializer(many=True)
    next = next_field()


class RunList(APIView):
    @operation(
        "run_list",
        (401, 404, 413),
        answer=RunPageSerializer,
        parameters=[
            ONLY_WORKSPACE,
            LIMIT,
            AFTER,
            OpenApiParameter("q", str, description="Words in label, server, workload, host, tool"),
            OpenApiParameter("server", str, description="The name of a server"),
            OpenApiParameter("host", str, description="The name of a host, or its id"),
            OpenApiParameter("workload", str, description="The name of a workload"),
            OpenApiParameter("tool", str, description="The name of a load tool"),
            OpenApiParameter(
                "state", str, enum=STATES, description=f"Only runs in this state. {STATE_HELP}"
            ),
            OpenApiParameter("since", date, description="The first day, inclusive"),
            OpenApiParameter("until", date, description="The last day, inclusive"),
            OpenApiParameter(
                "sort", str, enum=SORTS, default="received", description="What orders the list"
            ),
            OpenApiParameter(
                "direction",
                str,
                enum=DIRECTIONS,
                default="desc",
                description="Ascending or descending",
            ),
            FIELDS,
            expand_parameter(TRIALS, note=EXPANDED),
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first unless sorted otherwise, in pages that stay whole while runs arrive."""
        has_trials = TRIALS in asked_parts(request, TRIALS)
        limit = limit_asked(request, LIMITS_WITH_TRIALS if has_trials else LIMITS)
        workspaces = workspaces_asked(request)
        given = request.query_params.dict()
        after = given.get("after", "")
        fields = {key: text for key, text in given.items() if key not in (*PAGING, *ORDERING)}
        search = RunSearch.parse(fields).with_current_names(workspaces)
        hold_slot_of_search(search, workspaces, viewer=viewer_name(request))
        order = RunOrder.parse(given)
        # One state, so that each listed run is there when its trials are read.
        with repeatable_read():
            page = run_page(
                workspaces,
                after=after,
                limit=limit,
                search=search,
                order=order,
                most_trials=MOST_TRIALS if has_trials else None,
            )
            if has_trials:
                hold_slot_if_long([row.id for row in page.rows], viewer=viewer_name(request))
            following = next_page(request, page.next)
            answer = RunPageSerializer({"runs": page.rows, "next": following}).data
            for entry in answer["runs"] if has_trials else ():
                entry[TRIALS] = run_answer(request, UUID(entry["id"]))["trials"]
        return Response({**answer, "runs": only_asked(request, answer["runs"])})


def workspaces_asked(request: Request) -> list[UUID]:
    """The workspace the query names, else every one the actor may read."""
    visible = access.workspaces_of(required_actor(request))
    slug = request.query_params.get("workspace")
    if slug is None:
        return list(visible.values_list("pk", flat=True))
    named = visible.filter(slug=current_slug(slug))
    return or_not_found(list(named.values_list("pk", flat=True)))


class RunDetail(APIView):
    @operation("run_read", (401, 404, 413), answer=RunSerializer, parameters=[FIELDS])
    def get(self, request: Request, run_id: UUID) -> Response:
        """The run with its trials, their commands and raw output."""
        return Response(only_asked(request, [run_answer(request, run_id)])[0])

    @operation("run_edit", (401, 404, 412, 507), body=RunEditSerializer, answer=RunSerializer)
    @conditional
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Correct what is wrong or missing. The upload and frozen result sets stay.

        With `If-Match`, only a run that is as it was read is corrected; else the answer is 412 with
        what the fields have now and which corrections they got.
        """
        run = writable_run(request, run_id)
        # The answer has it: where that is too large, nothing is saved.
        hold_slot_if_long([run.pk], viewer=viewer_name(request))
        values = validated(RunEditSerializer, request)
        ordinals = values.pop("trials", None)
        with transaction.atomic():
            if is_conditional(request):
                # As editing does, so that no other edit comes between this look and the saving.
                lock_names(run.workspace, exclusive=True)
                _refuse_overwriting(request, run, values, ordinals)
            edit_run(run, values, ordinals=ordinals, author=author_of(required_actor(request)))
        answer = run_answer(request, run_id)
        return Response(answer, headers={"ETag": tag_of_answer(request, answer)})

    @operation(
        "run_delete",
        parameters=[
            OpenApiParameter(
                "permanently",
                bool,
                default=False,
                description="Delete for good at once, also from the trash",
            )
        ],
    )
    def delete(self, request: Request, run_id: UUID) -> None:
        """Move the run to the trash for 30 days, or delete it with its raw output permanently.

        Frozen result sets stay.
        """
        if is_asked(request, "permanently"):
            run = writable_run(request, run_id, with_trash=True)
            delete_run(run)
        else:
            run = writable_run(request, run_id)
            trash_run(run, by=author_of(required_actor(request)))
        forget_progress([run_id], run.workspace_id)


class CorrectionDetail(APIView):
    @operation("correction_undo")
    def delete(self, request: Request, run_id: UUID, correction_id: UUID) -> None:
        """Undo it: what was uploaded counts again, or an earlier correction."""
        run = writable_run(request, run_id)
        or_not_found(undo_edit(run, correction_id, by=author_of(required_actor(request))))


class RunPlan(APIView):
    @operation("run_plan", answer={(200, "application/toml"): str})
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The TOML exactly as it was hashed; 404 too where the run has none."""
        rows = Run.objects.filter(workspace__in=access.workspaces_of(required_actor(request)))
        return plan_file(or_not_found(rows.filter(pk=run_id).exclude(plan="").first()))


def is_asked(request: Request, name: str) -> bool:
    """The value of a field that is true or false, and false where it is left out."""
    given = request.query_params.get(name, "false")
    if given not in ("true", "false"):
        raise not_allowed(name, given, "are true and false")
    return given == "true"


def writable_run(request: Request, run_id: UUID, *, with_trash: bool = False) -> Run:
    """The run, for a change. Raises NotFound, also for a run that the actor may only read.

    What changes a large run computes its figures again, so the answer holds a slot of the sender.
    """
    rows = Run.with_trash if with_trash else Run.objects
    run = writable_row(request, rows.all(), run_id)
    hold_slot_if_large(run.trials.all(), viewer=viewer_name(request))
    return run


def _refuse_overwriting(
    request: Request, run: Run, names: Collection[str], ordinals: Sequence[int] | None
) -> None:
    """Raise Problem 412 where `If-Match` does not name the run as it is now."""
    answer = run_answer(request, run.pk)
    if is_as_read(request, answer):
        return
    raise Problem(
        412,
        "Changed meanwhile",
        "If-Match: the run has changed since it had that ETag. Nothing was saved.",
        hint="Look at current and corrections, then send the change with the ETag of this answer.",
        etag=tag_of_answer(request, answer),
        current=recorded_values(run.pk, names, ordinals=ordinals),
        corrections=[each for each in answer["corrections"] if each["field"] in names],
    )
