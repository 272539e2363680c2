"""POST /api/v1/uploads and GET /api/v1/uploads/<id>."""

from __future__ import annotations

import json
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.http import QueryDict, UnreadablePostError
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts import access, throttle
from backend.accounts.models import Token, Workspace
from backend.api.auth import actor_of
from backend.api.errors import NOT_FOUND_HINT, Problem, TooMany
from backend.api.schema import documented
from backend.formats import TOOLS
from backend.ingest.dry_run import DryTrial, dry_run
from backend.ingest.envelope import Envelope, EnvelopeError, read_envelope
from backend.ingest.models import State, Upload
from backend.ingest.receive import Sender, UploadConflict, UploadTooLarge, receive
from backend.ingest.sandbox import ParserFailed

FILE_HINT = "Send the saved output as a file: curl -F file=@ab.txt …"


class UploadSerializer(serializers.Serializer[Upload]):
    """An upload and where its result is."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(State.choices)
    reason = serializers.CharField()
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
            "url": f"{settings.PUBLIC_URL}/api/v1/uploads/{upload.pk}",
            "result_url": f"{settings.PUBLIC_URL}/u/{upload.pk}",
        }


class UploadForm(serializers.Serializer[Any]):
    """What a POST carries."""

    file = serializers.ListField(child=serializers.FileField(), help_text="Raw output, one or more")
    envelope = serializers.CharField(required=False, help_text="JSON of the agent's envelope")
    tool = serializers.CharField(required=False, help_text="The load tool, if you want it checked")
    workspace = serializers.CharField(required=False, help_text="Slug; a token has its own")


class UploadList(APIView):
    """Receive uploads."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="upload_create",
        request={"multipart/form-data": UploadForm},
        responses={
            202: UploadSerializer,
            200: OpenApiResponse(UploadSerializer, "The same upload as before; sent again"),
            **documented(400, 401, 403, 404, 409, 413, 415, 429, 503, 507),
        },
    )
    def post(self, request: Request) -> Response:
        """Store raw load-tool output. 202 once it is durable; the link shows the result."""
        _refuse_oversize(request)
        sender = _sender(request)
        _refuse_too_many(sender)
        try:
            receipt = receive(
                sender, _files(request), raw_envelope=_envelope(request), tool=_tool(request)
            )
        except EnvelopeError as error:
            raise Problem(
                400,
                "Bad envelope",
                str(error),
                hint="Nothing was stored; mend it and send it again.",
            ) from None
        except UploadTooLarge as error:
            raise Problem(413, "Too large", str(error), hint="Compress it or split it.") from None
        except UploadConflict as conflict:
            raise Problem(
                409,
                "Id used before",
                f"The upload id {conflict} was used before for other bytes; nothing was changed.",
                hint="Give a new measurement a new id.",
            ) from None
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
    p50_us = serializers.FloatField(source="figures.p50", allow_null=True)
    p99_us = serializers.FloatField(source="figures.p99", allow_null=True)
    origin = serializers.CharField(source="figures.origin", allow_null=True)
    error_rate = serializers.FloatField(source="figures.error_rate", allow_null=True)
    requests = serializers.IntegerField(source="figures.requests", allow_null=True)
    incomplete = serializers.BooleanField()
    checks = serializers.SerializerMethodField()

    def get_checks(self, trial: DryTrial) -> list[dict[str, str]]:
        return [{"id": one.id, "detail": one.detail} for one in trial.findings]


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

    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="upload_preview",
        request={"multipart/form-data": UploadForm},
        responses={200: DryRunSerializer, **documented(400, 401, 403, 404, 413, 415, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        """What these files would be read as. Nothing is stored; plans are not looked at."""
        _refuse_oversize(request)
        sender = _sender(request)
        if wait := throttle.seconds_until_preview(str(sender.token_id or sender.user_id)):
            raise TooMany(f"More than {settings.PREVIEWS_PER_MINUTE} within a minute.", wait)
        raw = _envelope(request)
        workspace = Workspace.objects.get(pk=sender.workspace_id)
        try:
            envelope = Envelope() if raw is None else read_envelope(raw)
            files = dry_run(workspace, _files(request), envelope, tool=_tool(request))
        except EnvelopeError as error:
            raise Problem(400, "Bad envelope", str(error), hint="Mend it and try again.") from None
        except UploadTooLarge as error:
            raise Problem(413, "Too large", str(error), hint="Send it to be saved.") from None
        except ParserFailed as busy:
            raise Problem(503, "Busy", str(busy), hint="Try again in a minute.") from None
        return Response(DryRunSerializer({"files": files}).data)


class UploadDetail(APIView):
    """Where an upload stands."""

    @extend_schema(
        operation_id="upload_read", responses={200: UploadSerializer, **documented(401, 404, 503)}
    )
    def get(self, request: Request, upload_id: UUID) -> Response:
        """State, reason and, once it is read, the run."""
        actor = actor_of(request)
        visible = Q(workspace__in=access.workspace_ids_of(actor))
        if isinstance(actor, Token):
            # Who may only write still learns what became of its own.
            visible |= Q(token=actor)
        upload = Upload.objects.filter(visible, pk=upload_id).first()
        if upload is None:
            raise Problem(
                404,
                "Not found",
                f"There is no upload {upload_id} that you may see.",
                hint=NOT_FOUND_HINT,
            )
        return Response(UploadSerializer(upload).data)


def _refuse_oversize(request: Request) -> None:
    # Before the body is read: the header alone is enough to say no.
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    if length > settings.UPLOAD_MAX_BYTES + (1 << 20):
        raise Problem(
            413,
            "Too large",
            f"This request has {length} bytes; at most {settings.UPLOAD_MAX_BYTES} are accepted.",
            hint="Compress the files with gzip or zstd, or send them as several uploads.",
        )


def _sender(request: Request) -> Sender:
    actor = actor_of(request)
    if isinstance(actor, Token):
        if not access.may_write(actor, actor.workspace_id):
            raise Problem(
                403,
                "Not allowed",
                "This token may not upload.",
                hint="It needs the scope runs:write.",
            )
        return Sender(actor.workspace_id, token_id=actor.pk, user_id=actor.user_id)
    if actor is None:
        raise Problem(
            401,
            "Sign in",
            "An upload needs a token.",
            hint="Send it as: Authorization: Bearer ls_agent_…",
        )
    workspace = _workspace(request)
    if workspace is None or not access.may_write(actor, workspace.pk):
        raise Problem(
            404,
            "Not found",
            "There is no such workspace that you may upload to.",
            hint="Name one of your workspaces by its slug: -F workspace=…",
        )
    return Sender(workspace.pk, token_id=None, user_id=actor.pk)


def _refuse_too_many(sender: Sender) -> None:
    who = sender.token_id or sender.user_id
    if who and (wait := throttle.seconds_until_upload(str(who))):
        raise TooMany(
            f"More than {settings.UPLOADS_PER_MINUTE} uploads came within a minute.", wait
        )


def _field(request: Request, name: str) -> Any:
    """A field of the multipart form."""
    return cast(QueryDict, request.data).get(name)


def _workspace(request: Request) -> Workspace | None:
    return Workspace.objects.filter(slug=str(_field(request, "workspace") or "")).first()


def _files(request: Request) -> list[Any]:
    try:
        files: list[Any] = request.FILES.getlist("file")
    except UnreadablePostError:
        raise Problem(
            400,
            "Cut off",
            "The connection ended before the whole body came.",
            hint="Nothing was stored; send it again.",
        ) from None
    if not files:
        raise Problem(400, "No file", "The request has no part named file.", hint=FILE_HINT)
    if all(file.size == 0 for file in files):
        raise Problem(400, "Empty file", "The file is empty: 0 bytes.", hint=FILE_HINT)
    return files


def _envelope(request: Request) -> Any:
    raw = _field(request, "envelope")
    if raw is None:
        return None
    try:
        return json.loads(raw if isinstance(raw, str) else raw.read(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(
            400,
            "Bad envelope",
            f"The envelope is not JSON: {error}.",
            hint="Nothing was stored; mend it and send it again.",
        ) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _tool(request: Request) -> str:
    tool = str(_field(request, "tool") or "")
    if tool and tool not in TOOLS:
        known = ", ".join(sorted(TOOLS))
        raise Problem(
            400,
            "Unknown tool",
            f"The tool is {tool[:60]!r}, expected one of: {known}.",
            hint="Leave it out: the tool is told from the output.",
        )
    return tool
