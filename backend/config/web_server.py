"""`python -m backend.config.web_server`: one process of the web server, Waitress.

Waitress reads a request whole, its body included, before a thread sees it, and keeps what a slow
reader has not taken: a slow client costs a file descriptor, never a thread. A process that is told
to stop takes no new connections and first answers the requests it has read.

A body above `ANONYMOUS_BYTES` is read only of a sender that the service knows, and while there is
room (`body_gate`). Until that is decided, nothing more is read of the connection.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask

from backend.accounts.throttle import address_of
from backend.config.body_gate import (
    REFUSAL_KEY,
    BodyRefusal,
    Gate,
    Reservation,
    Reservations,
)
from backend.config.listening import BACKLOG, STOP_S, listen
from backend.config.request_parser import RequestParser
from backend.ingest.limits import ANONYMOUS_BYTES, FILES, HEADER_BYTES

# Slow work of all kinds may hold eighteen: twelve for files (backend/ingest/slots.py), six for
# large answers (backend/analysis/loading/viewer_slots.py). Two always answer everything else.
THREADS = 20
# They wait last, so they answer first (NewestFirst). Where requests come one by one, the next often
# comes before the thread that answered waits again: then a second thread takes it.
WARM_THREADS = 2
# Of one process: slow clients wait here. Each has a file descriptor and, for a large body, a file.
CONNECTIONS = 1000
IDLE_S = 60
# The number of this option in malloc.h of glibc, and the arenas of a process.
M_ARENA_MAX = -8
ARENAS = 2
# How long a thread runs while others wait for the interpreter. Short answers wait for it several
# times. Beside five threads that write pages, eight waits took 2.5 s with the 5 ms of Python and
# 0.3 s with this, on a machine with a load of 38; as much work was done.
SWITCH_S = 0.0005
# After an answer to a request whose body was left unread.
LINGER_S = 2.0
# Of an answer that a slow reader has not taken: in memory up to the first, then in a file.
ANSWER_MEMORY_BYTES = 1 << 20
ANSWER_BYTES = 256 << 20


class HeaderOnly:
    """A task that sends no body in answer to HEAD (RFC 9110, section 9.3.2).

    Waitress sends what the application returns. A proxy that keeps the connection would read those
    bytes as the answer to the next request, which may be somebody else's.
    """

    request: RequestParser

    @property
    def has_body(self) -> bool:
        # A request that was cut off before its first line has no command.
        method = getattr(self.request, "command", "")
        return method != "HEAD" and bool(super().has_body)  # type: ignore[misc]


class Refusal(HeaderOnly, ErrorTask):  # type: ignore[misc]
    """The answer to a request that cannot be parsed."""


class Task(HeaderOnly, WSGITask):  # type: ignore[misc]
    """One request, as the application sees it."""

    def get_environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = super().get_environment()
        environment[REFUSAL_KEY] = self.request.refusal
        return environment


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = RequestParser
    task_class = Task
    error_task_class = Refusal
    server: Server
    request: RequestParser | None
    close_when_flushed: bool
    _is_body_left = False
    _lingers_until: float | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a request was read and its answer is not sent whole."""
        return bool(self.requests or self.total_outbufs_len)

    def readable(self) -> bool:
        is_held = self.request is not None and self.request.is_held
        return not is_held and bool(super().readable())

    def received(self, data: bytes) -> bool:
        if self._lingers_until is not None:
            self.will_close = time.monotonic() > self._lingers_until
            return False
        is_taken: bool = super().received(data)
        if self.request is not None and self.request.is_held:
            self.server.gate.ask((self, self.request), self.request.headers)
        return is_taken

    def settle(self, request: RequestParser, refusal: BodyRefusal | None) -> None:
        """Read the body of the request that was held, or leave it; in the thread that reads."""
        with self.requests_lock:
            if request is not self.request or not self.connected:
                return
            if refusal is None:
                taken = self.server.reservations.take(self._address(), request.announced_bytes)
                if isinstance(taken, Reservation):
                    self._admit(request, taken)
                    return
                refusal = taken
            request.refuse(refusal)
            self.request = None
            self.requests.append(request)
            if len(self.requests) == 1:
                self.server.add_task(self)

    def _admit(self, request: RequestParser, reservation: Reservation) -> None:
        request.admit(reservation)
        if request.expect_continue and not self.requests and not self.sent_continue:
            self.send_continue()

    def service(self) -> None:
        request = self.requests[0]
        self._is_body_left = request.is_body_left or request.error is not None
        super().service()

    def handle_write(self) -> None:
        """As Waitress, but a socket that is closed on unread bytes may cut off its answer: it is
        closed when the client has read the answer, or after a while."""
        if not (self._is_body_left and self.close_when_flushed):
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if not self.total_outbufs_len and not self.will_close:
            self.close_when_flushed = False
            self._lingers_until = time.monotonic() + LINGER_S
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def _address(self) -> str:
        assert self.request is not None
        forwarded = self.request.headers.get("X_FORWARDED_FOR", "")
        return address_of({"REMOTE_ADDR": self.addr[0], "HTTP_X_FORWARDED_FOR": forwarded})

    def handle_close(self) -> None:
        super().handle_close()
        if self.request is not None:
            self.request.close()


def without_bodies_of_head(application: Any) -> Callable[..., Any]:
    """The application, which answers HEAD with its header alone. Waitress sends a file past the
    task, so the file must not reach Waitress."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        content = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return content
        if hasattr(content, "close"):
            content.close()
        return []

    return answer


class NewestFirst:
    """A condition of a lock that wakes the threads that began to wait last.

    Each thread has its own connection to the database, and the first questions of a connection are
    slow. If all threads took turns, a site with few requests would often use a new connection.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        # A lock of each waiting thread, which ends its wait.
        self._waiting: list[threading.Lock] = []

    def wait(self) -> None:
        """Let the lock go until this thread is woken; as all methods, called with the lock."""
        own = threading.Lock()
        own.acquire()
        self._waiting.append(own)
        self._lock.release()
        own.acquire()
        self._lock.acquire()

    def notify(self) -> None:
        """Wake the thread that waits for the shortest time, if any waits."""
        if self._waiting:
            self._waiting.pop().release()

    def notify_all(self) -> None:
        """Wake every thread that waits."""
        while self._waiting:
            self.notify()


class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """The threads that answer; the first WARM_THREADS of them warm up before they wait."""

    def __init__(self, warm_up: Callable[[], None]) -> None:
        super().__init__()
        self.queue_cv = NewestFirst(self.lock)
        self._warm_up = warm_up

    def handler_thread(self, thread_no: int) -> None:
        if thread_no < WARM_THREADS:
            self._warm_up()
        super().handler_thread(thread_no)


class Server(TcpWSGIServer):  # type: ignore[misc]
    """The connections of this process and the threads that answer."""

    channel_class = Channel
    is_stopping = False
    gate: Gate
    reservations: Reservations

    def run(self) -> None:
        """Serve until `stop` is called, then finish what was begun."""
        while not self.is_stopping:
            self._step()
        self.accepting = False
        self.del_channel()
        self.socket.close()
        deadline = time.monotonic() + STOP_S
        while self._is_busy() and time.monotonic() < deadline:
            self._step()
        self.gate.stop()
        self.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self._map, ignore_all=True)

    def stop(self, *_: object) -> None:
        """For a signal."""
        self.is_stopping = True
        # A server that stops already has closed what wakes it.
        with contextlib.suppress(OSError):
            self.pull_trigger()

    def _step(self) -> None:
        wasyncore.loop(timeout=1, use_poll=True, map=self._map, count=1)
        for (channel, request), refusal in self.gate.decided():
            channel.settle(request, refusal)

    def _is_busy(self) -> bool:
        return any(channel.is_busy for channel in list(self.active_channels.values()))


def make_server(
    application: Any,
    listener: socket.socket,
    *,
    is_known: Callable[[Mapping[str, str]], bool],
    warm_up: Callable[[], None],
) -> Server:
    """A server on a socket that listens already. `is_known`: see `Gate`; `warm_up`: what some
    threads do first."""
    server_options = {
        "connection_limit": CONNECTIONS,
        "backlog": BACKLOG,
        "channel_timeout": IDLE_S,
        "max_request_header_size": HEADER_BYTES,
        # What is kept of a body in memory: a sign-in form fits many times.
        "inbuf_overflow": ANONYMOUS_BYTES,
        "outbuf_overflow": ANSWER_MEMORY_BYTES,
        "outbuf_high_watermark": ANSWER_BYTES,
        "ident": "",
        # Django reads them, and only where the settings say that a proxy sets them.
        "clear_untrusted_proxy_headers": not settings.TRUST_PROXY,
    }
    dispatcher = Dispatcher(warm_up)
    dispatcher.set_thread_count(THREADS)
    server = Server(
        without_bodies_of_head(application),
        _sock=listener,
        bind_socket=False,
        dispatcher=dispatcher,
        adj=Adjustments(sockets=[listener], **server_options),
        sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
    )
    server.reservations = Reservations()
    server.gate = Gate(is_known, server.pull_trigger)
    server.gate.start()
    return server


def raise_file_limit() -> None:
    """A connection and a file of an upload take a file descriptor each; many systems allow 1,024
    unless a process asks for more."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = CONNECTIONS + THREADS * FILES
    if most != resource.RLIM_INFINITY:
        enough = min(enough, most)
    if now not in (resource.RLIM_INFINITY, most) and now < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, most))


def share_arenas() -> None:
    """Let the threads share ARENAS arenas of memory, where the C library is glibc.

    With an arena for each, every thread keeps what its largest request needed, for good.
    """
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def take_short_turns() -> None:
    """Let no thread of a large answer keep the interpreter for long."""
    sys.setswitchinterval(SWITCH_S)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m backend.config.web_server")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bind", metavar="HOST:PORT", help="the address to listen on")
    where.add_argument("--socket", type=int, metavar="FD", help="a socket that listens already")
    options = parser.parse_args()
    if options.bind:
        host, _, port = options.bind.rpartition(":")
        listener = listen(host, int(port))
    else:
        listener = socket.socket(fileno=options.socket)
    from backend.config.wsgi import application, preparing

    # isort: split
    # Models can be imported once there is an application.
    from backend.config.senders import is_known
    from backend.config.warming import warm_up

    def warm_up_prepared() -> None:
        preparing.join()
        warm_up()

    raise_file_limit()
    share_arenas()
    take_short_turns()
    server = make_server(application, listener, is_known=is_known, warm_up=warm_up_prepared)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.stop)
    server.run()


if __name__ == "__main__":
    main()
