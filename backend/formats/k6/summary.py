"""The JSON of a k6 summary: --summary-export, and what handleSummary gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import Source, fault_in

NAME = "k6"
EXACT_US = 0.001
STATS = {"avg": "mean", "min": "min", "max": "max"}


def is_summary(value: Any) -> bool:
    """Whether a document has the metrics of a k6 summary with requests in it."""
    if not isinstance(value, dict) or not isinstance(value.get("metrics"), dict):
        return False
    return "root_group" in value or "http_reqs" in value["metrics"]


def read_summary(source: Source) -> ParsedTrial:
    """The one summary of a file; raises FormatError for none, several or a damaged one."""
    found = [document.value for document in source.documents if is_summary(document.value)]
    if len(found) != 1:
        raise FormatError(
            "The file holds several k6 summaries.",
            tool=NAME,
            found=f"{len(found)} of them",
            expected="the summary of one run",
        )
    try:
        return trial_of(found[0])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as wrong:
        raise FormatError(
            "The k6 summary lacks a figure or has one of another kind.",
            tool=NAME,
            found=fault_in(wrong),
            expected="the JSON of --summary-export or handleSummary",
        ) from None


def trial_of(summary: Mapping[str, Any]) -> ParsedTrial:
    """What a summary says; its durations are ms."""
    metrics = {name: _values(metric) for name, metric in summary["metrics"].items()}
    if "http_reqs" not in metrics:
        raise ValueError("no http_reqs: the script made no HTTP request")
    requests, received = metrics["http_reqs"], metrics.get("data_received", {})
    total = _count(requests["count"])
    failed = _failures(metrics.get("http_req_failed"))
    dropped = metrics.get("dropped_iterations")
    duration = (summary.get("state") or {}).get("testRunDurationMs")
    return counted(
        total,
        failed,
        loop="open" if dropped else None,
        elapsed_s=None if duration is None else round(_figure(duration) / 1000, 12),
        reported_rps=_figure(requests["rate"]),
        bytes_received=_count(received["count"]) if received else None,
        transfer_rate_bytes_s=_figure(received["rate"]) if received else None,
        tool_errors=_tool_errors(
            failed,
            _checks_failed(metrics.get("checks")),
            _count(dropped["count"]) if dropped else None,
        ),
        latency=_latency(metrics.get("http_req_duration"), total),
        latency_resolution_us=EXACT_US,
    )


def counted(total: int, failed: int | None, **figures: Any) -> ParsedTrial:
    """The trial of so many requests: with failures of unknown kind, who completed is unknown."""
    latency = figures["latency"]
    origin = "percentiles" if latency.percentiles else None
    return ParsedTrial(
        tool=NAME,
        requests_completed=total if failed == 0 else None,
        requests_ok=None if failed is None else max(total - failed, 0),
        latency_origin=origin if latency.mean_us is None or origin else "summary",
        **{"loop": None, **figures},
    )


def _tool_errors(
    failed: int | None, checks: int | None, dropped: int | None
) -> dict[str, int | None]:
    named = {"http_req_failed": failed, "checks_failed": checks, "dropped_iterations": dropped}
    return {name: count for name, count in named.items() if count is not None}


def _values(metric: Mapping[str, Any]) -> Mapping[str, Any]:
    """The figures of a metric: handleSummary has them one level deeper."""
    inner = metric.get("values", metric)
    if not isinstance(inner, Mapping):
        raise TypeError
    return inner


def _failures(metric: Mapping[str, Any] | None) -> int | None:
    # A rate of failures: its passes are the requests that failed.
    return None if metric is None else _count(metric["passes"])


def _checks_failed(metric: Mapping[str, Any] | None) -> int | None:
    return None if metric is None else _count(metric["fails"])


def _latency(metric: Mapping[str, Any] | None, total: int) -> Latency:
    if metric is None or not total:
        return Latency()
    figures = {
        name: round(_figure(value) * 1000, 6) for name, value in metric.items() if _is_time(name)
    }
    return latency_of(figures)


def _is_time(name: str) -> bool:
    return name in STATS or name == "med" or name.startswith("p(")


def latency_of(figures_us: Mapping[str, float]) -> Latency:
    """The latency of k6's names (avg, min, med, max, p(90) …) in µs."""
    percentiles = {
        f"{float(name[2:-1]):g}": value for name, value in figures_us.items() if name[:2] == "p("
    }
    if "med" in figures_us:
        percentiles = {"50": figures_us["med"], **percentiles}
    return Latency(
        mean_us=figures_us.get("avg"),
        min_us=figures_us.get("min"),
        max_us=figures_us.get("max"),
        percentiles=percentiles,
    )


def _figure(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError(f"{value!r} is no figure")
    return float(value)


def _count(value: Any) -> int:
    figure = _figure(value)
    if figure != int(figure):
        raise ValueError(f"{value!r} is no count")
    return int(figure)
