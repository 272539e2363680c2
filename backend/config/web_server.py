"""`python -m backend.config.web_server`: one process of the web server, Waitress.

Waitress reads a request whole, its body included, before a thread sees it, and keeps what a slow
reader has not taken: a slow client costs a file descriptor, never a thread. A process that is told
to stop takes no new connections and first answers the requests it has read.
"""

from __future__ import annotations

import argparse
import copy
import errno
import signal
import socket
import time
from http.cookies import CookieError, SimpleCookie
from typing import Any

from django.conf import settings
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.utilities import Error

THREADS = 8
# Of one process: slow clients wait here. Each has a file descriptor and, for a large body, a file.
CONNECTIONS = 1000
BACKLOG = 1024
HEADER_BYTES = 64 << 10
# What a request without credentials may bring: a sign-in form fits many times.
ANONYMOUS_BODY_BYTES = 64 << 10
# Beside the files of an upload: the envelope and the frame of the form.
FORM_BYTES = 1 << 20
IDLE_S = 60
STOP_S = 30
# Of an answer that a slow reader has not taken: in memory up to the first, then in a file.
ANSWER_MEMORY_BYTES = 1 << 20
ANSWER_BYTES = 256 << 20


class StorageFull(Error):  # type: ignore[misc]
    """The disk of the temporary files has no room for a request's body."""

    code = 507
    reason = "Insufficient Storage"


class RequestParser(HTTPRequestParser):  # type: ignore[misc]
    """Reads no body that will be refused: the application then answers by the header alone."""

    adj: Adjustments
    content_length: int

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        limit = settings.UPLOAD_MAX_BYTES + FORM_BYTES
        if not _has_credentials(self.headers):
            limit = ANONYMOUS_BODY_BYTES
        # A body in chunks tells no length; the limit holds while it is read.
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = limit + 1
        if self.content_length > limit:
            self.body_rcv = None
            self.content_length = 0
            self.expect_continue = False
            # The body that is on its way would be read as the next request.
            self.headers["CONNECTION"] = "close"

    def received(self, data: bytes) -> int:
        try:
            read: int = super().received(data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self.error = StorageFull("There is no room left for this request.")
            self.completed = True
            return len(data)
        return read


def _has_credentials(headers: dict[str, str]) -> bool:
    if "AUTHORIZATION" in headers:
        return True
    try:
        return settings.SESSION_COOKIE_NAME in SimpleCookie(headers.get("COOKIE", ""))
    except CookieError:
        return False


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = RequestParser

    @property
    def is_busy(self) -> bool:
        """Whether a request was read and its answer is not sent whole."""
        return bool(self.requests or self.total_outbufs_len)


class Server(TcpWSGIServer):  # type: ignore[misc]
    """The connections of this process and the threads that answer."""

    channel_class = Channel
    is_stopping = False

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
        self.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self._map, ignore_all=True)

    def stop(self, *_: object) -> None:
        """For a signal."""
        self.is_stopping = True
        self.pull_trigger()

    def _step(self) -> None:
        wasyncore.loop(timeout=1, use_poll=True, map=self._map, count=1)

    def _is_busy(self) -> bool:
        return any(channel.is_busy for channel in list(self.active_channels.values()))


def make_server(application: Any, listener: socket.socket) -> Server:
    """A server on a socket that listens already."""
    server_options = {
        "threads": THREADS,
        "connection_limit": CONNECTIONS,
        "backlog": BACKLOG,
        "channel_timeout": IDLE_S,
        "max_request_header_size": HEADER_BYTES,
        "outbuf_overflow": ANSWER_MEMORY_BYTES,
        "outbuf_high_watermark": ANSWER_BYTES,
        "ident": "",
        # Django reads them, and only where the settings say that a proxy sets them.
        "clear_untrusted_proxy_headers": not settings.TRUST_PROXY,
    }
    return Server(
        application,
        _sock=listener,
        bind_socket=False,
        adj=Adjustments(sockets=[listener], **server_options),
        sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on this address; raises OSError."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)
    return listener


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
    from backend.config.wsgi import application

    server = make_server(application, listener)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.stop)
    server.run()


if __name__ == "__main__":
    main()
