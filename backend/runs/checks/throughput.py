"""Rules over the throughput of one trial: how it fits the load, and how it ran over time."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, median

from backend.runs.checks.check import LITTLE, TrialRule
from backend.runs.checks.check_input import CheckInput, percent_text, rate_text, time_text
from backend.runs.checks.latency import step_us
from backend.stats.thresholds import HIGH_ERROR_RATE

LITTLE_TOLERANCE = 0.25
SHORTEST_S = 1.0
# Connecting and the first requests are a large part of a shorter trial.
SHORT_S = 2.0
# A third of a trial is this many seconds at least, and moves by more than this share.
UNSTEADY_SECONDS = 3
UNSTEADY_SHARE = 0.1
# Standard deviations of a count that chance does not explain.
CHANCE_SD = 4
# A second with less than this share of the usual responses is a stall …
STALL_SHARE = 0.25
# … where a usual second has this many responses, and a response takes this long at most.
STALL_RESPONSES = 20
STALL_LATENCY_US = 250_000.0
# Two seconds vary less than one, and by chance hardly ever lose three quarters of a second here.
STALL_RESPONSES_OF_TWO = 100
# One request that takes this share of the trial, and this many times p99.
STALL_OF_TRIAL = 0.1
STALL_OF_P99 = 20
# Below this share of the requests that were asked for, some are missing.
ASKED_SHARE = 0.98
# A log that ends this share of the time that was asked for too early, and so many seconds, lacks
# its end. A slow last request may end it a little early.
MISSING_SHARE = 0.1
LEAST_MISSING_S = 1.0
# They may show more requests in flight than connections: h2load multiplexes, and wrk 4 adds
# latencies of its own for slow responses, so that its mean is above the requests' mean.
SHOWING_MORE = frozenset({"h2load", "wrk"})


def _find_misfit(trial: CheckInput) -> str | None:
    rate, mean, asked = trial.throughput_rps, trial.latency_mean_us, trial.connections
    if not rate or mean is None or not asked or not _keeps_connections_busy(trial):
        return None
    slack, rates = step_us(trial, mean) / 1e6, (rate, trial.reported_rps or rate)
    is_below = max(rates) * (mean / 1e6 + slack) < asked * (1 - LITTLE_TOLERANCE)
    is_above = min(rates) * (mean / 1e6 - slack) > asked * (1 + LITTLE_TOLERANCE)
    if not is_below and (not is_above or trial.tool in SHOWING_MORE):
        return None
    return (
        f"{rate:.0f} requests/s × {time_text(mean)} mean latency is {rate * mean / 1e6:.3g} "
        f"requests in flight; {asked} {'connection was' if asked == 1 else 'connections were'} "
        "open."
    )


def _keeps_connections_busy(trial: CheckInput) -> bool:
    """Whether each connection should have one request in flight for nearly the whole trial."""
    if trial.loop != "closed" or trial.offered_rps or (trial.error_rate or 0.0) > HIGH_ERROR_RATE:
        return False
    if trial.elapsed_s is None or trial.elapsed_s < SHORTEST_S:
        return False
    # A request that times out keeps its connection, and its latency is not in the mean.
    if trial.errors.get("timeout"):
        return False
    # With few requests a connection, its start and end weigh more than the steady state.
    return (trial.requests_completed or 0) >= 10 * (trial.connections or 0)


def _find_short_trial(trial: CheckInput) -> str | None:
    if trial.elapsed_s is None or trial.elapsed_s >= SHORT_S:
        return None
    return f"The trial lasted {trial.elapsed_s:.3g} s."


def _find_unsteadiness(trial: CheckInput) -> str | None:
    rates = trial.second_rates_rps
    if len(rates) < 3 * UNSTEADY_SECONDS:
        return None
    third = len(rates) // 3
    before, after = fmean(rates[:third]), fmean(rates[-third:])
    if not before or abs(after / before - 1) <= UNSTEADY_SHARE:
        return None
    # Counts of few responses differ by chance.
    if abs(after - before) * third <= CHANCE_SD * sqrt((before + after) * third):
        return None
    return (
        f"{rate_text(before)} requests/s in the first third, {rate_text(after)} in the last "
        f"({percent_text(after / before - 1, sign=True)})."
    )


def _stalled_seconds(trial: CheckInput) -> str | None:
    """Seconds with hardly a response. The first is left out: connections are opened in it."""
    rates = trial.second_rates_rps[1:]
    typical_us = trial.percentiles_us.get("50", trial.latency_mean_us)
    usual = median(rates) if len(rates) > 2 else 0.0
    if usual < STALL_RESPONSES or typical_us is None or typical_us > STALL_LATENCY_US:
        return None
    stalled = [rate for rate in rates if rate < STALL_SHARE * usual]
    if not stalled:
        return _stall_across(rates, usual)
    return (
        f"{len(stalled)} of {len(rates)} seconds had at most {rate_text(max(stalled))} responses; "
        f"a usual second had {rate_text(usual)}."
    )


def _stall_across(rates: Sequence[float], usual: float) -> str | None:
    """A stall that begins in one second and ends in the next, of which neither looks empty.

    The seconds around both are usual ones: else throughput changed, and did not stop.
    """
    if usual < STALL_RESPONSES_OF_TWO:
        return None
    for before, first, second, after in zip(rates, rates[1:], rates[2:], rates[3:], strict=False):
        is_usual_around = min(before, after) >= (1 - STALL_SHARE) * usual
        if is_usual_around and first + second < (1 + STALL_SHARE) * usual:
            return (
                f"Two seconds together had {rate_text(first + second)} responses; a usual second "
                f"had {rate_text(usual)}."
            )
    return None


def _stalled_request(trial: CheckInput) -> str | None:
    """A closed loop sends nothing during a stall, so that p99 does not show it."""
    most, p99 = trial.latency_max_us, trial.percentiles_us.get("99")
    lasted_s = trial.elapsed_s or trial.logged_s
    if trial.loop != "closed" or most is None or p99 is None or not lasted_s:
        return None
    if lasted_s < SHORTEST_S or most < STALL_OF_TRIAL * lasted_s * 1e6:
        return None
    if most < STALL_OF_P99 * max(p99, step_us(trial, p99)):
        return None
    return (
        f"The slowest request took {time_text(most)} of a trial of {lasted_s:.3g} s; "
        f"p99 is {time_text(p99)}."
    )


def _find_missing_requests(trial: CheckInput) -> str | None:
    if trial.incomplete:
        return None
    return _missing_count(trial) or _missing_seconds(trial)


def _missing_seconds(trial: CheckInput) -> str | None:
    asked_s, logged_s = trial.evidence.asked.duration_s, trial.logged_s
    if asked_s is None or logged_s is None:
        return None
    if asked_s - logged_s <= max(MISSING_SHARE * asked_s, LEAST_MISSING_S):
        return None
    return f"The requests in the output end after {logged_s:.3g} of {asked_s:g} s."


def _missing_count(trial: CheckInput) -> str | None:
    asked, attempted = trial.requests_asked, _attempted(trial)
    if not asked or attempted is None or attempted >= ASKED_SHARE * asked:
        return None
    return f"{attempted} of {asked} requests are in the output."


def _attempted(trial: CheckInput) -> int | None:
    """The requests in the output, with those that the client's host could not send."""
    if trial.attempts is not None:
        return trial.attempts + trial.client_errors
    if trial.requests_completed is None:
        return None
    return trial.requests_completed + sum(count or 0 for count in trial.errors.values())


THROUGHPUT_RULES = (
    TrialRule(
        id="littles-law",
        severity="warning",
        title="Connections, throughput and latency do not fit together",
        explanation="In a closed loop, throughput × mean latency is the number of requests in "
        "flight, and each connection has one. The two numbers differ by more than 25 %: the "
        "load was not the load point, or one of the figures is wrong.",
        remedy="Look for pauses in the script of the load tool, give it more threads, or use a "
        "faster load tool; compare its own rate and latency.",
        source=LITTLE,
        find=_find_misfit,
    ),
    TrialRule(
        id="too-short",
        severity="warning",
        title=f"Measured for less than {SHORT_S:.0f} seconds",
        explanation="In a trial this short, connecting and the slow first requests are a large "
        "part.",
        remedy="Measure for at least 10 s.",
        is_no_basis=True,
        find=_find_short_trial,
    ),
    TrialRule(
        id="unsteady",
        severity="warning",
        title="Throughput changed during the trial",
        explanation="The last third of the trial differs from the first third by more than "
        "10 %, and by more than chance explains. The server was still warming up, it slowed "
        "down, or something else used the machine.",
        remedy="Add a warm-up, and measure longer.",
        find=_find_unsteadiness,
    ),
    TrialRule(
        id="stall",
        severity="warning",
        title="The server stopped answering for a while",
        explanation="Seconds had hardly a response, a pause of about a second fell across two, "
        "or one request took a tenth of the trial while p99 is small. A closed loop sends nothing "
        "during a stall, so its percentiles leave out most of the wait (coordinated omission).",
        remedy="Look at throughput over time, and measure latency in an open loop, for example "
        "with wrk2, vegeta or k6 at a constant arrival rate.",
        source="Tene, G. (2013), How NOT to Measure Latency",
        find=lambda trial: _stalled_seconds(trial) or _stalled_request(trial),
    ),
    TrialRule(
        id="missing-requests",
        severity="warning",
        title="Requests are missing from the output",
        explanation="The load tool was asked for a number of requests, and its output has "
        "fewer than 98 % of them; or it was asked for a time, and its log of requests ends "
        "more than a tenth earlier. A part of the output may be lost, or these requests "
        "failed: a log of responses has no row for them.",
        remedy="Upload the whole output of the load tool.",
        find=_find_missing_requests,
    ),
)
