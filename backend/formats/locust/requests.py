"""What locust's web interface answers at /stats/requests: a JSON object with a member for each name
of a request and one for all."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats.locust.tables import TOTALS, with_failures
from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, parse_float
from backend.formats.refusals import read_json
from backend.formats.text import Document

KEYS = ("stats", "errors", "state")
# Of the whole run. `current_response_time_percentile…` beside them are of the last ten seconds.
POINTS = {
    "median_response_time": "50",
    "ninetieth_response_time": "90",
    "ninety_ninth_response_time": "99",
}
POINT = "response_time_percentile_"
# Of each name.
GROWS, FALLS = ("num_requests", "num_failures", "max_response_time"), "min_response_time"
# In the other states more requests may follow.
ENDED = ("stopped", "stopping", "cleanup", "missing")


def is_requests(value: Any) -> bool:
    """Whether a JSON value is locust's answer."""
    if not isinstance(value, dict) or not value.keys() >= set(KEYS):
        return False
    members = value["stats"]
    return isinstance(members, list) and all(
        isinstance(member, dict) and "num_requests" in member for member in members
    )


def last_of_each_run(documents: Sequence[Document]) -> list[Document]:
    """The answers without those that a later one of the same run goes on from."""
    pairs = zip(documents, [*documents[1:], None], strict=False)
    return [this for this, later in pairs if later is None or not _goes_on(this, later)]


def _goes_on(earlier: Document, later: Document) -> bool:
    """Whether a later answer is of the same run: no figure falls that can only grow in a run."""
    if not is_requests(earlier.value) or not is_requests(later.value):
        return False
    if earlier.value["state"] in ENDED:
        return False
    before, after = _growing(earlier.value), _growing(later.value)
    return bool(before) and all(after.get(key, -math.inf) >= least for key, least in before.items())


def _growing(report: Mapping[str, Any]) -> dict[Any, float]:
    """The figures of each request and error that grow while a run lasts. Those that fall have their
    sign changed, so that they grow too."""
    figures: dict[Any, Any] = {}
    for member in report["stats"]:
        of = (member.get("name"), member.get("method"))
        if member["num_requests"]:
            figures |= {(of, name): member.get(name) for name in GROWS}
            figures[of, FALLS] = _negative(member.get(FALLS))
    for error in report["errors"]:
        of = tuple(error.get(name) for name in ("method", "name", "error"))
        figures[of, "occurrences"] = error.get("occurrences")
        figures[of, "first_seen"] = _negative(error.get("first_seen"))
    return {key: figure for key, figure in figures.items() if isinstance(figure, int | float)}


def _negative(figure: Any) -> Any:
    return -figure if isinstance(figure, int | float) else None


def read_requests(document: Document) -> Entry:
    """The member of all requests."""
    expected = "the whole object that /stats/requests answers, unchanged"
    return read_json(_read, document, tool="locust", expected=expected)


def _total(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The last member, which is that of all requests; empty where there is none."""
    members = report["stats"]
    last: Mapping[str, Any] = members[-1] if members else {}
    return last if last.get("name") in TOTALS or len(members) == 1 else {}


def _read(report: Mapping[str, Any]) -> ParsedTrial:
    total = _total(report)
    requests, failures = (json_count(total[name]) for name in ("num_requests", "num_failures"))
    if failures > requests:
        raise ValueError(f"{failures} failures of {requests} requests")
    # Old versions have no rate of the whole run, though they call one of ten seconds total_rps.
    rate = json_number(total["total_rps"]) if requests and "total_rps" in total else 0.0
    users = json_count(report.get("user_count") or 0)
    latency = _latency(total) if requests else Latency()
    return ParsedTrial(
        connections=users or None,
        exact_elapsed_s=round(requests / rate, 6) if rate else None,
        requests_ok=requests - failures,
        attempts=requests,
        failed=failures,
        reported_rps=rate or None,
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=1000,
        incomplete=report["state"] not in ENDED,
        **_failures(requests, failures, report["errors"]),
    )


def _failures(requests: int, failures: int, errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Responses and failures by class; the failures by name where all of them are told."""
    names: dict[str, int] = {}
    for error in errors:
        # Old versions answer with texts for a page.
        text = html.unescape(str(error["error"]))
        name = f"{error.get('method') or ''} {html.unescape(str(error['name']))}: {text}"
        names[name] = names.get(name, 0) + json_count(error["occurrences"])
    if sum(names.values()) == failures:
        return with_failures(requests, names)
    return {"requests_completed": None, "tool_errors": {"num_failures": failures}}


def _latency(total: Mapping[str, Any]) -> Latency:
    mean, low, high = (_us(total[f"{name}_response_time"]) for name in ("avg", "min", "max"))
    points = {key: _us(total[name]) for name, key in POINTS.items() if name in total}
    for name, value in total.items():
        fraction = parse_float(name.removeprefix(POINT)) if name.startswith(POINT) else None
        if fraction is not None and 0 < fraction < 1:
            points[f"{round(100 * fraction, 6):g}"] = _us(value)
    return Latency(mean_us=mean, min_us=low, max_us=high, percentiles=points)


def _us(milliseconds: Any) -> float:
    return round(json_number(milliseconds) * 1000, 3)
