"""Between two tests the live server answers nothing, and no session but the test's own is open."""

import socket
import threading

import psycopg
import pytest
from django.core.servers.basehttp import WSGIRequestHandler
from django.db import connection

from backend.testing import empty_tables
from backend.testing.live_server import RestingServer
from backend.testing.pooler import needs_session

PATIENCE_S = 120
ASKED = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        """Says nothing."""


class Site:
    """A server that answers once it may."""

    def __init__(self):
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.server = RestingServer(("127.0.0.1", 0), Handler)
        self.server.set_app(self.answer)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def answer(self, _, start_response):
        self.asked.set()
        assert self.may_answer.wait(PATIENCE_S)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]

    def connect(self):
        return socket.create_connection(self.server.server_address[:2], timeout=PATIENCE_S)

    def stop(self):
        self.may_answer.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def site():
    started = Site()
    yield started
    started.stop()


def read_all(connection):
    """Until the server closes it."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_the_server_rests_once_it_has_answered_and_closes_kept_connections(site):
    with site.connect() as asking, site.connect() as idle:
        asking.sendall(ASKED)
        assert site.asked.wait(PATIENCE_S)
        resting = threading.Thread(target=site.server.rest)
        resting.start()
        assert read_all(idle) == b""
        assert resting.is_alive(), "one answer is on its way"
        site.may_answer.set()
        resting.join(PATIENCE_S)
        assert not resting.is_alive()
        assert read_all(asking).endswith(b"\r\n\r\ndone")


def test_what_comes_just_before_is_answered_too(site):
    """The listening thread may not have taken it yet."""
    site.may_answer.set()
    for _ in range(50):
        with site.connect() as asking:
            asking.sendall(ASKED)
            site.server.rest()
            assert site.server._served == set()
            assert b"done" in read_all(asking)


@needs_session
@pytest.mark.django_db(transaction=True)
def test_a_session_at_work_is_told_with_what_it_asked(monkeypatch):
    monkeypatch.setattr(empty_tables, "END_WITHIN_S", 0.2)
    settings = connection.get_connection_params()
    with psycopg.connect(
        host=settings["host"], user=settings["user"], dbname=settings["dbname"]
    ) as other:
        other.execute("SELECT 'left open'")
        with pytest.raises(AssertionError, match=r"are at work after the test.*'left open'"):
            empty_tables.wait_until_alone("default")
    monkeypatch.undo()
    empty_tables.wait_until_alone("default")
