"""Rules over what came back: redirects, responses of an unclear kind, faults of the client."""

from backend.formats.statuses import redirects
from backend.runs.checks.check import REFUSALS_RANKED, TrialRule
from backend.runs.checks.check_input import CheckInput
from backend.stats.thresholds import HIGH_ERROR_RATE, percent

# These tools send the next request on a connection unless the answer says that it is closed.
CLOSE_COUNTERS = ("wrk", "wrk2")
LEAST_ANSWERS = 100
LEAST_PER_CONNECTION = 20
CLOSE_TOLERANCE = 0.01


def many_redirects(trial: CheckInput) -> str | None:
    """More redirects than HIGH_ERROR_RATE of the responses."""
    completed = trial.requests_completed
    if not completed or trial.status_counts is None:
        return None
    count = redirects(trial.status_counts)
    if count <= HIGH_ERROR_RATE * completed:
        return None
    return f"{count:,} of {completed:,} responses were redirects (3xx)."


def unclear_statuses(trial: CheckInput) -> str | None:
    """More responses without 2xx than HIGH_ERROR_RATE, of which some may be redirects."""
    completed, count = trial.requests_completed, trial.not_2xx
    if not completed or not count or count <= HIGH_ERROR_RATE * completed:
        return None
    return (
        f"{count:,} of {completed:,} responses were not 2xx. The load tool does not say whether "
        "they were redirects or errors, so all of them count as failed."
    )


def closes_unannounced(trial: CheckInput) -> str | None:
    """wrk lost about as many requests as it had answers: one on each connection that was closed."""
    completed = trial.requests_completed or 0
    connections = trial.connections or 1
    if trial.tool not in CLOSE_COUNTERS or completed < max(
        LEAST_ANSWERS, LEAST_PER_CONNECTION * connections
    ):
        return None
    lost = sum(trial.errors.get(name) or 0 for name in ("read", "write"))
    # When the trial ends, the last answer of a connection may not have met its closing yet.
    if abs(lost - completed) > max(connections, CLOSE_TOLERANCE * completed):
        return None
    return (
        f"{trial.tool} had {completed:,} answers and {lost:,} read or write errors, about one "
        "for each answer."
    )


def client_faults(trial: CheckInput) -> str | None:
    """So many attempts lost on the client's host that the load was not offered."""
    share = client_fault_share(trial)
    return _client_text(trial) if share > HIGH_ERROR_RATE else None


def few_client_faults(trial: CheckInput) -> str | None:
    """Some attempts lost on the client's host."""
    share = client_fault_share(trial)
    return _client_text(trial) if 0 < share <= HIGH_ERROR_RATE else None


def client_fault_share(trial: CheckInput) -> float:
    """Attempts lost on the client's host ÷ these and the completed requests."""
    lost = trial.client_errors
    return lost / (lost + (trial.requests_completed or 0)) if lost else 0.0


def _client_text(trial: CheckInput) -> str:
    return (
        f"{trial.client_errors} attempts failed because the client ran out of ports or open files."
    )


RESPONSE_RULES = (
    TrialRule(
        id="redirects",
        severity="warning",
        title="The server answered with redirects",
        explanation=f"More than {percent(HIGH_ERROR_RATE)} of the responses have a 3xx status: the "
        "server sent the client elsewhere and not the page. A redirect is not a failed request. "
        "Servers with and without redirects do different work, so they are not ranked together.",
        remedy="Measure the address that the redirect names.",
        find=many_redirects,
    ),
    TrialRule(
        id="not-2xx",
        severity="warning",
        title="Redirects may be among the failed requests",
        explanation=f"More than {percent(HIGH_ERROR_RATE)} of the responses are not 2xx, and the "
        "load tool counts redirects (3xx) and errors (4xx, 5xx) together. All of them count as "
        "failed. If some are redirects, the error rate is too high.",
        remedy="Open the address once to see its status. If it redirects, measure the address that "
        "it names.",
        source=REFUSALS_RANKED,
        find=unclear_statuses,
    ),
    TrialRule(
        id="closes-unannounced",
        severity="warning",
        title="The errors are probably closed connections, not failed requests",
        explanation="The server closes the connection after each answer without saying so. wrk "
        "sends its next request on that connection, and counts a read error for it: one for each "
        "answer. The printed error rate of about 50 % is then not the error rate of the server. "
        "Of servers that really lose some share of their requests, 0.5 % print such figures by "
        "chance (200,000 simulated trials, each share equally likely).",
        remedy="Measure the server with ab, or let it answer with Connection: close.",
        find=closes_unannounced,
    ),
    TrialRule(
        id="client-fault",
        severity="error",
        title=f"More than {percent(HIGH_ERROR_RATE)} of the attempts failed on the client",
        explanation="The client host ran out of ports or open files, so a part of the load never "
        "reached the server. These attempts are not errors of the server.",
        remedy="Allow more open files (ulimit -n) or local ports (net.ipv4.ip_local_port_range), "
        "use keep-alive, or lower the load.",
        withholds="all",
        find=client_faults,
    ),
    TrialRule(
        id="client-fault-few",
        severity="info",
        title="Some attempts failed on the client",
        explanation="The client host ran out of ports or open files now and then. These attempts "
        "never reached the server and are not among its errors.",
        remedy="Allow more open files (ulimit -n) or local ports.",
        find=few_client_faults,
    ),
)
