"""k6's JSON summaries: --summary-export, handleSummary's data, and the one k6 2 writes."""

from collections.abc import Mapping
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, optional_number
from backend.formats.refusals import read_figures
from backend.formats.text import Source

RESOLUTION_US = 0.001
METRICS = frozenset(("http_reqs", "http_req_duration", "iterations", "data_received"))
# The summary of k6 2 names two percentiles in its own way.
NAMED = {"med": "50", "p90": "90", "p95": "95"}
DURATION = "http_req_duration"
Values = Mapping[str, Any]


def find_summaries(source: Source) -> list[Mapping[str, Any]]:
    """Every JSON object with k6's metrics."""
    if '"http_req' not in source.text and '"iterations"' not in source.text:
        return []
    return [document.value for document in source.documents if _is_summary(document.value)]


def _is_summary(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    metrics = value.get("metrics")
    if isinstance(metrics, dict):
        return bool(METRICS & metrics.keys())
    results = value.get("results")
    return isinstance(results, dict) and isinstance(results.get("metrics"), list)


def read_summaries(source: Source) -> list[Entry]:
    """The trial of each summary in the source."""
    return [
        read_figures(
            _read_summary,
            summary,
            title="k6 summary",
            expected="the object that k6 --summary-export or handleSummary gives",
        )
        for summary in find_summaries(source)
    ]


def _read_summary(summary: Mapping[str, Any]) -> ParsedTrial:
    metrics = _metrics(summary)
    if "http_reqs" not in metrics:
        raise ValueError("no metric http_reqs: the script made no HTTP request")
    requests, data = metrics["http_reqs"], metrics.get("data_received", {})
    count = json_count(requests["count"])
    failed, judged = _failures(metrics.get("http_req_failed"), count)
    dropped = json_count(metrics.get("dropped_iterations", {}).get("count", 0))
    iterations = json_count(metrics.get("iterations", {}).get("count", 0))
    latency = _latency(metrics.get(DURATION, {}), all_failed=failed == count)
    return ParsedTrial(
        tool_version=_version(summary),
        loop="open" if dropped else None,
        sent_share=sent_share(iterations, dropped),
        elapsed_s=_elapsed_s(summary),
        **outcome_of(count, failed, judged),
        reported_rps=optional_number(requests.get("rate")),
        bytes_received=json_count(data["count"]) if "count" in data else None,
        transfer_rate_bytes_s=optional_number(data.get("rate")),
        tool_errors=_tool_errors(metrics, failed, dropped),
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=RESOLUTION_US,
    )


def _metrics(summary: Mapping[str, Any]) -> dict[str, Values]:
    """The values of each metric by its whole name, so that no submetric is taken for it."""
    if isinstance(summary.get("metrics"), dict):
        return {
            name: metric["values"] if isinstance(metric.get("values"), dict) else metric
            for name, metric in summary["metrics"].items()
        }
    results = summary["results"]
    listed = [*results["metrics"], *results.get("checks", {}).get("metrics", [])]
    return {metric["name"]: metric["values"] for metric in listed}


def outcome_of(count: int, failed: int | None, judged: int) -> dict[str, Any]:
    """The fields of a trial that k6's count of failed requests gives.

    With a response callback switched off part of the time, not every request is judged. The failed
    share is then k6's: that of the judged requests.
    """
    if failed is None:
        return {}
    is_whole = judged == count
    return {
        "attempts": judged,
        "failed": failed,
        # A failed request may have had no answer.
        "requests_completed": count if is_whole and not failed else None,
        "requests_ok": count - failed if is_whole else None,
    }


def _failures(rate: Values | None, count: int) -> tuple[int | None, int]:
    """The failed requests, of how many: of this metric, the passes are the failures."""
    if rate is None:
        return None, count
    if rate.keys() & {"passes", "matches"}:
        return _true_of(rate)
    return round(json_number(rate.get("rate", rate.get("value"))) * count), count


def _true_of(rate: Values) -> tuple[int, int]:
    if "matches" in rate:
        return json_count(rate["matches"]), json_count(rate["total"])
    return json_count(rate["passes"]), json_count(rate["passes"]) + json_count(rate["fails"])


def _tool_errors(metrics: Mapping[str, Values], failed: int | None, dropped: int) -> dict[str, int]:
    counts = {} if failed is None else {"http_req_failed": failed}
    if dropped:
        counts["dropped_iterations"] = dropped
    if "checks" in metrics:
        passed, total = _true_of(metrics["checks"])
        counts["checks_failed"] = total - passed
    elif "checks_failed" in metrics:
        counts["checks_failed"], _ = _true_of(metrics["checks_failed"])
    return counts


def _latency(values: Values, *, all_failed: bool) -> Latency:
    """Latency of ms by statistic; none where all requests failed without taking any time."""
    figures = {
        name: round(json_number(value) * 1000, 6)
        for name, value in values.items()
        if isinstance(value, int | float)
    }
    return Latency() if all_failed and not figures.get("max") else latency_of(figures)


def sent_share(iterations: int, dropped: int) -> float | None:
    """The share of the offered iterations that began; None where k6 names none that was dropped.

    k6 drops an iteration of an arrival rate for which no virtual user is free.
    """
    return iterations / (iterations + dropped) if dropped and iterations else None


def latency_of(figures: Mapping[str, float]) -> Latency:
    """Latency of µs by statistic."""
    percentiles = {percent_of(name): value for name, value in figures.items()}
    return Latency(
        mean_us=figures.get("avg"),
        min_us=figures.get("min"),
        max_us=figures.get("max"),
        percentiles={key: value for key, value in percentiles.items() if key is not None},
    )


def percent_of(statistic: str) -> str | None:
    """ "99.9" of "p(99.9)", "50" of "med", None of what is no percentile."""
    if statistic in NAMED:
        return NAMED[statistic]
    if not statistic.startswith("p(") or not statistic.endswith(")"):
        return None
    try:
        return f"{float(statistic[2:-1]):.12g}"
    except ValueError:
        return None


def _elapsed_s(summary: Mapping[str, Any]) -> float | None:
    if "results" in summary:
        return optional_number(summary.get("config", {}).get("duration"))
    milliseconds = optional_number(summary.get("state", {}).get("testRunDurationMs"))
    return None if milliseconds is None else round(milliseconds / 1000, 9)


def _version(summary: Mapping[str, Any]) -> str | None:
    metadata = summary.get("metadata", {})
    version = metadata.get("k6_version") or metadata.get("k6Version")
    return version[:40] if isinstance(version, str) and version.isprintable() else None
