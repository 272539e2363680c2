"""The report of one httperf run."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from backend.formats.httperf.command import SAMPLING_S, Command
from backend.formats.httperf.lifetimes import read_lifetimes
from backend.formats.model import CLIENT_CLASS, FormatError, Latency, ParsedTrial, TimeSlice
from backend.formats.numbers import all_by_name, implied_elapsed_s, parse_count, parse_number
from backend.formats.statuses import CLASSES, succeeded
from backend.formats.text import Line, last_line
from backend.stats import Histogram

BURST = "Maximum connect burst length:"
TOTAL = "Total: connections "
SAMPLE = "reply-rate ="
STEP_US = 100
# How the duration and the rates are rounded.
HALF_STEP_S, RATE_STEP = 0.0005, 0.1
ERRORS = ("total", "client-timo", "socket-timo", "connrefused", "connreset")
# The client had no file descriptor, no port or no place in a table of the system.
CLIENT_ERRORS = ("fd-unavail", "addrunavail", "ftab-full")
MORE_ERRORS = (*CLIENT_ERRORS, "other")
REPLY_TIME = ("response", "transfer")
LIFETIME = ("min", "avg", "max", "median", "stddev")
# How a line begins, to tell the parts of a report; a line that was wrapped goes on in the next.
LABELS = (
    TOTAL,
    "Connection rate:",
    "Connection time [ms]: min",
    "Connection time [ms]: connect",
    "Connection length [replies/conn]:",
    "Request rate:",
    "Request size [B]:",
    "Reply rate [replies/s]:",
    "Reply time [ms]:",
    "Reply size [B]:",
    "Reply status:",
    "CPU time [s]:",
    "Net I/O:",
    "Errors: total",
    "Errors: fd-unavail",
    "Session",
)


class Report:
    """One run, part by part."""

    def __init__(self, block: Sequence[Line], command: Command) -> None:
        self.block, self.command = block, command
        self.parts: dict[str, Line] = {}
        self._gather()

    def _gather(self) -> None:
        label: str | None = None
        for line in self.block:
            begun = next((name for name in LABELS if line.text.startswith(name)), None)
            if begun is not None:
                # The first stands: what follows a report may quote another.
                label = begun if begun not in self.parts else None
                if label is not None:
                    self.parts[label] = line
            elif not line.text:
                label = None
            elif label is not None:
                part = self.parts[label]
                self.parts[label] = Line(part.number, f"{part.text} {line.text}")

    def trial(self) -> ParsedTrial:
        """The trial of the run's lines; raises FormatError where they are cut off."""
        connections, requests, replies, elapsed = self._totals()
        status = self._status(replies)
        errors = self._errors()
        length = self._figure("Connection length [replies/conn]:", "[replies/conn]:")
        latency, times = self._latency(length) if replies else (Latency(), {})
        lifetimes = read_lifetimes(self.block, connections=replies) if length == 1 else None
        origin = _origin(latency, lifetimes)
        rate, samples = self._figure("Request rate:", "rate:"), self._samples()
        return ParsedTrial(
            url=self.command.url,
            loop=self.command.loop,
            requested_rate_rps=self.command.rate_rps,
            requested_requests=self.command.requests,
            requested_duration_s=self.command.duration_s,
            elapsed_s=elapsed,
            exact_elapsed_s=implied_elapsed_s(
                elapsed, step_s=0.001, count=requests, rate_rps=rate, rate_step=0.1
            ),
            requests_completed=replies,
            requests_ok=None if status is None else succeeded(status),
            reported_rps=rate,
            body_bytes=self._body_bytes(replies),
            errors=_classes(errors),
            tool_errors=errors or {},
            status_counts=status,
            latency=latency,
            latency_origin=origin,
            latency_resolution_us=None if origin is None else STEP_US,
            histogram=lifetimes,
            timeline=self._timeline(samples),
            incomplete=errors is None or len(errors) < len(ERRORS + MORE_ERRORS),
            disagreements=_rate_disagreements(requests, elapsed, rate),
            extra={
                "extra": {
                    "connections_opened": connections,
                    "requests_sent": requests,
                    **times,
                    **self._reply_rate(samples),
                }
            },
        )

    def _reply_rate(self, samples: int | None) -> dict[str, float | int | None]:
        average = self._figure("Reply rate [replies/s]:", "avg") if samples else None
        return {"reply_rate_samples": samples, "reply_rate_avg": average}

    def _body_bytes(self, replies: int) -> int | None:
        """The mean content of a reply, which has one decimal, times the replies."""
        content = self._figure("Reply size [B]:", "content")
        return None if content is None else round(content * replies)

    def _totals(self) -> tuple[int, int, int, float]:
        words = self._words(TOTAL)
        counts = [_after(words, name) for name in ("connections", "requests", "replies")]
        connections, requests, replies = (parse_count(word) for word in counts)
        elapsed = parse_number(_after(words, "test-duration"))
        has_end = "Reply status:" in self.parts or "Errors: total" in self.parts
        if connections is None or requests is None or replies is None or elapsed is None:
            raise self._refusal("no totals", 'a line such as "Total: connections 50 requests 50 …"')
        # The unit behind the figure says that its digits are all there.
        if not has_end or words[words.index("test-duration") + 2 :][:1] != ["s"]:
            raise self._refusal("no end", 'lines such as "Reply status: …" and "Errors: total …"')
        return connections, requests, replies, elapsed

    def _refusal(self, lacks: str, expected: str) -> FormatError:
        return last_line(self.block).refusal(
            f"The httperf report has {lacks}: the run stopped, or text is missing.",
            expected=expected,
        )

    def _contradiction(self, label: str, expected: str) -> FormatError:
        return self.parts[label].refusal(
            "The httperf report has counts that do not add up: it is damaged.", expected=expected
        )

    def _words(self, label: str) -> list[str]:
        return self.parts[label].words if label in self.parts else []

    def _figure(self, label: str, name: str) -> float | None:
        return parse_number(_after(self._words(label), name))

    def _status(self, replies: int) -> dict[str, int] | None:
        """Replies by class; they are all replies there are."""
        pairs = dict(
            word.split("=") for word in self._words("Reply status:") if word.count("=") == 1
        )
        if "Reply status:" not in self.parts:
            return None
        counts = all_by_name({name: parse_count(pairs.get(name, "")) for name in CLASSES})
        if counts is None or sum(counts.values()) != replies:
            raise self._contradiction("Reply status:", f"five classes, together {replies} replies")
        return counts

    def _errors(self) -> dict[str, int] | None:
        """The counts of both lines, of the first alone where the second is missing."""
        first = _counts(self._words("Errors: total"), ERRORS)
        second = _counts(self._words("Errors: fd-unavail"), MORE_ERRORS)
        if first is None or second is None:
            return first
        counts = {**first, **second}
        if 2 * counts["total"] != sum(counts.values()):
            if self.parts["Errors: fd-unavail"].text == self.block[-1].text:
                return first
            raise self._contradiction("Errors: fd-unavail", f"{counts['total']} errors in all")
        return counts

    def _latency(self, length: float | None) -> tuple[Latency, dict[str, Any]]:
        """Latency and the times it is taken from; which ones depends on replies per connection."""
        reply = self._times("Reply time [ms]:", REPLY_TIME, needed=REPLY_TIME)
        # The first versions print no median.
        lifetime = self._times("Connection time [ms]: min", LIFETIME, needed=("avg",))
        # No connection with a reply has ended: zeros are printed.
        times = {"reply_time_us": reply, "connection_time_us": None if length == 0 else lifetime}
        if length == 1 and lifetime is not None:
            source = "Connection time (1 reply per connection: connect + reply)"
            return _of_connections(lifetime), {"latency_source": source, **times}
        if length in (None, 1) or reply is None:
            return Latency(), times
        source = "Reply time response + transfer (mean only)"
        mean = round(reply["response"] + reply["transfer"], 6)
        return Latency(mean_us=mean), {"latency_source": source, **times}

    def _times(
        self, label: str, names: Sequence[str], *, needed: Sequence[str]
    ) -> dict[str, float] | None:
        """Times in µs by name; None if one that is needed is missing."""
        figures = {name: self._figure(label, name) for name in names}
        printed = {name: round(ms * 1000, 6) for name, ms in figures.items() if ms is not None}
        return printed if printed.keys() >= set(needed) else None

    def _samples(self) -> int | None:
        """How many reply rates were sampled."""
        words = self._words("Reply rate [replies/s]:")
        for count, unit in pairwise(words):
            if unit == "samples)":
                return parse_count(count.lstrip("("))
        return None

    def _timeline(self, samples: int | None) -> tuple[TimeSlice, ...]:
        """The reply rates that -v prints, where none of them is missing."""
        rates = [
            parse_number(line.text.removeprefix(SAMPLE).strip())
            for line in self.block
            if line.text.startswith(SAMPLE)
        ]
        first_s = self.command.first_sample_s
        if first_s is None or len(rates) != samples or None in rates:
            return ()
        return tuple(
            TimeSlice(
                start_s=first_s + SAMPLING_S * (place - 1) if place else 0.0,
                length_s=SAMPLING_S if place else first_s,
                reported_rps=rate,
            )
            for place, rate in enumerate(rates)
        )


def _after(words: Sequence[str], name: str) -> str:
    """The word behind the first one that is this name; "" if there is none."""
    return next((word for before, word in pairwise(words) if before == name), "")


def _counts(words: Sequence[str], names: Sequence[str]) -> dict[str, int] | None:
    return all_by_name({name: parse_count(_after(words, name)) for name in names})


def _classes(errors: dict[str, int] | None) -> dict[str, int | None]:
    """Errors by class; `other` is known only with both lines of errors."""
    if errors is None:
        return {}
    other = errors.get("other")
    return {
        "connect": errors["connrefused"],
        "read": errors["connreset"],
        "timeout": errors["client-timo"],
        "other": None if other is None else errors["socket-timo"] + other,
        CLIENT_CLASS: sum(errors.get(name, 0) for name in CLIENT_ERRORS),
    }


def _origin(latency: Latency, lifetimes: Histogram | None) -> str | None:
    if lifetimes is not None:
        return "histogram"
    return None if latency.mean_us is None else "summary"


def _of_connections(lifetime: dict[str, float]) -> Latency:
    return Latency(
        mean_us=lifetime["avg"],
        stdev_us=lifetime.get("stddev"),
        min_us=lifetime.get("min"),
        max_us=lifetime.get("max"),
        percentiles={"50": lifetime["median"]} if "median" in lifetime else {},
    )


def _rate_disagreements(requests: int, elapsed: float, rate: float | None) -> tuple[str, ...]:
    """The request rate, where it is not requests sent over duration by more than rounding."""
    if rate is None or elapsed <= HALF_STEP_S:
        return ()
    low, high = requests / (elapsed + HALF_STEP_S), requests / (elapsed - HALF_STEP_S)
    if low - RATE_STEP < rate < high + RATE_STEP:
        return ()
    return (
        f"{requests} requests sent in {elapsed:g} s, but a request rate of {rate:g} per second",
    )
