"""Parts of an upload's large artefacts: PUT …/parts/<sha256>/<number>, and which are there.

An agent sends what is missing, asks again after a cut, and at last names the artefacts in the
upload itself.
"""

import base64
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.http import UnreadablePostError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.accounts.models import Token
from backend.api.protocol.auth import actor_of
from backend.api.protocol.errors import Problem
from backend.api.protocol.schema import operation
from backend.api.uploads.uploads import HOW_TO_SIGN, refuse_too_many, token_sender
from backend.ingest.artefacts.part_refusals import PartConflict
from backend.ingest.artefacts.parts import Place, parts_of, receive_part
from backend.ingest.models import Part, Upload
from backend.ingest.receiving.receive import Sender
from backend.storage import CHUNK_BYTES
from backend.untrusted.limits import MAX_PART_BYTES, MAX_PARTS

SHA256 = re.compile(r"[0-9a-f]{64}")
# RFC 9530
DIGEST = re.compile(r"\bsha-256=:([A-Za-z0-9+/]{43}=):")
DIGEST_HINT = "Send Content-Digest: sha-256=:<base64 of the part's SHA-256>: (RFC 9530)."


class PartSerializer(serializers.Serializer[Part]):
    """A part that is there, durably."""

    artefact = serializers.CharField(source="artefact_sha256", help_text="SHA-256 of the whole")
    number = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="SHA-256 of the part")
    size_bytes = serializers.IntegerField()


class PartListSerializer(serializers.Serializer[Any]):
    """What is there of an upload."""

    received = serializers.BooleanField(
        help_text="The whole upload was received: its parts are no longer needed"
    )
    parts = PartSerializer(many=True)


class PartList(APIView):
    # It has a limit of its own.
    throttle_classes = ()

    @operation("part_list", (401, 403, 404), answer=PartListSerializer)
    def get(self, request: Request, upload_id: UUID) -> dict[str, Any]:
        """The parts of an upload that this workspace's tokens sent and that are durable."""
        sender = _sender(request)
        rows = parts_of(sender.workspace_id, upload_id)
        return {"received": _is_received(sender, upload_id), "parts": rows}


class PartDetail(APIView):
    # It has a limit of its own.
    throttle_classes = ()

    @operation(
        "part_create",
        (401, 403, 404, 408, 409, 411, 507),
        body={"application/octet-stream": OpenApiTypes.BINARY},
        answer={
            201: PartSerializer,
            200: OpenApiResponse(PartSerializer, "The same part as before; sent again"),
        },
        parameters=[
            OpenApiParameter("artefact", str, "path", pattern=SHA256.pattern),
            OpenApiParameter("number", int, "path"),
            OpenApiParameter(
                "Content-Digest", str, "header", required=True, description=DIGEST_HINT
            ),
        ],
    )
    def put(self, request: Request, upload_id: UUID, artefact: str, number: int) -> Response:
        """Store a part of at most 8 MiB of an artefact, as it is sent. 201 once it is durable."""
        sender = _sender(request)
        refuse_too_many(sender)
        size = _size(request)
        digest = _digest(request)
        if not SHA256.fullmatch(artefact) or number >= MAX_PARTS:
            raise Problem(
                400,
                "Bad address",
                f"The part is {artefact[:70]}/{number}, expected the SHA-256 of the whole artefact "
                f"in hex and a number below {MAX_PARTS}.",
                hint="Number the parts of an artefact from 0.",
            )
        if _is_received(sender, upload_id):
            raise PartConflict(f"The upload {upload_id} was already received. Nothing was changed.")
        place = Place(sender.workspace_id, upload_id, artefact, number)
        part, is_new = receive_part(place, _chunks(request), sha256=digest, size_bytes=size)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(PartSerializer(part).data, status=code)


def _sender(request: Request) -> Sender:
    actor = actor_of(request)
    if actor is None:
        raise Problem(401, "Sign in", "Parts are sent with a token.", hint=HOW_TO_SIGN)
    if not isinstance(actor, Token):
        raise Problem(
            403,
            "Not allowed",
            "Parts are sent with a token, not from a browser's session.",
            hint="Send the whole file, or make a token in the workspace's settings.",
        )
    return token_sender(actor)


def _is_received(sender: Sender, upload_id: UUID) -> bool:
    # Another workspace's upload is as unknown here as one that never was.
    return Upload.objects.filter(pk=upload_id, workspace=sender.workspace_id).exists()


def _size(request: Request) -> int:
    length = str(request.META.get("CONTENT_LENGTH") or "")
    if not length.isdecimal():
        raise Problem(
            411,
            "Length required",
            "The request does not say how many bytes its body has.",
            hint="Send the bytes of the part, and their number as Content-Length.",
        )
    size = int(length)
    if not size:
        raise Problem(400, "Empty part", "This part has 0 bytes.", hint="Send no empty parts.")
    if size > MAX_PART_BYTES:
        raise Problem(
            413,
            "Too large",
            f"This part has {size:,} bytes; at most {MAX_PART_BYTES:,} are accepted.",
            hint="Send more and smaller parts.",
        )
    return size


def _digest(request: Request) -> str:
    given = request.headers.get("Content-Digest", "")
    match = DIGEST.search(given)
    if match is None:
        raise Problem(
            400,
            "No checksum",
            f"The header Content-Digest is {given[:80]!r}, expected the part's SHA-256.",
            hint=DIGEST_HINT,
        )
    return base64.b64decode(match[1]).hex()


def _chunks(request: Request) -> Iterator[bytes]:
    # A connection that ends early gives fewer bytes or this error: the checksum tells both.
    body = request._request
    try:
        while chunk := body.read(CHUNK_BYTES):
            yield chunk
    except UnreadablePostError:
        return
