"""A plan as records: what to start, what to request, at which load, how often.

Each key of a plan is declared once, here, as a field: its kind, limits, default and description.
`plan.reading` reads by these declarations, and `plan.schema` makes the schema for editors of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadsheet_agent.plan.intervals import FIRST_REPEATS
from loadsheet_agent.plan.keys import (
    Arguments,
    Choice,
    Flag,
    Integer,
    Integers,
    LongText,
    Number,
    Numbers,
    Scalars,
    Text,
    Texts,
    key,
)
from loadsheet_agent.plan.toml_table import Subtable, Tables
from loadsheet_agent.tools import TOOLS

TOOL_CHOICES = ("auto", *TOOLS)
ORDERS = ("interleaved", "randomised")
RESTARTS = ("never", "each-trial")
ON_DEATH = ("restart", "stop")
# Of a server that a plan has twice, to measure the machine against itself.
SIDES = ("A", "B")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PLAN_LIMIT = 200_000  # characters; the plan travels with every run
PATH_LIMIT = 2000
USUAL_CONNECTIONS = (1, 8, 64)
USUAL_DURATION_S = 10.0


@dataclass(frozen=True)
class ServerSpec:
    """One server: started by the plan, or running already."""

    name: str = key(Text(), "Name of the server.", example='"gunicorn sync"')
    url: str = key(
        Text(pattern="^https?://"),
        "Address of the server, without a path. {port} is a free loopback port.",
        example='"http://127.0.0.1:{port}"',
    )
    verify_tls: bool = key(
        Flag(),
        "Whether the certificate of an https server is verified before its trials. Load tools "
        "never verify it; nor does the agent on loopback.",
        default=True,
    )
    version: str | None = key(Text(), "Version of the server.", default=None)
    version_command: tuple[str, ...] | None = key(
        Arguments(),
        "Command that prints the version. A list of arguments; no shell reads it.",
        default=None,
    )
    runtime: str | None = key(
        Text(),
        "What the server runs on; {version} and {python_version} are filled in.",
        default=None,
    )
    configuration: Mapping[str, Any] = key(
        Scalars(), "Settings that decide the server's speed; part of what is compared.", default={}
    )
    environment: Mapping[str, str] = key(
        Texts(), "Environment variables of the started server.", default={}
    )
    start: tuple[str, ...] | None = key(
        Arguments(),
        "Command that starts the server; leave it out for a server that already runs. "
        "A list of arguments; no shell reads it.",
        default=None,
    )
    stop: tuple[str, ...] | None = key(
        Arguments(),
        "Command that stops the server before SIGTERM is sent; for a start that leaves a daemon. "
        "A list of arguments; no shell reads it.",
        default=None,
    )
    ready_path: str = key(
        Text(limit=PATH_LIMIT, pattern="^/"),
        "Path that is requested until the server answers.",
        default="/",
    )
    ready_status: int | None = key(
        Integer(least=100), "Status of a ready server; without it any status will do.", default=None
    )
    ready_timeout_s: float = key(
        Number(least=0.1), "Seconds to wait until the server is ready.", default=15.0
    )
    # A or B, where the plan has this server twice; never part of what the server is.
    side: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        """Tells the servers of a plan apart."""
        return (self.name, self.side)

    @property
    def label(self) -> str:
        """How messages call this server."""
        return self.name if self.side is None else f"{self.name} (side {self.side})"


@dataclass(frozen=True)
class WorkloadSpec:
    """One kind of request."""

    name: str = key(Text(), "Name of the workload.", example='"hello"')
    method: str = key(Choice(METHODS), "Method of the request.", default="GET")
    path: str = key(
        Text(limit=PATH_LIMIT, pattern="^/"),
        "Path and query of the request; {env:NAME} is filled in.",
        default="/",
    )
    keepalive: bool = key(
        Flag(), "Whether connections are kept open between requests.", default=True
    )
    payload_bytes: int | None = key(
        Integer(least=0),
        "Expected size of the answer's body; a trial is refused when it differs.",
        default=None,
    )
    headers: Mapping[str, str] = key(
        Texts(),
        "Headers of each request; {env:NAME} is filled in and kept out of what is stored.",
        default={},
    )
    body: str | None = key(
        LongText(PLAN_LIMIT), "Body of each request; needs a Content-Type header.", default=None
    )
    body_file: str | None = key(
        Text(limit=1000), "File with the body, relative to the plan.", default=None
    )
    # The bytes of body or body_file; None: requests have no body.
    content: bytes | None = None


@dataclass(frozen=True)
class LoadSpec:
    """Closed loop: `connections`. Open loop: `rates`, and one number of connections as their limit.

    Exactly one of `duration_s` and `requests` is set. `longest_s` bounds a number of requests.
    """

    tool: str = key(
        Choice(TOOL_CHOICES),
        "Load tool; auto takes the first installed tool that can do the plan.",
        default="auto",
    )
    connections: tuple[int, ...] = key(
        Integers(),
        "Closed loop: numbers of connections, one load point each. With an offered rate: one "
        "number, the most connections open at once.",
        default=(),
        usual=list(USUAL_CONNECTIONS),
    )
    rates: tuple[float, ...] = key(
        Numbers(), "Open loop: offered requests per second, one load point each.", default=()
    )
    duration_s: float | None = key(
        Number(above=0), "Seconds a trial takes.", default=None, usual=USUAL_DURATION_S
    )
    requests: int | None = key(
        Integer(least=1), "Requests of a trial, instead of a duration.", default=None
    )
    threads: int = key(Integer(least=1), "Most threads of the load tool.", default=1)
    longest_s: float = key(
        Number(least=1), "Most seconds a trial with a number of requests may take.", default=600.0
    )


@dataclass(frozen=True)
class AdaptiveSpec:
    """As many repeats as a 95 % interval of throughput within ± `interval` needs.

    The first repeats fix the number once: at least 7, and at most `most_repeats`.
    """

    interval: float = key(
        Number(above=0, most=1),
        "Half width of the 95 % interval of throughput, as a share of it. The first repeats (7, "
        "or repeats if that is more) decide how many it needs.",
        default=0.02,
    )
    most_repeats: int = key(
        Integer(least=FIRST_REPEATS), "Most repeats of each load point.", default=20
    )


@dataclass(frozen=True)
class MaxRateSpec:
    """The highest offered rate with p99 and error rate within their limits."""

    p99_ms: float = key(
        Number(above=0), "Highest allowed 99th percentile of latency, in ms.", example="50"
    )
    error_rate: float = key(
        Number(least=0), "Highest allowed share of failed requests.", default=0.0
    )
    start_rate: float = key(
        Number(above=0), "First rate of the search, in requests per second.", default=100.0
    )
    most_rate: float = key(
        Number(above=0), "Highest rate of the search, in requests per second.", default=1_000_000.0
    )
    precision: float = key(
        Number(above=0, most=0.5),
        "The search ends when the rate is known to within this share.",
        default=0.05,
    )
    search_duration_s: float = key(
        Number(above=0), "Seconds a trial of the search takes.", default=5.0
    )


@dataclass(frozen=True)
class AbortSpec:
    """When to end the plan early; None: never for that reason."""

    error_rate: float | None = key(
        Number(above=0, most=1),
        "End after a trial with a greater share of failed requests.",
        default=None,
    )
    wall_clock_s: float | None = key(
        Number(above=0), "Begin no trial after this many seconds.", default=None
    )
    server_deaths: int | None = key(
        Integer(least=1), "End when one server has died this many times.", default=None
    )


@dataclass(frozen=True)
class Plan:
    """What `loadsheet run` measures: servers, workloads, load, and the rules between them."""

    servers: tuple[ServerSpec, ...] = key(
        Tables(
            ServerSpec,
            example='[[servers]] with name = "my app" and url = "http://..."',
            exclusive=(("version", "version_command"),),
            copies=len(SIDES),
        ),
        "Servers to measure. The same server twice measures the machine against itself.",
    )
    workloads: tuple[WorkloadSpec, ...] = key(
        Tables(
            WorkloadSpec,
            example='[[workloads]] with name = "hello" and path = "/"',
            exclusive=(("body", "body_file"),),
        ),
        "Requests to send.",
    )
    load: LoadSpec = key(
        Subtable(LoadSpec, exclusive=(("duration_s", "requests"),)),
        "Load to make.",
        default=LoadSpec(),
    )
    adaptive: AdaptiveSpec | None = key(
        Subtable(AdaptiveSpec), "Repeat noisy load points more often.", default=None
    )
    max_rate: MaxRateSpec | None = key(
        Subtable(MaxRateSpec),
        "Search the highest offered rate within these limits, then confirm it.",
        default=None,
    )
    abort: AbortSpec = key(
        Subtable(AbortSpec),
        "When to end early; finished trials are kept and uploaded.",
        default=AbortSpec(),
    )
    repeats: int = key(
        Integer(least=1),
        "Trials of each server at each load point; fewer than 3 give no verdict.",
        default=3,
    )
    warmup_s: float = key(
        Number(least=0),
        "Seconds of warm-up before a server's first trial at each load point; not a result.",
        default=0.0,
    )
    rest_s: float = key(Number(least=0), "Seconds between trials.", default=0.0)
    order: str = key(
        Choice(ORDERS),
        "Each repeat goes over all load points before the next repeat begins; randomised shuffles "
        "them within a repeat. The servers of a load point take turns, in an order that is drawn "
        "for one repeat and reversed for the next.",
        default="interleaved",
    )
    seed: int | None = key(
        Integer(least=0),
        "Seed of the order; drawn and recorded when it is left out.",
        default=None,
    )
    restart: str = key(
        Choice(RESTARTS), "Whether a server is started again for each trial.", default="never"
    )
    on_server_death: str = key(
        Choice(ON_DEATH), "What to do when a server dies during a trial.", default="restart"
    )
    labels: Mapping[str, str] = key(
        Scalars(is_text=True), "Notes on the run; never part of what is compared.", default={}
    )
    # The plan as it was written, the directory it is in, and the values {env:NAME} stood for.
    text: str = ""
    directory: Path = Path()
    secrets: frozenset[str] = frozenset()

    @property
    def sha256(self) -> str:
        """SHA-256 of the plan as it was written."""
        return hashlib.sha256(self.text.encode()).hexdigest()
