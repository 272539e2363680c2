"""Grouping cells into series and points, and naming each series so that no two read the same."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.fields import FIELDS, IDENTITY, RUN_PARTS, Value, text_of, value_of
from backend.analysis.query.natural_order import natural, ordered
from backend.analysis.query.records import LoadedCell, LoadedHost
from backend.analysis.query.units import load_text

MAX_SERIES = 40
MAX_POINTS = 60
LoadAxis = Literal["connections", "rate"]
PARTS = {**IDENTITY, **RUN_PARTS}
LOAD_WORDS = {"connections": "connections", "rate": "offered requests/s"}


@dataclass(frozen=True, slots=True)
class Grouping:
    """How cells become series and points: the axis, what makes a series, what makes a panel."""

    x: str
    series: tuple[str, ...] = ()
    facet: str | None = None
    # Parts of the identity that shall make no series.
    without: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the identity that make a series."""
        if not self.series:
            on_axis = (*FIELDS[self.x].covers, *self.without)
            return tuple(part for part in IDENTITY if part not in on_axis)
        # What is named makes series also where the axis would cover it, but for the axis itself.
        on_axis = (*axis_parts(self.x), *self.without)
        wanted = (*self.series, *((self.facet,) if self.facet else ()))
        covered = {part for name in wanted for part in _parts_of(name)}
        return tuple(part for part in PARTS if part in covered and part not in on_axis)

    @property
    def x_is_load(self) -> bool:
        return FIELDS[self.x].level == "load"


def axis_parts(name: str) -> tuple[str, ...]:
    """The parts of the identity that a place on this axis is itself."""
    return ("workload",) if name == "workload" else _parts_of(name)


def _parts_of(name: str) -> tuple[str, ...]:
    """What a field alone makes differ: the server's name is not its version."""
    narrow = {
        "server": ("name",),
        "host": ("server_host",),
        "client": ("client_host",),
        "payload": ("payload",),
        "tool": ("tool",),
    }
    return narrow.get(name, FIELDS[name].covers)


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """Cells of one identity by their place on the axis."""

    id: str
    label: str
    # The load where it is not on the axis: `64 connections`.
    held: str | None
    # Of its runs, where that makes the series: their time, their labels.
    of_run: str | None
    panel: str | None
    points: Mapping[Value, tuple[LoadedCell, ...]]

    @property
    def first(self) -> LoadedCell:
        return next(iter(self.points.values()))[0]

    def cells(self) -> list[LoadedCell]:
        return [cell for cells in self.points.values() for cell in cells]


def choose_grouping(query: CompareQuery, cells: Sequence[LoadedCell]) -> Grouping:
    """The grouping that `query` asks for.

    Connections, the default axis, stand for the load of the cells, which may be an offered rate.
    """
    x = query.x
    if x == "connections":
        x = load_axis((cell.series.loop, cell.connections, cell.rate_rps) for cell in cells)
    return Grouping(x, query.series, query.facet)


def load_axis(loads: Iterable[tuple[str, int | None, float | None]]) -> LoadAxis:
    """What a sweep is over, of the loop, connections and offered rate of each of its cells.

    The load point of an open loop is its rate, also where the tool was given connections; unless
    the connections vary more, as where one rate is offered over more and more of them.
    """
    loads = list(loads)
    connections = {one for _, one, _ in loads if one is not None}
    rates = {one for _, _, one in loads}
    if loads and not connections:
        return "rate"
    opened = bool(loads) and None not in rates and all(loop == "open" for loop, _, _ in loads)
    return "rate" if opened and len(rates) >= len(connections) else "connections"


def group_cells(
    cells: Sequence[LoadedCell], grouping: Grouping
) -> tuple[list[SeriesGroup], list[str]]:
    """The series in a stable order, and sentences on what was left out."""
    axis, reads = FIELDS[grouping.x], [PARTS[part] for part in grouping.parts]
    grouped: dict[tuple[object, ...], dict[Value, list[LoadedCell]]] = {}
    dropped = 0
    for cell in cells:
        place = value_of(axis, cell)
        if place is None:
            dropped += 1
            continue
        key = (cell.series.workspace_id, _panel(grouping, cell), *(read(cell) for read in reads))
        grouped.setdefault(key, defaultdict(list))[place].append(cell)
    found = [_group(points, grouping) for points in grouped.values()]
    found.sort(key=_order)
    return label(found[:MAX_SERIES], grouping), _left_out(found, dropped, grouping)


def group_by_name(cells: Iterable[LoadedCell], grouping: Grouping) -> list[SeriesGroup]:
    """The series of these cells with their labels, whatever their places on the axis."""
    reads = [PARTS[part] for part in grouping.parts]
    found: dict[tuple[object, ...], list[LoadedCell]] = defaultdict(list)
    for cell in cells:
        found[(cell.series.workspace_id, *(read(cell) for read in reads))].append(cell)
    return label([_group({"": same}, grouping) for same in found.values()], grouping)


def _left_out(found: Sequence[SeriesGroup], dropped: int, grouping: Grouping) -> list[str]:
    said = []
    if dropped:
        word = LOAD_WORDS.get(grouping.x, FIELDS[grouping.x].label.lower())
        known = "number of connections" if grouping.x == "connections" else word
        known = "offered rate" if grouping.x == "rate" else known
        said.append(f"{dropped} cells have no known {known} and are not shown")
    if len(found) > MAX_SERIES:
        said.append(f"{MAX_SERIES} of {len(found)} series are shown; add a filter")
    if any(len(one.points) > MAX_POINTS for one in found):
        said.append(f"the first {MAX_POINTS} points of a series are shown")
    return said


def _panel(grouping: Grouping, cell: LoadedCell) -> str | None:
    if grouping.facet is None:
        return None
    value = value_of(FIELDS[grouping.facet], cell)
    return "unknown" if value is None else text_of(value)


def _order(one: SeriesGroup) -> tuple[object, ...]:
    server, held = one.first.server, natural(one.held or "")
    return (
        natural(one.panel or ""),
        server.name.lower(),
        natural(server.version or ""),
        held,
        one.id,
    )


def _group(points: Mapping[Value, Sequence[LoadedCell]], grouping: Grouping) -> SeriesGroup:
    kept = {place: tuple(points[place]) for place in ordered(points)[:MAX_POINTS]}
    first = next(iter(kept.values()))[0]
    return SeriesGroup(
        id=_id(first, grouping),
        label=_name(first, grouping),
        held=_held(first, grouping),
        of_run=_of_run(first, grouping),
        panel=_panel(grouping, first),
        points=kept,
    )


# What a server and a workload are whole: named by their ids, which outlive their names.
_WHOLE: dict[str, tuple[frozenset[str], Callable[[LoadedCell], object]]] = {
    "server": (
        frozenset({"name", "version", "runtime", "configuration"}),
        lambda cell: cell.server.id,
    ),
    "workload": (
        frozenset({"workload", "payload", "request"}),
        lambda cell: cell.workload.id,
    ),
}


def _id(cell: LoadedCell, grouping: Grouping) -> str:
    """Eight hexadecimal digits, the same as long as what makes the series is the same."""
    cell = _as_first_named(cell)
    parts = set(grouping.parts)
    named = {"workspace": str(cell.series.workspace_id), "panel": _panel(grouping, cell)}
    for name, (whole, read) in _WHOLE.items():
        if whole <= parts:
            parts -= whole
            named[name] = str(read(cell))
    named |= {part: str(PARTS[part](cell)) for part in parts}
    return hashlib.sha256(repr(sorted(named.items())).encode()).hexdigest()[:8]


def _as_first_named(cell: LoadedCell) -> LoadedCell:
    """The cell with the names that its things had first: a link's baseline outlives a renaming."""
    named = {
        part: replace(thing, name=thing.first_name)
        for part in ("server", "workload", "server_host", "client_host")
        if (thing := getattr(cell.series, part)) is not None and thing.first_name is not None
    }
    return replace(cell, series=replace(cell.series, **named)) if named else cell


def _held(cell: LoadedCell, grouping: Grouping) -> str | None:
    """The loads that are not on the axis, where they are part of what makes a series."""
    loads = (("connections", cell.connections), ("rate", cell.rate_rps))
    said = [
        load_text(float(load), name)
        for name, load in loads
        if name in grouping.parts and load is not None
    ]
    return ", ".join(said) or None


def _of_run(cell: LoadedCell, grouping: Grouping) -> str | None:
    """The labels and the time of the runs, where they are part of what makes a series."""
    said = [_NAMES[part](cell) or "" for part in reversed(RUN_PARTS) if part in grouping.parts]
    return ", ".join(said) or None


def _name(cell: LoadedCell, grouping: Grouping) -> str:
    """What a series is called unless another is called the same: the server, where it has one."""
    if "name" in grouping.parts:
        return cell.server.label if "version" in grouping.parts else cell.server.name
    texts = (read(cell) for part, read in _NAMES.items() if part in grouping.parts)
    return next((text for text in texts if text), "everything")


_NAMES: dict[str, Callable[[LoadedCell], str | None]] = {
    "version": lambda cell: cell.server.version,
    "runtime": lambda cell: cell.server.runtime,
    "configuration": lambda cell: " ".join(cell.server.settings),
    "workload": lambda cell: cell.workload.name,
    "tool": lambda cell: cell.series.tool,
    "server_host": lambda cell: _host_text(cell.series.server_host),
    "client_host": lambda cell: _host_text(cell.series.client_host),
    "loop": lambda cell: f"{cell.series.loop} loop",
    "connections": lambda cell: load_text(float(cell.connections or 0), "connections"),
    "label": lambda cell: str(RUN_PARTS["label"](cell) or "no label"),
    "date": lambda cell: str(RUN_PARTS["date"](cell)),
}


def label(groups: Sequence[SeriesGroup], grouping: Grouping) -> list[SeriesGroup]:
    """Groups with labels that differ: each ambiguous one names what tells it apart."""
    by_label: dict[tuple[str | None, str], list[SeriesGroup]] = defaultdict(list)
    for one in groups:
        by_label[(one.panel, one.label)].append(one)
    labels = {
        one.id: text for same in by_label.values() for one, text in _told_apart(same, grouping)
    }
    return [replace(one, label=labels[one.id]) for one in groups]


def _told_apart(
    same: Sequence[SeriesGroup], grouping: Grouping
) -> Iterable[tuple[SeriesGroup, str]]:
    """Each with the texts that tell it from the others, and no more of them than are needed."""
    if len(same) == 1:
        return [(same[0], same[0].label)]
    told: list[tuple[str, ...]] = [() for _ in same]
    for texts in _tellings(same, grouping):
        further = [(*mine, text) for mine, text in zip(told, texts, strict=True)]
        if len(set(further)) > len(set(told)):
            told = further
        if len(set(told)) == len(same):
            break
    joined = [", ".join(text for text in mine if text) for mine in told]
    return [
        (one, f"{one.label} ({text})" if text else one.label)
        for one, text in zip(same, joined, strict=True)
    ]


def _tellings(same: Sequence[SeriesGroup], grouping: Grouping) -> Iterable[list[str]]:
    """What each may be called after, the most telling first: only what makes the series."""
    for parts, read in _TELLING:
        if not parts or not parts.isdisjoint(grouping.parts):
            yield [read(one) for one in same]


def _request(one: SeriesGroup) -> str:
    workload = one.first.workload
    tls = {True: "TLS", False: "no TLS", None: None}[workload.tls]
    keepalive = {True: "keep-alive", False: "no keep-alive", None: None}[workload.keepalive]
    return " ".join(filter(None, [workload.method, tls, keepalive]))


def _size(one: SeriesGroup) -> str:
    size = one.first.workload.payload_bytes
    return "" if size is None else f"{size} B"


def _host_text(host: LoadedHost | None) -> str:
    return "unknown host" if host is None else host.label


def _kernel(host: LoadedHost | None) -> str:
    return "" if host is None else host.kernel or ""


_HOSTS = frozenset({"server_host", "client_host"})
# The parts of which one makes the series where the text may tell; none: in any case.
_TELLING: tuple[tuple[frozenset[str], Callable[[SeriesGroup], str]], ...] = (
    (frozenset({"version"}), lambda one: one.first.server.version or ""),
    (frozenset(RUN_PARTS), lambda one: one.of_run or ""),
    (frozenset({"workload"}), lambda one: one.first.workload.name),
    (frozenset({"payload"}), _size),
    (frozenset({"workload"}), lambda one: one.first.workload.path or ""),
    (frozenset({"request"}), _request),
    (frozenset({"tool"}), lambda one: one.first.series.tool),
    (frozenset({"tool_version"}), lambda one: one.first.series.tool_version or "version unknown"),
    (frozenset({"loop"}), lambda one: f"{one.first.series.loop} loop"),
    (frozenset(LOAD_WORDS), lambda one: "" if one.held is None else f"at {one.held}"),
    (frozenset({"configuration"}), lambda one: " ".join(one.first.server.settings)),
    (frozenset({"runtime"}), lambda one: one.first.server.runtime or ""),
    (frozenset({"server_host"}), lambda one: _host_text(one.first.series.server_host)),
    (
        frozenset({"client_host"}),
        lambda one: f"from {_host_text(one.first.series.client_host)}",
    ),
    (frozenset({"server_host"}), lambda one: _kernel(one.first.series.server_host)),
    (
        frozenset({"client_host"}),
        lambda one: f"client {_kernel(one.first.series.client_host)}",
    ),
    (frozenset(), lambda one: one.first.run.workspace),
    (frozenset(), lambda one: f"series {one.id}"),
)
