"""Trials that several agents measured at the same time, put together.

Rates are summed over the time in which all of them attacked, by the service's clock; distributions
are merged by their counts; what one of them does not tell is unknown of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from backend.formats.model import TimeSlice
from backend.formats.outcome import share_of
from backend.formats.read_trial import read_slices, unpack_slices
from backend.runs.models import Trial, TrialTimeline
from backend.stats import Histogram

# To read and merge a histogram takes as long as to read so many bytes of a time series.
HISTOGRAM_BYTES = 8 << 10


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


class Allowance:
    """How many bytes may still be unpacked for one answer."""

    def __init__(self, most_bytes: int) -> None:
        self._left_bytes = most_bytes

    def spend(self, size_bytes: int) -> None:
        self._left_bytes -= size_bytes

    @property
    def is_spent(self) -> bool:
        """Whether more was unpacked than is allowed."""
        return self._left_bytes < 0


@dataclass(frozen=True, slots=True)
class Agents:
    """What is known of the runs of a session by their ids: the offsets of their clocks and the
    names of their hosts; and how many agents it has."""

    offsets_s: dict[UUID, float | None]
    hosts: dict[UUID, str]
    parts: int


# Seconds since 1970 by the service's clock.
Span = tuple[float, float]
_Placed = Sequence[tuple[Trial, Span]]


def join_trials(trials: Sequence[Trial], agents: Agents, allowance: Allowance) -> JointTrial | None:
    """One trial of several agents; None where the allowance does not last for all of it.

    Each time series and each histogram is unpacked once, and let go before the next.
    """
    placed = _place(trials, agents)
    shares = _shares(placed, agents, allowance)
    if shares is None:
        return None
    first = trials[0]
    cell, series = first.cell, first.cell.series
    joint = JointTrial(
        ordinal=first.ordinal,
        server=str(series.server),
        workload=series.workload.name,
        connections=_sum([trial.cell.connections for trial in trials]),
        rate_rps=None if cell.rate_rps is None else _sum([t.cell.rate_rps for t in trials]),
        repeat=first.repeat,
        shares=shares,
        missing=agents.parts - len(placed),
        overlap_s=_length_s(_overlap(placed)) if placed else None,
    )
    if not joint.is_complete:
        return joint
    joint = _with_figures(joint, [trial for trial, _ in placed], allowance)
    return None if allowance.is_spent else joint


def _with_figures(joint: JointTrial, trials: Sequence[Trial], allowance: Allowance) -> JointTrial:
    """The figures of all agents together, where each of them is there."""
    completed = sum(share.completed_in_overlap for share in joint.shares)
    merged = _merged(trials, allowance)
    return replace(
        joint,
        throughput_rps=completed / joint.overlap_s if joint.overlap_s else None,
        p50_us=None if merged is None else merged.percentile(50),
        p99_us=None if merged is None else merged.percentile(99),
        error_rate=_error_rate(trials),
    )


def _place(trials: Sequence[Trial], agents: Agents) -> _Placed:
    """The trials whose time is known, in the order in which they began."""
    spans = ((trial, _span(trial, agents.offsets_s[trial.run_id])) for trial in trials)
    placed = [(trial, span) for trial, span in spans if span is not None]
    return sorted(placed, key=lambda pair: (pair[1][0], agents.hosts[pair[0].run_id]))


def _span(trial: Trial, offset_s: float | None) -> Span | None:
    """When it measured, by the service's clock."""
    if offset_s is None or trial.started_at is None or not trial.elapsed_s:
        return None
    if trial.requests_completed is None:
        return None
    began_s = (trial.started_at + timedelta(seconds=offset_s)).timestamp()
    return began_s, began_s + trial.elapsed_s


def _overlap(placed: _Placed) -> Span:
    """When all of them measured; where they did not meet, it ends before it begins."""
    return max(span[0] for _, span in placed), min(span[1] for _, span in placed)


def _length_s(span: Span) -> float:
    return max(span[1] - span[0], 0.0)


def _shares(placed: _Placed, agents: Agents, allowance: Allowance) -> tuple[Share, ...] | None:
    """The part of each agent; None where the allowance is spent."""
    if not placed:
        return ()
    earliest_s = placed[0][1][0]
    began_s, ended_s = _overlap(placed)
    shares = []
    for trial, span in placed:
        slices = _slices(trial, allowance)
        if allowance.is_spent:
            return None
        shares.append(
            Share(
                run=trial.run_id,
                trial=trial.pk,
                host=agents.hosts[trial.run_id],
                completed_in_overlap=_completed(
                    trial, slices, began_s - span[0], ended_s - span[0]
                ),
                is_even=slices is None,
                skew_ms=(span[0] - earliest_s) * 1000,
            )
        )
    return tuple(shares)


def _slices(trial: Trial, allowance: Allowance) -> Sequence[TimeSlice] | None:
    """The time series, where it counts what completed in every stretch; None too where the
    allowance is spent."""
    timeline: TrialTimeline | None = getattr(trial, "timeline", None)
    if timeline is None:
        return None
    text = unpack_slices(timeline.packed)
    allowance.spend(len(text))
    slices = () if allowance.is_spent else read_slices(text)
    return slices if slices and all(part.completed is not None for part in slices) else None


def _completed(
    trial: Trial, slices: Sequence[TimeSlice] | None, first_s: float, last_s: float
) -> float:
    """Responses between two moments of the trial, counted from its beginning."""
    if last_s <= first_s:
        return 0.0
    if slices is None:
        whole = TimeSlice(
            start_s=0.0, length_s=trial.elapsed_s or 0.0, completed=trial.requests_completed
        )
        slices = (whole,)
    return sum(
        (part.completed or 0)
        * max(0.0, min(last_s, part.start_s + part.length_s) - max(first_s, part.start_s))
        / part.length_s
        for part in slices
        if part.length_s
    )


def _merged(trials: Sequence[Trial], allowance: Allowance) -> Histogram | None:
    """The distribution of all; None where one has none, or the allowance is spent."""
    if not trials or any(trial.histogram is None for trial in trials):
        return None
    merged = Histogram()
    for trial in trials:
        allowance.spend(HISTOGRAM_BYTES)
        if allowance.is_spent:
            return None
        merged = Histogram.merge_all((merged, Histogram.decode(bytes(trial.histogram or b""))))
    return merged


def _error_rate(trials: Sequence[Trial]) -> float | None:
    failed = _sum([trial.failed for trial in trials])
    made = _sum([trial.attempts for trial in trials])
    return None if failed is None else share_of(failed, made)


def _sum(values: Sequence[Any]) -> Any:
    """Of all; unknown where one is."""
    return None if any(value is None for value in values) else sum(values)
