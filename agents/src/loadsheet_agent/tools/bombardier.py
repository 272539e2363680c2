"""bombardier: closed loop; JSON with the latencies' percentiles (it prints that or the text)."""

from __future__ import annotations

from loadsheet_agent.tools import base

CLASSES = ("req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others")


class Bombardier(base.Tool):
    name = "bombardier"
    version_pattern = r"bombardier version v?(\d+(?:\.\d+)+)"
    install_hint = "go install github.com/codesenberg/bombardier@latest"
    is_threaded = True
    request_for_each_connection = True

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        argv = (
            self.name,
            *("-c", str(point.connections)),
            *base.length_flags(point, "-n", "-d"),
            *(("-m", point.method) if point.method != "GET" else ()),
            *base.colon_headers(point.closing_headers),
            *(("-f", base.body_name(prefix)) if point.body is not None else ()),
            *(("-k",) if point.tls else ()),
            *("-l", "-p", "r", "-o", "json"),
            point.url,
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.json",
            inputs=base.body_input(point, prefix),
            environ={"GOMAXPROCS": str(point.threads)},
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        report = base.read_json(outputs(command.stdout)).get("result", {})
        tried = sum(base.number_at(report, name) or 0 for name in CLASSES)
        good = sum(base.number_at(report, name) or 0 for name in ("req2xx", "req3xx"))
        p99_us = base.number_at(report, "latency", "percentiles", "99")
        return base.Glance(
            throughput_rps=base.number_at(report, "rps", "mean"),
            p99_s=None if p99_us is None else p99_us / 1e6,
            error_rate=base.share_of(tried - good, tried),
        )
