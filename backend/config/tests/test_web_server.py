"""What a slow client costs, and what a stop costs nobody."""

import contextlib
import ctypes
import io
import socket
import subprocess
import sys
import threading
import time
from unittest.mock import MagicMock

import pytest
from django.conf import settings

from backend.config import request_parser, web_server
from backend.config.body_gate import REFUSAL_KEY, BodyRefusal, largest_body
from backend.config.listening import listen
from backend.config.web_server import ARENAS, WARM_THREADS, NewestFirst, make_server
from backend.ingest.limits import ANONYMOUS_BYTES

PATIENCE_S = 60
TOKEN = "Authorization: Bearer good"
SESSION = f"Cookie: {settings.SESSION_COOKIE_NAME}=good"


class Application:
    """Answers with what it read; `/hold` waits until the test lets it go on."""

    def __init__(self):
        self.requests = []
        self.refusals = []
        self.threads = set()
        self.warmed = set()
        self.others_wait = threading.Event()
        self.released = threading.Event()
        self.holding = threading.Event()

    def __call__(self, environ, start_response):
        self.threads.add(threading.get_ident())
        body = environ["wsgi.input"].read()
        self.requests.append((environ["PATH_INFO"], environ.get("CONTENT_LENGTH"), len(body)))
        self.refusals.append(environ[REFUSAL_KEY])
        if environ["PATH_INFO"] == "/hold":
            self.holding.set()
            self.released.wait(PATIENCE_S)
        answer = b"z" * (32 << 20) if environ["PATH_INFO"] == "/large" else b"done"
        length = [] if environ["PATH_INFO"] == "/stream" else [("Content-Length", str(len(answer)))]
        start_response("200 OK", length)
        if environ["PATH_INFO"] == "/file":
            return environ["wsgi.file_wrapper"](io.BytesIO(answer))
        return [answer]

    def warm_up(self):
        self.others_wait.wait(PATIENCE_S)
        self.warmed.add(threading.get_ident())


def is_known(headers):
    if "AWAY" in headers:
        raise ConnectionError("away")
    return headers.get("AUTHORIZATION") == "Bearer good" or headers.get("COOKIE", "").endswith(
        "=good"
    )


@pytest.fixture
def site():
    application = Application()
    server = make_server(
        application, listen("127.0.0.1", 0), is_known=is_known, warm_up=application.warm_up
    )
    wait_until(lambda: server.task_dispatcher.active_count == WARM_THREADS)
    application.others_wait.set()
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


def wait_until(is_so):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_so()


def quick(connect):
    return answer(connect(head("/quick", "Connection: close")))


@pytest.mark.long
def test_clients_slower_than_all_threads_together_delay_nobody(site, connect):
    # Three kinds of 70 are more than the 200 that a site is to survive.
    for _ in range(70):
        connect(b"GET /slow-header HTTP/1.1\r\nHost: x\r\nX-A: ")
        connect(head("/slow-body", "Content-Length: 100", method="POST") + b"half")
        connect(head("/large"))

    assert quick(connect).endswith(b"done")
    assert "/slow-body" not in {path for path, _, _ in site.requests}


def test_the_thread_that_answered_last_answers_next(site, connect):
    for _ in range(3):
        wait_until(lambda: not site.server.task_dispatcher.active_count)
        assert quick(connect).endswith(b"done")

    assert len(site.threads) == 1


def test_the_threads_that_warmed_up_answer_first(site, connect):
    wait_until(lambda: not site.server.task_dispatcher.active_count)
    assert quick(connect).endswith(b"done")
    assert len(site.warmed) == WARM_THREADS
    assert site.threads <= site.warmed


def test_threads_are_woken_from_the_newest_to_the_oldest():
    lock, waiting, woken = threading.Lock(), [], []
    condition = NewestFirst(lock)

    def idle(number):
        with lock:
            waiting.append(number)
            condition.wait()
            woken.append(number)

    def count(numbers):
        # Who has the lock sees only threads that wait already.
        with lock:
            return len(numbers)

    def wake_one():
        with lock:
            condition.notify()

    wake_one()
    threads = [threading.Thread(target=idle, args=(number,), daemon=True) for number in range(4)]
    for started, thread in enumerate(threads, 1):
        thread.start()
        wait_until(lambda started=started: count(waiting) == started)

    for ended in (1, 2):
        wake_one()
        wait_until(lambda ended=ended: count(woken) == ended)
    assert woken == [3, 2]
    with lock:
        condition.notify_all()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(woken) == [0, 1, 2, 3]


def test_a_header_that_is_refused_is_answered_with_the_limit(site, connect):
    text = answer(connect(head("/x", "Accept: " + "a" * 1001, "Connection: close")))
    assert text.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"The header Accept has 1,001 bytes; at most 1,000 are accepted" in text
    assert site.requests == []
    assert quick(connect).endswith(b"done")


@pytest.mark.parametrize("path", ["/quick", "/file", "/large", "/stream"])
def test_head_is_answered_by_a_header_alone(site, connect, path):
    text = answer(connect(head(path, "Connection: close", method="HEAD")))
    assert text.startswith(b"HTTP/1.1 200 OK")
    assert text.partition(b"\r\n\r\n")[2] == b""


def test_head_is_refused_by_a_header_alone(site, connect):
    text = answer(connect(head("/x", "Accept: " + "a" * 1001, method="HEAD")))
    assert text.startswith(b"HTTP/1.1 400 Bad Request")
    assert text.partition(b"\r\n\r\n")[2] == b""


def test_no_byte_of_an_answer_to_head_comes_before_the_next_answer(site, connect):
    both = head("/quick", method="HEAD") + head("/quick", "Connection: close")
    text = answer(connect(both))
    # A server may close after HEAD instead; it may not send a body.
    first, _, rest = text.partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200 OK")
    assert rest == b"" or rest.startswith(b"HTTP/1.1 200 OK")


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
        size = ANONYMOUS_BYTES + 1
        connection = connect(head("/x", f"Content-Length: {size}", method="POST"))

        # Answered by the header alone, then closed: the body would be read as a request.
        assert b"200 OK" in answer(connection)
        assert site.requests == [("/x", str(size), 0)]

    @pytest.mark.parametrize(
        ("fields", "refusal"),
        [([], BodyRefusal.ANONYMOUS), ([TOKEN], BodyRefusal.LARGE)],
    )
    def test_in_chunks_are_left_when_they_are_large(
        self, site, connect, monkeypatch, fields, refusal
    ):
        monkeypatch.setattr(request_parser, "largest_body", lambda: 2 * ANONYMOUS_BYTES)
        connection = connect(head("/x", *fields, "Transfer-Encoding: chunked", method="POST"))
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        with contextlib.suppress(ConnectionError):
            for _ in range(3 * ANONYMOUS_BYTES // 4096):
                connection.sendall(chunk)

        assert b"200 OK" in answer(connection)
        assert [read for _, _, read in site.requests] == [0]
        assert site.refusals == [refusal]
        assert site.server.reservations.total == 0

    @pytest.mark.parametrize("credentials", [TOKEN, SESSION])
    @pytest.mark.parametrize("size", [2 * ANONYMOUS_BYTES, 1 << 20])
    def test_of_known_senders_are_read_whole(self, site, connect, credentials, size):
        fields = (credentials, f"Content-Length: {size}", "Connection: close")
        connection = connect(head("/x", *fields, method="POST") + b"x" * size)

        assert b"200 OK" in answer(connection)
        assert site.requests == [("/x", str(size), size)]
        assert site.server.reservations.total == 0

    def test_of_known_senders_may_come_in_chunks(self, site, connect):
        fields = (TOKEN, "Transfer-Encoding: chunked", "Connection: close")
        connection = connect(head("/x", *fields, method="POST"))
        for _ in range(100):
            connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        connection.sendall(b"0\r\n\r\n")

        assert b"200 OK" in answer(connection)
        assert site.requests == [("/x", "409600", 409600)]

    def test_are_asked_for_once_the_sender_is_known(self, site, connect):
        size = 2 * ANONYMOUS_BYTES
        fields = (f"Content-Length: {size}", "Expect: 100-continue", "Connection: close")
        connection = connect(head("/x", TOKEN, *fields, method="POST"))

        assert connection.recv(1 << 10).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(b"x" * size)
        assert b"200 OK" in answer(connection)

    @pytest.mark.parametrize(
        ("fields", "refusal"),
        [
            (["Authorization: Bearer x"], BodyRefusal.UNKNOWN),
            ([SESSION.replace("good", "x")], BodyRefusal.UNKNOWN),
            ([TOKEN, "Away: 1"], BodyRefusal.AWAY),
        ],
    )
    @pytest.mark.parametrize("length", ["Content-Length: 70000", "Transfer-Encoding: chunked"])
    def test_of_senders_that_nobody_knows_are_left_unread(
        self, site, connect, fields, refusal, length
    ):
        expect = ("Expect: 100-continue",)
        connection = connect(head("/x", *fields, *expect, length, method="POST"))

        text = answer(connection)
        assert b"200 OK" in text
        assert b"100 Continue" not in text
        assert [read for _, _, read in site.requests] == [0]
        assert site.refusals == [refusal]

    def test_that_were_refused_let_the_sender_read_the_answer(self, site, connect):
        size = 4 << 20
        fields = ("Authorization: Bearer x", f"Content-Length: {size}")
        connection = connect(head("/x", *fields, method="POST"))
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"x" * size)

        assert b"200 OK" in answer(connection)

    def test_of_one_address_share_its_room(self, site, connect):
        size = largest_body()
        first, *others = [
            connect(head("/x", TOKEN, f"Content-Length: {size}", method="POST")) for _ in range(3)
        ]
        assert b"200 OK" in answer(others[-1])
        assert site.refusals == [BodyRefusal.BUSY]

        for connection in (first, *others):
            connection.close()
        assert quick(connect).endswith(b"done")
        wait_until(lambda: site.server.reservations.total == 0)

    def test_need_room_on_disk(self, site, connect, monkeypatch):
        monkeypatch.setattr("backend.config.body_gate.room_for_bodies", lambda: 3 * 70_000 - 1)
        connection = connect(head("/x", TOKEN, "Content-Length: 70000", method="POST"))

        assert b"200 OK" in answer(connection)
        assert site.refusals == [BodyRefusal.FULL]

    def test_above_the_limit_of_an_upload_are_left_unread(self, site, connect):
        size = largest_body() + 1
        fields = (TOKEN, f"Content-Length: {size}", "Expect: 100-continue")
        connection = connect(head("/x", *fields, method="POST"))

        text = answer(connection)
        assert b"200 OK" in text
        assert b"100 Continue" not in text
        assert site.requests == [("/x", str(size), 0)]

    def test_that_find_no_room_are_left(self, site, connect, monkeypatch):
        def refuse(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("waitress.receiver.FixedStreamReceiver.received", refuse)
        fields = ("Authorization: Bearer x", "Content-Length: 4")
        connection = connect(head("/x", *fields, method="POST") + b"body")

        assert b"200 OK" in answer(connection)
        assert site.refusals == [BodyRefusal.FULL]
        assert quick(connect).endswith(b"done")


ALLOCATE = """
import ctypes, sys, threading
from backend.config.web_server import THREADS, share_arenas
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
if sys.argv[1] == "shared":
    share_arenas()
together = threading.Barrier(THREADS)
def allocate():
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(THREADS)]
for thread in threads: thread.start()
for thread in threads: thread.join()
out = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, out)
libc.fclose(out)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="needs glibc")
def test_threads_share_the_arenas_of_memory(tmp_path):
    def arenas(how):
        told = tmp_path / how
        command = [sys.executable, "-c", ALLOCATE, how, str(told)]
        subprocess.run(command, cwd=settings.BASE_DIR, check=True, timeout=300)
        return told.read_text().count("<heap nr=")

    assert arenas("own") > ARENAS
    assert arenas("shared") <= ARENAS


def test_a_thread_of_a_web_process_gives_way_ten_times_as_often_as_python_does(monkeypatch):
    """Else `/livez` waits for seconds beside a few large answers."""
    before = sys.getswitchinterval()
    monkeypatch.setattr(sys, "argv", ["web_server", "--bind", "127.0.0.1:0"])
    for name in ("listen", "raise_file_limit", "share_arenas", "make_server"):
        monkeypatch.setattr(web_server, name, MagicMock())
    monkeypatch.setattr(web_server.signal, "signal", MagicMock())
    try:
        web_server.main()
        assert sys.getswitchinterval() == pytest.approx(before / 10)
    finally:
        sys.setswitchinterval(before)
