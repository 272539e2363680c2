"""weighttp: closed loop, GET and a number of requests: what 0.4 and 0.5 have in common.

0.4 prints text, 0.5 JSON.
"""

from __future__ import annotations

from loadsheet_agent.tools import base


class Weighttp(base.Tool):
    name = "weighttp"
    version_args = ("-V",)
    version_pattern = r"weighttp\D{0,40}?(\d+\.\d+(?:\.\d+)*)"
    install_hint = "built from git.lighttpd.net/lighttpd/weighttp"
    request_for_each_connection = True
    durations = False
    methods = ("GET",)
    bodies = False

    def special(self, point: base.LoadPoint) -> str | None:
        if point.tls:
            return "cannot speak TLS"
        return None

    def threads(self, point: base.LoadPoint) -> int:
        return min(point.threads, point.connections)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        argv = (
            self.name,
            *("-n", str(point.requests)),
            *("-c", str(point.connections)),
            *("-t", str(self.threads(point))),
            *(("-k",) if point.keepalive else ()),
            *base.colon_headers(point.headers),
            point.url,
        )
        return base.Command(argv=argv, stdout=f"{prefix}-stdout.txt")

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.stdout)
        rate = base.find_number(text, r"^finished in .*?, ([\d.]+) req/s")
        if rate is None:
            return _json_glance(text)
        done = base.find_number(text, r"^requests: .*?(\d+) done")
        good = base.find_number(text, r"^requests: .*?(\d+) succeeded")
        failed = None if done is None or good is None else done - good
        return base.Glance(throughput_rps=rate, error_rate=base.share_of(failed, done))


def _json_glance(text: str) -> base.Glance:
    report = base.read_json(text)
    done = base.number_at(report, "request_counts", "retired")
    failed = base.number_at(report, "response_counts", "fail")
    return base.Glance(
        throughput_rps=base.number_at(report, "reqs_per_sec"),
        error_rate=base.share_of(failed, done),
    )
