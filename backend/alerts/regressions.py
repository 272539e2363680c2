"""Whether a run is worse than the runs before it: the comparison's verdict, series by series.

The baseline of a series is the newest runs of the rule before the run, of the same server,
configuration, workload, hosts and load tool; the version may differ, because a build changes it.
All intervals of one run hold together at 95 %, and differences between runs count with the noise
that the history of the host shows.
"""

import hashlib
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from uuid import UUID

from backend.alerts.lifecycle import Sighting
from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.compare.headline import ratio_text
from backend.analysis.compare.ratios import Yardstick, floor_of
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import text_of
from backend.analysis.query.fields import FIELDS, IDENTITY
from backend.analysis.query.metrics import METRICS, Metric
from backend.analysis.query.records import LoadedCell
from backend.analysis.query.units import at_place, figure_text
from backend.noise.estimate import RunMean, run_variation
from backend.noise.models import HostNoise
from backend.runs.models import Run
from backend.stats import Ratio
from backend.stats.comparison import Floor
from backend.stats.replicates import Sample

# Comparisons between runs: a variation from one alone is mostly chance.
LEAST_FREEDOM = 2
# A build changes them, and the series goes on.
_MAY_DIFFER = frozenset(FIELDS[name].identity for name in ("version", "tool_version"))


@dataclass(frozen=True, slots=True)
class _Contest:
    """A series of the run at one load point, held against its baseline by one metric."""

    subject: str
    label: str
    point: Point
    metric: Metric
    base: Sample
    sample: Sample


def judge_regressions(
    query: CompareQuery, run: Run, history: Sequence[UUID], metrics: Sequence[str]
) -> list[Sighting]:
    """One sighting for each series and metric of the run that has a baseline.

    `query`: the filters; its view is left out. Raises QueryError and NotVisible.
    """
    workspace_ids = [run.workspace_id]
    candidate = gather(query.with_filters(run=[run.pk]), workspace_ids)
    if not candidate.sweeps or not history:
        return []
    baseline = gather(query.with_filters(run=history), workspace_ids)
    if baseline.grouping.x != candidate.grouping.x:
        return []
    contests = list(_contests(candidate, baseline, metrics))
    ratios = _ratios(contests, candidate, baseline)
    return _sightings(list(zip(contests, ratios, strict=True)), candidate.grouping.x)


def identity_of_series(cell: LoadedCell, parts: Sequence[str]) -> tuple[Hashable, ...]:
    """What a series shares with its baseline."""
    kept = (part for part in parts if part not in _MAY_DIFFER)
    return tuple(str(IDENTITY[part](cell)) for part in kept)


def _contests(
    candidate: Gathered, baseline: Gathered, metrics: Sequence[str]
) -> Iterator[_Contest]:
    parts = candidate.grouping.parts
    for sweep in candidate.sweeps:
        identity = identity_of_series(sweep.group.first, parts)
        alike = [
            other
            for other in baseline.sweeps
            if other.group.held == sweep.group.held
            and identity_of_series(other.group.first, parts) == identity
        ]
        for point in sweep.points:
            for name in metrics:
                sample = _sample(candidate, sweep, point, name)
                base = _pooled(baseline, alike, point, name)
                if sample is not None and base is not None:
                    yield _Contest(
                        subject=subject_of(identity, sweep, name),
                        label=sweep.group.label,
                        point=point,
                        metric=METRICS[name],
                        base=base,
                        sample=sample,
                    )


def subject_of(identity: tuple[Hashable, ...], sweep: Sweep, metric: str) -> str:
    """The same for as long as what makes the series is the same, whatever its version."""
    named = repr((identity, sweep.group.held)).encode()
    return f"{metric} {hashlib.sha256(named).hexdigest()[:16]}"


def _sample(gathered: Gathered, sweep: Sweep, point: Point, metric: str) -> Sample | None:
    """The trials of a metric; None if they must not be ranked, or have no logarithm."""
    entrant = gathered.entrant(sweep, point)
    return None if entrant.unranked(metric) is not None else entrant.measure(metric).sample


def _pooled(baseline: Gathered, alike: Sequence[Sweep], point: Point, metric: str) -> Sample | None:
    """The trials of all versions of the baseline at the same load."""
    samples = [
        sample
        for sweep in alike
        if (other := sweep.at(point.x)) is not None
        and (sample := _sample(baseline, sweep, other, metric)) is not None
    ]
    if not samples:
        return None
    observations = tuple(each for sample in samples for each in sample.observations)
    return Sample(observations, step=max(sample.step for sample in samples))


def _ratios(contests: Sequence[_Contest], candidate: Gathered, baseline: Gathered) -> list[Ratio]:
    """run ÷ baseline of each contest; all of them share the 5 %."""
    noises = list({each.host_id: each for each in (*candidate.noises, *baseline.noises)}.values())
    relevant = candidate.demands.relevant
    yardsticks = {
        metric.id: Yardstick(metric.better, relevant, floor, len(contests))
        for metric in {contest.metric for contest in contests}
        for floor in [_floor(metric, contests, noises)]
    }
    return [
        yardsticks[contest.metric.id].to_baseline(contest.base, [contest.sample])[0]
        for contest in contests
    ]


def _floor(metric: Metric, contests: Sequence[_Contest], noises: Sequence[HostNoise]) -> Floor:
    """How far runs of the baseline differ in a metric, pooled over series and load points.

    With too few runs, what the history of the hosts says of throughput; else nothing is known.
    """
    of_hosts = floor_of(noises) if metric.group == "rate" else Floor()
    of_hosts = replace(of_hosts, is_one_history=True)
    own = [contest for contest in contests if contest.metric == metric]
    means = [mean for contest in own for mean in _run_means(contest)]
    variation = run_variation(means)
    if variation is None or variation.freedom < LEAST_FREEDOM:
        return of_hosts
    return replace(of_hosts, run_sd=variation.sd, run_freedom=variation.freedom)


def _run_means(contest: _Contest) -> Iterator[RunMean]:
    by_run: dict[Hashable, list[float]] = {}
    for observation in contest.base.observations:
        by_run.setdefault(observation.run, []).append(observation.value)
    level = (contest.subject, contest.point.x)
    for run, values in by_run.items():
        mean = fmean(values)
        squares = sum((value - mean) ** 2 for value in values)
        yield RunMean(level, run, len(values), mean, squares)


def _sightings(judged: Sequence[tuple[_Contest, Ratio]], axis: str) -> list[Sighting]:
    by_subject: dict[str, list[tuple[_Contest, Ratio]]] = {}
    for contest, ratio in judged:
        by_subject.setdefault(contest.subject, []).append((contest, ratio))
    return [_sighting(subject, rows, axis) for subject, rows in by_subject.items()]


def _sighting(subject: str, rows: Sequence[tuple[_Contest, Ratio]], axis: str) -> Sighting:
    worse = [row for row in rows if row[1].verdict == "regressed"]
    if not worse:
        is_known = all(ratio.verdict in ("unchanged", "improved") for _, ratio in rows)
        return Sighting(subject, False if is_known else None)
    contest, ratio = max(worse, key=lambda row: _size(row[1]))
    return Sighting(
        subject,
        is_bad=True,
        text=_text(contest, ratio, axis, len(worse) - 1),
        data=_data(contest, ratio, axis),
        places=frozenset(text_of(each.point.x) for each, _ in worse if each.point.x is not None),
    )


def _size(ratio: Ratio) -> float:
    return max(ratio.value, 1 / ratio.value) if ratio.value else 0.0


def _text(contest: _Contest, ratio: Ratio, axis: str, more: int) -> str:
    """`nginx 1.4: latency p99 1.31× [1.2, 1.4] of the runs before, at 64 connections.`"""
    metric = contest.metric
    name = metric.label[0].lower() + metric.label[1:]
    value = contest.point.metrics[metric.id].value
    now = "" if value is None else f", now {figure_text(value, metric.unit)}"
    others = f", and at {more} more load point{'' if more == 1 else 's'}" if more else ""
    at = "" if contest.point.x is None else f" {at_place(text_of(contest.point.x), axis)}"
    return f"{contest.label}: {name} {ratio_text(ratio)} of the runs before{at}{now}{others}."


def _data(contest: _Contest, ratio: Ratio, axis: str) -> dict[str, object]:
    return {
        "series": contest.label,
        "metric": contest.metric.id,
        "unit": contest.metric.unit,
        "axis": axis,
        "x": contest.point.x,
        "value": contest.point.metrics[contest.metric.id].value,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "server": contest.point.cells[0].server.name,
        "workload": contest.point.cells[0].workload.name,
    }
