"""The identities that figures of one output keep, whatever the server does.

Each has a tolerance that no honest output needs: decision 0085 has how far 17,881 of them are from
it. A figure is printed with few digits, so the last digit of each is allowed for too. An identity
that is broken withholds what could lead a ranking by mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from backend.runs.checks.check import BOARDS, TrialRule, Withholds
from backend.runs.checks.check_input import CheckInput, percent_text, rate_text, time_text
from backend.runs.checks.latency import find_disorder, step_us

# Of two figures of which one follows from the other: tools print three digits at least.
ROUNDED_SHARE = 0.02
# A tool may stop its clock a little before the last response is counted.
LONGEST_SHARE = 0.05
# Their rates are means over samples or periods, and not requests ÷ time.
SAMPLED_RATES = frozenset({"artillery", "autocannon", "bombardier", "locust", "tsung"})
SAMPLED_FACTOR = 3.0
# The coarsest steps in which times (of the rate, or of the end) and rates are printed, where these
# are coarser than 0.01 s and 0.1 requests/s; siege prints bytes in steps of 0.01 MB.
TIME_STEPS_S = {"artillery": 1.0, "gatling": 1.0, "jmeter": 1.0, "locust": 1.0, "plow": 0.1}
RATE_STEPS = {"artillery": 1.0, "weighttp": 1.0}
BYTE_STEPS = {"siege": 0.01 * (1 << 20)}
# The time of their rate ends with the whole second before the last response.
RATE_CLOCKS_S = {"locust": 1.0}
TIME_STEP_S, RATE_STEP = 0.01, 0.1
# Below this share, the rate of all threads contradicts the rate of the run. wrk samples the threads
# only while requests are answered, so the threads' rate is rarely below: never below 0.91 in 9,704
# genuine outputs with steady threads.
THREADS_SHARE = 0.85
# Each connection of theirs has one request at a time. Others may have several: HTTP/2, pipelining,
# batches; or they add latencies of their own to the mean.
ONE_AT_A_TIME = frozenset(
    {"ab", "boom", "bombardier", "fortio", "hey", "plow", "siege", "weighttp"}
)
IN_FLIGHT_FACTOR = 1.5
_MOST_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Identity:
    """`text`: what must hold. `check`: the check that a broken one fires. `find`: a sentence with
    the figures that break it, or None."""

    check: str
    text: str
    find: Callable[[CheckInput], str | None]


def _find_longest(trial: CheckInput) -> str | None:
    """A request that took longer than the whole trial."""
    name, longest_us = max(_latencies(trial), key=lambda item: item[1], default=("", 0.0))
    lasted_s, source = _lasted(trial)
    if not lasted_s or not longest_us:
        return None
    step_s = _time_step_s(trial, lasted_s) if trial.lasted_s else _rate_clock_s(trial)
    slack_s = LONGEST_SHARE * lasted_s + step_us(trial, longest_us) / 1e6 + step_s
    if longest_us / 1e6 <= lasted_s + slack_s:
        return None
    return f"The {name} is {time_text(longest_us)}, but {source} {time_text(lasted_s * 1e6)}."


def _latencies(trial: CheckInput) -> Iterator[tuple[str, float]]:
    figures = {"longest latency": trial.latency_max_us, "mean latency": trial.latency_mean_us}
    named = {**figures, **{f"p{key}": us for key, us in trial.percentiles_us.items()}}
    yield from ((name, us) for name, us in named.items() if us is not None)


def _lasted(trial: CheckInput) -> tuple[float | None, str]:
    """The seconds of the trial, and what says so; without a time, what its rate implies."""
    if trial.lasted_s is not None:
        return trial.lasted_s, "the trial lasted"
    count, rate = trial.requests_completed, trial.throughput_rps
    count = trial.requests_ok if count is None else count
    if not count or not rate:
        return None, ""
    return count / rate, f"{count:,} requests at {rate_text(rate)} requests/s take"


def find_other_rate(trial: CheckInput) -> str | None:
    """A printed rate that is not requests ÷ time, however the tool counts failed attempts."""
    elapsed_s, rate, counts = trial.elapsed_s, trial.reported_rps, _counts_of_rate(trial)
    if not elapsed_s or not rate or counts is None:
        return None
    low, high = (count / elapsed_s for count in counts)
    rate_step = min(_last_digit(rate), RATE_STEPS.get(trial.tool or "", RATE_STEP))
    slack = 1 + ROUNDED_SHARE + rate_step / rate + _time_step_s(trial, elapsed_s) / elapsed_s
    if trial.tool in SAMPLED_RATES:
        slack = max(slack, SAMPLED_FACTOR)
    if low / slack <= rate <= high * slack:
        return None
    count = counts[1] if trial.requests_completed is None else trial.requests_completed
    ours = count / elapsed_s
    return (
        f"{count:,} requests in {elapsed_s:.4g} s make {rate_text(ours)} requests/s, but the "
        f"tool printed {rate_text(rate)} ({percent_text(ours / rate - 1, sign=True)})."
    )


def _counts_of_rate(trial: CheckInput) -> tuple[int, int] | None:
    """The fewest and the most requests that a rate may count; None where nothing is known."""
    completed, most = trial.requests_completed, trial.attempts_most
    if most is None or completed is None:
        return None if most is None else (0, most)
    ok = completed if trial.requests_ok is None else trial.requests_ok
    return min(ok, completed), max(most, completed)


def _find_other_transfer(trial: CheckInput) -> str | None:
    received, printed, elapsed_s = (
        trial.bytes_received,
        trial.printed_transfer_bytes_s,
        trial.elapsed_s,
    )
    if not received or not printed or not elapsed_s:
        return None
    step = BYTE_STEPS.get(trial.tool or "", 0.0)
    slack = 1 + ROUNDED_SHARE + step / received + step / printed
    if trial.tool in SAMPLED_RATES:
        slack = max(slack, SAMPLED_FACTOR)
    ours = received / elapsed_s
    if printed / slack <= ours <= printed * slack:
        return None
    return (
        f"{received:,} bytes in {elapsed_s:.4g} s make {ours:,.0f} bytes/s, but the output says "
        f"{printed:,.0f} bytes/s."
    )


def _find_slower_threads(trial: CheckInput) -> str | None:
    threads_rps, rate = trial.threads_rps, trial.reported_rps
    if threads_rps is None or rate is None or threads_rps >= THREADS_SHARE * rate:
        return None
    return (
        f"Req/Sec of all threads is {rate_text(threads_rps)} requests/s, but Requests/sec is "
        f"{rate_text(rate)}."
    )


def _find_other_request_time(trial: CheckInput) -> str | None:
    printed_us, completed, elapsed_s = (
        trial.request_time_us,
        trial.requests_completed,
        trial.elapsed_s,
    )
    if not printed_us or not completed or not elapsed_s or not trial.connections:
        return None
    ours_us = trial.connections * elapsed_s * 1e6 / completed
    if abs(ours_us - printed_us) <= ROUNDED_SHARE * printed_us + 1:
        return None
    return (
        f"{trial.connections} × {elapsed_s:.4g} s ÷ {completed:,} requests make "
        f"{time_text(ours_us)} per request, but the output says {time_text(printed_us)}."
    )


def _find_too_many_in_flight(trial: CheckInput) -> str | None:
    """Little's law, of which one side is certain: all latencies together fit into the time of all
    connections. The other side is a warning (`littles-law`): connections may have waited."""
    rate, mean_us, open_ = trial.throughput_rps, trial.latency_mean_us, trial.connections
    if not rate or mean_us is None or not open_ or trial.loop != "closed":
        return None
    if trial.tool not in ONE_AT_A_TIME:
        return None
    in_flight = rate * max(mean_us - step_us(trial, mean_us), 0.0) / 1e6
    if in_flight <= IN_FLIGHT_FACTOR * open_:
        return None
    return (
        f"{rate_text(rate)} requests/s × {time_text(mean_us)} mean latency is {in_flight:.3g} "
        f"requests in flight, but {open_} {'connection was' if open_ == 1 else 'connections were'} "
        "open, with one request each."
    )


def _find_too_many_outcomes(trial: CheckInput) -> str | None:
    most, completed = trial.attempts_most, trial.requests_completed
    if most is None or completed is None:
        return None
    statuses = sum((trial.status_counts or {}).values())
    if statuses > max(most, completed):
        return f"The status codes are of {statuses:,} responses, but {completed:,} were counted."
    if (trial.requests_ok or 0) > completed:
        return f"{trial.requests_ok:,} of {completed:,} requests were successful."
    return None


def _time_step_s(trial: CheckInput, seconds: float) -> float:
    """The step of a time. A whole-second clock counts also where another file has a finer time."""
    coarsest_s = TIME_STEPS_S.get(trial.tool or "")
    return min(_last_digit(seconds), TIME_STEP_S) if coarsest_s is None else coarsest_s


def _rate_clock_s(trial: CheckInput) -> float:
    """By how much the time behind a rate may be too short."""
    return RATE_CLOCKS_S.get(trial.tool or "", 0.0)


def _last_digit(figure: float) -> float:
    """What the last digit of a printed figure stands for: 0.01 of 12.34, 1 of 12."""
    decimals = len(f"{figure:.{_MOST_DECIMALS}f}".rstrip("0").partition(".")[2])
    return float(10**-decimals)


# The one table of them.
IDENTITIES = (
    Identity(
        "impossible-throughput",
        "no request takes longer than the whole trial, or than requests ÷ rate",
        _find_longest,
    ),
    Identity("impossible-throughput", "requests ÷ time is the printed rate", find_other_rate),
    Identity("impossible-throughput", "bytes ÷ time is the transfer rate", _find_other_transfer),
    Identity(
        "impossible-throughput",
        "the rates of wrk's threads add up to its rate",
        _find_slower_threads,
    ),
    Identity(
        "impossible-throughput",
        "connections × time ÷ requests is ab's time per request",
        _find_other_request_time,
    ),
    Identity(
        "impossible-load",
        "rate × mean latency is at most the number of connections, where each has one request at "
        "a time",
        _find_too_many_in_flight,
    ),
    Identity(
        "impossible-counts",
        "status codes and successes are at most as many as the requests",
        _find_too_many_outcomes,
    ),
    Identity(
        "percentile-order",
        "minimum ≤ p50 ≤ … ≤ p99.9 ≤ maximum, and minimum ≤ mean ≤ maximum",
        find_disorder,
    ),
)


def texts_of(check: str) -> str:
    """The identities of a check, in words."""
    return "; ".join(identity.text for identity in IDENTITIES if identity.check == check)


def _rule(
    id_: str, *, title: str, explanation: str, remedy: str, source: str, withholds: Withholds
) -> TrialRule:
    identities = [identity for identity in IDENTITIES if identity.check == id_]

    def find(trial: CheckInput) -> str | None:
        return next(filter(None, (identity.find(trial) for identity in identities)), None)

    return TrialRule(
        id=id_,
        severity="error",
        title=title,
        explanation=explanation,
        remedy=remedy,
        source=source,
        withholds=withholds,
        find=find,
    )


# Counted over captures and archives: decision 0085.
_HONEST = "None of 17,881 genuine outputs breaks this rule (decision 0085)."
_UNEDITED = "Upload the output of the load tool unedited; look for a time in another unit."
IDENTITY_RULES = (
    _rule(
        "impossible-throughput",
        title="The throughput is impossible",
        explanation="Figures of every output fit together: "
        f"{texts_of('impossible-throughput')}. Here one of these is broken by more than rounding, "
        f"so time, count or rate is wrong. {_HONEST}",
        remedy=_UNEDITED,
        source=BOARDS + ": 1.25 ms as the time of a test of 5 s",
        withholds="throughput",
    ),
    _rule(
        "impossible-load",
        title="More requests in flight than connections",
        explanation=f"In a closed loop, {texts_of('impossible-load')}. Here the product is more "
        f"than {IN_FLIGHT_FACTOR:g} times as large, so rate, latency or connections are wrong. "
        f"{_HONEST}",
        remedy="Upload the output of the load tool unedited, and declare the connections of this "
        "trial.",
        source="Little, J. D. C. (1961), A Proof for the Queuing Formula L = λW, Operations "
        "Research 9(3)",
        withholds="all",
    ),
    _rule(
        "impossible-counts",
        title="More outcomes than requests",
        explanation=f"In every output, {texts_of('impossible-counts')}. Here they are more, so a "
        f"count is wrong, and with it every rate. {_HONEST}",
        remedy="Upload the output of the load tool unedited.",
        source=BOARDS,
        withholds="all",
    ),
    _rule(
        "percentile-order",
        title="Percentiles out of order",
        explanation=f"In every output, {texts_of('percentile-order')}. Here this is not so: a "
        f"figure was read, stored or printed under a wrong name. {_HONEST}",
        remedy="Compare the figures with the stored output, and upload the output of the load "
        "tool unedited.",
        source=BOARDS + ": p95 stored as p99",
        withholds="latency",
    ),
)
