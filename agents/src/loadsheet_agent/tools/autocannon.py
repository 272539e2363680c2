"""autocannon: closed loop, whole-millisecond latencies; JSON on stdout."""

from __future__ import annotations

from loadsheet_agent.tools.base import Command, LoadPoint, whole_seconds


class Autocannon:
    name = "autocannon"
    loop = "closed"
    version_flag = "--version"
    version_pattern = r"autocannon v(\d+(?:\.\d+)+)"

    def refusal(self, point: LoadPoint) -> str | None:
        return whole_seconds(self.name, point)

    def threads(self, point: LoadPoint) -> int:
        wanted = min(point.threads, point.connections)
        return max(n for n in range(1, wanted + 1) if point.connections % n == 0)

    def command(self, point: LoadPoint, prefix: str) -> Command:
        threads = self.threads(point)
        argv = (
            self.name,
            *("-c", str(point.connections)),
            *("-d", f"{point.duration_s:.0f}"),
            *(("-w", str(threads)) if threads > 1 else ()),
            *(("-m", point.method) if point.method != "GET" else ()),
            *(() if point.keepalive else ("-H", "Connection=close")),
            "--json",
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.json")
