"""Rules over the trials of one cell, in the order they were executed."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from operator import itemgetter
from statistics import NormalDist, fmean, stdev

from backend.runs.checks.check import CellInput, CellRule
from backend.runs.checks.check_input import CheckInput, Finding, percent_text, rate_text
from backend.runs.checks.dependence import DEPENDENCE_RULES
from backend.runs.checks.dip import LEAST_VALUES, has_two_modes
from backend.runs.checks.interruptions import INTERRUPTION_RULES
from backend.stats.student import t_quantile
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE

FEW_TRIALS = "few-trials"
TWO_MODES = "two-modes"
NO_WARMUP = "no-warmup"
# Of the trials' mean: the standard deviation that a quiet machine keeps below.
HIGH_VARIATION = 0.05
# How sure `spread` is that the trials vary by more.
SPREAD_CONFIDENCE = 0.95
# A trend must be this unlikely by chance, in either direction, and this large in total.
DRIFT_CHANCE = 0.01
LEAST_DRIFT = 0.05
DRIFT_TRIALS = 5
# Trials that only fall, to less than this share of the first.
COLLAPSED_SHARE = 0.5
# Of the trials' mean: so little do so many trials of a server vary that waits for nothing fixed in
# less than 0.1 % of load points.
LEAST_VARIATION = 0.0001
LEAST_COPIES = 5
# A server whose p99 is at most so many times its p50 waits for a fixed time.
STEADY_LATENCY = 1.1
# Latencies from here on have three digits or more. So many different ones of two trials, the
# maximum among them, are not equal by chance.
LEAST_FINE_US = 100.0
FINE_FIGURES = 3
# Two groups of this many trials are two levels if the gap is this many times as wide as the wider
# group. By chance, fewer than 1 % of 8 uniform values show such a gap, and 0.1 % of 8 normal ones.
LEAST_OF_GROUP = 3
APART = 3.0


def check_cell(
    trials: Sequence[CheckInput],
    *,
    min_trials: int = LEAST_TRIALS,
    warmed_up: bool | None = None,
) -> list[Finding]:
    """Every rule over a cell that fires. `warmed_up` None: unknown, the rule does not fire."""
    counted = [trial for trial in trials if not trial.warmup and trial.has_figures]
    rates = [trial.throughput_rps for trial in counted if trial.throughput_rps is not None]
    cell = CellInput(counted, rates, min_trials, warmed_up)
    details = ((rule.id, rule.find(cell)) for rule in CELL_RULES)
    return [Finding(id_, detail) for id_, detail in details if detail is not None]


def _find_few_trials(cell: CellInput) -> str | None:
    count = len(cell.trials)
    if count >= cell.least_trials:
        return None
    noun = "trial counts" if count == 1 else "trials count"
    return f"{count} {noun}; the workspace asks for {cell.least_trials}."


def _find_spread(cell: CellInput) -> str | None:
    """Whether the true coefficient of variation is above 5 %, by its lower confidence bound."""
    rates = cell.rates
    if len(rates) < LEAST_TRIALS or not fmean(rates):
        return None
    variation = stdev(rates) / fmean(rates)
    if _least_variation(variation, len(rates)) <= HIGH_VARIATION:
        return None
    return (
        f"The {len(rates)} trials reach {rate_text(min(rates))} to {rate_text(max(rates))} "
        f"requests/s, with a standard deviation of {percent_text(variation)} of their mean."
    )


def _least_variation(variation: float, count: int) -> float:
    """The lower confidence bound of a standard deviation of `count` normal values.

    (n − 1) s² / σ² follows χ², whose quantile is Wilson and Hilferty's (1931): within 1 %.
    """
    freedom = count - 1
    z = NormalDist().inv_cdf(SPREAD_CONFIDENCE)
    quantile = freedom * (1 - 2 / (9 * freedom) + z * sqrt(2 / (9 * freedom))) ** 3
    return float(variation * sqrt(freedom / quantile))


def _find_drift(cell: CellInput) -> str | None:
    """A line through the trials in their order, whose slope chance does not explain."""
    rates = cell.rates
    n = len(rates)
    if n < DRIFT_TRIALS or not fmean(rates):
        return None
    middle, mean = (n - 1) / 2, fmean(rates)
    spread_of_order = sum((place - middle) ** 2 for place in range(n))
    slope = sum((place - middle) * rate for place, rate in enumerate(rates)) / spread_of_order
    first, last = mean - slope * middle, mean + slope * middle
    change = last / first - 1 if first > 0 else slope * (n - 1) / mean
    if abs(change) <= LEAST_DRIFT:
        return None
    residual = sum(
        (rate - mean - slope * (place - middle)) ** 2 for place, rate in enumerate(rates)
    )
    error = sqrt(residual / (n - 2) / spread_of_order)
    if abs(slope) <= t_quantile(1 - DRIFT_CHANCE / 2, n - 2) * error:
        return None
    return (
        f"From the first to the last of {n} trials, throughput "
        f"{'rises' if change > 0 else 'falls'} by {percent_text(abs(change))}, to about "
        f"{rate_text(last)} requests/s."
    )


def _find_collapse(cell: CellInput) -> str | None:
    """Whether every trial is slower than the one before, and the last has lost half or more."""
    rates = cell.rates
    is_falling = all(after <= before for before, after in pairwise(rates))
    if len(rates) < LEAST_TRIALS or not is_falling or rates[-1] > COLLAPSED_SHARE * rates[0]:
        return None
    if not rates[0]:
        return None
    return f"The trials reach {' → '.join(map(rate_text, rates))} requests/s."


def _find_copies(cell: CellInput) -> str | None:
    """Trials that agree as measurements do not: figures that were copied and changed a little."""
    figures = Counter(filter(None, map(_fine_latencies, cell.trials)))
    latencies, count = max(figures.items(), key=itemgetter(1), default=((), 0))
    if count > 1:
        return f"{count} trials have the same {len(latencies)} latencies."
    rates = cell.rates
    if len(rates) < LEAST_COPIES or not fmean(rates) or any(map(_is_paced, cell.trials)):
        return None
    variation = stdev(rates) / fmean(rates)
    if variation >= LEAST_VARIATION:
        return None
    return (
        f"The standard deviation of {len(rates)} trials is {percent_text(variation)} of their "
        f"mean, {rate_text(fmean(rates))} requests/s."
    )


def _fine_latencies(trial: CheckInput) -> tuple[float, ...] | None:
    """The latencies of a trial; None where the maximum or too many others are too small or whole
    milliseconds."""
    figures = (trial.latency_mean_us, trial.latency_max_us, *trial.percentiles_us.values())
    known = tuple(figure for figure in figures if figure is not None)
    fine = {figure for figure in known if figure % 1000 and figure >= LEAST_FINE_US}
    return known if len(fine) >= FINE_FIGURES and trial.latency_max_us in fine else None


def _is_paced(trial: CheckInput) -> bool:
    """Whether a schedule or a fixed wait sets the rate of a server, and not its speed."""
    p50, p99 = trial.percentiles_us.get("50"), trial.percentiles_us.get("99")
    is_waiting = bool(p50) and p99 is not None and p99 <= STEADY_LATENCY * (p50 or 0.0)
    return trial.loop == "open" or trial.offered_rps is not None or is_waiting


def _find_two_modes(cell: CellInput) -> str | None:
    rates = sorted(cell.rates)
    if len(rates) < LEAST_VALUES:
        return None
    gap, at = max((after - before, place) for place, (before, after) in enumerate(pairwise(rates)))
    low, high = rates[: at + 1], rates[at + 1 :]
    if gap <= RELEVANT_SHARE * fmean(rates):
        return None
    if not has_two_modes(rates) and not _are_apart(low, high):
        return None
    return (
        f"{len(low)} trials are at about {rate_text(fmean(low))} requests/s and {len(high)} at "
        f"about {rate_text(fmean(high))}, with none between."
    )


def _are_apart(low: Sequence[float], high: Sequence[float]) -> bool:
    """Whether a wide gap separates two narrow groups, given in order.

    The dip misses a level that fewer than a third of the trials have.
    """
    widest = max(low[-1] - low[0], high[-1] - high[0])
    return min(len(low), len(high)) >= LEAST_OF_GROUP and high[0] - low[-1] > APART * widest


CELL_RULES = (
    CellRule(
        id=FEW_TRIALS,
        severity="warning",
        title="Few trials",
        explanation="The load point has fewer trials than the workspace setting "
        f"({LEAST_TRIALS} by default). Fewer than {LEAST_TRIALS} trials do not show the "
        "noise, so there is no interval and no verdict. A trial counts if it has throughput, "
        "error rate or latency.",
        remedy=f"Repeat each load point at least {LEAST_TRIALS} times.",
        find=_find_few_trials,
    ),
    CellRule(
        id=NO_WARMUP,
        severity="info",
        title="No warm-up",
        explanation="There was no warm-up before the counted trials, so connecting, cold "
        "caches and just-in-time compilation are part of the figures.",
        remedy="Add a warm-up to the plan.",
        find=lambda cell: (
            "Every trial counts, including the first." if cell.warmed_up is False else None
        ),
    ),
    CellRule(
        id="spread",
        severity="warning",
        title="Trials differ more than on a quiet machine",
        explanation="The standard deviation of the throughput is above 5 % of the mean, with 95 % "
        "confidence. Such noise hides small differences between servers.",
        remedy="Look for other work on the machines, changing processor speed or a trial "
        "that went wrong.",
        source="Confidence bound of a standard deviation (χ²); see statistics.md",
        find=_find_spread,
    ),
    CellRule(
        id="drift",
        severity="warning",
        title="Trials get steadily faster or slower",
        explanation="A line through 5 or more trials in their order rises or falls by more "
        "than 5 %, and chance explains that in less than 1 % of load points. The server "
        "may not recover between trials, or may not have been warm yet.",
        remedy="Add a warm-up, a pause or a restart between trials, and measure servers in turn.",
        source="t test of a regression slope; see statistics.md",
        find=_find_drift,
    ),
    CellRule(
        id="collapse",
        severity="warning",
        title="Each trial is slower than the one before",
        explanation="No trial is faster than the one before it, and the last has at most "
        "half the throughput of the first. The server may not recover between trials: "
        "connections, threads or memory of earlier trials may still be in use.",
        remedy="Find out what the server keeps between trials, and give a figure for each trial, "
        "not the mean. If you restart the server between trials, say so.",
        find=_find_collapse,
    ),
    CellRule(
        id=TWO_MODES,
        severity="warning",
        title="Trials fall into two groups",
        explanation="At least 8 trials have two separate levels of throughput: Hartigan's dip "
        "rejects one level at 2 %, or a gap parts two groups of 3 trials or more and is more than "
        "3 times as wide as either group. The figure lies between the levels, where no trial is.",
        remedy="Find what switches between the levels, for example memory placement, connection "
        "balance or processor speed, and compare each level separately.",
        source="Hartigan & Hartigan (1985), The Dip Test of Unimodality, Annals of "
        "Statistics 13(1)",
        find=_find_two_modes,
    ),
    CellRule(
        id="too-alike",
        severity="warning",
        title="Trials agree more than measurements do",
        explanation=f"{LEAST_COPIES} or more trials vary by less than "
        f"{percent_text(LEAST_VARIATION)}, although no schedule and no fixed wait sets their rate. "
        "Or two trials have the same mean, maximum and percentiles, and "
        f"{FINE_FIGURES} or more different figures of them, the maximum included, are at least "
        f"{LEAST_FINE_US:.0f} µs and not whole milliseconds. Figures may have been copied from one "
        "trial to another, and changed a little.",
        remedy="Upload the outputs of the load tool as it printed them.",
        find=_find_copies,
    ),
    *DEPENDENCE_RULES,
    *INTERRUPTION_RULES,
)
