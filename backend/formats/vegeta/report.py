"""vegeta's reports: text, JSON, hist and hdrplot; with -every, each replaces the one before."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    json_count,
    optional_number,
    require_count,
    require_duration_us,
    require_number,
)
from backend.formats.refusals import read_figures
from backend.formats.runs import of_lines
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Line, Source, blocks, is_prompt, last_line
from backend.formats.transport_errors import (
    counted_classes,
    error_class,
    is_of_go,
    is_whole_error,
)
from backend.formats.vegeta.curves import read_hdrplot, read_histogram
from backend.formats.vegeta.offered import offered_rate, sent_rate
from backend.formats.vegeta.results import RESOLUTION_US, UNANSWERED

# What -every prints to clear the screen before each report but the last.
CLEAR = b"\x1b[2J"
JSON, TEXT, HDRPLOT, HISTOGRAM = "JSON report", "text report", "hdrplot", "hist report"
# As rich as they are in figures; 0 is for the results themselves.
RANKS = {JSON: 1, TEXT: 2, HDRPLOT: 3, HISTOGRAM: 4}
JSON_KEYS = frozenset(("latencies", "bytes_in", "bytes_out", "requests", "status_codes"))
# Of the first lines of reports.
FIRST_WORDS = ("Requests", "Value(ms)", "Bucket")
# What is rounded is rounded to a unit below the one that is printed.
STEPS_US = {"h": 60e6, "m": 1e6, "s": 1e3, "ms": 1.0}


@dataclass(frozen=True, slots=True)
class FoundReport:
    """A report in a source: its kind, its first line's number, its lines or its object."""

    kind: str
    line: int
    body: Any


def find_reports(source: Source) -> list[FoundReport]:
    """Every report in the source, in order, the replaced ones too."""
    if '"bytes_in"' in source.text:
        documents = source.objects(JSON_KEYS)
        return [FoundReport(JSON, document.line, document.value) for document in documents]
    # Every text with a comma is asked, and few have one of these.
    if not any(word in source.text for word in FIRST_WORDS):
        return []
    lines = source.lines
    starts = [position for position, line in enumerate(lines) if _kind(line)]
    return [
        FoundReport(_kind(block[0]) or "", block[0].number, block)
        for block in blocks(lines, starts)
    ]


def _kind(line: Line) -> str | None:
    # Few lines need their words.
    if not line.text.startswith(FIRST_WORDS):
        return None
    words = line.words
    if words[:1] == ["Requests"] and words[1:2] and words[1].startswith("[total"):
        return TEXT
    if words == ["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"]:
        return HDRPLOT
    return HISTOGRAM if words == ["Bucket", "#", "%", "Histogram"] else None


def read_reports(source: Source) -> tuple[int, list[Entry]]:
    """How rich the reports are, and their trials; a replaced one is none."""
    reports = find_reports(source)
    # A part of a text that another tool's output ends in may have none.
    if not reports:
        return max(RANKS.values()), []
    cleared = _cleared_lines(source)
    entries: list[Entry] = []
    # The first line of the reports that the next one replaces.
    begin = 0
    for report in reports:
        begin = begin or report.line
        if report.line not in cleared:
            entries.append(_read_report(report, begin))
            begin = 0
    last = reports[-1]
    if last.line in cleared:
        entries.append(
            FormatError(
                "The vegeta output is cut off: its last report is missing.",
                line=last.line,
                found=f"a {last.kind} that -every printed in between",
                expected="the last report, which stands without a clearing of the screen",
            )
        )
    return RANKS[last.kind], entries


def _cleared_lines(source: Source) -> set[int]:
    # With zeros between its characters, in UTF-16.
    data = source.data.replace(b"\0", b"")
    if CLEAR not in data:
        return set()
    return {
        at for at, line in enumerate(data.split(b"\n"), source.artefact.first_line) if CLEAR in line
    }


def _read_report(report: FoundReport, begin: int) -> Entry:
    read = read_figures(
        READERS[report.kind],
        report.body,
        title=f"vegeta {report.kind}",
        line=report.line,
        expected="the report as vegeta prints it",
    )
    return read if report.kind == JSON else of_lines(read, (Line(begin, ""), report.body[-1]))


def _read_json(report: Mapping[str, Any]) -> ParsedTrial:
    latencies = report["latencies"]
    points = {
        key.removesuffix("th"): _us(value) for key, value in latencies.items() if key.endswith("th")
    }
    rate, wait = report.get("throughput", report.get("rate")), report.get("wait")
    requests, span_s = json_count(report["requests"]), json_count(report["duration"]) / 1e9
    return _report(
        requests,
        {code: json_count(count) for code, count in report["status_codes"].items()},
        [str(text) for text in report.get("errors") or ()],
        elapsed_s=(json_count(report["duration"]) + json_count(0 if wait is None else wait)) / 1e9,
        sent_rps=sent_rate(requests, span_s),
        offered_rps=offered_rate(requests, span_s),
        reported_rps=optional_number(rate),
        bytes_received=json_count(report["bytes_in"]["total"]),
        latency=Latency(
            mean_us=_us(latencies["mean"]),
            min_us=_us(latencies["min"]) if "min" in latencies else None,
            max_us=_us(latencies["max"]),
            percentiles=points,
        ),
        latency_resolution_us=RESOLUTION_US,
        extra=_buckets(report.get("buckets")),
    )


def _us(nanoseconds: Any) -> float:
    return json_count(nanoseconds) / 1000


def _buckets(printed: Mapping[str, Any] | None) -> dict[str, Any]:
    """Buckets by their lower bounds in ns, as [from, to, count] in µs; the last has no end."""
    if not printed:
        return {}
    bounds = [int(key) / 1000 for key in printed]
    ends = [*bounds[1:], None]
    counts = [json_count(count) for count in printed.values()]
    return {"buckets_us": [list(row) for row in zip(bounds, ends, counts, strict=True)]}


def _report(
    requests: int, codes: Mapping[str, int], texts: Sequence[str] | None, **figures: Any
) -> ParsedTrial:
    """A trial of the counts; `texts` are the set of errors, None if it may be cut off."""
    if sum(codes.values()) != requests:
        raise ValueError(f"the status codes stand for {sum(codes.values())} of {requests} requests")
    answered = {code: count for code, count in codes.items() if code != UNANSWERED}
    # Without a request all figures are zeros that nothing was measured for.
    measured = (
        figures if requests else {**figures, "latency": Latency(), "latency_resolution_us": None}
    )
    return ParsedTrial(
        loop="open",
        requests_completed=sum(answered.values()),
        requests_ok=succeeded(answered),
        attempts=requests,
        failed=requests - succeeded(answered),
        errors={**_classes(codes.get(UNANSWERED, 0), texts), "status": failed(answered)},
        tool_errors=dict.fromkeys(texts or ()),
        status_counts=answered,
        latency_origin="percentiles" if requests else None,
        **measured,
    )


def _classes(unanswered: int, texts: Sequence[str] | None) -> dict[str, int | None]:
    """Attempts without an answer by class: the set of texts tells only which classes there are."""
    classes: dict[str, int | None] = dict(counted_classes({}))
    if not unanswered:
        return classes
    if texts is None:
        return dict.fromkeys(classes)
    seen = {error_class(text) for text in texts if not _is_status(text)}
    if not seen:
        return dict.fromkeys(classes)
    return classes | dict.fromkeys(seen, unanswered if len(seen) == 1 else None)


def _is_status(text: str) -> bool:
    """Whether an error is an answer's status line ("500 Internal Server Error")."""
    return text[:3].isdigit() and text[3:4] in ("", " ")


def _read_text(block: Sequence[Line]) -> ParsedTrial:
    rows = dict(_rows(block))
    if not rows.keys() >= {"Requests", "Latencies", "Bytes In", "Status Codes"}:
        raise _cut_off(block)
    totals, times, sizes = rows["Requests"], rows["Latencies"], rows["Bytes In"]
    codes = dict(pair.split(":") for pair in rows["Status Codes"][""].split())
    counts = {code: require_count(count) for code, count in codes.items()}
    if sum(counts.values()) < require_count(totals["total"]):
        raise _cut_off(block)
    texts = _texts(block, is_unanswered=UNANSWERED in counts)
    rate = totals.get("throughput", totals.get("rate"))
    requests, span_s = require_count(totals["total"]), _span_s(rows)
    trial = _report(
        requests,
        counts,
        texts,
        elapsed_s=require_duration_us(rows["Duration"]["total"]) / 1e6
        if "Duration" in rows
        else None,
        sent_rps=sent_rate(requests, span_s),
        offered_rps=offered_rate(requests, span_s),
        reported_rps=None if rate is None else require_number(rate),
        bytes_received=require_count(sizes["total"]),
        latency=Latency(
            mean_us=require_duration_us(times["mean"]),
            min_us=require_duration_us(times["min"]) if "min" in times else None,
            max_us=require_duration_us(times["max"]),
            percentiles={
                name: require_duration_us(word) for name, word in times.items() if name.isdigit()
            },
        ),
        latency_resolution_us=_step_us(list(times.values())),
    )
    return replace(trial, incomplete=texts is None)


def _span_s(rows: Mapping[str, Mapping[str, str]]) -> float | None:
    """From the first request to the last: by the rate, which is finer, else by the duration."""
    totals, times = rows["Requests"], rows.get("Duration", {})
    rate = require_number(totals["rate"]) if "rate" in totals else 0.0
    if rate:
        return require_count(totals["total"]) / rate
    # Before version 4 the only time was that of the attack.
    time = times.get("attack", times.get("total"))
    return None if time is None else require_duration_us(time) / 1e6


def _rows(block: Sequence[Line]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows such as "Requests [total, rate] 300, 100.44": label, and figures by name."""
    for line in block:
        label, bracket, rest = line.text.partition("[")
        names, closed, values = rest.partition("]")
        if label.strip() == "Status Codes" and closed:
            yield "Status Codes", {"": values}
            return
        if bracket and closed:
            keys = [name.strip() for name in names.split(",")]
            figures = [value.strip() for value in values.split(",")]
            # Thousands separators would give more figures than names.
            if len(keys) == len(figures):
                yield label.strip(), dict(zip(keys, figures, strict=True))


def _cut_off(block: Sequence[Line]) -> FormatError:
    return last_line(block).refusal(
        "The vegeta report is cut off before the end of its status codes, or damaged.",
        expected='rows from "Requests [total, …]" to "Status Codes [code:count]"',
    )


def _texts(block: Sequence[Line], *, is_unanswered: bool) -> list[str] | None:
    """The set of error texts; None if it is not reached, or may be cut off.

    `is_unanswered`: whether attempts have no answer, which alone have other texts than statuses.
    """
    position = next((at for at, line in enumerate(block) if line.text == "Error Set:"), None)
    if position is None:
        return None
    texts: list[str] = []
    for line in block[position + 1 :]:
        if not _is_error(line.text, is_unanswered):
            return texts
        texts.append(line.text)
    # The text ends here without a line feed.
    return texts if not texts or is_whole_error(texts[-1]) or _is_status(texts[-1]) else None


def _is_error(text: str, is_unanswered: bool) -> bool:
    return not is_prompt(text) and (_is_status(text) or (is_unanswered and is_of_go(text)))


def _step_us(words: Sequence[str]) -> float:
    """The coarsest step of printed times; before 12.8 none was rounded, and some show it."""
    digits = [word.rstrip("hmnsuµμ") for word in words]
    if any(len(figure.partition(".")[2]) > 3 for figure in digits):
        return RESOLUTION_US
    units = [
        "h" if "h" in word else word[len(figure) :]
        for word, figure in zip(words, digits, strict=True)
    ]
    return max(STEPS_US.get(unit, RESOLUTION_US) for unit in units)


READERS: Mapping[str, Callable[[Any], ParsedTrial]] = {
    JSON: _read_json,
    TEXT: _read_text,
    HDRPLOT: read_hdrplot,
    HISTOGRAM: read_histogram,
}
