"""Joining what several artefacts of one trial say, without averaging anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.formats.model import Entry, FormatError, Latency, ParsedTrial

FIGURES = (
    "tool_version",
    "url",
    "loop",
    "connections",
    "threads",
    "requested_rate_rps",
    "requested_requests",
    "requested_duration_s",
    "keepalive",
    "elapsed_s",
    "requests_completed",
    "requests_ok",
    "reported_rps",
    "bytes_received",
    "transfer_rate_bytes_s",
    "status_counts",
)
# What the artefacts of one trial must agree on, whatever they round.
EXACT = ("tool_version", "loop", "connections", "requests_completed", "requests_ok")
DISTRIBUTION = ("latency_origin", "latency_resolution_us", "samples", "histogram")


def joined(trials: Sequence[tuple[str, ParsedTrial]]) -> ParsedTrial:
    """One trial of several readings of it, each with its artefact's name, the best first.

    A figure comes from the first that has it. Where a later one contradicts a count, that is a
    disagreement. The latencies of every request come from the first that has them.
    """
    (best_name, best), *others = trials
    for name, other in others:
        found = tuple(_contradictions(best_name, best, name, other))
        best = replace(
            _filled(best, other),
            disagreements=best.disagreements + other.disagreements + found,
            incomplete=best.incomplete or other.incomplete,
        )
    return best


def one_of(readings: Sequence[Entry]) -> ParsedTrial:
    """The only run of an artefact; raises FormatError for a refused one, or for several."""
    if len(readings) != 1:
        raise FormatError(
            "These files are not of one trial.",
            found=f"{len(readings)} runs in one of them",
            expected="several files of one trial, or one file with several runs",
        )
    if isinstance(readings[0], FormatError):
        raise readings[0]
    return readings[0]


def _contradictions(
    name: str, one: ParsedTrial, other_name: str, other: ParsedTrial
) -> Sequence[str]:
    pairs = [(field, getattr(one, field), getattr(other, field)) for field in EXACT]
    return [
        f"{field} is {first} in {name} and {second} in {other_name}"
        for field, first, second in pairs
        if first is not None and second is not None and first != second
    ]


def _filled(one: ParsedTrial, other: ParsedTrial) -> ParsedTrial:
    changes: dict[str, Any] = {
        field: getattr(other, field) for field in FIGURES if getattr(one, field) is None
    }
    changes["errors"] = {
        **other.errors,
        **{key: count for key, count in one.errors.items() if count is not None},
    }
    changes["tool_errors"] = {**other.tool_errors, **one.tool_errors}
    changes["extra"] = {**other.extra, **one.extra}
    if one.latency == Latency():
        changes["latency"] = other.latency
    if one.histogram is None and (other.histogram is not None or one.latency_origin is None):
        changes.update({field: getattr(other, field) for field in DISTRIBUTION})
    if not one.timeline:
        changes["timeline"] = other.timeline
    return replace(one, **changes)
