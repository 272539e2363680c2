"""A plugin of pytest: the live server is at rest before a test's tables are emptied.

A page that is closed may have asked something that is not answered yet. Its answer would read
tables that are just emptied, wait for their locks, or write rows for the next test. A connection
that a client keeps open also keeps its thread, and with it a session of the database, which could
not be dropped at the end.
"""

import contextlib
import socket
import threading
from collections.abc import Iterable
from typing import Any

import pytest
from django.core.servers.basehttp import ThreadedWSGIServer

REST_WITHIN_S = 120.0


class RestingServer(ThreadedWSGIServer):
    """Knows the connections that it serves."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._served: set[socket.socket] = set()
        self._changed = threading.Condition()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._served.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._served.discard(request)
                self._changed.notify_all()

    def rest(self) -> None:
        """Answer what was asked, and nothing that is asked later on the same connections."""
        self._take_all()
        with self._changed:
            while self._served:
                for connection in self._served:
                    # Closed just now: its thread is about to end.
                    with contextlib.suppress(OSError):
                        connection.shutdown(socket.SHUT_RD)
                if not self._changed.wait(REST_WITHIN_S):
                    raise TimeoutError(f"A request was not answered in {REST_WITHIN_S:.0f} s.")

    def _take_all(self) -> None:
        """Connections are taken in the order in which they came: ours is the last."""
        with socket.create_connection(self.socket.getsockname()[:2]) as last:
            last.shutdown(socket.SHUT_WR)
            while last.recv(1):
                pass


@pytest.fixture(autouse=True, scope="session")
def _uses_resting_servers() -> Iterable[None]:
    from django.test.testcases import LiveServerThread

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LiveServerThread, "server_class", RestingServer)
        yield


@pytest.fixture(autouse=True)
def _rests(request: pytest.FixtureRequest, _live_server_helper: None) -> Iterable[None]:
    """Ends after the windows of a test are closed, and before its tables are emptied."""
    yield
    if "live_server" in request.fixturenames:
        request.getfixturevalue("live_server").thread.httpd.rest()
