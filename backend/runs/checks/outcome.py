"""Rules over how a trial ended: failed requests, cut-off output, contradictions."""

from math import floor

from backend.runs.checks.check import BOARDS, REFUSALS_RANKED, Check, TrialRule
from backend.runs.checks.check_input import CheckInput, percent_text, rate_text
from backend.runs.checks.identities import find_other_rate
from backend.stats.thresholds import HIGH_ERROR_RATE, REACHED_SHARE, percent

OVERLOAD = "overload"
RATE_TOLERANCE = 0.02


def _find_errors(trial: CheckInput) -> str | None:
    rate = trial.error_rate
    if rate is None or not 0 < rate <= HIGH_ERROR_RATE:
        return None
    return f"{percent_text(rate)} of the attempts failed{_counts(trial)}."


def _find_many_errors(trial: CheckInput) -> str | None:
    rate, is_least = trial.error_rate, ""
    if rate is None:
        rate, is_least = trial.least_error_rate, "At least "
    if rate is None or rate <= HIGH_ERROR_RATE:
        return None
    return f"{is_least}{percent_text(rate)} of the attempts failed{_counts(trial)}."


def _counts(trial: CheckInput) -> str:
    """The counts in brackets: of all attempts, and by class; empty where there is none."""
    total = "" if trial.attempts is None else f"{trial.failed:,} of {trial.attempts:,}"
    return _in_brackets(": ".join(filter(None, (total, _classes(trial)))))


def _classes(trial: CheckInput) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in trial.errors.items() if count)


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def _find_no_answers(trial: CheckInput) -> str | None:
    if trial.requests_completed != 0:
        return None
    time = "" if trial.elapsed_s is None else f" in {trial.elapsed_s:.3g} s"
    return f"No request was answered{time}{_in_brackets(_classes(trial))}."


def _find_hang(trial: CheckInput) -> str | None:
    sentence = "After the trial, the server did not answer a request."
    return sentence if trial.answers_after is False else None


def _find_failures_counted_as_success(trial: CheckInput) -> str | None:
    if trial.status_counts is None or trial.requests_ok is None:
        return None
    bad = sum(n for status, n in trial.status_counts.items() if status[:1] in "45")
    completed = trial.requests_completed
    if not bad or completed is None or trial.requests_ok <= completed - bad:
        return None
    return (
        f"{bad:,} answers have a 4xx or 5xx status, but {trial.requests_ok:,} of {completed:,} "
        "were counted as successful."
    )


def _find_unknown_errors(trial: CheckInput) -> str | None:
    if trial.error_rate is not None or trial.attempts == 0 or not trial.has_figures:
        return None
    if trial.publication:
        return "The publication gives no number of failed requests for this trial."
    if trial.requests_completed is None:
        return "The output has no number of failed requests."
    if trial.requests_ok is not None:
        return (
            f"The output lists {trial.requests_completed:,} requests that were answered; how many "
            "got no answer is unknown."
        )
    return f"{trial.requests_completed:,} requests completed; how many succeeded is unknown."


def _find_cut_off(trial: CheckInput) -> str | None:
    return "The output ends before the report is complete." if trial.incomplete else None


def _find_other_rate(trial: CheckInput) -> str | None:
    ours, theirs = trial.throughput_rps, trial.reported_rps
    if ours is None or not theirs or find_other_rate(trial) is not None:
        return None
    # A tool that counts successes alone, or failed attempts too, does not contradict its counts.
    counted = (ours, trial.goodput_rps, _attempts_rps(trial), _whole_seconds_rps(trial))
    if any(rate is not None and abs(rate / theirs - 1) <= RATE_TOLERANCE for rate in counted):
        return None
    return (
        f"Completed ÷ elapsed is {rate_text(ours)} requests/s; the tool printed "
        f"{rate_text(theirs)} ({percent_text(ours / theirs - 1, sign=True)})."
    )


def _attempts_rps(trial: CheckInput) -> float | None:
    """Requests per second with those that got no response."""
    if trial.attempts is None or not trial.elapsed_s:
        return None
    return trial.attempts / trial.elapsed_s


def _whole_seconds_rps(trial: CheckInput) -> float | None:
    """autocannon prints the mean of its whole seconds, and its last part of a second counts too."""
    completed, seconds = trial.requests_completed, floor(trial.elapsed_s or 0.0)
    is_known = trial.tool == "autocannon" and completed is not None and seconds
    return (completed or 0) / seconds if is_known else None


def _find_overload(trial: CheckInput) -> str | None:
    offered = trial.offered_rps
    if not offered:
        return None
    achieved, is_most = trial.throughput_rps, ""
    if achieved is None:
        achieved, is_most = _most_rps(trial), "At most "
    if achieved is None or achieved / offered >= REACHED_SHARE:
        return None
    return (
        f"{is_most}{rate_text(achieved)} of {rate_text(offered)} offered requests/s were answered "
        f"({percent_text(achieved / offered)})."
    )


def _most_rps(trial: CheckInput) -> float | None:
    """What was answered at most, where the output has no elapsed time; None if nothing limits it.

    A log tells which seconds it reaches, of which the first and the last may be parts. And no more
    than what was sent was answered.
    """
    most = []
    if trial.requests_completed is not None and (trial.logged_s or 0.0) > 1.0:
        most.append(trial.requests_completed / ((trial.logged_s or 0.0) - 1.0))
    if trial.sent_share is not None and trial.offered_rps:
        most.append(trial.sent_share * trial.offered_rps)
    return min(most, default=None)


def _find_unsent(trial: CheckInput) -> str | None:
    share = trial.sent_share
    if share is None or share >= REACHED_SHARE:
        return None
    return f"The load tool sent {percent_text(share)} of the offered requests."


OUTCOME_RULES = (
    TrialRule(
        id="error-rate",
        severity="info",
        title="Some requests failed",
        explanation=f"At least one attempt failed, and at most {percent(HIGH_ERROR_RATE)} of "
        "them. Failed requests often take less or more time than others, which shifts every "
        "other figure.",
        remedy="Find out why they failed before you rely on small differences.",
        find=_find_errors,
    ),
    TrialRule(
        id="error-rate-high",
        severity="error",
        title=f"More than {percent(HIGH_ERROR_RATE)} of requests failed",
        explanation="A server that refuses work looks fast. The figures of this trial are not "
        "ranked.",
        remedy="Lower the load or repair the server, and measure again.",
        source=REFUSALS_RANKED,
        withholds="all",
        find=_find_many_errors,
    ),
    TrialRule(
        id="no-answers",
        severity="error",
        title="No request was answered",
        explanation="The load tool sent requests and got no response, so the trial says "
        "nothing about the speed of the server.",
        remedy="Check that the server runs at that address, and that it keeps up with so many "
        "connections.",
        withholds="all",
        find=_find_no_answers,
    ),
    TrialRule(
        id="hung-server",
        severity="error",
        title="The server hung",
        explanation="After the trial the server was still running, but answered no request. "
        "It had stopped answering during the trial, so the figures cover only a part of it.",
        remedy="Read the end of the server's output, and lower the load.",
        withholds="all",
        find=_find_hang,
    ),
    TrialRule(
        id="status-not-2xx",
        severity="warning",
        title="Failed responses were counted as success",
        explanation="The load tool counted 4xx or 5xx responses as successful requests.",
        remedy="Check the URL and the server's log, and measure again.",
        source=REFUSALS_RANKED,
        find=_find_failures_counted_as_success,
    ),
    TrialRule(
        id="errors-unknown",
        severity="warning",
        title="Number of failed requests unknown",
        explanation="The output has no number of failed requests, or it leaves out requests that "
        "got no answer, as the CSV of hey and oha does. So there is no error rate. A server that "
        "refuses work looks fast.",
        remedy="Use an output of the load tool that counts all failed requests, such as the "
        "text of hey or oha.",
        source=REFUSALS_RANKED,
        find=_find_unknown_errors,
    ),
    TrialRule(
        id="incomplete",
        severity="error",
        title="The load tool was cut off",
        explanation="The output ends early. The figures cover only the part before its end.",
        remedy="Measure again and keep the whole output.",
        withholds="all",
        find=_find_cut_off,
    ),
    TrialRule(
        id="exit-code",
        severity="warning",
        title="The load tool reported a failure",
        explanation="The load tool ended with an exit status other than 0.",
        remedy="Read what the load tool printed about it.",
        find=lambda trial: f"The exit status is {trial.exit_code}." if trial.exit_code else None,
    ),
    TrialRule(
        id="throughput-disagrees",
        severity="warning",
        title="Throughput differs from what the tool printed",
        explanation="Responses ÷ elapsed time differs by more than 2 % from the rate that the "
        "tool printed, whether failed attempts are counted or not. The tool takes the mean of "
        "samples (autocannon, bombardier …) or measured its rate over another time. Where it "
        "divides requests by time, or the two differ threefold, the error `impossible-throughput` "
        "fires instead.",
        remedy="Use the computed throughput to compare load tools.",
        source=BOARDS + ": the rate of the last second shown as the rate of the run",
        find=_find_other_rate,
    ),
    TrialRule(
        id=OVERLOAD,
        severity="warning",
        title="The offered rate was not reached",
        explanation=f"Less than {percent(REACHED_SHARE)} of the offered requests were answered "
        "in time. Above that rate, latencies depend on how long the test ran, not on how fast "
        "the server is.",
        remedy="Compare latencies at a rate that every server reaches.",
        find=_find_overload,
    ),
    TrialRule(
        id="unsent",
        severity="warning",
        title="The load tool did not send the offered rate",
        explanation=f"Less than {percent(REACHED_SHARE)} of the offered requests were sent. The "
        "load tool had no free worker or virtual user for the rest, or its host was busy. With "
        "more workers, the server may reach a higher rate.",
        remedy="Allow more workers (-max-workers of vegeta, maxVUs of k6), or offer a lower rate.",
        find=_find_unsent,
    ),
)

# The parser finds the contradictions; check_trial adds one finding for each.
TOOL_DISAGREES = Check(
    id="tool-disagrees",
    severity="warning",
    title="The output contradicts itself",
    explanation="Two figures or files of one trial contradict each other, so at least one is "
    "wrong, or they are of different runs. A rate that contradicts its count is the error "
    "`impossible-throughput`.",
    remedy="Check whether the output was edited, or joined from several runs.",
)
