"""GET and POST /api/v1/uploads, GET /api/v1/uploads/<id>; parts of an upload are in `parts`."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict, UnreadablePostError
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import PREVIEWS, UPLOADS
from backend.accounts.models import Token, Workspace
from backend.accounts.workspace import access
from backend.accounts.workspace.workspaces import current_slug
from backend.analysis.query.compare_query import QueryError
from backend.api.protocol.auth import actor_of, viewer_name
from backend.api.protocol.errors import Problem, cut_off
from backend.api.protocol.paging import ONLY_WORKSPACE, list_operation, newest_first
from backend.api.protocol.parameters import given_several_times
from backend.api.protocol.schema import operation
from backend.api.protocol.strict import StrictSerializer
from backend.api.protocol.workspaces import refuse_other_workspace
from backend.api.runs.runs import workspaces_asked
from backend.errors import NotFound
from backend.formats import TOOLS
from backend.ingest.artefacts.parts import Whole
from backend.ingest.envelope.envelope import Envelope, read_envelope
from backend.ingest.envelope.envelope_times import refuse_future_times
from backend.ingest.listing.listed_uploads import Which
from backend.ingest.models import State, Upload
from backend.ingest.preview.dry_records import DryTrial
from backend.ingest.preview.dry_run import dry_run
from backend.ingest.receiving.receive import Sender, receive
from backend.links import absolute, link_to
from backend.runs.database.cursors import Page
from backend.untrusted.json.plain_json import read_json
from backend.untrusted.limits import ENVELOPE_BYTES, MAX_PARTS

HOW_TO_SIGN = "Send it as: Authorization: Bearer ls_api_…"
# What a list of uploads can be restricted to: the states, and some of the parsed uploads.
LISTED_STATES = (*(state.value for state in State), "partial")
FILE_HINT = "Send the saved output as a file: curl -F file=@ab.txt …"


class UploadSerializer(serializers.Serializer[Upload]):
    """An upload and where its result is."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(State.choices)
    reason = serializers.CharField(
        help_text="Why it waits or failed; for a parsed upload, what could not be read; "
        "otherwise empty"
    )
    received_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    attempts = serializers.IntegerField()
    run = serializers.UUIDField(allow_null=True)
    url = serializers.CharField()
    result_url = serializers.CharField()

    def to_representation(self, upload: Upload) -> dict[str, Any]:
        """The fields above, by hand: each accepted upload is answered with them."""
        return {
            "id": upload.pk,
            "state": upload.state,
            "reason": upload.reason,
            "received_at": upload.received_at,
            "finished_at": upload.finished_at,
            "attempts": upload.attempts,
            "run": upload.result_run_id,
            "url": absolute(link_to("upload", upload.pk)),
            "result_url": absolute(link_to("upload-page", upload.pk)),
        }


class WholeSerializer(StrictSerializer):
    """An artefact that came in parts before: its name, and the SHA-256 and size it has as sent."""

    name = serializers.CharField(max_length=200)
    sha256 = serializers.RegexField(r"\A[0-9a-f]{64}\Z")
    size_bytes = serializers.IntegerField(min_value=1, max_value=2**62)
    parts = serializers.IntegerField(min_value=1, max_value=MAX_PARTS)


class UploadForm(serializers.Serializer[Any]):
    """What a POST carries."""

    file = serializers.ListField(child=serializers.FileField(), help_text="Raw output, one or more")
    envelope = serializers.CharField(required=False, help_text="JSON of the agent's envelope")
    parts = serializers.CharField(
        required=False,
        help_text="JSON list of the artefacts that came in parts: name, sha256, size_bytes, parts",
    )
    tool = serializers.CharField(required=False, help_text="The load tool, if you want it checked")
    workspace = serializers.CharField(
        required=False, help_text="The slug of the workspace; not needed with a token"
    )


class UploadList(APIView):
    hint_instead_of_key = (
        "Leave out Idempotency-Key. Send an envelope with an id, a UUID that you make: the same "
        "upload sent again is stored once."
    )
    parser_classes = [MultiPartParser]

    def get_throttles(self) -> list[BaseThrottle]:
        """Uploads have a limit of their own."""
        return [] if self.request.method == "POST" else super().get_throttles()

    @list_operation(
        "upload_list",
        "uploads",
        UploadSerializer,
        ONLY_WORKSPACE,
        OpenApiParameter(
            "state",
            str,
            enum=LISTED_STATES,
            description="Only uploads in this state. partial: parsed, except for what its reason "
            "names",
        ),
    )
    def get(self, request: Request) -> Page[Upload]:
        """The uploads of one's workspaces, each with its state and the reason where it failed."""
        rows = Upload.objects.filter(workspace__in=workspaces_asked(request), is_in_trash=False)
        rows = rows.without_envelopes()
        state = request.query_params.get("state")
        if state and state not in LISTED_STATES:
            raise QueryError("state", state, ", ".join(LISTED_STATES))
        if state:
            rows = rows.filter(Which.PARTIAL.value if state == "partial" else Q(state=state))
        return newest_first(request, rows, "received_at")

    @operation(
        "upload_create",
        (401, 403, 404, 409, 415, 422, 424, 425, 507),
        body={"multipart/form-data": UploadForm},
        answer={
            202: UploadSerializer,
            200: OpenApiResponse(UploadSerializer, "The same upload as before; sent again"),
        },
    )
    def post(self, request: Request) -> Response:
        """Store raw load-tool output. 202 once it is durable; the link shows the result."""
        sender = _sender(request)
        refuse_too_many(sender)
        wholes = _wholes(request)
        receipt = receive(
            sender,
            _files(request, needed=not wholes),
            wholes=wholes,
            raw_envelope=_json_field(request, "envelope"),
            tool=_tool(request),
        )
        code = status.HTTP_202_ACCEPTED if receipt.is_new else status.HTTP_200_OK
        return Response(UploadSerializer(receipt.upload).data, status=code)


class DryTrialSerializer(serializers.Serializer[Any]):
    """A trial as it would be recorded. Null is unknown."""

    server = serializers.CharField()
    workload = serializers.CharField()
    tool = serializers.CharField(source="point.tool")
    tool_version = serializers.CharField(source="point.tool_version", allow_null=True)
    connections = serializers.IntegerField(source="point.connections", allow_null=True)
    rate_rps = serializers.FloatField(source="point.rate_rps", allow_null=True)
    throughput = serializers.FloatField(source="figures.throughput", allow_null=True)
    throughput_origin = serializers.ChoiceField(
        ["computed", "reported"],
        source="figures.throughput_origin",
        allow_null=True,
        help_text="Reported: the tool's own rate, where a count or the elapsed time is unknown",
    )
    p50_us = serializers.FloatField(source="figures.p50", allow_null=True)
    p99_us = serializers.FloatField(source="figures.p99", allow_null=True)
    origin = serializers.CharField(source="figures.origin", allow_null=True)
    error_rate = serializers.FloatField(source="figures.error_rate", allow_null=True)
    requests = serializers.IntegerField(source="figures.requests", allow_null=True)
    incomplete = serializers.BooleanField()
    command = serializers.CharField(help_text="The command line above the output, or empty")
    lines = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="First and last line of its output, where the file has several",
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What was removed before it was read"
    )
    checks = serializers.SerializerMethodField()

    def get_checks(self, trial: DryTrial) -> list[dict[str, str]]:
        return [{"id": finding.id, "detail": finding.detail} for finding in trial.findings]


class DryRefusalSerializer(serializers.Serializer[Any]):
    """Why a result is not read."""

    sentence = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    found = serializers.CharField(allow_null=True)
    expected = serializers.CharField(allow_null=True)


class DryFileSerializer(serializers.Serializer[Any]):
    """What one file holds."""

    name = serializers.CharField()
    trials = DryTrialSerializer(many=True)
    refusals = DryRefusalSerializer(many=True)


class DryRunSerializer(serializers.Serializer[Any]):
    """What an upload would be read as."""

    files = DryFileSerializer(many=True)


class UploadPreview(APIView):
    """Read files without keeping them."""

    # It has a limit of its own.
    throttle_classes = ()

    parser_classes = [MultiPartParser]

    @operation(
        "upload_preview",
        (401, 403, 404, 415, 425),
        body={"multipart/form-data": UploadForm},
        answer=DryRunSerializer,
    )
    def post(self, request: Request) -> dict[str, Any]:
        """What these files would be read as. Nothing is stored; plans are not looked at."""
        _sender(request)
        throttle.require(PREVIEWS, throttle.payer_of(viewer_name(request)))
        raw = _json_field(request, "envelope")
        envelope = Envelope() if raw is None else read_envelope(raw)
        refuse_future_times(envelope)
        files = dry_run(_files(request), envelope, _tool(request), owner=viewer_name(request))
        return {"files": files}


class UploadDetail(APIView):
    @operation("upload_read", answer=UploadSerializer)
    def get(self, request: Request, upload_id: UUID) -> Upload:
        """State, reason and, once it is read, the run."""
        actor = actor_of(request)
        visible = Q(workspace__in=access.workspace_ids_of(actor))
        if isinstance(actor, Token):
            # A token that may only write can still follow the uploads that it sent.
            visible |= Q(token=actor)
        upload = Upload.objects.filter(visible, pk=upload_id, is_in_trash=False).first()
        if upload is None:
            raise NotFound(f"Upload {upload_id} was not found, or is not shared with you.")
        return upload


def _sender(request: Request) -> Sender:
    actor = actor_of(request)
    if isinstance(actor, Token):
        sender = token_sender(actor)
        if (slug := _field(request, "workspace")) is not None:
            refuse_other_workspace(actor, str(slug))
        return sender
    if actor is None:
        raise Problem(401, "Sign in", "An upload needs a token.", hint=HOW_TO_SIGN)
    workspace = _workspace(request)
    if workspace is None or not access.may_write(actor, workspace.pk):
        raise Problem(
            404,
            "Not found",
            "There is no such workspace, or you may not upload to it.",
            hint="Name one of your workspaces by its slug: -F workspace=…",
        )
    return Sender(workspace.pk, token_id=None, user_id=actor.pk)


def token_sender(token: Token) -> Sender:
    """Who sends with this token; raises Problem 403 where it may not upload."""
    if not access.may_upload(token):
        raise Problem(
            403,
            "Not allowed",
            "This token may not upload.",
            hint="It needs the scope runs:write or agent.",
        )
    return Sender(token.workspace_id, token_id=token.pk, user_id=token.user_id)


def refuse_too_many(sender: Sender) -> None:
    """Count one request of this sender; raises TooMany."""
    who = sender.token_id or sender.user_id
    if who:
        throttle.require(UPLOADS, throttle.payer_of(who))


def _field(request: Request, name: str) -> Any:
    """A field of the multipart form; raises Problem 400 for several, and for a text with NUL."""
    # Where nothing was sent, the data are no form.
    form = request.data
    values = form.getlist(name) if isinstance(form, QueryDict) else []
    if len(values) > 1:
        raise given_several_times(name, len(values))
    value = values[0] if values else None
    if isinstance(value, str) and "\0" in value:
        raise Problem(
            400,
            "Bad request",
            f"The field {name} has a NUL character, expected none.",
            hint="Take it out and send it again.",
        )
    return value


def _json_field(request: Request, name: str) -> Any:
    """A field of the form, or a file of it, that holds JSON; None if there is none."""
    field = _field(request, name)
    if field is None:
        return None
    # Never more in memory than the limit.
    raw = field.encode() if isinstance(field, str) else field.read(ENVELOPE_BYTES + 1)
    return read_json(raw, limit_bytes=ENVELOPE_BYTES, subject=f"The field {name}")


def _workspace(request: Request) -> Workspace | None:
    return Workspace.objects.filter(
        slug=current_slug(str(_field(request, "workspace") or ""))
    ).first()


def _files(request: Request, *, needed: bool = True) -> list[Any]:
    try:
        files: list[Any] = request.FILES.getlist("file")
    except UnreadablePostError:
        raise cut_off() from None
    if not needed:
        return files
    if not files:
        raise Problem(400, "No file", "The request has no part named file.", hint=FILE_HINT)
    if all(file.size == 0 for file in files):
        raise Problem(400, "Empty file", "The file is empty: 0 bytes.", hint=FILE_HINT)
    return files


def _wholes(request: Request) -> list[Whole]:
    value = _json_field(request, "parts")
    if value is None:
        return []
    given = WholeSerializer(data=value, many=True)
    given.is_valid(raise_exception=True)
    return [Whole(**item) for item in given.validated_data]


def _tool(request: Request) -> str:
    tool = str(_field(request, "tool") or "")
    if tool and tool not in TOOLS:
        tools = ", ".join(sorted(TOOLS))
        raise Problem(
            400,
            "Unknown tool",
            f"The tool is {tool[:60]!r}, expected one of: {tools}.",
            hint="Leave it out: Loadsheet recognises the tool from its output.",
        )
    return tool
