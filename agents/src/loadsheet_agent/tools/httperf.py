"""httperf: connections at an offered rate with one request each, or one connection after another.

Text only; twice --verbose adds the distribution of the connections' lifetimes.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from loadsheet_agent.addresses import is_loopback
from loadsheet_agent.tools import base


class Httperf(base.Tool):
    name = "httperf"
    loops = ("open", "closed")
    version_pattern = r"httperf-(\d+(?:\.\d+)+)"
    install_hint = "apt install httperf"
    bodies = False
    tells_p99 = False

    def special(self, point: base.LoadPoint) -> str | None:
        if point.loop == "closed":
            return _closed_reason(point)
        if point.keepalive:
            return (
                "offers connections at a rate, which is a rate of requests only without keepalive"
            )
        planned = _planned_requests(point)
        if planned != int(planned) or planned < 1:
            return f"needs a whole number of requests, not {planned:g} (rate x duration)"
        return None

    def connections(self, point: base.LoadPoint) -> int | None:
        return point.connections if point.loop == "closed" else None

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        parts = urlsplit(point.url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        argv = (
            self.name,
            *_ports(point),
            "--verbose",
            "--verbose",
            f"--server={parts.hostname}",
            f"--port={parts.port or (443 if point.tls else 80)}",
            f"--uri={path}",
            *(("--ssl",) if point.tls else ()),
            *((f"--method={point.method}",) if point.method != "GET" else ()),
            *_headers(point),
            *_load(point),
        )
        return base.Command(argv=argv, stdout=f"{prefix}-stdout.txt")

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.stdout)
        replies = base.find_number(text, r"^Total: .* replies (\d+)")
        elapsed = base.find_number(text, r"test-duration ([\d.]+) s")
        lost = base.find_number(text, r"^Errors: total (\d+)") or 0
        bad = base.sum_numbers(text, r"^Reply status: .* 4xx=(\d+)") + base.sum_numbers(
            text, r"^Reply status: .*5xx=(\d+)"
        )
        return base.Glance(
            throughput_rps=replies / elapsed if replies is not None and elapsed else None,
            error_rate=None if replies is None else base.share_of(bad + lost, replies + lost),
        )


def _ports(point: base.LoadPoint) -> tuple[str, ...]:
    """`--hog` where the server is on another machine: httperf then uses every port of the client.

    On loopback the kernel uses ports in TIME_WAIT again. With `--hog`, httperf looks for free ports
    itself, finds none after 60,000 connections in a minute, and hangs.
    """
    return () if is_loopback(point.url) else ("--hog",)


def _closed_reason(point: base.LoadPoint) -> str | None:
    if point.connections != 1:
        return f"without a rate has one connection at a time, not {point.connections}"
    if point.duration_s is not None:
        return "without a rate takes a number of requests, not a duration"
    return None


def _planned_requests(point: base.LoadPoint) -> float:
    if point.requests is not None:
        return point.requests
    return round((point.rate_rps or 0) * (point.duration_s or 0), 6)


def _headers(point: base.LoadPoint) -> tuple[str, ...]:
    # httperf reads backslash escapes, and needs the end of the line to be one.
    escaped = ((name, text.replace("\\", "\\\\")) for name, text in point.headers)
    return tuple(f"--add-header={name}: {text}\\n" for name, text in escaped)


def _load(point: base.LoadPoint) -> tuple[str, ...]:
    requests = f"{_planned_requests(point):.0f}"
    if point.rate_rps is not None:
        return (f"--rate={point.rate_rps:g}", f"--num-conns={requests}", "--num-calls=1")
    if point.keepalive:
        return ("--num-conns=1", f"--num-calls={requests}")
    return (f"--num-conns={requests}", "--num-calls=1")
