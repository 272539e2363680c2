"""k6: closed loop (constant VUs) or open (constant arrival rate) by a script written here.

Kept are every measurement (--out json) and the summary as JSON. The script writes the summary,
because only there k6 tells how long the test took; k6 then prints no text of its own.
"""

from __future__ import annotations

import json
from typing import Any

from loadsheet_agent.tools import base

SCRIPT = """import http from 'k6/http';
export const options = {options};
const body = {body};
const params = {params};
export default function () {{
  http.request({method}, {url}, body, params);
}}
export function handleSummary(data) {{
  return {{ {summary}: JSON.stringify(data) }};
}}
"""
# Without name, url and the like: each point would carry the address, with all that is in it.
TAGS = ["status", "error", "error_code", "expected_response", "scenario"]
TREND = ["avg", "min", "med", "max", "p(75)", "p(90)", "p(95)", "p(99)", "p(99.9)", "count"]


class K6(base.Tool):
    name = "k6"
    loops = ("closed", "open")
    version_args = ("version",)
    version_pattern = r"k6 v(\d+(?:\.\d+)+)"
    install_hint = "see grafana.com/docs/k6"
    is_threaded = True
    request_for_each_connection = True

    def special(self, point: base.LoadPoint) -> str | None:
        if point.rate_rps is not None and point.requests is not None:
            return "takes a duration with an offered rate, not a number of requests"
        return base.refuse_fraction_rate(point)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        points, summary = f"{prefix}-points.json", _summary(prefix)
        script = f"{prefix}-script.js"
        argv = (
            self.name,
            "run",
            "--quiet",
            "--no-color",
            "--no-usage-report",
            "--address=",
            f"--out=json={points}",
            script,
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.txt",
            files=(points, summary),
            inputs={script: _script(point, prefix), **base.body_input(point, prefix)},
            environ={"GOMAXPROCS": str(point.threads)},
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        report = base.read_json(outputs(command.files[1]))
        metrics = report.get("metrics", {})
        p99_ms = base.number_at(metrics, "http_req_duration", "values", "p(99)")
        return base.Glance(
            throughput_rps=base.number_at(metrics, "http_reqs", "values", "rate"),
            p99_s=None if p99_ms is None else p99_ms / 1000,
            error_rate=base.number_at(metrics, "http_req_failed", "values", "rate"),
        )


def _summary(prefix: str) -> str:
    return f"{prefix}-summary.json"


def _script(point: base.LoadPoint, prefix: str) -> bytes:
    options = {
        "scenarios": {"load": _scenario(point)},
        "discardResponseBodies": True,
        "noConnectionReuse": not point.keepalive,
        "insecureSkipTLSVerify": True,  # no other load tool checks certificates either
        "maxRedirects": 0,
        "systemTags": TAGS,
        "summaryTrendStats": TREND,
    }
    body = "null" if point.body is None else f"open('./{base.body_name(prefix)}', 'b')"
    return SCRIPT.format(
        options=json.dumps(options),
        body=body,
        params=json.dumps({"headers": dict(point.headers)}),
        method=json.dumps(point.method),
        url=json.dumps(point.url),
        summary=json.dumps(_summary(prefix)),
    ).encode()


def _scenario(point: base.LoadPoint) -> dict[str, Any]:
    if point.duration_s is None:
        return {
            "executor": "shared-iterations",
            "vus": point.connections,
            "iterations": point.requests,
            "maxDuration": "24h",  # the agent stops what takes too long
        }
    duration = base.format_duration(point.duration_s)
    if point.rate_rps is None:
        return {"executor": "constant-vus", "vus": point.connections, "duration": duration}
    return {
        "executor": "constant-arrival-rate",
        "rate": int(point.rate_rps),
        "timeUnit": "1s",
        "duration": duration,
        "preAllocatedVUs": point.connections,
        "maxVUs": point.connections,
    }
