"""What another metric says of the series of a headline: p99 beside throughput, and the reverse.

It is looked at where the metric of the page shows no difference, and where the leader may be worse
by it. The intervals hold for all pairs of the ranked series. They share the error rate of the page
with whatever else its panel asks (decisions 0059 and 0080).
"""

from dataclasses import dataclass
from typing import Protocol

from backend.analysis.compare.capacity import LIMITED
from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.ranking import Contest, Ranking, is_tie
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.query.metrics import METRICS, RATE, RATES, TAIL
from backend.stats import Ratio

# A leader that is worse by another metric by such a share is not the server to take without a word.
# Both are far beyond what starts of one server differ by (decision 0080).
OPPOSED_SHARES = {RATE: 0.10, TAIL: 0.25}


class YardstickOf(Protocol):
    """The rules for ratios of a metric. `relevant`: below which share a difference does not matter;
    None: below that of the workspaces."""

    def __call__(self, *, metric: str, relevant: float | None = None) -> Yardstick: ...


@dataclass(frozen=True, slots=True)
class Beside:
    """The leader ÷ another series by another metric: better or worse beyond noise and threshold.

    `is_opposed`: the leader by the metric of the page is worse by this one, by more than its share
    in `OPPOSED_SHARES`.
    """

    metric: str
    ratio: Ratio
    leader: str
    other: str
    is_opposed: bool = False

    @property
    def claim(self) -> NamedRatio:
        return NamedRatio(self.ratio, self.leader, self.other)

    @property
    def by_figure(self) -> tuple[str, str]:
        """Which of the two is better by this metric, and which is worse."""
        names = self.leader, self.other
        return names if self.ratio.verdict == "improved" else names[::-1]


def metrics_beside(metric: str) -> tuple[str, ...]:
    """The metrics to look at beside a metric, the most important first."""
    if metric in RATES:
        return (TAIL, "p50")
    if METRICS[metric].group != "latency" or metric == "max":
        return ()
    return (RATE,) if metric == TAIL else (RATE, TAIL)


def opposed_shares(metric: str, leader: Entrant) -> list[tuple[str, float]]:
    """The metrics that may be for another series than the leader, and by which share.

    Where the reader set a limit for p99, what keeps it is good enough.
    """
    is_limited = leader.limit_us is not None
    return [
        (other, OPPOSED_SHARES[other])
        for other in metrics_beside(metric)
        if other in OPPOSED_SHARES and not (is_limited and other == LIMITED)
    ]


def find_beside(ranking: Ranking, yardstick_of: YardstickOf) -> Beside | None:
    """The first further metric by which the series of the headline differ; of a clear leader, the
    first by which it is worse. None without one."""
    contest = ranking.contest
    if contest is None:
        return None
    if is_tie(contest.ratio):
        return _find_difference(ranking, contest, yardstick_of)
    return _find_opposed(ranking, contest, yardstick_of)


def _find_difference(
    ranking: Ranking, contest: Contest, yardstick_of: YardstickOf
) -> Beside | None:
    other = contest.other.entrant
    for metric in metrics_beside(ranking.metric):
        ratios = _leader_ratios(ranking, contest, metric, yardstick_of(metric=metric))
        ratio = next((ratio for rival, ratio in ratios if rival.series == other.series), None)
        if ratio is not None and ratio.verdict in ("improved", "regressed"):
            return Beside(metric, ratio, contest.leader.entrant.label, other.label)
    return None


def _find_opposed(ranking: Ranking, contest: Contest, yardstick_of: YardstickOf) -> Beside | None:
    """The series that is furthest ahead of the leader by throughput or p99."""
    for metric, relevant in opposed_shares(ranking.metric, contest.leader.entrant):
        sign = 1 if METRICS[metric].better == "higher" else -1
        ratios = _leader_ratios(
            ranking, contest, metric, yardstick_of(metric=metric, relevant=relevant)
        )
        worse = [(rival, ratio) for rival, ratio in ratios if ratio.verdict == "regressed"]
        if worse:
            rival, ratio = min(worse, key=lambda pair: sign * (pair[1].value or 0.0))
            leader = contest.leader.entrant.label
            return Beside(metric, ratio, leader, rival.label, is_opposed=True)
    return None


def _leader_ratios(
    ranking: Ranking, contest: Contest, metric: str, yardstick: Yardstick
) -> list[tuple[Entrant, Ratio]]:
    """The leader ÷ each rival with a figure that may be compared; empty if the leader has none."""
    leader = contest.leader.entrant
    compared = [
        (row.entrant, sample)
        for row in ranking.ranked
        if (sample := row.entrant.sample(metric)) is not None
    ]
    places = {entrant.series: place for place, (entrant, _) in enumerate(compared)}
    if leader.series not in places:
        return []
    pairs = yardstick.pairs([sample for _, sample in compared])
    return [
        (rival, yardstick.ratio(pairs.comparison(places[rival.series], places[leader.series])))
        for rival, _ in compared
        if rival.series != leader.series
    ]
