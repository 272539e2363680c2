"""JMeter's figures for each label and in total: statistics.json of the dashboard, and the CSV of
the listeners Aggregate Report and Summary Report."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.formats.jmeter.summary import RESOLUTION_US
from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    count_of_share,
    json_count,
    json_number,
    nearest_of_share,
    parse_count,
    parse_number,
    scaled,
)
from backend.formats.refusals import read_figures, several_totals
from backend.formats.text import HEAD_BYTES, Document, Source

DOCUMENT_MARK = '"pct1ResTime"'
# The names of the columns before JMeter 3.0 and of its plugins, and since.
OLD_PREFIX = "aggregate_report_"
OLD_NAMES = {
    "sampler_label": "Label",
    "count": "# Samples",
    "average": "Average",
    "median": "Median",
    "min": "Min",
    "max": "Max",
    "error%": "Error %",
    "rate": "Throughput",
    "bandwidth": "KB/sec",
    "stddev": "Std. Dev.",
}
MARKS = (DOCUMENT_MARK, "# Samples", "sampler_label")
# A comma in the files; a tab where the window's table was copied.
DELIMITERS = (",", "\t", ";")
NEEDED = ("Label", "# Samples", "Average", "Min", "Max", "Error %", "Throughput")
BANDWIDTHS = ("Received KB/sec", "KB/sec")
TOTALS = ("TOTAL", "Total")
# aggregate_rpt_pct1 to 3, where nobody set them otherwise; the file does not say.
PERCENTILES = {"median": "50", "pct1": "90", "pct2": "95", "pct3": "99"}
RATES_S = {"": 1, "/sec": 1, "/min": 60, "/hour": 3600}
HEAD_LINES = 30
_LINE = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)%[ _][Ll]ine")

Row = Mapping[str, str]


def find_statistics(source: Source) -> list[Document]:
    """The objects of the dashboard, with a member for each label."""
    if DOCUMENT_MARK not in source.text:
        return []
    return [document for document in source.documents if _total_of(document.value) is not None]


def _total_of(value: Any) -> Mapping[str, Any] | None:
    """The member of all samples, or the only one."""
    members = value if isinstance(value, dict) else {}
    if not members or not all(_is_member(member) for member in members.values()):
        return None
    only = next(iter(members.values())) if len(members) == 1 else None
    total: Mapping[str, Any] | None = members.get("Total", only)
    return total


def _is_member(value: Any) -> bool:
    return isinstance(value, dict) and {"sampleCount", "errorCount", "pct1ResTime"} <= value.keys()


def read_statistics(document: Document) -> Entry:
    """The total of the dashboard."""
    return read_figures(
        _of_statistics,
        _total_of(document.value),
        title="JMeter statistics.json",
        line=document.line,
        expected="the file that JMeter's dashboard holds, unchanged",
    )


def _of_statistics(total: Mapping[str, Any]) -> ParsedTrial:
    count, failed = json_count(total["sampleCount"]), json_count(total["errorCount"])
    if failed > count:
        raise ValueError(f"{failed} errors of {count} samples")
    rate = json_number(total["throughput"]) if count else None
    times = {
        name: json_number(total[f"{name}ResTime"])
        for name in ("mean", "min", "max", *PERCENTILES)
        # There is no median before JMeter 5.2.
        if count and f"{name}ResTime" in total
    }
    points = {key: times.pop(name) for name, key in PERCENTILES.items() if name in times}
    if list(points.values()) != sorted(points.values()):
        raise ValueError("percentiles of a falling order, set by aggregate_rpt_pct1 to 3")
    trial = _trial(
        count,
        failed,
        printed_failed=failed,
        rate=rate,
        kilobytes_s=total.get("receivedKBytesPerSec"),
        latency=_latency(times, points),
    )
    return replace(trial, exact_elapsed_s=round(count / rate, 6) if rate else None)


def header_of(source: Source) -> int | None:
    """The position of the line with the columns of a listener; None when there is none."""
    if not any(mark in source.text[:HEAD_BYTES] for mark in MARKS[1:]):
        return None
    lines = source.text[:HEAD_BYTES].split("\n")[:HEAD_LINES]
    return next((at for at, line in enumerate(lines) if set(NEEDED) <= set(_columns(line))), None)


def _delimiter(line: str) -> str:
    return next((mark for mark in DELIMITERS if mark in line), ",")


def _columns(line: str) -> list[str]:
    return [_modern(name.strip(' "\r')) for name in line.split(_delimiter(line))]


def _modern(name: str) -> str:
    plain = name.removeprefix(OLD_PREFIX)
    if matched := _LINE.fullmatch(plain):
        return f"{matched[1]}% Line"
    return OLD_NAMES.get(plain, name)


def read_table(source: Source) -> Entry:
    """The row of all samples of a listener's CSV."""
    at = header_of(source) or 0
    header, *lines = source.text.split("\n")[at:]
    # What stands behind the last line feed is nothing, or a row that was cut off.
    rows = _rows(_columns(header), _delimiter(header), lines[:-1])
    totals = [row for row in rows if row["Label"] in TOTALS] or (rows if len(rows) == 1 else [])
    if len(totals) > 1:
        line = source.artefact.first_line + at
        return several_totals("JMeter report", len(totals), "the label TOTAL", line)
    if not totals:
        return FormatError(
            "The JMeter report has no row of all samples.",
            line=source.artefact.first_line + at,
            found=f"{len(rows)} rows",
            expected='a row with the label "TOTAL", or one row alone',
        )
    return read_figures(
        _of_row, totals[0], title="JMeter report", expected=f"the columns {', '.join(NEEDED)}"
    )


def _rows(columns: Sequence[str], delimiter: str, lines: Sequence[str]) -> list[Row]:
    try:
        rows = list(csv.reader((line.rstrip("\r") for line in lines), delimiter=delimiter))
    except csv.Error:
        return []
    cells = [[cell.strip() for cell in row] for row in rows if len(row) == len(columns)]
    return [dict(zip(columns, row, strict=True)) for row in cells]


def _of_row(row: Row) -> ParsedTrial:
    count = parse_count(row["# Samples"])
    if count is None:
        raise ValueError(f"{row['# Samples']!r} is not a count")
    points = {name[: -len("% Line")]: name for name in row if name.endswith("% Line")}
    if "Median" in row:
        points["50"] = "Median"
    times = {"mean": "Average", "min": "Min", "max": "Max", "stdev": "Std. Dev."}
    share = _share(row["Error %"])
    return _trial(
        count,
        count_of_share(count, share),
        printed_failed=nearest_of_share(count, share),
        rate=_rate(row["Throughput"]),
        kilobytes_s=next((_number(row[name]) for name in BANDWIDTHS if name in row), None),
        latency=_latency(_figures(row, times), _figures(row, points)) if count else Latency(),
    )


def _figures(row: Row, names: Mapping[str, str]) -> dict[str, float]:
    figures = {key: _number(row[name]) for key, name in names.items() if name in row}
    return {key: figure for key, figure in figures.items() if figure is not None}


def _number(cell: str) -> float | None:
    """A figure; JMeter writes the decimal mark of the machine's language, and no thousands."""
    return parse_number(f"0{cell.replace(',', '.')}")


def _rate(cell: str) -> float | None:
    figure, slash, unit = cell.partition("/")
    seconds = RATES_S.get(slash + unit)
    rate = _number(figure)
    return None if rate is None or seconds is None else rate / seconds


def _share(cell: str) -> str:
    """The number of "0.25%"; empty without the sign."""
    return cell.removesuffix("%").replace(",", ".") if cell.endswith("%") else ""


def _trial(
    count: int,
    failed: int | None,
    *,
    printed_failed: int | None,
    rate: float | None,
    kilobytes_s: Any,
    latency: Latency,
) -> ParsedTrial:
    """`failed` is exact; `printed_failed` is as exact as the share that is printed."""
    received = None if kilobytes_s is None or not count else json_number(kilobytes_s)
    return ParsedTrial(
        loop=None,
        requests_completed=count if failed == 0 else None,
        requests_ok=None if failed is None else count - failed,
        attempts=count,
        failed=printed_failed,
        reported_rps=rate,
        transfer_rate_bytes_s=scaled(received, 1024),
        tool_errors={"Error": failed},
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=RESOLUTION_US,
    )


def _latency(times: Mapping[str, float], points: Mapping[str, float]) -> Latency:
    return Latency(
        mean_us=scaled(times.get("mean"), 1000),
        stdev_us=scaled(times.get("stdev"), 1000),
        min_us=scaled(times.get("min"), 1000),
        max_us=scaled(times.get("max"), 1000),
        percentiles={key: round(value * 1000, 6) for key, value in points.items()},
    )
