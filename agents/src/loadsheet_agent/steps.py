"""From a plan to the ordered list of trials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan import Plan, ServerSpec, WorkloadSpec

TRIALS_LIMIT = 5000  # what the service takes in one run


@dataclass(frozen=True)
class Step:
    ordinal: int
    server: ServerSpec
    workload: WorkloadSpec
    connections: int
    duration_s: float
    repeat: int
    warmup: bool


def expand(plan: Plan) -> tuple[Step, ...]:
    """All trials in the order they run, warm-ups included.

    Interleaved: the server changes fastest, the repeat slowest. A disturbance of the machine
    then hits one repeat of every server, not all repeats of one.
    A warm-up precedes a server's first trial at each load point, and every trial when the
    server is restarted for it, because a fresh process is cold again.
    """
    steps = tuple(
        Step(
            ordinal=ordinal,
            server=server,
            workload=workload,
            connections=connections,
            duration_s=plan.warmup_s if warmup else plan.load.duration_s,
            repeat=repeat,
            warmup=warmup,
        )
        for ordinal, (repeat, workload, connections, server, warmup) in enumerate(_order(plan))
    )
    if len(steps) > TRIALS_LIMIT:
        raise PlanError(
            f"the plan makes {len(steps)} trials, warm-ups included; expected at most "
            f"{TRIALS_LIMIT}, so split it."
        )
    return steps


def _order(plan: Plan) -> Iterator[tuple[int, WorkloadSpec, int, ServerSpec, bool]]:
    for repeat in range(1, plan.repeats + 1):
        cold = plan.warmup_s > 0 and (repeat == 1 or plan.restart == "each-trial")
        for workload in plan.workloads:
            for connections in plan.load.connections:
                for server in plan.servers:
                    if cold:
                        yield repeat, workload, connections, server, True
                    yield repeat, workload, connections, server, False


def planned_seconds(plan: Plan, steps: tuple[Step, ...]) -> float:
    """Time under load plus rests: a lower bound of the wall clock, and said so."""
    return sum(step.duration_s for step in steps) + plan.rest_s * max(len(steps) - 1, 0)
