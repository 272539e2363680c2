"""ab: closed loop, HTTP/1.0, one thread; a row per request with -g, microseconds with -e."""

from __future__ import annotations

from loadsheet_agent.tools.base import Command, LoadPoint, whole_seconds

# -t alone stops at 50 000 requests. ab keeps a record for each request it may send, so the
# limit is high enough never to be the end of a trial, and low enough for memory.
REQUESTS_PER_SECOND_LIMIT = 200_000


class Ab:
    name = "ab"
    loop = "closed"
    version_flag = "-V"
    version_pattern = r"Version (\d+(?:\.\d+)+)"

    def refusal(self, point: LoadPoint) -> str | None:
        if point.connections > 20_000:
            return f"ab takes at most 20000 connections, not {point.connections}"
        return whole_seconds(self.name, point)

    def threads(self, point: LoadPoint) -> int:
        return 1

    def command(self, point: LoadPoint, prefix: str) -> Command:
        plot, percentiles = f"{prefix}-plot.tsv", f"{prefix}-percentiles.csv"
        argv = (
            self.name,
            "-q",
            "-r",  # without it the first reset ends ab with no report at all
            *(("-k",) if point.keepalive else ()),
            *_method(point.method),
            *("-c", str(point.connections)),
            *("-t", f"{point.duration_s:.0f}"),
            *("-n", str(int(point.duration_s) * REQUESTS_PER_SECOND_LIMIT)),  # must follow -t
            *("-g", plot),
            *("-e", percentiles),
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.txt", files=(plot, percentiles))


def _method(method: str) -> tuple[str, ...]:
    if method == "GET":
        return ()
    return ("-i",) if method == "HEAD" else ("-m", method)
