"""Every load tool that is installed here, against a server that says what it was asked.

Tools elsewhere: LOADSHEET_<TOOL>=PATH, as for the agent.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from loadsheet_agent.run.execution import execute
from loadsheet_agent.tools import TOOLS, FoundTool, find, tool_paths
from loadsheet_agent.tools.base import Glance, LoadPoint

pytestmark = pytest.mark.processes

PATHS = tool_paths([], os.environ)
JSON_HEADERS = (("Content-Type", "application/json"), ("X-Answer", "forty two"))
BODY = b'{"a": "\\u00e9\\""}\n'


@dataclasses.dataclass
class Seen:
    """What the server was asked: lines, headers, bodies, and requests by connection."""

    lines: Counter[str] = dataclasses.field(default_factory=Counter)
    headers: Counter[tuple[str | None, str | None]] = dataclasses.field(default_factory=Counter)
    bodies: Counter[bytes] = dataclasses.field(default_factory=Counter)
    connections: Counter[object] = dataclasses.field(default_factory=Counter)

    def requests(self) -> int:
        return sum(self.lines.values())

    def forget(self) -> None:
        for counter in (self.lines, self.headers, self.bodies, self.connections):
            counter.clear()


class Target:
    def __init__(self) -> None:
        self.seen = seen = Seen()
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet an answer: else Nagle and delayed ACK make 40 ms of it

            def setup(self) -> None:
                super().setup()
                self.own = object()

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                with lock:
                    seen.lines[f"{self.command} {self.path}"] += 1
                    seen.headers[self.headers["Content-Type"], self.headers["X-Answer"]] += 1
                    seen.bodies[body] += 1
                    seen.connections[self.own] += 1
                self.send_response(500 if self.path == "/broken" else 200)
                self.send_header("Content-Length", "5")
                if self.request_version == "HTTP/1.0" and not self.close_connection:
                    self.send_header("Connection", "keep-alive")  # else ab waits for the end
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(b"hello")

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            request_queue_size = 256

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def target() -> Iterator[Target]:
    running = Target()
    yield running
    running.close()


def installed(name: str) -> FoundTool:
    found = find(name, PATHS)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def point(name: str, target: Target, **changes: object) -> LoadPoint:
    """One second with two connections, or as near to it as the tool gets."""
    path = changes.pop("path", "/a?b=1")
    base = LoadPoint(
        url=target.url + str(path),
        method="GET",
        keepalive=True,
        connections=2,
        threads=1,
        duration_s=1.0,
    )
    if name in ("wrk2", "httperf"):
        base = dataclasses.replace(base, rate_rps=50.0, keepalive=name == "wrk2")
    if name == "locust":  # slow to begin
        base = dataclasses.replace(base, duration_s=2.0)
    if name == "weighttp":
        base = dataclasses.replace(base, duration_s=None, requests=200)
    return dataclasses.replace(base, **changes)


def measure(found: FoundTool, load: LoadPoint, directory: Path) -> Glance:
    refusal = found.tool.refusal(load)
    if refusal:
        pytest.skip(refusal)
    command = found.tool.command(load, "007")
    done = execute(command, found.path, directory=directory, limit_s=40)
    if found.tool.name == "siege" and done.exit_code == -9:
        # Now and then it waits for a thread of its own that never ends; here that was told.
        assert "did not end within" in (done.error or "")
        pytest.skip("siege hung at its end and was stopped")
    printed = [(directory / name).read_text(errors="replace")[-800:] for name in done.artefacts]
    assert done.error is None, (done.error, printed)
    assert (done.exit_code, done.client_cpu_s is not None) == (0, True)
    silent = {"007-attack.txt"} | (
        {command.stdout} if found.tool.name in ("fortio", "k6") else set()
    )
    assert {command.stdout, *command.files} - set(done.artefacts) <= silent
    left = {path.name for path in directory.iterdir() if path.is_file()}
    assert left == set(done.artefacts), "what the tool needed is gone, what it wrote is kept"

    def outputs(name: str) -> str:
        path = directory / name
        return path.read_text(errors="replace") if path.exists() else ""

    return found.tool.glance(outputs, command)


def measure_until(
    is_right: Callable[[Glance], bool],
    found: FoundTool,
    load: LoadPoint,
    target: Target,
    folder: Path,
) -> Glance:
    """The first right one of five measurements, else the last: a busy machine delays tools."""
    for attempt in range(5):
        target.seen.forget()
        directory = folder / str(attempt)
        directory.mkdir()
        glance = measure(found, load, directory)
        if is_right(glance):
            break
    return glance


@pytest.mark.parametrize("name", TOOLS)
def test_the_load_is_the_one_that_was_asked_for(name: str, target: Target, tmp_path: Path):
    found = installed(name)
    load = point(name, target)

    def is_right(glance: Glance) -> bool:
        if name in ("weighttp", "siege"):  # one is done within the second, the other cuts it short
            return glance.throughput_rps > 100
        return glance.throughput_rps == pytest.approx(
            target.seen.requests() / load.duration_s, rel=0.5
        )

    glance = measure_until(is_right, found, load, target, tmp_path)
    assert is_right(glance), (glance, target.seen.requests())
    assert target.seen.lines.keys() == {"GET /a?b=1"}
    assert glance.error_rate == 0
    assert (glance.p99_s is not None) == found.tool.tells_p99 or name == "weighttp"
    assert glance.p99_s is None or 0 < glance.p99_s < 1


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("keepalive", [True, False])
def test_connections_are_kept_or_not(name: str, keepalive: bool, target: Target, tmp_path: Path):
    found = installed(name)
    load = point(name, target, keepalive=keepalive)
    glance = measure(found, load, tmp_path)
    longest = max(target.seen.connections.values())
    assert glance.throughput_rps > 0
    assert target.seen.requests() > load.connections
    assert longest > 1 if keepalive else longest == 1
    if keepalive:
        assert len(target.seen.connections) <= 2 + (name == "wrk2")  # it looks before it begins


@pytest.mark.parametrize("name", TOOLS)
def test_a_number_of_requests_is_exact(name: str, target: Target, tmp_path: Path):
    found = installed(name)
    load = point(name, target, duration_s=None, requests=40)
    measure(found, load, tmp_path)
    assert target.seen.requests() == 40


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_bodies_and_headers_arrive_as_written(
    name: str, method: str, target: Target, tmp_path: Path
):
    found = installed(name)
    load = point(name, target, method=method, body=BODY, headers=JSON_HEADERS)
    measure(found, load, tmp_path)
    assert target.seen.lines.keys() == {f"{method} /a?b=1"}
    assert target.seen.bodies.keys() == {BODY}
    assert target.seen.headers.keys() == {("application/json", "forty two")}


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("method", ["HEAD", "DELETE"])
def test_other_methods_are_sent(name: str, method: str, target: Target, tmp_path: Path):
    found = installed(name)
    load = point(name, target, method=method, headers=(("X-Answer", "a: b=c"),))
    measure(found, load, tmp_path)
    assert target.seen.lines.keys() == {f"{method} /a?b=1"}
    assert target.seen.headers.keys() == {(None, "a: b=c")} or name in ("hey", "fortio")


@pytest.mark.parametrize("name", TOOLS)
def test_failures_are_seen_at_a_glance(name: str, target: Target, tmp_path: Path):
    found = installed(name)
    glance = measure(found, point(name, target, path="/broken"), tmp_path)
    assert glance.error_rate == pytest.approx(1)


@pytest.mark.parametrize("name", TOOLS)
def test_an_offered_rate_is_kept(name: str, target: Target, tmp_path: Path):
    found = installed(name)
    load = point(name, target, rate_rps=50.0, duration_s=2.0, keepalive=name != "httperf")

    def is_kept(glance: Glance) -> bool:
        return glance.throughput_rps == pytest.approx(50, rel=0.2) and (
            target.seen.requests() == pytest.approx(100, rel=0.2)
        )

    glance = measure_until(is_kept, found, load, target, tmp_path)
    assert is_kept(glance), (glance, target.seen.requests())
