"""What results may differ in beside the server, and what each difference means: one table.

Adding a factor is adding a line to FACTORS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from backend.analysis.query.fields import RUN_PARTS
from backend.analysis.query.records import LoadedCell, LoadedHost

Rule = Literal["test", "must", "axis", "note"]


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that may differ: how it is read, and what a difference means.

    test: what a comparison is about · must: never comparable · axis: comparable when it is the
    only difference · note: a caveat.
    `part`: the part of the identity it is of. `short`: its word where it is the only difference.
    """

    id: str
    word: str
    rule: Rule
    part: str
    short: str
    read: Callable[[LoadedCell], object]


def _server_host(name: str) -> Callable[[LoadedCell], object]:
    return lambda cell: _of_host(cell.series.server_host, name)


def _client_host(name: str) -> Callable[[LoadedCell], object]:
    return lambda cell: _of_host(cell.series.client_host, name)


def _of_host(host: LoadedHost | None, name: str) -> object:
    return None if host is None else getattr(host, name)


def _headers(cell: LoadedCell) -> object:
    return tuple(sorted((name, str(value)) for name, value in cell.workload.headers.items()))


def _offered(cell: LoadedCell) -> object:
    """A closed loop offers no rate, which is known and not unknown."""
    if cell.rate_rps is None and cell.series.loop == "closed":
        return "none"
    return cell.rate_rps


def _host_factor(
    id_: str, name: str, word: str, short: str, rule: Rule, *, client: bool = False
) -> Factor:
    whose = "client" if client else "server"
    read = _client_host(name) if client else _server_host(name)
    return Factor(id_, f"{word} of the {whose} host", rule, f"{whose}_host", short, read)


FACTORS = (
    Factor("workload", "workload", "must", "workload", "workload", lambda c: c.workload.name),
    Factor("method", "request method", "must", "request", "method", lambda c: c.workload.method),
    Factor("path", "request path", "must", "workload", "path", lambda c: c.workload.path),
    Factor(
        "payload",
        "payload size",
        "must",
        "payload",
        "payload size",
        lambda c: c.workload.payload_bytes,
    ),
    Factor(
        "keepalive", "keep-alive", "must", "request", "keep-alive", lambda c: c.workload.keepalive
    ),
    Factor("tls", "TLS", "must", "request", "TLS", lambda c: c.workload.tls),
    Factor("headers", "request headers", "must", "request", "headers", _headers),
    Factor("body", "request body", "must", "request", "body", lambda c: c.workload.body_sha256),
    Factor("loop", "loop", "must", "loop", "loop", lambda c: c.series.loop),
    Factor(
        "connections",
        "number of connections",
        "must",
        "connections",
        "number of connections",
        lambda c: c.connections,
    ),
    Factor("rate", "offered rate", "must", "rate", "offered rate", _offered),
    Factor("tool", "load tool", "axis", "tool", "load tool", lambda c: c.series.tool),
    _host_factor("cpu", "cpu_model", "processor", "processor", "axis"),
    _host_factor("cores", "cores", "cores", "number of cores", "axis"),
    Factor(
        "virtualisation",
        "virtualisation",
        "axis",
        "server_host",
        "virtualisation",
        _server_host("virtualisation"),
    ),
    _host_factor("client_cpu", "cpu_model", "processor", "client processor", "axis", client=True),
    _host_factor("client_cores", "cores", "cores", "client cores", "axis", client=True),
    Factor(
        "same_host",
        "client on the server host",
        "axis",
        "client_host",
        "placement of the client",
        lambda c: c.run.same_host,
    ),
    Factor(
        "tool_version",
        "load tool version",
        "note",
        "tool_version",
        "load tool version",
        lambda c: c.series.tool_version,
    ),
    _host_factor("kernel", "kernel", "kernel", "kernel", "note"),
    Factor("os", "operating system", "note", "server_host", "operating system", _server_host("os")),
    _host_factor("memory", "memory_bytes", "memory", "memory", "note"),
    Factor("host", "server host", "note", "server_host", "server host", _server_host("name")),
    _host_factor("client_kernel", "kernel", "kernel", "client kernel", "note", client=True),
    Factor(
        "client_host", "client host", "note", "client_host", "client host", _client_host("name")
    ),
)
# What a workspace may choose to demand or to let pass.
HOST_FACTORS = tuple(
    factor.id for factor in FACTORS if factor.part in ("server_host", "client_host")
)
DEFAULT_MUST_MATCH = tuple(
    factor.id for factor in FACTORS if factor.id in HOST_FACTORS and factor.rule == "axis"
)
# Several of these differ together when one machine is exchanged for another: one dimension.
MACHINE = frozenset(HOST_FACTORS) - {"same_host"}
# What is under test, the coarsest first: a server of another name has its own versions.
TESTED = (
    Factor("server", "server", "test", "name", "server", lambda c: c.server.name),
    Factor("version", "version", "test", "version", "version", lambda c: c.server.version),
    Factor("runtime", "runtime", "test", "runtime", "runtime", lambda c: c.server.runtime),
    Factor(
        "configuration",
        "configuration",
        "test",
        "configuration",
        "configuration",
        lambda c: " ".join(c.server.settings) or "none",
    ),
    # Of the runs; only where they make the series.
    Factor("label", "label", "test", "label", "label", RUN_PARTS["label"]),
    Factor("date", "date", "test", "date", "date", RUN_PARTS["date"]),
)
# What a reader chooses one of, where a factor must not differ.
REMEDIES = {
    "connections": "load",
    "rate": "load",
    "workload": "workload",
    "tool": "tool",
    **{factor.id: factor.short for factor in TESTED},
    **dict.fromkeys(MACHINE, "host"),
}
