"""What would decide a comparison that is too noisy to call, and what it could have found."""

from dataclasses import dataclass
from math import inf, log1p

from backend.analysis.compare.ratio_texts import factor_text
from backend.analysis.compare.replication import run_share_text
from backend.noise.sentences import share_text
from backend.runs.checks.interruptions import RESTART
from backend.stats.comparison import Comparison, Precision
from backend.stats.ratio import IF_BASELINE_IS_STEADY
from backend.stats.replicates import Unit
from backend.stats.sample_size import MOST_ADVISED, trials_needed
from backend.stats.thresholds import LEAST_RUNS, LEAST_TRIALS

# Above this many times the threshold, the noise of the machine is the problem, even where few more
# trials would be enough: that number falls again as noise grows, because differences by chance grow
# too.
NOISY = 5
QUIETER = "measure on a quieter machine"
# Trials that would have to be so many share something that another run or start does not have.
SECOND_RUN = "measure a second run on a quieter machine, and restart servers for each repeat"
# Where trials have two levels, more trials only show better how often each level occurs.
PART_THE_MODES = (
    "trials fall into two groups, so find what switches between them and measure each group "
    "separately"
)


def as_sentence(text: str) -> str:
    """With a capital and a full stop; empty if there is no text."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def found_text(finds_from: float) -> str:
    """`a difference of 6 % or more would have been found`: of a comparison that found none."""
    if finds_from < 1:
        return f"a difference of {share_text(finds_from)} or more would have been found"
    return f"only a difference of {factor_text(1 + finds_from, inf)}× or more would have been found"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would decide a comparison. `more`: how many trials, or runs, it asks each side for; one
    above `MOST_ADVISED` where those would not be enough."""

    text: str
    more: int = 0


def advise(comparison: Comparison, *, relevant: float) -> Remedy | None:
    """How much more to measure, and how often that is enough; None where noise is unknown, or only
    that of the baseline is in doubt."""
    if comparison.has_two_modes:
        return Remedy(PART_THE_MODES)
    if comparison.why == IF_BASELINE_IS_STEADY:
        return None
    if (design := _design_text(comparison)) is not None:
        return Remedy(design)
    needed = trials_needed(comparison, relevant=relevant)
    if needed is None or comparison.precision is None:
        return None
    if needed.more is None:
        limit = _limit_text(comparison.precision)
        return Remedy(limit or _text_of_many(needed.unit), MOST_ADVISED + 1)
    is_noisy = _noise(comparison.precision) > NOISY * log1p(relevant)
    return Remedy(_text(needed.more, needed.unit, is_noisy=is_noisy), needed.more)


def _design_text(comparison: Comparison) -> str | None:
    """How to measure instead, where not the number of trials hides the difference."""
    if comparison.between is not None:
        return (
            "the series come from different runs, and runs differ by "
            f"{run_share_text(comparison.between)}: measure both in one run, or each in "
            f"{LEAST_RUNS} runs"
        )
    if comparison.is_restarted:
        return (
            "a server was restarted between its trials: restart it for each repeat, with "
            f"{RESTART} in the plan"
        )
    return None


def lack_of_trials(comparison: Comparison) -> str | None:
    """What three trials do not show of a difference of uncertain size.

    None for more trials, and where the host or the rounding of the tool hides the size.
    """
    trials, precision = comparison.trials, comparison.precision
    if comparison.verdict != "size_uncertain" or trials is None or precision is None:
        return None
    if min(trials) > LEAST_TRIALS or _limit_text(precision) is not None:
        return None
    hidden = "how steady it is" if comparison.why == IF_BASELINE_IS_STEADY else "by how much"
    where = "a side" if max(trials) == LEAST_TRIALS else "on one side"
    return f"three trials {where} do not show {hidden}"


def _noise(precision: Precision) -> float:
    """The half width that the noise of the trials alone would leave."""
    return precision.quantile * precision.error


def _limit_text(precision: Precision) -> str | None:
    """Why more trials would hardly help; None if it is the noise of the trials."""
    if precision.floor + precision.rounding <= _noise(precision):
        return None
    if precision.rounding > precision.floor:
        return "the load tool rounds this figure too much, so more trials would hardly help"
    return "the host cannot show so small a difference, so more trials would hardly help"


def _text_of_many(unit: Unit) -> str:
    instead = SECOND_RUN if unit == "trial" else QUIETER
    return f"{MOST_ADVISED} more {unit}s of each series would not be enough: {instead}"


def _text(more: int, unit: Unit, *, is_noisy: bool) -> str:
    units = f"{unit}{'' if more == 1 else 's'}"
    quieter = f"{QUIETER}, or " if is_noisy else ""
    # Where the true difference is smaller than measured, they are enough less often.
    chance = "enough 2 times in 3, if the difference is as measured"
    return f"{quieter}add about {more} {units} to each series ({chance})"
