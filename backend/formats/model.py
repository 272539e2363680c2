"""The data of the formats: artefacts in, trials or refusals out. No behaviour."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from backend.errors import InvalidInput
from backend.formats.outcome import Outcome, outcome_as_printed, outcome_by_class
from backend.stats import Histogram

# How an attempt can fail; the other files name these classes only through here.
ERROR_CLASSES = ("connect", "read", "write", "timeout", "status", "length", "other")
# Those without a response: such attempts are not among the completed requests.
UNANSWERED_CLASSES = tuple(name for name in ERROR_CLASSES if name not in ("status", "length"))
# An attempt that failed on the client's own host, for want of ports or open files: it never reached
# the server, and is no error of the server.
CLIENT_CLASS = "client"
# Whole numbers stay whole when they are written as JSON and read again.
Number = int | float


# The figures that every tool can have, in the order in which tools are compared.
FIGURES = (
    "tool",
    "tool_version",
    "url",
    "loop",
    "connections",
    "threads",
    "requested_rate_rps",
    "requested_requests",
    "requested_duration_s",
    "keepalive",
    "elapsed_s",
    "requests_completed",
    "requests_ok",
    "reported_rps",
    "bytes_received",
    "transfer_rate_bytes_s",
)


@dataclass(frozen=True, slots=True)
class RawArtefact:
    """One file of a trial as received: its name, and its bytes from the start at each `open`.

    A stream, since a log of every request can be larger than the memory there is.
    """

    name: str
    open: Callable[[], BinaryIO]
    # The number of its first line, for a part of a file.
    first_line: int = 1

    @classmethod
    def of(cls, name: str, data: bytes) -> RawArtefact:
        """The artefact with these bytes."""
        return cls(name, lambda: io.BytesIO(data))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSlice:
    """What completed in one stretch of a trial, a second long where the tool allows it.

    None means that the tool does not say it.
    """

    # Since the trial's first request.
    start_s: Number
    length_s: Number
    # Responses, whatever their status, and failed attempts of every class.
    completed: int | None = None
    failed: int | None = None
    # The tool's own rate over the slice, where it gives no counts.
    reported_rps: Number | None = None
    # Encoded latencies of the slice: an hour of open histograms would not fit in memory.
    histogram: bytes | None = field(default=None, repr=False)
    # The tool's own percentiles of the slice ("95"), in microseconds.
    percentiles: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Latency:
    """Whole-request latency as the tool reports it, in microseconds; None if it does not."""

    mean_us: Number | None = None
    stdev_us: Number | None = None
    min_us: Number | None = None
    max_us: Number | None = None
    # Keys are percentiles as written ("50", "99.9"), values microseconds.
    percentiles: Mapping[str, Number] = field(default_factory=dict)

    @property
    def printed_origin(self) -> str | None:
        """What it is made of where a report prints it: `percentiles`, else `summary`."""
        if self.percentiles:
            return "percentiles"
        return None if self == Latency() else "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTrial:
    """What the artefacts of one trial say. None means that the tool does not say it.

    Times end in `_s` (seconds) or `_us` (microseconds), sizes are bytes, rates per second.
    `throughput` is not here on purpose: it is computed from counts, never copied from a tool.
    """

    # Set by `reading`, which knows whose output it is; named here where a package reads two tools.
    tool: str = ""
    tool_version: str | None = None
    url: str | None = None
    loop: str | None = "closed"
    connections: int | None = None
    threads: int | None = None
    requested_rate_rps: Number | None = None
    # Of an open loop whose output shows what it sent and not what was asked: the rate that it
    # sent, and the round rate that this comes from.
    sent_rps: Number | None = None
    offered_rps: Number | None = None
    # Of an open loop that tells what it could not send: the share that it sent.
    sent_share: float | None = None
    requested_requests: int | None = None
    requested_duration_s: Number | None = None
    keepalive: bool | None = None
    # The header "Server" of the responses.
    server_software: str | None = None
    elapsed_s: Number | None = None
    # What the printed rate and its count say of the same time, where that is finer.
    exact_elapsed_s: Number | None = None
    # The share of `elapsed_s` that was a warm-up, which the counts leave out.
    warmup_s: Number | None = None
    requests_completed: int | None = None
    requests_ok: int | None = None
    # All attempts, and those that the tool prints as failed, whatever their class: where the counts
    # by class are unknown or overlap. Read `outcome` instead, which has the counts of every trial.
    attempts: int | None = None
    failed: int | None = None
    reported_rps: Number | None = None
    bytes_received: int | None = None
    # Of bodies alone, where the tool counts headers too and tells them apart.
    body_bytes: int | None = None
    transfer_rate_bytes_s: Number | None = None
    # What follows from the rate, and is printed beside it: the rates of wrk's threads, where these
    # are steady, and ab's time of a request, connections × time ÷ requests.
    threads_rps: Number | None = None
    request_time_us: Number | None = None
    errors: Mapping[str, int | None] = field(default_factory=dict)
    # The output leaves out attempts without a response, so nobody knows how many these were.
    lists_answers_only: bool = False
    # None: a count that the tool does not print.
    tool_errors: Mapping[str, int | None] = field(default_factory=dict)
    status_counts: Mapping[str, int] | None = None
    # Responses that are not 2xx, of a tool that does not tell redirects from errors: they failed.
    not_2xx: int | None = None
    latency: Latency = field(default_factory=Latency)
    # samples, histogram, percentiles, summary or None
    latency_origin: str | None = None
    latency_resolution_us: Number | None = None
    samples: int | None = None
    # Of samples, bucket counts or a full spectrum; a handful of percentiles makes none.
    histogram: Histogram | None = field(default=None, compare=False, repr=False)
    # In order of time; empty if the artefacts have no time series.
    timeline: tuple[TimeSlice, ...] = field(default=(), repr=False)
    # The tool had reported, then the output was cut off.
    incomplete: bool = False
    # Where the artefacts, or figures within one, contradict each other.
    disagreements: tuple[str, ...] = ()
    # A sentence, where rows or latencies are of a part of the requests that the report counts.
    partial_samples: str = ""
    # The command line above the output, and the lines of a file with several outputs, from 1.
    command: str = ""
    lines: tuple[int, int] | None = None
    # Whether the artefacts say that it is a warm-up.
    is_warmup: bool = False
    # What the artefacts name as measured, in the members of an envelope; empty if they do not.
    server: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)
    # source, published and place, where the figures are copied from a publication.
    publication: Mapping[str, str] = field(default_factory=dict)
    # What was removed from the artefacts before they were read, as sentences.
    notes: tuple[str, ...] = ()
    # Why this tool was chosen.
    detected_by: str = ""
    # Equal for two readings of one output, whatever stands around it (output_names.py).
    output_name: str = field(default="", compare=False, repr=False)
    # Figures of the tool that have no field above.
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def error_counts(self) -> dict[str, int | None]:
        """The failed attempts of every class; None if the tool does not say it."""
        return {name: self.errors.get(name) for name in ERROR_CLASSES}

    @property
    def client_errors(self) -> int:
        """Attempts that failed on the client's own host: no errors of the server."""
        return self.errors.get(CLIENT_CLASS) or 0

    @property
    def outcome(self) -> Outcome:
        """How many attempts were made and how many of them failed, as far as the output says."""
        if self.failed is not None:
            return outcome_as_printed(self.attempts, self.failed, client_errors=self.client_errors)
        unanswered = [self.errors.get(name) for name in UNANSWERED_CLASSES]
        # What is cut off in a report that names no such attempt may be the lines that do.
        is_cut_before = self.incomplete and all(count is None for count in unanswered)
        return outcome_by_class(
            self.requests_completed,
            self.requests_ok,
            status=self.errors.get("status"),
            unanswered=unanswered,
            lists_answers_only=self.lists_answers_only or is_cut_before,
        )

    @property
    def measured_s(self) -> float | None:
        """How long was measured, as exactly as the output says it, without the warm-up."""
        elapsed_s = self.elapsed_s if self.exact_elapsed_s is None else self.exact_elapsed_s
        return None if elapsed_s is None else float(elapsed_s - (self.warmup_s or 0))

    def as_dict(self) -> dict[str, Any]:
        """The trial in the JSON shape in which tools are compared: one key per fact."""
        latency, outcome = self.latency, self.outcome
        return {
            **{name: getattr(self, name) for name in FIGURES},
            "attempts": outcome.attempts,
            "failed": outcome.failed,
            "error_rate": outcome.error_rate,
            "errors": self.error_counts,
            "tool_errors": dict(self.tool_errors),
            "status_counts": None if self.status_counts is None else dict(self.status_counts),
            "latency_us": {
                "mean": latency.mean_us,
                "stdev": latency.stdev_us,
                "min": latency.min_us,
                "max": latency.max_us,
                "percentiles": dict(latency.percentiles),
            },
            "latency_origin": self.latency_origin,
            "latency_resolution_us": self.latency_resolution_us,
            "samples": self.samples,
            **self._figures_of_few_tools(),
            **self.extra,
            **self._remarks(),
        }

    def figures(self) -> dict[str, Any]:
        """As `as_dict`, without where the run stands in a text and what was done to the text."""
        around = ("command", "lines", "notes")
        return {name: value for name, value in self.as_dict().items() if name not in around}

    def _figures_of_few_tools(self) -> dict[str, Any]:
        names = (
            *("server_software", "exact_elapsed_s", "warmup_s", "not_2xx", "body_bytes"),
            *("sent_rps", "offered_rps", "sent_share"),
        )
        values = {name: getattr(self, name) for name in names}
        figures = {name: value for name, value in values.items() if value is not None}
        return {**figures, "client_errors": self.client_errors} if self.client_errors else figures

    def _remarks(self) -> dict[str, Any]:
        """What is not a figure, where there is any."""
        remarks = {
            "incomplete": self.incomplete,
            "partial_samples": self.partial_samples,
            "is_warmup": self.is_warmup,
            "command": self.command,
            "lines": list(self.lines or ()),
            "server": dict(self.server),
            "workload": dict(self.workload),
            "publication": dict(self.publication),
            "notes": list(self.notes),
        }
        return {name: value for name, value in remarks.items() if value}


class FormatError(InvalidInput):
    """Why an input gives no trial, as one sentence for the person who sent it."""

    def __init__(
        self,
        reason: str,
        *,
        line: int | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.line, self.found, self.expected = reason, line, found, expected
        # The lines of the output that gives no trial, from 1, where a file has several outputs.
        self.lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        where = f" Line {self.line}." if self.line is not None else ""
        found = f" Found: {_short(self.found)}." if self.found is not None else ""
        expected = f" Expected: {self.expected}." if self.expected is not None else ""
        return f"{self.reason}{where}{found}{expected}"


# What one run of an input gives.
Entry = ParsedTrial | FormatError


def is_filled(before: Any, after: Any) -> bool:
    """Whether figures are the same, or known where they were null."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(is_filled(value, after.get(key)) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(is_filled, before, after))
    return before is None or before == after


def _short(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 80 else shown[:77] + "…'"
