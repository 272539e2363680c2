"""The questions a workspace is opened with, each as a comparison over what it really holds.

A question that its data cannot answer says why. What is looked at are the newest runs: an answer
about the present needs no more, and the front page of a large workspace stays quick.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from backend.analysis.comparison import compare
from backend.analysis.fields import number_text
from backend.analysis.query import CompareQuery
from backend.runs.models import Cell, Host, Run, Trial

NEWEST_RUNS = 60
MAX_CELLS = 5_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the comparison that answers it, as the fields of its query; or why none.

    `about` says over what, in a few words.
    """

    id: str
    text: str
    query: Mapping[str, str] | None
    about: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """One cell, as far as the questions need it. `load` is on the axis of the workload."""

    server: str
    version: str | None
    workload: str
    load: float | None
    host: str | None
    has_distribution: bool


@dataclass(frozen=True, slots=True)
class Held:
    """What a workspace holds of the workload that compares the most servers."""

    workload: str
    axis: str
    cells: tuple[Known, ...]
    load: float | None
    workloads: tuple[str, ...]

    @property
    def servers(self) -> set[str]:
        return {cell.server for cell in self.cells}

    @property
    def at_load(self) -> set[str]:
        return {cell.server for cell in self.cells if cell.load == self.load}

    @property
    def load_text(self) -> str:
        if self.load is None:
            return ""
        noun = "connections" if self.axis == "connections" else "req/s offered"
        text = number_text(float(self.load))
        return f"{text} {noun.rstrip('s') if text == '1' and self.axis == 'connections' else noun}"

    def query(self, **more: str) -> dict[str, str]:
        """The fields every question shares; the axis only where it is not the usual one."""
        axis = {} if self.axis == "connections" else {"x": self.axis}
        return {"workload": self.workload, **axis, **more}

    def at(self) -> dict[str, str]:
        return {} if self.load is None else {"at": number_text(float(self.load))}

    def fixed(self) -> dict[str, str]:
        """The load as a filter, for when something else is on the axis."""
        return {} if self.load is None else {self.axis: number_text(float(self.load))}


def questions_of(workspace_id: UUID, slug: str) -> list[Question]:
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


def _held(runs: Sequence[UUID]) -> Held | None:
    rows = list(
        Cell.objects.filter(run__in=runs)
        .order_by("-run__recorded_at", "pk")
        .values_list(
            *("series__server__name", "series__server__version", "series__workload__name"),
            *("connections", "rate_rps"),
            *("run__server_host", "percentiles_us"),
        )[:MAX_CELLS]
    )
    if not rows:
        return None
    hosts = _host_values(row[5] for row in rows)
    by_workload: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        by_workload[row[2]].add(row[0])
    # The first of the widest is of the newest run.
    workload = max(by_workload, key=lambda name: len(by_workload[name]))
    own = [row for row in rows if row[2] == workload]
    axis = "connections" if any(row[3] is not None for row in own) else "rate"
    cells = tuple(
        Known(row[0], row[1], row[2], row[3] if axis == "connections" else row[4],
              hosts.get(row[5]), bool(row[6]))
        for row in own
    )  # fmt: skip
    wide = tuple(name for name, servers in by_workload.items() if len(servers) > 1)
    return Held(workload, axis, cells, _load(cells), wide)


def _host_values(ids: Iterable[UUID | None]) -> dict[UUID | None, str]:
    """How each host stands in a link: by its name. One without a name is left out."""
    known = Host.objects.filter(pk__in={id_ for id_ in ids if id_}).exclude(name=None)
    return {pk: name or "" for pk, name in known.values_list("pk", "name")}


def _load(cells: Iterable[Known]) -> float | None:
    """The heaviest of the loads that the most servers were measured at."""
    servers: dict[float, set[str]] = defaultdict(set)
    for cell in cells:
        if cell.load is not None:
            servers[cell.load].add(cell.server)
    return max(servers, key=lambda load: (len(servers[load]), load), default=None)


def _servers(count: int) -> str:
    return f"{count} server{'' if count == 1 else 's'}"


def _fastest(held: Held) -> Question:
    count = len(held.at_load)
    if held.load is None or count < 2:
        why = f"Only one server was measured with {held.workload}; it takes two at one load."
        return Question("fastest", _TEXT["fastest"], None, why_not=why)
    return Question(
        "fastest",
        f"Which server is fastest at {held.load_text}?",
        held.query(**held.at()),
        f"{_servers(count)}, {held.workload}",
    )


def _limits(held: Held) -> Question:
    loads: dict[str, set[float]] = defaultdict(set)
    for cell in held.cells:
        if cell.load is not None:
            loads[cell.server].add(cell.load)
    swept = [server for server, found in loads.items() if len(found) >= 3]
    if not swept:
        why = "No server was measured at three loads or more; a sweep shows where it breaks."
        return Question("limits", _TEXT["limits"], None, why_not=why)
    most = max(len(found) for found in loads.values())
    about = f"{_servers(len(swept))} over {most} loads, {held.workload}"
    return Question("limits", _TEXT["limits"], held.query(view="tradeoff"), about)


def _distributions(held: Held) -> Question:
    with_one = {cell.server for cell in held.cells if cell.has_distribution}
    if not with_one:
        why = "Only percentiles were reported; a tool that writes its histogram shows the curve."
        return Question("distributions", _TEXT["distributions"], None, why_not=why)
    return Question(
        "distributions",
        _TEXT["distributions"],
        held.query(view="nines", metric="p99", **held.at()),
        f"{_servers(len(with_one))} at {held.load_text}, {held.workload}",
    )


def _versions(held: Held) -> Question:
    versions: dict[str, set[str]] = defaultdict(set)
    for cell in held.cells:
        if cell.version:
            versions[cell.server].add(cell.version)
    server = max(versions, key=lambda name: len(versions[name]), default=None)
    if server is None or len(versions[server]) < 2:
        why = "No server was measured in two known versions."
        return Question("versions", _TEXT["versions"], None, why_not=why)
    return Question(
        "versions",
        f"Did {server} get slower?",
        {**held.query(server=server, **held.fixed()), "x": "version", "view": "trend"},
        f"{len(versions[server])} versions, {held.workload}",
    )


def _hardware(held: Held) -> Question:
    hosts: dict[str, set[str]] = defaultdict(set)
    for cell in held.cells:
        if cell.host:
            hosts[cell.server].add(cell.host)
    moved = {server for server, found in hosts.items() if len(found) > 1}
    if not moved:
        why = "No server was measured on two known hosts."
        return Question("hardware", _TEXT["hardware"], None, why_not=why)
    count = len({host for server in moved for host in hosts[server]})
    return Question(
        "hardware",
        _TEXT["hardware"],
        {**held.query(**held.fixed()), "x": "host"},
        f"{_servers(len(moved))} on {count} hosts, {held.workload}",
    )


def _cost(held: Held, runs: Sequence[UUID]) -> Question:
    trials = Trial.objects.filter(run__in=runs, cell__series__workload__name=held.workload)
    if not trials.filter(resources__server_cpu_s__gt=0).exists():
        why = "No trial has the CPU time of its server: the agent measures it where it starts it."
        return Question("cost", _TEXT["cost"], None, why_not=why)
    return Question(
        "cost",
        _TEXT["cost"],
        held.query(metric="cpu_per_1k", **held.at()),
        f"CPU-seconds per 1,000 requests at {held.load_text}, {held.workload}",
    )


def _distance(held: Held, workspace_id: UUID, slug: str) -> Question:
    if len(held.workloads) > 1:
        about = f"{_servers(len(held.servers))} × {len(held.workloads)} workloads"
        return Question("distance", _TEXT["distance"], {"view": "ratios"}, about)
    query = held.query(**held.at())
    slowest = _slowest(query, workspace_id, slug) if len(held.at_load) > 1 else None
    if slowest is None:
        why = "It takes two servers that may be ranked against each other at one load."
        return Question("distance", _TEXT["distance"], None, why_not=why)
    series, label = slowest
    about = f"relative to {label} at {held.load_text}, {held.workload}"
    return Question("distance", _TEXT["distance"], {**query, "baseline": series}, about)


def _slowest(query: Mapping[str, str], workspace_id: UUID, slug: str) -> tuple[str, str] | None:
    """The last of the ranking, by series id and label: seen from there everyone is ×1 or more."""
    asked = CompareQuery.parse(urlencode({**query, "workspace": slug}))
    ranking = compare(asked, workspace_ids=[workspace_id]).get("ranking")
    rows = [row for row in (ranking or {}).get("rows") or [] if row["value"] is not None]
    return (rows[-1]["series"], rows[-1]["label"]) if len(rows) > 1 else None
