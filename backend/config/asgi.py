"""The ASGI application: it brings each request to Django, in a thread.

A body is read whole before a thread sees its request, and an answer is written whole before its
first byte is sent. So a slow client takes a file descriptor, and no thread or database connection.
A body above `ANONYMOUS_BYTES` is read only if the service knows the sender (`bodies.may_send`).
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from asgiref.wsgi import WsgiToAsgiInstance

from backend.config.wsgi import application as django_application

# isort: split
# Models can be imported once there is an application.
from backend.config.bodies import MAY_SEND, REFUSAL_KEY, SENDER, Refusal
from backend.config.body_shares import Share, share_of
from backend.ingest.limits import ANONYMOUS_BYTES, largest_request
from backend.ingest.storage import FULL

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Slow work of all kinds may hold eighteen: twelve for files (backend/ingest/slots.py), six for
# large answers (backend/analysis/loading/viewer_slots.py). Two always answer everything else.
THREADS = 20
# Longer answers wait for their reader in a file.
ANSWER_MEMORY_BYTES = 1 << 20
BLOCK_BYTES = 64 << 10
LINGER_S = 2.0

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
# How long a thread runs while others wait for the interpreter. Short answers wait for it several
# times: beside five threads that write pages, 2.5 s with the 5 ms of Python and 0.3 s with this.
sys.setswitchinterval(0.0005)


@dataclass(slots=True)
class Answer:
    """What Django answered: the body from its start."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: SpooledTemporaryFile[bytes]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request."""
    if scope["type"] != "http":
        await send({"type": "websocket.close"})
        return
    with ExitStack() as stack:
        body = stack.enter_context(SpooledTemporaryFile(ANONYMOUS_BYTES))
        try:
            refusal = await _read_body(scope, receive, body, stack)
        except ConnectionAbortedError:
            return
        answer = await _in_thread(scope, body, refusal)
        stack.enter_context(answer.body)
        await _send(answer, send, is_head=scope["method"] == "HEAD")
        if refusal and b"expect" not in dict(scope["headers"]):
            # A client that still sends would miss the answer when the connection is closed.
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    while (await receive()).get("more_body"):
                        pass


async def _read_body(
    scope: Scope, receive: Receive, body: IO[bytes], stack: ExitStack
) -> Refusal | None:
    """Write the body to a file, or say why its rest is left unread.

    Raises ConnectionAbortedError when the client went away.
    """
    headers = dict(scope["headers"])
    length, is_chunked = int(headers.get(b"content-length", 0)), b"transfer-encoding" in headers
    if not scope["raw_path"].startswith(b"/"):
        return Refusal.ADDRESS
    if length > largest_request():
        return Refusal.HEADER
    limit, names = ANONYMOUS_BYTES, []
    if is_chunked or length > limit:
        fields = [field for field in scope["headers"] if field[0] != b"content-length"]
        asked = {**scope, "method": "GET", "raw_path": MAY_SEND, "headers": fields}
        sender = await _in_thread(asked, body, None)
        if sender.status == 204:
            limit, names = largest_request(), dict(sender.headers)[SENDER].split()
        elif not is_chunked or sender.status != 401:
            return {401: Refusal.HEADER}.get(sender.status, Refusal.AWAY)
    return await _read(receive, body, limit, stack.enter_context(share_of(*names)))


async def _read(receive: Receive, body: IO[bytes], limit: int, share: Share) -> Refusal | None:
    began, has_more = time.monotonic(), True
    while has_more:
        if refusal := share.refusal_after(time.monotonic() - began):
            return refusal
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        block, has_more = message.get("body", b""), message.get("more_body", False)
        share.add(len(block))
        if share.size > limit:
            return Refusal.LARGE if limit > ANONYMOUS_BYTES else Refusal.ANONYMOUS
        try:
            body.write(block)
        except OSError as error:
            if error.errno not in FULL:
                raise
            return Refusal.FULL
    return None


async def _in_thread(scope: Scope, body: IO[bytes], refusal: Refusal | None) -> Answer:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, _ask_django, scope, body, refusal)


def _ask_django(scope: Scope, body: IO[bytes], refusal: Refusal | None) -> Answer:
    content = SpooledTemporaryFile(ANSWER_MEMORY_BYTES)  # noqa: SIM115  closed once it is sent
    answer = Answer(500, [], content)

    def start(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], object]:
        answer.status = int(status.split(" ", 1)[0])
        answer.headers = [(name.encode(), text.encode("latin-1")) for name, text in headers]
        return answer.body.write

    size = body.tell()
    body.seek(0)
    converter: Any = WsgiToAsgiInstance(None)  # type: ignore[no-untyped-call]
    converter.scope = scope
    environ = converter.build_environ(scope, body)
    # The path as it was sent: bytes that are no UTF-8 are Django's to refuse.
    environ["PATH_INFO"] = unquote_to_bytes(scope["raw_path"]).decode("latin-1")
    environ[REFUSAL_KEY] = refusal
    if environ.pop("HTTP_TRANSFER_ENCODING", None):
        environ["CONTENT_LENGTH"] = str(size)
    blocks = django_application(environ, start)
    try:
        for block in blocks:
            if len(block) > ANSWER_MEMORY_BYTES:
                answer.body.rollover()
            answer.body.write(block)
    finally:
        getattr(blocks, "close", lambda: None)()
    answer.body.seek(0)
    return answer


async def _send(answer: Answer, send: Send, *, is_head: bool) -> None:
    start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
    await send(start)
    block = b"" if is_head else answer.body.read(BLOCK_BYTES)
    while len(block) == BLOCK_BYTES:
        await send({"type": "http.response.body", "body": block, "more_body": True})
        # A fast reader of a long answer lets others come between.
        await asyncio.sleep(0)
        block = answer.body.read(BLOCK_BYTES)
    await send({"type": "http.response.body", "body": block})
