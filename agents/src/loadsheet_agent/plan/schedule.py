"""Which trial comes next: lanes that take turns, each deciding by the trials it has seen.

A lane is one server at one load point (or, for a search, one server): a generator that yields the
trial it wants and receives the load tool's figures. Turns go over all lanes, so that a disturbance
of the machine hits one repeat of every server and not all repeats of one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from dataclasses import dataclass

from loadsheet_agent.plan.intervals import interval_share
from loadsheet_agent.plan.plan import MaxRateSpec, Plan, ServerSpec, WorkloadSpec
from loadsheet_agent.plan.steps import CONFIRM, SEARCH, Step
from loadsheet_agent.tools import Glance

# A search ends after so many trials even when its results contradict each other.
MOST_SEARCH_TRIALS = 60
MOST_CONFIRMATIONS = 5
# Below this share of the offered rate the server did not keep up, whatever its latencies are.
LEAST_ACHIEVED = 0.98

Lane = Generator[Step, Glance, None]
TakeStep = Callable[[Step], Glance]
# Receives the result of a search: server, workload, rate and whether trials confirmed it.
NoteRate = Callable[[ServerSpec, WorkloadSpec, "float | None", bool], None]


def drive(
    plan: Plan, take: TakeStep, *, seed: int = 0, note_rate: NoteRate = lambda *_: None
) -> None:
    """Let the lanes take turns until all have ended; `take` carries out one trial."""
    draw = random.Random(seed)  # noqa: S311  an order, not a secret
    waiting = [(lane, next(lane)) for lane in _lanes(plan, note_rate)]
    while waiting:
        turn = list(waiting)
        if plan.order == "randomised":
            draw.shuffle(turn)
        following = {}
        for lane, step in turn:
            glance = take(step)
            try:
                following[id(lane)] = lane.send(glance)
            except StopIteration:
                continue
        # In the plan's order again, so that a turn depends on nothing but the seed.
        waiting = [(lane, following[id(lane)]) for lane, _ in waiting if id(lane) in following]


def _lanes(plan: Plan, note_rate: NoteRate) -> list[Lane]:
    lanes: list[Lane] = []
    for workload in plan.workloads:
        if plan.max_rate is not None:
            for server in plan.servers:
                lanes.append(_Search(plan, plan.max_rate, server, workload, note_rate).lane())
            continue
        for connections, rate in _load_points(plan):
            for server in plan.servers:
                lanes.append(_repeats(plan, server, workload, connections, rate))
    return lanes


def _load_points(plan: Plan) -> list[tuple[int, float | None]]:
    load = plan.load
    if load.rates:
        return [(load.connections[0], rate) for rate in load.rates]
    return [(connections, None) for connections in load.connections]


def _repeats(
    plan: Plan, server: ServerSpec, workload: WorkloadSpec, connections: int, rate: float | None
) -> Lane:
    """The plan's repeats; an adaptive plan goes on until they agree well enough."""
    throughputs: list[float] = []
    most = plan.adaptive.most_repeats if plan.adaptive else plan.repeats
    for repeat in range(1, most + 1):
        glance = yield Step(
            server=server,
            workload=workload,
            connections=connections,
            rate_rps=rate,
            duration_s=plan.load.duration_s,
            requests=plan.load.requests,
            repeat=repeat,
        )
        if glance.throughput_rps:
            throughputs.append(glance.throughput_rps)
        if plan.adaptive and repeat >= max(plan.repeats, 3):
            width = interval_share(throughputs)
            if width is not None and width <= plan.adaptive.interval:
                return


@dataclass(frozen=True)
class _Search:
    """The search for one server: short trials find a rate, trials of full length confirm it.

    Doubling and halving bracket the rate, halving the bracket narrows it, as Nighthawk's adaptive
    load controller does: github.com/envoyproxy/nighthawk, docs/root/adaptive_load_controller.md
    """

    plan: Plan
    limits: MaxRateSpec
    server: ServerSpec
    workload: WorkloadSpec
    note_rate: NoteRate

    def lane(self) -> Lane:
        rate = yield from self._find_rate()
        for attempt in range(MOST_CONFIRMATIONS):
            if rate is None or rate < 1:
                break
            is_confirmed = yield from self._confirm(rate)
            if is_confirmed:
                self.note_rate(self.server, self.workload, rate, True)
                return
            if attempt + 1 < MOST_CONFIRMATIONS:
                rate = float(int(rate * (1 - self.limits.precision)))
        self.note_rate(self.server, self.workload, rate, False)

    def _find_rate(self) -> Generator[Step, Glance, float | None]:
        """The highest rate that was met; None where no rate was met."""
        low: float | None = None
        high: float | None = None
        rate: float | None = float(round(self.limits.start_rate))
        for number in range(1, MOST_SEARCH_TRIALS + 1):
            if rate is None:
                break
            glance = yield self._step(rate, number, SEARCH, self.limits.search_duration_s)
            low, high = (rate, high) if is_met(self.limits, glance, rate) else (low, rate)
            rate = next_rate(self.limits, low, high)
        return low

    def _confirm(self, rate: float) -> Generator[Step, Glance, bool]:
        for repeat in range(1, self.plan.repeats + 1):
            glance = yield self._step(rate, repeat, CONFIRM, self.plan.load.duration_s)
            if not is_met(self.limits, glance, rate):
                return False
        return True

    def _step(self, rate: float, repeat: int, phase: str, duration_s: float | None) -> Step:
        return Step(
            server=self.server,
            workload=self.workload,
            connections=self.plan.load.connections[0],
            rate_rps=rate,
            duration_s=duration_s,
            requests=None,
            repeat=repeat,
            phase=phase,
        )


def is_met(limits: MaxRateSpec, glance: Glance, rate: float) -> bool:
    """Whether a trial kept the rate within the limits; an unknown figure does not meet them."""
    if glance.throughput_rps is None or glance.p99_s is None or glance.error_rate is None:
        return False
    return (
        glance.throughput_rps >= LEAST_ACHIEVED * rate
        and glance.p99_s * 1000 <= limits.p99_ms
        and glance.error_rate <= limits.error_rate
    )


def next_rate(limits: MaxRateSpec, low: float | None, high: float | None) -> float | None:
    """The next rate, between the highest met and the lowest unmet; None when the search is done."""
    if low is None:
        half = float(int((high or 0) / 2))
        return half if half >= 1 else None
    if high is None:
        return None if low >= limits.most_rate else min(low * 2, float(int(limits.most_rate)))
    middle = float(int((low + high) / 2))
    is_narrow = (high - low) / low <= limits.precision or middle in (low, high)
    return None if is_narrow else middle
