"""h2load: closed loop, asked for HTTP/1.1; the text and a row per request."""

from __future__ import annotations

from loadsheet_agent.tools import base


class H2load(base.Tool):
    name = "h2load"
    version_pattern = r"nghttp2/(\d+(?:\.\d+)+)"
    install_hint = "apt install nghttp2-client"
    request_for_each_connection = True
    closes = False  # it takes a connection the server closed for an error

    def special(self, point: base.LoadPoint) -> str | None:
        if point.method == "HEAD":
            return base.WAITS_FOR_BODY
        if point.body is not None and point.method != "POST":
            return f"sends a body with POST only, not with {point.method}"
        return None

    def threads(self, point: base.LoadPoint) -> int:
        return min(point.threads, point.connections)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        log = f"{prefix}-requests.tsv"
        other = point.method != "GET" and point.body is None
        argv = (
            self.name,
            "--h1",
            *("-c", str(point.connections)),
            *("-t", str(self.threads(point))),
            *base.length_flags(point, "-n", "-D"),
            *(("-H", f":method: {point.method}") if other else ()),
            *base.colon_headers(point.headers),
            *(("-d", base.body_name(prefix)) if point.body is not None else ()),
            f"--log-file={log}",
            point.url,
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.txt",
            files=(log,),
            inputs=base.body_input(point, prefix),
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.stdout)
        good = base.find_number(text, r"(\d+) succeeded")
        done = base.find_number(text, r"(\d+) done")
        lost = base.find_number(text, r"(\d+) errored") or 0
        tried = None if done is None else done + lost
        failed = None if tried is None or good is None else tried - good
        return base.Glance(
            throughput_rps=base.find_number(text, r"^finished in [^,]+, ([\d.]+) req/s"),
            p99_s=_p99_s(outputs(command.files[0])),
            error_rate=base.share_of(failed, tried),
        )


def _p99_s(log: str) -> float | None:
    """Of the log's third column, microseconds of the requests that were answered."""
    rows = (line.split("\t") for line in log.splitlines())
    times = sorted(int(row[2]) for row in rows if len(row) >= 3 and row[1] != "-1")
    return times[(99 * len(times) + 99) // 100 - 1] / 1e6 if times else None
