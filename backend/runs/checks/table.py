"""Every check that exists: what it is called, how bad it is, why it matters, where it comes from.

docs/checks.md is printed from this table (`as_markdown`), so the two cannot differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backend.stats.thresholds import (
    CEILING_SHARE,
    HIGH_ERROR_RATE,
    REACHED_SHARE,
    percent,
)

Severity = Literal["info", "warning", "error"]
# The worst first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

LITTLE = "Little, J. D. C. (1961), A Proof for the Queuing Formula L = λW, Operations Research 9(3)"
BOARDS = "Impossible figures found on public benchmark boards"
OUR_RULE = "A rule of Loadsheet; see statistics.md"


@dataclass(frozen=True, slots=True)
class Check:
    id: str
    severity: Severity
    title: str
    explanation: str
    source: str = OUR_RULE


_ROWS = (
    Check(
        "same-host",
        "warning",
        "Client and server on one host",
        "The load tool takes processor time from the server it measures, and no network lies "
        "between them. Absolute figures are lower than on two machines; an order may change.",
    ),
    Check(
        "few-trials",
        "warning",
        "Few trials",
        "Fewer trials than the workspace asks for: 3, where it is not set otherwise. One or two "
        "show nothing about how much a figure moves by itself, so there is no interval and no "
        "verdict. Repeat each load point at least 3 times. A trial counts when it tells "
        "something: a throughput, a share of failures or a latency.",
    ),
    Check(
        "error-rate",
        "info",
        "Some requests failed",
        f"At least one attempt failed, and at most {percent(HIGH_ERROR_RATE)} of them. Failed "
        "requests often end sooner or later than good ones and so shift every other figure.",
    ),
    Check(
        "error-rate-high",
        "error",
        f"More than {percent(HIGH_ERROR_RATE)} of requests failed",
        "A server that refuses work looks fast. The figures of this trial are not ranked.",
        BOARDS + ": a server answering only errors was ranked first",
    ),
    Check(
        "status-not-2xx",
        "warning",
        "Answers that are no success were counted as success",
        "The load tool counted 4xx or 5xx answers among its good requests.",
        BOARDS + ": a server answering only errors was ranked first",
    ),
    Check(
        "percentile-order",
        "error",
        "Percentiles out of order",
        "Minimum ≤ p50 ≤ … ≤ p99.9 ≤ maximum must hold, and the mean lies between minimum and "
        "maximum. Where it does not, a figure has been read, stored or printed under a wrong name.",
        BOARDS + ": p95 stored as p99",
    ),
    Check(
        "p99-equals-mean-or-max",
        "error",
        "p99 equals the mean or the maximum",
        "With hundreds of requests the 99th percentile differs from the mean and the maximum. "
        "Equal figures mean that one was filled in from the other.",
        BOARDS + ": p99 equal to the mean on every row",
    ),
    Check(
        "littles-law",
        "warning",
        "Connections, throughput and latency do not fit together",
        "In a closed loop without think time, requests in flight = throughput × mean latency, and "
        "there is one for each connection. More than 25 % off: the load tool idled between "
        "requests, could not keep its connections busy, or one of the three figures is wrong.",
        LITTLE,
    ),
    Check(
        "throughput-disagrees",
        "warning",
        "Throughput differs from what the tool printed",
        "Completed responses ÷ elapsed time is more than 2 % off the rate the tool printed. Tools "
        "count different things (responses, requests sent, failures too) over different times.",
        BOARDS + ": the rate of the last second shown as the rate of the run",
    ),
    Check(
        "tool-disagrees",
        "warning",
        "The output contradicts itself",
        "Two figures of the same output cannot both be right.",
    ),
    Check(
        "resolution",
        "warning",
        "The tool rounds its latencies",
        "The smallest step of the tool is more than a tenth of the median latency. Differences "
        "below that step are rounding.",
        BOARDS + ": buckets of 1 ms around a median of 87 µs",
    ),
    Check(
        "tail-samples",
        "warning",
        "Too few requests for a percentile",
        "Fewer than 10 requests lie beyond a percentile, so it moves a lot from trial to trial. "
        "A p99 takes at least 1 000 requests, a p99.9 at least 10 000.",
        "Binomial interval of a sample quantile",
    ),
    Check(
        "too-short",
        "warning",
        "Measured for less than a second",
        "Start-up, connecting and the slow first requests are a large part of so short a trial.",
    ),
    Check(
        "incomplete",
        "error",
        "The load tool was cut off",
        "The output ends early. Its figures are about the part before the end only.",
    ),
    Check(
        "exit-code",
        "warning",
        "The load tool reported a failure",
        "It ended with an exit status other than 0.",
    ),
    Check(
        "unknown-server-version",
        "warning",
        "Server version unknown",
        "Nobody can repeat this measurement or tell which release it is about.",
    ),
    Check(
        "unknown-host",
        "warning",
        "Host unknown",
        "The processor or the kernel of the client or server host is not recorded, so differences "
        "between machines cannot be told from differences between servers.",
    ),
    Check(
        "session-part",
        "warning",
        "One of several agents",
        "Several agents attacked together, and this trial is one agent's part: the server had more "
        "load than its load point says. The page of the session puts the parts together.",
    ),
    Check(
        "ephemeral-ports",
        "warning",
        "Local ports may have run out",
        "Without keep-alive every request takes a local port, which stays taken for about 60 s "
        "after it. Linux offers 28 232 by default; past that, connecting fails or waits.",
        "net.ipv4.ip_local_port_range (32768–60999) and TIME_WAIT of Linux, 60 s",
    ),
    Check(
        "link-speed",
        "warning",
        "Near the speed of the network link",
        "The responses filled more than 80 % of the slower host's network interface: the link, "
        "not the server, may have set the throughput. Use a smaller payload or a faster link.",
        BOARDS + ": servers that all filled the same 10 Gbit/s link",
    ),
    Check(
        "load-tool-cpu",
        "warning",
        "The load tool was busy",
        "It used more than 80 % of the processor time its threads can have, so it may have been "
        "the limit. Give it more threads, a faster host, or a lighter tool.",
        BOARDS + ": limits of the client read as limits of the server",
    ),
    Check(
        "errors-unknown",
        "warning",
        "How many requests failed is unknown",
        "The output does not tell successful from failed requests, so there is no error rate and "
        "no goodput. A server that refuses work looks fast.",
        BOARDS + ": a server answering only errors was ranked first",
    ),
    Check(
        "unsteady",
        "warning",
        "Throughput moved during the trial",
        "The last third of the trial differs from the first by more than 10 %: the server was "
        "still warming up, slowed down, or something else took the machine.",
    ),
    Check(
        "clock-tick",
        "warning",
        "Latencies are whole multiples of a clock tick",
        "All figures are multiples of 15.625 ms, 10 ms or 1 ms although the tool claims a finer "
        "step: a coarse clock, a timer or delayed acknowledgements set them, not the server.",
    ),
    Check(
        "two-populations",
        "info",
        "Mean far above the median",
        "The mean is more than twice the median: most requests are fast and a few are very slow. "
        "No single figure describes both.",
    ),
    Check(
        "overload",
        "warning",
        "The offered rate was not reached",
        f"Less than {percent(REACHED_SHARE)} of the offered requests were answered in time. "
        "Latencies at a rate the server does not reach say how long the test ran, not how fast the "
        "server is.",
    ),
    Check(
        "no-warmup",
        "info",
        "No warm-up",
        "No trial was executed and discarded before the counted ones, so connecting, caches and "
        "just-in-time compilation are part of the figures.",
    ),
    Check(
        "spread",
        "warning",
        "Trials differ by more than 5 %",
        "(highest − lowest) ÷ median throughput of the trials is above 5 %. Something other than "
        "the server changed between them.",
    ),
    Check(
        "drift",
        "warning",
        "Trials move in one direction",
        "Every trial is faster, or every trial slower, than the one before, by more than 5 % in "
        "all: the server did not recover between trials, or had not warmed up.",
    ),
    Check(
        "common-ceiling",
        "info",
        "Different servers give the same result",
        f"Three or more servers lie within {percent(CEILING_SHARE)} of one another. A limit they "
        "share (load tool, network, client host) may have been measured in place of the servers.",
        BOARDS + ": the first eight places of a board were equal",
    ),
)

CHECKS: dict[str, Check] = {row.id: row for row in _ROWS}


def as_markdown() -> str:
    """The text of docs/checks.md."""
    head = (
        "# Checks\n\n"
        "A check is a named rule. It changes no figure: it says what a reader should know before "
        "believing one.\n\n"
        "* **error**: the figure is wrong or must not be ranked.\n"
        "* **warning**: the figure stands, with this caveat.\n"
        "* **info**: good to know.\n\n"
        "This page is printed from `backend/runs/checks/table.py` by "
        "`python -m backend.runs.checks > docs/checks.md`.\n"
    )
    return head + "".join(_section(row) for row in _ROWS)


def _section(check: Check) -> str:
    return (
        f'\n<a id="{check.id}"></a>\n'
        f"## {check.title}\n\n"
        f"`{check.id}` · {check.severity}\n\n"
        f"{check.explanation}\n\n"
        f"Source: {check.source}.\n"
    )
