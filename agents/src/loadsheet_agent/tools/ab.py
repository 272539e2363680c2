"""ab: closed loop, HTTP/1.0, one thread; a row per request with -g, microseconds with -e."""

from __future__ import annotations

from loadsheet_agent.tools import base

# -t alone stops at 50 000 requests. ab keeps a record for each request it may send, so the
# limit is high enough never to be the end of a trial, and low enough for memory.
REQUESTS_PER_SECOND_LIMIT = 200_000


class Ab(base.Tool):
    name = "ab"
    version_args = ("-V",)
    version_pattern = r"Version (\d+(?:\.\d+)+)"
    install_hint = "apt install apache2-utils"
    request_for_each_connection = True
    whole_seconds = True

    def special(self, point: base.LoadPoint) -> str | None:
        if point.connections > 20_000:
            return f"takes at most 20000 connections, not {point.connections}"
        if point.body is not None and point.method not in ("POST", "PUT"):
            return f"sends a body with POST and PUT only, not with {point.method}"
        return None

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        plot, percentiles = f"{prefix}-plot.tsv", f"{prefix}-percentiles.csv"
        argv = (
            self.name,
            "-q",
            "-r",  # without it the first reset ends ab with no report at all
            *(("-k",) if point.keepalive else ()),
            *_method(point, prefix),
            *base.colon_headers(point.headers_but("content-type") if point.body else point.headers),
            *("-c", str(point.connections)),
            *_length(point),
            *("-g", plot),
            *("-e", percentiles),
            point.url,
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.txt",
            files=(plot, percentiles),
            inputs=base.body_input(point, prefix),
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.stdout)
        done = base.find_number(text, r"^Complete requests:\s+(\d+)")
        p99_ms = base.find_number(outputs(command.files[1]), r"^99,([\d.]+)")
        # "Length" counts bodies of another size than the first, which are answers all the same.
        failed = base.sum_numbers(text, r"(?:Connect|Receive|Exceptions): (\d+)")
        failed += base.sum_numbers(text, r"^Non-2xx responses:\s+(\d+)")
        return base.Glance(
            throughput_rps=base.find_number(text, r"^Requests per second:\s+([\d.]+)"),
            p99_s=None if p99_ms is None else p99_ms / 1000,
            error_rate=base.share_of(failed, done),
        )


def _method(point: base.LoadPoint, prefix: str) -> tuple[str, ...]:
    if point.body is not None:
        flag = "-p" if point.method == "POST" else "-u"
        kind = point.header("content-type") or "application/octet-stream"
        return (flag, base.body_name(prefix), "-T", kind)
    if point.method == "GET":
        return ()
    return ("-i",) if point.method == "HEAD" else ("-m", point.method)


def _length(point: base.LoadPoint) -> tuple[str, ...]:
    if point.duration_s is None:
        return ("-n", str(point.requests))
    limit = int(point.duration_s) * REQUESTS_PER_SECOND_LIMIT
    return ("-t", f"{point.duration_s:.0f}", "-n", str(limit))  # -n must follow -t
