"""ab, ApacheBench (text report, -w HTML, -g TSV of every request, -e CSV of percentiles).

Loop: closed. Latency unit: whole ms in the text and the TSV, µs in the CSV; Kbytes of 1024 bytes.
Success: 2xx among the complete requests; unknown when receive errors or exceptions are among
them. Percentiles: the sorted value number floor(n·p/100), counted from 0. "Length" failures are
bodies that differ in length from the first, no failure of the server by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.ab.files import is_percentile_csv, is_request_tsv, read_csv, read_tsv
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import Line, Source, blocks, number, whole

NAME = "ab"
BANNER = "This is ApacheBench, Version "
RESULT = "Complete requests:"
MARKS = ("ApacheBench", "starttime", "Percentage served")
KILOBYTE = 1024
PARENTHESIS = {"connect": "Connect", "read": "Receive", "length": "Length", "other": "Exceptions"}


def claims(source: Source) -> str | None:
    """Why this is ab's output, or None."""
    if is_request_tsv(source):
        return "the first line has the columns of ab -g"
    if is_percentile_csv(source):
        return "the first line has the columns of ab -e"
    for line in source.lines:
        if line.text.startswith(BANNER):
            return f"line {line.number} is ab's banner"
    return None


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """Every run in the reports; with one run, the TSV and CSV beside it belong to it."""
    tables = [source for source in sources if is_request_tsv(source)]
    curves = [source for source in sources if is_percentile_csv(source)]
    reports = [source for source in sources if source not in tables and source not in curves]
    runs = [_read_or_refuse(block) for source in reports for block in _blocks(source.lines)]
    if len(tables) > 1 or len(curves) > 1 or (len(runs) > 1 and (tables or curves)):
        raise FormatError(
            "These files are not of one trial.",
            tool=NAME,
            found=f"{len(runs)} reports, {len(tables)} TSV and {len(curves)} CSV files",
            expected="one report with at most one -g and one -e file",
        )
    if not runs:
        return [read_tsv(tables[0]) if tables else read_csv(curves[0])]
    if isinstance(runs[0], ParsedTrial) and (tables or curves):
        return [_with_files(runs[0], tables, curves)]
    return runs


def _with_files(
    trial: ParsedTrial, tables: Sequence[Source], curves: Sequence[Source]
) -> ParsedTrial:
    disagreements: list[str] = []
    if curves:
        disagreements += _curve_disagreements(trial, read_csv(curves[0]))
    if not tables:
        return replace(trial, disagreements=tuple(disagreements))
    rows = read_tsv(tables[0])
    if rows.samples != trial.requests_completed:
        disagreements.append(
            f"the report says {trial.requests_completed} complete requests, "
            f"the -g file has {rows.samples} rows"
        )
    return replace(
        trial,
        latency_origin="samples",
        samples=rows.samples,
        histogram=rows.histogram,
        disagreements=tuple(disagreements),
    )


def _curve_disagreements(trial: ParsedTrial, curve: ParsedTrial) -> list[str]:
    """Percentiles of report and CSV that differ by more than the report's rounding."""
    return [
        f"p{key} is {value / 1000:g} ms in the report and "
        f"{curve.latency.percentiles[key] / 1000:g} ms in the -e file"
        for key, value in trial.latency.percentiles.items()
        if key in curve.latency.percentiles
        and abs(curve.latency.percentiles[key] - value) > 1000 + value / 100
    ]


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    starts = [position for position, line in enumerate(lines) if line.text.startswith(BANNER)]
    return blocks(lines, starts)


def _read_or_refuse(block: Sequence[Line]) -> ParsedTrial | FormatError:
    try:
        return _Report(block).trial()
    except FormatError as refused:
        return refused


class _Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        self.values: dict[str, str] = {}
        for line in block:
            label, colon, value = line.text.partition(":")
            # The first time a label stands: a verbose run's headers come before the result.
            if colon and value.strip() and label in LABELS:
                self.values.setdefault(label, value.strip())

    def trial(self) -> ParsedTrial:
        completed, elapsed = self._count(RESULT[:-1]), self._figure("Time taken for tests")
        if completed is None or elapsed is None or "Requests per second" not in self.values:
            raise self._cut_off()
        printed = self._parenthesis()
        status = self._printed_count("Non-2xx responses")
        errors = {
            **{name: printed.get(word) for name, word in PARENTHESIS.items()},
            "write": self._count("Write errors"),
            "status": status,
        }
        latency, complete = self._latency()
        rate = self._figure("Transfer rate")
        return ParsedTrial(
            tool=NAME,
            tool_version=self.block[0].text.removeprefix(BANNER).split()[0],
            url=self._url(),
            connections=self._count("Concurrency Level"),
            keepalive="Keep-Alive requests" in self.values,
            elapsed_s=elapsed,
            requests_completed=completed,
            requests_ok=self._ok(completed, errors),
            reported_rps=self._figure("Requests per second"),
            bytes_received=self._count("Total transferred"),
            transfer_rate_bytes_s=None if rate is None else round(rate * KILOBYTE, 6),
            errors=errors,
            tool_errors=self._tool_errors(),
            latency=latency,
            latency_origin=_origin(latency),
            latency_resolution_us=1000,
            incomplete=not complete,
        )

    def _cut_off(self) -> FormatError:
        last = next((line for line in reversed(self.block) if line.text), self.block[-1])
        return FormatError(
            "The ab report has no result block: the run stopped, or the text is cut off.",
            tool=NAME,
            line=last.number,
            found=last.text,
            expected='lines such as "Complete requests: 1000" and "Time taken for tests: …"',
        )

    def _figure(self, label: str) -> float | None:
        words = self.values.get(label, "").split()
        return number(words[0]) if words else None

    def _count(self, label: str) -> int | None:
        words = self.values.get(label, "").split()
        return whole(words[0]) if words else None

    def _printed_count(self, label: str) -> int:
        """A count that is printed only when it is not 0; one that is no number is refused."""
        if label not in self.values:
            return 0
        count = self._count(label)
        if count is None:
            raise FormatError(
                f"The ab report's {label} is no number.",
                tool=NAME,
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

    def _parenthesis(self) -> dict[str, int]:
        """The classes of failures; all zero when nothing failed, for then they are not printed."""
        if self._count("Failed requests") == 0:
            return dict.fromkeys(PARENTHESIS.values(), 0)
        for line in self.block:
            if line.text.startswith("(Connect:"):
                pairs = (part.split(":") for part in line.text.strip("()").split(","))
                counts = {pair[0].strip(): whole(pair[1].strip()) for pair in pairs if pair[1:]}
                return {name: count for name, count in counts.items() if count is not None}
        return {}

    def _ok(self, completed: int, errors: dict[str, int | None]) -> int | None:
        failed = self._count("Failed requests")
        classes = [errors["connect"], errors["read"], errors["other"], errors["write"]]
        # Receive errors are among the complete requests, counted up to three times.
        if any(classes) or failed is None or (failed and errors["connect"] is None):
            return None
        return max(completed - (errors["status"] or 0), 0)

    def _tool_errors(self) -> dict[str, int]:
        failed = self._count("Failed requests")
        found = {"Failed requests": failed, **(self._parenthesis() if failed else {})}
        for label in ("Non-2xx responses", "Write errors", "Broken pipe errors"):
            found[label] = self._count(label)
        return {name: count for name, count in found.items() if count is not None}

    def _latency(self) -> tuple[Latency, bool]:
        """The Total row and the percentiles, and whether the report reached its end."""
        row = self._total_row()
        points, began = self._percentiles()
        if row is None:
            return Latency(percentiles=points), False
        mean, stdev = row[1], row[2] if len(row) == 5 else None
        latency = Latency(
            mean_us=mean * 1000,
            stdev_us=None if stdev is None else round(stdev * 1000, 6),
            min_us=row[0] * 1000,
            max_us=row[-1] * 1000,
            percentiles=points,
        )
        return latency, not began or "100" in points

    def _total_row(self) -> list[float] | None:
        for line in self.block:
            words = line.words
            if words[:1] == ["Total:"] and len(words) in (4, 6):
                figures = [number(word) for word in words[1:]]
                known = [figure for figure in figures if figure is not None]
                return known if len(known) == len(figures) else None
        return None

    def _percentiles(self) -> tuple[dict[str, float], bool]:
        points: dict[str, float] = {}
        began = False
        for line in self.block:
            words = line.words
            if line.text.startswith("Percentage of the requests served"):
                began = True
            elif began and len(words) >= 2 and words[0].endswith("%"):
                percent, value = whole(words[0][:-1]), number(words[1])
                if percent is not None and value is not None:
                    points[str(percent)] = value * 1000
        return points, began


LABELS = frozenset(
    (
        "Server Hostname",
        "Server Port",
        "SSL/TLS Protocol",
        "Document Path",
        "Concurrency Level",
        "Time taken for tests",
        "Complete requests",
        "Failed requests",
        "Broken pipe errors",
        "Write errors",
        "Non-2xx responses",
        "Keep-Alive requests",
        "Total transferred",
        "Requests per second",
        "Transfer rate",
    )
)


def _origin(latency: Latency) -> str | None:
    if latency.percentiles:
        return "percentiles"
    return None if latency.mean_us is None else "summary"
