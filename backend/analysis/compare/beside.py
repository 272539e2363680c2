"""A further metric by which two series differ, if the page's metric shows no difference.

Such as p99 beside throughput. The intervals hold for all pairs of the ranked series. They share the
error rate of the page with the intervals of the page's metric (decision 0059).
"""

from collections.abc import Callable
from dataclasses import dataclass

from backend.analysis.compare.ranking import Contest, Ranking
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.query.metrics import METRICS
from backend.stats import Ratio

_TAILS = ("p99", "p50")


@dataclass(frozen=True, slots=True)
class Beside:
    """The leader ÷ the other of a contest by another metric: better or worse beyond noise and
    threshold."""

    metric: str
    ratio: Ratio


def metrics_beside(metric: str) -> tuple[str, ...]:
    """The metrics to look at beside a metric, the most important first."""
    if metric in ("throughput", "goodput"):
        return _TAILS
    is_latency = METRICS[metric].group == "latency" and metric != "max"
    return ("throughput",) if is_latency else ()


def find_beside(ranking: Ranking, yardstick_of: Callable[[str], Yardstick]) -> Beside | None:
    """The first further metric by which the series of the headline differ; None if they differ
    by the metric of the page, or by no further metric."""
    contest = ranking.contest
    if contest is None or contest.ratio.verdict not in ("unchanged", "inconclusive"):
        return None
    for metric in metrics_beside(ranking.metric):
        ratio = _leader_ratio(ranking, contest, metric, yardstick_of(metric))
        if ratio is not None and ratio.verdict in ("improved", "regressed"):
            return Beside(metric, ratio)
    return None


def _leader_ratio(
    ranking: Ranking, contest: Contest, metric: str, yardstick: Yardstick
) -> Ratio | None:
    """The leader ÷ the other; None if one of them has no figure that may be compared."""
    entrants = [row.entrant for row in ranking.ranked]
    samples = {
        entrant.series: sample
        for entrant in entrants
        if entrant.unranked(metric) is None and (sample := entrant.measure(metric).sample)
    }
    places = {series: place for place, series in enumerate(samples)}
    leader, other = contest.leader.entrant.series, contest.other.entrant.series
    if leader not in places or other not in places:
        return None
    pairs = yardstick.pairs(list(samples.values()))
    return yardstick.ratio(pairs.comparison(places[other], places[leader]))
