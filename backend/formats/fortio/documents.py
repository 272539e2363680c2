"""The JSON of fortio -json."""

from collections.abc import Mapping
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, optional_line, parse_duration_s
from backend.formats.refusals import read_figures
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Document, Source

KEYS = frozenset(("RunType", "ActualQPS", "DurationHistogram"))
# Some of these are in each version's JSON of an HTTP run; nighthawk writes none of them.
OWN_KEYS = frozenset(("Exactly", "SocketCount", "NumConnections", "Sockets", "HTTPReqTimeOut"))
FAILED = "-1"


def find_results(source: Source) -> list[Document]:
    """Every JSON object with fortio's keys, but for those that nighthawk wrote."""
    return [document for document in source.objects(KEYS) if not _is_nighthawks(document)]


def find_nighthawks(source: Source) -> list[Document]:
    """Every JSON object with fortio's keys that nighthawk wrote."""
    return [document for document in source.objects(KEYS) if _is_nighthawks(document)]


def _is_nighthawks(document: Document) -> bool:
    """Whether counts are texts, as Protobuf writes them, or figures of fortio's own are missing."""
    result = document.value
    histogram = result["DurationHistogram"]
    count = histogram.get("Count") if isinstance(histogram, dict) else None
    return isinstance(count, str) or ("BytesReceived" in result and OWN_KEYS.isdisjoint(result))


def read_results(source: Source) -> list[Entry]:
    """The trial of each JSON object in the source."""
    return [
        read_figures(
            _read_result,
            result.value,
            title="fortio JSON",
            expected="the object that fortio load -json writes for an HTTP run",
        )
        for result in find_results(source)
    ]


def _read_result(result: Mapping[str, Any]) -> ParsedTrial:
    codes = _codes(result)
    exactly, resolution = json_count(result.get("Exactly") or 0), result.get("Resolution")
    latency = _latency(result["DurationHistogram"])
    answered = {code: count for code, count in codes.items() if code != FAILED}
    return ParsedTrial(
        tool_version=optional_line(result.get("Version")),
        url=optional_line(result.get("URL")),
        connections=json_count(result["NumThreads"]),
        requested_rate_rps=_rate(result.get("RequestedQPS")),
        requested_requests=exactly or None,
        requested_duration_s=None if exactly else _duration_s(result.get("RequestedDuration")),
        keepalive=_keepalive(result),
        elapsed_s=json_number(result["ActualDuration"]) / 1e9,
        requests_completed=sum(answered.values()),
        requests_ok=succeeded(answered),
        reported_rps=json_number(result["ActualQPS"]),
        bytes_received=_sum(result, "Sizes"),
        body_bytes=_body_bytes(result),
        errors={"status": failed(answered), "other": codes.get(FAILED, 0)},
        tool_errors=_tool_errors(codes, result.get("ErrorsDurationHistogram") or {}),
        status_counts=answered,
        latency=latency,
        latency_origin=None if latency == Latency() else "histogram",
        latency_resolution_us=None if resolution is None else _us(resolution),
    )


def _keepalive(result: Mapping[str, Any]) -> bool | None:
    closes = result.get("DisableKeepAlive")
    return None if closes is None else not closes


def _sum(result: Mapping[str, Any], name: str) -> int | None:
    """The bytes of all responses by one of fortio's two histograms of sizes."""
    sizes = result.get(name) or {}
    return round(json_number(sizes["Sum"])) if "Sum" in sizes else None


def _body_bytes(result: Mapping[str, Any]) -> int | None:
    """With the standard client of Go the headers are 0, and the sizes are those of bodies."""
    sizes, headers = _sum(result, "Sizes"), _sum(result, "HeaderSizes")
    return None if sizes is None or headers is None else sizes - headers


def _codes(result: Mapping[str, Any]) -> dict[str, int]:
    """The responses by status; all calls are in it, each once."""
    if result["RunType"] != "HTTP":
        raise ValueError(f"RunType is {result['RunType']!r}, not an HTTP run")
    codes = {code: json_count(count) for code, count in result["RetCodes"].items()}
    calls = json_count(result["DurationHistogram"]["Count"])
    if sum(codes.values()) != calls:
        raise ValueError(f"RetCodes has {sum(codes.values())} calls, DurationHistogram {calls}")
    if not all(code == FAILED or code.isdigit() for code in codes):
        raise ValueError(f"RetCodes has {sorted(codes)}, which are not statuses")
    return codes


def _tool_errors(codes: Mapping[str, int], errors: Mapping[str, Any]) -> dict[str, int]:
    failed = {FAILED: codes[FAILED]} if codes.get(FAILED) else {}
    counted = json_count(errors.get("Count", 0))
    return {**failed, **({"ErrorsDurationHistogram.Count": counted} if counted else {})}


def _latency(histogram: Mapping[str, Any]) -> Latency:
    if not histogram["Count"]:
        return Latency()
    return Latency(
        mean_us=_us(histogram["Avg"]),
        stdev_us=_us(histogram["StdDev"]),
        min_us=_us(histogram["Min"]),
        max_us=_us(histogram["Max"]),
        percentiles={
            f"{json_number(point['Percentile']):.12g}": _us(point["Value"])
            for point in histogram.get("Percentiles") or ()
        },
    )


def _rate(asked: Any) -> float | None:
    """The rate asked for; "max", 0 and below are no rate."""
    if not isinstance(asked, str) or asked == "max":
        return None
    rate = float(asked)
    return rate if 0 < rate < 1e15 else None


def _duration_s(asked: Any) -> float | None:
    """Seconds of "3s" or "3s, interrupted after 44"; None of "until stop"."""
    return parse_duration_s(asked.partition(",")[0]) if isinstance(asked, str) else None


def _us(seconds: Any) -> float:
    return round(json_number(seconds) * 1e6, 6)
