"""A plan: what to start, what to ask for, at which load, how often. Read once, never changed."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loadsheet_agent.errors import PlanError
from loadsheet_agent.tables import Table
from loadsheet_agent.tools import TOOLS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOOL_CHOICES = ("auto", *TOOLS)
ORDERS = ("interleaved",)
RESTARTS = ("never", "each-trial")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SCALARS = (str, int, float, bool)
PLAN_LIMIT = 200_000  # characters; the plan travels with every run


@dataclass(frozen=True)
class ServerSpec:
    name: str
    url: str
    version: str | None
    version_command: tuple[str, ...] | None
    runtime: str | None
    configuration: Mapping[str, Any]
    start: tuple[str, ...] | None
    ready_timeout_s: float


@dataclass(frozen=True)
class WorkloadSpec:
    name: str
    method: str
    path: str
    keepalive: bool
    payload_bytes: int | None


@dataclass(frozen=True)
class LoadSpec:
    tool: str
    connections: tuple[int, ...]
    duration_s: float
    threads: int


@dataclass(frozen=True)
class Plan:
    servers: tuple[ServerSpec, ...]
    workloads: tuple[WorkloadSpec, ...]
    load: LoadSpec
    repeats: int
    warmup_s: float
    rest_s: float
    order: str
    restart: str
    labels: Mapping[str, str]
    text: str
    directory: Path

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


def parse_plan(text: str, *, name: str, directory: Path) -> Plan:
    if len(text) > PLAN_LIMIT:
        raise PlanError(f"{name} has {len(text)} characters; expected at most {PLAN_LIMIT}.")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{name} is not valid TOML: {error}.") from error
    top = Table(data, name)
    plan = Plan(
        servers=_servers(top),
        workloads=_workloads(top),
        load=_load(top.table("load")),
        repeats=top.integer("repeats", 3, least=1),
        warmup_s=top.number("warmup_s", 0.0, least=0),
        rest_s=top.number("rest_s", 0.0, least=0),
        order=top.choice("order", "interleaved", ORDERS),
        restart=top.choice("restart", "never", RESTARTS),
        labels=_labels(top),
        text=text,
        directory=directory,
    )
    top.done()
    return plan


def _servers(top: Table) -> tuple[ServerSpec, ...]:
    tables = top.tables("servers", '[[servers]] with name = "my app" and url = "http://..."')
    servers = tuple(_server(table) for table in tables)
    _refuse_doubles(top, "servers", [server.name for server in servers])
    return servers


def _server(table: Table) -> ServerSpec:
    server = ServerSpec(
        name=table.required_text("name", '"gunicorn sync"'),
        url=table.required_text("url", '"http://127.0.0.1:{port}"'),
        version=table.text("version"),
        version_command=table.words("version_command"),
        runtime=table.text("runtime"),
        configuration=_configuration(table),
        start=table.words("start"),
        ready_timeout_s=table.number("ready_timeout_s", 15.0, least=0.1),
    )
    table.done()
    _check_url(table, server)
    if server.version and server.version_command:
        raise table.error("both version and version_command are given; keep one of them.")
    return server


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


def _workloads(top: Table) -> tuple[WorkloadSpec, ...]:
    tables = top.tables("workloads", '[[workloads]] with name = "hello" and path = "/"')
    workloads = tuple(_workload(table) for table in tables)
    _refuse_doubles(top, "workloads", [workload.name for workload in workloads])
    return workloads


def _workload(table: Table) -> WorkloadSpec:
    workload = WorkloadSpec(
        name=table.required_text("name", '"hello"'),
        method=table.choice("method", "GET", METHODS),
        path=table.text("path", limit=2000) or "/",
        keepalive=table.flag("keepalive", default=True),
        payload_bytes=table.optional_integer("payload_bytes", least=0),
    )
    table.done()
    bad = any(ord(char) <= 32 or ord(char) > 126 for char in workload.path)
    if not workload.path.startswith("/") or bad:
        raise table.error(
            f'path is {workload.path!r}; expected it to begin with / and have no blanks, as "/a".'
        )
    return workload


def _load(table: Table) -> LoadSpec:
    load = LoadSpec(
        tool=table.choice("tool", "auto", TOOL_CHOICES),
        connections=table.integers("connections", (1, 8, 64)),
        duration_s=table.number("duration_s", 10.0, least=0.1),
        threads=table.integer("threads", 1, least=1),
    )
    table.done()
    return load


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
