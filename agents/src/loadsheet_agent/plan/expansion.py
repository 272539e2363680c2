"""From a plan to its trials before any has run: what will happen, and how long it takes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.plan import LEAST_WARMUPS, Plan
from loadsheet_agent.plan.schedule import drive
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.tools import Glance

TRIALS_LIMIT = 5000  # what the service takes in one run
# Between two trials: starting the tool, reading what it wrote, making it durable.
BETWEEN_S = 0.3
# Stopping a server, starting another and waiting until it answers.
START_S = 0.5


def expand(plan: Plan, seed: int = 0) -> tuple[Step, ...]:
    """All trials in the order they run, warm-ups included; the fewest of an adaptive plan.

    A warm-up precedes a server's first trial at each load point, and every trial when the
    server is restarted for it, because a fresh process is cold again.

    Raises PlanError for more trials than a run may have.
    """
    if plan.max_rate is not None:
        return _expand(plan, seed, _Model(plan.max_rate.start_rate))
    return _expand(plan, seed, lambda _: Glance(throughput_rps=1.0))


def expand_most(plan: Plan, seed: int = 0) -> tuple[Step, ...]:
    """As `expand`, but the most trials the plan can take."""
    return _expand_most(plan, seed) if plan.steady is None else _with_most_warmups(plan, seed)


def _with_most_warmups(plan: Plan, seed: int) -> tuple[Step, ...]:
    most = 1 if plan.steady is None else plan.steady.most
    return tuple(
        step
        for step in _expand_most(replace(plan, steady=None), seed)
        for _ in range(most if step.is_warmup else 1)
    )


def _expand_most(plan: Plan, seed: int) -> tuple[Step, ...]:
    if plan.max_rate is not None:
        search = plan.max_rate
        guesses = (0.5, search.start_rate * 0.7, search.most_rate * 0.7)
        return max((_expand(plan, seed, _Model(rate)) for rate in guesses), key=len)
    return _expand(plan, seed, lambda step: Glance(throughput_rps=1e9 if step.repeat % 2 else 1.0))


class _Model:
    """A server that keeps every limit up to one rate, to see how long a search would take."""

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def __call__(self, step: Step) -> Glance:
        is_kept = step.rate_rps is not None and step.rate_rps <= self._rate
        return Glance(step.rate_rps, 0.0, 0.0 if is_kept else 1.0)


def _expand(plan: Plan, seed: int, glance: Callable[[Step], Glance]) -> tuple[Step, ...]:
    steps: list[Step] = []
    warm: set[tuple[object, ...]] = set()
    warmups = 1 if plan.steady is None else LEAST_WARMUPS

    def take(step: Step) -> Glance:
        if len(steps) >= TRIALS_LIMIT:
            raise PlanError(
                f"the plan makes more than {TRIALS_LIMIT} trials, warm-ups included; split it."
            )
        if plan.restart == "each-trial" or _starts_server(plan, steps, step):
            warm.difference_update({key for key in warm if key[:3] == step.server.key})
        if plan.warmup_s > 0 and step.warm_key not in warm:
            steps.extend([step.warm_up(plan.warmup_s)] * warmups)
        warm.add(step.warm_key)
        steps.append(step)
        return glance(step)

    drive(plan, take, seed=seed)
    return tuple(steps)


def _starts_server(plan: Plan, before: Sequence[Step], step: Step) -> bool:
    """Whether the server is started for this step, after the steps `before`."""
    if step.server.start is None:
        return False
    if plan.is_one_alive:
        return not before or before[-1].server.key != step.server.key
    return all(other.server.key != step.server.key for other in before)


def planned_seconds(plan: Plan, steps: tuple[Step, ...]) -> float | None:
    """Time under load, rests, pauses and starts; None where trials have a number of requests.

    Installing servers, and waiting for sockets in TIME_WAIT, come on top.
    """
    durations = [step.duration_s for step in steps if step.duration_s is not None]
    if len(durations) < len(steps):
        return None
    pauses = max(len(steps) - 1, 0) * plan.rest_s + len(steps) * BETWEEN_S
    return sum(durations) + pauses + _count_starts(plan, steps) * START_S


def _count_starts(plan: Plan, steps: tuple[Step, ...]) -> int:
    keys = [step.server.key for step in steps if step.server.start and not step.is_warmup]
    if plan.restart == "each-trial":
        return len(keys)
    if plan.is_one_alive:
        return sum(1 for _ in itertools.groupby(keys))
    return len(set(keys))
