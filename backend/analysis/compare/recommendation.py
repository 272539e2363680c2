"""Which server to take, if a comparison of servers over loads has a clear winner."""

from collections.abc import Mapping, Sequence

from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import measure_text, place_text
from backend.analysis.compare.ranking import Entrant, Ranking, Row
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.analysis.query.metrics import METRICS, Metric
from backend.analysis.query.units import load_text, short_figure_text
from backend.stats import Ratio

RATE, TAIL = "throughput", "p99"
_RATES = (RATE, "goodput")


def recommend(gathered: Gathered, ranking: Ranking) -> str | None:
    """`Take haproxy 3.0.4 for up to 256 connections: 93,500 req/s at p99 41 ms, in this run`

    None if no server is clearly ahead, or if something other than servers is compared.
    """
    if not gathered.grouping.x_is_load or not _decides(gathered.metric):
        return None
    winner = _winner(ranking)
    sweeps = {sweep.group.id: sweep for sweep in gathered.sweeps}
    if winner is None or not _is_of_servers(sweeps, ranking):
        return None
    figures = _figures_text(winner.entrant.point, gathered.metric)
    reach = _reach(gathered, ranking, sweeps[winner.entrant.series])
    scope = _scope_text(ranking, winner)
    return f"Take {winner.entrant.label} {reach}: {figures}{f', {scope}' if scope else ''}"


def _scope_text(ranking: Ranking, winner: Row) -> str | None:
    """Of which runs that is said; None if it is said of other runs too."""
    if ranking.contest is not None:
        ratio = ranking.contest.ratio
        return ratio.scope if ratio.is_within_runs else None
    # A limit chose it: what it is said of is its own p99.
    sample = winner.entrant.measure(TAIL).sample
    if sample is None or sample.units.of_runs:
        return None
    runs = len(sample.units.runs)
    return "in this run" if runs == 1 else f"in these {runs} runs"


def _decides(metric: Metric) -> bool:
    """Whether the best server by this metric is the server to take."""
    return metric.id in _RATES or (metric.group == "latency" and metric.id != "max")


def _winner(ranking: Ranking) -> Row | None:
    """The first row, where it is beyond noise and threshold ahead of every other that is ranked.

    Where the limit leaves one row of several, that row. None if a p99 is unknown: that series
    may keep the limit too.
    """
    if ranking.unknown_limits:
        return None
    if len(ranking.ranked) == 1:
        is_chosen_by_limit = any(row.over_limit for row in ranking.rows)
        return ranking.ranked[0] if is_chosen_by_limit else None
    return ranking.ranked[0] if ranking.is_led_beyond_doubt else None


def _is_of_servers(sweeps: Mapping[str, Sweep], ranking: Ranking) -> bool:
    """Whether the first two rows are different servers, versions or configurations."""
    first, second, *_ = (sweeps[row.entrant.series].group.first.series for row in ranking.rows)
    return first.server != second.server


def _reach(gathered: Gathered, ranking: Ranking, winner: Sweep) -> str:
    """`for up to 256 connections` if no series is ahead of the winner below, else `at …`."""
    axis = gathered.grouping.x
    own = {load_of(point): point for point in winner.points}
    x = next(load for load, point in own.items() if point.x == ranking.x)
    lower = {load for point in gathered.points if (load := load_of(point)) < x}
    leads = bool(lower) and all(
        load in own and _is_behind_nobody(gathered, winner, own[load]) for load in lower
    )
    return f"for up to {load_text(x, axis)}" if leads else place_text(ranking, axis)


def _is_behind_nobody(gathered: Gathered, winner: Sweep, point: Point) -> bool:
    """Whether others were measured at the load of `point`, and none of them may be better there by
    more than the threshold, as far as noise lets see."""
    own, rivals = gathered.entrant(winner, point), _rivals(gathered, winner, point)
    metric = gathered.query.metric
    if not rivals or not own.has_place(metric) or any(rival.is_limit_unknown for rival in rivals):
        return False
    placed = [rival for rival in rivals if rival.has_place(metric)]
    return not placed or _is_beaten_by_none(gathered, own, placed)


def _rivals(gathered: Gathered, winner: Sweep, point: Point) -> list[Entrant]:
    """The other series at the load of `point`."""
    return [
        gathered.entrant(sweep, rival)
        for sweep in gathered.sweeps
        if sweep is not winner and (rival := sweep.at(point.x)) is not None
    ]


def _is_beaten_by_none(gathered: Gathered, own: Entrant, rivals: Sequence[Entrant]) -> bool:
    base, *others = (each.measure(gathered.query.metric).sample for each in (own, *rivals))
    samples = [sample for sample in others if sample is not None]
    if base is None or len(samples) < len(others):
        return False
    ratios = gathered.yardstick().to_baseline(base, samples)
    return all(_is_not_better(ratio, gathered.metric) for ratio in ratios)


def _is_not_better(ratio: Ratio, metric: Metric) -> bool:
    """Whether a rival is worse beyond noise, or level."""
    if ratio.verdict == "size_uncertain" and ratio.value is not None:
        return (ratio.value < 1) == (metric.better == "higher")
    return ratio.verdict in ("regressed", "unchanged")


def _figures_text(point: Point, metric: Metric) -> str:
    """The metric, and the throughput or p99 that comes with it, as far as they are known."""
    is_rate = metric.id in _RATES
    rate_id, tail_id = (metric.id, TAIL) if is_rate else (RATE, metric.id)
    rate, tail = point.metrics[rate_id].value, measure_text(point.metrics[tail_id], "us")
    rate_text = None if rate is None else short_figure_text(rate, METRICS[rate_id].unit)
    tail_text = None if tail is None else f"{tail_id} {tail}"
    texts = (rate_text, tail_text) if is_rate else (tail_text, rate_text)
    return " at ".join(filter(None, texts))
