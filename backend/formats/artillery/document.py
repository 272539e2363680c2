"""The JSON report of artillery: `aggregate` over the test, `intermediate` for each 10 s."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from backend.formats.artillery.counters import (
    POINTS,
    Figures,
    by_class,
    figures_of,
    latency_of,
    trial,
)
from backend.formats.model import Entry, ParsedTrial, TimeSlice
from backend.formats.numbers import json_count, json_number, optional_number
from backend.formats.refusals import read_json
from backend.formats.text import Document

TIMES = ("http.response_time", "engine.http.response_time")
VERSION_1 = {"scenariosCreated", "requestsCompleted", "latency", "rps", "codes"}
PERIOD_S = 10.0
MOST_SLICES = 86_400


def is_report(value: Any) -> bool:
    """Whether a JSON value is a report of artillery's."""
    aggregate = _aggregate_of(value)
    return aggregate is not None and (
        "requestsCompleted" in aggregate or {"counters", "rates"} <= aggregate.keys()
    )


def _aggregate_of(value: Any) -> Mapping[str, Any] | None:
    """The figures over the test; of version 1 people also show these alone."""
    if not isinstance(value, dict):
        return None
    if value.keys() >= VERSION_1:
        return value
    aggregate = value.get("aggregate")
    return aggregate if isinstance(aggregate, dict) else None


def read_document(document: Document) -> Entry:
    """The trial of a report, or why there is no trial."""
    expected = "the whole report that artillery run -o writes, unchanged"
    return read_json(_read, document, tool="artillery", expected=expected)


def _read(report: Mapping[str, Any]) -> ParsedTrial:
    aggregate = _aggregate_of(report) or {}
    figures = _figures(aggregate)
    if figures.responses is None:
        raise ValueError("no counter of HTTP requests")
    periods = report.get("intermediate") or []
    return trial(figures, timeline=_timeline(aggregate, periods))


def _figures(part: Mapping[str, Any]) -> Figures:
    if "requestsCompleted" in part:
        return _figures_of_version_1(part)
    summaries = part.get("summaries") or {}
    times: Mapping[str, Any] = next((summaries[name] for name in TIMES if name in summaries), {})
    rates = part.get("rates") or {}
    rate = rates.get("http.request_rate", rates.get("engine.http.request_rate"))
    statistics = {name: json_number(times[name]) for name in _names(times)}
    return figures_of(part["counters"], optional_number(rate), statistics)


def _figures_of_version_1(part: Mapping[str, Any]) -> Figures:
    times, rates = part.get("latency") or {}, part.get("rps") or {}
    return Figures(
        requests=None,
        responses=json_count(part["requestsCompleted"]),
        rate=optional_number(rates.get("mean")),
        codes={str(code): json_count(value) for code, value in (part.get("codes") or {}).items()},
        errors={str(name): json_count(value) for name, value in (part.get("errors") or {}).items()},
        times={name: json_number(times[name]) for name in _names(times)},
    )


def _names(times: Mapping[str, Any]) -> list[str]:
    """The figures there are; version 1 writes null where nothing was answered."""
    wanted = ("min", "max", "mean", *POINTS)
    return [name for name in wanted if times.get(name) is not None]


def _timeline(aggregate: Mapping[str, Any], periods: Sequence[Any]) -> tuple[TimeSlice, ...]:
    """A slice for each period, counted from the first request, the last one as long as it was."""
    stamps = [stamp for period in periods if (stamp := _stamp_s(period)) is not None]
    if not stamps or len(stamps) < len(periods) or len(stamps) > MOST_SLICES:
        return ()
    begin = _edge_s(aggregate, "first", min(stamps))
    end = _edge_s(aggregate, "last", max(stamps) + PERIOD_S)
    ordered = sorted(zip(stamps, periods, strict=True), key=itemgetter(0))
    return tuple(
        _slice(_figures(period), start - begin, stop - start)
        for stamp, period in ordered
        if (stop := min(stamp + PERIOD_S, end)) > (start := max(stamp, begin))
    )


def _edge_s(aggregate: Mapping[str, Any], edge: str, otherwise_s: float) -> float:
    """When the first or last request was counted, in seconds since 1970."""
    stamp = aggregate.get(f"{edge}MetricAt") or aggregate.get(f"{edge}CounterAt")
    return otherwise_s if stamp is None else json_number(stamp) / 1000


def _stamp_s(period: Mapping[str, Any]) -> float | None:
    """When a period began: ms, as a string in version 2; version 1 writes a date, not read."""
    stamp = period.get("period")
    if isinstance(stamp, str):
        return int(stamp) / 1000 if stamp.isascii() and stamp.isdigit() else None
    return None if stamp is None else json_number(stamp) / 1000


def _slice(figures: Figures, start_s: float, length_s: float) -> TimeSlice:
    lost = sum(value or 0 for value in by_class(figures.errors).values())
    return TimeSlice(
        start_s=round(start_s, 3),
        length_s=round(length_s, 3),
        completed=figures.responses,
        failed=lost + figures.bad,
        reported_rps=figures.rate,
        percentiles=latency_of(figures.times).percentiles,
    )
