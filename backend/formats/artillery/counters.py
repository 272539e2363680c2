"""artillery's figures by name, whichever version wrote them, as one trial."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.formats import statuses
from backend.formats.model import CLIENT_CLASS, Latency, ParsedTrial
from backend.formats.numbers import json_count
from backend.formats.transport_errors import counted_classes

RESOLUTION_US = 1000
# Node's names of errors; each stands for requests that got no answer.
CLASSES = {
    **dict.fromkeys(("ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"), "connect"),
    "ENETUNREACH": "connect",
    **dict.fromkeys(("EADDRNOTAVAIL", "EADDRINUSE", "EMFILE", "ENFILE", "ENOBUFS"), CLIENT_CLASS),
    **dict.fromkeys(("ETIMEDOUT", "ESOCKETTIMEDOUT", "ERR_REQUEST_TIMEOUT"), "timeout"),
    **dict.fromkeys(("ECONNRESET", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE"), "read"),
    "EPIPE": "write",
}
POINTS = {"p50": "50", "median": "50", "p75": "75", "p90": "90", "p95": "95", "p99": "99"}
POINTS["p999"] = "99.9"


@dataclass(frozen=True, slots=True)
class Figures:
    """What one report, or one period of it, counts. Times are ms."""

    requests: int | None = None
    responses: int | None = None
    rate: float | None = None
    received: int | None = None
    codes: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> int:
        """Responses of 2xx and 3xx."""
        return statuses.succeeded(self.codes)

    @property
    def bad(self) -> int:
        """Responses of 4xx, 5xx or a status that HTTP does not have."""
        return statuses.failed(self.codes)


def trial(figures: Figures, *, elapsed_s: float | None = None, **more: Any) -> ParsedTrial:
    """The trial of a report; raises ValueError where its figures contradict each other."""
    codes = sum(figures.codes.values())
    if figures.responses is not None and codes > figures.responses:
        raise ValueError(f"{codes} codes of {figures.responses} responses")
    errors = by_class(figures.errors)
    # The rest is retried, or had a code that was not counted.
    has_every_code = figures.responses is None or codes == figures.responses
    return ParsedTrial(
        loop="open",
        elapsed_s=elapsed_s,
        requests_completed=figures.responses,
        requests_ok=figures.ok if has_every_code else None,
        **({} if has_every_code else _outcome(figures)),
        reported_rps=figures.rate,
        bytes_received=figures.received,
        errors={**errors, "status": figures.bad},
        tool_errors=dict(figures.errors),
        status_counts=dict(figures.codes),
        latency=latency_of(figures.times) if figures.responses else Latency(),
        latency_origin=_origin(figures),
        latency_resolution_us=RESOLUTION_US,
        **more,
    )


def _outcome(figures: Figures) -> dict[str, Any]:
    """All attempts and the failed ones: those without an answer, and those with a bad code."""
    lost = sum(figures.errors.values())
    attempts = max(figures.requests or 0, (figures.responses or 0) + lost)
    return {"attempts": attempts, "failed": figures.bad + lost}


def _origin(figures: Figures) -> str | None:
    if not figures.responses or not figures.times:
        return None
    return "percentiles" if POINTS.keys() & figures.times.keys() else "summary"


def by_class(errors: Mapping[str, int]) -> dict[str, int | None]:
    """The counts of each class; a name that is not Node's is "other"."""
    counts = counted_classes(errors, lambda name: CLASSES.get(name, "other"))
    return {**counts, "write": counts["write"] or None}


def latency_of(times: Mapping[str, float]) -> Latency:
    """The latency of a summary in ms."""
    in_us = {name: round(value * 1000, 3) for name, value in times.items()}
    return Latency(
        mean_us=in_us.get("mean"),
        min_us=in_us.get("min"),
        max_us=in_us.get("max"),
        percentiles={POINTS[name]: value for name, value in in_us.items() if name in POINTS},
    )


def figures_of(counters: Mapping[str, float], rate: float | None, times: Any) -> Figures:
    """The figures of version 2, whose counters have names such as "http.codes.200"."""
    counts = {name.removeprefix("engine."): value for name, value in counters.items()}
    requests = counts.get("http.requests")
    responses = counts.get("http.responses")
    received = counts.get("http.downloaded_bytes")
    # The counter of responses is not written before there is one.
    if responses is None and requests is not None:
        responses = 0
    return Figures(
        requests=None if requests is None else json_count(requests),
        responses=None if responses is None else json_count(responses),
        rate=rate,
        received=None if received is None else json_count(received),
        codes=_under("http.codes.", counts),
        errors=_under("errors.", counts),
        times=times,
    )


def _under(prefix: str, counters: Mapping[str, float]) -> dict[str, int]:
    counts = {
        name.removeprefix(prefix): json_count(value)
        for name, value in counters.items()
        if name.startswith(prefix) and name != prefix
    }
    return dict(sorted(counts.items()))
