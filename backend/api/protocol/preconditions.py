"""`If-Match` on changes: a change is made only to what its sender has read."""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.encoding import force_bytes
from django.utils.http import parse_etags
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from backend.api.protocol.errors import Problem

HEADER = "If-Match"
TAG_DIGITS = 32
View = Callable[..., Any]
# A proxy that compresses an answer marks its tag: W/"…" or "…-gzip".
_MARKS = re.compile(r'^W/|-(?:br|gzip|zstd)(?="$)')


def tag_of(content: bytes) -> str:
    """The ETag of an answer with these bytes."""
    return f'"{hashlib.sha256(content).hexdigest()[:TAG_DIGITS]}"'


def tag_of_answer(request: Request, answer: Mapping[str, Any]) -> str:
    """The ETag that reading the same address would give for this answer."""
    renderer, media_type = request.accepted_renderer, request.accepted_media_type
    return tag_of(force_bytes(renderer.render(answer, media_type, {"request": request})))


def is_conditional(request: Request) -> bool:
    return HEADER in request.headers


def is_as_read(request: Request, answer: Mapping[str, Any]) -> bool:
    """Whether `If-Match` names this answer. Raises Problem for a header without an ETag."""
    given = request.headers[HEADER]
    tags = parse_etags(given)
    if not tags:
        raise Problem(
            400,
            "Bad If-Match",
            f"{HEADER}: got {given[:60]!r}, expected the ETag of an earlier answer in its quotes, "
            "or *.",
            hint="Send the ETag as it came. Nothing was changed.",
            field=HEADER,
        )
    return tags == ["*"] or tag_of_answer(request, answer) in {_MARKS.sub("", tag) for tag in tags}


def conditional(view: View) -> View:
    """Marks a view that heeds `If-Match`."""
    view.takes_condition = True  # type: ignore[attr-defined]  # read by RefuseUnusedCondition
    return view


class RefuseUnusedCondition(BasePermission):
    """Refuses `If-Match` where it would be ignored: its sender counts on it."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises Problem 400. A method that the address does not have is answered 405 later."""
        handler = getattr(view, str(request.method).lower(), None)
        is_unused = handler is not None and not hasattr(handler, "takes_condition")
        if is_unused and request.method not in SAFE_METHODS and is_conditional(request):
            raise Problem(
                400,
                "Condition not taken",
                f"{HEADER}: {request.method} {request.path} does not accept this header, so it "
                "could overwrite a change of somebody else. Nothing was changed.",
                hint=f"Leave out {HEADER}, and read again what you change.",
                field=HEADER,
            )
        return True
