"""Every check that exists: what it is called, how bad it is, why it matters, where it comes from.

docs/checks.md is printed from this table (`as_markdown`), so the two cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable
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

# Which figures a check makes unfit for a ranking. "all": every figure but the failed requests.
Withholds = Literal["all", "latency"]
# Groups of metrics that a ranking may be asked for.
MetricGroup = Literal["rate", "latency", "resources"]
_WITHHELD_GROUPS: dict[Withholds, tuple[MetricGroup, ...]] = {
    "all": ("rate", "latency", "resources"),
    "latency": ("latency",),
}

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
    # Set for every error: the figures that must not be ranked.
    withholds: Withholds | None = None


_ROWS = (
    Check(
        "same-host",
        "warning",
        "Client and server on one host",
        "The load tool takes processor time from the server, and there is no network between them. "
        "Figures are lower than on two machines, and servers may rank in another order.",
    ),
    Check(
        "few-trials",
        "warning",
        "Few trials",
        "The load point has fewer trials than the workspace setting (3 by default). One or two "
        "trials do not show the noise, so there is no interval and no verdict. Repeat each load "
        "point at least 3 times. A trial counts if it has throughput, error rate or latency.",
    ),
    Check(
        "error-rate",
        "info",
        "Some requests failed",
        f"At least one attempt failed, and at most {percent(HIGH_ERROR_RATE)} of them. Failed "
        "requests often take less or more time than others, which shifts every other figure.",
    ),
    Check(
        "error-rate-high",
        "error",
        f"More than {percent(HIGH_ERROR_RATE)} of requests failed",
        "A server that refuses work looks fast. The figures of this trial are not ranked.",
        BOARDS + ": a server answering only errors was ranked first",
        withholds="all",
    ),
    Check(
        "status-not-2xx",
        "warning",
        "Failed responses were counted as success",
        "The load tool counted 4xx or 5xx responses as successful requests.",
        BOARDS + ": a server answering only errors was ranked first",
    ),
    Check(
        "percentile-order",
        "error",
        "Percentiles out of order",
        "Minimum ≤ p50 ≤ … ≤ p99.9 ≤ maximum must hold, and the mean lies between minimum and "
        "maximum. Here this is not so: a figure was read, stored or printed under a wrong name.",
        BOARDS + ": p95 stored as p99",
        withholds="latency",
    ),
    Check(
        "p99-equals-mean-or-max",
        "error",
        "p99 equals the mean or the maximum",
        "With hundreds of requests the 99th percentile differs from the mean and the maximum. "
        "If they are equal, one figure was probably copied from the other.",
        BOARDS + ": p99 equal to the mean on every row",
        withholds="latency",
    ),
    Check(
        "littles-law",
        "warning",
        "Connections, throughput and latency do not fit together",
        "In a closed loop without think time, requests in flight = throughput × mean latency, and "
        "each connection has one. The two numbers differ by more than 25 %. The load tool paused "
        "between requests, could not keep its connections busy, or one of the figures is wrong.",
        LITTLE,
    ),
    Check(
        "throughput-disagrees",
        "warning",
        "Throughput differs from what the tool printed",
        "Completed responses ÷ elapsed time differs by more than 2 % from the rate that the tool "
        "printed. Tools count responses, sent requests or failures too, over different times.",
        BOARDS + ": the rate of the last second shown as the rate of the run",
    ),
    Check(
        "tool-disagrees",
        "warning",
        "The output contradicts itself",
        "Two figures in the same output contradict each other, so at least one is wrong.",
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
        "Fewer than 10 requests are slower than a percentile, so it changes a lot from trial to "
        "trial. A p99 needs at least 1 000 requests, a p99.9 at least 10 000.",
        "Binomial interval of a sample quantile",
    ),
    Check(
        "too-short",
        "warning",
        "Measured for less than a second",
        "In a trial this short, connecting and the slow first requests are a large part.",
    ),
    Check(
        "incomplete",
        "error",
        "The load tool was cut off",
        "The output ends early. The figures cover only the part before its end.",
        withholds="all",
    ),
    Check(
        "exit-code",
        "warning",
        "The load tool reported a failure",
        "The load tool ended with an exit status other than 0.",
    ),
    Check(
        "unknown-server-version",
        "warning",
        "Server version unknown",
        "Without the version, nobody can repeat this measurement or assign it to a release.",
    ),
    Check(
        "unknown-host",
        "warning",
        "Host unknown",
        "The processor or the kernel of the client or server host is not recorded, so differences "
        "between machines cannot be separated from differences between servers.",
    ),
    Check(
        "session-part",
        "warning",
        "One of several agents",
        "Several agents generated load together, and this trial is the part of one agent. The "
        "server had more load than the load point says. The page of the session joins the parts.",
    ),
    Check(
        "ephemeral-ports",
        "warning",
        "Local ports may have run out",
        "Without keep-alive, every request uses a local port, which stays in use for about 60 s. "
        "Linux has 28 232 by default. When all are in use, connections fail or wait.",
        "net.ipv4.ip_local_port_range (32768–60999) and TIME_WAIT of Linux, 60 s",
    ),
    Check(
        "link-speed",
        "warning",
        "Near the speed of the network link",
        "The responses used more than 80 % of the slower host's network interface. The link, and "
        "not the server, may have limited the throughput. Use a smaller payload or a faster link.",
        BOARDS + ": servers that all filled the same 10 Gbit/s link",
    ),
    Check(
        "load-tool-cpu",
        "warning",
        "The load tool was busy",
        "The load tool used more than 80 % of the processor time of its threads, so it may have "
        "limited the throughput. Use more threads, a faster host, or a faster load tool.",
        BOARDS + ": limits of the client read as limits of the server",
    ),
    Check(
        "errors-unknown",
        "warning",
        "Number of failed requests unknown",
        "The output does not separate successful from failed requests, so there is no error rate "
        "and no goodput. A server that refuses work looks fast.",
        BOARDS + ": a server answering only errors was ranked first",
    ),
    Check(
        "unsteady",
        "warning",
        "Throughput changed during the trial",
        "The last third of the trial differs from the first third by more than 10 %. The server "
        "was still warming up, it slowed down, or something else used the machine.",
    ),
    Check(
        "clock-tick",
        "warning",
        "Latencies are whole multiples of a clock tick",
        "All figures are multiples of 15.625 ms, 10 ms or 1 ms, although the tool prints smaller "
        "steps. They show a coarse clock, a timer or delayed acknowledgements, not the server.",
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
        "Above that rate, latencies depend on how long the test ran, not on how fast the server "
        "is.",
    ),
    Check(
        "no-warmup",
        "info",
        "No warm-up",
        "There was no warm-up before the counted trials, so connecting, cold caches and "
        "just-in-time compilation are part of the figures.",
    ),
    Check(
        "spread",
        "warning",
        "Trials differ by more than 5 %",
        "(highest − lowest) ÷ median throughput of the trials is above 5 %. Something other than "
        "the server changed between the trials.",
    ),
    Check(
        "drift",
        "warning",
        "Trials get steadily faster or slower",
        "Every trial is faster than the trial before, or every trial is slower, by more than 5 % "
        "in total. The server did not recover between trials, or was not warm yet.",
    ),
    Check(
        "common-ceiling",
        "info",
        "Different servers give the same result",
        f"Three or more servers are within {percent(CEILING_SHARE)} of each other. The load tool, "
        "the network or the client host may have been the limit, and not the servers.",
        BOARDS + ": the first eight places of a board were equal",
    ),
)

CHECKS: dict[str, Check] = {row.id: row for row in _ROWS}


def withheld_metrics(check_ids: Iterable[str]) -> dict[MetricGroup, Check]:
    """The groups of metrics that must not be ranked, each with the first check that forbids it.

    `check_ids`: the checks that fired on a load point and its trials. The groups are those of
    the metrics of a comparison; "errors" is never withheld, because a failed request is a fact
    whatever else is wrong. Ids that this version does not have are ignored.
    """
    withheld: dict[MetricGroup, Check] = {}
    for id_ in check_ids:
        check = CHECKS.get(id_)
        if check is None or check.withholds is None:
            continue
        for group in _WITHHELD_GROUPS[check.withholds]:
            withheld.setdefault(group, check)
    return withheld


def as_markdown() -> str:
    """The text of docs/checks.md."""
    head = (
        "# Checks\n\n"
        "A check is a named rule. It changes no figure. It says what a reader should know before "
        "using a figure.\n\n"
        "* **error**: the figure is wrong or must not be ranked. The check says which figures.\n"
        "* **warning**: the figure is usable, with this caveat.\n"
        "* **info**: background that helps to read the figure.\n\n"
        "This page is generated from `backend/runs/checks/table.py` by "
        "`python -m backend.runs.checks > docs/checks.md`.\n"
    )
    return head + "".join(_section(row) for row in _ROWS)


_WITHHELD_TEXT: dict[Withholds, str] = {
    "all": " · withholds every ranking but that of failed requests",
    "latency": " · withholds the ranking of latencies",
}


def _section(check: Check) -> str:
    withheld = _WITHHELD_TEXT[check.withholds] if check.withholds else ""
    return (
        f'\n<a id="{check.id}"></a>\n'
        f"## {check.title}\n\n"
        f"`{check.id}` · {check.severity}{withheld}\n\n"
        f"{check.explanation}\n\n"
        f"Source: {check.source}.\n"
    )
