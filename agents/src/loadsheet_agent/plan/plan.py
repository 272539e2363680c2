"""A plan as records: what to start, what to request, at which load, how often.

Each key of a plan is declared once, here, as a field: its kind, limits, default and description.
`plan.reading` reads by these declarations, and `plan.schema` makes the schema for editors of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadsheet_agent.plan.intervals import FIRST_REPEATS, LEAST_TRIALS
from loadsheet_agent.plan.keys import (
    AnyTable,
    Choice,
    Integer,
    Integers,
    Names,
    Number,
    Numbers,
    Scalars,
    Text,
    Texts,
    key,
)
from loadsheet_agent.plan.server_spec import ServerSpec, ServiceSpec
from loadsheet_agent.plan.toml_table import Subtable, Tables
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.tools import TOOLS

TOOL_CHOICES = ("auto", *TOOLS)
ORDERS = ("interleaved", "randomised")
RESTARTS = ("auto", "never", "each-repeat", "each-trial")
ON_DEATH = ("restart", "stop")
ALIVE = ("auto", "one", "all")
FORMS = ("full", "short")
# Fewer warm-ups do not show that throughput is stable.
LEAST_WARMUPS = 3
# With more servers than a pair, idle servers take noticeable time from the measured server.
MOST_ALIVE = 2
# Of a server that a plan has twice, to measure the machine against itself.
SIDES = ("A", "B")
USUAL_CONNECTIONS = (1, 8, 64)
USUAL_DURATION_S = 10.0


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
class SteadySpec:
    """Warm-ups are repeated until the throughput of the last three agrees."""

    within: float = key(
        Number(above=0, most=1),
        "The last three warm-ups agree when they differ by at most this share.",
        default=0.05,
    )
    most: int = key(Integer(least=LEAST_WARMUPS), "Most warm-ups before a trial.", default=10)


@dataclass(frozen=True)
class Plan:
    """What `loadsheet run` measures: servers, workloads, load, and the rules between them.

    `include` to `short` are composed into the other keys before these are read.
    """

    servers: tuple[ServerSpec, ...] = key(
        Tables(
            ServerSpec,
            example='[[servers]] with name = "my app" and url = "http://..."',
            exclusive=(("version", "version_command"),),
            copies=len(SIDES),
            instead="use",
        ),
        "Servers to measure. The same server twice measures the machine against itself.",
        default=(),
        is_required=True,
    )
    include: tuple[str, ...] = key(
        Names(), "Files whose keys are added to the plan's, relative to it.", default=()
    )
    shelf: str | None = key(
        Text(limit=1000),
        "Folder of the shelf, relative to the plan; else LOADSHEET_SHELF, else the agent's.",
        default=None,
    )
    use: tuple[str, ...] = key(
        Names(), 'Servers of the shelf, such as ["tornado@0.2,current", "nginx"].', default=()
    )
    variables: Mapping[str, str] = key(
        Texts(), "Texts by name; {NAME} stands for them in every text of the plan.", default={}
    )
    server_defaults: Mapping[str, Any] = key(
        AnyTable(), "Keys of every server that does not have them.", default={}
    )
    workload_defaults: Mapping[str, Any] = key(
        AnyTable(), "Keys of every workload that does not have them.", default={}
    )
    form: str = key(
        Choice(FORMS), "short: with the keys of [short]; `run --short` sets it.", default="full"
    )
    short: Mapping[str, Any] = key(
        AnyTable(), "Keys that replace the plan's in its short form.", default={}
    )
    services: tuple[ServiceSpec, ...] = key(
        Tables(ServiceSpec, example='[[services]] with name = "db" and start = ["postgres"]'),
        "Programs beside the servers, such as a database.",
        default=(),
    )
    workloads: tuple[WorkloadSpec, ...] = key(
        Tables(
            WorkloadSpec,
            example='[[workloads]] with name = "hello" and path = "/"',
            exclusive=(("body", "body_file"),),
        ),
        "Requests to send.",
        default=(),
        is_required=True,
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
        f"Trials of each server at each load point; fewer than {LEAST_TRIALS} give no verdict.",
        default=LEAST_TRIALS,
    )
    warmup_s: float = key(
        Number(least=0),
        "Seconds of warm-up before a server's first trial at each load point; not a result.",
        default=0.0,
    )
    steady: SteadySpec | None = key(
        Subtable(SteadySpec),
        "Repeat warm-ups of warmup_s until throughput is stable.",
        default=None,
    )
    rest_s: float = key(Number(least=0), "Seconds between trials.", default=0.0)
    rest_time_wait: int | None = key(
        Integer(least=1),
        "Rest longer, until at most so many sockets are in TIME_WAIT; at most 65 s.",
        default=None,
    )
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
        Choice(RESTARTS),
        "When a server is started again: before each repeat, before each trial, or never. auto: "
        "before each repeat, where that makes the run at most 10 % longer.",
        default="auto",
    )
    on_server_death: str = key(
        Choice(ON_DEATH), "What to do when a server dies during a trial.", default="restart"
    )
    alive: str = key(
        Choice(ALIVE),
        "How many servers run at a time. auto: one where the plan starts more than two servers, "
        "because idle servers disturb the measured server.",
        default="auto",
    )
    skip_after: int | None = key(
        Integer(least=1),
        "Skip a server after so many failed trials in a row; the others go on.",
        default=None,
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

    @property
    def is_one_alive(self) -> bool:
        """Whether a server is stopped before another server is measured."""
        started = sum(server.start is not None for server in self.servers)
        return self.alive == "one" or (self.alive == "auto" and started > MOST_ALIVE)

    @property
    def least_warmups(self) -> int:
        """How many warm-ups precede a trial at least."""
        return 1 if self.steady is None else LEAST_WARMUPS

    def is_warm(self, rates: Sequence[float | None]) -> bool:
        """Whether warm-ups with these throughputs are enough; an unknown one agrees with none."""
        if self.steady is None or len(rates) >= self.steady.most:
            return bool(rates)
        last = [rate for rate in rates[-LEAST_WARMUPS:] if rate is not None]
        if len(last) < LEAST_WARMUPS or not max(last):
            return False
        return (max(last) - min(last)) / max(last) <= self.steady.within

    def longest_s(self, server: ServerSpec) -> float:
        """Most seconds that a trial of the server with a number of requests may take."""
        return server.load.longest_s or self.load.longest_s
