"""Whether the series may be compared at all: like for like.

The server is what is under test. Workload and loop must match. Tool and hardware must match too,
unless one of them is the only thing that differs: then that is the comparison. What lies on the
x axis is compared along it and not across the series. The rest is a caveat. Which facts of the
hosts must match is the workspace's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from backend.analysis.checks import Fired
from backend.analysis.facts import CellFact, HostFact
from backend.analysis.fields import FIELDS, IDENTITY
from backend.analysis.series import Plan, SeriesGroup

Status = Literal["comparable", "caveats", "not_comparable"]
Rule = Literal["must", "axis", "note"]


@dataclass(frozen=True, slots=True)
class Outcome:
    status: Status
    differing: tuple[str, ...]
    reasons: tuple[str, ...]
    # The one thing that differs, said: "only the kernel differs".
    intent: str | None = None
    # Things that differ together, so that no difference can be put down to one of them.
    confounded: tuple[str, ...] = ()
    overridden: bool = False

    @property
    def ranks(self) -> bool:
        """Whether places and ratios may be shown."""
        return self.status != "not_comparable" or self.overridden

    def as_dict(self) -> dict[str, object]:
        return {
            "status": self.status,
            "differing": list(self.differing),
            "reasons": list(self.reasons),
            "intent": self.intent,
            "confounded": list(self.confounded),
            "overridden": self.overridden,
        }


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that may differ: how it is read, and what a difference means.

    must: never comparable · axis: comparable when it is the only difference · note: a caveat.
    `part`: the part of the identity it is of. `short`: its word where it is the only difference.
    """

    id: str
    word: str
    rule: Rule
    part: str
    short: str
    read: Callable[[CellFact], object]


def _server_host(name: str) -> Callable[[CellFact], object]:
    return lambda cell: _of_host(cell.series.server_host, name)


def _client_host(name: str) -> Callable[[CellFact], object]:
    return lambda cell: _of_host(cell.series.client_host, name)


def _of_host(host: HostFact | None, name: str) -> object:
    return None if host is None else getattr(host, name)


def _headers(cell: CellFact) -> object:
    return tuple(sorted((name, str(value)) for name, value in cell.workload.headers.items()))


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
        "whether one host has both",
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
HOST_FACTORS = tuple(one.id for one in FACTORS if one.part in ("server_host", "client_host"))
DEFAULT_MUST_MATCH = tuple(
    one.id for one in FACTORS if one.id in HOST_FACTORS and one.rule == "axis"
)
# Several of these differ together when one machine is exchanged for another: one dimension.
_MACHINE = frozenset(HOST_FACTORS) - {"same_host"}
# What is under test, the coarsest first: a server of another name has its own versions.
_TESTED = (
    ("name", "server"),
    ("version", "version"),
    ("runtime", "runtime"),
    ("configuration", "configuration"),
)


def outcome_of(
    groups: Sequence[SeriesGroup],
    fired: Sequence[Fired],
    *,
    trials: int,
    plan: Plan,
    must_match: Collection[str] = DEFAULT_MUST_MATCH,
    override: bool = False,
) -> Outcome:
    """May these series be ranked against each other, and if not, why not."""
    if not groups:
        return Outcome("not_comparable", (), ("nothing was measured that fits this query",))
    cells = _one_of_each(cell for one in groups for cell in one.cells())
    every = [_ruled(factor, must_match) for factor in FACTORS]
    across = [factor for factor in every if factor.part not in FIELDS[plan.x].covers]
    differing = [factor for factor in across if len(_known(factor, cells)) > 1]
    refused = _refused(groups, differing)
    mixed = _mixed(groups, plan)
    reasons = mixed + [_reason(factor, cells) for factor in refused]
    reasons += [_caveat(factor, cells) for factor in differing if factor not in refused]
    reasons += [
        f"{factor.word} is unknown for some series"
        for factor in across
        if _partly_unknown(factor, cells)
    ]
    reasons += _checks(fired, trials=trials, points=sum(len(one.points) for one in groups))
    dimensions = _dimensions(cells, every)
    # Along the axis everything may differ: only what differs across it can be mistaken.
    confounded = _dimensions(cells, across, FIELDS[plan.x].covers)
    status: Status = "caveats" if reasons else "comparable"
    forbidden = bool(refused or mixed)
    return Outcome(
        status="not_comparable" if forbidden else status,
        differing=tuple(factor.id for factor in differing),
        reasons=tuple(reasons),
        intent=f"only the {dimensions[0]} differs" if len(dimensions) == 1 else None,
        confounded=confounded if len(confounded) > 1 else (),
        overridden=forbidden and override,
    )


def _ruled(factor: Factor, must_match: Collection[str]) -> Factor:
    """The factor under the workspace's choice of what must match."""
    if factor.id not in HOST_FACTORS:
        return factor
    return replace(factor, rule="axis" if factor.id in must_match else "note")


def _dimensions(
    cells: Sequence[CellFact], factors: Sequence[Factor], covered: Collection[str] = ()
) -> tuple[str, ...]:
    """Everything that differs at all, each by one word; without the `covered` parts."""
    words = [
        word
        for part, word in _TESTED
        if part not in covered and len({IDENTITY[part](cell) for cell in cells}) > 1
    ]
    if "server" in words:
        words = ["server"]
    machine = [one for one in factors if one.id in _MACHINE and len(_known(one, cells)) > 1]
    others = [one for one in factors if one.id not in _MACHINE and len(_known(one, cells)) > 1]
    words += [one.short for one in others if one.id != "path"]
    # Client and server on one machine differ alike, and a name says nothing of its own.
    told = {one.short.removeprefix("client ").removeprefix("number of "): one for one in machine}
    facts = {word: one for word, one in told.items() if one.id not in ("host", "client_host")}
    if len(facts) == 1:
        return (*words, *(one.short.removeprefix("client ") for one in facts.values()))
    return (*words, *(("machine",) if machine else ()))


def _mixed(groups: Sequence[SeriesGroup], plan: Plan) -> list[str]:
    """What differs inside of a point: pooled trials must be of one kind."""
    free = [p for p in IDENTITY if p not in plan.parts and p not in FIELDS[plan.x].covers]
    found = [
        part
        for part in free
        if any(
            len({IDENTITY[part](cell) for cell in cells}) > 1
            for one in groups
            for cells in one.points.values()
        )
    ]
    words = {"name": "servers", "rate": "offered rates", "request": "request settings"}
    named = [words.get(part, part.replace("_", " ")) for part in found]
    return [f"points mix different {', '.join(named)}; let them make series, or choose one"] * bool(
        named
    )


def _one_of_each(cells: Iterable[CellFact]) -> list[CellFact]:
    """One cell for each that no factor tells apart: load points and trials are no factors."""
    found = {(cell.run.same_host, cell.series.id): cell for cell in cells}
    return list(found.values())


def _known(factor: Factor, cells: Sequence[CellFact]) -> set[object]:
    return {factor.read(cell) for cell in cells} - {None}


def _partly_unknown(factor: Factor, cells: Sequence[CellFact]) -> bool:
    values = {factor.read(cell) for cell in cells}
    return factor.rule != "note" and None in values and len(values) == 2


def _refused(groups: Sequence[SeriesGroup], differing: Sequence[Factor]) -> list[Factor]:
    """The factors that forbid a comparison."""
    must = [factor for factor in differing if factor.rule == "must"]
    axes = [factor for factor in differing if factor.rule == "axis"]
    servers = len({one.first.server.id for one in groups})
    dimensions = {_dimension(factor) for factor in axes} | ({"server"} if servers > 1 else set())
    return must + (axes if axes and len(dimensions) > 1 else [])


def _dimension(factor: Factor) -> str:
    return "machine" if factor.id in _MACHINE else factor.id


def _reason(factor: Factor, cells: Sequence[CellFact]) -> str:
    remedy = {"workload": "workload", "tool": "tool"}.get(factor.id)
    if factor.id in _MACHINE:
        remedy = "host"
    hint = f"; choose one {remedy}" if remedy else ""
    return f"{factor.word} differs: {_values(factor, cells)}{hint}"


def _caveat(factor: Factor, cells: Sequence[CellFact]) -> str:
    return f"{factor.word} differs: {_values(factor, cells)}"


def _values(factor: Factor, cells: Sequence[CellFact]) -> str:
    texts = sorted(_text(value) for value in _known(factor, cells))
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return ", ".join(texts[:3]) + more


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(f"{name}: {text}" for name, text in value)[:60] or "none"
    return str(value)


def _checks(fired: Sequence[Fired], *, trials: int, points: int) -> list[str]:
    """Checks of weight as caveats, with how many of the trials or load points they are about."""
    return [
        _check_text(one, trials=trials, points=points)
        for one in fired
        if one.check.severity != "info" and one.count
    ]


def _check_text(one: Fired, *, trials: int, points: int) -> str:
    title = one.check.title[0].lower() + one.check.title[1:]
    if one.trials and len(one.trials) < trials:
        return f"{title} ({len(one.trials)} of {trials} trials)"
    if one.cells and not one.trials and len(one.cells) < points:
        return f"{title} ({len(one.cells)} of {points} load points)"
    return title
