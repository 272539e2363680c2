"""From a plan to its trials before any has run: what will happen, and how long it takes.

And which load tool can carry it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from loadsheet_agent.errors import PlanError, UsageError
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.schedule import drive
from loadsheet_agent.plan.server_spec import ServerKey
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.tools import FoundTool, choose
from loadsheet_agent.tools.base import Glance, LoadPoint

TRIALS_LIMIT = 5000  # what the service takes in one run


def expand(plan: Plan, seed: int = 0) -> tuple[Step, ...]:
    """All trials in the order they run, warm-ups included; the fewest of an adaptive plan.

    A warm-up precedes a server's first trial at each load point, and every trial when the
    server is restarted for it, because a fresh process is cold again.

    Raises PlanError for more trials than a run may have.
    """
    if plan.max_rate is not None:
        return _expand(plan, seed, _model(plan.max_rate.start_rate))
    return _expand(plan, seed, lambda _: Glance(throughput_rps=1.0))


def expand_most(plan: Plan, seed: int = 0) -> tuple[Step, ...]:
    """As `expand`, but the most trials the plan can take."""
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
        return max((_expand(plan, seed, _model(rate)) for rate in guesses), key=len)
    return _expand(plan, seed, lambda step: Glance(throughput_rps=1e9 if step.repeat % 2 else 1.0))


def _model(rate: float) -> Callable[[Step], Glance]:
    """A server that keeps every limit up to one rate, to see how long a search would take."""

    def glance(step: Step) -> Glance:
        is_kept = step.rate_rps is not None and step.rate_rps <= rate
        return Glance(step.rate_rps, 0.0, 0.0 if is_kept else 1.0)

    return glance


def _expand(plan: Plan, seed: int, glance: Callable[[Step], Glance]) -> tuple[Step, ...]:
    steps: list[Step] = []
    warm: set[tuple[object, ...]] = set()
    running = _Running(plan)

    def take(step: Step) -> Glance:
        if len(steps) >= TRIALS_LIMIT:
            raise PlanError(
                f"the plan makes more than {TRIALS_LIMIT} trials, warm-ups included; split it."
            )
        if running.starts(step):
            warm.difference_update({key for key in warm if key[:3] == step.server.key})
        if plan.warmup_s > 0 and step.warm_key not in warm:
            steps.extend([step.warm_up(plan.warmup_s)] * plan.least_warmups)
        warm.add(step.warm_key)
        steps.append(step)
        return glance(step)

    drive(plan, take, seed=seed)
    return tuple(steps)


class _Running:
    """Which servers run while steps are carried out in their order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._keys: set[ServerKey] = set()
        self._is_warming_up = False

    def starts(self, step: Step) -> bool:
        """Whether the server is started for the next step, which is carried out."""
        is_first, self._is_warming_up = not self._is_warming_up, step.is_warmup
        key = step.server.key
        is_new = key not in self._keys or (self._plan.restart == "each-trial" and is_first)
        self._keys = {key} if self._plan.is_one_alive else {*self._keys, key}
        return is_new and step.server.start is not None


def count_starts(plan: Plan, steps: Iterable[Step]) -> Counter[ServerKey]:
    """How often each server is started for these steps."""
    running = _Running(plan)
    return Counter(step.server.key for step in steps if running.starts(step))


def choose_tool(plan: Plan, paths: Mapping[str, str]) -> FoundTool:
    """The load tool that can do every load point of the plan, warm-ups included.

    Raises PlanError where no load tool can, ToolMissingError where none of them is installed.
    """
    chosen = choose(plan.load.tool, planned_points(plan), paths)
    if plan.max_rate is not None and not chosen.tool.tells_p99:
        raise UsageError(
            f"{chosen.tool.name} does not report the p99 that [max_rate] limits; use wrk2, "
            "vegeta or k6."
        )
    return chosen


def planned_points(plan: Plan) -> list[LoadPoint]:
    """Every load point of the plan, with the servers' addresses as they are written."""
    steps = (*expand(plan), *(expand_most(plan) if plan.max_rate else ()))
    return [step.load_point(step.server.url, plan.load.threads) for step in steps]
