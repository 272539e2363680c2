"""From a plan to its trials before any has run: what will happen, and how long it takes.

And which load tool can carry it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    A warm-up precedes the first trial of each process of a server at each load point, because a
    fresh process is cold again. Where `restart` is "auto", no server is restarted:
    `run.restarts` says what to expect.

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
    expansion = _Expansion(plan)

    def take(step: Step) -> Glance:
        expansion.add(step)
        return glance(step)

    drive(plan, take, seed=seed)
    return tuple(expansion.steps)


def expand_further(plan: Plan, repeats: Sequence[Step]) -> tuple[Step, ...]:
    """Further repeats of a load point that was measured before, with the warm-ups they need."""
    expansion = _Expansion(plan)
    for step in repeats:
        if step.repeat == repeats[0].repeat:
            expansion.add(step)
    before = len(expansion.steps)
    for step in repeats:
        expansion.add(step)
    return tuple(expansion.steps[before:])


class _Expansion:
    """Trials in the order they run, each after the warm-ups that it needs."""

    def __init__(self, plan: Plan) -> None:
        self.steps: list[Step] = []
        self._plan = plan
        self._warm: set[tuple[object, ...]] = set()
        self._running = _Running(plan)

    def add(self, step: Step) -> None:
        """Raises PlanError for more trials than a run may have."""
        if self._running.starts(step):
            self._warm = {key for key in self._warm if key[:3] != step.server.key}
        if self._plan.warmup_s > 0 and step.warm_key not in self._warm:
            self.steps.extend([step.warm_up(self._plan.warmup_s)] * self._plan.least_warmups)
        self._warm.add(step.warm_key)
        self.steps.append(step)
        if len(self.steps) > TRIALS_LIMIT:
            raise PlanError(
                f"the plan makes more than {TRIALS_LIMIT} trials, warm-ups included; split it."
            )


class _Running:
    """Which servers run while steps are carried out in their order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._keys: set[ServerKey] = set()
        # Load points that the running process of each server gave a result for.
        self._measured: dict[ServerKey, set[tuple[object, ...]]] = {}
        self._is_warming_up = False

    def starts(self, step: Step) -> bool:
        """Whether the server is started for the next step, which is carried out."""
        is_first, self._is_warming_up = not self._is_warming_up, step.is_warmup
        key = step.server.key
        is_new = key not in self._keys or self._is_restarted(step, is_first=is_first)
        self._keys = {key} if self._plan.is_one_alive else {*self._keys, key}
        if is_new:
            self._measured[key] = set()
        if step.result_key is not None and not step.is_warmup:
            self._measured[key].add(step.result_key)
        return is_new and step.server.start is not None

    def _is_restarted(self, step: Step, *, is_first: bool) -> bool:
        if self._plan.restart == "each-repeat":
            return step.result_key in self._measured[step.server.key]
        return self._plan.restart == "each-trial" and is_first


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
