"""weighttp: closed loop, GET and a number of requests: what 0.4 and 0.5 have in common.

0.4 prints text, 0.5 JSON.
"""

from __future__ import annotations

from loadsheet_agent.tools.base import (
    Command,
    Glance,
    LoadPoint,
    Outputs,
    Tool,
    at,
    colon_headers,
    fewer_requests_than_connections,
    json_of,
    number,
    share,
)


class Weighttp(Tool):
    name = "weighttp"
    version_args = ("-V",)
    version_pattern = r"weighttp\D{0,40}?(\d+\.\d+(?:\.\d+)*)"
    install_hint = "built from git.lighttpd.net/lighttpd/weighttp"
    durations = False
    methods = ("GET",)
    bodies = False

    def special(self, point: LoadPoint) -> str | None:
        if point.tls:
            return "cannot speak TLS"
        return fewer_requests_than_connections(point)

    def threads(self, point: LoadPoint) -> int:
        return min(point.threads, point.connections)

    def command(self, point: LoadPoint, prefix: str) -> Command:
        argv = (
            self.name,
            *("-n", str(point.requests)),
            *("-c", str(point.connections)),
            *("-t", str(self.threads(point))),
            *(("-k",) if point.keepalive else ()),
            *colon_headers(point.headers),
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.txt")

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        text = outputs(command.stdout)
        rate = number(text, r"^finished in .*?, ([\d.]+) req/s")
        if rate is None:
            return _json_glance(text)
        done = number(text, r"^requests: .*?(\d+) done")
        good = number(text, r"^requests: .*?(\d+) succeeded")
        failed = None if done is None or good is None else done - good
        return Glance(throughput_rps=rate, error_rate=share(failed, done))


def _json_glance(text: str) -> Glance:
    found = json_of(text)
    done = at(found, "request_counts", "retired")
    failed = at(found, "response_counts", "fail")
    return Glance(throughput_rps=at(found, "reqs_per_sec"), error_rate=share(failed, done))
