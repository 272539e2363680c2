"""One execution of the load tool: a trial, or the warm-up before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loadsheet_agent.plan.server_spec import ServerSpec
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.tools.base import LoadPoint

SEARCH, CONFIRM, MEASURE, WARMUP = "search", "confirm", "measure", "warmup"


@dataclass(frozen=True)
class Step:
    """A server under one load. `phase` is measure, search or confirm; a warm-up has its trial's.

    Exactly one of `duration_s` and `requests` is set; `rate_rps` is None in a closed loop.
    """

    server: ServerSpec
    workload: WorkloadSpec
    connections: int
    rate_rps: float | None
    duration_s: float | None
    requests: int | None
    repeat: int
    # How many repeats this load point has, as far as decided; 0 in a search.
    repeats: int = 0
    phase: str = MEASURE
    is_warmup: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies this trial among all trials of the plan."""
        point = (self.connections, self.rate_rps)
        return (*self.server.key, self.workload.name, *point, self.phase, self.repeat)

    @property
    def warm_key(self) -> tuple[object, ...]:
        """The load point, or the whole search, that one warm-up is for."""
        point = (self.connections, self.rate_rps) if self.phase == MEASURE else ()
        return (*self.server.key, self.workload.name, *point)

    @property
    def result_key(self) -> tuple[object, ...] | None:
        """The load point that its result belongs to; None for a trial of a search."""
        point = (self.connections, self.rate_rps)
        return None if self.phase == SEARCH else (*self.server.key, self.workload.name, *point)

    @property
    def recorded_phase(self) -> str:
        """As the envelope has it: warmup, or the phase."""
        return WARMUP if self.is_warmup else self.phase

    def warm_up(self, warmup_s: float) -> Step:
        """The same load for `warmup_s`, or with the trial's number of requests."""
        duration_s = warmup_s if self.requests is None else None
        return replace(self, duration_s=duration_s, is_warmup=True)

    def load_point(self, base_url: str, threads: int) -> LoadPoint:
        """What the load tool is asked for."""
        return LoadPoint(
            url=base_url + self.workload.path,
            method=self.workload.method,
            keepalive=self.workload.keepalive,
            connections=self.connections,
            threads=threads,
            duration_s=self.duration_s,
            requests=self.requests,
            rate_rps=self.rate_rps,
            headers=tuple(self.workload.headers.items()),
            body=self.workload.content,
            announces_close=self.server.announces_close,
        )
