"""locust: closed loop, one process, by a locustfile written here; JSON to the last second."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from loadsheet_agent.tools import base

SCRIPT = """from pathlib import Path
from locust import FastHttpUser, constant, task

BODY = {body}

class Load(FastHttpUser):
    wait_time = constant(0)
    insecure = True

    @task
    def load(self):
        self.client.request(
            {method}, {path}, data=BODY, headers={headers}, allow_redirects=False, name="load"
        )
"""


class Locust(base.Tool):
    name = "locust"
    version_pattern = r"locust (\d+(?:\.\d+)+)"
    install_hint = "pipx install locust"
    whole_seconds = True
    counts = False

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        script, parts = f"{prefix}-locustfile.py", urlsplit(point.url)
        argv = (
            self.name,
            *("-f", script),
            "--headless",
            *("-u", str(point.connections)),
            *("-r", str(point.connections)),  # all at once: the load is the asked one throughout
            *("-t", f"{point.duration_s:.0f}s"),
            *("--host", f"{parts.scheme}://{parts.netloc}"),
            *("--exit-code-on-error", "0"),  # failed requests are a result, not a failed run
            "--json",
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.json",
            inputs={script: _script(point, prefix), **base.body_input(point, prefix)},
            environ={"PYTHONDONTWRITEBYTECODE": "1"},
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        entry = _entry(outputs(command.stdout))
        done, failed = entry.get("num_requests"), entry.get("num_failures")
        elapsed = (entry.get("last_request_timestamp") or 0) - (entry.get("start_time") or 0)
        return base.Glance(
            throughput_rps=done / elapsed if done and elapsed > 0 else None,
            p99_s=_p99_s(entry.get("response_times") or {}),
            error_rate=base.share_of(failed, done),
        )


def _script(point: base.LoadPoint, prefix: str) -> bytes:
    parts = urlsplit(point.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    body = "None" if point.body is None else f"Path({base.body_name(prefix)!r}).read_bytes()"
    headers = dict(point.closing_headers)
    return SCRIPT.format(
        body=body, method=repr(point.method), path=repr(path), headers=repr(headers)
    ).encode()


def _entry(text: str) -> dict[str, Any]:
    try:
        report, _ = json.JSONDecoder().raw_decode(text, text.index("["))
    except ValueError:
        return {}
    return next((each for each in report if isinstance(each, dict)), {})


def _p99_s(times_ms: dict[str, int]) -> float | None:
    left = (99 * sum(times_ms.values()) + 99) // 100
    for time_ms, count in sorted((float(key), count) for key, count in times_ms.items()):
        left -= count
        if left <= 0:
            return time_ms / 1000
    return None
