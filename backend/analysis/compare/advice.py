"""What would decide a comparison that is too noisy to call."""

from __future__ import annotations

from backend.stats.comparison import Comparison
from backend.stats.replicates import Centre, Sample, estimate
from backend.stats.sample_size import MOST_TRIALS, Advice, trials_needed
from backend.stats.thresholds import LEAST_RUNS


def advise(comparison: Comparison, base: Sample, other: Sample, *, relevant: float) -> str:
    """How much more to measure, with the odds that it is enough."""
    if comparison.run_sd is not None:
        return (
            f"the two were not measured in one run; measure both in one run, or in {LEAST_RUNS} "
            "runs each"
        )
    centres = estimate(base), estimate(other)
    counts = _units(centres[0]), _units(centres[1])
    variances = _variance(centres[0]), _variance(centres[1])
    needed = trials_needed(variances, counts, comparison.value, relevant=relevant)
    return _text(needed, "run" if comparison.scope == "runs" else "trial")


def _units(centre: Centre) -> int:
    """How many repeated units the centre is the mean of."""
    return centre.runs if centre.scope == "runs" else centre.n


def _variance(centre: Centre) -> float:
    """Of one repeated unit."""
    return (centre.variance or 0.0) * _units(centre)


def _text(needed: Advice, unit: str) -> str:
    if needed.more is None:
        return f"over {MOST_TRIALS} more {unit}s on each side would be needed"
    plural = "" if needed.more == 1 else "s"
    return (
        f"about {needed.more} more {unit}{plural} on each side would decide in "
        f"{needed.odds * 100:.0f} of 100 cases"
    )
