"""siege: closed loop without delays, a thread a connection, times in steps of 10 ms; JSON.

It ends at a whole second of the clock, up to 1 s early; the time it prints is correct.
"""

from __future__ import annotations

from loadsheet_agent.tools import base

# The user's own settings must not change what is measured, so the file says all that matters.
SETTINGS = """verbose = false
quiet = false
color = off
logging = false
show-logfile = false
protocol = HTTP/1.1
chunked = true
cache = false
accept-encoding = identity
connection = {connection}
benchmark = true
parser = false
follow-location = false
failures = 1000000000
limit = {limit}
"""


class Siege(base.Tool):
    name = "siege"
    version_pattern = r"SIEGE (\d+(?:\.\d+)+)"
    install_hint = "apt install siege"
    whole_seconds = True
    methods = ("GET", "POST")
    tells_p99 = False

    def special(self, point: base.LoadPoint) -> str | None:
        if (point.method == "POST") != (point.body is not None):
            return "sends POST with a body and GET without one, nothing else"
        return base.refuse_uneven_requests(point)

    def threads(self, point: base.LoadPoint) -> int:
        return point.connections

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        settings = f"{prefix}-siegerc"
        if point.duration_s is not None:
            length = ("-t", f"{point.duration_s:.0f}S")
        else:
            length = ("-r", str((point.requests or 0) // point.connections))
        kind = point.header("content-type")
        argv = (
            self.name,
            *("-R", settings),
            *("-b", "-j", "--no-parser", "--no-follow"),
            *("-c", str(point.connections)),
            *length,
            *(("-T", kind) if kind else ()),
            *base.colon_headers(point.headers_but("content-type")),
            f"{point.url} POST <{base.body_name(prefix)}" if point.body is not None else point.url,
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.json",
            inputs={settings: _settings(point), **base.body_input(point, prefix)},
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        report = base.read_json(outputs(command.stdout))
        failed = base.number_at(report, "failed_transactions")
        done = base.number_at(report, "transactions")
        tried = None if done is None or failed is None else done + failed
        return base.Glance(
            throughput_rps=base.number_at(report, "transaction_rate"),
            error_rate=base.share_of(failed, tried),
        )


def _settings(point: base.LoadPoint) -> bytes:
    connection = "keep-alive" if point.keepalive else "close"
    return SETTINGS.format(connection=connection, limit=point.connections).encode()
