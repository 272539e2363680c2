"""The questions a workspace is opened with, each as a comparison over what it really holds.

A question that its data cannot answer says why. What is looked at are the newest runs: an answer
about the present needs no more, and the front page of a large workspace stays quick.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from backend.analysis.compare.comparison import compare
from backend.analysis.grouping.grouping import load_axis
from backend.analysis.query.compare_query import MAX_VALUES, CompareQuery
from backend.analysis.query.fields import UNKNOWN, number_text
from backend.analysis.query.natural_order import natural
from backend.runs.models import Cell, Host, Run, Trial
from backend.stats.changes import LEAST_POSITIONS

Query = Mapping[str, str | tuple[str, ...]]
NEWEST_RUNS = 60
MAX_CELLS = 5_000
LEAST_LOADS = 3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the comparison that answers it, as the fields of its query; or why none.

    `about` says over what, in a few words.
    """

    id: str
    text: str
    query: Query | None
    about: str = ""
    why_not: str = ""


# What must be alike before servers are held against each other, as the fields of a query.
CONDITIONS = ("host", "client", "tool", "loop")
Conditions = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """One cell, as far as the questions need it. `load` is on the axis of the workload."""

    server: str
    version: str | None
    workload: str
    load: float | None
    conditions: Conditions
    has_distribution: bool
    run: UUID

    @property
    def host(self) -> str | None:
        return self.conditions[0]


@dataclass(frozen=True, slots=True)
class Held:
    """What a workspace holds, and the workload and conditions that compare the most servers.

    `every`: all cells, the newest first. `cells`: those of the workload under the conditions.
    """

    workload: str
    axis: str
    every: tuple[Known, ...]
    conditions: Conditions

    @property
    def own(self) -> tuple[Known, ...]:
        """The cells of the workload, under whatever conditions."""
        return tuple(one for one in self.every if one.workload == self.workload)

    @property
    def cells(self) -> tuple[Known, ...]:
        return tuple(one for one in self.own if one.conditions == self.conditions)

    @property
    def alike(self) -> dict[str, str]:
        """The conditions as filters, where not all cells of the workspace have them."""
        return {
            field: value
            for place, (field, value) in enumerate(zip(CONDITIONS, self.conditions, strict=True))
            if value is not None and len({one.conditions[place] for one in self.every}) > 1
        }

    def load_text(self, load: float | None) -> str:
        if load is None:
            return ""
        noun = "connections" if self.axis == "connections" else "req/s offered"
        text = number_text(float(load))
        return f"{text} {noun.rstrip('s') if text == '1' and self.axis == 'connections' else noun}"

    @property
    def base(self) -> Query:
        """The fields that questions share; the axis only where it is not the usual one."""
        axis = {} if self.axis == "connections" else {"x": self.axis}
        return {"workload": self.workload, **axis, **self.alike}

    def query(self, chosen: Iterable[Known], **more: str) -> Query:
        """The comparison of the servers in their newest versions, those of `chosen` first."""
        return {**self.base, **_newest_versions(chosen, self.cells), **more}

    def at(self, load: float | None) -> dict[str, str]:
        return {} if load is None else {"at": number_text(float(load))}

    def fixed(self, load: float | None) -> dict[str, str]:
        """The load as a filter, for when something else is on the axis."""
        return {} if load is None else {self.axis: number_text(float(load))}


def _newest_versions(chosen: Iterable[Known], every: Sequence[Known]) -> Query:
    """The version last measured of each server, where one of them was measured in several.

    Of a server in `chosen` it is one of those: they can answer the question.
    """
    newest: dict[str, str | None] = {}
    for cell in (*chosen, *every):
        newest.setdefault(cell.server, cell.version)
    if all(newest[cell.server] == cell.version for cell in every):
        return {}
    versions = set(newest.values())
    older = [cell for cell in every if cell.version != newest[cell.server]]
    if not any(cell.version in versions for cell in older):
        return {"version": tuple(sorted(version or UNKNOWN for version in versions))}
    # The newest of one is an older one of another, so that versions name too much: runs do not,
    # where they hold the newest ones alone.
    runs = {cell.run for cell in every} - {cell.run for cell in older}
    if newest.keys() <= {cell.server for cell in every if cell.run in runs}:
        return {"run": tuple(sorted(str(run) for run in runs))[:MAX_VALUES]}
    return {"version": tuple(sorted(version or UNKNOWN for version in versions))}


def list_questions(workspace_id: UUID, slug: str) -> list[Question]:
    """The seven questions, in the order of the page."""
    runs = _newest(workspace_id)
    held = _held(runs)
    if held is None:
        return [Question(id_, text, None, why_not="Nothing was measured yet.") for id_, text in ALL]
    return [
        _fastest(held),
        _limits(held),
        _distributions(held),
        _versions(held),
        _hardware(held),
        _cost(held, runs),
        _distance(held, workspace_id, slug),
    ]


ALL = (
    ("fastest", "Which server is fastest at this load?"),
    ("limits", "Where does each one break?"),
    ("distributions", "How do the latency distributions differ?"),
    ("versions", "Did this version get slower?"),
    ("hardware", "What does the hardware change?"),
    ("cost", "What does a request cost?"),
    ("distance", "How far from the baseline is everyone?"),
)
_TEXT = dict(ALL)


def _newest(workspace_id: UUID) -> list[UUID]:
    rows = Run.objects.filter(workspace=workspace_id).order_by("-recorded_at")
    return list(rows.values_list("pk", flat=True)[:NEWEST_RUNS])


# Where the load of a row stands.
LOAD_COLUMNS = {"connections": 3, "rate": 4}


def _held(runs: Sequence[UUID]) -> Held | None:
    rows = list(
        Cell.objects.filter(run__in=runs, trial_count__gt=0)
        .order_by("-run__recorded_at", "pk")
        .values_list(
            *("series__server__name", "series__server__version", "series__workload__name"),
            *("connections", "rate_rps", "percentiles_us"),
            *("series__server_host", "series__client_host", "series__tool", "series__loop"),
            "run",
        )[:MAX_CELLS]
    )
    if not rows:
        return None
    # Of one run, the highest version counts as the newest.
    place = {run: number for number, run in enumerate(runs)}
    rows.sort(key=lambda row: natural(row[1] or ""), reverse=True)
    rows.sort(key=lambda row: place[row[10]])
    hosts = _host_values(id_ for row in rows for id_ in row[6:8])
    alike = [(hosts.get(row[6]), hosts.get(row[7]), *row[8:10]) for row in rows]
    workload = _widest((row[2], row[0]) for row in rows)
    own = [(like, row) for like, row in zip(alike, rows, strict=True) if row[2] == workload]
    conditions = _widest((like, row[0]) for like, row in own)
    axis = load_axis((row[9], row[3], row[4]) for like, row in own if like == conditions)
    load = LOAD_COLUMNS[axis]
    every = tuple(
        Known(row[0], row[1], row[2], row[load], like, bool(row[5]), row[10])
        for like, row in zip(alike, rows, strict=True)
    )
    return Held(workload, axis, every, conditions)


def _widest(pairs: Iterable[tuple[T, str]]) -> T:
    """What most servers were measured with; of equals the first, which is of the newest run."""
    servers: dict[T, set[str]] = defaultdict(set)
    for key, server in pairs:
        servers[key].add(server)
    return max(servers, key=lambda key: len(servers[key]))


def _host_values(ids: Iterable[UUID | None]) -> dict[UUID | None, str]:
    """How each host stands in a link: by its name. One without a name is left out."""
    known = Host.objects.filter(pk__in={id_ for id_ in ids if id_}).exclude(name=None)
    return {pk: name or "" for pk, name in known.values_list("pk", "name")}


def _load(pairs: Iterable[tuple[float | None, str]]) -> float | None:
    """The heaviest of the loads that the most things were measured at."""
    found: dict[float, set[str]] = defaultdict(set)
    for load, thing in pairs:
        if load is not None:
            found[load].add(thing)
    return max(found, key=lambda load: (len(found[load]), load), default=None)


def _at_shared_load(cells: Iterable[Known]) -> tuple[float | None, list[Known]]:
    """The heaviest load that most servers share, and the cells there."""
    cells = list(cells)
    load = _load((one.load, one.server) for one in cells)
    return load, [one for one in cells if one.load == load]


def _count(servers: Iterable[str]) -> str:
    count = len(set(servers))
    return f"{count} server{'' if count == 1 else 's'}"


def _fastest(held: Held) -> Question:
    load, there = _at_shared_load(held.cells)
    servers = {one.server for one in there}
    if load is None or len(servers) < 2:
        why = f"Only one server was measured with {held.workload}; it takes two at one load."
        return Question("fastest", _TEXT["fastest"], None, why_not=why)
    return Question(
        "fastest",
        f"Which server is fastest at {held.load_text(load)}?",
        held.query(there, **held.at(load)),
        f"{_count(servers)}, {held.workload}",
    )


def _limits(held: Held) -> Question:
    loads: dict[tuple[str, str | None], set[float]] = defaultdict(set)
    for cell in held.cells:
        if cell.load is not None:
            loads[cell.server, cell.version].add(cell.load)
    swept = {sweep: len(found) for sweep, found in loads.items() if len(found) >= LEAST_LOADS}
    if not swept:
        why = "No server was measured at three loads or more; a sweep shows where it breaks."
        return Question("limits", _TEXT["limits"], None, why_not=why)
    cells = [one for one in held.cells if (one.server, one.version) in swept]
    servers = _count(server for server, _ in swept)
    about = f"{servers} over {max(swept.values())} loads, {held.workload}"
    return Question("limits", _TEXT["limits"], held.query(cells, view="tradeoff"), about)


def _distributions(held: Held) -> Question:
    load, there = _at_shared_load(one for one in held.cells if one.has_distribution)
    if not there:
        why = "Only percentiles were reported; a tool that writes its histogram shows the curve."
        return Question("distributions", _TEXT["distributions"], None, why_not=why)
    return Question(
        "distributions",
        _TEXT["distributions"],
        held.query(there, view="nines", metric="p99", **held.at(load)),
        f"{_count(one.server for one in there)} at {held.load_text(load)}, {held.workload}",
    )


def _versions(held: Held) -> Question:
    """Asked of the server measured in the most versions, under whichever conditions."""
    versions: dict[tuple[str, Conditions, str, float], set[str]] = defaultdict(set)
    for cell in held.every:
        if cell.version and cell.load is not None:
            key = cell.workload, cell.conditions, cell.server, cell.load
            versions[key].add(cell.version)
    usual = held.workload, held.conditions
    most = max(versions, key=lambda key: (len(versions[key]), key[:2] == usual), default=None)
    if most is None or len(versions[most]) < 2:
        why = "No server was measured in two known versions at one load."
        return Question("versions", _TEXT["versions"], None, why_not=why)
    workload, conditions, server, load = most
    count = len(versions[most])
    there = replace(held, workload=workload, conditions=conditions)
    # Change points need more versions; fewer are ranked against each other.
    view: Query = (
        {**there.fixed(load), "x": "version", "view": "trend"}
        if count >= LEAST_POSITIONS
        else there.at(load)
    )
    return Question(
        "versions",
        f"Did {server} get slower?",
        {**there.base, "server": server, **view},
        f"{count} versions at {held.load_text(load)}, {workload}",
    )


def _hardware(held: Held) -> Question:
    like = [one for one in held.own if one.conditions[2:] == held.conditions[2:]]
    hosts: dict[tuple[str, str | None, float | None], set[str]] = defaultdict(set)
    for cell in like:
        if cell.host:
            hosts[cell.server, cell.version, cell.load].add(cell.host)
    moved = [key for key, found in hosts.items() if len(found) > 1]
    if not moved:
        why = "No server was measured on two known hosts, in one version at one load."
        return Question("hardware", _TEXT["hardware"], None, why_not=why)
    load = _load((key[2], key[0]) for key in moved)
    there = [one for one in like if one.load == load and (one.server, one.version, load) in moved]
    base: Query = {
        field: value for field, value in held.base.items() if field not in ("host", "client")
    }
    hosts_there = len({one.host for one in there})
    # A panel for each server: within it only the machine differs.
    moved_names = {one.server for one in there}
    servers: Query = {"server": tuple(sorted(moved_names)), "facet": "server"}
    every = [one for one in like if one.server in moved_names]
    return Question(
        "hardware",
        _TEXT["hardware"],
        {**base, **_newest_versions(there, every), **servers, **held.at(load)},
        f"{_count(moved_names)} on {hosts_there} hosts at {held.load_text(load)}, {held.workload}",
    )


def _cost(held: Held, runs: Sequence[UUID]) -> Question:
    trials = Trial.objects.filter(run__in=runs, cell__series__workload__name=held.workload)
    if not trials.filter(resources__server_cpu_s__gt=0).exists():
        why = "No trial has the CPU time of its server: the agent measures it where it starts it."
        return Question("cost", _TEXT["cost"], None, why_not=why)
    load, there = _at_shared_load(held.cells)
    return Question(
        "cost",
        _TEXT["cost"],
        held.query(there, metric="cpu_per_1k", **held.at(load)),
        f"CPU-seconds per 1,000 requests at {held.load_text(load)}, {held.workload}",
    )


def _distance(held: Held, workspace_id: UUID, slug: str) -> Question:
    like = [one for one in held.every if one.conditions == held.conditions]
    workloads = _shared_workloads(like)
    if len(workloads) > 1:
        own = [one for one in like if one.workload in workloads]
        about = f"{_count(one.server for one in own)} × {len(workloads)} workloads"
        # Each workload is judged on its own: across them only ratios may be averaged.
        each: Query = {
            **held.alike,
            **_newest_versions((), own),
            "facet": "workload",
            "view": "ratios",
        }
        return Question("distance", _TEXT["distance"], each, about)
    load, there = _at_shared_load(held.cells)
    query = held.query(there, **held.at(load))
    several = len({one.server for one in there}) > 1
    slowest = _slowest(query, workspace_id, slug) if several else None
    if slowest is None:
        why = "It takes two servers that may be ranked against each other at one load."
        return Question("distance", _TEXT["distance"], None, why_not=why)
    series, label = slowest
    about = f"relative to {label} at {held.load_text(load)}, {held.workload}"
    return Question("distance", _TEXT["distance"], {**query, "baseline": series}, about)


def _shared_workloads(cells: Iterable[Known]) -> set[str]:
    """The workloads that more than one server was measured with."""
    servers: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        servers[cell.workload].add(cell.server)
    return {name for name, found in servers.items() if len(found) > 1}


def _slowest(query: Query, workspace_id: UUID, slug: str) -> tuple[str, str] | None:
    """The last of the ranking, by series id and label: seen from there everyone is ×1 or more."""
    asked = CompareQuery.parse(urlencode({**query, "workspace": slug}, doseq=True))
    ranking = compare(asked, workspace_ids=[workspace_id]).get("ranking")
    rows = [row for row in (ranking or {}).get("rows") or [] if row["value"] is not None]
    return (rows[-1]["series"], rows[-1]["label"]) if len(rows) > 1 else None
