"""The series beyond the best: too many to be compared with each other, listed by their figures."""

from collections.abc import Sequence

from backend.analysis.compare.comparability import judge_comparability
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ranking import Row, in_rank_order
from backend.analysis.grouping.grouping import SeriesGroup
from backend.analysis.grouping.points import point_of
from backend.analysis.grouping.series import MAX_SERIES
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.field import Value
from backend.analysis.query.metrics import shown

NOT_COMPARED = f"Not among the best {MAX_SERIES}, so it is not compared."


def rows_beyond(
    gathered: Gathered, sweeps: Sequence[Sweep], panel: str | None, place: Value
) -> tuple[Row, ...]:
    """A row for each series of the panel that is not shown and was measured at `place`, the best
    first; without a place and a ratio.

    Empty where these series were not measured like the series that are shown: one list would rank
    unlike figures.
    """
    groups = [each for each in gathered.beyond if each.panel == panel and place in each.points]
    if not groups or not _is_alike(gathered, [*(sweep.group for sweep in sweeps), *groups]):
        return ()
    metric = gathered.query.metric
    entrants = [_entrant(gathered, group, place) for group in groups]
    return tuple(
        Row(
            entrant=entrant,
            measure=entrant.measure(metric),
            places=None,
            ratio=None,
            why=None,
            unranked=entrant.unranked(metric) or NOT_COMPARED,
            over_limit=entrant.over_limit,
        )
        for entrant in in_rank_order(entrants, metric)
    )


def _is_alike(gathered: Gathered, groups: Sequence[SeriesGroup]) -> bool:
    comparability = judge_comparability(
        groups, (), trials=0, grouping=gathered.grouping, must_match=gathered.demands.must_match
    )
    return comparability.allows_ranking


def _entrant(gathered: Gathered, group: SeriesGroup, place: Value) -> Entrant:
    point = point_of(place, group.points[place], {}, shown(gathered.query.metric))
    return gathered.entrant(Sweep(group, (point,)), point)
