"""One trial to record: its load point and its figures, from the envelope and the output.

Among them is how many attempts it made, and how many of them failed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from backend.formats.command_line import asked_rate, asked_requests
from backend.formats.model import UNANSWERED_CLASSES, Latency, ParsedTrial, TimeSlice
from backend.formats.read_trial import ReadTrial, slices_in
from backend.runs.checks import CheckInput
from backend.runs.measured.evidence import command_words, evidence_of
from backend.runs.measured.host_facts import governors, link_bits_s, local_ports
from backend.runs.models import Run, Trial
from backend.runs.tables.server_texts import SERVER_TEXTS

Origin = Literal["computed", "reported"]
# Begins the name of a server that nobody named.
UNKNOWN_SERVER = "unknown server"
# The setting of a server whose name is from the output.
NAMED_BY = "named_by"
# Stands for a trial whose artefacts were not read.
UNREAD = ParsedTrial(tool="", loop=None)


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial to record: what was asked, and what was read from its artefacts."""

    ordinal: int
    server: Mapping[str, Any]
    workload: Mapping[str, Any]
    load: Mapping[str, Any]
    # None if nothing was read.
    reading: ReadTrial | None
    repeat: int | None = None
    warmup: bool = False
    command: Sequence[str] = ()
    started_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int | None = None
    error: str = ""
    resources: Mapping[str, Any] = field(default_factory=dict)
    phase: str | None = None
    glance: Mapping[str, Any] = field(default_factory=dict)
    server_tail: str = ""

    @property
    def parsed(self) -> ParsedTrial:
        """What the artefacts say; nothing where they were not read."""
        return UNREAD if self.reading is None else self.reading.parsed

    @property
    def output_sha256(self) -> bytes | None:
        """What names the output (formats/output_names.py); None where nothing was read."""
        name = self.parsed.output_name
        return bytes.fromhex(name) if name else None

    @property
    def slices(self) -> Sequence[TimeSlice]:
        """The time series, unpacked anew each time; empty if there is none."""
        return () if self.reading is None else slices_in(self.reading.timeline)

    @property
    def histogram(self) -> bytes | None:
        """The encoded histogram; None if there is none."""
        return None if self.reading is None else self.reading.histogram


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """Tool, loop and load: a cell has one server, one workload and one load point."""

    tool: str
    tool_version: str | None
    loop: str
    connections: int | None
    rate_rps: float | None


def load_point(record: TrialRecord) -> LoadPoint:
    """What the envelope says was asked for, else the command, else the tool's output."""
    load, parsed = record.load, record.parsed
    rates = (
        load.get("rate_rps"),
        asked_rate(parsed.tool, command_words(record)),
        parsed.requested_rate_rps,
        parsed.offered_rps,
    )
    return LoadPoint(
        tool=load.get("tool") or parsed.tool or "unknown",
        tool_version=load.get("tool_version") or parsed.tool_version,
        loop=load.get("loop") or parsed.loop or "unknown",
        connections=_first_known(load.get("connections"), parsed.connections),
        rate_rps=next((rate for rate in rates if rate is not None), None),
    )


def check_input_of(record: TrialRecord, point: LoadPoint, run: Run) -> CheckInput:
    """What the checks read of a trial: its figures, its host and how it was measured."""
    parsed, resources = record.parsed, record.resources
    return replace(
        _figures_of(record, point),
        same_host=run.same_host,
        exit_code=record.exit_code,
        server_version=record.server.get("version"),
        server_software=parsed.server_software,
        is_server_named=not str(record.server.get("name")).startswith(UNKNOWN_SERVER),
        host_known=run.server_host is not None,
        keepalive=_first_known(record.workload.get("keepalive"), parsed.keepalive),
        link_bits_s=link_bits_s(run.facts),
        local_ports=local_ports(run.facts),
        client_cpu_s=_number(resources.get("client_cpu_s")),
        session_parts=run.session.get("parts"),
        client_threads=_first_known(record.load.get("threads"), parsed.threads),
        client_core_shares=_shares(resources.get("client_cpu_per_core")),
        client_steal=_number(resources.get("client_cpu_steal")),
        client_irq=_number(resources.get("client_cpu_irq")),
        watched_s=_watched_s(record),
        server_cpu_s=_number(resources.get("server_cpu_s")),
        services_cpu_s=_number(resources.get("services_cpu_s", 0.0)),
        answers_after=_answers_after(resources),
        governors=governors(run.facts),
        requests_asked=_requests_asked(record),
        server_texts=tuple(server_texts(record.server, record.server_tail, run)),
        server_runtime=record.server.get("runtime"),
        server_settings=record.server.get("configuration") or {},
        publication=", ".join(parsed.publication.values()),
        evidence=evidence_of(record, run),
    )


def _figures_of(record: TrialRecord, point: LoadPoint) -> CheckInput:
    """The figures of a trial; rates are computed from the counts. Unknown stays None."""
    parsed, slices = record.parsed, record.slices
    computed = None if record.reading is None else record.reading.computed
    latency = computed or parsed.latency
    completed, ok = parsed.requests_completed, parsed.requests_ok
    errors = _error_counts(record)
    elapsed_s = parsed.measured_s
    return CheckInput(
        tool=point.tool,
        connections=point.connections,
        loop=point.loop,
        offered_rps=point.rate_rps,
        sent_share=_sent_share(parsed, point.rate_rps),
        elapsed_s=elapsed_s,
        requests_completed=completed,
        requests_ok=ok,
        throughput_rps=_throughput(parsed),
        goodput_rps=_rate(ok, elapsed_s),
        reported_rps=parsed.reported_rps,
        **_outcome(parsed, errors),
        errors=errors,
        status_counts=parsed.status_counts,
        not_2xx=parsed.not_2xx,
        client_errors=parsed.client_errors,
        latency_mean_us=latency.mean_us,
        latency_min_us=latency.min_us,
        latency_max_us=latency.max_us,
        percentiles_us=latency.percentiles,
        percentiles_origin=_origin(computed, parsed.latency),
        latency_resolution_us=parsed.latency_resolution_us,
        incomplete=parsed.incomplete,
        disagreements=parsed.disagreements,
        partial_samples=parsed.partial_samples,
        transfer_rate_bytes_s=_rate(parsed.bytes_received, elapsed_s),
        **_printed_beside(parsed),
        logged_s=_logged_s(parsed, slices),
        second_rates_rps=tuple(_second_rates(slices)),
    )


def _outcome(parsed: ParsedTrial, errors: Mapping[str, int | None]) -> dict[str, Any]:
    """How many attempts were made and how many of them failed."""
    outcome = replace(parsed, errors={**parsed.errors, **errors}).outcome
    return {
        "attempts": outcome.attempts,
        "failed": outcome.failed,
        "error_rate": outcome.error_rate,
        "least_error_rate": outcome.least_rate,
    }


def _printed_beside(parsed: ParsedTrial) -> dict[str, Any]:
    """What the output says of time, counts and rates, to be held against each other."""
    return {
        "lasted_s": parsed.elapsed_s,
        "attempts_most": _attempts_most(parsed),
        "bytes_received": parsed.bytes_received,
        "printed_transfer_bytes_s": parsed.transfer_rate_bytes_s,
        "threads_rps": parsed.threads_rps,
        "request_time_us": parsed.request_time_us,
    }


def _attempts_most(parsed: ParsedTrial) -> int | None:
    """The most attempts that the counts of the output can stand for; None if nobody can tell."""
    completed, ok = parsed.requests_completed, parsed.requests_ok
    extra = parsed.extra.get("extra") or {}
    sent: int | None = extra.get("requests_sent", extra.get("requests_sent_at_most"))
    if completed is None:
        return sent
    unanswered = sum(parsed.errors.get(name) or 0 for name in UNANSWERED_CLASSES)
    named = sum(count or 0 for count in parsed.tool_errors.values())
    # What the tool names beyond these is no response and no class: requests that were aborted when
    # the time was up, or responses that it does not count.
    known = unanswered + (0 if ok is None else completed - ok)
    return max(completed + unanswered + max(named - known, 0), sent or 0)


def _sent_share(parsed: ParsedTrial, offered_rps: float | None) -> float | None:
    """The share of the offered requests that the load tool sent; None if it does not tell."""
    if parsed.sent_share is not None or parsed.sent_rps is None or not offered_rps:
        return parsed.sent_share
    return parsed.sent_rps / offered_rps


def _error_counts(record: TrialRecord) -> dict[str, int | None]:
    """The failed attempts by class.

    An output that lists answers alone proves that every attempt was answered, where it has as many
    answers as requests were asked for.
    """
    parsed = record.parsed
    errors = {} if record.reading is None else parsed.error_counts
    asked = _requests_asked(record) if parsed.lists_answers_only else None
    if asked is None or (parsed.requests_completed or 0) < asked:
        return errors
    return {**errors, **dict.fromkeys(UNANSWERED_CLASSES, 0)}


def _requests_asked(record: TrialRecord) -> int | None:
    """The number of requests that ends the trial; None where time may end it first."""
    load, parsed = record.load, record.parsed
    if load.get("duration_s") or parsed.requested_duration_s:
        return None
    stated: int | None = _first_known(load.get("requests"), parsed.requested_requests)
    return asked_requests(parsed.tool, command_words(record)) if stated is None else stated


def _logged_s(parsed: ParsedTrial, slices: Sequence[TimeSlice]) -> float | None:
    """The seconds that a log of requests reaches, where the output has no other time."""
    if parsed.measured_s is not None or not slices:
        return None
    return sum(part.length_s for part in slices)


def _watched_s(record: TrialRecord) -> float | None:
    """Seconds between start and end of the load tool."""
    if record.started_at is None or record.finished_at is None:
        return record.parsed.measured_s
    return (record.finished_at - record.started_at).total_seconds()


def _answers_after(resources: Mapping[str, Any]) -> bool | None:
    value = resources.get("server_answers_after")
    return value if isinstance(value, bool) else None


def _shares(value: Any) -> tuple[float, ...]:
    """A share for each core; empty if one of them is unknown."""
    shares = [_number(share) for share in value] if isinstance(value, list) else []
    numbers = tuple(share for share in shares if share is not None)
    return numbers if len(numbers) == len(shares) else ()


def server_texts(server: Mapping[str, Any], tail: str, run: Run) -> Iterator[str]:
    """Everything that is recorded in words of a server in a trial; `tail` is its last output."""
    for text in (*(server.get(text.name) for text in SERVER_TEXTS), tail):
        if text:
            yield str(text)
    for name, value in (server.get("configuration") or {}).items():
        yield f"{name}={value}"
    run_tail = run.server_tails.get(server.get("name"))
    if run_tail:
        yield run_tail


def _first_known(asked: Any, parsed: Any) -> Any:
    return parsed if asked is None else asked


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _second_rates(timeline: Sequence[TimeSlice]) -> Iterator[float]:
    """Throughput of the whole seconds: the last one is cut off by the end of the trial."""
    for part in timeline[:-1]:
        if part.length_s == 1 and part.completed is not None:
            yield float(part.completed)


def _origin(computed: Latency | None, reported: Latency) -> Origin | None:
    if computed is not None:
        return "computed"
    return "reported" if reported.percentiles else None


def _throughput(parsed: ParsedTrial) -> float | None:
    """Completed ÷ elapsed; where the output lacks one of them, the rate that the tool printed.

    Tools differ in whether their rate counts attempts without a response: a printed rate stands for
    throughput only where every attempt was answered, as far as the output says.
    """
    if parsed.requests_completed is not None and parsed.measured_s is not None:
        return _rate(parsed.requests_completed, parsed.measured_s)
    unanswered = sum(parsed.errors.get(name) or 0 for name in UNANSWERED_CLASSES)
    is_split_unknown = parsed.requests_completed is None and (
        parsed.requests_ok is not None or bool(parsed.outcome.failed)
    )
    return None if unanswered or is_split_unknown else parsed.reported_rps


def throughput_origin(
    throughput_rps: float | None, completed: int | None, elapsed_s: float | None
) -> Origin | None:
    """Whether a throughput is computed or the tool's own rate; None if there is none."""
    if throughput_rps is None:
        return None
    return "reported" if completed is None or elapsed_s is None else "computed"


def throughput_origin_of(figures: CheckInput | Trial) -> Origin | None:
    """The same for a trial's figures."""
    return throughput_origin(figures.throughput_rps, figures.requests_completed, figures.elapsed_s)


def _rate(count: int | None, elapsed_s: float | None) -> float | None:
    return count / elapsed_s if count is not None and elapsed_s else None
