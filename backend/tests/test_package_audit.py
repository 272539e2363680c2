"""scripts/audit ends with 1 for a package with a known fault, and with 0 only where one answers."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from django.conf import settings

from backend.config.recovery.embedded import free_port

pytestmark = pytest.mark.processes
AUDIT = settings.BASE_DIR / "scripts" / "audit"
# What the service knows of packages that have faults; the script asks for them too.
KNOWN = {"pkg:pypi/jinja2@2.4.1": ["JINJA"], "pkg:npm/lodash@4.17.4": ["LODASH"]}
FAULTS = {
    "LOADED": {"id": "LOADED", "summary": "It loads what it should not"},
    "COLOURED": {"id": "COLOURED", "summary": "\x1b[2J\n::error::It\x07"},
    "WITHDRAWN": {"id": "WITHDRAWN", "withdrawn": "2026-01-31T12:00:00Z"},
}
LOCK = (settings.BASE_DIR / "requirements.txt").read_text()
DJANGO = next(line.split()[0] for line in LOCK.splitlines() if line.startswith("django=="))
PINNED = f"pkg:pypi/{DJANGO.replace('==', '@')}"


class Advisories(BaseHTTPRequestHandler):
    """Answers as OSV does. `faults`: the ids of each package; each answer has one of them.

    `length`: the bytes that an answer promises, where it does so.
    """

    faults = dict(KNOWN)
    answer = None
    length = None

    def do_GET(self):
        self._send(FAULTS[self.path.rpartition("/")[2]])

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        self._send(self.answer or {"results": [self._result(**query) for query in asked]})

    def _result(self, package, page_token="0"):
        at = int(page_token)
        ids = self.faults.get(package["purl"], [])
        more = {"next_page_token": str(at + 1)} if at + 1 < len(ids) else {}
        return {"vulns": [{"id": id_} for id_ in ids[at : at + 1]], **more} if ids else {}

    def _send(self, body):
        self.send_response(200)
        if self.length is not None:
            self.send_header("Content-Length", self.length)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def audit():
    """Runs the script against a service that answers so; its exit status and what it printed."""
    servers = []

    def run(*options, **answers):
        server = HTTPServer(("127.0.0.1", 0), type("Answering", (Advisories,), answers))
        servers.append(server)
        Thread(target=server.serve_forever, args=(0.02,)).start()
        return run_script("--service", f"http://127.0.0.1:{server.server_port}", *options)

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


def run_script(*options):
    command = [sys.executable, str(AUDIT), *options]
    own = {**os.environ, "NO_PROXY": "*"}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_no_known_fault_is_a_success(audit):
    status, printed = audit()
    assert (status, printed.endswith(" packages, 0 known faults\n")) == (0, True)


def test_a_known_bad_pin_ends_with_1_and_is_named(audit):
    status, printed = audit(faults={**KNOWN, PINNED: ["WITHDRAWN", "LOADED"]})
    assert status == 1
    assert f"{PINNED}: It loads what it should not" in printed
    assert "WITHDRAWN" not in printed


def test_a_fault_that_was_accepted_is_none(audit):
    faults = {**KNOWN, PINNED: ["LOADED"]}
    assert audit("--accept", "LOADED", faults=faults)[0] == 0


def test_what_the_service_says_of_a_fault_is_printed_as_one_plain_line(audit):
    status, printed = audit(faults={**KNOWN, PINNED: ["COLOURED"]})
    assert status == 1
    assert f"{PINNED}:  [2J ::error::It \n" in printed


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"faults": {}}, "names no fault of pkg:pypi/jinja2@2.4.1, pkg:npm/lodash@4.17.4"),
        ({"faults": {"pkg:pypi/jinja2@2.4.1": ["JINJA"]}}, "names no fault of pkg:npm/lodash"),
        ({"answer": {"results": []}}, "answered 0 of"),
        ({"answer": {"results": None}}, "another form"),
        ({"answer": {"error": "no such address"}}, "another form"),
        ({"answer": b"<html>Sign in to the network</html>"}, "Expecting value"),
        ({"answer": b"[]"}, "the answer is no object"),
        ({"length": "1000000"}, "IncompleteRead"),
        ({"answer": b"[" * 200_000}, "recursion"),
        ({"faults": {**KNOWN, PINNED: ["a b"]}}, "a fault has the id 'a b'"),
        ({"faults": {**KNOWN, PINNED: [5]}}, "another form"),
        ({"faults": dict.fromkeys(KNOWN, ["JINJA"] * 101)}, "more than 100 pages"),
    ],
    ids=range(12),
)
def test_a_service_that_knows_nothing_is_told_from_one_without_faults(audit, answers, words):
    status, printed = audit(**answers)
    assert (status, words in printed) == (3, True)


def test_a_service_that_does_not_answer_is_told_too():
    status, printed = run_script("--service", f"http://127.0.0.1:{free_port()}")
    assert (status, "Connection refused" in printed) == (3, True)
