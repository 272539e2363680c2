"""Which trial comes next: lanes that take turns, each deciding by the trials it has seen.

A lane is one load point with all its servers (or, for a search, all searches of one workload): a
generator that yields rounds, one trial of each server, and receives the load tool's figures. So the
trials of a round lie side by side: a disturbance of the machine hits one repeat of every server,
and the servers can be compared round by round.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Optional

from loadsheet_agent.plan.intervals import FIRST_REPEATS, repeats_needed
from loadsheet_agent.plan.plan import MaxRateSpec, Plan
from loadsheet_agent.plan.server_spec import ServerSpec
from loadsheet_agent.plan.steps import CONFIRM, SEARCH, Step
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.tools.base import Glance

# A search ends after so many trials even when its results contradict each other.
MOST_SEARCH_TRIALS = 60
MOST_CONFIRMATIONS = 5
# Below this share of the offered rate the server did not keep up, whatever its latencies are.
LEAST_ACHIEVED = 0.98

Round = tuple[Step, ...]
Lane = Generator[Round, Sequence[Glance], None]
Search = Generator[Step, Glance, None]
# Connections and offered rate.
LoadKey = tuple[int, Optional[float]]
TakeStep = Callable[[Step], Glance]
# Receives the result of a search: server, workload, rate and whether trials confirmed it.
NoteRate = Callable[[ServerSpec, WorkloadSpec, "float | None", bool], None]
# Receives the trials that the first repeats of an adaptive plan have shown to be needed.
NoteMore = Callable[[Round], None]


def drive(
    plan: Plan,
    take: TakeStep,
    *,
    seed: int = 0,
    note_rate: NoteRate = lambda *_: None,
    note_more: NoteMore = lambda _: None,
) -> None:
    """Let the lanes take turns until all have ended; `take` carries out one trial.

    The seed decides every order, so the same seed and figures give the same trials again.
    """
    draw = random.Random(seed)  # noqa: S311  an order, not a secret
    lanes = _lanes(plan, note_rate, note_more)
    orders = [_BalancedOrder(draw) for _ in lanes]
    waiting = {number: next(lane) for number, lane in enumerate(lanes)}
    while waiting:
        turn = sorted(waiting)
        if plan.order == "randomised":
            draw.shuffle(turn)
        for number in turn:
            steps = waiting.pop(number)
            glances = {step.key: take(step) for step in orders[number].arrange(steps)}
            try:
                waiting[number] = lanes[number].send([glances[step.key] for step in steps])
            except StopIteration:
                continue


class _BalancedOrder:
    """The order of the servers in a round: drawn for one round, reversed for the next.

    So over both rounds every server has the same mean place, and a steady drift of the machine
    cancels out.
    """

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._places: dict[tuple[object, ...], float] | None = None

    def arrange(self, steps: Round) -> Round:
        """The trials of a round in the order to take them."""
        is_reversed = self._places is not None
        places = self._places or {step.server.key: self._draw.random() for step in steps}
        self._places = None if is_reversed else places
        return tuple(sorted(steps, key=lambda step: places[step.server.key], reverse=is_reversed))


def _lanes(plan: Plan, note_rate: NoteRate, note_more: NoteMore) -> list[Lane]:
    lanes: list[Lane] = []
    for workload in plan.workloads:
        if plan.max_rate is not None:
            limits = plan.max_rate
            searches = [
                _Search(plan, limits, server, server.adapt(workload), note_rate)
                for server in plan.servers
                if server.takes(workload)
            ]
            lanes.append(_together([search.lane() for search in searches]))
            continue
        for (connections, rate), servers in _load_points(plan, workload).items():
            lanes.append(_Repeats(plan, servers, workload, connections, rate, note_more).lane())
    return lanes


def _load_points(plan: Plan, workload: WorkloadSpec) -> dict[LoadKey, list[ServerSpec]]:
    """The load points of a workload, each with the servers that are measured there."""
    points: dict[LoadKey, list[ServerSpec]] = {}
    for server in plan.servers:
        if server.takes(workload):
            for point in _server_points(plan, server):
                points.setdefault(point, []).append(server)
    return points


def _server_points(plan: Plan, server: ServerSpec) -> list[LoadKey]:
    rates = server.load.rates or plan.load.rates
    if rates:
        return [(plan.load.connections[0], rate) for rate in rates]
    return [(connections, None) for connections in server.load.connections or plan.load.connections]


def first_repeats(plan: Plan) -> int:
    """Repeats that every load point gets."""
    return max(plan.repeats, FIRST_REPEATS) if plan.adaptive else plan.repeats


@dataclass(frozen=True)
class _Repeats:
    """The repeats of one load point. In an adaptive plan, the first of them fix how many follow.

    All servers get as many rounds as the noisiest of them needs: servers are compared round by
    round, and a server whose first repeats agree by chance is not left with these alone.
    """

    plan: Plan
    servers: Sequence[ServerSpec]
    workload: WorkloadSpec
    connections: int
    rate_rps: float | None
    note_more: NoteMore

    def lane(self) -> Lane:
        first, adaptive = first_repeats(self.plan), self.plan.adaptive
        rounds = []
        for repeat in range(1, first + 1):
            glances = yield self._round(repeat, first)
            rounds.append(glances)
        if adaptive is None:
            return
        needed = (
            repeats_needed([glance.throughput_rps or 0.0 for glance in glances], adaptive.interval)
            for glances in zip(*rounds)
        )
        total = min(max(needed), adaptive.most_repeats)
        further = range(first + 1, total + 1)
        self.note_more(tuple(step for repeat in further for step in self._round(repeat, total)))
        for repeat in further:
            yield self._round(repeat, total)

    def _round(self, repeat: int, repeats: int) -> Round:
        return tuple(self._step(server, repeat, repeats) for server in self.servers)

    def _step(self, server: ServerSpec, repeat: int, repeats: int) -> Step:
        own, load = server.load, self.plan.load
        has_length = own.duration_s is not None or own.requests is not None
        return Step(
            server=server,
            workload=server.adapt(self.workload),
            connections=self.connections,
            rate_rps=self.rate_rps,
            duration_s=own.duration_s if has_length else load.duration_s,
            requests=own.requests if has_length else load.requests,
            repeat=repeat,
            repeats=repeats,
        )


def _together(searches: Sequence[Search]) -> Lane:
    """Searches as one lane: a round has the next trial of each search that goes on."""
    waiting = [(search, next(search)) for search in searches]
    while waiting:
        glances = yield tuple(step for _, step in waiting)
        following = []
        for (search, _), glance in zip(waiting, glances):
            try:
                following.append((search, search.send(glance)))
            except StopIteration:
                continue
        waiting = following


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

    def lane(self) -> Search:
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
        """The highest rate that was met; None if no rate was met."""
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
