"""Rules over one trial. Each returns a sentence with the figures, or None if it does not fire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import fmean

from backend.runs.checks.check_input import CheckInput, Finding
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


def check_trial(trial: CheckInput) -> list[Finding]:
    """Every rule over one trial that fires, in the order of the table."""
    findings = [Finding(id_, detail) for id_, rule in _RULES if (detail := rule(trial)) is not None]
    return findings + [Finding("tool-disagrees", detail) for detail in trial.disagreements]


def _same_host(trial: CheckInput) -> str | None:
    return "The load tool and the server ran on the same machine." if trial.same_host else None


def _error_rate(trial: CheckInput) -> str | None:
    rate = trial.error_rate
    if rate is None or not 0 < rate <= HIGH_ERROR_RATE:
        return None
    return f"{_percent(rate)} of the attempts failed{_classes(trial)}."


def _error_rate_high(trial: CheckInput) -> str | None:
    rate = trial.error_rate
    if rate is None or rate <= HIGH_ERROR_RATE:
        return None
    return f"{_percent(rate)} of the attempts failed{_classes(trial)}."


def _classes(trial: CheckInput) -> str:
    named = [f"{name} {count}" for name, count in trial.errors.items() if count]
    return f" ({', '.join(named)})" if named else ""


def _status_not_2xx(trial: CheckInput) -> str | None:
    if trial.status_counts is None or trial.requests_ok is None:
        return None
    bad = sum(n for status, n in trial.status_counts.items() if status[:1] in "45")
    completed = trial.requests_completed
    if not bad or completed is None or trial.requests_ok <= completed - bad:
        return None
    return (
        f"{bad} answers have a 4xx or 5xx status, but {trial.requests_ok} of {completed} "
        "were counted as successful."
    )


def _percentile_order(trial: CheckInput) -> str | None:
    slack = trial.latency_resolution_us or 0.0
    for (low_name, low), (high_name, high) in pairwise(_ladder(trial)):
        if low > high * (1 + 2 * HISTOGRAM_STEP) + slack:
            return f"{low_name} ({_us(low)}) is above {high_name} ({_us(high)})."
    mean, least, most = trial.latency_mean_us, trial.latency_min_us, trial.latency_max_us
    if mean is not None and least is not None and mean < least - slack:
        return f"The mean ({_us(mean)}) is below the minimum ({_us(least)})."
    if mean is not None and most is not None and mean > most + slack:
        return f"The mean ({_us(mean)}) is above the maximum ({_us(most)})."
    return None


def _ladder(trial: CheckInput) -> Iterator[tuple[str, float]]:
    if trial.latency_min_us is not None:
        yield "minimum", trial.latency_min_us
    for name, value in sorted(trial.percentiles_us.items(), key=lambda item: float(item[0])):
        if value is not None:
            yield f"p{name}", value
    if trial.latency_max_us is not None:
        yield "maximum", trial.latency_max_us


def _p99_equals(trial: CheckInput) -> str | None:
    p99 = trial.percentiles_us.get("99")
    # Below 200 requests, or where the tool prints few digits, equal figures are natural.
    if not p99 or (trial.requests_completed or 0) < 200 or _is_coarse(trial, p99):
        return None
    if trial.latency_mean_us is not None and p99 == trial.latency_mean_us:
        return f"p99 and the mean are both {_us(p99)}."
    if trial.latency_max_us is not None and p99 == trial.latency_max_us:
        return f"p99 and the maximum are both {_us(p99)}."
    return None


def _is_coarse(trial: CheckInput, figure: float) -> bool:
    return (trial.latency_resolution_us or 0.0) > figure * COARSE_SHARE


def _littles_law(trial: CheckInput) -> str | None:
    rate, mean, asked = trial.throughput_rps, trial.latency_mean_us, trial.connections
    if trial.loop != "closed" or not rate or mean is None or not asked:
        return None
    # With few requests a connection, its start and end weigh more than the steady state.
    if (trial.requests_completed or 0) < 10 * asked:
        return None
    slack = (trial.latency_resolution_us or 0.0) / 1e6
    least, most = rate * max(mean / 1e6 - slack, 0.0), rate * (mean / 1e6 + slack)
    if most >= asked * (1 - LITTLE_TOLERANCE) and least <= asked * (1 + LITTLE_TOLERANCE):
        return None
    return (
        f"{rate:.0f} requests/s × {_us(mean)} mean latency is {rate * mean / 1e6:.3g} requests in "
        f"flight; {asked} {'connection was' if asked == 1 else 'connections were'} open."
    )


def _throughput_disagrees(trial: CheckInput) -> str | None:
    ours, theirs = trial.throughput_rps, trial.reported_rps
    if ours is None or not theirs or abs(ours / theirs - 1) <= RATE_TOLERANCE:
        return None
    return (
        f"Completed ÷ elapsed is {ours:.6g} requests/s; the tool printed {theirs:.6g} "
        f"({_percent(ours / theirs - 1, sign=True)})."
    )


def _resolution(trial: CheckInput) -> str | None:
    median, step = (
        trial.percentiles_us.get("50", trial.latency_mean_us),
        trial.latency_resolution_us,
    )
    if median is None or not step or step <= median * COARSE_SHARE:
        return None
    return f"The tool prints steps of {_us(step)}; the typical latency is {_us(median)}."


def _tail_samples(trial: CheckInput) -> str | None:
    n = trial.requests_completed
    if n is None:
        return None
    beyond = {
        name: n * (100 - float(name)) / 100
        for name, value in trial.percentiles_us.items()
        if value is not None and name in _tail_names(trial)
    }
    thin = [name for name, count in beyond.items() if round(count, 6) < TAIL_SAMPLES]
    if not thin:
        return None
    first = min(thin, key=float)
    return (
        f"{n} requests: {int(beyond[first])} are slower than p{first}; {TAIL_SAMPLES} are needed."
    )


def _tail_names(trial: CheckInput) -> tuple[str, ...]:
    # Of a histogram every percentile can be had; of a report those count that the tool chose.
    is_reported = trial.percentiles_origin == "reported"
    return (*TAIL_PERCENTILES, "99.9", "99.99") if is_reported else TAIL_PERCENTILES


def _too_short(trial: CheckInput) -> str | None:
    if trial.elapsed_s is None or trial.elapsed_s >= SHORTEST_S:
        return None
    return f"The trial lasted {trial.elapsed_s:.3g} s."


def _incomplete(trial: CheckInput) -> str | None:
    return "The output ends before the report is complete." if trial.incomplete else None


def _exit_code(trial: CheckInput) -> str | None:
    return f"The exit status is {trial.exit_code}." if trial.exit_code else None


def _unknown_server_version(trial: CheckInput) -> str | None:
    return None if trial.server_version else "No server version was recorded."


def _session_part(trial: CheckInput) -> str | None:
    parts = trial.session_parts
    return (
        f"{parts} agents generated load together; this trial is the part of one agent."
        if parts
        else None
    )


def _unknown_host(trial: CheckInput) -> str | None:
    return None if trial.host_known else "Nothing is recorded of the host of the server."


def _ephemeral_ports(trial: CheckInput) -> str | None:
    rate = trial.throughput_rps
    if trial.keepalive is not False or rate is None or trial.elapsed_s is None:
        return None
    taken = rate * min(trial.elapsed_s, TIME_WAIT_S)
    first, last = trial.local_ports or LINUX_LOCAL_PORTS
    if taken <= last - first + 1:
        return None
    whose = "the client host has" if trial.local_ports else "Linux offers"
    return f"About {taken:.0f} ports were in use at once; {whose} {last - first + 1}."


def _link_speed(trial: CheckInput) -> str | None:
    rate, link = trial.transfer_rate_bytes_s, trial.link_bits_s
    # On one host the bytes never reach an interface.
    if rate is None or not link or trial.same_host or rate * 8 < NEAR_LINK_SHARE * link:
        return None
    return (
        f"{rate * 8 / 1e6:.4g} Mbit/s of payload went over a link of {link / 1e6:.4g} Mbit/s "
        f"({_percent(rate * 8 / link)})."
    )


def _load_tool_cpu(trial: CheckInput) -> str | None:
    if trial.client_cpu_s is None or not trial.elapsed_s:
        return None
    cores = trial.client_cpu_s / trial.elapsed_s
    threads = trial.client_threads or 1
    if cores <= BUSY_CORE_SHARE * threads:
        return None
    return (
        f"The load tool used {cores:.3g} cores of processor time in {threads} "
        f"{'thread' if threads == 1 else 'threads'}."
    )


def _errors_unknown(trial: CheckInput) -> str | None:
    if trial.error_rate is not None or trial.requests_completed is None:
        return None
    return f"{trial.requests_completed} requests completed; how many succeeded is unknown."


def _unsteady(trial: CheckInput) -> str | None:
    rates = trial.second_rates_rps
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


def _clock_tick(trial: CheckInput) -> str | None:
    figures = {value for _, value in _ladder(trial) if value}
    for tick in CLOCK_TICKS_US:
        if (trial.latency_resolution_us or 0.0) >= tick:
            continue
        if len(figures) >= 4 and all(_is_multiple(trial, value, tick) for value in figures):
            return f"All {len(figures)} latency figures are whole multiples of {_us(tick)}."
    return None


def _is_multiple(trial: CheckInput, value: float, tick: int) -> bool:
    """Far above the tick a histogram's rounding would make everything a multiple: not decided."""
    computed = trial.percentiles_origin == "computed"
    slack = value * HISTOGRAM_STEP if computed else 1e-6 * value
    return tick - slack <= value <= 50 * tick and abs(value - round(value / tick) * tick) <= slack


def _two_populations(trial: CheckInput) -> str | None:
    median, mean = trial.percentiles_us.get("50"), trial.latency_mean_us
    if not median or mean is None or mean <= 2 * median or _is_coarse(trial, median):
        return None
    return f"The mean is {_us(mean)}, the median {_us(median)}."


def _overload(trial: CheckInput) -> str | None:
    offered, achieved = trial.offered_rps, trial.throughput_rps
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


_RULES: tuple[tuple[str, Callable[[CheckInput], str | None]], ...] = (
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
