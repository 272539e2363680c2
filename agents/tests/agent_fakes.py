"""A service that answers as told, a load tool that is quick, and the agent as a process."""

from __future__ import annotations

import base64
import email
import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

TOKEN = "ls_agent_test"
# How long a busy machine may take; whoever waits goes on as soon as possible.
PATIENCE_S = 120
# As `python -m loadsheet_agent`, but the score of the machine takes no second of each run, and how
# a run that is observed stands is asked each second.
QUICK_AGENT = (
    "import sys; from loadsheet_agent.host import calibration; calibration.ROUND_S = 0.001; "
    "from loadsheet_agent.run import observe; observe.RunState.samples_between = 2; "
    "from loadsheet_agent.cli import main; sys.exit(main())"
)

# A #! line may hold no path with a space: the shell starts Python, which takes this for a string.
# It starts for each trial, so it imports little: urllib takes five times as long as all this.
FAKE_WRK = """#!/bin/sh
'''exec' "{python}" -S "$0" "$@"
' '''
import sys
if "-v" in sys.argv:
    print("wrk 4.9.9 [fake]")
    sys.exit(1)
import socket, time
host, _, path = sys.argv[-1].partition("//")[2].partition("/")
mode = path.rpartition("/")[2].partition("?")[0]
rate = next((float(word[2:]) for word in sys.argv if word.startswith("-R")), 1000.0)
if mode == "crash":
    sys.stderr.write("fake: cannot go on\\n")
    sys.exit(3)
if mode == "silent":
    sys.exit(0)
headers = dict(sys.argv[i + 1].split(": ", 1) for i, word in enumerate(sys.argv) if word == "-H")
lines = ["GET /%s HTTP/1.0" % path, "Host: " + host, "User-Agent: fake-wrk"]
lines += [name + ": " + value for name, value in headers.items()]
place, _, port = host.partition(":")
with socket.create_connection((place, int(port))) as connection:
    connection.sendall("\\r\\n".join([*lines, "", ""]).encode())
    answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
head, _, body = answer.partition(b"\\r\\n\\r\\n")
assert head.split()[1] == b"200", head
time.sleep({seconds})
print("Running 1s test @ " + sys.argv[-1])
print("  Latency Distribution\\n     99%%   %dms" % (900 if rate > 400 and mode == "limit" else 2))
print("  100 requests in 1.00s, %d bytes read" % len(body))
if mode == "errors":
    print("  Non-2xx or 3xx responses: 60")
print("Requests/sec: %.2f" % rate)
if mode == "echo":
    print("sent " + repr(headers))
print("end")
"""

HELLO_SERVER = """
import os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"Hello, world!"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/die":
            threading.Timer(0.05, os._exit, [9]).start()
    def log_message(self, *args):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hello).serve_forever()
"""


def wait_until(is_so: Callable[[], object]) -> None:
    """Raises AssertionError where it is not so in time."""
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def write_fake_wrk(directory: Path, seconds: float = 0.01) -> str:
    path = directory / "fake-wrk"
    path.write_text(FAKE_WRK.format(python=sys.executable, seconds=seconds))
    path.chmod(0o755)
    return str(path)


def write_plan(
    directory: Path,
    *,
    servers: int = 2,
    connections: str = "[1, 2]",
    repeats: int = 2,
    warmup_s: int = 1,
    tool: str = "wrk",
    path: str = "/",
    more: str = "",
) -> Path:
    (directory / "hello.py").write_text(HELLO_SERVER)
    parts = [
        f"repeats = {repeats}\nwarmup_s = {warmup_s}\n{more}\n",
        f'[labels]\nwhy = "test"\n[load]\ntool = "{tool}"\nconnections = {connections}\n'
        "duration_s = 1\n",
        f'[[workloads]]\nname = "hello"\npath = "{path}"\n',
    ]
    for number in range(1, servers + 1):
        parts.append(
            f'[[servers]]\nname = "server {number}"\nversion = "1.{number}"\n'
            'runtime = "CPython {python_version}"\n'
            'start = ["{python}", "{here}/hello.py", "{port}"]\n'
            'url = "http://127.0.0.1:{port}"\nready_timeout_s = 20\n'
            f"[servers.configuration]\nnumber = {number}\n"
        )
    plan = directory / "plan.toml"
    plan.write_text("\n".join(parts))
    return plan


def agent_command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", QUICK_AGENT, *map(str, arguments)]


def run_agent(*arguments: object, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        agent_command(*arguments),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environ},
    )


@dataclass
class Upload:
    envelope: dict
    files: dict[str, bytes]
    raw: dict[str, bytes]
    fields: dict[str, str]
    token: str


@dataclass
class FakeService:
    """Answers POST by `script` (then 202), keeps what it took, answers GET with `states`.

    PUT takes parts, by `part_script` first; an answer of None there cuts the connection instead.
    """

    script: list[tuple[int, dict, object]] = field(default_factory=list)
    part_script: list[tuple[int, dict, object] | None] = field(default_factory=list)
    parts: dict[tuple[str, str, int], bytes] = field(default_factory=dict)
    part_bytes: int = 0
    states: list[str] = field(default_factory=lambda: ["parsing", "parsed"])
    posts: int = 0
    gets: int = 0
    uploads: dict[str, Upload] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    # Every heartbeat that came, and whether it is answered.
    words: list[dict] = field(default_factory=list)
    heard_at: list[float] = field(default_factory=list)
    hears: bool = True
    # Whether trials are taken while their run goes on, and those that were.
    takes_early: bool = False
    # How the run stands each time it is asked; the last stays. Observations that came.
    standings: list[str] = field(default_factory=list)
    observations: list[dict] = field(default_factory=list)
    # Runs that have a place in the session, by the trial they wait for; starts by trial.
    seats: dict[str, int | None] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)
    early: dict[str, Upload] = field(default_factory=dict)
    # Answers to questions about builds, by turns; and the questions.
    verdicts: list[tuple[int, dict, object]] = field(default_factory=list)
    questions: list[list[tuple[str, str]]] = field(default_factory=list)

    def __enter__(self) -> FakeService:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self._answer(*service.post(self.path, self.headers, body))

            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = service.put(self.path, self.headers, body)
                if answer is None:
                    self.close_connection = True
                else:
                    self._answer(*answer)

            def do_GET(self) -> None:
                token = (self.headers["Authorization"] or "").replace("Bearer ", "")
                if token in service.refused:
                    self._answer(401, {}, {"title": "Sign in"})
                    return
                if self.path == "/api/v1/me":
                    self._answer(*service.me(self.headers))
                    return
                self._answer(*service.get(self.path))

            def _answer(self, status: int, headers: dict, body: object) -> None:
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def flags(self) -> list[str]:
        return ["--url", self.url, "--token", TOKEN]

    def me(self, headers) -> tuple[int, dict, object]:
        if not self.hears:
            return 500, {}, {"title": "Server error"}
        if headers["Authorization"].removeprefix("Bearer ") in self.refused:
            return 401, {}, {"title": "Token refused"}
        place = {"slug": "lab", "name": "The lab", "url": f"{self.url}/w/lab/"}
        now = datetime.now(timezone.utc).isoformat()
        who = {"kind": "token", "name": "bench", "scopes": [], "expires_at": "2030-01-02T00:00:00Z"}
        return 200, {}, {**who, "workspaces": [place], "time": now}

    def hear(self, headers, body: bytes) -> tuple[int, dict, object]:
        self.words.append(json.loads(body))
        self.heard_at.append(time.time())
        return self.me(headers)

    def post(self, path: str, headers, body: bytes) -> tuple[int, dict, object]:
        if path != "/api/v1/uploads":
            return self.post_beside(path, headers, body)
        if is_early(headers, body):
            return self.post_early(_read_upload(headers, body))
        self.posts += 1
        if self.script:
            return self.script.pop(0)
        upload = _read_upload(headers, body)
        key = upload.envelope["id"]
        if not self._put_together(key, upload):
            return 424, {}, {"title": "Parts are missing"}
        known = self.uploads.get(key)
        if known and (known.files != upload.files or known.envelope != upload.envelope):
            return 409, {}, {"title": "Id used before", "status": 409}
        self.uploads[key] = upload
        answer = {"id": key, "state": "received", "url": "x", "result_url": f"/u/{key}"}
        return (200 if known else 202), {}, answer

    def put(self, path: str, headers, body: bytes) -> tuple[int, dict, object] | None:
        self.part_bytes += len(body)
        if self.part_script and (answer := self.part_script.pop(0)) != (201, {}, {}):
            return answer
        _, _, _, _, key, _, artefact, number = path.split("/")
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        assert headers["Content-Digest"] == f"sha-256=:{digest}:"
        self.parts[key, artefact, int(number)] = body
        return 201, {}, {"artefact": artefact, "number": int(number)}

    def _put_together(self, key: str, upload: Upload) -> bool:
        """Add the artefacts that came in parts, as they were; whether all of them are there."""
        for whole in json.loads(upload.fields.get("parts", "[]")):
            places = [(key, whole["sha256"], number) for number in range(whole["parts"])]
            if key in self.uploads:
                content = self.uploads[key].raw[whole["name"]]
            elif all(place in self.parts for place in places):
                content = b"".join(self.parts[place] for place in places)
            else:
                return False
            assert hashlib.sha256(content).hexdigest() == whole["sha256"]
            assert len(content) == whole["size_bytes"]
            upload.raw[whole["name"]] = content
            upload.files[whole["name"]] = _unpacked(content)
        return True

    def post_beside(self, path: str, headers, body: bytes) -> tuple[int, dict, object]:
        if path == "/api/v1/heartbeat":
            return self.hear(headers, body)
        if path == "/api/v1/sessions":
            return self.meet(json.loads(body))
        assert path.endswith("/observations")
        self.observations.append(json.loads(body))
        return 201, {}, {"id": self.observations[-1]["id"]}

    def meet(self, wish: dict) -> tuple[int, dict, object]:
        step = wish["step"]
        self.seats[wish["run"]] = step
        ready = sum(waits == step for waits in self.seats.values())
        if step is not None and step not in self.starts and ready == wish["parts"]:
            self.starts[step] = time.time() + 0.6
        at = self.starts.get(step)
        moment = None if at is None else datetime.fromtimestamp(at, timezone.utc).isoformat()
        place = {"seats": len(self.seats), "parts": wish["parts"], "seed": 41}
        return 200, {}, {**place, "starts_at": moment}

    def post_early(self, upload: Upload) -> tuple[int, dict, object]:
        if not self.takes_early:
            return 503, {}, {"title": "Not now"}
        key = upload.envelope["id"]
        self.early[key] = upload
        return 202, {}, {"id": key, "state": "received"}

    def get(self, path: str) -> tuple[int, dict, object]:
        if path.startswith("/api/v1/gate?"):
            self.questions.append(parse_qsl(path.partition("?")[2]))
            return self.verdicts.pop(0)
        if path.endswith("/progress"):
            if not self.standings:
                return 404, {}, {"title": "Not found"}
            first = len(self.standings) > 1
            return 200, {}, {"state": self.standings.pop(0) if first else self.standings[0]}
        if path.endswith("/parts"):
            key = path.split("/")[-2]
            there = [{"artefact": a, "number": n} for k, a, n in self.parts if k == key]
            return 200, {}, {"received": key in self.uploads, "parts": there}
        state = self.states[min(self.gets, len(self.states) - 1)]
        self.gets += 1
        key = path.rpartition("/")[2]
        reason = "the text ends early" if state in ("failed", "quarantined") else ""
        return 200, {}, {"id": key, "state": state, "reason": reason, "result_url": f"/u/{key}"}


def is_early(headers, body: bytes) -> bool:
    envelope = _read_upload(headers, body).envelope
    return (envelope.get("run") or {}).get("id", envelope["id"]) != envelope["id"]


def _read_upload(headers, body: bytes) -> Upload:
    head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + body)
    fields: dict[str, str] = {}
    raw: dict[str, bytes] = {}
    for part in message.get_payload():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if name == "file":
            assert part.get_filename() not in raw
            raw[part.get_filename()] = content
        else:
            fields[name] = content.decode()
    files = {name: _unpacked(content) for name, content in raw.items()}
    token = headers["Authorization"].removeprefix("Bearer ")
    return Upload(json.loads(fields["envelope"]), files, raw, fields, token)


def _unpacked(content: bytes) -> bytes:
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
