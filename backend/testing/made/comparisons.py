"""Comparisons, honest and with a planted mistake, as the rules over several series read them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace
from numpy.random import Generator

from backend.runs.checks import ComparedPoint, Round, at_ceiling, check_comparison

LOADS = (1, 4, 16, 64)
ROUNDS = 5
DAY = datetime(2026, 3, 1, tzinfo=UTC)
Points = list[ComparedPoint]


def fired(points: Sequence[ComparedPoint]) -> set[str]:
    """The ids of the checks that fire."""
    largest = [point for point in points if point.connections == LOADS[-1]]
    ceiling = {"common-ceiling"} if at_ceiling(largest) else set()
    return set(check_comparison(points)) | ceiling


def make_comparison(draw: Generator) -> Points:
    """Two to eight servers of different speed, measured in turn within a day, in random order."""
    count = int(draw.integers(2, 9))
    orders = [draw.permutation(count) for _ in range(ROUNDS)]
    points = []
    for server in range(count):
        limit, half = 10 ** draw.uniform(3, 4.5), draw.uniform(2, 12)
        turns: dict[Round, int] = {
            ("run", turn): int(count * turn + order[server]) for turn, order in enumerate(orders)
        }
        for load in LOADS:
            rate = limit * load / (load + half) * draw.normal(1, 0.01)
            points.append(
                ComparedPoint(
                    series=server,
                    server=f"server {server}",
                    place=load,
                    axis_place=load,
                    connections=load,
                    throughput_rps=rate,
                    trial_s=10.0,
                    requests=rate * 10,
                    threads=frozenset({4}),
                    warmed_up=True,
                    backlog="511",
                    measured=(DAY, DAY + timedelta(hours=3)),
                    turns=dict(turns),
                )
            )
    return points


def _of_first(
    change: Callable[[ComparedPoint, Generator], ComparedPoint],
) -> Callable[[Generator], Points]:
    """Comparisons with a change of one server."""
    return lambda draw: [
        change(point, draw) if point.series == 0 else point for point in make_comparison(draw)
    ]


def _cap(draw: Generator) -> Points:
    """Three of the servers at the limit of the link, the others below it."""
    points = make_comparison(draw)
    extra = [replace(point, series=n, server=f"server {n}") for n in (8, 9, 10) for point in points]
    capped = [
        replace(point, throughput_rps=40_000 * draw.normal(1, 0.001))
        for point in extra
        if point.connections == LOADS[-1]
    ]
    return points + capped


def _move_back(draw: Generator) -> Points:
    day = DAY - timedelta(days=int(draw.integers(35, 400)))
    return _of_first(lambda point, _: replace(point, measured=(day, day)))(draw)


def _lengthen(point: ComparedPoint, _: Generator) -> ComparedPoint:
    return replace(point, trial_s=300.0, requests=max((point.requests or 0) * 30, 1_000_000.0))


def _fix_order(draw: Generator) -> Points:
    points = make_comparison(draw)
    places = {point.server: place for place, point in enumerate(points)}
    return [
        replace(
            point,
            turns={("run", turn): turn * 100 + places[point.server] for turn in range(ROUNDS)},
        )
        for point in points
    ]


# By the id of the check: the mistake in words, and how it is made.
COMPARISON_MISTAKES: dict[str, tuple[str, Callable[[Generator], Points]]] = {
    "common-ceiling": ("three servers at one limit, others below it", _cap),
    "flat-over-load": (
        "64 requests/s at every load",
        _of_first(lambda point, draw: replace(point, throughput_rps=64 * draw.normal(1, 0.002))),
    ),
    "far-apart": ("one server measured 35 to 400 days before", _move_back),
    "unequal-length": ("trials of 300 s beside trials of 10 s", _of_first(_lengthen)),
    "unequal-threads": (
        "one thread beside four",
        _of_first(lambda point, _: replace(point, threads=frozenset({1}))),
    ),
    "unequal-warmup": (
        "one server without warm-up",
        _of_first(lambda point, _: replace(point, warmed_up=False)),
    ),
    "no-common-load": (
        "one server at other numbers of connections",
        _of_first(lambda point, _: replace(point, connections=4_000 + (point.connections or 0))),
    ),
    "unequal-backlog": (
        "a backlog of 50 beside 511",
        _of_first(lambda point, _: replace(point, backlog="50")),
    ),
    "fixed-order": ("five rounds in one order", _fix_order),
}
