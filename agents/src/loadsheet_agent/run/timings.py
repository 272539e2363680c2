"""How long trials really take, learned from trials of this run and of earlier ones.

A trial takes its duration and more: the start of its server, the rest before it, reading its
output. A trial with a number of requests has no duration, so all of its time is learned.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loadsheet_agent.install.installer import cache_folder
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.steps import Step

FILE = "timings.json"
# A kind that says nothing of another plan's servers.
ANY_SERVER = "any server"
# The oldest are dropped.
MOST_KEPT = 10_000


@dataclass
class Mean:
    """The mean of the seconds that were added."""

    total_s: float = 0.0
    count: int = 0

    def add(self, seconds: float) -> None:
        self.total_s += seconds
        self.count += 1

    @property
    def seconds(self) -> float:
        return self.total_s / self.count


@dataclass
class Timings:
    """Seconds beyond the planned duration, by the kind of a trial.

    `rests` says how the plan rests and starts servers, which is part of each kind. `earlier` are
    those of earlier runs, which count until this run has measured the same kind.
    """

    rests: str = ""
    earlier: Mapping[str, float] = field(default_factory=dict)
    _means: dict[str, Mean] = field(default_factory=dict)

    def add(self, step: Step, seconds: float) -> None:
        """A trial took so long, from the end of the trial before."""
        extra = max(seconds - (step.duration_s or 0.0), 0.0)
        for kind in self._kinds(step):
            self._means.setdefault(kind, Mean()).add(extra)

    def seconds(self, step: Step) -> float | None:
        """How long the trial will take; None where nothing alike was measured."""
        for kind in self._kinds(step):
            if kind in self._means:
                return (step.duration_s or 0.0) + self._means[kind].seconds
            if kind in self.earlier:
                return (step.duration_s or 0.0) + self.earlier[kind]
        return None

    def total(self, steps: Iterable[Step]) -> float | None:
        """How long the trials will take; None where nothing like one of them was measured."""
        total = 0.0
        for step in steps:
            seconds = self.seconds(step)
            if seconds is None:
                return None
            total += seconds
        return total

    def _kinds(self, step: Step) -> tuple[str, ...]:
        """From the same trial to any trial: the first that was measured says how long it takes.

        A number of requests is part of each kind: half the requests take half the time.
        """
        amount = f"{step.requests} requests" if step.requests else "duration"
        kind = f"{'warm-up' if step.is_warmup else 'trial'} of {amount} | {self.rests}"
        workload = f"{step.workload.name} {step.workload.path}"
        load = f"{step.connections} at {step.rate_rps}"
        return (
            f"{step.server.label} | {workload} | {load} | {kind}",
            f"{step.server.label} | {workload} | {kind}",
            f"{step.server.label} | {kind}",
            f"{ANY_SERVER} | {kind}",
        )

    def save(self, folder: Path) -> None:
        """Keep the means for later runs; without room on the disk they are not kept."""
        measured = {
            kind: round(mean.seconds, 3)
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


def read_timings(plan: Plan, folder: Path | None = None) -> Timings:
    """What earlier runs of this machine measured; nothing where the file cannot be read."""
    rests = f"{plan.rest_s:g} s, {plan.rest_time_wait}, {plan.restart}, {plan.is_one_alive}"
    path = (folder or cache_folder()) / FILE
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Timings(rests)
    is_whole = isinstance(kept, dict) and all(
        type(value) in (int, float) for value in kept.values()
    )
    return Timings(rests, kept if is_whole else {})
