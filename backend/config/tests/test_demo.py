"""What the demo measures is installed with the service, and can be compared."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import tomllib

import pytest
from django.conf import settings

from backend.config.recovery.embedded import free_port

PLAN = settings.BASE_DIR / "scripts" / "demo" / "plan.toml"
SERVERS = tomllib.loads(PLAN.read_text())["servers"]
LOCKED = (settings.BASE_DIR / "requirements.txt").read_text()
# A measurement asks every server for kept connections: wrk by HTTP/1.1, ab -k by HTTP/1.0.
REQUESTS = {
    "wrk": b"GET / HTTP/1.1\r\nHost: demo\r\n\r\n",
    "ab": b"GET / HTTP/1.0\r\nHost: demo\r\nConnection: Keep-Alive\r\n\r\n",
}


def test_every_python_server_of_the_demo_is_in_the_lock_file():
    modules = {
        command[command.index("-m") + 1]
        for server in SERVERS
        if "-m" in (command := server["start"])
    }
    assert "gunicorn" in modules
    for module in modules:
        assert re.search(rf"^{re.escape(module)}==", LOCKED, re.MULTILINE), module


@contextlib.contextmanager
def started(server):
    """The port of the server, once it listens."""
    port = free_port()
    values = {"{python}": sys.executable, "{here}": str(PLAN.parent), "{port}": str(port)}
    process = subprocess.Popen(
        [_filled(word, values) for word in server["start"]],
        env={
            **os.environ,
            **{name: _filled(text, values) for name, text in server.get("environment", {}).items()},
        },
    )
    try:
        ends_at = time.monotonic() + 60
        while not _listens(port):
            assert process.poll() is None
            assert time.monotonic() < ends_at
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def _filled(text, values):
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _answer(connection):
    """One answer, up to the 13 bytes of its body; less where the server closed before."""
    received = b""
    while b"Hello, world!" not in received and (part := connection.recv(4096)):
        received += part
    return received


@pytest.mark.processes
@pytest.mark.parametrize("server", SERVERS, ids=[server["name"] for server in SERVERS])
def test_every_server_of_the_demo_keeps_connections(server):
    with started(server) as port:
        for tool, request in REQUESTS.items():
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                for _ in range(3):
                    connection.sendall(request)
                    assert _answer(connection).endswith(b"Hello, world!"), tool
