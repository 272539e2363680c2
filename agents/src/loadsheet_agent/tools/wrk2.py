"""wrk2: open loop at a constant rate, latencies counted from when a request was due; text only."""

from __future__ import annotations

from loadsheet_agent.tools import base
from loadsheet_agent.tools.wrk import Wrk


class Wrk2(Wrk):
    name = "wrk2"
    loops = ("open",)
    closes = False  # it falls behind its rate for good once a connection was closed
    version_pattern = r"^wrk2? (?:\S*/)?(\d+(?:\.\d+)+)"
    install_hint = "built from github.com/giltene/wrk2; name the program wrk2"

    def special(self, point: base.LoadPoint) -> str | None:
        return base.refuse_fraction_rate(point) or super().special(point)

    def rate(self, point: base.LoadPoint) -> tuple[str, ...]:
        return (f"-R{point.rate_rps:.0f}",)
