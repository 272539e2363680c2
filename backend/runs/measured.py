"""What one trial measured: its load point and its figures, of what envelope and output say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from backend.formats.model import UNANSWERED_CLASSES
from backend.runs.checks import TrialFacts
from backend.runs.host_facts import link_bits_s, local_ports
from backend.runs.models import Run


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial to record: what was asked, and what its artefacts say (the contract's shape)."""

    ordinal: int
    server: Mapping[str, Any]
    workload: Mapping[str, Any]
    load: Mapping[str, Any]
    contract: Mapping[str, Any]
    histogram: bytes | None = None
    # Slices of the trial's time, as the parser gives them (formats.model.TimeSlice as JSON).
    timeline: Sequence[Mapping[str, Any]] = ()
    computed_us: Mapping[str, Any] | None = None
    repeat: int | None = None
    warmup: bool = False
    command: Sequence[str] = ()
    started_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int | None = None
    error: str = ""
    incomplete: bool = False
    disagreements: Sequence[str] = ()
    resources: Mapping[str, Any] = field(default_factory=dict)
    phase: str | None = None
    glance: Mapping[str, Any] = field(default_factory=dict)
    server_tail: str = ""


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """Tool, loop and load: with server and workload, what makes a cell."""

    tool: str
    tool_version: str | None
    loop: str
    connections: int | None
    rate_rps: float | None


def load_point(record: TrialRecord) -> LoadPoint:
    """What the envelope says was asked for, else what the tool's output says."""
    load, contract = record.load, record.contract
    loop = load.get("loop") or contract.get("loop") or "unknown"
    connections = load.get("connections")
    if connections is None:
        connections = contract.get("connections")
    rate = load.get("rate_rps")
    return LoadPoint(
        tool=load.get("tool") or contract.get("tool") or "unknown",
        tool_version=load.get("tool_version") or contract.get("tool_version"),
        loop=loop,
        connections=connections,
        rate_rps=contract.get("requested_rate_rps") if rate is None else rate,
    )


def facts_of(record: TrialRecord, point: LoadPoint, run: Run) -> TrialFacts:
    """The figures of a trial, ours computed from the counts; unknown stays None."""
    contract = record.contract
    latency = contract.get("latency_us") or {}
    completed, ok = contract.get("requests_completed"), contract.get("requests_ok")
    errors = contract.get("errors") or {}
    computed = record.computed_us
    elapsed_s = measured_s(contract)
    return TrialFacts(
        connections=point.connections,
        loop=point.loop,
        offered_rps=point.rate_rps,
        elapsed_s=elapsed_s,
        requests_completed=completed,
        requests_ok=ok,
        throughput_rps=_rate(completed, elapsed_s),
        goodput_rps=_rate(ok, elapsed_s),
        reported_rps=contract.get("reported_rps"),
        error_rate=error_rate(completed, ok, errors),
        errors=errors,
        latency_mean_us=(computed or latency).get("mean"),
        latency_min_us=(computed or latency).get("min"),
        latency_max_us=(computed or latency).get("max"),
        percentiles_us=(computed or latency).get("percentiles") or {},
        percentiles_origin=_origin(computed, latency),
        latency_resolution_us=contract.get("latency_resolution_us"),
        same_host=run.same_host,
        exit_code=record.exit_code,
        incomplete=record.incomplete,
        disagreements=tuple(record.disagreements),
        server_version=record.server.get("version"),
        host_known=run.server_host is not None,
        keepalive=_known(record.workload.get("keepalive"), contract.get("keepalive")),
        transfer_rate_bytes_s=_rate(contract.get("bytes_received"), elapsed_s),
        second_rates_rps=tuple(_second_rates(record.timeline)),
        link_bits_s=link_bits_s(run.facts),
        local_ports=local_ports(run.facts),
        client_cpu_s=_figure(record.resources.get("client_cpu_s")),
        session_parts=run.session.get("parts"),
        client_threads=_known(record.load.get("threads"), contract.get("threads")),
    )


def measured_s(contract: Mapping[str, Any]) -> float | None:
    """How long was measured: h2load's time includes the warm-up, which its counts leave out."""
    elapsed_s = contract.get("elapsed_s")
    return None if elapsed_s is None else float(elapsed_s - (contract.get("warmup_s") or 0))


def _known(asked: Any, said: Any) -> Any:
    return said if asked is None else asked


def _figure(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _second_rates(timeline: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Throughput of the whole seconds: the last one is cut off by the end of the trial."""
    for part in timeline[:-1]:
        if part["length_s"] == 1 and part["completed"] is not None:
            yield float(part["completed"])


def _origin(computed: Mapping[str, Any] | None, latency: Mapping[str, Any]) -> str | None:
    if computed is not None:
        return "computed"
    return "reported" if latency.get("percentiles") else None


def _rate(count: int | None, elapsed_s: float | None) -> float | None:
    return count / elapsed_s if count is not None and elapsed_s else None


def error_rate(
    completed: int | None, ok: int | None, errors: Mapping[str, int | None]
) -> float | None:
    """Failed attempts / attempts, or None when the tool does not tell what succeeded."""
    counts = attempts(completed, ok, errors)
    return counts[0] / counts[1] if counts and counts[1] else None


def attempts(
    completed: int | None, ok: int | None, errors: Mapping[str, int | None]
) -> tuple[int, int] | None:
    """Failed attempts and attempts, or None when the tool does not tell what succeeded.

    `ok` are the successes among `completed`; the tools' unanswered attempts come on top, except
    where a tool counts a late answer (timeout) or a receive error among the completed as well:
    then ok already misses it, and an attempt is never counted twice.
    """
    if completed is None or ok is None:
        return None
    unanswered = sum(errors.get(name) or 0 for name in UNANSWERED_CLASSES)
    failed_completed = max(completed - ok, 0)
    status = errors.get("status") or 0
    counted_inside = max(failed_completed - status, 0)
    outside = max(unanswered - counted_inside, 0)
    return failed_completed + outside, completed + outside
