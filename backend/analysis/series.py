"""Grouping cells into series and points, and naming each series so that no two read the same."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.analysis.facts import CellFact, HostFact, RunFact
from backend.analysis.query import number_text

MAX_SERIES = 40
MAX_POINTS = 60


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """Cells of one identity by load point. `held` is the load on the other axis."""

    id: str
    label: str
    held: float | None
    points: Mapping[float, tuple[CellFact, ...]]

    @property
    def first(self) -> CellFact:
        return next(iter(self.points.values()))[0]

    def cells(self) -> list[CellFact]:
        return [cell for cells in self.points.values() for cell in cells]


def axis_of(asked: str, cells: Sequence[CellFact]) -> str:
    """The asked axis; the offered rate where no cell has a number of connections."""
    if asked == "connections" and cells and all(cell.connections is None for cell in cells):
        return "rate"
    return asked


def group(cells: Sequence[CellFact], axis: str) -> tuple[list[SeriesGroup], list[str]]:
    """The series in a stable order, and sentences on what was left out."""
    other = "rate" if axis == "connections" else "connections"
    left_out: list[str] = []
    grouped: dict[tuple[object, ...], dict[float, list[CellFact]]] = {}
    for cell in cells:
        load = cell.load(axis)
        if load is None:
            continue
        key = (cell.run.workspace_id, cell.series_key, cell.load(other))
        grouped.setdefault(key, defaultdict(list))[load].append(cell)
    if dropped := sum(1 for cell in cells if cell.load(axis) is None):
        left_out.append(f"{dropped} cells have no known {_axis_word(axis)} and are not shown")
    found = [_group(key, points) for key, points in grouped.items()]
    found.sort(
        key=lambda one: (one.first.server.name.lower(), one.first.server.version or "", one.id)
    )
    if len(found) > MAX_SERIES:
        left_out.append(f"{MAX_SERIES} of {len(found)} series are shown; add a filter")
    if any(len(one.points) > MAX_POINTS for one in found):
        left_out.append(f"the first {MAX_POINTS} load points of a series are shown")
    return label(found[:MAX_SERIES]), left_out


def _axis_word(axis: str) -> str:
    return "number of connections" if axis == "connections" else "offered rate"


def _group(key: tuple[object, ...], points: Mapping[float, Sequence[CellFact]]) -> SeriesGroup:
    kept = {load: tuple(points[load]) for load in sorted(points)[:MAX_POINTS]}
    first = next(iter(kept.values()))[0]
    text = f"{key[0]}:{first.series_key.hex()}:{key[2]}"
    return SeriesGroup(
        id=hashlib.sha256(text.encode()).hexdigest()[:8],
        label=name_of(first),
        held=key[2] if isinstance(key[2], (int, float)) else None,
        points=kept,
    )


def name_of(cell: CellFact) -> str:
    """Server and version: what a series is called unless another is called the same."""
    return f"{cell.server.name} {cell.server.version or ''}".strip()


def label(groups: Sequence[SeriesGroup]) -> list[SeriesGroup]:
    """Groups with labels that differ: each ambiguous one names the parts that tell it apart."""
    by_label: dict[str, list[SeriesGroup]] = defaultdict(list)
    for one in groups:
        by_label[one.label].append(one)
    labels = {one.id: text for same in by_label.values() for one, text in _told_apart(same)}
    return [replace(one, label=labels[one.id]) for one in groups]


def _told_apart(same: Sequence[SeriesGroup]) -> Iterable[tuple[SeriesGroup, str]]:
    if len(same) == 1:
        return [(same[0], same[0].label)]
    parts: list[list[str]] = [[] for _ in same]
    for read in _PARTS:
        texts = [read(one) for one in same]
        if len(set(texts)) > 1:
            for mine, text in zip(parts, texts, strict=True):
                mine.append(text)
        if len({tuple(mine) for mine in parts}) == len(same):
            break
    joined = [", ".join(text for text in mine if text) for mine in parts]
    return [
        (one, f"{one.label} ({text})" if text else one.label)
        for one, text in zip(same, joined, strict=True)
    ]


def _workload(one: SeriesGroup) -> str:
    workload = one.first.workload
    keepalive = {True: "keep-alive", False: "no keep-alive", None: None}[workload.keepalive]
    size = None if workload.payload_bytes is None else f"{workload.payload_bytes} B"
    return " ".join(filter(None, [workload.method, workload.path, size, keepalive]))


def _configuration(one: SeriesGroup) -> str:
    fields = one.first.server.configuration
    return " ".join(f"{name}={_flat(value)}" for name, value in sorted(fields.items()))


def _flat(value: Any) -> str:
    return str(value) if not isinstance(value, (dict, list)) else str(value)[:40]


def _hosts(one: SeriesGroup) -> str:
    run = one.first.run
    return " → ".join(
        dict.fromkeys(_host_text(host) for host in (run.client_host, run.server_host))
    )


def _host_text(host: HostFact | None) -> str:
    if host is None:
        return "unknown host"
    return " ".join(filter(None, [host.label, host.kernel]))


_PARTS: tuple[Callable[[SeriesGroup], str], ...] = (
    lambda one: one.first.workload.name,
    _workload,
    lambda one: one.first.tool,
    lambda one: one.first.tool_version or "version unknown",
    lambda one: f"{one.first.loop} loop",
    lambda one: "" if one.held is None else f"at {number_text(float(one.held))}",
    _configuration,
    _hosts,
    lambda one: one.first.run.workspace,
    lambda one: f"series {one.id}",
)


def host_label(run: RunFact) -> str | None:
    return run.server_host.label if run.server_host else None
