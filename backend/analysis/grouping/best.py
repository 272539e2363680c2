"""Which series are shown where there are too many: the best by the asked metric, never by name."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from backend.analysis.grouping.fired_checks import Dismissals, undismissed_checks
from backend.analysis.grouping.grouping import SeriesGroup
from backend.analysis.grouping.points import point_of
from backend.analysis.grouping.series import MAX_SERIES
from backend.analysis.query.field import Value, most_shared
from backend.analysis.query.metrics import Metric
from backend.runs.checks import withheld_metrics

# The metric that every point needs.
ALWAYS = "throughput"
# The rank of each series at a place by its id, from 0; the best comes first.
Ranks = Mapping[str, int]


def choose_best(
    groups: Sequence[SeriesGroup],
    metric: Metric,
    dismissals: Dismissals,
    *,
    baseline: str | None = None,
) -> set[str]:
    """The ids of at most MAX_SERIES series, as many of each panel as there is room for.

    The first at any place always stays, so that nobody else wins; then the rank at the place that
    most series share decides. `baseline`: the id of a series that stays too.
    """
    by_panel: dict[str | None, list[SeriesGroup]] = defaultdict(list)
    for group in groups:
        by_panel[group.panel].append(group)
    keys: dict[str, tuple[object, ...]] = {}
    for members in by_panel.values():
        keys |= _keys(members, metric, dismissals)
    if baseline in keys:
        keys[baseline] = (False,)
    return set(sorted(keys, key=lambda id_: keys[id_])[:MAX_SERIES])


def _keys(
    groups: Sequence[SeriesGroup], metric: Metric, dismissals: Dismissals
) -> dict[str, tuple[object, ...]]:
    """By the id of each series of a panel what it is sorted by, the best first."""
    ranks = _ranks_by_place(groups, metric, dismissals)
    firsts = {next(iter(own)) for own in ranks.values() if len(own) > 1}
    shared = most_shared({place: len(own) for place, own in ranks.items()})
    at_shared, last = ranks.get(shared, {}), len(groups)
    return {
        group.id: (
            group.id not in firsts,
            at_shared.get(group.id, last),
            min((own.get(group.id, last) for own in ranks.values()), default=last),
            group.id,
        )
        for group in groups
    }


def _ranks_by_place(
    groups: Sequence[SeriesGroup], metric: Metric, dismissals: Dismissals
) -> dict[Value, Ranks]:
    values: dict[Value, dict[str, float]] = defaultdict(dict)
    for group in groups:
        for place in group.points:
            value = _value(group, place, metric, dismissals)
            if value is not None:
                values[place][group.id] = value
    is_higher_better = metric.better == "higher"
    best_first = {
        place: sorted(by_id, key=by_id.__getitem__, reverse=is_higher_better)
        for place, by_id in values.items()
    }
    return {place: {id_: rank for rank, id_ in enumerate(ids)} for place, ids in best_first.items()}


def _value(
    group: SeriesGroup, place: Value, metric: Metric, dismissals: Dismissals
) -> float | None:
    """The figure of a series at a place; None if a check withholds it from a ranking."""
    point = point_of(place, group.points[place], {}, (metric.id, ALWAYS))
    if metric.group in withheld_metrics(undismissed_checks(point, dismissals)):
        return None
    return point.metrics[metric.id].value
