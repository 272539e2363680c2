"""wrk: closed loop, keep-alive unless told to close, text only; GET without a script."""

from __future__ import annotations

from loadsheet_agent.tools.base import Command, LoadPoint, whole_seconds


class Wrk:
    name = "wrk"
    loop = "closed"
    version_flag = "-v"
    version_pattern = r"^wrk (?:\S*/)?(\d+(?:\.\d+)+)"

    def refusal(self, point: LoadPoint) -> str | None:
        if point.method != "GET":
            return f"wrk sends {point.method} only with a script; use ab or autocannon"
        return whole_seconds(self.name, point)

    def threads(self, point: LoadPoint) -> int:
        # wrk gives each thread connections // threads and drops the rest, so only a divisor
        # keeps the number of connections that was asked for.
        wanted = min(point.threads, point.connections)
        return max(n for n in range(1, wanted + 1) if point.connections % n == 0)

    def command(self, point: LoadPoint, prefix: str) -> Command:
        close = () if point.keepalive else ("-H", "Connection: close")
        argv = (
            self.name,
            f"-t{self.threads(point)}",
            f"-c{point.connections}",
            f"-d{point.duration_s:.0f}s",
            "--latency",
            *close,
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.txt")
