"""Zeros that a load tool prints where it measured nothing: unknown, not a measurement of 0.

A rounded zero is one: a tool that prints whole milliseconds says 0 of what took less than one. It
stays, with the tool's step.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backend.formats.latency_steps import figure_step_us
from backend.formats.model import Latency, ParsedTrial
from backend.formats.tools import TOOLS

# A zero in steps up to this one is no rounding: no response is there so soon.
SOONEST_US = 1.0


def without_unmeasured(trial: ParsedTrial) -> ParsedTrial:
    """The trial, in which the zeros that stand for no measurement are unknown."""
    changes = {**_latency_changes(trial), **_amount_changes(trial)}
    return replace(trial, **changes) if changes else trial


def _latency_changes(trial: ParsedTrial) -> Mapping[str, Any]:
    latency = trial.latency
    printed = (latency.mean_us, latency.min_us, latency.max_us, *latency.percentiles.values())
    if 0 not in printed or not _has_fine_zeros(trial):
        return {}
    measured = _without_zeros(latency)
    if trial.latency_origin not in ("percentiles", "summary"):
        return {"latency": measured}
    return {
        "latency": measured,
        "latency_origin": measured.printed_origin,
        "latency_resolution_us": trial.latency_resolution_us if measured != Latency() else None,
    }


def _without_zeros(latency: Latency) -> Latency:
    mean_us = latency.mean_us or None
    return Latency(
        mean_us=mean_us,
        # Of latencies that are all equal, or of a single one, it is 0.
        stdev_us=latency.stdev_us if mean_us else None,
        min_us=latency.min_us or None,
        max_us=latency.max_us or None,
        percentiles={name: us for name, us in latency.percentiles.items() if us},
    )


def _has_fine_zeros(trial: ParsedTrial) -> bool:
    """Whether the load tool would have printed what is there in place of a zero."""
    step_us = trial.latency_resolution_us
    if not step_us or trial.publication:
        return False
    return figure_step_us(trial.tool, step_us, 0.0) <= SOONEST_US


def _amount_changes(trial: ParsedTrial) -> Mapping[str, None]:
    """No bytes and no rate of requests that were answered: a response has a header at least."""
    if not trial.requests_ok:
        return {}
    names = ["reported_rps"]
    tool = TOOLS.get(trial.tool)
    if tool is not None and not tool.counts_bodies_only:
        names += ["bytes_received", "transfer_rate_bytes_s"]
    return {name: None for name in names if getattr(trial, name) == 0}
