"""stats.json and global_stats.json of the HTML report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.refusals import fault_in
from backend.formats.text import Document, Source

NAME = "gatling"
MARK = '"numberOfRequests"'
RESOLUTION_US = 1000
# The documents number the percentiles; these are the ones asked for unless configured otherwise.
DEFAULTS = {
    4: {"50": "percentiles1", "75": "percentiles2", "95": "percentiles3", "99": "percentiles4"},
    # Before 2.1.
    2: {"95": "percentiles1", "99": "percentiles2"},
}
LONGEST_MS = 31 * 24 * 3600 * 1000


def stats_in(source: Source) -> list[Document]:
    """The documents that are statistics, also broken ones."""
    if MARK not in source.text:
        return []
    found = [document for document in source.documents if _totals(document.value) is not None]
    # Of one that is broken, parts may be broken documents, too.
    broken = [document for document in source.documents if document.value is None]
    return sorted(found + broken[:1], key=lambda document: document.line)


def is_stats(source: Source) -> bool:
    """Whether a document of the source is Gatling's statistics."""
    if MARK not in source.text or '"meanNumberOfRequestsPerSecond"' not in source.text:
        # One that was cut off still has these.
        return MARK in source.text and '"minResponseTime"' in source.text
    return bool(stats_in(source))


def _totals(value: Any) -> Mapping[str, Any] | None:
    """The statistics of all requests: the root's, or the document itself."""
    if not isinstance(value, dict):
        return None
    stats = value.get("stats", value)
    return stats if isinstance(stats, dict) and "numberOfRequests" in stats else None


def read_stats(document: Document) -> ParsedTrial | FormatError:
    """What one document says of all requests."""
    stats = _totals(document.value)
    if stats is None:
        return FormatError(
            "Gatling's statistics are damaged or cut off.",
            tool=NAME,
            line=document.fault_line,
            found=document.fault,
            expected="the whole stats.json or global_stats.json",
        )
    try:
        return _trial(stats)
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        return FormatError(
            "Gatling's statistics lack a figure or have one of another kind.",
            tool=NAME,
            line=document.line,
            found=fault_in(wrong),
            expected="numberOfRequests, minResponseTime and so on, each with total, ok and ko",
        )


def _trial(stats: Mapping[str, Any]) -> ParsedTrial:
    total, ok, ko = (_count(stats["numberOfRequests"][key]) for key in ("total", "ok", "ko"))
    if total != ok + ko:
        raise ValueError(f"{total} requests, {ok} of them OK and {ko} KO")
    return ParsedTrial(
        tool=NAME,
        loop=None,
        # Which of the failed ones had a response is not said.
        requests_completed=None if ko else total,
        requests_ok=ok,
        reported_rps=_figure(stats["meanNumberOfRequestsPerSecond"]["total"]),
        tool_errors={"ko": ko},
        latency=_latency(stats) if total else Latency(),
        latency_origin="percentiles" if total else None,
        latency_resolution_us=RESOLUTION_US,
    )


def _latency(stats: Mapping[str, Any]) -> Latency:
    ranks = DEFAULTS[4 if "percentiles4" in stats else 2]
    return Latency(
        mean_us=_us(stats["meanResponseTime"]),
        stdev_us=_us(stats["standardDeviation"]),
        min_us=_us(stats["minResponseTime"]),
        max_us=_us(stats["maxResponseTime"]),
        percentiles={rank: _us(stats[name]) for rank, name in ranks.items()},
    )


def _us(triple: Mapping[str, Any]) -> int:
    milliseconds = _count(triple["total"])
    if milliseconds > LONGEST_MS:
        raise ValueError(f"a time of {milliseconds} ms")
    return milliseconds * 1000


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise ValueError(f"{value!r} as a count")
    return value


def _figure(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError(f"{value!r} as a rate")
    return float(value)
