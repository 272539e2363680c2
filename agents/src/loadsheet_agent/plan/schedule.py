"""Which trial comes next: lanes that take turns, each deciding by what it has seen.

A lane is one server at one load point (or, for a search, one server): a generator that says
which trial it wants and is told how it went. Turns go over all lanes, so that a disturbance of
the machine hits one repeat of every server and not all repeats of one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from dataclasses import dataclass

from loadsheet_agent.plan.intervals import interval_share
from loadsheet_agent.plan.plan import MaxRateSpec, Plan, ServerSpec, WorkloadSpec
from loadsheet_agent.tools import Glance

# A search ends after so many trials even when its answers contradict each other.
MOST_SEARCH_TRIALS = 60
MOST_CONFIRMATIONS = 5
# Below this share of the offered rate the server did not keep up, whatever its latencies say.
LEAST_ACHIEVED = 0.98

SEARCH, CONFIRM, MEASURE = "search", "confirm", "measure"


@dataclass(frozen=True)
class Shot:
    """One trial a lane wants. `phase` is measure, search or confirm."""

    server: ServerSpec
    workload: WorkloadSpec
    connections: int
    rate_rps: float | None
    duration_s: float | None
    requests: int | None
    repeat: int
    phase: str = MEASURE

    @property
    def key(self) -> tuple[object, ...]:
        """What tells this trial from all others of a plan."""
        point = (self.connections, self.rate_rps)
        return (self.server.name, self.workload.name, *point, self.phase, self.repeat)

    @property
    def warm_key(self) -> tuple[object, ...]:
        """What a warm-up is good for: a load point, or a whole search."""
        point = (self.connections, self.rate_rps) if self.phase == MEASURE else ()
        return (self.server.name, self.workload.name, *point)


Lane = Generator[Shot, Glance, None]
Take = Callable[[Shot], Glance]
# What a search of one server came to: told by its lane when it ends.
Found = Callable[[ServerSpec, WorkloadSpec, "float | None", bool], None]


def drive(plan: Plan, take: Take, *, seed: int = 0, found: Found = lambda *_: None) -> None:
    """Let the lanes take turns until all have ended; `take` carries out one trial."""
    draw = random.Random(seed)  # noqa: S311  an order, not a secret
    waiting = [(lane, next(lane)) for lane in _lanes(plan, found)]
    while waiting:
        turn = list(waiting)
        if plan.order == "randomised":
            draw.shuffle(turn)
        following = {}
        for lane, shot in turn:
            glance = take(shot)
            try:
                following[id(lane)] = lane.send(glance)
            except StopIteration:
                continue
        # In the plan's own order again, so that a turn depends on nothing but the seed.
        waiting = [(lane, following[id(lane)]) for lane, _ in waiting if id(lane) in following]


def _lanes(plan: Plan, found: Found) -> list[Lane]:
    lanes: list[Lane] = []
    for workload in plan.workloads:
        if plan.max_rate is not None:
            for server in plan.servers:
                lanes.append(_search(plan, plan.max_rate, server, workload, found))
            continue
        for connections, rate in _points(plan):
            for server in plan.servers:
                lanes.append(_repeats(plan, server, workload, connections, rate))
    return lanes


def _points(plan: Plan) -> list[tuple[int, float | None]]:
    load = plan.load
    if load.rates:
        return [(load.connections[0], rate) for rate in load.rates]
    return [(connections, None) for connections in load.connections]


def _repeats(
    plan: Plan, server: ServerSpec, workload: WorkloadSpec, connections: int, rate: float | None
) -> Lane:
    """The plan's repeats; an adaptive plan goes on until they agree well enough."""
    seen: list[float] = []
    most = plan.adaptive.most_repeats if plan.adaptive else plan.repeats
    for repeat in range(1, most + 1):
        glance = yield Shot(
            server=server,
            workload=workload,
            connections=connections,
            rate_rps=rate,
            duration_s=plan.load.duration_s,
            requests=plan.load.requests,
            repeat=repeat,
        )
        if glance.throughput_rps:
            seen.append(glance.throughput_rps)
        if plan.adaptive and repeat >= max(plan.repeats, 3):
            width = interval_share(seen)
            if width is not None and width <= plan.adaptive.interval:
                return


def _search(
    plan: Plan, wanted: MaxRateSpec, server: ServerSpec, workload: WorkloadSpec, found: Found
) -> Lane:
    """First a search by short trials, then trials of full length that confirm what it found.

    Doubling and halving bracket the rate, halving the bracket narrows it, as Nighthawk's adaptive
    load controller does: github.com/envoyproxy/nighthawk, docs/root/adaptive_load_controller.md
    """

    def shot(rate: float, repeat: int, phase: str, duration_s: float | None) -> Shot:
        connections = plan.load.connections[0]
        return Shot(server, workload, connections, rate, duration_s, None, repeat, phase)

    low: float | None = None
    high: float | None = None
    rate: float | None = float(round(wanted.start_rate))
    for number in range(1, MOST_SEARCH_TRIALS + 1):
        if rate is None:
            break
        glance = yield shot(rate, number, SEARCH, wanted.search_duration_s)
        low, high = (rate, high) if is_met(wanted, glance, rate) else (low, rate)
        rate = next_rate(wanted, low, high)
    for attempt in range(MOST_CONFIRMATIONS):
        if low is None or low < 1:
            break
        good = True
        for repeat in range(1, plan.repeats + 1):
            glance = yield shot(low, repeat, CONFIRM, plan.load.duration_s)
            good = is_met(wanted, glance, low)
            if not good:
                break
        if good:
            found(server, workload, low, True)
            return
        if attempt + 1 < MOST_CONFIRMATIONS:
            low = float(int(low * (1 - wanted.precision)))
    found(server, workload, low, False)


def is_met(wanted: MaxRateSpec, glance: Glance, rate: float) -> bool:
    """Whether a trial kept the rate within the limits; what is unknown is not met."""
    known = (glance.throughput_rps, glance.p99_s, glance.error_rate)
    if any(figure is None for figure in known):
        return False
    throughput, p99_s, error_rate = (float(figure or 0) for figure in known)
    return (
        throughput >= LEAST_ACHIEVED * rate
        and p99_s * 1000 <= wanted.p99_ms
        and error_rate <= wanted.error_rate
    )


def next_rate(wanted: MaxRateSpec, low: float | None, high: float | None) -> float | None:
    """Where to look next between a rate that is met and one that is not; None when done."""
    if low is None:
        half = float(int((high or 0) / 2))
        return half if half >= 1 else None
    if high is None:
        return None if low >= wanted.most_rate else min(low * 2, float(int(wanted.most_rate)))
    middle = float(int((low + high) / 2))
    narrow = (high - low) / low <= wanted.precision or middle in (low, high)
    return None if narrow else middle
