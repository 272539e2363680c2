"""What Taurus dumps of its final stats: a row or a group for each label, one of them of all."""

import csv
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.formats import statuses
from backend.formats.jmeter.samples import error_class
from backend.formats.model import CLIENT_CLASS, Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import json_count, parse_count, parse_float
from backend.formats.refusals import read_figures, several_totals
from backend.formats.text import HEAD_BYTES, Source

ROOT = "<FinalStatus"
# The label of the group of all samples, and that of a test in the cloud.
ALL, ALL_OF_CLOUD = "", "ALL"
COLUMNS = ("avg_rt", "label", "succ", "fail", "throughput")
HEAD_LINES = 30
RESOLUTION_US = 1000
CLASSES = ("connect", "read", "timeout", "other", CLIENT_CLASS)
_GROUP = re.compile(r'<Group label="([^"<]{0,4000})">(.*?)</Group>', re.S)
_FIGURE = re.compile(r"<(\w{1,40}) ([^<>]{1,400})>")
_ATTRIBUTE = re.compile(r'(value|param)="([^"]{0,200})"')
_DURATION = re.compile(r"<TestDuration>([\d.]{1,20})</TestDuration>")

# Each figure's text by its name; those of a status or a percentile as "rc_200" and "perc_99.0".
Texts = Mapping[str, str]


def header_of(source: Source) -> int | None:
    """The position of the line with the columns; None when there is none."""
    if COLUMNS[0] not in source.text[:HEAD_BYTES]:
        return None
    lines = source.text[:HEAD_BYTES].split("\n")[:HEAD_LINES]
    return next((at for at, line in enumerate(lines) if _is_header(line)), None)


def _is_header(line: str) -> bool:
    return set(COLUMNS) <= {name.strip(' "\r') for name in line.split(",")}


def read_csv(source: Source) -> Entry:
    """The trial of the row of all samples."""
    lines = source.text.splitlines()[header_of(source) or 0 :]
    try:
        header, *rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    except csv.Error as fault:
        return _no_total(str(fault))
    # The last row may have lost digits where the text ends without its line feed.
    whole = rows if source.text.endswith("\n") else rows[:-1]
    named = [dict(zip(header, row, strict=True)) for row in whole if len(row) == len(header)]
    return _trial_of([(row["label"], row) for row in named])


def read_xml(source: Source) -> Entry:
    """The trial of the group of all samples."""
    text = source.text
    groups = [(html.unescape(label), dict(_texts(body))) for label, body in _GROUP.findall(text)]
    duration = _DURATION.search(text)
    seconds = parse_float(duration[1]) if duration else None
    return _trial_of(groups, elapsed_s=seconds or None)


def _texts(body: str) -> Iterator[tuple[str, str]]:
    for name, attributes in _FIGURE.findall(body):
        values = dict(_ATTRIBUTE.findall(attributes))
        if "value" in values:
            param = f"_{html.unescape(values['param'])}" if "param" in values else ""
            yield f"{name}{param}", values["value"]


def _trial_of(groups: Sequence[tuple[str, Texts]], *, elapsed_s: float | None = None) -> Entry:
    totals = [texts for label, texts in groups if label == ALL]
    totals = totals or [texts for label, texts in groups if label == ALL_OF_CLOUD]
    if not totals:
        return _no_total(f"{len(groups)} labels")
    if len(totals) > 1:
        return several_totals("Taurus dump", len(totals), "an empty label")
    return read_figures(
        _trial, totals[0], elapsed_s, title="Taurus dump", expected="the whole file of final-stats"
    )


def _no_total(found: str) -> FormatError:
    return FormatError(
        "The Taurus dump has no total: it is cut off or damaged.",
        found=found,
        expected="a row or a group with an empty label",
    )


def _trial(texts: Texts, elapsed_s: float | None) -> ParsedTrial:
    """The trial; raises ValueError or KeyError where a figure is missing or contradicts another."""
    samples, ok, failed = _counts(texts)
    answered, lost = _codes(texts)
    has_all = sum(answered.values()) + sum(lost.values()) == samples and "" not in lost
    latency = _latency(texts) if samples else Latency()
    if has_all:
        # Some tools take any answer for a success.
        ok = min(ok, statuses.succeeded(answered))
    return ParsedTrial(
        loop=None,
        connections=round(_number(texts, "concurrency") or 0) or None,
        elapsed_s=elapsed_s,
        tool_errors={"fail": failed, **lost} if failed or lost else {},
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=RESOLUTION_US,
        requests_ok=ok,
        attempts=samples,
        failed=samples - ok,
        **(_outcomes(texts, answered, lost) if has_all else {}),
    )


def _counts(texts: Texts) -> tuple[int, int, int]:
    """All samples, those that succeeded and those that failed."""
    samples, ok, failed = (_count(texts[name]) for name in ("throughput", "succ", "fail"))
    if samples != ok + failed:
        raise ValueError(f"{ok} succeeded and {failed} failed of {samples} samples")
    return samples, ok, failed


def _codes(texts: Texts) -> tuple[dict[str, int], dict[str, int]]:
    """The samples by status, and those without one by the name of what happened."""
    counts = {name[3:]: _count(text) for name, text in texts.items() if name[:3] == "rc_" and text}
    answered = {code: counts[code] for code in sorted(counts) if parse_count(code) is not None}
    return answered, {code: count for code, count in counts.items() if code not in answered}


def _outcomes(texts: Texts, answered: Mapping[str, int], lost: Mapping[str, int]) -> dict[str, Any]:
    """How the samples ended, where the code of each is known."""
    return {
        "requests_completed": sum(answered.values()),
        # Of a sample without an answer, JMeter counts the bytes of its own message.
        "bytes_received": None if lost else _bytes(texts),
        "errors": _errors(answered, lost),
        "status_counts": dict(answered),
    }


def _errors(answered: Mapping[str, int], lost: Mapping[str, int]) -> dict[str, int | None]:
    classes = dict.fromkeys(CLASSES, 0)
    for name, count in lost.items():
        class_ = error_class(name, "")
        classes[class_] = classes.get(class_, 0) + count
    return {**classes, "status": statuses.failed(answered)}


def _count(text: str) -> int:
    return json_count(parse_float(text))


def _bytes(texts: Texts) -> int | None:
    return _count(texts["bytes"]) if "bytes" in texts else None


def _number(texts: Texts, name: str) -> float | None:
    return parse_float(texts.get(name, ""))


def _us(texts: Texts, name: str) -> float | None:
    seconds = _number(texts, name)
    return None if seconds is None or seconds < 0 else round(seconds * 1e6, 3)


def _latency(texts: Texts) -> Latency:
    points: dict[str, Any] = {
        f"{percent:g}": _us(texts, name)
        for name in texts
        if name.startswith("perc_") and (percent := parse_float(name[5:])) is not None
    }
    least, most = points.pop("0", None), points.pop("100", None)
    return Latency(
        mean_us=_us(texts, "avg_rt"),
        stdev_us=_us(texts, "stdev_rt"),
        min_us=least,
        max_us=most,
        percentiles={name: value for name, value in points.items() if value is not None},
    )
