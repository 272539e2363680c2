"""oha: closed loop; JSON (the text has fewer figures, the CSV no errors)."""

from __future__ import annotations

from loadsheet_agent.tools import base

# Requests that the end of the time cut off are no failures of the server.
CUT_OFF = "aborted due to deadline"


class Oha(base.Tool):
    name = "oha"
    version_pattern = r"oha (\d+(?:\.\d+)+)"
    install_hint = "cargo install oha"
    is_threaded = True
    request_for_each_connection = True

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        argv = (
            self.name,
            "--no-tui",
            *("--output-format", "json"),
            *("-c", str(point.connections)),
            *base.length_flags(point, "-n", "-z"),
            *("--worker-threads", str(point.threads)),
            *(("-m", point.method) if point.method != "GET" else ()),
            *base.colon_headers(point.headers),
            *(("-D", base.body_name(prefix)) if point.body is not None else ()),
            "--disable-compression",
            *("--redirect", "0"),  # else it follows ten, and times them as one request
            *(() if point.keepalive else ("--disable-keepalive",)),
            *(("--insecure",) if point.tls else ()),
            point.url,
        )
        return base.Command(
            argv=argv, stdout=f"{prefix}-stdout.json", inputs=base.body_input(point, prefix)
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        report = base.read_json(outputs(command.stdout))
        statuses = {**(report.get("statusCodeDistribution") or {})}
        errors = {**(report.get("errorDistribution") or {})}
        answered = sum(statuses.values())
        good = sum(count for status, count in statuses.items() if status[:1] in ("2", "3"))
        lost = sum(count for text, count in errors.items() if text != CUT_OFF)
        return base.Glance(
            throughput_rps=base.number_at(report, "summary", "requestsPerSec"),
            p99_s=base.number_at(report, "latencyPercentiles", "p99"),
            error_rate=base.share_of(answered - good + lost, answered + lost),
        )
