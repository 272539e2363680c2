"""Rules over the trials of one cell, in the order they were executed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from backend.runs.checks.check_input import CheckInput, Finding
from backend.stats.thresholds import LEAST_TRIALS

WIDEST_SPREAD = 0.05
LEAST_DRIFT = 0.05


def check_cell(
    trials: Sequence[CheckInput],
    *,
    min_trials: int = LEAST_TRIALS,
    warmed_up: bool | None = None,
) -> list[Finding]:
    """Every rule over a cell that fires. `warmed_up` None: unknown, the rule does not fire."""
    counted = [trial for trial in trials if not trial.warmup and trial.has_figures]
    rates = [trial.throughput_rps for trial in counted if trial.throughput_rps is not None]
    details = {
        "few-trials": _few_trials(len(counted), min_trials),
        "no-warmup": _no_warmup(warmed_up),
        "spread": _spread(rates),
        "drift": _drift(rates),
    }
    return [Finding(id_, detail) for id_, detail in details.items() if detail is not None]


def _few_trials(count: int, wanted: int) -> str | None:
    if count >= wanted:
        return None
    noun = "trial counts" if count == 1 else "trials count"
    return f"{count} {noun}; the workspace asks for {wanted}."


def _no_warmup(warmed_up: bool | None) -> str | None:
    return "Every trial counts, also the first." if warmed_up is False else None


def _spread(rates: Sequence[float]) -> str | None:
    middle = median(rates) if len(rates) > 1 else 0.0
    if not middle or (max(rates) - min(rates)) / middle <= WIDEST_SPREAD:
        return None
    share = (max(rates) - min(rates)) / middle
    return (
        f"The trials reach {min(rates):.6g} to {max(rates):.6g} requests/s: "
        f"{share * 100:.3g} % of their median."
    )


def _drift(rates: Sequence[float]) -> str | None:
    if len(rates) < 3 or not rates[0]:
        return None
    rises = all(before < after for before, after in pairwise(rates))
    falls = all(before > after for before, after in pairwise(rates))
    change = rates[-1] / rates[0] - 1
    if not (rises or falls) or abs(change) <= LEAST_DRIFT:
        return None
    direction = "faster" if rises else "slower"
    return (
        f"Each trial is {direction} than the trial before: {rates[0]:.6g} to {rates[-1]:.6g} "
        f"requests/s ({change * 100:+.3g} %)."
    )
