"""Whether two series may be compared, and with which of their trials."""

from collections.abc import Collection
from dataclasses import replace

from backend.analysis.compare.comparability import judge_comparability
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.panels import Judgement
from backend.analysis.grouping.fired_checks import collect_fired_checks, count_trials
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.shared_checks import check_sweeps
from backend.analysis.grouping.sweep import Sweep
from backend.stats.replicates import Sample


def judge_pair(
    a: Gathered, b: Gathered, pair: tuple[Sweep, Sweep], may_differ: Collection[str] = ()
) -> Judgement:
    """Whether a series of `a` and one of `b` may be compared. `may_differ`: ids of factors."""
    # A series that both sides have is two here: checks tell series apart by their ids.
    sweeps = tuple(
        replace(sweep, group=replace(sweep.group, id=f"{side}{sweep.group.id}"))
        for side, sweep in zip("ab", pair, strict=True)
    )
    points = [point for sweep in sweeps for point in sweep.points]
    dismissals = {**a.dismissals, **b.dismissals}
    comparability = judge_comparability(
        [sweep.group for sweep in sweeps],
        fired := collect_fired_checks(points, check_sweeps(sweeps), dismissals),
        trials=count_trials(points),
        grouping=a.grouping,
        must_match=replace(a.demands.must_match, may_differ=may_differ),
    )
    return Judgement(pair[0].group.label, sweeps, tuple(fired), comparability)


def comparable_sample(gathered: Gathered, sweep: Sweep, point: Point, metric: str) -> Sample | None:
    """The trials of a metric; None if they must not be ranked, or have no logarithm."""
    return gathered.entrant(sweep, point).sample(metric)
