"""What would decide a comparison that is too noisy to call."""

from __future__ import annotations

from backend.stats.comparison import Comparison
from backend.stats.sample_size import MOST_UNITS, Advice, trials_needed
from backend.stats.thresholds import LEAST_RUNS, percent


def advise(comparison: Comparison, *, relevant: float) -> str | None:
    """How much more to measure, with the odds that it is enough; None where noise is unknown."""
    if comparison.run_sd is not None:
        return (
            "they were not measured in the same run, and runs differ by "
            f"{run_share_text(comparison)}; measure both in one run, or in {LEAST_RUNS} runs each"
        )
    needed = trials_needed(comparison, relevant=relevant)
    return None if needed is None else _text(needed)


def run_share_text(comparison: Comparison) -> str:
    """`3 % (assumed)`: the standard deviation between runs that the interval allows for."""
    source = "assumed" if comparison.is_assumed else "measured on this host"
    return f"{percent(round(comparison.run_sd or 0.0, 4))} ({source})"


def _text(needed: Advice) -> str:
    unit = "run" if needed.of_runs else "trial"
    if needed.more is None:
        return f"over {MOST_UNITS} more {unit}s on each side would be needed"
    plural = "" if needed.more == 1 else "s"
    return (
        f"about {needed.more} more {unit}{plural} on each side would decide in "
        f"{needed.odds * 100:.0f} of 100 cases"
    )
