"""autocannon: closed loop, whole-millisecond latencies; JSON on stdout, a table on stderr."""

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
    divisor_threads,
    fewer_requests_than_connections,
    json_of,
    share,
)


class Autocannon(Tool):
    name = "autocannon"
    version_pattern = r"autocannon v(\d+(?:\.\d+)+)"
    install_hint = "npm install -g autocannon"
    whole_seconds = True
    closes = False  # it says keep-alive beside any header, and loses the answers with -D 1

    def special(self, point: LoadPoint) -> str | None:
        return fewer_requests_than_connections(point)

    def threads(self, point: LoadPoint) -> int:
        return divisor_threads(point)

    def command(self, point: LoadPoint, prefix: str) -> Command:
        threads = self.threads(point)
        length = ("-a", str(point.requests))
        if point.duration_s is not None:
            length = ("-d", f"{point.duration_s:.0f}")
        argv = (
            self.name,
            *("-c", str(point.connections)),
            *length,
            *(("-w", str(threads)) if threads > 1 else ()),
            *(("-m", point.method) if point.method != "GET" else ()),
            *(word for name, text in point.headers for word in ("-H", f"{name}={text}")),
            *(("-i", body_name(prefix)) if point.body is not None else ()),
            "--json",
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.json", inputs=body_input(point, prefix))

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        found = json_of(outputs(command.stdout))
        p99_ms = at(found, "latency", "p99")
        answered = sum(at(found, name) or 0 for name in ("2xx", "non2xx"))
        lost = at(found, "errors") or 0
        failed = lost + (at(found, "non2xx") or 0)
        return Glance(
            throughput_rps=at(found, "requests", "average"),
            p99_s=None if p99_ms is None else p99_ms / 1000,
            error_rate=share(failed, answered + lost),
        )
