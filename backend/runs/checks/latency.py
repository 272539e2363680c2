"""Rules over the latencies of one trial."""

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from backend.formats.latency_steps import figure_step_us
from backend.runs.checks.check import BOARDS, TrialRule
from backend.runs.checks.check_input import CheckInput, time_text

COARSE_SHARE = 0.1
TAIL_SAMPLES = 10
TAIL_PERCENTILES = ("90", "95", "99")
FAR_TAIL_PERCENTILES = ("99.9",)
# Of HdrHistogram, they print the least value above 0 as the minimum.
LEAST_ABOVE_ZERO = frozenset({"autocannon"})
# Figures out of a histogram are rounded to 3 significant digits: equal within this share.
HISTOGRAM_STEP = 0.001
# Equal figures are copies of each other only if the tool prints this many steps of them …
FINE_STEPS = 200
# … where this many requests were sent, and where the median is these steps below a mean, or below
# this share of a maximum.
COPY_REQUESTS = 1_000
SEVERAL_STEPS = 3
NARROW_SHARE = 0.9
CLOCK_TICKS_US = (15_625, 10_000, 1_000)
# Multiples of a tick are no coincidence below this chance.
TICK_CHANCE = 0.002
# Linux waits 40 ms before it acknowledges data that it cannot answer (TCP_DELACK_MIN).
DELAYED_ACK_US = (39_500.0, 45_000.0)
ACK_PERCENTILES = ("p50", "p75", "p90", "p95", "p97.5", "p99")
ACK_REQUESTS = 100


def find_disorder(trial: CheckInput) -> str | None:
    """What is out of order among minimum, percentiles, maximum and mean; None if nothing is."""
    for (low_name, low), (high_name, high) in pairwise(_ladder(trial)):
        if low > high + step_us(trial, low) + 2 * HISTOGRAM_STEP * high:
            return f"{low_name} ({time_text(low)}) is above {high_name} ({time_text(high)})."
    return _find_mean_outside(trial)


def _find_mean_outside(trial: CheckInput) -> str | None:
    mean, least, most = trial.latency_mean_us, _minimum(trial), trial.latency_max_us
    if mean is None:
        return None
    slack = max(trial.latency_resolution_us or 0.0, step_us(trial, mean))
    if least is not None and mean < least - slack:
        return f"The mean ({time_text(mean)}) is below the minimum ({time_text(least)})."
    if most is not None and mean > most + slack:
        return f"The mean ({time_text(mean)}) is above the maximum ({time_text(most)})."
    return None


def step_us(trial: CheckInput, figure: float) -> float:
    """The step in which the tool prints a latency of this size, in µs; 0 where it is unknown."""
    step = trial.latency_resolution_us or 0.0
    if trial.percentiles_origin == "computed":
        return step
    return figure_step_us(trial.tool, step, figure)


def _ladder(trial: CheckInput) -> Iterator[tuple[str, float]]:
    least = _minimum(trial)
    if least is not None:
        yield "minimum", least
    for name, value in sorted(trial.percentiles_us.items(), key=lambda item: float(item[0])):
        if value is not None:
            yield f"p{name}", value
    if trial.latency_max_us is not None:
        yield "maximum", trial.latency_max_us


def _minimum(trial: CheckInput) -> float | None:
    """The least latency; None where the tool prints the least one that it did not round to 0."""
    is_above_zeros = trial.tool in LEAST_ABOVE_ZERO and 0 in trial.percentiles_us.values()
    return None if is_above_zeros else trial.latency_min_us


def _find_copied_p99(trial: CheckInput) -> str | None:
    p99, median = trial.percentiles_us.get("99"), trial.percentiles_us.get("50")
    if not p99 or median is None or not _is_finely_printed(trial, p99):
        return None
    # Where every request takes the same time, all figures are equal.
    step = step_us(trial, p99)
    if p99 == trial.latency_mean_us and median < p99 - SEVERAL_STEPS * step:
        return f"p99 and the mean are both {time_text(p99)}."
    if p99 == trial.latency_max_us and median < NARROW_SHARE * p99:
        return f"p99 and the maximum are both {time_text(p99)}."
    return None


def _is_finely_printed(trial: CheckInput, p99: float) -> bool:
    """Whether the tool printed p99 so finely that it equals no other figure by rounding.

    Loadsheet computes p99 and the maximum from the same counts: equal, they are one bucket.
    """
    if trial.percentiles_origin != "reported" or (trial.requests_completed or 0) < COPY_REQUESTS:
        return False
    step = step_us(trial, p99)
    return 0 < step * FINE_STEPS <= p99


def _is_coarse(trial: CheckInput, figure: float) -> bool:
    return step_us(trial, figure) > figure * COARSE_SHARE


def _find_coarse_steps(trial: CheckInput) -> str | None:
    median = trial.percentiles_us.get("50", trial.latency_mean_us)
    if median is None or not _is_coarse(trial, median):
        return None
    step = time_text(step_us(trial, median))
    typical = time_text(median) if median else f"< {step}"
    return f"The tool prints steps of {step}; the typical latency is {typical}."


def _find_thin_tail(trial: CheckInput, names: tuple[str, ...]) -> str | None:
    """The first of these percentiles above which there are too few requests."""
    n = trial.requests_completed
    if not n:
        return None
    for name in names:
        beyond = n * (100 - float(name)) / 100
        if trial.percentiles_us.get(name) is not None and round(beyond, 6) < TAIL_SAMPLES:
            verb = "is" if int(beyond) == 1 else "are"
            return f"{n} requests: {int(beyond)} {verb} slower than p{name}; 10 are needed."
    return None


def _find_clock_tick(trial: CheckInput) -> str | None:
    figures = {value for _, value in _ladder(trial) if value}
    for tick in CLOCK_TICKS_US:
        multiples = _multiples(trial, figures, tick)
        if multiples:
            return (
                f"All {len(figures)} latency figures are whole multiples of {time_text(tick)}, "
                "as far as the tool's rounding shows."
            )
    return None


def _multiples(trial: CheckInput, figures: set[float], tick: int) -> set[int]:
    """The multiples of the tick that the figures are; empty if that may be a coincidence.

    A tool rounds or cuts off a figure to its step, so that 15.625 ms stand as 15 or 16 ms.
    """
    widths: dict[int, float] = {}
    for value in figures:
        step = step_us(trial, value)
        above = step / 2 + 1e-6 * value
        if trial.percentiles_origin == "computed":
            above += HISTOGRAM_STEP * value
        below = above + step / 2
        multiple = round((value + step / 4) / tick)
        if multiple < 1 or not -below <= value - multiple * tick <= above:
            return set()
        widths[multiple] = min((below + above) / tick, 1.0)
    is_chance = len(widths) < 3 or prod(widths.values()) > TICK_CHANCE
    return set() if is_chance else set(widths)


def _find_delayed_ack(trial: CheckInput) -> str | None:
    low, high = DELAYED_ACK_US
    if not _may_wait_for_ack(trial):
        return None
    ladder = dict(_ladder(trial))
    plateau = [name for name in ACK_PERCENTILES if low <= ladder.get(name, 0.0) <= high]
    below = [us for us in ladder.values() if us < low]
    # A plateau: what is below is far below, or nearly every percentile is the wait itself.
    if len(plateau) < (3 if below else 4) or max(below, default=0.0) > low / 2:
        return None
    return f"{', '.join(plateau)} lie between {time_text(low)} and {time_text(high)}."


def _may_wait_for_ack(trial: CheckInput) -> bool:
    return trial.keepalive is not False and (trial.requests_completed or 0) >= ACK_REQUESTS


def _find_two_populations(trial: CheckInput) -> str | None:
    median, mean = trial.percentiles_us.get("50"), trial.latency_mean_us
    if not median or mean is None or mean <= 2 * median or _is_coarse(trial, median):
        return None
    return f"The mean is {time_text(mean)}, the median {time_text(median)}."


LATENCY_RULES = (
    TrialRule(
        id="partial-samples",
        severity="info",
        title="Rows of a part of the requests",
        explanation="The files have rows of fewer than 99 % of the requests that the report "
        "counts, such as the tail of a log or the head of a sorted table. A part of the requests "
        "does not represent the other requests, so its percentiles are not used. Or the load tool "
        "itself leaves requests out of its latencies, as wrk2 does with those of its calibration.",
        remedy="Upload the whole log beside the report.",
        find=lambda trial: trial.partial_samples or None,
    ),
    TrialRule(
        id="p99-equals-mean-or-max",
        severity="error",
        title="p99 equals the mean or the maximum",
        explanation="At least 1,000 requests were sent, the tool prints fine steps, and the "
        "median is well below p99. Then p99 differs from the mean and the maximum; equal "
        "figures mean that one was copied from the other.",
        remedy="Upload the output of the load tool unedited.",
        source=BOARDS + ": p99 equal to the mean on every row",
        withholds="latency",
        find=_find_copied_p99,
    ),
    TrialRule(
        id="resolution",
        severity="warning",
        title="The tool rounds its latencies",
        explanation="The smallest step of the tool is more than a tenth of the median latency. "
        "Differences below that step are rounding.",
        remedy="Use a load tool that records microseconds, such as wrk2, oha or k6.",
        source=BOARDS + ": buckets of 1 ms around a median of 87 µs",
        find=_find_coarse_steps,
    ),
    TrialRule(
        id="tail-samples",
        severity="warning",
        title="Too few requests for a percentile",
        explanation="Fewer than 10 requests are slower than p90, p95 or p99, so that "
        "percentile changes a lot from trial to trial. A p99 needs at least 1,000 requests.",
        remedy="Measure longer, or compare a lower percentile.",
        source="Binomial interval of a sample quantile",
        find=lambda trial: _find_thin_tail(trial, TAIL_PERCENTILES),
    ),
    TrialRule(
        id="far-tail-samples",
        severity="info",
        title="Too few requests for p99.9",
        explanation="Fewer than 10 requests are slower than p99.9, so it changes a lot from "
        "trial to trial. A p99.9 needs at least 10,000 requests.",
        remedy="Measure longer, or compare p99.",
        source="Binomial interval of a sample quantile",
        find=lambda trial: _find_thin_tail(trial, FAR_TAIL_PERCENTILES),
    ),
    TrialRule(
        id="clock-tick",
        severity="warning",
        title="Latencies are whole multiples of a clock tick",
        explanation="All figures are multiples of 15.625 ms, 10 ms or 1 ms, although the tool "
        "prints smaller steps. They show a coarse clock or a timer, not the server.",
        remedy="Measure from a client with a fine clock (Linux), and look for timers in the "
        "server.",
        find=_find_clock_tick,
    ),
    TrialRule(
        id="delayed-ack",
        severity="warning",
        title="Several latencies are about 40 ms",
        explanation="Several percentiles are between 39.5 and 45 ms. Linux delays an "
        "acknowledgement by 40 ms, and a server that writes a response in two parts waits for it.",
        remedy="Set TCP_NODELAY on the server, or write each response at once; if the server "
        "works for 40 ms, dismiss this check.",
        source="TCP_DELACK_MIN of Linux and Nagle's algorithm (RFC 896, RFC 1122)",
        find=_find_delayed_ack,
    ),
    TrialRule(
        id="two-populations",
        severity="info",
        title="Mean far above the median",
        explanation="The mean is more than twice the median: most requests are fast and a few "
        "are very slow. No single figure describes both.",
        remedy="Look at the latency distribution.",
        find=_find_two_populations,
    ),
)
