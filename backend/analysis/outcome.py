"""Whether the series may be compared at all: like for like.

The server is what is under test. Workload and loop must match. Tool and hardware must match too,
unless one of them is the only thing that differs: then that is the comparison. The rest is a
caveat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from backend.analysis.checks import Fired
from backend.analysis.facts import CellFact, HostFact
from backend.analysis.series import SeriesGroup

Status = Literal["comparable", "caveats", "not_comparable"]


@dataclass(frozen=True, slots=True)
class Outcome:
    status: Status
    differing: tuple[str, ...]
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "status": self.status,
            "differing": list(self.differing),
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that may differ: how it is read, and what a difference means.

    must: never comparable · axis: comparable when it is the only difference · note: a caveat
    """

    id: str
    word: str
    rule: Literal["must", "axis", "note"]
    read: Callable[[CellFact], object]


def _server_host(name: str) -> Callable[[CellFact], object]:
    return lambda cell: _of_host(cell.run.server_host, name)


def _client_host(name: str) -> Callable[[CellFact], object]:
    return lambda cell: _of_host(cell.run.client_host, name)


def _of_host(host: HostFact | None, name: str) -> object:
    return None if host is None else getattr(host, name)


def _headers(cell: CellFact) -> object:
    return tuple(sorted((name, str(value)) for name, value in cell.workload.headers.items()))


FACTORS = (
    Factor("workload", "workload", "must", lambda cell: cell.workload.name),
    Factor("method", "request method", "must", lambda cell: cell.workload.method),
    Factor("path", "request path", "must", lambda cell: cell.workload.path),
    Factor("payload", "payload size", "must", lambda cell: cell.workload.payload_bytes),
    Factor("keepalive", "keep-alive", "must", lambda cell: cell.workload.keepalive),
    Factor("tls", "TLS", "must", lambda cell: cell.workload.tls),
    Factor("headers", "request headers", "must", _headers),
    Factor("loop", "loop", "must", lambda cell: cell.loop),
    Factor("tool", "load tool", "axis", lambda cell: cell.tool),
    Factor("cpu", "processor of the server host", "axis", _server_host("cpu_model")),
    Factor("cores", "cores of the server host", "axis", _server_host("cores")),
    Factor("virtualisation", "virtualisation", "axis", _server_host("virtualisation")),
    Factor("client_cpu", "processor of the client host", "axis", _client_host("cpu_model")),
    Factor("client_cores", "cores of the client host", "axis", _client_host("cores")),
    Factor("same_host", "whether one host has both", "axis", lambda cell: cell.run.same_host),
    Factor("tool_version", "load tool version", "note", lambda cell: cell.tool_version),
    Factor("kernel", "kernel of the server host", "note", _server_host("kernel")),
    Factor("os", "operating system", "note", _server_host("os")),
    Factor("memory", "memory of the server host", "note", _server_host("memory_bytes")),
    Factor("host", "server host", "note", _server_host("name")),
    Factor("client_kernel", "kernel of the client host", "note", _client_host("kernel")),
    Factor("client_host", "client host", "note", _client_host("name")),
)
# Several of these differ together when one machine is exchanged for another: one dimension.
_MACHINE = frozenset({"cpu", "cores", "virtualisation", "client_cpu", "client_cores"})


def outcome_of(groups: Sequence[SeriesGroup], fired: Sequence[Fired], *, trials: int) -> Outcome:
    """May these series be ranked against each other, and if not, why not."""
    if not groups:
        return Outcome("not_comparable", (), ("nothing was measured that fits this query",))
    cells = _one_of_each(cell for one in groups for cell in one.cells())
    differing = [factor for factor in FACTORS if len(_known(factor, cells)) > 1]
    unknown = [factor for factor in FACTORS if _partly_unknown(factor, cells)]
    refused = _refused(groups, differing)
    reasons = [_reason(factor, cells) for factor in refused]
    reasons += [_caveat(factor, cells) for factor in differing if factor not in refused]
    reasons += [f"{factor.word} is unknown for some series" for factor in unknown]
    reasons += _checks(fired, trials=trials, points=sum(len(one.points) for one in groups))
    status: Status = "caveats" if reasons else "comparable"
    return Outcome(
        "not_comparable" if refused else status,
        tuple(factor.id for factor in differing),
        tuple(reasons),
    )


def _one_of_each(cells: Iterable[CellFact]) -> list[CellFact]:
    """One cell for each that no factor tells apart: load points and trials are no factors."""
    found = {
        (cell.run.id, cell.workload.id, cell.tool, cell.tool_version, cell.loop): cell
        for cell in cells
    }
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
        if one.check.severity != "info"
    ]


def _check_text(one: Fired, *, trials: int, points: int) -> str:
    title = one.check.title[0].lower() + one.check.title[1:]
    if one.trials and len(one.trials) < trials:
        return f"{title} ({len(one.trials)} of {trials} trials)"
    if one.cells and not one.trials and len(one.cells) < points:
        return f"{title} ({len(one.cells)} of {points} load points)"
    return title
