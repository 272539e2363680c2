"""k6 (end-of-test text, --summary-export and handleSummary JSON, --out json and --out csv).

Loop: known where the text names the executor (looping VUs and iterations are closed, iterations/s
are open), and open where iterations were dropped; else unknown. Latency unit: ms in JSON and CSV,
printed per figure in the text; it is http_req_duration, without connecting. Success: status 200 to
399; a summary counts failures without their kind, so then the completed requests are unknown.
Percentiles: linear interpolation of the sorted values (p·(n−1)); `med` is p50, and a percentile
that summaryTrendStats did not ask for is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.formats.k6.points import is_csv, is_ndjson, read_csv, read_ndjson
from backend.formats.k6.summary import is_summary, read_summary
from backend.formats.k6.text import find_reports, read_report
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.text import Line, Source

NAME = "k6"
MARKS = ("http_req", '"type":"Metric"', "metric_name,timestamp,metric_value")


def claims(source: Source) -> str | None:
    """Why this is k6's output, or None."""
    if is_ndjson(source):
        return "the first line is a Metric or Point of k6's JSON output"
    if is_csv(source):
        return "the first line has the columns of k6's CSV output"
    if any(is_summary(document.value) for document in source.documents):
        return "a JSON object has the metrics of a k6 summary"
    reports = find_reports(source.lines)
    return f"line {reports[0][0].number} begins a k6 summary" if reports else None


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """One trial of a text, its export and its points; several runs of one text each alone."""
    texts = [
        block for source in sources if _is_text(source) for block in find_reports(source.lines)
    ]
    others = [source for source in sources if not _is_text(source)]
    if not others:
        return [_or_refusal(block) for block in texts]
    found = [_read_file(source) for source in others]
    if len(texts) > 1:
        raise FormatError(
            "These files are not of one trial.",
            tool=NAME,
            found=f"{len(texts)} summaries in text beside {len(others)} other files",
            expected="one summary in text with its export or points",
        )
    return [_together([*found, *(read_report(block) for block in texts)])]


def _is_text(source: Source) -> bool:
    if is_ndjson(source) or is_csv(source):
        return False
    return not any(is_summary(document.value) for document in source.documents)


def _read_file(source: Source) -> ParsedTrial:
    if is_ndjson(source):
        return read_ndjson(source)
    return read_csv(source) if is_csv(source) else read_summary(source)


def _or_refusal(block: Sequence[Line]) -> ParsedTrial | FormatError:
    try:
        return read_report(block)
    except FormatError as refused:
        return refused


def _together(trials: Sequence[ParsedTrial]) -> ParsedTrial:
    """Points before summaries, exact figures before rounded ones; what differs is said."""
    ranked = sorted(
        trials, key=lambda trial: (trial.histogram is None, trial.latency_resolution_us)
    )
    best = ranked[0]
    changes: dict[str, Any] = {}
    for name in ("url", "loop", "connections", "requested_duration_s", "elapsed_s", "reported_rps"):
        known = (getattr(trial, name) for trial in ranked)
        changes[name] = next((value for value in known if value is not None), None)
    counts = {trial.requests_ok for trial in trials if trial.requests_ok is not None}
    disagreements = (
        (f"the files count {', '.join(map(str, sorted(counts)))} successful requests",)
        if len(counts) > 1
        else ()
    )
    latency = next((trial.latency for trial in ranked if trial.latency.percentiles), best.latency)
    return replace(
        best, **changes, latency=latency, disagreements=(*best.disagreements, *disagreements)
    )
