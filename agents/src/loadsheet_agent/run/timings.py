"""How long the parts of a trial take, learned from trials of this run and of earlier runs.

The parts are the start of the server, where it does not run yet; the rest; and the load with what
the agent does around it. The plan fixes the duration of the load and the length of the rest. A
number of requests has no duration, so its load is learned. The rest may also wait for sockets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loadsheet_agent.install.installer import cache_folder
from loadsheet_agent.plan.expansion import count_starts
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerSpec
from loadsheet_agent.plan.steps import Step

FILE = "timings.json"
# A kind that says nothing of another plan's servers.
ANY_SERVER = "any server"
# The oldest are dropped.
MOST_KEPT = 10_000
# What is expected until one was measured. Around a load: starting the tool, reading what it wrote,
# making it durable.
AROUND_S = 0.3
# Stopping a server, starting another and waiting until it answers.
START_S = 0.5
# Before the first trial: asking a server for its version, starting a service beside the servers.
VERSION_S = 0.1
SERVICE_S = 3.0
# Linux keeps a closed connection for a minute.
DRAIN_S = 60.0


@dataclass
class Mean:
    """The mean of the numbers that were added."""

    total: float = 0.0
    count: int = 0

    def add(self, number: float) -> None:
        self.total += number
        self.count += 1

    @property
    def value(self) -> float:
        return self.total / self.count


@dataclass
class Timings:
    """Means by kind: seconds, or for trials with a number of requests, seconds for one request.

    `earlier` are those of earlier runs, which count until this run has measured the same kind.
    """

    plan: Plan
    earlier: Mapping[str, float] = field(default_factory=dict)
    _means: dict[str, Mean] = field(default_factory=dict)

    def add_load(self, step: Step, seconds: float) -> None:
        """A load took so long, with all around it."""
        # Below 0 where the load ends early, as with a server that does not start.
        beyond = seconds - (step.duration_s or 0.0)
        if step.requests is None:
            self._add(_load_kinds(step), beyond)
        else:
            self._add((_amount_kind(step),), beyond)
            self._add(_load_kinds(step), max(seconds - AROUND_S, 0.0) / step.requests)

    def add_start(self, server: ServerSpec, seconds: float) -> None:
        """A server was started, and what ran before it was stopped."""
        self._add(_start_kinds(server), seconds)

    def add_rest(self, seconds: float) -> None:
        """A rest took so long."""
        self._add((self._drain_kind(),), max(seconds - self.plan.rest_s, 0.0))

    def add_preparation(self, seconds: float) -> None:
        """Services were started and servers asked for their versions."""
        self._add((self._preparation_kind(),), seconds)

    def load_s(self, step: Step) -> float | None:
        """Seconds of a load with all around it.

        None if it has a number of requests and none like it was measured.
        """
        if step.requests is None:
            beyond = self._mean(_load_kinds(step))
            return max((step.duration_s or 0.0) + (AROUND_S if beyond is None else beyond), 0.0)
        seconds = self._mean((_amount_kind(step),))
        each = self._mean(_load_kinds(step))
        if seconds is None and each is not None:
            return AROUND_S + each * step.requests
        return seconds

    def start_s(self, server: ServerSpec) -> float:
        """Seconds until the server answers."""
        seconds = self._mean(_start_kinds(server))
        return START_S if seconds is None else seconds

    def rest_s(self) -> float:
        drain = self._mean((self._drain_kind(),))
        return self.plan.rest_s + (self._first_drain_s() if drain is None else drain)

    def preparation_s(self) -> float:
        """Seconds before the first trial."""
        seconds = self._mean((self._preparation_kind(),))
        if seconds is None:
            return len(self.plan.servers) * VERSION_S + len(self.plan.services) * SERVICE_S
        return seconds

    def total_s(self, steps: Sequence[Step], warmups_each: float = 1.0) -> float | None:
        """Seconds of a whole run; None if the load of one of its steps is unknown.

        `warmups_each`: warm-ups for each that is planned.
        """
        seconds, loads = 0.0, 0.0
        for step in steps:
            load_s = self.load_s(step)
            if load_s is None:
                return None
            times = warmups_each if step.is_warmup else 1.0
            seconds, loads = seconds + times * load_s, loads + times
        starts = count_starts(self.plan, steps)
        started = {step.server.key: self.start_s(step.server) for step in steps}
        return (
            self.preparation_s()
            + seconds
            + max(loads - 1, 0) * self.rest_s()
            + sum(count * started[key] for key, count in starts.items())
        )

    def _first_drain_s(self) -> float:
        """How long sockets are waited for, until it was measured."""
        is_closing = any(not workload.keepalive for workload in self.plan.workloads)
        return DRAIN_S if self.plan.rest_time_wait is not None and is_closing else 0.0

    def _preparation_kind(self) -> str:
        names = ", ".join(service.name for service in self.plan.services)
        return f"preparation of {len(self.plan.servers)} servers | {names or 'no service'}"

    def _drain_kind(self) -> str:
        return f"rest until {self.plan.rest_time_wait} sockets"

    def _add(self, kinds: tuple[str, ...], number: float) -> None:
        for kind in kinds:
            self._means.setdefault(kind, Mean()).add(number)

    def _mean(self, kinds: tuple[str, ...]) -> float | None:
        """The mean of the first kind that was measured."""
        for kind in kinds:
            if kind in self._means:
                return self._means[kind].value
            if kind in self.earlier:
                return self.earlier[kind]
        return None

    def save(self, folder: Path) -> None:
        """Keep the means for later runs; without room on the disk they are not kept."""
        measured = {
            kind: round(mean.value, 9)
            for kind, mean in self._means.items()
            if not kind.startswith(ANY_SERVER)
        }
        older = {kind: value for kind, value in self.earlier.items() if kind not in measured}
        newest = list({**older, **measured}.items())[-MOST_KEPT:]
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(dict(newest), indent=0), encoding="utf-8")
            part.replace(path)
        except OSError:
            return


def _load_kinds(step: Step) -> tuple[str, ...]:
    """From the same load to any: the first that was measured says how long it takes."""
    unit = "duration" if step.requests is None else "request"
    kind = f"{'warm-up' if step.is_warmup else 'trial'} by {unit}"
    workload = f"{step.workload.name} {step.workload.path}"
    load = f"{step.connections} at {step.rate_rps}"
    return (
        f"{step.server.label} | {workload} | {load} | {kind}",
        f"{step.server.label} | {workload} | {kind}",
        f"{step.server.label} | {kind}",
        f"{ANY_SERVER} | {kind}",
    )


def _amount_kind(step: Step) -> str:
    return f"{_load_kinds(step)[0]} | {step.requests} requests"


def _start_kinds(server: ServerSpec) -> tuple[str, ...]:
    return (f"{server.label} | start", f"{ANY_SERVER} | start")


def read_timings(plan: Plan, folder: Path | None = None) -> Timings:
    """What earlier runs of this machine measured; nothing where the file cannot be read."""
    path = (folder or cache_folder()) / FILE
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Timings(plan)
    is_whole = isinstance(kept, dict) and all(
        type(value) in (int, float) for value in kept.values()
    )
    return Timings(plan, kept if is_whole else {})
