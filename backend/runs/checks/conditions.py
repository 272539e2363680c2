"""Rules over the conditions of one trial: its source, its limits, and how the server works."""

import re

from backend.runs.checks.check import TrialRule
from backend.runs.checks.check_input import CheckInput

# `ab -t` ends after this many requests, unless `-n` comes after it.
AB_REQUESTS = 50_000
# A load tool that waits for the clock of older Windows sends this often.
TICKS_PER_S = 64.0
TICK_TOLERANCE = 0.005
# For this long, a just-in-time compiler may still change the speed of a server.
COMPILING_S = 60.0
COMPILING = re.compile(r"\b(PyPy|JVM|OpenJDK|HotSpot|GraalVM|Java|Jython|JRuby)\b", re.IGNORECASE)
ANSWERS_BEFORE_READING = "answers_before_reading"


def find_request_limit(trial: CheckInput) -> str | None:
    """That `ab -t` ended at its number of requests, before the time."""
    asked_s, elapsed_s = trial.evidence.asked.duration_s, trial.elapsed_s
    if trial.tool != "ab" or asked_s is None or elapsed_s is None:
        return None
    if trial.requests_completed != AB_REQUESTS or elapsed_s >= asked_s:
        return None
    return f"ab stopped at {AB_REQUESTS} requests, after {elapsed_s:.3g} of {asked_s:g} s."


def _find_tick_rate(trial: CheckInput) -> str | None:
    rate = trial.throughput_rps
    if rate is None or trial.loop != "closed" or trial.offered_rps:
        return None
    if abs(rate / TICKS_PER_S - 1) > TICK_TOLERANCE:
        return None
    return f"{rate:.4g} requests/s is one request for each 15.625 ms."


def _find_compiling(trial: CheckInput) -> str | None:
    compiler = COMPILING.search(trial.server_runtime or "")
    if trial.warmup or compiler is None or trial.elapsed_s is None:
        return None
    if trial.elapsed_s >= COMPILING_S:
        return None
    return f"The server runs on {trial.server_runtime}; the trial lasted {trial.elapsed_s:.3g} s."


def _find_answer_before_reading(trial: CheckInput) -> str | None:
    if trial.server_settings.get(ANSWERS_BEFORE_READING) not in (True, "yes", "true"):
        return None
    return "The server's settings say that it answers as soon as a connection is open."


CONDITION_RULES = (
    TrialRule(
        id="published-figures",
        severity="warning",
        title="Reported by a publication",
        explanation="The figures are copied from a publication. There is no output of the load "
        "tool, so nothing can be checked, and the spread of the trials is unknown.",
        remedy="Read the publication, or measure again.",
        find=lambda trial: f"Copied from: {trial.publication}." if trial.publication else None,
    ),
    TrialRule(
        id="request-limit",
        severity="warning",
        title="ab reached its limit of requests",
        explanation="`ab -t` also sets a limit of 50,000 requests. A fast server reaches it "
        "before the time is over, so its trial is shorter than that of a slow server.",
        remedy="Give `-n` after `-t`, with a number that no server reaches.",
        source="Manual of ab: -t implies -n 50000",
        find=find_request_limit,
    ),
    TrialRule(
        id="tick-rate",
        severity="warning",
        title="One request for each tick of a clock",
        explanation="The throughput is 64 requests/s, the rate of a clock that ticks every "
        "15.625 ms. The load tool or its operating system waited for the clock, and the "
        "server did not limit the throughput.",
        remedy="Run the load tool on another operating system, or use another load tool.",
        source="The default timer of Windows ticks 64 times in a second",
        is_no_basis=True,
        find=_find_tick_rate,
    ),
    TrialRule(
        id="compiling",
        severity="info",
        title="Too short for a just-in-time compiler",
        explanation=f"The server's runtime compiles code while it runs. In the first "
        f"{COMPILING_S:.0f} s the server may still become faster.",
        remedy="Send requests for some minutes before the first trial, and measure for longer "
        "than a minute.",
        find=_find_compiling,
    ),
    TrialRule(
        id="answers-before-reading",
        severity="warning",
        title="The server answers before it reads",
        explanation="The program sends its response when a connection opens, before it reads "
        "the request. A real server must read and parse first. Some load tools count such "
        "responses as errors.",
        remedy="Measure a program that reads the whole request before it answers.",
        is_no_basis=True,
        find=_find_answer_before_reading,
    ),
)
