"""A plan: what to start, what to ask for, at which load, how often. Read once, never changed."""

from __future__ import annotations

import hashlib
import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.toml_table import Table
from loadsheet_agent.tools import TOOLS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOOL_CHOICES = ("auto", *TOOLS)
ORDERS = ("interleaved", "randomised")
RESTARTS = ("never", "each-trial")
ON_DEATH = ("restart", "stop")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SCALARS = (str, int, float, bool)
PLAN_LIMIT = 200_000  # characters; the plan travels with every run
BODY_LIMIT = 16 * 1024 * 1024
# The load tools write these themselves, each in its own way.
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OWN_HEADERS = ("host", "connection", "content-length", "transfer-encoding")


@dataclass(frozen=True)
class ServerSpec:
    """How to get at one server: started by the plan, or running already."""

    name: str
    url: str
    version: str | None
    version_command: tuple[str, ...] | None
    runtime: str | None
    configuration: Mapping[str, Any]
    environment: Mapping[str, str]
    start: tuple[str, ...] | None
    stop: tuple[str, ...] | None
    ready_path: str
    ready_status: int | None
    ready_timeout_s: float


@dataclass(frozen=True)
class WorkloadSpec:
    name: str
    method: str
    path: str
    keepalive: bool
    payload_bytes: int | None
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


@dataclass(frozen=True)
class LoadSpec:
    """Closed: `connections`. Open: `rates`, with one number of connections as their bound.

    Exactly one of `duration_s` and `requests` is set. `longest_s` bounds a number of requests.
    """

    tool: str
    connections: tuple[int, ...]
    rates: tuple[float, ...]
    duration_s: float | None
    requests: int | None
    threads: int
    longest_s: float


@dataclass(frozen=True)
class AdaptiveSpec:
    """Repeat until the 95 % interval of throughput is within ± `interval`, or `most_repeats`."""

    interval: float
    most_repeats: int


@dataclass(frozen=True)
class MaxRateSpec:
    """The highest offered rate with p99 and error rate within their limits."""

    p99_ms: float
    error_rate: float
    start_rate: float
    most_rate: float
    precision: float
    search_duration_s: float


@dataclass(frozen=True)
class AbortSpec:
    """When to end the plan early; None: never for that reason."""

    error_rate: float | None
    wall_clock_s: float | None
    server_deaths: int | None


@dataclass(frozen=True)
class Plan:
    servers: tuple[ServerSpec, ...]
    workloads: tuple[WorkloadSpec, ...]
    load: LoadSpec
    adaptive: AdaptiveSpec | None
    max_rate: MaxRateSpec | None
    abort: AbortSpec
    repeats: int
    warmup_s: float
    rest_s: float
    order: str
    seed: int | None
    restart: str
    on_server_death: str
    labels: Mapping[str, str]
    text: str
    directory: Path
    secrets: frozenset[str]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_plan(path: Path) -> Plan:
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PlanError(f"{path} cannot be read ({error.strerror}); give a plan file.") from error
    except UnicodeDecodeError as error:
        raise PlanError(f"{path} is not UTF-8 text; a plan is a TOML file.") from error
    return parse_plan(text, name=path.name, directory=path.resolve().parent)


def parse_plan(
    text: str, *, name: str, directory: Path, environ: Mapping[str, str] = os.environ
) -> Plan:
    if len(text) > PLAN_LIMIT:
        raise PlanError(f"{name} has {len(text)} characters; expected at most {PLAN_LIMIT}.")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{name} is not valid TOML: {error}.") from error
    return Reader(Table(data, name), directory, environ).plan(text)


class Reader:
    """Reads the tables of one plan, and remembers which secrets the environment gave."""

    def __init__(self, top: Table, directory: Path, environ: Mapping[str, str]) -> None:
        self._top = top
        self._directory = directory
        self._environ = environ
        self._secrets: set[str] = set()
        self.tables: list[tuple[str, Table]] = [("", top)]

    def plan(self, text: str) -> Plan:
        top = self._top
        plan = Plan(
            servers=self._servers(),
            workloads=self._workloads(),
            load=self._load(),
            adaptive=self._adaptive(),
            max_rate=self._max_rate(),
            abort=self._abort(),
            repeats=top.integer("repeats", 3, least=1),
            warmup_s=top.number("warmup_s", 0.0, least=0),
            rest_s=top.number("rest_s", 0.0, least=0),
            order=top.choice("order", "interleaved", ORDERS),
            seed=top.optional_integer("seed", least=0),
            restart=top.choice("restart", "never", RESTARTS),
            on_server_death=top.choice("on_server_death", "restart", ON_DEATH),
            labels=_labels(top),
            text=text,
            directory=self._directory,
            secrets=frozenset(secret for secret in self._secrets if secret),
        )
        top.done()
        _check_together(top, plan)
        return plan

    def _sub(self, name: str) -> Table | None:
        table = self._top.optional_table(name)
        if table is not None:
            self.tables.append((name, table))
        return table

    def _filled(self, table: Table, key: str, text: str) -> str:
        try:
            return placeholders.fill_environment(text, self._environ, self._secrets)
        except KeyError as error:
            raise table.error(
                f"{key} needs the environment variable {error.args[0]}, which is not set."
            ) from error

    def _filled_texts(self, table: Table, key: str) -> tuple[tuple[str, str], ...]:
        found = table.texts(key).items()
        return tuple((name, self._filled(table, f"{key}.{name}", text)) for name, text in found)

    def _servers(self) -> tuple[ServerSpec, ...]:
        tables = self._top.tables(
            "servers", '[[servers]] with name = "my app" and url = "http://..."'
        )
        servers = tuple(self._server(table) for table in tables)
        _refuse_doubles(self._top, "servers", [server.name for server in servers])
        return servers

    def _server(self, table: Table) -> ServerSpec:
        self.tables.append(("servers", table))
        server = ServerSpec(
            name=table.required_text("name", '"gunicorn sync"'),
            url=table.required_text("url", '"http://127.0.0.1:{port}"'),
            version=table.text("version"),
            version_command=table.words("version_command"),
            runtime=table.text("runtime"),
            configuration=_configuration(table),
            environment=dict(self._filled_texts(table, "environment")),
            start=table.words("start"),
            stop=table.words("stop"),
            ready_path=table.text("ready_path", limit=2000) or "/",
            ready_status=table.optional_integer("ready_status", least=100),
            ready_timeout_s=table.number("ready_timeout_s", 15.0, least=0.1),
        )
        table.done()
        _check_url(table, server)
        _check_server(table, server)
        return server

    def _workloads(self) -> tuple[WorkloadSpec, ...]:
        tables = self._top.tables("workloads", '[[workloads]] with name = "hello" and path = "/"')
        workloads = tuple(self._workload(table) for table in tables)
        _refuse_doubles(self._top, "workloads", [workload.name for workload in workloads])
        return workloads

    def _workload(self, table: Table) -> WorkloadSpec:
        self.tables.append(("workloads", table))
        workload = WorkloadSpec(
            name=table.required_text("name", '"hello"'),
            method=table.choice("method", "GET", METHODS),
            path=self._filled(table, "path", table.text("path", limit=2000) or "/"),
            keepalive=table.flag("keepalive", default=True),
            payload_bytes=table.optional_integer("payload_bytes", least=0),
            headers=self._filled_texts(table, "headers"),
            body=self._body(table),
        )
        table.done()
        _check_workload(table, workload)
        return workload

    def _body(self, table: Table) -> bytes | None:
        text, name = table.long_text("body", PLAN_LIMIT), table.text("body_file", limit=1000)
        if text is not None and name is not None:
            raise table.error("both body and body_file are given; keep one of them.")
        if name is None:
            return None if text is None else self._filled(table, "body", text).encode()
        path = self._directory / name
        try:
            if path.stat().st_size > BODY_LIMIT:
                raise table.error(f"body_file {name} is larger than {BODY_LIMIT} bytes.")
            return path.read_bytes()
        except OSError as error:
            raise table.error(f"body_file {path} cannot be read ({error.strerror}).") from error

    def _load(self) -> LoadSpec:
        table = self._sub("load") or Table({}, f"{self._top.place}: [load]")
        duration_s = table.optional_number("duration_s", above=0)
        load = LoadSpec(
            tool=table.choice("tool", "auto", TOOL_CHOICES),
            connections=table.integers("connections") or (),
            rates=table.numbers("rates") or (),
            duration_s=duration_s,
            requests=table.optional_integer("requests", least=1),
            threads=table.integer("threads", 1, least=1),
            longest_s=table.number("longest_s", 600.0, least=1),
        )
        table.done()
        return _completed_load(table, load, is_search="max_rate" in self._top)

    def _adaptive(self) -> AdaptiveSpec | None:
        table = self._sub("adaptive")
        if table is None:
            return None
        spec = AdaptiveSpec(
            interval=table.optional_number("interval", above=0, most=1) or 0.02,
            most_repeats=table.integer("most_repeats", 20, least=3),
        )
        table.done()
        return spec

    def _max_rate(self) -> MaxRateSpec | None:
        table = self._sub("max_rate")
        if table is None:
            return None
        spec = MaxRateSpec(
            p99_ms=table.required_number("p99_ms", 0, "50"),
            error_rate=table.number("error_rate", 0.0, least=0),
            start_rate=table.optional_number("start_rate", above=0) or 100.0,
            most_rate=table.optional_number("most_rate", above=0) or 1_000_000.0,
            precision=table.optional_number("precision", above=0, most=0.5) or 0.05,
            search_duration_s=table.optional_number("search_duration_s", above=0) or 5.0,
        )
        table.done()
        if spec.start_rate > spec.most_rate:
            raise table.error(
                f"start_rate is {spec.start_rate:g}, above most_rate ({spec.most_rate:g})."
            )
        return spec

    def _abort(self) -> AbortSpec:
        table = self._sub("abort") or Table({}, f"{self._top.place}: [abort]")
        spec = AbortSpec(
            error_rate=table.optional_number("error_rate", above=0, most=1),
            wall_clock_s=table.optional_number("wall_clock_s", above=0),
            server_deaths=table.optional_integer("server_deaths", least=1),
        )
        table.done()
        return spec


def _completed_load(table: Table, load: LoadSpec, *, is_search: bool) -> LoadSpec:
    if load.duration_s is not None and load.requests is not None:
        raise table.error("both duration_s and requests are given; keep one of them.")
    if is_search and (load.rates or load.requests):
        raise table.error("[max_rate] chooses the rates, so leave out rates and requests.")
    if not load.connections and not load.rates and not is_search:
        load = replace(load, connections=(1, 8, 64))
    if (load.rates or is_search) and len(load.connections) != 1:
        raise table.error(
            "an offered rate needs connections = [N], one number: how many connections may be "
            "open at once."
        )
    if load.requests is None and load.duration_s is None:
        return replace(load, duration_s=10.0)
    return load


def _check_together(top: Table, plan: Plan) -> None:
    """What single tables cannot know."""
    if plan.seed is not None and plan.order != "randomised":
        raise top.error('seed is given, but the order is not random; add order = "randomised".')
    if plan.adaptive and plan.max_rate:
        raise top.error("both [adaptive] and [max_rate] are given; a plan does one of them.")
    if plan.adaptive and plan.adaptive.most_repeats < max(plan.repeats, 3):
        raise top.error(
            f"[adaptive] most_repeats is {plan.adaptive.most_repeats}; expected at least repeats "
            f"({plan.repeats}) and 3, for an interval needs three values."
        )


def _check_server(table: Table, server: ServerSpec) -> None:
    if server.version and server.version_command:
        raise table.error("both version and version_command are given; keep one of them.")
    if server.stop and not server.start:
        raise table.error("stop is given but no start; a plan only stops what it started.")
    if server.environment and not server.start:
        raise table.error("environment is given but no start; it is for what the plan starts.")
    if _odd_path(server.ready_path):
        raise table.error(f"ready_path is {server.ready_path!r}; expected such as /health.")


def _check_workload(table: Table, workload: WorkloadSpec) -> None:
    if _odd_path(workload.path):
        raise table.error(
            f'path is {workload.path!r}; expected it to begin with / and have no blanks, as "/a".'
        )
    for name, text in workload.headers:
        odd = any(not 32 <= ord(char) <= 126 for char in text) or not TOKEN.fullmatch(name)
        if odd or text != text.strip():
            raise table.error(
                f"headers.{name} has characters no header has; expected one line of ASCII."
            )
        if name.lower() in OWN_HEADERS:
            raise table.error(
                f"the header {name} is written by the load tool itself; use keepalive for "
                "connections and url for the host."
            )
    names = [name.lower() for name, _ in workload.headers]
    if len(set(names)) != len(names):
        raise table.error("a header is given twice; keep one of them.")
    if workload.body is not None and "content-type" not in names:
        raise table.error(
            "a body needs the header Content-Type, because each load tool would choose another; "
            'add headers = { "Content-Type" = "application/json" }.'
        )


def _odd_path(path: str) -> bool:
    return not path.startswith("/") or any(ord(char) <= 32 or ord(char) > 126 for char in path)


def _check_url(table: Table, server: ServerSpec) -> None:
    port_given = "{port}" in server.url
    if port_given and server.start is None:
        raise table.error(
            "url has {port} but there is no start; the agent only chooses a port for a server "
            "it starts, so write the real port."
        )
    problem = _url_problem(server.url.replace("{port}", "80"))
    if problem:
        raise table.error(
            f'url is {server.url!r}, which {problem}; expected such as "http://127.0.0.1:8000".'
        )


def _url_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not has_host:
        return "is no http or https address"
    if parts.username or parts.password:
        return "carries a password that would be stored with the run"
    if parts.path.strip("/") or parts.query or parts.fragment:
        return "has a path (the path belongs to the workload)"
    return None


def _configuration(table: Table) -> Mapping[str, Any]:
    values = table.mapping("configuration")
    for key, value in values.items():
        if not isinstance(value, SCALARS) or _is_not_finite(value):
            raise table.error(
                f"configuration.{key} is {value!r}; expected text, a number, true or false."
            )
    return values


def _is_not_finite(value: object) -> bool:
    # TOML has nan and inf, JSON has not.
    return isinstance(value, float) and not math.isfinite(value)


def _labels(top: Table) -> Mapping[str, str]:
    labels = top.mapping("labels")
    for key, value in labels.items():
        if not isinstance(value, SCALARS):
            raise top.error(f"labels.{key} is {value!r}; expected text.")
    return {key: value if isinstance(value, str) else str(value) for key, value in labels.items()}


def _refuse_doubles(top: Table, what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise top.error(f"two {what} are named {name!r}; give each its own name.")
