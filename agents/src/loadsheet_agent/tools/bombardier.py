"""bombardier: closed loop; JSON with the latencies' percentiles (it prints that or the text)."""

from __future__ import annotations

from loadsheet_agent.tools.base import (
    Command,
    Glance,
    LoadPoint,
    Outputs,
    Tool,
    at,
    body_input,
    body_name,
    colon_headers,
    fewer_requests_than_connections,
    json_of,
    seconds,
    share,
)

CLOSE = (("Connection", "close"),)
CLASSES = ("req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others")


class Bombardier(Tool):
    name = "bombardier"
    version_pattern = r"bombardier version v?(\d+(?:\.\d+)+)"
    install_hint = "go install github.com/codesenberg/bombardier@latest"

    def special(self, point: LoadPoint) -> str | None:
        return fewer_requests_than_connections(point)

    def threads(self, point: LoadPoint) -> int:
        return point.threads

    def command(self, point: LoadPoint, prefix: str) -> Command:
        length = ("-n", str(point.requests))
        if point.duration_s is not None:
            length = ("-d", seconds(point.duration_s))
        argv = (
            self.name,
            *("-c", str(point.connections)),
            *length,
            *(("-m", point.method) if point.method != "GET" else ()),
            *colon_headers(point.headers + (() if point.keepalive else CLOSE)),
            *(("-f", body_name(prefix)) if point.body is not None else ()),
            *(("-k",) if point.tls else ()),
            *("-l", "-p", "r", "-o", "json"),
            point.url,
        )
        return Command(
            argv=argv,
            stdout=f"{prefix}-stdout.json",
            inputs=body_input(point, prefix),
            environ={"GOMAXPROCS": str(point.threads)},
        )

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        found = json_of(outputs(command.stdout)).get("result", {})
        tried = sum(at(found, name) or 0 for name in CLASSES)
        good = sum(at(found, name) or 0 for name in ("req2xx", "req3xx"))
        p99_us = at(found, "latency", "percentiles", "99")
        return Glance(
            throughput_rps=at(found, "rps", "mean"),
            p99_s=None if p99_us is None else p99_us / 1e6,
            error_rate=share(tried - good, tried),
        )
