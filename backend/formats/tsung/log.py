"""tsung.log: what was counted, dumped every ten seconds and at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats.model import CLIENT_CLASS, Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import all_known, parse_float
from backend.formats.refusals import read_figures, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Line, Source, first_with, last_line

DUMP, STATS, END = "# stats: dump at ", "stats: ", "EndMonitor:"
# count, mean, deviation, largest and smallest since the last dump; mean and count before it.
SAMPLE_CELLS = 7
REQUEST = "request"
RESOLUTION_US = 1
# The client had no port or no file descriptor left.
CLIENT_ERRORS = (
    *("error_connect_eaddrnotavail", "error_connect_eaddrinuse", "error_connect_emfile"),
    *("error_connect_enfile", "error_connect_enobufs", "error_connect_system_limit"),
)
# The classes of tsung's error counters, by how their names begin; the first that fits.
CLASSES = {
    **dict.fromkeys(CLIENT_ERRORS, CLIENT_CLASS),
    "error_connect_": "connect",
    "error_timeout": "timeout",
    "error_send": "write",
    "error_closed": "read",
    "error_connection_closed": "read",
    "error_inet_": "read",
    "error_unknown": "other",
}
Stats = dict[str, list[float]]


def claims_log(source: Source) -> str | None:
    """Why this is a tsung.log, or None."""
    if dump := first_with(source.lines, DUMP):
        return f"line {dump.number} begins a dump of tsung's statistics"
    return "a JSON object has tsung's statistics" if _documents(source) else None


def _documents(source: Source) -> list[Sequence[Any]]:
    if '"finish_users_count"' not in source.text:
        return []
    values = [document.value for document in source.documents]
    return [
        value["stats"]
        for value in values
        if isinstance(value, dict) and isinstance(value.get("stats"), list)
    ]


def read_log(source: Source) -> list[Entry]:
    """Every run in the source."""
    documents = _documents(source)
    if documents:
        return [_read_json(document) for document in documents]
    return [
        of_lines(read_or_refuse(lambda run=run: _trial(_stats_of(run))), run)
        for run in _runs(source.lines)
    ]


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each run: the first to a line EndMonitor, the next to the next."""
    runs: list[list[Line]] = [[]]
    for line in lines:
        runs[-1].append(line)
        if line.text.startswith(END):
            runs.append([])
    return [run for run in runs if any(line.text.startswith(DUMP) for line in run)]


def _stats_of(block: Sequence[Line]) -> Stats:
    """The last figures of each statistic; raises FormatError for a log without its end."""
    if not block[-1].text.startswith(END):
        raise last_line(block).refusal(
            "The tsung log is cut off, or its run was killed.",
            expected="a last line such as EndMonitor:{1795,230805,229628}",
        )
    stats: Stats = {}
    for line in block:
        if line.text.startswith(STATS):
            # A name may hold blanks: {freemem,"tsung_controller@my host"}.
            name, *cells = line.text.removeprefix(STATS).rsplit("}", 1)[-1].split() or [""]
            if "{" not in line.text:
                stats[name] = _figures(line, cells)
    return stats


def _figures(line: Line, cells: Sequence[str]) -> list[float]:
    numbers = all_known(map(parse_float, cells))
    if numbers is None or len(numbers) not in (2, SAMPLE_CELLS):
        raise line.refusal(
            "The tsung log has a damaged statistic.",
            expected="a name and two counts, or a name and seven figures",
        )
    return numbers


def _read_json(dumps: Sequence[Any]) -> Entry:
    return read_figures(
        lambda: _trial(_stats_of_json(dumps)),
        title="tsung log in JSON",
        expected="the object that tsung writes with its JSON backend",
    )


def _stats_of_json(dumps: Sequence[Any]) -> Stats:
    sample = ("value", "mean", "stddev", "max", "min", "global_mean", "global_count")
    stats: Stats = {}
    for dump in dumps:
        for entry in dump["samples"]:
            if "hostname" in entry:
                continue
            names = sample if "mean" in entry else ("value", "total" if "total" in entry else "max")
            name = str(entry["name"])
            stats[name.removeprefix("http_")] = [_figure(entry[key], name) for key in names]
    return stats


def _figure(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        raise ValueError(f"{str(value)[:80]!r} as a figure of {name[:80]}")
    return float(value)


def _trial(stats: Stats) -> ParsedTrial:
    totals = {name: round(figures[1]) for name, figures in stats.items() if len(figures) == 2}
    if min(totals.values(), default=0) < 0:
        raise FormatError(
            "The tsung log has a count below 0.", found=str(totals), expected="counts"
        )
    statuses = {name: total for name, total in totals.items() if name.isdigit() and len(name) == 3}
    failures = {name: total for name, total in totals.items() if name.startswith("error_")}
    latency, completed = _latency(stats.get(REQUEST)), sum(statuses.values())
    return ParsedTrial(
        loop="open",
        requests_completed=completed,
        requests_ok=succeeded(statuses),
        bytes_received=totals.get("size_rcv"),
        errors={
            **_with_silent(_errors(totals), _requests(stats.get(REQUEST)) - completed),
            "status": failed(statuses),
        },
        tool_errors=failures,
        status_counts=statuses,
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=RESOLUTION_US,
    )


def _with_silent(errors: dict[str, int | None], silent: int) -> dict[str, int | None]:
    """The errors with the requests that have no status. One may be a closed connection too, which
    is one failure."""
    return {**errors, "read": silent} if silent > (errors.get("read") or 0) else errors


def _errors(totals: Mapping[str, int]) -> dict[str, int | None]:
    errors: dict[str, int | None] = {"connect": 0}
    for name, total in totals.items():
        kind = next((kind for start, kind in CLASSES.items() if name.startswith(start)), None)
        if kind is not None:
            errors[kind] = (errors.get(kind) or 0) + total
    return errors


def _requests(request: Sequence[float] | None) -> int:
    """The requests that were timed, with or without a status."""
    if request is None or len(request) != SAMPLE_CELLS:
        return 0
    return round(request[0] + request[-1])


def _latency(request: Sequence[float] | None) -> Latency:
    """The request times: the last dump has its own mean, and that of all before it."""
    if request is None or len(request) != SAMPLE_CELLS:
        return Latency()
    count, mean, stdev, highest, lowest, mean_before, count_before = request
    total = count + count_before
    if total <= 0 or min(request) < 0:
        return Latency()
    weighted = (count * mean + count_before * mean_before) / total
    return Latency(
        mean_us=_us(weighted),
        # Of the last ten seconds only, where there were more.
        stdev_us=None if count_before else _us(stdev),
        min_us=_us(lowest),
        max_us=_us(highest),
    )


def _us(milliseconds: float) -> float:
    return round(milliseconds * 1000, 3)
