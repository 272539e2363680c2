"""Which server to take, if a comparison of servers over loads has a clear winner."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from backend.analysis.compare.beside import opposed_shares
from backend.analysis.compare.capacity import LIMITED, doubtful_side
from backend.analysis.compare.crossing import ratios_to, rivals_at
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.failures import unknown_failures_text
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import measure_text, place_text
from backend.analysis.compare.panels import Panel
from backend.analysis.compare.ranking import Ranking, Row
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.analysis.query.field import number_text
from backend.analysis.query.metrics import METRICS, Metric
from backend.analysis.query.units import at_place, load_text, short_figure_text, time_text
from backend.stats import Ratio

RATE, TAIL = "throughput", "p99"
_RATES = (RATE, "goodput")


def recommend(gathered: Gathered, panel: Panel) -> str | None:
    """`Take haproxy 3.0.4 for up to 256 connections: 93,500 req/s at p99 41 ms, in this run`, and
    where others are ahead.

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
    families = 1 if panel.crossing is None else panel.crossing.families
    yardstick = gathered.yardstick(families=families)
    reach = _reach(gathered, ranking, sweeps[winner.entrant.series], yardstick)
    scope = _scope_text(ranking, winner)
    sentence = f"Take {winner.entrant.label} {reach}: {figures}{f', {scope}' if scope else ''}"
    if panel.crossing is None:
        return sentence
    return f"{sentence}; {panel.crossing.text(names_both=False)}"


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
        # A sentence about several loads holds at all of them together.
        is_led_so_far = panel.crossing is None or panel.crossing.is_led
        is_taken = ranking.is_led_beyond_doubt and is_led_so_far
    return ranking.ranked[0] if is_taken else None


def _is_of_servers(sweeps: Mapping[str, Sweep], ranking: Ranking) -> bool:
    """Whether the first two rows are different servers, versions or configurations."""
    first, second, *_ = (sweeps[row.entrant.series].group.first.series for row in ranking.rows)
    return first.server != second.server


def _reach(gathered: Gathered, ranking: Ranking, winner: Sweep, yardstick: Yardstick) -> str:
    """From which load on no series is ahead of the winner: `for up to 256 connections` if that is
    every load below, `from 64 to 256 connections`, or `at …`.

    The loads are asked one after the other, downwards, and the first that is open ends the reach.
    So the whole statement is as certain as each of its parts.
    """
    axis = gathered.grouping.x
    x = load_of(ranking.ranked[0].entrant.point)
    lower = sorted({load for point in gathered.points if (load := load_of(point)) < x})
    held = list(
        takewhile(lambda load: _is_unbeaten_at(gathered, winner, load, yardstick), reversed(lower))
    )
    if not held:
        return place_text(ranking, axis)
    if len(held) == len(lower):
        return f"for up to {load_text(x, axis)}"
    low, high = number_text(held[-1]), number_text(x)
    return at_place(f"{low} to {high}", axis).replace("at ", "from ", 1)


def _is_unbeaten_at(gathered: Gathered, winner: Sweep, load: float, yardstick: Yardstick) -> bool:
    """Whether others were measured at a load of the winner, and none of them may be better there:
    by more than the threshold, as far as noise lets see, or clearly by the other metric."""
    held = _held_at(gathered, winner, load)
    if held is None:
        return False
    own, rivals = held
    ratios = ratios_to(own, rivals, gathered.query.metric, yardstick)
    if ratios is None or not all(_is_not_better(ratio, gathered.metric) for ratio in ratios):
        return False
    return not _is_opposed(gathered, own, rivals)


def _held_at(
    gathered: Gathered, winner: Sweep, load: float
) -> tuple[Entrant, list[Entrant]] | None:
    """The winner at a load, with the others that have a place there; None if it has none, if no
    other was measured, or if another may keep the limit."""
    point, metric = winner.at(load), gathered.query.metric
    if point is None:
        return None
    own, rivals = gathered.entrant(winner, point), rivals_at(gathered, winner, point)
    if not rivals or not own.has_place(metric) or any(rival.is_limit_unknown for rival in rivals):
        return None
    return own, [rival for rival in rivals if rival.has_place(metric)]


def _is_opposed(gathered: Gathered, own: Entrant, rivals: Sequence[Entrant]) -> bool:
    """Whether a rival is clearly better by the other one of throughput and p99."""
    for metric, share in opposed_shares(gathered.query.metric, own):
        known = [each for each in rivals if each.measure(metric).sample is not None]
        yardstick = gathered.yardstick(metric=metric, relevant=share)
        ratios = ratios_to(own, known, metric, yardstick) or []
        if any(ratio.verdict == "improved" for ratio in ratios):
            return True
    return False


def _is_not_better(ratio: Ratio, metric: Metric) -> bool:
    """Whether a rival is worse beyond noise, or level."""
    if ratio.verdict == "size_uncertain" and ratio.value is not None:
        return (ratio.value < 1) == (metric.better == "higher")
    return ratio.verdict in ("regressed", "unchanged")


def _limit_text(winner: Row) -> str:
    """`, and p99 may be over 20 ms`; empty where its p99 surely keeps the limit, or without one."""
    point, limit = winner.entrant.point, winner.entrant.limit_us
    if limit is None or doubtful_side(point, limit) is None:
        return ""
    return f", and {LIMITED} may be over {time_text(limit)}"


def _figures_text(point: Point, metric: Metric) -> str:
    """The metric, and the throughput or p99 that comes with it, as far as they are known."""
    is_rate = metric.id in _RATES
    rate_id, tail_id = (metric.id, TAIL) if is_rate else (RATE, metric.id)
    rate, tail = point.metrics[rate_id].value, measure_text(point.metrics[tail_id], "us")
    rate_text = None if rate is None else short_figure_text(rate, METRICS[rate_id].unit)
    tail_text = None if tail is None else f"{tail_id} {tail}"
    texts = (rate_text, tail_text) if is_rate else (tail_text, rate_text)
    return " at ".join(filter(None, texts))
