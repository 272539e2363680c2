"""The ASGI application: it brings each request to Django, in a thread.

A body is read whole before a thread sees its request, and an answer is written whole before its
first byte is sent. So a slow client takes a file descriptor, and no thread or database connection.
Who may send a body above `ANONYMOUS_BYTES`, and how many and how fast, is judged here alone.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeVar
from urllib.parse import unquote_to_bytes

from backend.config.wsgi import application as django_application

# isort: split
# Models can be imported once there is an application.
from backend.config.bodies import REFUSAL_KEY, sender_of
from backend.config.body_shares import (
    ANSWER_MEMORY_BYTES,
    Share,
    answer_kept,
    refuse_reader,
    share_of,
)
from backend.ingest.body_refusals import BadAddress, BodyTooLarge, BodyTooSlow
from backend.ingest.limits import (
    ANONYMOUS_BYTES,
    LEAST_BYTES_PER_S,
    SLOW_AFTER_S,
    largest_request,
)

Result = TypeVar("Result")
Scope = MutableMapping[str, Any]
Environ = dict[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Slow work of all kinds may hold eighteen: twelve for files (backend/ingest/slots.py), six for
# large answers (backend/analysis/loading/viewer_slots.py). Two always answer everything else.
THREADS = 20
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
    size: int = 0


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request."""
    if scope["type"] != "http":
        await send({"type": "websocket.close"})
        return
    is_whole = False
    with ExitStack() as stack:
        body = stack.enter_context(SpooledTemporaryFile(ANONYMOUS_BYTES))
        environ = _environ_of(scope, body)
        try:
            if not scope["raw_path"].startswith(b"/"):
                raise BadAddress
            refuse_reader(environ)
            is_whole = await _read_body(environ, receive, stack)
        except ConnectionAbortedError:
            return
        except Exception as error:
            environ[REFUSAL_KEY] = error
        is_asked_for = body.tell() > 0 or "HTTP_EXPECT" not in environ
        answer = await _in_thread(_ask_django, environ)
        stack.enter_context(answer.body)
        stack.enter_context(answer_kept(environ, answer.size))
        await _send(answer, send)
        if not is_whole and is_asked_for:
            await _linger(receive)


def _environ_of(scope: Scope, body: IO[bytes]) -> Environ:
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # The path as it was sent: bytes that are no UTF-8 are Django's to refuse.
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": scope["server"][0],
        "SERVER_PORT": str(scope["server"][1]),
        "REMOTE_ADDR": scope["client"][0],
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
    }
    for name, text in scope["headers"]:
        # It would pass for the name with hyphens, which a proxy sets.
        if b"_" in name:
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key in ("CONTENT_LENGTH", "CONTENT_TYPE") else f"HTTP_{key}"
        before = f"{environ[key]}," if key in environ else ""
        environ[key] = before + text.decode("latin-1")
    return environ


async def _read_body(environ: Environ, receive: Receive, stack: ExitStack) -> bool:
    """Write the body to `wsgi.input`; False if LimitBodies or the view refuses it by its header.

    Raises ConnectionAbortedError when the client went away, and why the rest is left unread.
    """
    length, limit = int(environ.get("CONTENT_LENGTH", 0)), ANONYMOUS_BYTES
    if length > largest_request():
        return False
    share = None
    if length > limit or "HTTP_TRANSFER_ENCODING" in environ:
        if sender := await _in_thread(sender_of, environ):
            share, limit = stack.enter_context(share_of(*sender)), largest_request()
        elif length > limit:
            return False
    await _read(environ["wsgi.input"], receive, limit, share)
    return True


async def _read(body: IO[bytes], receive: Receive, limit: int, share: Share | None) -> None:
    size, began, has_more = 0, time.monotonic(), True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        block, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(block)
        if size > limit:
            raise BodyTooLarge(limit)
        seconds = time.monotonic() - began
        if has_more and seconds > SLOW_AFTER_S and size < LEAST_BYTES_PER_S * seconds:
            raise BodyTooSlow
        if share:
            share.add(len(block))
        body.write(block)


async def _in_thread(work: Callable[[Environ], Result], environ: Environ) -> Result:
    return await asyncio.get_running_loop().run_in_executor(_threads, work, environ)


def _ask_django(environ: Environ) -> Answer:
    content = SpooledTemporaryFile(ANSWER_MEMORY_BYTES)  # noqa: SIM115  closed once it is sent
    answer = Answer(500, [], content)

    def start(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], object]:
        answer.status = int(status.split(" ", 1)[0])
        answer.headers = [(name.encode(), text.encode("latin-1")) for name, text in headers]
        return content.write

    if environ.pop("HTTP_TRANSFER_ENCODING", None):
        environ["CONTENT_LENGTH"] = str(environ["wsgi.input"].tell())
    environ["wsgi.input"].seek(0)
    blocks = django_application(environ, start)
    try:
        for block in blocks:
            if len(block) > ANSWER_MEMORY_BYTES:
                content.rollover()
            content.write(block)
    finally:
        getattr(blocks, "close", lambda: None)()
    answer.size = content.tell()
    content.seek(0)
    return answer


async def _send(answer: Answer, send: Send) -> None:
    start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
    await send(start)
    while len(block := answer.body.read(BLOCK_BYTES)) == BLOCK_BYTES:
        await send({"type": "http.response.body", "body": block, "more_body": True})
        # A fast reader of a long answer lets others come between.
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": block})


async def _linger(receive: Receive) -> None:
    """A client that still sends would miss the answer when the connection is closed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (await receive()).get("more_body"):
                pass
