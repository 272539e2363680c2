"""`Idempotency-Key` on requests that create: sent again, they get the first answer again."""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from backend.accounts.models import Token, User
from backend.accounts.workspace import access
from backend.api.models import CreationKey
from backend.api.protocol.auth import required_actor
from backend.api.protocol.errors import Problem
from backend.runs.database.read_router import repeatable_read
from backend.transactions import repeat_if_overtaken

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
MAX_LENGTH = 200
KEPT = timedelta(hours=24)
HINT = f"Leave out {HEADER}, and look at what is there before you send the request again."
# Of old keys, as many are removed with each new one.
REMOVED_AT_ONCE = 20
View = Callable[..., Response]
_FORM = re.compile(rf"[!-~]{{1,{MAX_LENGTH}}}")


def idempotent(view: View, *, in_one_state: bool = False) -> View:
    """A view that creates, once for each key of its sender.

    A creation that fails keeps no key, so it may be sent again. After KEPT a key is as good as
    new: it creates, also with another body. `in_one_state`: everything that the view reads is of
    one state, and it begins again where others overtook it. Raises Problem for a key that cannot
    be one, or that came with another request.
    """

    @wraps(view)
    def answer(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return view(self, request, *args, **kwargs)
        actor, digest = required_actor(request), _digest(request)
        sender, checked = access.name_of_sender(actor), _checked(key)

        def create() -> Response:
            with repeatable_read() if in_one_state else transaction.atomic():
                row = _locked(sender, checked, digest)
                if row.status and timezone.now() - row.created_at < KEPT:
                    return _again(row, digest)
                response = view(self, request, *args, **kwargs)
                _keep(row, digest, response, actor)
            return response

        if not in_one_state:
            return create()
        # The state that is read must have the row: a second request waits for the first at it.
        _locked(sender, checked, digest, waits=False)
        return repeat_if_overtaken(create)

    # Read by RefuseUnusedKey.
    answer.takes_key = True  # type: ignore[attr-defined]  # of this function alone
    return answer


def _locked(sender: str, key: str, digest: bytes, *, waits: bool = True) -> CreationKey:
    """The row of the key: a second request with it waits here until the first has ended, also where
    the key has expired. Of a creation that failed, or is not done, its status is 0."""
    rows = CreationKey.objects.select_for_update() if waits else CreationKey.objects.all()
    row, _ = rows.get_or_create(sender=sender, key=key, defaults={"digest": digest})
    return row


class RefuseUnusedKey(BasePermission):
    """Refuses a key where it would do nothing: its sender counts on it when sending again."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises Problem 400. A method that the address does not have is answered 405 later."""
        post = getattr(view, "post", None)
        is_unused = post is not None and not hasattr(post, "takes_key")
        if request.method == "POST" and is_unused and HEADER in request.headers:
            raise Problem(
                400,
                "Idempotency key not taken",
                f"{HEADER}: POST {request.path} does not accept this header, so sending the "
                "request again could create something twice. Nothing was changed.",
                hint=getattr(view, "hint_instead_of_key", HINT),
                field=HEADER,
            )
        return True


def _checked(key: str) -> str:
    if not _FORM.fullmatch(key):
        raise Problem(
            400,
            "Bad idempotency key",
            f"{HEADER}: got {key[:40]!r}, expected 1 to {MAX_LENGTH} visible ASCII characters.",
            hint="Make a random text for each creation, such as a UUID.",
            field=HEADER,
        )
    return key


def _digest(request: Request) -> bytes:
    """Names the request: its address with its body.

    The body as it was parsed: the check of a browser's session may have read its bytes before.
    """
    address = f"{request.method} {request.get_full_path()}\n"
    return hashlib.sha256((address + json.dumps(request.data, sort_keys=True)).encode()).digest()


def _again(row: CreationKey, digest: bytes) -> Response:
    if bytes(row.digest) != digest:
        raise Problem(
            409,
            "Key used before",
            f"{HEADER} {row.key!r} was used for another request.",
            hint="Make a new key for a new creation. Nothing was changed.",
        )
    answer = Response(orjson.loads(bytes(row.answer)), status=row.status)
    answer[REPLAYED] = "true"
    return answer


def _keep(row: CreationKey, digest: bytes, response: Response, actor: Token | User) -> None:
    row.digest, row.status, row.created_at = digest, response.status_code, timezone.now()
    row.answer = JSONRenderer().render(response.data)
    slug = response.data.get("workspace")
    row.workspace = access.workspaces_of(actor).filter(slug=slug).first()
    row.save()
    old = CreationKey.objects.filter(created_at__lt=timezone.now() - KEPT)
    # A locked one is being used again.
    free = old.select_for_update(skip_locked=True)
    removed = list(free.values_list("pk", flat=True)[:REMOVED_AT_ONCE])
    CreationKey.objects.filter(pk__in=removed).delete()
