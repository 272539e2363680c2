"""The report that ab prints as text, or as HTML with -w."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import all_known, implied_elapsed_s, parse_count, parse_number, scaled
from backend.formats.text import Line, Source, blocks

BANNER = "This is ApacheBench, Version "
RESULT = "Complete requests"
ELAPSED = "Time taken for tests"
RATE = "Requests per second"
# What ab prints before its result, in a run pasted without its banner.
HEAD_LABELS = frozenset(
    ("Server Software", "Server Hostname", "Server Port", "Document Path", "Concurrency Level")
)
LABELS = HEAD_LABELS | {
    *(ELAPSED, RESULT, RATE, "SSL/TLS Protocol", "Keep-Alive requests"),
    *("Total transferred", "HTML transferred", "Time per request"),
    *("Failed requests", "Broken pipe errors", "Write errors", "Non-2xx responses"),
    "Transfer rate",
}
# The column that tells five times (min, mean, sd, median, max) from three (min, avg, max).
DEVIATION = "mean[+/-sd]"
# ab says so where it stops without a report.
REASONS = ("apr_", "connect(): ", "Total of ", "Test aborted", "SSL handshake failed", "ab: ")
# Of version 1.3.
KILOBYTE, OLD_KILOBYTE = 1024, 1000
# Characters of a header that anybody can send.
MAX_SOFTWARE = 100
PARENTHESIS = {"connect": "Connect", "read": "Receive", "length": "Length", "other": "Exceptions"}


def find_reports(source: Source) -> list[list[Line]]:
    """The lines of each run: from its banner on, or without one from its first line on."""
    if BANNER not in source.text and RESULT not in source.text:
        return []
    lines = _without_cut_end(source)
    starts = [position for position, is_first in enumerate(_are_first(lines)) if is_first]
    return [block for block in blocks(lines, starts) if _is_run(block)]


def _are_first(lines: Sequence[Line]) -> Iterator[bool]:
    """Of each line, whether a run begins there."""
    is_open = is_done = False
    for line in lines:
        label = line.text.partition(":")[0]
        labels = HEAD_LABELS if is_open else (*HEAD_LABELS, ELAPSED, RESULT)
        is_first = line.text.startswith(BANNER) or (label in labels and is_done is is_open)
        if is_first:
            is_open, is_done = True, False
        is_done = is_done or label == RESULT
        yield is_first


def _without_cut_end(source: Source) -> list[Line]:
    """The lines, but for a last one that ends in digits and may lack some."""
    lines = source.lines
    end = source.text[-1:]
    return lines[:-1] if end and (end.isdigit() or end in ".,") else lines


def _is_run(block: Sequence[Line]) -> bool:
    if block[0].text.startswith(BANNER):
        return True
    labels = {line.text.partition(":")[0] for line in block}
    return {RESULT, ELAPSED} <= labels


class Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        self.values: dict[str, str] = {}
        self.lines: dict[str, Line] = {}
        for line in block:
            label, colon, value = line.text.partition(":")
            # The first time a label stands: a verbose run's headers come before the result.
            if colon and value.strip() and label in LABELS and label not in self.values:
                self.values[label], self.lines[label] = value.strip(), line

    def trial(self) -> ParsedTrial:
        """The run; raises FormatError where it has no result."""
        completed, elapsed, rps = self._count(RESULT), self._figure(ELAPSED), self._figure(RATE)
        if completed is None or elapsed is None or rps is None:
            raise self._refusal()
        printed = self._parenthesis()
        not_2xx = self._printed_count("Non-2xx responses")
        errors = {
            **{name: printed.get(word) for name, word in PARENTHESIS.items()},
            "write": self._count("Write errors"),
            "status": not_2xx,
        }
        latency, complete = self._latency()
        return ParsedTrial(
            tool_version=self._version(),
            url=self._url(),
            connections=self._count("Concurrency Level"),
            keepalive=self._keepalive(),
            server_software=self.values.get("Server Software", "")[:MAX_SOFTWARE] or None,
            elapsed_s=elapsed,
            exact_elapsed_s=implied_elapsed_s(
                elapsed, step_s=0.001, count=completed, rate_rps=rps, rate_step=0.01
            ),
            requests_completed=completed,
            **self._outcome(completed, errors),
            reported_rps=rps,
            bytes_received=self._count("Total transferred"),
            body_bytes=self._count("HTML transferred"),
            transfer_rate_bytes_s=self._transfer_rate(),
            request_time_us=scaled(self._figure("Time per request"), 1000),
            errors=errors,
            not_2xx=not_2xx or None,
            tool_errors=self._tool_errors(),
            latency=latency,
            latency_origin=latency.printed_origin,
            latency_resolution_us=1000,
            incomplete=not complete,
        )

    def _transfer_rate(self) -> float | None:
        is_old = (self._version() or "").startswith("1.")
        return scaled(self._figure("Transfer rate"), OLD_KILOBYTE if is_old else KILOBYTE)

    def _version(self) -> str | None:
        first = self.block[0].text
        words = first.removeprefix(BANNER).split() if first.startswith(BANNER) else []
        return words[0] if words else None

    def _refusal(self) -> FormatError:
        return self._damaged() or self._unanswered() or self._cut_off()

    def _damaged(self) -> FormatError | None:
        """The refusal of a figure that is there and is no number."""
        for label, figure in ((RESULT, self._count), (ELAPSED, self._figure), (RATE, self._figure)):
            if label in self.values and figure(label) is None:
                return self.lines[label].refusal(
                    f"The ab report has no number as its {label}.",
                    expected="digits, a point before decimals, no or whole groups of thousands",
                )
        return None

    def _unanswered(self) -> FormatError | None:
        """The refusal of a run without one completed request: ab then prints no rate."""
        if self._count(RESULT) != 0 or self._figure(ELAPSED) is None:
            return None
        return self.lines[RESULT].refusal(
            f"ab completed no request in {self.values[ELAPSED].removesuffix(' seconds')} s.",
            expected="at least one completed request",
        )

    def _cut_off(self) -> FormatError:
        filled = [line for line in self.block if line.text]
        message = next((line for line in filled if any(why in line.text for why in REASONS)), None)
        last = message or (filled or self.block)[-1]
        return last.refusal(
            "The ab report has no result block: "
            + ("the run stopped." if message else "the run stopped, or the text is cut off."),
            expected='lines such as "Complete requests: 1000" and "Time taken for tests: …"',
        )

    def _figure(self, label: str) -> float | None:
        return parse_number(_amount(self.values.get(label, "")))

    def _count(self, label: str) -> int | None:
        return parse_count(_amount(self.values.get(label, "")))

    def _printed_count(self, label: str) -> int:
        """A count that is printed only when it is not 0; one that is no number is refused."""
        if label not in self.values:
            return 0
        count = self._count(label)
        if count is None:
            raise FormatError(
                f"The ab report has no number as its {label}.",
                found=self.values[label],
                expected="a whole number",
            )
        return count

    def _url(self) -> str | None:
        host, port = self.values.get("Server Hostname"), self.values.get("Server Port")
        path = self.values.get("Document Path")
        if host is None or path is None:
            return None
        scheme = "https" if "SSL/TLS Protocol" in self.values else "http"
        host = f"[{host}]" if ":" in host else host
        return f"{scheme}://{host}{f':{port}' if port else ''}{path}"

    def _keepalive(self) -> bool | None:
        """Whether connections were kept: with -k a server may close them all the same.

        Unknown of a text that lacks the lines around the count.
        """
        if "Keep-Alive requests" in self.values:
            return self._count("Keep-Alive requests") != 0
        return False if "Total transferred" in self.values else None

    def _parenthesis(self) -> dict[str, int]:
        """The classes of failures; all zero when nothing failed, for then they are not printed."""
        if self._count("Failed requests") == 0:
            return dict.fromkeys(PARENTHESIS.values(), 0)
        for line in self.block:
            if line.text.startswith("(Connect:"):
                pairs = (part.split(":") for part in line.text.strip("()").split(","))
                counts = {
                    pair[0].strip(): parse_count(pair[1].strip()) for pair in pairs if pair[1:]
                }
                return {name: count for name, count in counts.items() if count is not None}
        return {}

    def _outcome(self, completed: int, errors: dict[str, int | None]) -> dict[str, Any]:
        """Successes, attempts and failed attempts; empty where failures are not printed.

        A request that got no whole response is among the complete ones, as a receive error and as
        an exception too. A connection that could not be made is not among them.
        """
        failed = self._count("Failed requests")
        if failed is None:
            return {}
        connect, read, other, write, bad = (
            errors[name] or 0 for name in ("connect", "read", "other", "write", "status")
        )
        # Without the line of the classes, a failed request may be one of those that are not 2xx.
        has_classes = errors["connect"] is not None
        lost = (max(read, other) + bad if has_classes else max(failed, bad)) + write
        failed_completed = min(lost, completed)
        return {
            "requests_ok": completed - failed_completed,
            "attempts": completed + connect,
            "failed": failed_completed + connect,
        }

    def _tool_errors(self) -> dict[str, int]:
        failed = self._count("Failed requests")
        counts = {"Failed requests": failed, **(self._parenthesis() if failed else {})}
        for label in ("Non-2xx responses", "Write errors", "Broken pipe errors"):
            counts[label] = self._count(label)
        return {name: count for name, count in counts.items() if count is not None}

    def _latency(self) -> tuple[Latency, bool]:
        """The Total row and the percentiles, and whether the report reached its end."""
        row = self._total_row()
        points, began = self._percentiles()
        if row is None:
            return Latency(percentiles=points), False
        mean, stdev = row[1], row[2] if len(row) == 5 else None
        latency = Latency(
            mean_us=mean * 1000,
            stdev_us=scaled(stdev, 1000),
            min_us=row[0] * 1000,
            max_us=row[-1] * 1000,
            percentiles=points,
        )
        return latency, not began or "100" in points

    def _total_row(self) -> list[float] | None:
        """The times of the row Total, all that its columns name; None if some are missing."""
        has_deviation = any(DEVIATION in line.text for line in self.block)
        for line in self.block:
            words = line.words
            # Five are five with or without the line that names the columns.
            if words[:1] == ["Total:"] and len(words) in ((6,) if has_deviation else (4, 6)):
                return all_known(map(parse_number, words[1:]))
        return None

    def _percentiles(self) -> tuple[dict[str, float], bool]:
        points: dict[str, float] = {}
        began = False
        for line in self.block:
            words = line.words
            if line.text.startswith("Percentage of the requests served"):
                if began:
                    break
                began = True
            elif began and len(words) >= 2 and words[0].endswith("%"):
                percent, value = parse_count(words[0][:-1]), parse_number(words[1])
                if percent is not None and value is not None:
                    points[str(percent)] = value * 1000
        return points, began


def _amount(value: str) -> str:
    """The number that a value begins with; with spaces between its groups of digits, commas."""
    words = value.split()
    digits = list(takewhile(lambda word: word[0].isdigit(), words))
    return ",".join(digits) if len(digits) > 1 else (words or [""])[0]
