"""What a slow client costs, and what a stop costs nobody."""

import contextlib
import io
import socket
import threading
import time

import pytest
from django.conf import settings

from backend.config.web_server import ANONYMOUS_BODY_BYTES, THREADS, listen, make_server

PATIENCE_S = 60


class Application:
    """Answers with what it read; `/hold` waits until the test lets it go on."""

    def __init__(self):
        self.requests = []
        self.released = threading.Event()
        self.holding = threading.Event()

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read()
        self.requests.append((environ["PATH_INFO"], environ.get("CONTENT_LENGTH"), len(body)))
        if environ["PATH_INFO"] == "/hold":
            self.holding.set()
            self.released.wait(PATIENCE_S)
        answer = b"z" * (32 << 20) if environ["PATH_INFO"] == "/large" else b"done"
        start_response("200 OK", [("Content-Length", str(len(answer)))])
        if environ["PATH_INFO"] == "/file":
            return environ["wsgi.file_wrapper"](io.BytesIO(answer))
        return [answer]


@pytest.fixture
def site():
    application = Application()
    server = make_server(application, listen("127.0.0.1", 0))
    application.port = int(server.effective_port)
    application.server = server
    application.thread = threading.Thread(target=server.run)
    application.thread.start()
    yield application
    application.released.set()
    if application.thread.is_alive():
        server.stop()
    application.thread.join(PATIENCE_S)


@pytest.fixture
def connect(site):
    with contextlib.ExitStack() as stack:

        def connect(text=b""):
            connection = stack.enter_context(
                socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE_S)
            )
            connection.sendall(text)
            return connection

        yield connect


def head(path, *lines, method="GET"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *lines, "", ""]).encode()


def answer(connection):
    text = b""
    while data := connection.recv(1 << 16):
        text += data
    return text


def quick(connect):
    return answer(connect(head("/quick", "Connection: close")))


def test_clients_slower_than_all_threads_together_delay_nobody(site, connect):
    for _ in range(5 * THREADS):
        connect(b"GET /slow-header HTTP/1.1\r\nHost: x\r\nX-A: ")
        connect(head("/slow-body", "Content-Length: 100", method="POST") + b"half")
        connect(head("/large"))

    assert quick(connect).endswith(b"done")
    assert "/slow-body" not in {path for path, _, _ in site.requests}


def takes_connections(site):
    try:
        socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE_S).close()
    except ConnectionError:
        return False
    return True


def test_a_stop_answers_what_was_read_and_takes_nothing_new(site, connect):
    held = connect(head("/hold", "Connection: close"))
    assert site.holding.wait(PATIENCE_S)

    site.server.stop()
    deadline = time.monotonic() + PATIENCE_S
    while takes_connections(site) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not takes_connections(site)
    assert site.thread.is_alive()
    site.released.set()

    assert answer(held).endswith(b"done")
    site.thread.join(PATIENCE_S)
    assert not site.thread.is_alive()


def test_a_stop_ends_while_slow_clients_are_half_way(site, connect):
    connect(b"GET /slow-header HTTP/1.1\r\nHost: x\r\nX-A: ")
    assert quick(connect).endswith(b"done")

    site.server.stop()
    site.thread.join(PATIENCE_S)

    assert not site.thread.is_alive()


class TestBodies:
    def test_of_strangers_are_left_unread_when_they_are_large(self, site, connect):
        size = ANONYMOUS_BODY_BYTES + 1
        connection = connect(head("/x", f"Content-Length: {size}", method="POST"))

        # Answered by the header alone, then closed: the body would be read as a request.
        assert b"200 OK" in answer(connection)
        assert site.requests == [("/x", str(size), 0)]

    def test_of_strangers_in_chunks_are_refused_when_they_are_large(self, site, connect):
        connection = connect(head("/x", "Transfer-Encoding: chunked", method="POST"))
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        with contextlib.suppress(ConnectionError):
            for _ in range(ANONYMOUS_BODY_BYTES // 4096 + 2):
                connection.sendall(chunk)
            assert b" 413 " in answer(connection)
        assert site.requests == []

    @pytest.mark.parametrize(
        "credentials", ["Authorization: Bearer x", f"Cookie: {settings.SESSION_COOKIE_NAME}=x"]
    )
    def test_of_known_senders_are_read_whole(self, site, connect, credentials):
        size = 2 * ANONYMOUS_BODY_BYTES
        fields = (credentials, f"Content-Length: {size}", "Connection: close")
        connection = connect(head("/x", *fields, method="POST") + b"x" * size)

        assert b"200 OK" in answer(connection)
        assert site.requests == [("/x", str(size), size)]

    def test_above_the_limit_of_an_upload_are_left_unread(self, site, connect):
        size = settings.UPLOAD_MAX_BYTES + (1 << 20) + 1
        fields = ("Authorization: Bearer x", f"Content-Length: {size}", "Expect: 100-continue")
        connection = connect(head("/x", *fields, method="POST"))

        text = answer(connection)
        assert b"200 OK" in text
        assert b"100 Continue" not in text
        assert site.requests == [("/x", str(size), 0)]

    def test_that_find_no_room_are_507(self, site, connect, monkeypatch):
        def refuse(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("waitress.receiver.FixedStreamReceiver.received", refuse)
        fields = ("Authorization: Bearer x", "Content-Length: 4")
        connection = connect(head("/x", *fields, method="POST") + b"body")

        assert b" 507 Insufficient Storage" in answer(connection)
        assert quick(connect).endswith(b"done")
