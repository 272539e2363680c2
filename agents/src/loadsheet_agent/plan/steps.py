"""From a plan to its trials before any has run: what will happen, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.plan import Plan, ServerSpec, WorkloadSpec
from loadsheet_agent.plan.schedule import MEASURE, Shot, drive
from loadsheet_agent.tools import Glance, LoadPoint

TRIALS_LIMIT = 5000  # what the service takes in one run
# Between two trials: starting the tool, reading what it wrote, making it durable.
BETWEEN_S = 0.3


@dataclass(frozen=True)
class Step:
    """One execution of the load tool: a trial, or the warm-up before it."""

    ordinal: int
    server: ServerSpec
    workload: WorkloadSpec
    connections: int
    rate_rps: float | None
    duration_s: float | None
    requests: int | None
    repeat: int
    warmup: bool
    phase: str = MEASURE


def step_of(shot: Shot, ordinal: int) -> Step:
    return Step(
        ordinal=ordinal,
        server=shot.server,
        workload=shot.workload,
        connections=shot.connections,
        rate_rps=shot.rate_rps,
        duration_s=shot.duration_s,
        requests=shot.requests,
        repeat=shot.repeat,
        warmup=False,
        phase=shot.phase,
    )


def warmup_of(shot: Shot, warmup_s: float, ordinal: int) -> Step:
    """The same load for the warm-up's time; of a count, so many requests as the trial itself."""
    step = step_of(shot, ordinal)
    duration_s = warmup_s if shot.requests is None else None
    return Step(**{**vars(step), "duration_s": duration_s, "warmup": True})


def load_point(step: Step, base_url: str, threads: int) -> LoadPoint:
    return LoadPoint(
        url=base_url + step.workload.path,
        method=step.workload.method,
        keepalive=step.workload.keepalive,
        connections=step.connections,
        threads=threads,
        duration_s=step.duration_s,
        requests=step.requests,
        rate_rps=step.rate_rps,
        headers=step.workload.headers,
        body=step.workload.body,
    )


def expand(plan: Plan, seed: int = 0) -> tuple[Step, ...]:
    """All trials in the order they run, warm-ups included; the fewest of an adaptive plan.

    Raises PlanError where they are more than a run may have.

    A warm-up precedes a server's first trial at each load point, and every trial when the
    server is restarted for it, because a fresh process is cold again.
    """
    if plan.max_rate is not None:
        return _expand(plan, seed, _Model(plan.max_rate.start_rate))
    return _expand(plan, seed, lambda _: Glance(throughput_rps=1.0))


def expand_most(plan: Plan, seed: int = 0) -> tuple[Step, ...]:
    """As `expand`, but the most trials that it may take."""
    if plan.max_rate is not None:
        most = plan.max_rate
        guesses = (0.5, most.start_rate * 0.7, most.most_rate * 0.7)
        return max((_expand(plan, seed, _Model(rate)) for rate in guesses), key=len)
    return _expand(plan, seed, lambda _: Glance())


class _Model:
    """A server that keeps every limit up to one rate, to see how long a search would take."""

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def __call__(self, shot: Shot) -> Glance:
        is_kept = shot.rate_rps is not None and shot.rate_rps <= self._rate
        return Glance(shot.rate_rps, 0.0, 0.0 if is_kept else 1.0)


def _expand(plan: Plan, seed: int, glance: Callable[[Shot], Glance]) -> tuple[Step, ...]:
    steps: list[Step] = []
    warm: set[tuple[object, ...]] = set()

    def take(shot: Shot) -> Glance:
        if len(steps) >= TRIALS_LIMIT:
            raise PlanError(
                f"the plan makes more than {TRIALS_LIMIT} trials, warm-ups included; split it."
            )
        if plan.warmup_s > 0 and (plan.restart == "each-trial" or shot.warm_key not in warm):
            steps.append(warmup_of(shot, plan.warmup_s, len(steps)))
        warm.add(shot.warm_key)
        steps.append(step_of(shot, len(steps)))
        return glance(shot)

    drive(plan, take, seed=seed)
    return tuple(steps)


def planned_seconds(plan: Plan, steps: tuple[Step, ...]) -> float | None:
    """Time under load, rests and what lies between; None where a number of requests decides."""
    durations = [step.duration_s for step in steps]
    known = [duration for duration in durations if duration is not None]
    if len(known) < len(durations):
        return None
    pauses = max(len(steps) - 1, 0) * plan.rest_s + len(steps) * BETWEEN_S
    return sum(known) + pauses
