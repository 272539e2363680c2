"""Whether a run is worse than the runs before it, by the judge of builds, series by series.

State, baseline, last good and first bad run belong to one series and metric, and never to the rule:
servers under one rule do not hide each other. The baseline of a series is its newest runs before
this one, of the same server, configuration, workload, hosts and load tool; the version may differ,
because a build changes it.
"""

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt

from msgspec import structs

from backend.alerts.lifecycle import Sighting
from backend.alerts.series_runs import WatchedSeries
from backend.alerts.subject_states import SubjectState
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.grouping.measure_texts import measure_text
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.judge.cases import Case, FamilySize, Judged, judge_cases
from backend.analysis.judge.comparable import comparable_sample
from backend.analysis.judge.history import History, Level, load_history
from backend.analysis.judge.requirements import Requirement, accepted_change
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import text_of
from backend.analysis.query.fields import FIELDS, IDENTITY
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.records import LoadedCell
from backend.analysis.query.units import at_place
from backend.runs.models import Run
from backend.stats import Ratio
from backend.stats.replicates import Sample

# A build changes them, and the series goes on.
_MAY_DIFFER = frozenset(FIELDS[name].identity for name in ("version", "tool_version"))


@dataclass(frozen=True, slots=True)
class _Point:
    """A metric of a series at one load, with its baseline.

    `suspected`: the run that is judged together with the suspicious runs before it. `newest`: the
    run that is judged, alone.
    """

    series: WatchedSeries
    history: History
    subject: str
    state: SubjectState
    suspected: Case
    newest: Case

    def last_good(self, ratio: float) -> Run | None:
        """The newest run of the baseline that is nearer to its level than to the bad one.

        The first bad run may look good enough by chance. A run without a figure that may be
        compared, such as one whose requests failed, was not good. `ratio`: of the bad level to the
        baseline.
        """
        level = self.newest.level
        assert level is not None
        units, halfway = level.sample.units, log(ratio) / 2
        for run in filter(self.state.is_baseline, self.series.earlier):
            mean = units.mean_of(run.pk.int)
            if mean is not None and (mean - units.centre) / halfway < 1:
                return run
        return None


def judge_regressions(
    watched: Iterable[tuple[WatchedSeries, History]],
    metrics: Sequence[str],
    states: Mapping[str, SubjectState],
) -> Iterator[Sighting]:
    """One sighting for each metric of the series of a run, which are given with their baselines.

    `states`: by subject.
    """
    points = [
        point for series, history in watched for point in _points(series, history, metrics, states)
    ]
    if not points:
        return
    by_subject: dict[str, list[_JudgedPoint]] = {}
    for judged in _judge(points):
        by_subject.setdefault(judged.point.subject, []).append(judged)
    yield from (_sighting(subject, own) for subject, own in by_subject.items())


def find_baseline(series: WatchedSeries, query: CompareQuery) -> History | None:
    """The baseline of a series; None where no earlier run has the same series. `query`: the filters
    of the rule. Raises QueryError and NotVisible.
    """
    if not series.earlier:
        return None
    workspace_id = series.earlier[0].workspace_id
    filters = {**query.filters, "run": [run.pk for run in series.earlier]}
    history = load_history(series.candidate, series.sweep, filters, workspace_id)
    same = None if history is None else _same(history, series.sweep, series.candidate)
    return same if same is not None and same.sweeps else None


def _same(history: History, sweep: Sweep, candidate: Gathered) -> History:
    """The history without series of another identity."""
    parts = candidate.grouping.parts
    identity = identity_of_series(sweep.group.first, parts)
    same = (
        other
        for other in history.sweeps
        if identity_of_series(other.group.first, parts) == identity
    )
    return replace(history, sweeps=tuple(same))


def _points(
    series: WatchedSeries,
    history: History,
    metrics: Sequence[str],
    states: Mapping[str, SubjectState],
) -> Iterator[_Point]:
    sweep, candidate = series.sweep, series.candidate
    identity = identity_of_series(sweep.group.first, candidate.grouping.parts)
    for name in metrics:
        subject = subject_of(identity, sweep, name)
        state = states.get(subject, SubjectState())
        good = [run.pk for run in series.earlier if state.is_baseline(run)]
        suspicious = [run.pk for run in series.earlier if state.is_suspicious(run)]
        change = accepted_change(METRICS[name], candidate.demands.relevant)
        for at in sweep.points:
            case = _newest_case(series, history.level(at.x, change.metric, good), at, change)
            if case is not None:
                before = history.sample(at.x, change.metric, suspicious)
                yield _Point(
                    series, history, subject, state, _with_trials_of(case, before), newest=case
                )


def _newest_case(
    series: WatchedSeries, level: Level | None, at: Point, change: Requirement
) -> Case | None:
    """The run alone; None where a figure of either side may not be compared."""
    sample = comparable_sample(series.candidate, series.sweep, at, change.metric.id)
    return None if None in (sample, level) else Case(change, series.sweep, at, level, sample)


def _with_trials_of(case: Case, before: Sample | None) -> Case:
    """The case with the trials of suspicious runs before it."""
    if before is None or case.candidate is None:
        return replace(case)
    observations = (*before.observations, *case.candidate.observations)
    return replace(case, candidate=structs.replace(case.candidate, observations=observations))


def identity_of_series(cell: LoadedCell, parts: Sequence[str]) -> tuple[Hashable, ...]:
    """What a series shares with its baseline."""
    kept = (part for part in parts if part not in _MAY_DIFFER)
    return tuple(str(IDENTITY[part](cell)) for part in kept)


def subject_of(identity: tuple[Hashable, ...], sweep: Sweep, metric: str) -> str:
    """The same for as long as what makes the series is the same, whatever its version."""
    named = repr((identity, sweep.group.held)).encode()
    return f"{metric} {hashlib.sha256(named).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _JudgedPoint:
    """A point with the verdicts about its two cases."""

    point: _Point
    suspected: Judged
    newest: Judged

    @property
    def place(self) -> str | None:
        """The load, as text; None if it is unknown."""
        x = self.suspected.case.point.x
        return None if x is None else text_of(x)

    @property
    def begins_again(self) -> bool:
        """Whether the newest run is worse beyond noise by itself, but not together with the
        suspicious runs: those were worse by chance, so the suspicion starts again."""
        return _is_worse(self.newest) and not _is_worse(self.suspected)

    @property
    def bad(self) -> Judged:
        """The judgement that the alert reports: of the newest run if that begins, else of all."""
        return self.newest if self.begins_again else self.suspected

    @property
    def is_suspicious(self) -> bool:
        """Whether the suspicious runs together, or the newest alone, are worse beyond noise, and
        the figure of the newest run is worse by more than the relevant difference."""
        ratio = self.newest.ratio
        if ratio is None or ratio.value is None or not _is_worse(self.bad):
            return False
        return _change(self.newest, ratio.value) > self.newest.case.requirement.tolerance

    @property
    def is_regressed(self) -> bool:
        """Whether the suspicious runs together are certainly worse by more than the relevant
        difference."""
        return self.is_suspicious and self.suspected.verdict == "regressed"

    @property
    def has_recovered(self) -> bool:
        """Whether the figure of the newest run is not worse than the baseline by more than the
        relevant difference; after a confirmed alert, its interval must leave out the bad level."""
        ratio, bad = self.newest.ratio, self.point.state.ratio
        if ratio is None or ratio.low is None or ratio.high is None or ratio.value is None:
            return False
        if _change(self.newest, ratio.value) > self.newest.case.requirement.tolerance:
            return False
        return bad is None or not ratio.low <= bad <= ratio.high


def _judge(points: Sequence[_Point]) -> Iterator[_JudgedPoint]:
    """All points with their verdicts.

    Only changes for the worse raise an alert, so all of the 5 % of a run is on that side of the
    intervals. Two runs must agree before an alert, so the 5 % is shared by the root of the number
    of points, and not by all points. That this is enough is measured and not proven, because the
    two runs are held against one baseline and judged together: `scripts/bench watch` counts false
    alerts (docs/alerts.md has its figures).
    """
    relevant = points[0].series.candidate.demands.relevant
    of_hosts = {noise.host_id: noise for each in points for noise in each.history.gathered.noises}
    noises, family_size = list(of_hosts.values()), FamilySize(sqrt(len(points)) / 2)
    suspected, _ = judge_cases([each.suspected for each in points], noises, relevant, family_size)
    newest, _ = judge_cases([each.newest for each in points], noises, relevant, family_size)
    by_case = {id(each.case): each for each in (*suspected, *newest)}
    for each in points:
        yield _JudgedPoint(each, by_case[id(each.suspected)], by_case[id(each.newest)])


def _change(judged: Judged, ratio: float) -> float:
    """The change for the worse that a ratio is, on the log scale; negative for the better."""
    value = log(ratio)
    return value if judged.case.requirement.is_lower_better else -value


def _is_worse(judged: Judged) -> bool:
    ratio = judged.ratio
    if ratio is None or ratio.value is None or not ratio.significant:
        return False
    return _change(judged, ratio.value) > 0


def _sighting(subject: str, points: Sequence[_JudgedPoint]) -> Sighting:
    suspicious = [each for each in points if each.is_suspicious]
    if suspicious:
        return _bad_sighting(subject, suspicious)
    has_recovered = all(each.has_recovered for each in points)
    return Sighting(subject, False if has_recovered else None)


def _bad_sighting(subject: str, suspicious: Sequence[_JudgedPoint]) -> Sighting:
    regressed = [each for each in suspicious if each.is_regressed]
    worst = max(regressed or suspicious, key=lambda each: _size(each.bad.ratio))
    ratio = worst.bad.ratio
    assert ratio is not None
    assert ratio.value is not None
    return Sighting(
        subject,
        is_bad=True,
        is_sure=bool(regressed),
        begins_again=all(each.begins_again for each in suspicious),
        text=_text(worst, len(suspicious) - 1),
        data=_data(worst),
        places=frozenset(filter(None, (each.place for each in suspicious))),
        before=worst.point.last_good(ratio.value),
    )


def _size(ratio: Ratio | None) -> float:
    if ratio is None or not ratio.value:
        return 0.0
    return max(ratio.value, 1 / ratio.value)


def _text(judged: _JudgedPoint, more: int) -> str:
    """`nginx 1.4: latency p99 1.31× [1.2, 1.4] of the runs before, at 64 connections.`"""
    case, ratio = judged.bad.case, judged.bad.ratio
    assert ratio is not None
    metric = case.requirement.metric
    name = metric.label[0].lower() + metric.label[1:]
    value = measure_text(case.measure, metric.unit)
    now = "" if value is None else f", now {value}"
    others = f", and at {more} more load point{'' if more == 1 else 's'}" if more else ""
    axis = judged.point.series.candidate.grouping.x
    at = "" if judged.place is None else f" {at_place(judged.place, axis)}"
    label = case.sweep.group.label
    return f"{label}: {name} {ratio_text(ratio)} of the runs before{at}{now}{others}."


def _data(judged: _JudgedPoint) -> dict[str, object]:
    case, ratio = judged.bad.case, judged.bad.ratio
    assert ratio is not None
    first = case.sweep.group.first
    return {
        "series": case.sweep.group.label,
        "metric": case.requirement.metric.id,
        "unit": case.requirement.metric.unit,
        "axis": judged.point.series.candidate.grouping.x,
        "x": case.point.x,
        "value": case.measure.value,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "server": first.server.name,
        "workload": first.workload.name,
    }
