"""From a plan to its trials before any has run: what will happen, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.schedule import drive
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.tools import Glance

TRIALS_LIMIT = 5000  # what the service takes in one run
# Between two trials: starting the tool, reading what it wrote, making it durable.
BETWEEN_S = 0.3


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

    def take(step: Step) -> Glance:
        if len(steps) >= TRIALS_LIMIT:
            raise PlanError(
                f"the plan makes more than {TRIALS_LIMIT} trials, warm-ups included; split it."
            )
        if plan.warmup_s > 0 and (plan.restart == "each-trial" or step.warm_key not in warm):
            steps.append(step.warm_up(plan.warmup_s))
        warm.add(step.warm_key)
        steps.append(step)
        return glance(step)

    drive(plan, take, seed=seed)
    return tuple(steps)


def planned_seconds(plan: Plan, steps: tuple[Step, ...]) -> float | None:
    """Time under load, rests and pauses; None where trials have a number of requests."""
    durations = [step.duration_s for step in steps if step.duration_s is not None]
    if len(durations) < len(steps):
        return None
    pauses = max(len(steps) - 1, 0) * plan.rest_s + len(steps) * BETWEEN_S
    return sum(durations) + pauses
