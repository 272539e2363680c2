"""What every load tool module offers: its command for one load point, and its own figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

WAITS_FOR_BODY = "waits for the body that an answer to HEAD never has"
# Times a tool prints with their unit, in seconds.
UNIT_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class LoadPoint:
    """One load: closed (connections, each waiting for its answer) or open (an offered rate).

    Exactly one of `duration_s` and `requests` is given. With `rate_rps` the loop is open and
    `connections` says how many may be open at once.
    """

    url: str
    method: str
    keepalive: bool
    connections: int
    threads: int
    duration_s: float | None = None
    requests: int | None = None
    rate_rps: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    # Whether the server says in its answer that it closes the connection.
    announces_close: bool = True

    @property
    def loop(self) -> str:
        return "closed" if self.rate_rps is None else "open"

    @property
    def tls(self) -> bool:
        return self.url.startswith("https:")

    def header(self, name: str) -> str | None:
        return next((text for key, text in self.headers if key.lower() == name.lower()), None)

    def headers_but(self, name: str) -> tuple[tuple[str, str], ...]:
        return tuple(each for each in self.headers if each[0].lower() != name.lower())

    @property
    def closing_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers, with the one that closes where connections are not kept."""
        return self.headers if self.keepalive else (*self.headers, ("Connection", "close"))


@dataclass(frozen=True)
class Command:
    """How to run a tool once; all file names are relative to the trial's directory.

    `stdout` names the artefact of what the tool prints, `files` those it writes itself.
    `inputs` are written before and removed after; `scratch` is removed after as well.
    `after` are further calls of the same program, each with the artefact it prints.
    """

    argv: tuple[str, ...]
    stdout: str
    files: tuple[str, ...] = ()
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    scratch: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    after: tuple[tuple[tuple[str, ...], str], ...] = ()

    def line(self) -> tuple[str, ...]:
        """The command line that repeats the call."""
        if not self.environ:
            return self.argv
        return ("env", *(f"{name}={value}" for name, value in self.environ.items()), *self.argv)


@dataclass(frozen=True)
class Glance:
    """A tool's own figures: for progress and for rules of a plan, never for a result.

    Results are read by the service from the raw output. Unknown is None.
    """

    throughput_rps: float | None = None
    p99_s: float | None = None
    error_rate: float | None = None


NOTHING_SEEN = Glance()
Outputs = Callable[[str], str]


class Tool:
    """A load tool; each module overrides the properties in which its tool differs."""

    name = ""
    loops: tuple[str, ...] = ("closed",)
    version_args: tuple[str, ...] = ("--version",)
    version_pattern = r"(\d+(?:\.\d+)+)"  # one group
    install_hint = ""
    whole_seconds = False
    durations = True
    counts = True
    methods: tuple[str, ...] | None = None  # None: any
    bodies = True
    closes = True  # a new connection for each request
    tells_p99 = True
    request_for_each_connection = False  # it needs at least one request a connection
    is_threaded = False  # it uses as many threads as it may

    def refusal(self, point: LoadPoint) -> str | None:
        """Why this tool cannot do this load point exactly, or None."""
        reasons = (
            *self._loop_reasons(point),
            *self._request_reasons(point),
            self.special(point),
            self._refuse_few_requests(point),
        )
        return next((f"{self.name} {reason}" for reason in reasons if reason), None)

    def _loop_reasons(self, point: LoadPoint) -> tuple[str | None, ...]:
        duration = point.duration_s
        fraction = duration is not None and (duration != int(duration) or duration < 1)
        return (
            _loop_text(point.loop) if point.loop not in self.loops else None,
            "takes a duration only, not a number of requests"
            if point.requests is not None and not self.counts
            else None,
            "takes a number of requests only, not a duration"
            if duration is not None and not self.durations
            else None,
            f"takes whole seconds, not {duration:g}" if fraction and self.whole_seconds else None,
        )

    def _request_reasons(self, point: LoadPoint) -> tuple[str | None, ...]:
        odd_method = self.methods is not None and point.method not in self.methods
        return (
            f"cannot send {point.method}" if odd_method else None,
            "cannot send a body" if point.body is not None and not self.bodies else None,
            "cannot open a connection for each request"
            if not point.keepalive and not self.closes
            else None,
        )

    def _refuse_few_requests(self, point: LoadPoint) -> str | None:
        requests, connections = point.requests, point.connections
        if not self.request_for_each_connection or requests is None or requests >= connections:
            return None
        return f"needs at least one request a connection: {requests} for {connections}"

    def special(self, point: LoadPoint) -> str | None:
        """Why this tool alone cannot do the point, to follow its name in a sentence."""
        return None

    def threads(self, point: LoadPoint) -> int:
        """Threads the tool will use: never more than the load point allows."""
        return point.threads if self.is_threaded else 1

    def connections(self, point: LoadPoint) -> int | None:
        """Connections open at once, at most; None when the tool puts no bound on them."""
        return point.connections

    def command(self, point: LoadPoint, prefix: str) -> Command:
        """How to make the load; file names begin with `prefix`."""
        raise NotImplementedError

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        """The tool's own figures; `outputs` gives an artefact's text, empty where missing."""
        raise NotImplementedError


def _loop_text(loop: str) -> str:
    if loop == "open":
        return "waits for each answer before it sends again, so it cannot hold an offered rate"
    return "sends at an offered rate only, so it cannot do a closed loop"


def refuse_fraction_rate(point: LoadPoint) -> str | None:
    rate = point.rate_rps
    if rate is None or (rate == int(rate) and rate >= 1):
        return None
    return f"takes whole requests per second, not {rate:g}"


def refuse_uneven_requests(point: LoadPoint) -> str | None:
    if point.requests is None or point.requests % point.connections == 0:
        return None
    return (
        f"gives each connection the same number of requests, and {point.requests} requests do "
        f"not divide by {point.connections} connections"
    )


def dividing_threads(point: LoadPoint) -> int:
    """Most threads that divide the connections, for tools that drop a remainder silently."""
    wanted = min(point.threads, point.connections)
    return max(n for n in range(1, wanted + 1) if point.connections % n == 0)


def length_flags(point: LoadPoint, requests: str, duration: str) -> tuple[str, str]:
    """The length of a trial, by the tool's flag for a number of requests or for a duration."""
    if point.duration_s is None:
        return (requests, str(point.requests))
    return (duration, format_duration(point.duration_s))


def format_duration(duration_s: float) -> str:
    """A duration as Go and Rust tools read it: 3s, 2500ms."""
    return f"{duration_s:.0f}s" if duration_s == int(duration_s) else f"{duration_s * 1000:.0f}ms"


def colon_headers(headers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(word for name, text in headers for word in ("-H", f"{name}: {text}"))


def body_name(prefix: str) -> str:
    return f"{prefix}-body.bin"


def body_input(point: LoadPoint, prefix: str) -> dict[str, bytes]:
    return {} if point.body is None else {body_name(prefix): point.body}


def find_number(text: str, pattern: str) -> float | None:
    """The number in the first group of a multi-line pattern; None when it is not there."""
    match = re.search(pattern, text, re.MULTILINE)
    return None if match is None else float(match.group(1).replace(",", ""))


def sum_numbers(text: str, pattern: str) -> float:
    """The sum of all the numbers of a pattern's first group."""
    return sum(float(amount) for amount in re.findall(pattern, text, re.MULTILINE))


def find_time_s(text: str, pattern: str) -> float | None:
    """A time with its unit, such as 1.20ms: number and unit are the pattern's two groups."""
    match = re.search(pattern, text, re.MULTILINE)
    return None if match is None else float(match.group(1)) * UNIT_S[match.group(2)]


def share_of(part: float | None, whole: float | None) -> float | None:
    if part is None or not whole:
        return None
    return min(part / whole, 1.0)


def read_json(text: str) -> dict[str, Any]:
    """The JSON object in the text, or an empty one, because a glance never fails."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def number_at(value: Any, *keys: str) -> float | None:
    """The number at the end of a path of keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) else None
