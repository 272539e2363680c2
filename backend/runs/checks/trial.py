"""Rules over one trial. Each answers a sentence with the figures, or None when it is silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import fmean

from backend.runs.checks.facts import Finding, TrialFacts
from backend.stats.thresholds import HIGH_ERROR_RATE, REACHED_SHARE

LITTLE_TOLERANCE = 0.25
RATE_TOLERANCE = 0.02
COARSE_SHARE = 0.1
TAIL_SAMPLES = 10
TAIL_PERCENTILES = ("90", "95", "99")
SHORTEST_S = 1.0
LINUX_LOCAL_PORTS = (32768, 60999)
TIME_WAIT_S = 60.0
# Headers, acknowledgements and frames take the rest of a full link.
NEAR_LINK_SHARE = 0.8
BUSY_CORE_SHARE = 0.8
# A third of a trial is this many seconds at least, and moves by more than this share.
UNSTEADY_SECONDS = 3
UNSTEADY_SHARE = 0.1
# Figures out of a histogram are rounded to 3 significant digits: equal within this share.
HISTOGRAM_STEP = 0.001
CLOCK_TICKS_US = (15_625, 10_000, 1_000)


def check_trial(facts: TrialFacts) -> list[Finding]:
    """Every rule over one trial that fires, in the order of the table."""
    found = [Finding(id_, detail) for id_, rule in _RULES if (detail := rule(facts)) is not None]
    return found + [Finding("tool-disagrees", detail) for detail in facts.disagreements]


def _same_host(facts: TrialFacts) -> str | None:
    return "The load tool and the server ran on the same machine." if facts.same_host else None


def _error_rate(facts: TrialFacts) -> str | None:
    rate = facts.error_rate
    if rate is None or not 0 < rate <= HIGH_ERROR_RATE:
        return None
    return f"{_percent(rate)} of the attempts failed{_classes(facts)}."


def _error_rate_high(facts: TrialFacts) -> str | None:
    rate = facts.error_rate
    if rate is None or rate <= HIGH_ERROR_RATE:
        return None
    return f"{_percent(rate)} of the attempts failed{_classes(facts)}."


def _classes(facts: TrialFacts) -> str:
    named = [f"{name} {count}" for name, count in facts.errors.items() if count]
    return f" ({', '.join(named)})" if named else ""


def _status_not_2xx(facts: TrialFacts) -> str | None:
    if facts.status_counts is None or facts.requests_ok is None:
        return None
    bad = sum(n for status, n in facts.status_counts.items() if status[:1] in "45")
    completed = facts.requests_completed
    if not bad or completed is None or facts.requests_ok <= completed - bad:
        return None
    return (
        f"{bad} answers have a 4xx or 5xx status, but {facts.requests_ok} of {completed} "
        "were counted as successful."
    )


def _percentile_order(facts: TrialFacts) -> str | None:
    slack = facts.latency_resolution_us or 0.0
    for (low_name, low), (high_name, high) in pairwise(_ladder(facts)):
        if low > high * (1 + 2 * HISTOGRAM_STEP) + slack:
            return f"{low_name} ({_us(low)}) is above {high_name} ({_us(high)})."
    mean, least, most = facts.latency_mean_us, facts.latency_min_us, facts.latency_max_us
    if mean is not None and least is not None and mean < least - slack:
        return f"The mean ({_us(mean)}) is below the minimum ({_us(least)})."
    if mean is not None and most is not None and mean > most + slack:
        return f"The mean ({_us(mean)}) is above the maximum ({_us(most)})."
    return None


def _ladder(facts: TrialFacts) -> Iterator[tuple[str, float]]:
    if facts.latency_min_us is not None:
        yield "minimum", facts.latency_min_us
    for name, value in sorted(facts.percentiles_us.items(), key=lambda item: float(item[0])):
        if value is not None:
            yield f"p{name}", value
    if facts.latency_max_us is not None:
        yield "maximum", facts.latency_max_us


def _p99_equals(facts: TrialFacts) -> str | None:
    p99 = facts.percentiles_us.get("99")
    # Below 200 requests, or where the tool prints few digits, equal figures are natural.
    if not p99 or (facts.requests_completed or 0) < 200 or _is_coarse(facts, p99):
        return None
    if facts.latency_mean_us is not None and p99 == facts.latency_mean_us:
        return f"p99 and the mean are both {_us(p99)}."
    if facts.latency_max_us is not None and p99 == facts.latency_max_us:
        return f"p99 and the maximum are both {_us(p99)}."
    return None


def _is_coarse(facts: TrialFacts, figure: float) -> bool:
    return (facts.latency_resolution_us or 0.0) > figure * COARSE_SHARE


def _littles_law(facts: TrialFacts) -> str | None:
    rate, mean, asked = facts.throughput_rps, facts.latency_mean_us, facts.connections
    if facts.loop != "closed" or not rate or mean is None or not asked:
        return None
    # With few requests a connection, its start and end weigh more than the steady state.
    if (facts.requests_completed or 0) < 10 * asked:
        return None
    slack = (facts.latency_resolution_us or 0.0) / 1e6
    least, most = rate * max(mean / 1e6 - slack, 0.0), rate * (mean / 1e6 + slack)
    if most >= asked * (1 - LITTLE_TOLERANCE) and least <= asked * (1 + LITTLE_TOLERANCE):
        return None
    return (
        f"{rate:.0f} requests/s × {_us(mean)} mean latency is {rate * mean / 1e6:.3g} requests in "
        f"flight; {asked} {'connection was' if asked == 1 else 'connections were'} open."
    )


def _throughput_disagrees(facts: TrialFacts) -> str | None:
    ours, theirs = facts.throughput_rps, facts.reported_rps
    if ours is None or not theirs or abs(ours / theirs - 1) <= RATE_TOLERANCE:
        return None
    return (
        f"Completed ÷ elapsed is {ours:.6g} requests/s; the tool printed {theirs:.6g} "
        f"({_percent(ours / theirs - 1, sign=True)})."
    )


def _resolution(facts: TrialFacts) -> str | None:
    median, step = (
        facts.percentiles_us.get("50", facts.latency_mean_us),
        facts.latency_resolution_us,
    )
    if median is None or not step or step <= median * COARSE_SHARE:
        return None
    return f"The tool prints steps of {_us(step)}; the typical latency is {_us(median)}."


def _tail_samples(facts: TrialFacts) -> str | None:
    n = facts.requests_completed
    if n is None:
        return None
    beyond = {
        name: n * (100 - float(name)) / 100
        for name, value in facts.percentiles_us.items()
        if value is not None and name in _tail_names(facts)
    }
    thin = [name for name, count in beyond.items() if round(count, 6) < TAIL_SAMPLES]
    if not thin:
        return None
    first = min(thin, key=float)
    return (
        f"{n} requests: {int(beyond[first])} are slower than p{first}; {TAIL_SAMPLES} are needed."
    )


def _tail_names(facts: TrialFacts) -> tuple[str, ...]:
    # Of a histogram every percentile can be had; of a report those count that the tool chose.
    is_reported = facts.percentiles_origin == "reported"
    return (*TAIL_PERCENTILES, "99.9", "99.99") if is_reported else TAIL_PERCENTILES


def _too_short(facts: TrialFacts) -> str | None:
    if facts.elapsed_s is None or facts.elapsed_s >= SHORTEST_S:
        return None
    return f"The trial lasted {facts.elapsed_s:.3g} s."


def _incomplete(facts: TrialFacts) -> str | None:
    return "The output ends before the report is complete." if facts.incomplete else None


def _exit_code(facts: TrialFacts) -> str | None:
    return f"The exit status is {facts.exit_code}." if facts.exit_code else None


def _unknown_server_version(facts: TrialFacts) -> str | None:
    return None if facts.server_version else "No server version was recorded."


def _session_part(facts: TrialFacts) -> str | None:
    parts = facts.session_parts
    return (
        f"{parts} agents generated load together; this trial is the part of one agent."
        if parts
        else None
    )


def _unknown_host(facts: TrialFacts) -> str | None:
    return None if facts.host_known else "Nothing is recorded of the host of the server."


def _ephemeral_ports(facts: TrialFacts) -> str | None:
    rate = facts.throughput_rps
    if facts.keepalive is not False or rate is None or facts.elapsed_s is None:
        return None
    taken = rate * min(facts.elapsed_s, TIME_WAIT_S)
    first, last = facts.local_ports or LINUX_LOCAL_PORTS
    if taken <= last - first + 1:
        return None
    whose = "the client host has" if facts.local_ports else "Linux offers"
    return f"About {taken:.0f} ports were in use at once; {whose} {last - first + 1}."


def _link_speed(facts: TrialFacts) -> str | None:
    rate, link = facts.transfer_rate_bytes_s, facts.link_bits_s
    # On one host the bytes never reach an interface.
    if rate is None or not link or facts.same_host or rate * 8 < NEAR_LINK_SHARE * link:
        return None
    return (
        f"{rate * 8 / 1e6:.4g} Mbit/s of payload went over a link of {link / 1e6:.4g} Mbit/s "
        f"({_percent(rate * 8 / link)})."
    )


def _load_tool_cpu(facts: TrialFacts) -> str | None:
    if facts.client_cpu_s is None or not facts.elapsed_s:
        return None
    cores = facts.client_cpu_s / facts.elapsed_s
    threads = facts.client_threads or 1
    if cores <= BUSY_CORE_SHARE * threads:
        return None
    return (
        f"The load tool used {cores:.3g} cores of processor time in {threads} "
        f"{'thread' if threads == 1 else 'threads'}."
    )


def _errors_unknown(facts: TrialFacts) -> str | None:
    if facts.error_rate is not None or facts.requests_completed is None:
        return None
    return f"{facts.requests_completed} requests completed; how many succeeded is unknown."


def _unsteady(facts: TrialFacts) -> str | None:
    rates = facts.second_rates_rps
    if len(rates) < 3 * UNSTEADY_SECONDS:
        return None
    third = len(rates) // 3
    before, after = fmean(rates[:third]), fmean(rates[-third:])
    if not before or abs(after / before - 1) <= UNSTEADY_SHARE:
        return None
    return (
        f"{before:.6g} requests/s in the first third, {after:.6g} in the last "
        f"({_percent(after / before - 1, sign=True)})."
    )


def _clock_tick(facts: TrialFacts) -> str | None:
    figures = {value for _, value in _ladder(facts) if value}
    for tick in CLOCK_TICKS_US:
        if (facts.latency_resolution_us or 0.0) >= tick:
            continue
        if len(figures) >= 4 and all(_is_multiple(facts, value, tick) for value in figures):
            return f"All {len(figures)} latency figures are whole multiples of {_us(tick)}."
    return None


def _is_multiple(facts: TrialFacts, value: float, tick: int) -> bool:
    """Far above the tick a histogram's rounding would make everything a multiple: not decided."""
    computed = facts.percentiles_origin == "computed"
    slack = value * HISTOGRAM_STEP if computed else 1e-6 * value
    return tick - slack <= value <= 50 * tick and abs(value - round(value / tick) * tick) <= slack


def _two_populations(facts: TrialFacts) -> str | None:
    median, mean = facts.percentiles_us.get("50"), facts.latency_mean_us
    if not median or mean is None or mean <= 2 * median or _is_coarse(facts, median):
        return None
    return f"The mean is {_us(mean)}, the median {_us(median)}."


def _overload(facts: TrialFacts) -> str | None:
    offered, achieved = facts.offered_rps, facts.throughput_rps
    if not offered or achieved is None or achieved / offered >= REACHED_SHARE:
        return None
    return (
        f"{achieved:.6g} of {offered:.6g} offered requests/s were answered "
        f"({_percent(achieved / offered)})."
    )


def _percent(share: float, *, sign: bool = False) -> str:
    return f"{share * 100:{'+' if sign else ''}.3g} %"


def _us(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.4g} s"
    return f"{value / 1e3:.4g} ms" if value >= 1e3 else f"{value:.4g} µs"


_RULES: tuple[tuple[str, Callable[[TrialFacts], str | None]], ...] = (
    ("same-host", _same_host),
    ("error-rate", _error_rate),
    ("error-rate-high", _error_rate_high),
    ("status-not-2xx", _status_not_2xx),
    ("percentile-order", _percentile_order),
    ("p99-equals-mean-or-max", _p99_equals),
    ("littles-law", _littles_law),
    ("throughput-disagrees", _throughput_disagrees),
    ("resolution", _resolution),
    ("tail-samples", _tail_samples),
    ("too-short", _too_short),
    ("incomplete", _incomplete),
    ("exit-code", _exit_code),
    ("unknown-server-version", _unknown_server_version),
    ("unknown-host", _unknown_host),
    ("session-part", _session_part),
    ("ephemeral-ports", _ephemeral_ports),
    ("link-speed", _link_speed),
    ("load-tool-cpu", _load_tool_cpu),
    ("errors-unknown", _errors_unknown),
    ("unsteady", _unsteady),
    ("clock-tick", _clock_tick),
    ("two-populations", _two_populations),
    ("overload", _overload),
)
