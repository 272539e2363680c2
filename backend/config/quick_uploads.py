"""A short way for the upload that comes most: one small text with a token, and nothing else.

It stands before Django, and takes only what it understands fully; all else goes the long way. It
learns from the long way: who the sender is, and with which headers an upload is answered. So both
ways answer alike, and every refusal is the long way's.
"""

import hashlib
import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import Error, connection
from django.http.request import split_domain_port, validate_host

from backend import counters
from backend.accounts import upload_counts
from backend.api.uploads import SENDER_KEY, UPLOAD_ID_KEY
from backend.config.bodies import REFUSAL_KEY
from backend.config.measuring import HEADER, request_id_of
from backend.disks import is_short
from backend.ingest.cleaning import clean_name
from backend.ingest.content_hash import content_hash, keyed
from backend.ingest.hints import hint_soon
from backend.ingest.insert_small import SmallUpload, insert_small
from backend.ingest.models import State
from backend.ingest.rewriting import clean_bytes, is_plain
from backend.links import absolute, link_to

log = logging.getLogger(__name__)

Environ = dict[str, Any]
Headers = Sequence[tuple[str, str]]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

BODY_BYTES = 16 << 10
# How long a sender is remembered. Whether it may still upload is asked at each upload.
REMEMBERED_S = 30.0
MAX_REMEMBERED = 1000
# Unused for so long, a connection to the database is tried before it is trusted.
IDLE_S = 1.0
OF_ONE_ANSWER = {"content-length", "server-timing", HEADER.lower()}
ACCEPTED = "202 Accepted"
ROUTE = "upload-list"
UNKNOWN_ID = UUID(int=0)

BOUNDARY = re.compile(r"multipart/form-data; ?boundary=([\w'()+,./:=?-]{1,70})\Z", re.ASCII)
# What a part may have beside its name; Django reads such a name as it stands.
PART = re.compile(
    rb'Content-Disposition: form-data; name="file"; filename="([A-Za-z0-9][A-Za-z0-9._-]{0,99})"'
    rb"(?:\r\nContent-Type: [a-z0-9.+-]+/[a-z0-9.+-]+)?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sender:
    """A token that uploaded a moment ago, and how it was answered."""

    token_id: UUID
    headers: Headers
    until: float


class QuickUploads:
    """The application, with the short way before it."""

    def __init__(self, application: Application) -> None:
        self._application = application
        # By the hash of the header Authorization.
        self._senders: dict[bytes, Sender] = {}
        self._of_thread = threading.local()

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        began_at = time.perf_counter()
        if not _is_small_upload(environ):
            return self._application(environ, start_response)
        who = hashlib.sha256(environ["HTTP_AUTHORIZATION"].encode()).digest()
        sender = self._senders.get(who)
        if sender is None or time.monotonic() > sender.until:
            return self._learn(environ, start_response, who)
        upload = self._upload_of(environ, sender)
        if upload is None:
            return self._application(environ, start_response)
        hint_soon()
        body = _answer_to(upload)
        elapsed_s = time.perf_counter() - began_at
        counters.count("requests", ROUTE, "POST", "202")
        counters.observe("request_seconds", elapsed_s, "api")
        own = [
            ("Content-Length", str(len(body))),
            ("Server-Timing", f"app;dur={elapsed_s * 1000:.1f}"),
            (HEADER, request_id_of(environ.get("HTTP_X_REQUEST_ID", ""))),
        ]
        start_response(ACCEPTED, [*sender.headers, *own])
        return [body]

    def _learn(
        self, environ: Environ, start_response: Callable[..., Any], who: bytes
    ) -> Iterable[bytes]:
        """Go the long way, and remember an accepted sender."""

        def start(status: str, headers: Headers, *rest: Any) -> Any:
            sender = environ.get(SENDER_KEY)
            if status == ACCEPTED and sender is not None and sender.token_id is not None:
                common = [pair for pair in headers if pair[0].lower() not in OF_ONE_ANSWER]
                self._remember(who, sender.token_id, common)
            return start_response(status, headers, *rest)

        return self._application(environ, start)

    def _remember(self, who: bytes, token_id: UUID, headers: Headers) -> None:
        if len(self._senders) >= MAX_REMEMBERED:
            self._senders.clear()
        self._senders[who] = Sender(token_id, headers, time.monotonic() + REMEMBERED_S)

    def _upload_of(self, environ: Environ, sender: Sender) -> SmallUpload | None:
        """The upload once it is durable; None if the request must go the long way."""
        upload = _read(environ, sender.token_id)
        if upload is None or is_short() or not upload_counts.may_upload(str(sender.token_id)):
            return None
        try:
            self._try_connection()
            return upload if insert_small(upload) else None
        except Error:
            log.warning("quick_upload_not_stored", exc_info=True)
            # It may have been written all the same: the long way finds it by its id.
            connection.close()
            environ[UPLOAD_ID_KEY] = upload.id
            return None

    def _try_connection(self) -> None:
        now = time.monotonic()
        if now - getattr(self._of_thread, "used_at", 0.0) > IDLE_S:
            connection.close_if_unusable_or_obsolete()
        self._of_thread.used_at = now


def _is_small_upload(environ: Environ) -> bool:
    length = environ.get("CONTENT_LENGTH") or ""
    return (
        environ["REQUEST_METHOD"] == "POST"
        and environ["PATH_INFO"] == _address()
        and not environ.get("QUERY_STRING")
        and "HTTP_AUTHORIZATION" in environ
        # The long way refuses it.
        and "HTTP_IDEMPOTENCY_KEY" not in environ
        and not environ.get(REFUSAL_KEY)
        and length.isdecimal()
        and 0 < int(length) <= BODY_BYTES
        and _is_own_host(environ.get("HTTP_HOST", ""))
    )


@lru_cache(maxsize=1)
def _address() -> str:
    return link_to(ROUTE)


@lru_cache(maxsize=100)
def _is_own_host(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _read(environ: Environ, token_id: UUID) -> SmallUpload | None:
    """The upload without secrets; None if the body is more than one plain text."""
    source = environ["wsgi.input"]
    body = source.read(int(environ["CONTENT_LENGTH"]))
    source.seek(0)
    named = _only_file(environ.get("CONTENT_TYPE", ""), body)
    if named is None or not named[1] or not is_plain(named[1]):
        return None
    name, sent = clean_name(named[0]), named[1]
    content = clean_bytes(sent)
    sent_sha256 = hashlib.sha256(sent).hexdigest()
    sent_hash = content_hash({}, "", {name: sent_sha256})
    return SmallUpload(
        id=uuid.uuid4(),
        token_id=token_id,
        received_at=datetime.now(UTC),
        content_sha256=sent_hash if content == sent else keyed(sent_hash),
        file_name=name,
        file_sha256=hashlib.sha256(content).hexdigest(),
        content=content,
    )


def _only_file(content_type: str, body: bytes) -> tuple[str, bytes] | None:
    """Name and content of the only part of a form, where that is a file."""
    given = BOUNDARY.match(content_type)
    if given is None:
        return None
    mark = b"--" + given[1].encode()
    body = body.removesuffix(b"\r\n")
    is_one = body.count(mark) == 2 and body.startswith(mark + b"\r\n")
    if not is_one or not body.endswith(b"\r\n" + mark + b"--"):
        return None
    head, _, content = body[len(mark) + 2 : -len(mark) - 4].partition(b"\r\n\r\n")
    part = PART.match(head)
    return None if part is None else (part[1].decode(), content)


@lru_cache(maxsize=1)
def _links() -> dict[str, str]:
    """The links of an upload, with UNKNOWN_ID."""
    return {
        "url": absolute(link_to("upload", UNKNOWN_ID)),
        "result_url": absolute(link_to("upload-page", UNKNOWN_ID)),
    }


def _answer_to(upload: SmallUpload) -> bytes:
    """As the API shows a new upload."""
    own_id = str(upload.id)
    return orjson.dumps(
        {
            "id": own_id,
            "state": State.RECEIVED.value,
            "reason": "",
            "received_at": upload.received_at.isoformat().replace("+00:00", "Z"),
            "finished_at": None,
            "attempts": 0,
            "run": None,
            **{name: link.replace(str(UNKNOWN_ID), own_id) for name, link in _links().items()},
        }
    )
