"""Whether a run is worse than the runs before it, by the judge of builds, series by series.

State, baseline, last good and first bad run belong to one series and metric, and never to the rule:
servers under one rule do not hide each other. The baseline of a series is its newest runs before
this one, of the same server, configuration, workload, hosts and load tool; the version may differ,
because a build changes it. All intervals of one run hold together at 95 %.
"""

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from uuid import UUID

from msgspec import structs

from backend.alerts.lifecycle import Sighting
from backend.alerts.memory import Memory
from backend.alerts.series_runs import SeriesRuns
from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.compare.headline import ratio_text
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.judge.cases import Case, Judged, judge_cases
from backend.analysis.judge.history import History, load_history
from backend.analysis.judge.requirements import Requirement, accepted_change
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import text_of
from backend.analysis.query.fields import FIELDS, IDENTITY
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.records import LoadedCell
from backend.analysis.query.units import at_place, figure_text
from backend.runs.models import Run
from backend.stats import Ratio

# A build changes them, and the series goes on.
_MAY_DIFFER = frozenset(FIELDS[name].identity for name in ("version", "tool_version"))


@dataclass(frozen=True, slots=True)
class _Watched:
    """A series of the run, its baseline, and what is known of each of its metrics."""

    candidate: Gathered
    sweep: Sweep
    history: History
    # Runs of the series before this one, the newest first.
    earlier: Sequence[Run]


@dataclass(frozen=True, slots=True)
class _Question:
    """A metric of a series at one load: all suspicious runs together, and the newest run alone."""

    watched: _Watched
    subject: str
    memory: Memory
    together: Case
    alone: Case

    @property
    def last_good(self) -> Run | None:
        """The newest run of the baseline."""
        earlier = self.watched.earlier
        return next((each for each in earlier if self.memory.is_baseline(each)), None)


def judge_regressions(
    query: CompareQuery,
    run: Run,
    runs: SeriesRuns,
    metrics: Sequence[str],
    memories: Mapping[str, Memory],
) -> Iterator[Sighting]:
    """One sighting for each series and metric of the run that has a baseline.

    `query`: the filters; its view is left out. `runs`: finds the earlier runs of a series.
    `memories`: what is known of subjects. Raises QueryError and NotVisible.
    """
    questions = [
        question
        for watched in _watched(query, run, runs)
        for question in _questions(watched, run, metrics, memories)
    ]
    if not questions:
        return
    rows: dict[str, list[_Row]] = {}
    for row in _rows(questions):
        rows.setdefault(row.question.subject, []).append(row)
    yield from (_sighting(subject, own) for subject, own in rows.items())


def _watched(query: CompareQuery, run: Run, runs: SeriesRuns) -> Iterator[_Watched]:
    """The series of the run that earlier runs have too, one server at a time: a run may have more
    series than one comparison shows."""
    workspace_ids = [run.workspace_id]
    for server in runs.servers_of(run):
        candidate = gather(query.with_filters(run=[run.pk], server=[server]), workspace_ids)
        for sweep in candidate.sweeps:
            earlier = runs.before(run, sweep)
            if not earlier:
                continue
            filters = {**query.filters, "run": [each.pk for each in earlier]}
            history = load_history(candidate, sweep, filters, run.workspace_id)
            if history is not None and (own := _same(history, sweep, candidate)).sweeps:
                yield _Watched(candidate, sweep, own, earlier)


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


def _questions(
    watched: _Watched, run: Run, metrics: Sequence[str], memories: Mapping[str, Memory]
) -> Iterator[_Question]:
    sweep, parts = watched.sweep, watched.candidate.grouping.parts
    identity = identity_of_series(sweep.group.first, parts)
    for name in metrics:
        subject = subject_of(identity, sweep, name)
        memory = memories.get(subject, Memory())
        good = [each.pk for each in watched.earlier if memory.is_baseline(each)]
        bad = [each.pk for each in watched.earlier if memory.is_suspicious(each)]
        change = accepted_change(METRICS[name], watched.candidate.demands.relevant)
        for point in sweep.points:
            cases = _cases(watched, point, change, (good, bad))
            if cases is not None:
                yield _Question(watched, subject, memory, *cases)


def _cases(
    watched: _Watched,
    point: Point,
    change: Requirement,
    earlier: tuple[Collection[UUID], Collection[UUID]],
) -> tuple[Case, Case] | None:
    """The newest run with the suspicious ones before it, and alone; None without a baseline."""
    history, sweep, metric = watched.history, watched.sweep, change.metric
    good, bad = earlier
    if watched.candidate.entrant(sweep, point).unranked(metric.id) is not None:
        return None
    sample = point.metrics[metric.id].sample
    level = history.level(point.x, metric, good)
    if sample is None or level is None:
        return None
    before = history.sample(point.x, metric, bad)
    seen = () if before is None else before.observations
    together = structs.replace(sample, observations=(*seen, *sample.observations))
    return (
        Case(change, sweep, point, level, together),
        Case(change, sweep, point, level, sample),
    )


def identity_of_series(cell: LoadedCell, parts: Sequence[str]) -> tuple[Hashable, ...]:
    """What a series shares with its baseline."""
    kept = (part for part in parts if part not in _MAY_DIFFER)
    return tuple(str(IDENTITY[part](cell)) for part in kept)


def subject_of(identity: tuple[Hashable, ...], sweep: Sweep, metric: str) -> str:
    """The same for as long as what makes the series is the same, whatever its version."""
    named = repr((identity, sweep.group.held)).encode()
    return f"{metric} {hashlib.sha256(named).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _Row:
    """A question with its answers."""

    question: _Question
    together: Judged
    alone: Judged

    @property
    def place(self) -> str | None:
        x = self.question.together.point.x
        return None if x is None else text_of(x)

    @property
    def is_worse(self) -> bool:
        """Whether all suspicious runs together are worse, by however little, and the newest one by
        more than matters, as far as it can tell."""
        alone = self.alone.ratio
        if alone is None or alone.value is None or not _is_worse(self.together):
            return False
        return _change(self.alone, alone.value) > self.alone.case.requirement.tolerance

    @property
    def is_sized(self) -> bool:
        """Whether they are worse by more than matters, for certain."""
        return self.is_worse and self.together.verdict == "regressed"

    @property
    def is_back(self) -> bool:
        """Whether the newest run is at the level of the baseline, and better than the bad one.

        Where nothing was bad yet, the first is enough.
        """
        ratio, bad = self.alone.ratio, self.question.memory.ratio
        if ratio is None or ratio.low is None or ratio.high is None or ratio.value is None:
            return False
        is_near = _change(self.alone, ratio.value) <= self.alone.case.requirement.tolerance
        return is_near and (bad is None or not ratio.low <= bad <= ratio.high)


def _rows(questions: Sequence[_Question]) -> Iterator[_Row]:
    """The questions with their answers; all intervals of a run hold together."""
    relevant = questions[0].watched.candidate.demands.relevant
    of_hosts = {n.host_id: n for each in questions for n in each.watched.history.gathered.noises}
    noises, count = list(of_hosts.values()), len(questions)
    together, _ = judge_cases([each.together for each in questions], noises, relevant, count)
    alone, _ = judge_cases([each.alone for each in questions], noises, relevant, count)
    by_case = {id(each.case): each for each in (*together, *alone)}
    for each in questions:
        yield _Row(each, by_case[id(each.together)], by_case[id(each.alone)])


def _change(judged: Judged, ratio: float) -> float:
    """How far a ratio is a change for the worse, on the log scale."""
    value = log(ratio)
    return value if judged.case.requirement.is_lower_better else -value


def _is_worse(judged: Judged) -> bool:
    ratio = judged.ratio
    if ratio is None or ratio.low is None or ratio.high is None or not ratio.significant:
        return False
    return _change(judged, ratio.low if ratio.low > 1 else ratio.high) > 0


def _sighting(subject: str, rows: Sequence[_Row]) -> Sighting:
    worse = [row for row in rows if row.is_worse]
    before = rows[0].question.last_good
    if not worse:
        is_back = all(row.is_back for row in rows)
        return Sighting(subject, False if is_back else None, before=before)
    sized = [row for row in worse if row.is_sized]
    row = max(sized or worse, key=lambda row: _size(row.together.ratio))
    return Sighting(
        subject,
        is_bad=True,
        is_sure=bool(sized),
        text=_text(row, len(worse) - 1),
        data=_data(row),
        places=frozenset(filter(None, (each.place for each in worse))),
        before=before,
    )


def _size(ratio: Ratio | None) -> float:
    if ratio is None or not ratio.value:
        return 0.0
    return max(ratio.value, 1 / ratio.value)


def _text(row: _Row, more: int) -> str:
    """`nginx 1.4: latency p99 1.31× [1.2, 1.4] of the runs before, at 64 connections.`"""
    case, ratio = row.together.case, row.together.ratio
    assert ratio is not None
    metric = case.requirement.metric
    name = metric.label[0].lower() + metric.label[1:]
    value = case.measure.value
    now = "" if value is None else f", now {figure_text(value, metric.unit)}"
    others = f", and at {more} more load point{'' if more == 1 else 's'}" if more else ""
    axis = row.question.watched.candidate.grouping.x
    at = "" if row.place is None else f" {at_place(row.place, axis)}"
    label = case.sweep.group.label
    return f"{label}: {name} {ratio_text(ratio)} of the runs before{at}{now}{others}."


def _data(row: _Row) -> dict[str, object]:
    case, ratio = row.together.case, row.together.ratio
    assert ratio is not None
    first = case.sweep.group.first
    return {
        "series": case.sweep.group.label,
        "metric": case.requirement.metric.id,
        "unit": case.requirement.metric.unit,
        "axis": row.question.watched.candidate.grouping.x,
        "x": case.point.x,
        "value": case.measure.value,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "server": first.server.name,
        "workload": first.workload.name,
    }
