"""A session: the trials that several agents measured at once, joined by their number.

Rates are summed over the time in which all of them attacked, by the service's clock; distributions
are merged by their counts; what one of them does not tell is unknown of the whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db.models import F, TextField
from django.db.models.functions import Cast, Left

from backend.formats.outcome import share_of
from backend.runs.measured.host_facts import APPLIED, offset_left_s
from backend.runs.models import Run, Trial, TrialTimeline
from backend.runs.tables.happening import happened_at_of
from backend.stats import Histogram

# As many as a session may have agents. A run of it may come again.
MOST_RUNS = 1_000
# Of all runs, as many as one comparison counts.
MOST_TRIALS = 20_000
TRIALS_AT_ONCE = 100
# More than any number has.
MOST_CLOCK_TEXT = 40
# The columns that are read here and by the page: runs and trials have many more, and large ones.
_SHOWN = (
    *("session", "agent", "started_at", "recorded_at", "is_open", "interrupted"),
    *("client_host__name", "client_host__cpu_model"),
)
_SHOWN_WITH_TRIAL = ("cell__series__server", "cell__series__workload", "timeline")
_SHOWN_OF_TRIAL = (
    *("run_id", "ordinal", "repeat", "started_at", "elapsed_s", "requests_completed"),
    *("attempts", "failed", "histogram", "timeline__packed"),
    *("cell__connections", "cell__rate_rps", "cell__series__workload__name"),
    *("cell__series__server__name", "cell__series__server__version"),
)


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
    # Sentences on what is not shown.
    left_out: tuple[str, ...]
    # Hosts whose clock is not known: their trials cannot be placed beside the others.
    without_clock: tuple[str, ...]


def describe_session(workspace_id: UUID, name: str) -> MeasuredSession | None:
    """None if no run of such a session has come."""
    first = _first_runs(workspace_id, name, MOST_RUNS + 1)
    runs = first[:MOST_RUNS]
    if not runs:
        return None
    left_out = [f"Only the first {MOST_RUNS:,} runs are shown."] if len(first) > MOST_RUNS else []
    parts = _part_count(runs)
    offsets = {run.pk: _offset_s(run) for run in runs}
    hosts = {run.pk: _host_name(run) for run in runs}
    numbers, most = _ordinals(runs), max(1, MOST_TRIALS // len(runs))
    if len(numbers) > most:
        left_out.append(f"Only the first {most:,} trials are shown.")
    trials = tuple(
        _put_together(trials, offsets, hosts, parts)
        for trials in _trials_of_ordinals(runs, numbers[:most])
    )
    without_clock = tuple(hosts[run.pk] for run in runs if offsets[run.pk] is None)
    return MeasuredSession(name, parts, runs, trials, tuple(left_out), without_clock)


def _first_runs(workspace_id: UUID, name: str, most: int) -> tuple[Run, ...]:
    """The runs of a session, with what the page shows and what their clients' clocks say."""
    rows = Run.objects.filter(workspace=workspace_id, session__name=name)
    rows = rows.annotate(offset_s=_clock_text("offset_s"), is_applied=_clock_text(APPLIED))
    shown = rows.select_related("client_host").only(*_SHOWN)
    return tuple(shown.order_by(happened_at_of(), "pk")[:most])


def _part_count(runs: Sequence[Run]) -> int:
    """How many agents the session has; where no run tells it, those that came."""
    return max(int(run.session.get("parts") or len(runs)) for run in runs)


def _clock_text(name: str) -> Left:
    """What the facts of the client say of its clock, as JSON; the facts may hold megabytes."""
    return Left(Cast(F(f"facts__client__clock__{name}"), TextField()), MOST_CLOCK_TEXT)


def _offset_s(run: Any) -> float | None:
    """As `offset_left_s`, of a run with the texts of its clock."""
    texts = {"offset_s": run.offset_s, APPLIED: run.is_applied}
    clock = {key: _json_of(text) for key, text in texts.items() if text is not None}
    return offset_left_s({"clock": clock})


def _json_of(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None  # cut off: it was neither a number nor a truth value


def _host_name(run: Run) -> str:
    return str(run.client_host or run.agent.get("hostname") or "unknown")


def _ordinals(runs: Sequence[Run]) -> list[int]:
    """The numbers of the trials of all runs, in order."""
    rows = Trial.objects.filter(run__in=runs, warmup=False).order_by("ordinal")
    return list(rows.values_list("ordinal", flat=True).distinct())


def _trials_of_ordinals(runs: Sequence[Run], ordinals: Sequence[int]) -> Iterator[list[Trial]]:
    """The trials of all runs that have one number, in the order of the numbers; few at a time,
    because each may have a long time series."""
    at_once = max(1, TRIALS_AT_ONCE // len(runs))
    for start in range(0, len(ordinals), at_once):
        some = ordinals[start : start + at_once]
        rows = Trial.objects.filter(run__in=runs, warmup=False, ordinal__in=some)
        by_ordinal: dict[int, list[Trial]] = {ordinal: [] for ordinal in some}
        for trial in rows.select_related(*_SHOWN_WITH_TRIAL).only(*_SHOWN_OF_TRIAL):
            by_ordinal[trial.ordinal].append(trial)
        yield from by_ordinal.values()


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
    failed = _sum([trial.failed for trial in trials])
    made = _sum([trial.attempts for trial in trials])
    return None if failed is None else share_of(failed, made)


def _sum(values: Sequence[Any]) -> Any:
    """Of all; unknown where one is."""
    return None if any(value is None for value in values) else sum(values)
