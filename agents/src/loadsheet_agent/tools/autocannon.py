"""autocannon: closed loop, whole-millisecond latencies; JSON on stdout, a table on stderr."""

from __future__ import annotations

from loadsheet_agent.tools import base


class Autocannon(base.Tool):
    name = "autocannon"
    version_pattern = r"autocannon v(\d+(?:\.\d+)+)"
    install_hint = "npm install -g autocannon"
    request_for_each_connection = True
    whole_seconds = True
    closes = False  # it says keep-alive beside any header, and loses the answers with -D 1

    def threads(self, point: base.LoadPoint) -> int:
        return base.dividing_threads(point)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
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
            *(("-i", base.body_name(prefix)) if point.body is not None else ()),
            "--json",
            point.url,
        )
        return base.Command(
            argv=argv, stdout=f"{prefix}-stdout.json", inputs=base.body_input(point, prefix)
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        report = base.read_json(outputs(command.stdout))
        p99_ms = base.number_at(report, "latency", "p99")
        answered = sum(base.number_at(report, name) or 0 for name in ("2xx", "non2xx"))
        lost = base.number_at(report, "errors") or 0
        failed = lost + (base.number_at(report, "non2xx") or 0)
        return base.Glance(
            throughput_rps=base.number_at(report, "requests", "average"),
            p99_s=None if p99_ms is None else p99_ms / 1000,
            error_rate=base.share_of(failed, answered + lost),
        )
