"""oha: closed loop; JSON (its text says less, its CSV has no errors)."""

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

# Requests that the end of the time cut off are no failures of the server.
CUT_OFF = "aborted due to deadline"


class Oha(Tool):
    name = "oha"
    version_pattern = r"oha (\d+(?:\.\d+)+)"
    install_hint = "cargo install oha"

    def special(self, point: LoadPoint) -> str | None:
        return fewer_requests_than_connections(point)

    def threads(self, point: LoadPoint) -> int:
        return point.threads

    def command(self, point: LoadPoint, prefix: str) -> Command:
        length = ("-n", str(point.requests))
        if point.duration_s is not None:
            length = ("-z", seconds(point.duration_s))
        argv = (
            self.name,
            "--no-tui",
            *("--output-format", "json"),
            *("-c", str(point.connections)),
            *length,
            *("--worker-threads", str(point.threads)),
            *(("-m", point.method) if point.method != "GET" else ()),
            *colon_headers(point.headers),
            *(("-D", body_name(prefix)) if point.body is not None else ()),
            "--disable-compression",
            *(() if point.keepalive else ("--disable-keepalive",)),
            *(("--insecure",) if point.tls else ()),
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.json", inputs=body_input(point, prefix))

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        found = json_of(outputs(command.stdout))
        statuses = {**(found.get("statusCodeDistribution") or {})}
        errors = {**(found.get("errorDistribution") or {})}
        answered = sum(statuses.values())
        good = sum(count for status, count in statuses.items() if status[:1] in ("2", "3"))
        lost = sum(count for text, count in errors.items() if text != CUT_OFF)
        return Glance(
            throughput_rps=at(found, "summary", "requestsPerSec"),
            p99_s=at(found, "latencyPercentiles", "p99"),
            error_rate=share(answered - good + lost, answered + lost),
        )
