"""Naming series so that no two read the same, and no name is longer than needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from backend.analysis.grouping.grouping import LOAD_WORDS, Grouping, SeriesGroup
from backend.analysis.query.fields import RUN_PARTS
from backend.analysis.query.records import LoadedCell, LoadedHost
from backend.analysis.query.units import load_text


def held_load(cell: LoadedCell, grouping: Grouping) -> str | None:
    """The loads that are not on the axis, where they are part of what makes a series."""
    loads = (("connections", cell.connections), ("rate", cell.rate_rps))
    texts = [
        load_text(float(load), name)
        for name, load in loads
        if name in grouping.parts and load is not None
    ]
    return ", ".join(texts) or None


def run_text(cell: LoadedCell, grouping: Grouping) -> str | None:
    """The labels and the time of the runs, where they are part of what makes a series."""
    texts = [_NAMES[part](cell) or "" for part in reversed(RUN_PARTS) if part in grouping.parts]
    return ", ".join(texts) or None


def series_name(cell: LoadedCell, grouping: Grouping) -> str:
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


def label_series(groups: Sequence[SeriesGroup], grouping: Grouping) -> list[SeriesGroup]:
    """Groups with labels that differ: each ambiguous one names what distinguishes it."""
    by_label: dict[tuple[str | None, str], list[SeriesGroup]] = defaultdict(list)
    for group in groups:
        by_label[(group.panel, group.label)].append(group)
    labels: dict[str, str] = {}
    for namesakes in by_label.values():
        texts = _distinctions(namesakes, grouping)
        for group, text in zip(namesakes, texts, strict=True):
            labels[group.id] = f"{group.label} ({text})" if text else group.label
    return [replace(group, label=labels[group.id]) for group in groups]


def _distinctions(namesakes: Sequence[SeriesGroup], grouping: Grouping) -> list[str]:
    """For each series what distinguishes it from the others of its name, and no more."""
    chosen: list[tuple[str, ...]] = [() for _ in namesakes]
    for texts in _candidates(namesakes, grouping):
        if len(set(chosen)) == len(namesakes):
            break
        longer = [(*own, text) for own, text in zip(chosen, texts, strict=True)]
        if len(set(longer)) > len(set(chosen)):
            chosen = longer
    return [", ".join(filter(None, own)) for own in chosen]


def _candidates(namesakes: Sequence[SeriesGroup], grouping: Grouping) -> Iterable[list[str]]:
    """What each may be called after, the most telling first: only what makes the series."""
    for parts, read in _DISTINCTIONS:
        if not parts or not parts.isdisjoint(grouping.parts):
            yield [read(group) for group in namesakes]


def _request(group: SeriesGroup) -> str:
    workload = group.first.workload
    tls = {True: "TLS", False: "no TLS", None: None}[workload.tls]
    keepalive = {True: "keep-alive", False: "no keep-alive", None: None}[workload.keepalive]
    return " ".join(filter(None, [workload.method, tls, keepalive]))


def _size(group: SeriesGroup) -> str:
    size = group.first.workload.payload_bytes
    return "" if size is None else f"{size} B"


def _host_text(host: LoadedHost | None) -> str:
    return "unknown host" if host is None else host.label


def _kernel(host: LoadedHost | None) -> str:
    return "" if host is None else host.kernel or ""


# A text may be used where one of its parts makes the series; without parts, in any case.
_DISTINCTIONS: tuple[tuple[frozenset[str], Callable[[SeriesGroup], str]], ...] = (
    (frozenset({"version"}), lambda group: group.first.server.version or ""),
    (frozenset(RUN_PARTS), lambda group: group.of_run or ""),
    (frozenset({"workload"}), lambda group: group.first.workload.name),
    (frozenset({"payload"}), _size),
    (frozenset({"workload"}), lambda group: group.first.workload.path or ""),
    (frozenset({"request"}), _request),
    (frozenset({"tool"}), lambda group: group.first.series.tool),
    (
        frozenset({"tool_version"}),
        lambda group: group.first.series.tool_version or "version unknown",
    ),
    (frozenset({"loop"}), lambda group: f"{group.first.series.loop} loop"),
    (frozenset(LOAD_WORDS), lambda group: "" if group.held is None else f"at {group.held}"),
    (frozenset({"configuration"}), lambda group: " ".join(group.first.server.settings)),
    (frozenset({"runtime"}), lambda group: group.first.server.runtime or ""),
    (frozenset({"server_host"}), lambda group: _host_text(group.first.series.server_host)),
    (
        frozenset({"client_host"}),
        lambda group: f"from {_host_text(group.first.series.client_host)}",
    ),
    (frozenset({"server_host"}), lambda group: _kernel(group.first.series.server_host)),
    (
        frozenset({"client_host"}),
        lambda group: f"client {_kernel(group.first.series.client_host)}",
    ),
    (frozenset(), lambda group: group.first.run.workspace),
    (frozenset(), lambda group: f"series {group.id}"),
)
