"""What a check reads (CheckInput) and what it answers (Finding), and figures in its sentences.

It reads too what the envelope declares of a trial, and what its output says of the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from backend.runs.checks.response_sizes import ResponseSize


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What one source says of how a trial was measured. None: it does not say."""

    connections: int | None = None
    threads: int | None = None
    rate_rps: float | None = None
    duration_s: float | None = None
    keepalive: bool | None = None
    tls: bool | None = None
    method: str | None = None
    path: str | None = None
    payload_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the envelope asked for, and what the output says.

    `url`: that the tool called. `response`: its bytes by the output, with or without its header.
    `host_names`: of client and server, None where unknown.
    """

    asked: Claims = field(default_factory=Claims)
    printed: Claims = field(default_factory=Claims)
    url: str | None = None
    response: ResponseSize | None = None
    host_names: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Finding:
    """A check that fired: its id, and one sentence with the figures that made it fire."""

    id: str
    detail: str

    def as_dict(self) -> dict[str, str]:
        return {"id": self.id, "detail": self.detail}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInput:
    """One trial as measured. None is unknown: a rule that needs an unknown figure does not fire."""

    warmup: bool = False
    tool: str | None = None
    loop: str | None = None
    connections: int | None = None
    offered_rps: float | None = None
    # Of the offered requests, the share that an open loop sent.
    sent_share: float | None = None
    keepalive: bool | None = None
    # Of a load tool that was asked for a number of requests, and for no time.
    requests_asked: int | None = None

    elapsed_s: float | None = None
    # From the start to the end, with a warm-up that `elapsed_s` leaves out.
    lasted_s: float | None = None
    # What a log of requests reaches, where the output has no elapsed time.
    logged_s: float | None = None
    requests_completed: int | None = None
    requests_ok: int | None = None
    # Completed requests and all failed attempts that the output names, however it counts them.
    attempts_most: int | None = None
    throughput_rps: float | None = None
    goodput_rps: float | None = None
    reported_rps: float | None = None
    # All attempts, those that failed, and their share; the least share where that is unknown.
    attempts: int | None = None
    failed: int | None = None
    error_rate: float | None = None
    least_error_rate: float | None = None
    errors: Mapping[str, int | None] = field(default_factory=dict)
    status_counts: Mapping[str, int] | None = None
    # Responses that are redirects or errors, and count as failed: the load tool does not say which.
    not_2xx: int | None = None
    # Attempts that failed on the client's own host.
    client_errors: int = 0

    transfer_rate_bytes_s: float | None = None
    bytes_received: int | None = None
    printed_transfer_bytes_s: float | None = None
    # What else the output says of its rate: see ParsedTrial.
    threads_rps: float | None = None
    request_time_us: float | None = None
    # Throughput of each whole second of the trial, where the output has a time series.
    second_rates_rps: tuple[float, ...] = ()

    latency_mean_us: float | None = None
    latency_min_us: float | None = None
    latency_max_us: float | None = None
    percentiles_us: Mapping[str, float] = field(default_factory=dict)
    percentiles_origin: str | None = None
    latency_resolution_us: float | None = None

    server_version: str | None = None
    # What the responses say in their header Server, and whether anybody named the server.
    server_software: str | None = None
    is_server_named: bool = True
    host_known: bool = False
    same_host: bool | None = None
    # The slower of the two hosts' network interfaces, in bits per second.
    link_bits_s: float | None = None
    # First and last port of the client host's ephemeral range.
    local_ports: tuple[int, int] | None = None
    # CPU time of the load tool over the trial, and how many threads it may use.
    client_cpu_s: float | None = None
    client_threads: int | None = None
    # Busy share of each core of the client host, and the share of all time the hypervisor took.
    client_core_shares: tuple[float, ...] = ()
    client_steal: float | None = None
    # The share of all time of the client host that went to interrupts, how long its cores were
    # watched, and CPU time of the server and of the services beside it in that time.
    client_irq: float | None = None
    watched_s: float | None = None
    server_cpu_s: float | None = None
    services_cpu_s: float | None = None
    # The CPU governor of each host that tells it: {"client": "powersave"}.
    governors: Mapping[str, str] = field(default_factory=dict)
    # What is recorded of the server: version, runtime, settings, and what it printed.
    server_texts: tuple[str, ...] = ()
    server_runtime: str | None = None
    server_settings: Mapping[str, object] = field(default_factory=dict)
    # Title, date and place, where the figures are copied from a publication.
    publication: str = ""

    # Which start of the server in its run it met, and when it was measured.
    server_start: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None

    # How many agents sent requests together, where this is the trial of one of them.
    session_parts: int | None = None

    # What the envelope and the output say of how the trial was measured.
    evidence: Evidence = field(default_factory=Evidence)

    exit_code: int | None = None
    # Whether the server answered a request after the trial; asked where the trial went badly.
    answers_after: bool | None = None
    incomplete: bool = False
    # Sentences of the parser about figures of the output that contradict one another.
    disagreements: tuple[str, ...] = ()
    # What the parser says of rows that hold a part of the requests.
    partial_samples: str = ""

    @property
    def has_figures(self) -> bool:
        """Whether there is any figure: a load tool that crashed leaves none."""
        figures = (self.throughput_rps, self.error_rate, *self.percentiles_us.values())
        return any(value is not None for value in figures)


def percent_text(share: float, *, sign: bool = False) -> str:
    """`3.12 %` of a share."""
    return f"{share * 100:{'+' if sign else ''}.3g} %"


def time_text(microseconds: float) -> str:
    """`59 ms`: a latency in the unit that suits its size."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.4g} s"
    return f"{microseconds / 1e3:.4g} ms" if microseconds >= 1e3 else f"{microseconds:.4g} µs"


def rate_text(rate_rps: float) -> str:
    """`1,234.56`: six digits, and each digit before the point of a larger number."""
    return f"{rate_rps:,.6g}" if rate_rps < 999_999.5 else f"{rate_rps:,.0f}"
