"""siege: closed loop without delays, a thread a connection, times in steps of 10 ms; JSON.

It ends at a whole second of the clock, so up to one early; the time it tells is the true one.
"""

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
    json_of,
    share,
    uneven_requests,
)

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


class Siege(Tool):
    name = "siege"
    version_pattern = r"SIEGE (\d+(?:\.\d+)+)"
    install_hint = "apt install siege"
    whole_seconds = True
    methods = ("GET", "POST")
    tells_p99 = False

    def special(self, point: LoadPoint) -> str | None:
        if (point.method == "POST") != (point.body is not None):
            return "sends POST with a body and GET without one, nothing else"
        return uneven_requests(point)

    def threads(self, point: LoadPoint) -> int:
        return point.connections

    def command(self, point: LoadPoint, prefix: str) -> Command:
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
            *colon_headers(point.headers_but("content-type")),
            f"{point.url} POST <{body_name(prefix)}" if point.body is not None else point.url,
        )
        return Command(
            argv=argv,
            stdout=f"{prefix}-stdout.json",
            inputs={settings: _settings(point), **body_input(point, prefix)},
        )

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        found = json_of(outputs(command.stdout))
        failed = at(found, "failed_transactions")
        done = at(found, "transactions")
        tried = None if done is None or failed is None else done + failed
        return Glance(throughput_rps=at(found, "transaction_rate"), error_rate=share(failed, tried))


def _settings(point: LoadPoint) -> bytes:
    connection = "keep-alive" if point.keepalive else "close"
    return SETTINGS.format(connection=connection, limit=point.connections).encode()
