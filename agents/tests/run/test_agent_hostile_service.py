"""A service that answers anything: the agent runs its plan, nothing else, and keeps the result."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from agent_fakes import TOKEN, run_agent, write_plan

from loadsheet_agent.exits import Exit

pytestmark = pytest.mark.processes

ELSEWHERE = "http://127.0.0.1:9/elsewhere"


def orders(mark: Path) -> dict[str, object]:
    """Everything that could pass for an order."""
    command = ["touch", str(mark)]
    return {
        "id": f"$(touch {mark})",
        "state": f"; touch {mark}",
        "result_url": f"file://{mark}",
        "command": command,
        "plan": f'[[servers]]\nname = "x"\nstart = {json.dumps(command)}\n',
        "start": command,
        "jobs": [{"command": command, "target": ELSEWHERE}],
        "update_url": ELSEWHERE,
        "parts": [{"artefact": "../../x", "number": -1}],
        "workspaces": [{"slug": "../x", "name": "\x1b[2J", "url": ELSEWHERE}],
        "time": "yesterday",
        "expires_at": 5,
        "starts_at": "2999-01-01T00:00:00Z",
        "seed": -1,
    }


ANSWERS = {
    "orders": lambda mark: (200, {}, json.dumps(orders(mark)).encode()),
    "orders, accepted": lambda mark: (202, {}, json.dumps(orders(mark)).encode()),
    "deep": lambda _: (200, {}, b"[" * 100_000),
    "elsewhere": lambda _: (307, {"Location": ELSEWHERE}, b""),
    "never": lambda _: (429, {"Retry-After": "99999999999"}, b"{}"),
    "refused": lambda _: (422, {}, b'{"detail": ["\\u001b[31m"], "title": {}}'),
}


@contextmanager
def hostile_service(answer: tuple[int, dict[str, str], bytes]) -> Iterator[str]:
    status, headers, body = answer

    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = reply

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def trials_in(spool: Path) -> list[dict[str, object]]:
    """Of the one result in the spool, also where it was refused for good."""
    (envelope,) = spool.rglob("envelope.json")
    trials: list[dict[str, object]] = json.loads(envelope.read_text())["trials"]
    return trials


@pytest.mark.parametrize("kind", ANSWERS)
def test_the_agent_does_what_its_plan_says_and_nothing_else(
    kind: str, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=2, warmup_s=0)
    mark, spool = tmp_path / "mark", tmp_path / "spool"
    with hostile_service(ANSWERS[kind](mark)) as url:
        flags = ["--tool-path", f"wrk={fake_wrk}", "--max-wait", "0.5", "--spool", spool]
        done = run_agent("run", plan, *flags, "--url", url, "--token", TOKEN)

    assert done.returncode in (Exit.SPOOLED, Exit.HELD, Exit.REJECTED), done.stderr
    assert "Traceback" not in done.stderr
    assert not mark.exists()
    trials = trials_in(spool)
    assert [trial["error"] for trial in trials] == [None, None]
    for trial in trials:
        command = trial["command"]
        assert command[0] == "wrk"
        assert command[-1].startswith("http://127.0.0.1:")
        assert ELSEWHERE not in command
