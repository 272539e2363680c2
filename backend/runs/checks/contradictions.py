"""Rules that compare the output of a trial with what the envelope says of the trial."""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from backend.runs.checks.check import TrialRule
from backend.runs.checks.check_input import CheckInput
from backend.runs.checks.conditions import find_request_limit
from backend.runs.checks.response_sizes import may_have_body
from backend.stats.thresholds import HIGH_ERROR_RATE

# Rates that differ by less are one figure, rounded.
TOLERANCE = 0.1
# Docker's default network `bridge`, and the names under which containers reach their host.
DOCKER_BRIDGE = ip_network("172.17.0.0/16")
GATEWAYS = ("host.docker.internal", "gateway.docker.internal", "host.containers.internal")
# A tool that ends by time ends this little before it, and may start late or wait for the last
# responses.
EARLY_SHARE, LATE_SHARE, LEAST_S = 0.1, 0.2, 1.0


def claims_of_url(url: str | None) -> dict[str, Any]:
    """What a URL says: its path and whether it is TLS. Empty if it is none."""
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https"):
        return {}
    query = f"?{parts.query}" if parts.query else ""
    return {"tls": parts.scheme == "https", "path": f"{parts.path or '/'}{query}"}


def one_host(trial: CheckInput) -> str | None:
    """Signs that client and server are one machine, where the envelope does not say so."""
    if trial.same_host:
        return None
    parts = _split(trial.evidence.url)
    name = "" if parts is None else parts.hostname or ""
    if is_loopback(name):
        return f"The load tool called {name}, which is the host that it runs on."
    if _is_bridge(name):
        return f"The load tool called {name}, which is a container of the host that it runs on."
    client, server = trial.evidence.host_names
    if client is not None and client == server:
        return f"Client and server host are both named {client}."
    return None


def is_loopback(host: str) -> bool:
    """Whether a host of a URL is the machine that the client runs on."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_bridge(host: str) -> bool:
    """Whether a host of a URL is on the network that Docker makes on one host, or its gateway."""
    if host in GATEWAYS:
        return True
    try:
        return ip_address(host) in DOCKER_BRIDGE
    except ValueError:
        return False


def _split(url: str | None) -> Any:
    try:
        return None if not url else urlsplit(url)
    except ValueError:
        return None


def _contradictions(trial: CheckInput) -> Iterator[str]:
    """What makes the trial another measurement than its name says."""
    asked, printed = trial.evidence.asked, trial.evidence.printed
    if _differ(asked.connections, printed.connections):
        yield _both("connections", asked.connections, printed.connections)
    if _are_apart(asked.rate_rps, printed.rate_rps):
        yield _both("requests/s", f"{asked.rate_rps:g}", f"{printed.rate_rps:g}")
    if _differ(asked.keepalive, printed.keepalive):
        yield _both("keep-alive", _word(asked.keepalive), _word(printed.keepalive))
    if _differ(asked.tls, printed.tls):
        yield _both("TLS", _word(asked.tls), _word(printed.tls))
    if _differ(asked.method, printed.method):
        yield _both("method", asked.method, printed.method)
    if (size := _other_size(trial)) is not None:
        yield (
            f"The output has {size:,.0f} bytes per response; "
            f"the envelope says a payload of {asked.payload_bytes:,} bytes."
        )


def _departures(trial: CheckInput) -> Iterator[str]:
    """What changes the conditions of the trial, not what was measured."""
    asked, printed = trial.evidence.asked, trial.evidence.printed
    if _differ(asked.threads, printed.threads):
        yield _both("threads", asked.threads, printed.threads)
    if _differ(asked.path, printed.path) and (asked.path or "").split("?")[0] != printed.path:
        yield _both("path", asked.path, printed.path)
    asked_s, printed_s = asked.duration_s, printed.duration_s
    if None not in (asked_s, printed_s) and abs((printed_s or 0.0) - (asked_s or 0.0)) > LEAST_S:
        yield _both("seconds", f"{asked_s:g}", f"{printed_s:.3g}")


def _find_other_duration(trial: CheckInput) -> str | None:
    """The time that the tool measured, where it is not the time that it was asked to run for."""
    printed_s = trial.evidence.printed.duration_s
    asked_s = trial.evidence.asked.duration_s if printed_s is None else printed_s
    lasted_s = trial.elapsed_s
    if asked_s is None or lasted_s is None or find_request_limit(trial):
        return None
    is_early = asked_s - lasted_s > max(EARLY_SHARE * asked_s, LEAST_S)
    if not is_early and not _is_late(trial, lasted_s - asked_s, asked_s):
        return None
    return f"The load tool ran for {lasted_s:.3g} of {asked_s:g} s."


def _is_late(trial: CheckInput, late_s: float, asked_s: float) -> bool:
    """Whether a closed loop ran on for longer than it waits for its last responses."""
    if trial.loop != "closed" or trial.latency_max_us is None or trial.errors.get("timeout"):
        return False
    return late_s - trial.latency_max_us / 1e6 > max(LATE_SHARE * asked_s, LEAST_S)


def _other_size(trial: CheckInput) -> float | None:
    """The bytes per response, where a response of the asked size cannot have them."""
    asked, response = trial.evidence.asked, trial.evidence.response
    payload, completed = asked.payload_bytes, trial.requests_completed
    if payload is None or response is None or not completed or asked.method == "HEAD":
        return None
    # With many failures, error pages change the bytes per response.
    if trial.incomplete or (trial.error_rate or 0.0) > HIGH_ERROR_RATE:
        return None
    # At the end each connection may have read a part of a response that is not counted.
    fits = may_have_body(response, payload, (trial.connections or 0) / completed)
    return None if fits else response.size


def _differ(asked: object, printed: object) -> bool:
    return asked is not None and printed is not None and asked != printed


def _are_apart(asked: float | None, printed: float | None) -> bool:
    if not asked or printed is None:
        return False
    return abs(printed / asked - 1) > TOLERANCE


def _both(name: str, asked: object, printed: object) -> str:
    return f"{name[0].upper()}{name[1:]}: the output says {printed}, the envelope {asked}."


def _word(value: bool | None) -> str:
    return "yes" if value else "no"


CONTRADICTION_RULES = (
    TrialRule(
        id="contradicts-envelope",
        severity="error",
        title="The output contradicts what was declared",
        explanation="Connections, rate, keep-alive, TLS, method or the size of responses in the "
        "output differ from what the envelope declares. The trial measured something else than its "
        "name says.",
        remedy="Correct the envelope, or repeat the trial with the declared values.",
        withholds="all",
        find=lambda trial: " ".join(_contradictions(trial)) or None,
    ),
    TrialRule(
        id="not-as-asked",
        severity="warning",
        title="Not measured as declared",
        explanation="Threads, path or duration in the output differ from what the envelope "
        "declares. The figures are those of the output.",
        remedy="Correct the envelope, or repeat the trial with the declared values.",
        find=lambda trial: " ".join(_departures(trial)) or None,
    ),
    TrialRule(
        id="other-duration",
        severity="warning",
        title="The load tool did not run for the time asked",
        explanation="The trial was more than a tenth and 1 s shorter than the time asked, or more "
        "than a fifth and 1 s longer, not counting its slowest response. The load tool was "
        "interrupted, or a clock was set during the trial. A set clock makes every rate wrong.",
        remedy="Measure again, and do not stop the load tool or set the clock meanwhile.",
        is_no_basis=True,
        find=_find_other_duration,
    ),
    TrialRule(
        id="one-host",
        severity="warning",
        title="Client and server look like one host",
        explanation="The load tool called its own host (localhost, 127.0.0.1 or ::1) or a "
        "container on it (172.17.0.0/16, Docker's bridge), or both hosts have one name, and the "
        "envelope does not say that they are one machine. If they are, the load tool takes "
        "processor time from the server.",
        remedy="Say in the upload that they are one machine (same_host in an envelope), or "
        "give the hosts different names.",
        find=one_host,
    ),
)
