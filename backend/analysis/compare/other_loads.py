"""The leader of a ranking at its other loads, beside the series that it is compared with there."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ranking import Ranking
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.stats.comparison import Comparison


@dataclass(frozen=True, slots=True)
class OtherLoad:
    """The leader at a load, and its rivals there: the other series whose figures can be compared.

    `is_whole`: whether other series were measured there, and each of them is a rival or has no
    place. Without rivals, the figure of the leader may be what cannot be compared.
    """

    load: float
    leader: Entrant
    rivals: tuple[Entrant, ...]
    is_whole: bool

    def against(self, metric: str, yardstick: Yardstick) -> list[tuple[Entrant, Comparison]]:
        """Each rival ÷ the leader, of those whose figures can be compared by the metric."""
        base = self.leader.sample(metric)
        samples = [(each, each.sample(metric)) for each in self.rivals]
        known = [(each, sample) for each, sample in samples if sample is not None]
        if base is None or not known:
            return []
        comparisons = yardstick.compare(base, [sample for _, sample in known])
        return [(each, compared) for (each, _), compared in zip(known, comparisons, strict=True)]


def find_other_loads(
    gathered: Gathered, sweeps: Sequence[Sweep], ranking: Ranking
) -> tuple[OtherLoad, ...]:
    """Every other load of the leader, the lowest first; none where the axis is none of loads.

    `sweeps`: the series of the ranking's panel.
    """
    if not gathered.grouping.x_is_load or not ranking.ranked:
        return ()
    first = ranking.ranked[0].entrant.series
    leader = next(sweep for sweep in sweeps if sweep.group.id == first)
    rivals = [sweep for sweep in sweeps if sweep is not leader]
    points = sorted((point for point in leader.points if point.x != ranking.x), key=load_of)
    return tuple(_other_load(gathered, leader, point, rivals) for point in points)


def _other_load(
    gathered: Gathered, leader: Sweep, point: Point, others: Sequence[Sweep]
) -> OtherLoad:
    metric, own = gathered.query.metric, gathered.entrant(leader, point)
    measured = [
        gathered.entrant(sweep, other)
        for sweep in others
        if (other := sweep.at(point.x)) is not None
    ]
    if not _is_compared(own, metric):
        return OtherLoad(load_of(point), own, (), is_whole=False)
    is_open = any(
        each.is_limit_unknown or (each.has_place(metric) and not _is_compared(each, metric))
        for each in measured
    )
    rivals = tuple(each for each in measured if _is_compared(each, metric))
    return OtherLoad(load_of(point), own, rivals, is_whole=bool(measured) and not is_open)


def _is_compared(entrant: Entrant, metric: str) -> bool:
    return entrant.over_limit is None and entrant.sample(metric) is not None
