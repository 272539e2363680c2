"""ab's report: labelled lines, a table of connection times, a table of percentiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.formats.model import FormatError, Latency, ParsedTrial, errors
from backend.formats.source import Line, Source, is_whole, real, scaled, whole

TOOL = "ab"
BANNER = "This is ApacheBench, Version"
RESOLUTION_US = 1000
_LABELS = frozenset(
    (
        "Server Software",
        "Server Hostname",
        "Server Port",
        "SSL/TLS Protocol",
        "Document Path",
        "Document Length",
        "Concurrency Level",
        "Time taken for tests",
        "Complete requests",
        "Failed requests",
        "Broken pipe errors",
        "Write errors",
        "Non-2xx responses",
        "Keep-Alive requests",
        "Total transferred",
        "HTML transferred",
        "Requests per second",
        "Transfer rate",
    )
)
# Without its banner a report is known by several of these, at the start of their lines.
_CORE = (
    "Document Path",
    "Concurrency Level",
    "Time taken for tests",
    "Complete requests",
    "Failed requests",
)
_CLASSES = {"Connect": "connect", "Receive": "read", "Length": "length", "Exceptions": "other"}
_TIMES = ("Connection Times", "Connnection Times")  # 1.3d has the typing error
_TABLE = "Percentage of the requests served within"


@dataclass(slots=True)
class _Run:
    """The lines of one run, as far as they are known."""

    banner: Line | None = None
    fields: dict[str, Line] = field(default_factory=dict)
    failures: Line | None = None
    times: bool = False
    total: Line | None = None
    table: bool = False
    percentiles: list[Line] = field(default_factory=list)
    last: Line | None = None

    def text(self, label: str) -> str | None:
        line = self.fields.get(label)
        return None if line is None else line.text.partition(":")[2].strip()

    def word(self, label: str) -> str | None:
        text = self.text(label)
        return None if text is None else text.partition(" ")[0]

    def whole(self, label: str) -> int | None:
        word = self.word(label)
        if word is None or word.startswith("-"):
            return None  # old versions overflow; a negative count is no count
        return whole(word, line=self.fields[label].number, tool=TOOL)

    def real(self, label: str) -> float | None:
        word = self.word(label)
        return None if word is None else real(word, line=self.fields[label].number, tool=TOOL)


def sign(source: Source) -> str | None:
    """Why this text is an ab report, or None."""
    if b"ApacheBench, Version" in source.data:
        for line in source.lines:
            if line.text.startswith(BANNER):
                return f"{source.name}, line {line.number}: {BANNER!r}"
    if b"Complete requests" not in source.data:
        return None
    found = {line.text.partition(":")[0] for line in source.lines}
    labels = [label for label in _CORE if label in found]
    return f"{source.name}: {', '.join(labels)}" if len(labels) >= 3 else None


def read(source: Source, why: str) -> list[ParsedTrial | FormatError]:
    """One entry for each run in the text."""
    entries: list[ParsedTrial | FormatError] = []
    for run in _runs(source):
        try:
            entries.append(_trial(run, why))
        except FormatError as refused:
            entries.append(refused)
    return entries


def _runs(source: Source) -> Iterator[_Run]:
    run: _Run | None = None
    for line in _trusted(source):
        label = line.text.partition(":")[0]
        if line.text.startswith(BANNER):
            if run is not None:
                yield run
            run = _Run(banner=line)
        elif label == "Server Software" and run is not None and label in run.fields:
            yield run
            run = _Run()
        elif run is None and label in _LABELS:
            run = _Run()
        if run is not None:
            _take(run, line, label)
    if run is not None:
        yield run


def _trusted(source: Source) -> list[Line]:
    """The lines without a last one that may have been cut inside a figure."""
    lines = source.lines
    if source.terminated or len(lines) < 2:
        return lines
    last, before = source.text.rstrip().rpartition("\n")[2], lines[-2].text
    whole_row = last.endswith((")", ">", "received", "total"))
    # The rows of the table of times are as wide as each other when none is cut.
    aligned = lines[-1].text.startswith("Total:") and before.startswith(("Waiting:", "Processing:"))
    if whole_row or (aligned and len(last) >= _width(source, -2)):
        return lines
    return lines[:-1]


def _width(source: Source, index: int) -> int:
    return len(source.text.rstrip().split("\n")[index].rstrip("\r"))


def _take(run: _Run, line: Line, label: str) -> None:
    """Put a line where it belongs."""
    if line.text:
        run.last = line
    if line.text.startswith("(Connect:"):
        run.failures = line
    elif line.text.startswith(_TIMES):
        run.times = True
    elif line.text.startswith(_TABLE):
        run.table = True
    elif run.times and label == "Total" and run.total is None:
        run.total = line
    elif run.table and is_whole(line.text.partition("%")[0]):
        run.percentiles.append(line)
    elif label in _LABELS and not run.times:
        run.fields.setdefault(label, line)


def _trial(run: _Run, why: str) -> ParsedTrial:
    completed, elapsed = run.whole("Complete requests"), run.real("Time taken for tests")
    if completed is None or elapsed is None:
        raise _without_result(run)
    failures, tool_errors = _failures(run)
    latency = _latency(run)
    rate = run.real("Transfer rate")
    return ParsedTrial(
        tool=TOOL,
        detected_by=why,
        tool_version=_version(run),
        url=_url(run),
        loop="closed",
        connections=run.whole("Concurrency Level"),
        keepalive=_keepalive(run),
        elapsed_s=elapsed,
        requests_completed=completed,
        requests_ok=_ok(completed, failures, run),
        reported_rps=run.real("Requests per second"),
        bytes_received=run.whole("Total transferred"),
        transfer_rate_bytes_s=None if rate is None else scaled(rate, 1024),
        errors=failures,
        tool_errors=tool_errors,
        latency=latency,
        latency_origin=latency.origin,
        latency_resolution_us=None if latency.origin is None else RESOLUTION_US,
        incomplete=_incomplete(run),
    )


def _without_result(run: _Run) -> FormatError:
    last = run.last
    return FormatError(
        "The ab output ends before its result: it was stopped, cut off, or could not connect",
        tool=TOOL,
        line=None if last is None else last.number,
        found=None if last is None else last.text,
        expected="the lines 'Time taken for tests' and 'Complete requests'",
    )


def _version(run: _Run) -> str | None:
    if run.banner is None:
        return None
    return run.banner.text[len(BANNER) :].strip().partition(" ")[0] or None


def _url(run: _Run) -> str | None:
    host, port, path = (run.text(f"Server {key}") for key in ("Hostname", "Port", "Path"))
    path = run.text("Document Path")
    if not host or not port or not path or not is_whole(port):
        return None
    scheme = "https" if "SSL/TLS Protocol" in run.fields else "http"
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{scheme}://{name}:{port}{path}"


def _keepalive(run: _Run) -> bool | None:
    if "Keep-Alive requests" in run.fields:
        return True
    # The line stands before this one, and only with -k.
    return False if "Total transferred" in run.fields else None


def _failures(run: _Run) -> tuple[dict[str, int | None], dict[str, int]]:
    """Errors by class, and by ab's own names."""
    named: dict[str, int] = {}
    failed = run.whole("Failed requests")
    if failed is not None:
        named["Failed requests"] = failed
    if run.failures is not None:
        named.update(_parenthesis(run.failures))
    for label in ("Non-2xx responses", "Write errors", "Broken pipe errors"):
        count = run.whole(label)
        if count is not None:
            named[label] = count
    # The parenthesis is left out when Failed is 0, and Non-2xx when it is 0.
    silent = 0 if failed == 0 else None
    known = {ours: named.get(theirs, silent) for theirs, ours in _CLASSES.items()}
    past = "Total transferred" in run.fields or run.times
    status = named.get("Non-2xx responses", 0 if past else None)
    return errors(**known, status=status, write=named.get("Write errors")), named


def _parenthesis(line: Line) -> dict[str, int]:
    pairs = [part.partition(":") for part in line.text.strip("()").split(",")]
    return {
        name.strip(): whole(count.strip(), line=line.number, tool=TOOL) for name, _, count in pairs
    }


def _ok(completed: int, failures: dict[str, int | None], run: _Run) -> int | None:
    """Complete minus Non-2xx, where nothing else went wrong; else ab counts some twice."""
    known = failures["connect"] == 0 and failures["other"] == 0
    broken = failures["read"] or failures["write"] or run.whole("Broken pipe errors")
    status = failures["status"]
    if not known or broken or status is None or status > completed:
        return None
    return completed - status


def _latency(run: _Run) -> Latency:
    percentiles = dict(_percentile(line) for line in run.percentiles)
    if run.total is None:
        return Latency(percentiles=percentiles)
    words = run.total.text.partition(":")[2].split()
    numbers = [real(word, line=run.total.number, tool=TOOL) * 1000 for word in words]
    if len(numbers) == 5:
        least, mean, deviation, _, most = numbers
        return Latency(mean, deviation, least, most, percentiles)
    if len(numbers) == 3:  # -S and -w leave the deviation and the median out
        least, mean, most = numbers
        return Latency(mean, None, least, most, percentiles)
    raise FormatError(
        "The ab output is damaged",
        tool=TOOL,
        line=run.total.number,
        found=run.total.text,
        expected="min, mean, deviation, median and max, or min, avg and max",
    )


def _percentile(line: Line) -> tuple[str, float]:
    key, _, rest = line.text.partition("%")
    value = rest.split()[0] if rest.split() else ""
    return str(int(key)), scaled(real(value, line=line.number, tool=TOOL), 1000)


def _incomplete(run: _Run) -> bool:
    if any(line.text.startswith("100%") for line in run.percentiles):
        return False
    return run.table or run.total is None
