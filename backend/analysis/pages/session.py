"""A session: the trials that several agents measured at once, joined by their number.

Rates are summed over the time in which all of them attacked, by the service's clock; distributions
are merged by their counts; what one of them does not tell is unknown of the whole.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from backend.runs.measured.host_facts import offset_left_s
from backend.runs.measured.measured import attempts
from backend.runs.models import Run, Trial, TrialTimeline
from backend.runs.tables.happening import happened_at_of
from backend.stats import Histogram


@dataclass(frozen=True, slots=True)
class Share:
    """One agent's part of a trial."""

    run: UUID
    trial: UUID
    host: str
    completed_in_overlap: float
    is_even: bool  # no time series: its requests are taken to be spread evenly
    skew_ms: float  # after the first of them


@dataclass(frozen=True, slots=True)
class JointTrial:
    """One trial of a session. Unknown is None."""

    ordinal: int
    server: str
    workload: str
    connections: int | None
    rate_rps: float | None
    repeat: int | None
    shares: tuple[Share, ...]
    missing: int
    overlap_s: float | None
    throughput_rps: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    error_rate: float | None = None

    @property
    def is_complete(self) -> bool:
        return self.missing == 0

    @property
    def is_even(self) -> bool:
        return any(share.is_even for share in self.shares)


@dataclass(frozen=True, slots=True)
class MeasuredSession:
    """`runs` that came, of the `parts` that the session has."""

    name: str
    parts: int
    runs: tuple[Run, ...]
    trials: tuple[JointTrial, ...]
    # Hosts whose clock is not known: their trials cannot be placed beside the others.
    without_clock: tuple[str, ...]


def describe_session(workspace_id: UUID, name: str) -> MeasuredSession | None:
    """None if no run of such a session has come."""
    rows = Run.objects.filter(workspace=workspace_id, session__name=name)
    runs = tuple(rows.select_related("client_host").order_by(happened_at_of(), "pk"))
    if not runs:
        return None
    parts = max(int(run.session.get("parts") or len(runs)) for run in runs)
    offsets = {run.pk: offset_left_s(run) for run in runs}
    hosts = {run.pk: _host_name(run) for run in runs}
    trials = tuple(
        _put_together(trials, offsets, hosts, parts) for trials in _trials_by_ordinal(runs)
    )
    without_clock = tuple(hosts[run.pk] for run in runs if offsets[run.pk] is None)
    return MeasuredSession(name, parts, runs, trials, without_clock)


def _host_name(run: Run) -> str:
    return str(run.client_host or run.agent.get("hostname") or "unknown")


def _trials_by_ordinal(runs: Sequence[Run]) -> list[list[Trial]]:
    """The trials of all runs that have one number, in the order of the numbers."""
    rows = Trial.objects.filter(run__in=runs, warmup=False).select_related(
        "cell__series__server", "cell__series__workload", "timeline"
    )
    by_ordinal: dict[int, list[Trial]] = defaultdict(list)
    for trial in rows.defer("parsed", "cell__histogram", "cell__curve"):
        by_ordinal[trial.ordinal].append(trial)
    return [by_ordinal[ordinal] for ordinal in sorted(by_ordinal)]


def _put_together(
    trials: Sequence[Trial], offsets: dict[UUID, float | None], hosts: dict[UUID, str], parts: int
) -> JointTrial:
    spans = {trial.pk: _span(trial, offsets[trial.run_id]) for trial in trials}
    placed = [trial for trial in trials if spans[trial.pk] is not None]
    first = trials[0]
    cell, series = first.cell, first.cell.series
    shares, overlap_s = _shares(placed, spans, hosts)
    joint = JointTrial(
        ordinal=first.ordinal,
        server=str(series.server),
        workload=series.workload.name,
        connections=_sum([trial.cell.connections for trial in trials]),
        rate_rps=None if cell.rate_rps is None else _sum([t.cell.rate_rps for t in trials]),
        repeat=first.repeat,
        shares=shares,
        missing=parts - len(placed),
        overlap_s=overlap_s,
    )
    return _with_figures(joint, placed) if joint.is_complete else joint


def _with_figures(joint: JointTrial, trials: Sequence[Trial]) -> JointTrial:
    """The figures of all agents together, where each of them is there."""
    completed = sum(share.completed_in_overlap for share in joint.shares)
    merged = _merged(trials)
    return replace(
        joint,
        throughput_rps=completed / joint.overlap_s if joint.overlap_s else None,
        p50_us=None if merged is None else merged.percentile(50),
        p99_us=None if merged is None else merged.percentile(99),
        error_rate=_error_rate(trials),
    )


# Seconds since 1970 by the service's clock.
Span = tuple[float, float]


def _span(trial: Trial, offset_s: float | None) -> Span | None:
    """When it measured, by the service's clock."""
    if offset_s is None or trial.started_at is None or not trial.elapsed_s:
        return None
    if trial.requests_completed is None:
        return None
    began_s = (trial.started_at + timedelta(seconds=offset_s)).timestamp()
    return began_s, began_s + trial.elapsed_s


def _shares(
    trials: Sequence[Trial], spans: dict[UUID, Span | None], hosts: dict[UUID, str]
) -> tuple[tuple[Share, ...], float | None]:
    placed = [(trial, span) for trial in trials if (span := spans[trial.pk]) is not None]
    if not placed:
        return (), None
    placed.sort(key=lambda pair: (pair[1][0], hosts[pair[0].run_id]))
    began_s = max(span[0] for _, span in placed)
    ended_s = min(span[1] for _, span in placed)
    earliest_s = min(span[0] for _, span in placed)
    shares = tuple(
        Share(
            run=trial.run_id,
            trial=trial.pk,
            host=hosts[trial.run_id],
            completed_in_overlap=_completed(trial, began_s - span[0], ended_s - span[0]),
            is_even=_slices(trial) is None,
            skew_ms=(span[0] - earliest_s) * 1000,
        )
        for trial, span in placed
    )
    return shares, max(ended_s - began_s, 0.0)


def _slices(trial: Trial) -> list[dict[str, Any]] | None:
    """The time series, where it counts what completed in every stretch."""
    timeline: TrialTimeline | None = getattr(trial, "timeline", None)
    if timeline is None:
        return None
    slices = timeline.slices
    return slices if slices and all(part["completed"] is not None for part in slices) else None


def _completed(trial: Trial, first_s: float, last_s: float) -> float:
    """Responses between two moments of the trial, counted from its beginning."""
    if last_s <= first_s:
        return 0.0
    slices = _slices(trial)
    if slices is None:
        whole = [(0.0, float(trial.elapsed_s or 0), float(trial.requests_completed or 0))]
    else:
        whole = [(part["start_s"], part["length_s"], float(part["completed"])) for part in slices]
    return sum(
        completed * max(0.0, min(last_s, start_s + length_s) - max(first_s, start_s)) / length_s
        for start_s, length_s, completed in whole
        if length_s
    )


def _merged(trials: Sequence[Trial]) -> Histogram | None:
    encoded = [bytes(trial.histogram) for trial in trials if trial.histogram is not None]
    if not trials or len(encoded) < len(trials):
        return None
    return Histogram.merge_all([Histogram.decode(histogram) for histogram in encoded])


def _error_rate(trials: Sequence[Trial]) -> float | None:
    if any(trial.error_rate is None for trial in trials):
        return None
    counts = [
        attempts(trial.requests_completed, trial.requests_ok, trial.errors) for trial in trials
    ]
    counted = [count for count in counts if count is not None]
    total = sum(made for _, made in counted)
    if len(counted) < len(counts) or not total:
        return None
    return sum(failed for failed, _ in counted) / total


def _sum(values: Sequence[Any]) -> Any:
    """Of all; unknown where one is."""
    return None if any(value is None for value in values) else sum(values)
