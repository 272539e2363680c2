"""Which server to take, if a comparison of servers over loads has a clear winner."""

from collections.abc import Mapping
from itertools import takewhile

from backend.analysis.compare.beside import opposed_shares
from backend.analysis.compare.capacity import brief_limit_doubt
from backend.analysis.compare.failures import unknown_failures_text
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import Headline, explain_only
from backend.analysis.compare.other_loads import OtherLoad
from backend.analysis.compare.panels import Panel
from backend.analysis.compare.ranking import Ranking, Row
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.replication import within_text
from backend.analysis.grouping.measure_texts import measure_text
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.analysis.query.field import number_text
from backend.analysis.query.metrics import METRICS, RATE, RATES, TAIL, Metric
from backend.analysis.query.units import at_place, load_text, place_text, short_figure_text
from backend.stats import Better
from backend.stats.comparison import Comparison


def recommend(gathered: Gathered, panel: Panel) -> Headline | None:
    """`Take haproxy 3.0.4 for up to 256 connections: 93,500 req/s at p99 41 ms, in this run`, and
    where others are ahead. The margin says by how much, or that it alone keeps the limit.

    None if no server is clearly ahead, if the server that is ahead is clearly worse by throughput
    or p99, or if something other than servers is compared.
    """
    ranking = panel.ranking
    if ranking is None or not gathered.grouping.x_is_load or not _decides(gathered.metric):
        return None
    winner = _winner(panel, ranking)
    sweeps = {sweep.group.id: sweep for sweep in gathered.sweeps}
    if winner is None or not _is_of_servers(sweeps, ranking):
        return None
    figures = f"{_figures_text(winner.entrant.point, gathered.metric)}{_limit_text(winner)}"
    figures += unknown_failures_text(winner)
    reach = _reach(gathered, panel, ranking)
    scope = _scope_text(ranking, winner)
    sentence = f"Take {winner.entrant.label} {reach}: {figures}{f', {scope}' if scope else ''}"
    if panel.crossing is not None:
        sentence = f"{sentence}; {panel.crossing.text(names_both=False)}"
    only = explain_only(ranking, gathered.grouping.x)
    return Headline(sentence, only or panel.headline.below(scope))


def _scope_text(ranking: Ranking, winner: Row) -> str | None:
    """Of which runs that is said; None if it is said of other runs too."""
    if ranking.contest is not None:
        ratio = ranking.contest.ratio
        return ratio.scope if ratio.is_within_runs else None
    # A limit chose it: what it is said of is its own p99.
    sample = winner.entrant.sample(TAIL)
    if sample is None or sample.units.unit == "run":
        return None
    return within_text(len(sample.units.runs))


def _decides(metric: Metric) -> bool:
    """Whether the best server by this metric is the server to take."""
    return metric.id in RATES or (metric.group == "latency" and metric.id != "max")


def _winner(panel: Panel, ranking: Ranking) -> Row | None:
    """The first row, where it is beyond noise and threshold ahead of every other that is ranked.

    Where the limit leaves one row of several, that row. None if another series may keep the limit
    too, and may be better: its p99 is unknown, or close to the limit.
    """
    is_opposed = panel.beside is not None and panel.beside.is_opposed
    if ranking.unknown_limits or ranking.limit_rivals or is_opposed:
        return None
    if len(ranking.ranked) == 1:
        is_taken = any(row.over_limit for row in ranking.rows)
    else:
        is_taken = ranking.is_led_beyond_doubt
    return ranking.ranked[0] if is_taken else None


def _is_of_servers(sweeps: Mapping[str, Sweep], ranking: Ranking) -> bool:
    """Whether the first two rows are different servers, versions or configurations."""
    first, second, *_ = (sweeps[row.entrant.series].group.first.series for row in ranking.rows)
    return first.server != second.server


def _reach(gathered: Gathered, panel: Panel, ranking: Ranking) -> str:
    """From which load on no series is ahead of the winner: `for up to 256 connections` if that is
    every load below, `from 64 to 256 connections`, or `at …`.

    The loads are asked one after the other, downwards, and the first that is open ends the reach.
    So the whole statement is as certain as each of its parts.
    """
    axis, others = gathered.grouping.x, {each.load: each for each in panel.others}
    x = load_of(ranking.ranked[0].entrant.point)
    lower = sorted({load for point in gathered.points if (load := load_of(point)) < x})
    # Beside what is said of other loads, these are parts of the same statement.
    yardstick = gathered.yardstick(families=1 if panel.crossing is None else panel.families)
    held = list(
        takewhile(
            lambda load: _is_unbeaten_at(gathered, others.get(load), yardstick, panel.families),
            reversed(lower),
        )
    )
    if not held:
        return place_text(ranking.x, axis)
    if len(held) == len(lower):
        return f"for up to {load_text(x, axis)}"
    low, high = number_text(held[-1]), number_text(x)
    return at_place(f"{low} to {high}", axis).replace("at ", "from ", 1)


def _is_unbeaten_at(
    gathered: Gathered, other: OtherLoad | None, yardstick: Yardstick, families: int
) -> bool:
    """Whether others were measured at a load of the winner, and none of them may be better there:
    by more than the threshold, as far as noise lets see, or clearly by the other metric."""
    if other is None or not other.is_whole:
        return False
    metric = gathered.query.metric
    compared = (comparison for _, comparison in other.against(metric, yardstick))
    if not all(_is_not_better(each, yardstick.better) for each in compared):
        return False
    return not any(
        comparison.verdict == "improved"
        for id_, share in opposed_shares(metric, other.leader)
        for _, comparison in other.against(
            id_, gathered.yardstick(families=families, metric=id_, relevant=share)
        )
    )


def _is_not_better(comparison: Comparison, better: Better) -> bool:
    """Whether a rival is worse beyond noise, or level."""
    if comparison.verdict == "size_uncertain":
        return (comparison.value < 0) == (better == "higher")
    return comparison.verdict in ("regressed", "unchanged")


def _limit_text(winner: Row) -> str:
    """`, and p99 may be over 20 ms`; empty where its p99 surely keeps the limit, or without one."""
    point, limit = winner.entrant.point, winner.entrant.limit_us
    doubt = None if limit is None else brief_limit_doubt(point, limit)
    return "" if doubt is None else f", and {doubt}"


def _figures_text(point: Point, metric: Metric) -> str:
    """The metric, and the throughput or p99 that comes with it, as far as they are known."""
    is_rate = metric.id in RATES
    rate_id, tail_id = (metric.id, TAIL) if is_rate else (RATE, metric.id)
    rate, tail = point.metrics[rate_id].value, measure_text(point.metrics[tail_id], "us")
    rate_text = None if rate is None else short_figure_text(rate, METRICS[rate_id].unit)
    tail_text = None if tail is None else f"{tail_id} {tail}"
    texts = (rate_text, tail_text) if is_rate else (tail_text, rate_text)
    return " at ".join(filter(None, texts))
