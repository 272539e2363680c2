"""stats.json and global_stats.json of the HTML report."""

from collections.abc import Mapping
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import LONGEST_MS, json_count, json_number
from backend.formats.refusals import broken_document, read_figures
from backend.formats.text import Document, Source

MARK = '"numberOfRequests"'
RESOLUTION_US = 1000
# The documents number the percentiles; these are the ones asked for unless configured otherwise.
DEFAULTS = {
    4: {"50": "percentiles1", "75": "percentiles2", "95": "percentiles3", "99": "percentiles4"},
    # Before 2.1.
    2: {"95": "percentiles1", "99": "percentiles2"},
}


def stats_in(source: Source) -> list[Document]:
    """The documents that are statistics, also broken ones."""
    if MARK not in source.text:
        return []
    stats = [document for document in source.documents if _totals(document.value) is not None]
    # Of one that is broken, parts may be broken documents, too.
    broken = [document for document in source.documents if document.value is None]
    return sorted(stats + broken[:1], key=lambda document: document.line)


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


def read_stats(document: Document) -> Entry:
    """What one document says of all requests."""
    stats = _totals(document.value)
    if stats is None:
        return broken_document(
            document,
            title="Gatling statistics file",
            expected="the whole stats.json or global_stats.json",
        )
    return read_figures(
        _trial,
        stats,
        title="Gatling statistics file",
        line=document.line,
        expected="numberOfRequests, minResponseTime and so on, each with total, ok and ko",
    )


def _trial(stats: Mapping[str, Any]) -> ParsedTrial:
    total, ok, ko = (json_count(stats["numberOfRequests"][key]) for key in ("total", "ok", "ko"))
    if total != ok + ko:
        raise ValueError(f"{total} requests, {ok} of them OK and {ko} KO")
    return ParsedTrial(
        loop=None,
        # Which of the failed ones had a response is not said.
        requests_completed=None if ko else total,
        requests_ok=ok,
        attempts=total,
        failed=ko,
        reported_rps=json_number(stats["meanNumberOfRequestsPerSecond"]["total"]),
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
    milliseconds = json_count(triple["total"])
    if milliseconds > LONGEST_MS:
        raise ValueError(f"a time of {milliseconds} ms")
    return milliseconds * 1000
