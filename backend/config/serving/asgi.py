"""The ASGI application: it brings each request to Django, in a thread.

A body is read whole before a thread sees its request, and an answer is written whole before its
first byte is sent. So a slow client takes a file descriptor, and no thread or database connection.
Who may send a body above `ANONYMOUS_BYTES`, and how many and how fast, is judged here alone
(`room.py`), and so is whose request the next free thread takes (`fair_threads.py`).
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from io import BufferedReader
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import FileWrapper

from backend.config.serving.wsgi import application as django_application

# isort: split
# Models can be imported once there is an application.
from backend.accounts.limits.throttle import site_of
from backend.config.serving.bodies import REFUSAL_KEY, Unread, largest_body, sender_of
from backend.config.serving.fair_threads import FairThreads
from backend.config.serving.room import ANSWERS, MEMORY_BYTES, Hold, share_of
from backend.untrusted.body_refusals import BadAddress, BodyTooLarge, BodyTooSlow, NoRoom
from backend.untrusted.limits import (
    ANONYMOUS_BYTES,
    LEAST_BYTES_PER_S,
    REQUEST_THREADS,
    REQUEST_THREADS_OF_NETWORK,
    SLOW_AFTER_S,
)

Scope = MutableMapping[str, Any]
Environ = dict[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BLOCK_BYTES = 64 << 10
LINGER_S = 2.0

_threads = FairThreads(REQUEST_THREADS, REQUEST_THREADS_OF_NETWORK)
# How long a thread runs while others wait for the interpreter. Short answers wait for it several
# times: beside five threads that write pages, 2.5 s with the 5 ms of Python and 0.3 s with this.
sys.setswitchinterval(0.0005)


@dataclass(slots=True)
class Answer:
    """What Django answered. A body above `MEMORY_BYTES` is a file, and takes room."""

    hold: Hold
    body: IO[bytes] = field(default_factory=partial(SpooledTemporaryFile[bytes], MEMORY_BYTES))
    status: int = 500
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def write(self, block: bytes) -> None:
        """Raises NoRoom."""
        before = self.body.tell()
        after = before + len(block)
        if after > MEMORY_BYTES:
            self.hold.add(after if before <= MEMORY_BYTES else len(block))
        self.body.write(block)

    def close(self) -> None:
        self.body.close()


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
            is_whole = await _read_body(environ, receive, stack)
        except ConnectionAbortedError:
            return
        except Exception as error:
            environ[REFUSAL_KEY] = error
        is_asked_for = body.tell() > 0 or "HTTP_EXPECT" not in environ
        try:
            await _send(await _answer(environ, stack), send)
        except NoRoom:
            # The rest of the answer gave room to others: gunicorn closes the connection.
            raise asyncio.CancelledError from None
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
        "wsgi.file_wrapper": FileWrapper,
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
    """Write the body to `wsgi.input`; False where it is too large for a stranger, by its header.

    Raises ConnectionAbortedError when the client went away, and why the rest is left unread.
    """
    length, limit, share = int(environ.get("CONTENT_LENGTH", 0)), ANONYMOUS_BYTES, None
    is_large = length > limit or "HTTP_TRANSFER_ENCODING" in environ
    if is_large and (sender := await _threads.run(site_of(environ), sender_of, environ)):
        share = stack.enter_context(share_of(*sender))
        limit = largest_body(environ)
    if length > limit:
        if share:
            raise BodyTooLarge(limit, length)
        environ["wsgi.input"] = Unread(BodyTooLarge(limit, length))
        return False
    async with share.waits() if share else nullcontext():
        await _read(environ["wsgi.input"], receive, limit, share)
    if environ.pop("HTTP_TRANSFER_ENCODING", None):
        environ["CONTENT_LENGTH"] = str(environ["wsgi.input"].tell())
    return True


async def _read(body: IO[bytes], receive: Receive, limit: int, share: Hold | None) -> None:
    size, has_more = 0, True
    # Since when its rate is judged, and how much had come by then.
    since, before = time.monotonic(), 0
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        block, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(block)
        if size > limit:
            raise BodyTooLarge(limit)
        seconds = time.monotonic() - since
        if has_more and seconds > SLOW_AFTER_S:
            if size - before < LEAST_BYTES_PER_S * seconds:
                raise BodyTooSlow
            since, before = since + seconds, size
        if share:
            share.add(len(block))
        body.write(block)


async def _answer(environ: Environ, stack: ExitStack) -> Answer:
    network = site_of(environ)
    answer = Answer(stack.enter_context(ANSWERS.hold(network)))
    stack.callback(answer.close)
    try:
        await _threads.run(network, lambda _: _ask_django(environ, answer), None)
    except Exception as error:
        # There was no room for the answer, or no place on the disk.
        if REFUSAL_KEY in environ:
            raise
        environ[REFUSAL_KEY] = error
        return await _answer(environ, stack)
    return answer


def _ask_django(environ: Environ, answer: Answer) -> None:
    def start(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], object]:
        answer.status = int(status.split(" ", 1)[0])
        answer.headers = tuple((name.encode(), text.encode("latin-1")) for name, text in headers)
        return answer.write

    if not isinstance(environ["wsgi.input"], Unread):
        environ["wsgi.input"].seek(0)
    blocks = django_application(environ, start)
    try:
        if environ["REQUEST_METHOD"] == "HEAD":
            return
        if isinstance(blocks, FileWrapper) and isinstance(blocks.filelike, BufferedReader):
            # It is on the disk already: it is sent from there.
            answer.body = os.fdopen(os.dup(blocks.filelike.fileno()), "rb")
            return
        for block in blocks:
            answer.write(block)
        answer.body.seek(0)
    finally:
        getattr(blocks, "close", lambda: None)()


async def _send(answer: Answer, send: Send) -> None:
    start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
    await send(start)
    async with answer.hold.waits():
        while len(block := answer.body.read(BLOCK_BYTES)) == BLOCK_BYTES:
            await send({"type": "http.response.body", "body": block, "more_body": True})
            # Others are answered between two blocks, however fast this reader is.
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": block})


async def _linger(receive: Receive) -> None:
    """A client that still sends would miss the answer when the connection is closed."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (await receive()).get("more_body"):
                pass
