"""Rules over the points of a comparison: what several series have in common, or do not.

Among them are outputs that are the same, byte for byte.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from math import factorial
from operator import attrgetter

from msgspec import Struct

from backend.runs.checks.check import BOARDS, Check
from backend.stats.thresholds import CEILING_SERVERS, CEILING_SHARE, percent

# If series are measured further apart, machines, kernels and neighbours may have changed.
FAR_APART = timedelta(days=30)
# Between the longest and the shortest trials.
UNEQUAL_LENGTHS = 2.0
# A throughput that changes less over at least this many loads does not depend on the load.
FLAT_SHARE = 0.02
FLAT_LOADS = 3
FLAT_RANGE = 4
# From so many rounds on, it is no chance that one server came after the other.
LEAST_ROUNDS = 3
# A shuffled order is the same in every round with at most this chance.
ORDER_CHANCE = 0.07


# The run and its repeat.
Round = tuple[Hashable, int]

OUTPUT_CHECKS = (
    Check(
        id="duplicate",
        severity="warning",
        title="Same output as another trial",
        explanation="Trials of one server and load point have the same output: one file was "
        "uploaded again, also with other line ends or in a code fence, or several trials name one "
        "file. The output counts once, so "
        "there are fewer trials than it seems. Two measurements of a few requests can print the "
        "same text by chance; counting one of them changes no figure, and the interval stays wide.",
        remedy="Upload the output of each trial as a file of its own; delete a run that holds only "
        "copies.",
    ),
    Check(
        id="same-output",
        severity="error",
        title="One output under several names",
        explanation="The same output, byte for byte, is recorded for several servers, versions, "
        "hosts or loads. It was measured once, so all but one of these names are wrong.",
        remedy="Delete the runs that have the wrong name.",
        withholds="all",
    ),
)


class ComparedPoint(Struct, frozen=True, kw_only=True, gc=False):
    """One series at one load, as the rules over a comparison read it. None is unknown.

    `place`: workload and load, equal for the points that are compared with each other.
    `axis_place`: the place on the axis, which may be a version or a date. `turns`: the position in
    its run of the trial of each round, by run and round.
    """

    series: Hashable
    server: str
    place: Hashable
    workload: Hashable = None
    axis_place: Hashable = None
    # None in an open loop.
    connections: int | None = None
    throughput_rps: float | None = None
    # Of a usual trial.
    trial_s: float | None = None
    requests: float | None = None
    threads: frozenset[int] = frozenset()
    # Whether warm-ups came before its trials.
    warmed_up: bool | None = None
    # How many connections wait until the server accepts them, as its settings say.
    backlog: str | None = None
    measured: tuple[datetime, datetime] | None = None
    turns: Mapping[Round, float] = {}


def check_comparison(points: Sequence[ComparedPoint]) -> dict[str, list[ComparedPoint]]:
    """The ids of the rules that fire, each with the points they fire on.

    `common-ceiling` is asked apart, of the points at the largest load (`at_ceiling`).
    """
    by_place = _by(points, lambda point: point.place)
    # Along an axis of versions, dates differ as they must.
    by_axis_place = _by(points, lambda point: (point.place, point.axis_place))
    by_series = _by(points, lambda point: point.series)
    fired = {
        "flat-over-load": _gather(_flat, by_series),
        "far-apart": _gather(_far_apart, by_axis_place),
        "unequal-length": _gather(_unequal_length, by_place),
        "unequal-threads": _gather(lambda part: _unequal(part, attrgetter("threads")), by_place),
        "unequal-warmup": _gather(_unequal_warmup, by_place),
        "no-common-load": _gather(_no_common_load, _by(points, lambda point: point.workload)),
        # At any load, since a queue belongs to the server.
        "unequal-backlog": _unequal(points, attrgetter("backlog")),
        "fixed-order": _gather(_fixed_order, by_place),
    }
    return {id_: members for id_, members in fired.items() if members}


Rule = Callable[[Sequence[ComparedPoint]], Sequence[ComparedPoint]]


def _by(
    points: Iterable[ComparedPoint], key: Callable[[ComparedPoint], Hashable]
) -> list[list[ComparedPoint]]:
    parts: dict[Hashable, list[ComparedPoint]] = defaultdict(list)
    for point in points:
        parts[key(point)].append(point)
    return list(parts.values())


def _gather(rule: Rule, parts: Iterable[Sequence[ComparedPoint]]) -> list[ComparedPoint]:
    return [point for part in parts for point in rule(part)]


def at_ceiling(points: Sequence[ComparedPoint]) -> list[ComparedPoint]:
    """The fastest points, where three or more servers are at most 1 % below the fastest.

    Slower servers do not speak against a shared limit: they do not reach it.
    """
    rates = [point.throughput_rps for point in points if point.throughput_rps]
    if not rates:
        return []
    least = max(rates) / (1 + CEILING_SHARE)
    fastest = [point for point in points if (point.throughput_rps or 0.0) >= least]
    servers = {point.server for point in fastest}
    return fastest if len(servers) >= CEILING_SERVERS else []


def _flat(points: Sequence[ComparedPoint]) -> Sequence[ComparedPoint]:
    """All points of a series in a closed loop whose throughput is the same at every load."""
    measured = [point for point in points if point.connections and point.throughput_rps]
    loads = {point.connections or 0 for point in measured}
    if len(loads) < FLAT_LOADS or _ratio(loads) < FLAT_RANGE:
        return []
    return measured if _ratio(list(map(_rate, measured))) - 1 <= FLAT_SHARE else []


def _rate(point: ComparedPoint) -> float:
    return point.throughput_rps or 0.0


def _far_apart(points: Sequence[ComparedPoint]) -> Sequence[ComparedPoint]:
    spans = [point.measured for point in points if point.measured is not None]
    if len({point.series for point in points}) < 2 or len(spans) < 2:
        return []
    gap = max(first for first, _ in spans) - min(last for _, last in spans)
    return points if gap > FAR_APART else []


def _unequal_length(points: Sequence[ComparedPoint]) -> Sequence[ComparedPoint]:
    """Trials that are equal neither in time nor in requests: a plan keeps one of them equal."""
    lengths = [point.trial_s for point in points if point.trial_s]
    counts = [point.requests for point in points if point.requests]
    if len(lengths) < 2 or len(counts) < 2:
        return []
    is_unequal = min(_ratio(lengths), _ratio(counts)) >= UNEQUAL_LENGTHS
    return points if is_unequal else []


def _ratio(values: Collection[float]) -> float:
    return max(values) / min(values)


def _unequal(
    points: Iterable[ComparedPoint], value: Callable[[ComparedPoint], int | None]
) -> list[ComparedPoint]:
    """The points of a known value, where they have several."""
    known = [point for point in points if value(point)]
    return known if len(set(map(value, known))) > 1 else []


def _unequal_warmup(points: Sequence[ComparedPoint]) -> Sequence[ComparedPoint]:
    known = [point for point in points if point.warmed_up is not None]
    return known if len({point.warmed_up for point in known}) > 1 else []


def _no_common_load(points: Sequence[ComparedPoint]) -> Sequence[ComparedPoint]:
    """The points of a server that has no number of connections in common with any other."""
    loaded = [point for point in points if point.connections]
    if len({point.server for point in loaded}) < 2:
        return []
    sharing = _servers_that_share_a_load(loaded)
    return [point for point in loaded if point.server not in sharing]


def _servers_that_share_a_load(points: Sequence[ComparedPoint]) -> set[Hashable]:
    measured = {(point.server, point.connections) for point in points}
    servers_at = Counter(load for _, load in measured)
    return {server for server, load in measured if servers_at[load] > 1}


def _fixed_order(points: Sequence[ComparedPoint]) -> Sequence[ComparedPoint]:
    """Points whose trials came in the same order in every round that all of them share.

    Few rounds are enough only where the servers were measured one after the other.
    """
    ordered = [point for point in points if point.turns]
    if len({point.server for point in ordered}) < 2:
        return []
    rounds = set(ordered[0].turns).intersection(*(point.turns for point in ordered[1:]))
    if len({_order(ordered, round_) for round_ in rounds}) != 1:
        return []
    # The number of orders grows very fast: the orders of ten servers are enough to know.
    orders = factorial(min(len(ordered), 10))
    is_chance = orders ** (1 - len(rounds)) > ORDER_CHANCE
    return [] if is_chance and not _came_one_by_one(ordered, rounds) else ordered


def _came_one_by_one(points: Sequence[ComparedPoint], rounds: Collection[Round]) -> bool:
    """Whether all trials of a server came before those of the next one, in each run."""
    rounds_by_run: dict[Hashable, list[Round]] = defaultdict(list)
    for run, repeat in rounds:
        rounds_by_run[run].append((run, repeat))
    return len(rounds) >= LEAST_ROUNDS and all(
        _are_apart([point.turns[round_] for round_ in of_run] for point in points)
        for of_run in rounds_by_run.values()
    )


def _are_apart(turns_by_point: Iterable[Collection[float]]) -> bool:
    spans = sorted((min(turns), max(turns)) for turns in turns_by_point)
    return all(last < first for (_, last), (first, _) in pairwise(spans))


def _order(points: Sequence[ComparedPoint], round_: Round) -> tuple[int, ...]:
    """The positions of the points in the order in which the round measured them."""
    return tuple(sorted(range(len(points)), key=lambda at: points[at].turns[round_]))


COMPARISON_CHECKS = (
    Check(
        id="common-ceiling",
        severity="info",
        title="Different servers reach the same highest throughput",
        explanation=f"Three or more servers are within {percent(CEILING_SHARE)} of the fastest at "
        "the largest load. The load tool, the network or the client host may have been the limit, "
        "and not the servers.",
        remedy="Use a faster client host or several agents, or look at latency at a lower load.",
        source=BOARDS + ": the first eight places of a board were equal",
    ),
    Check(
        id="flat-over-load",
        severity="info",
        title="Throughput is the same at every load",
        explanation="Throughput changes by less than 2 % over at least three loads of a closed "
        "loop. The server was at its limit from the smallest load on, or something else is the "
        "limit: a rate limit, a lock, a proxy or the client.",
        remedy="Measure a smaller load, down to one connection.",
    ),
    Check(
        id="far-apart",
        severity="warning",
        title="Series were measured more than 30 days apart",
        explanation="Machines, kernels and networks change over weeks, so the servers may not be "
        "the cause of the difference.",
        remedy="Measure the servers in one run.",
        is_no_basis=True,
    ),
    Check(
        id="unequal-length",
        severity="warning",
        title="Trials are much longer for one series",
        explanation="The trials of one series last at least twice as long as those of another, and "
        "have at least twice the requests. In short trials, the start is a larger part, and "
        "slow requests are rarer.",
        remedy="Measure every series for the same time, or with the same number of requests.",
    ),
    Check(
        id="unequal-threads",
        severity="warning",
        title="The load tool had different numbers of threads",
        explanation="A load tool with fewer threads may reach its limit before the server does.",
        remedy="Measure every series with the same number of threads.",
    ),
    Check(
        id="unequal-warmup",
        severity="warning",
        title="Only some of the servers were warmed up",
        explanation="Some series had a warm-up before their trials and others had none. Trials "
        "without a warm-up include connecting, cold caches and just-in-time compilation.",
        remedy="Give every series the same warm-up.",
    ),
    Check(
        id="no-common-load",
        severity="warning",
        title="A server has no load in common with the others",
        explanation="No other server was measured with the same number of connections and the same "
        "workload. Throughput and latency depend on the load, so the servers may not be the cause "
        "of the difference.",
        remedy="Measure every server at the same loads.",
        is_no_basis=True,
    ),
    Check(
        id="unequal-backlog",
        severity="warning",
        title="Servers had queues of different length",
        explanation="The setting `backlog` says how many new connections may wait for the server. "
        "A short queue refuses connections at a high load, which looks like a slow server.",
        remedy="Give every server the same backlog, and raise the limit of the kernel "
        "(`net.core.somaxconn`).",
        source="listen(2) of Linux",
    ),
    Check(
        id="fixed-order",
        severity="info",
        title="Servers were always measured in the same order",
        explanation="In every round, the servers came in the same order, or one server was "
        "measured after the other. What one server leaves behind (heat, connections, caches) "
        "always affects the same next server, and a machine that gets slower always affects the "
        "last server.",
        remedy='Measure the servers in turn, with `order = "randomised"` in the plan.',
    ),
)
