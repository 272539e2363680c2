"""The load points of a workspace, and the workload and conditions that compare the most of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg, BoolOr
from django.db.models import Max, Q

from backend.analysis.grouping.grouping import load_axis
from backend.analysis.loading.series_cache import require_readable_texts
from backend.analysis.query.compare_query import MAX_VALUES
from backend.analysis.query.field import UNKNOWN, natural
from backend.analysis.query.records import settings_of
from backend.analysis.query.units import load_number
from backend.runs.models import Cell, Host, Server
from backend.runs.tables.happening import happened_at_of

# The fields of a comparison, as a link has them.
Query = Mapping[str, str | tuple[str, ...]]
# What must be alike before servers are held against each other, as the fields of a query.
CONDITIONS = ("host", "client", "tool", "loop")
Conditions = tuple[str | None, ...]
K = TypeVar("K")
V = TypeVar("V")


class Variant(NamedTuple):
    """How a version of a server runs: its runtime, and its configuration as `key=value` texts."""

    runtime: str | None
    settings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellSummary:
    """One series at one load, as far as the questions need it.

    `load` is on the axis of its workload and conditions. `runs` measured it, the newest first.
    """

    server: str
    version: str | None
    variant: Variant
    workload: str
    load: float | None
    conditions: Conditions
    has_distribution: bool
    runs: tuple[UUID, ...]

    @property
    def run(self) -> UUID:
        """The newest run that measured it."""
        return self.runs[0]

    @property
    def host(self) -> str | None:
        return self.conditions[0]


@dataclass(frozen=True, slots=True)
class WorkspaceCells:
    """The load points of a workspace, the newest first, and those that questions are asked about.

    `workload`, `conditions`: of which the most servers were measured. `axis`: of its loads.
    """

    workload: str
    axis: str
    every: tuple[CellSummary, ...]
    conditions: Conditions
    # The axis of the loads of each workload under each conditions.
    axes: Mapping[tuple[str, Conditions], str]

    @property
    def of_workload(self) -> tuple[CellSummary, ...]:
        """The cells of the workload, under all conditions."""
        return tuple(cell for cell in self.every if cell.workload == self.workload)

    @property
    def alike(self) -> tuple[CellSummary, ...]:
        """The cells of the workload under the conditions."""
        return tuple(cell for cell in self.of_workload if cell.conditions == self.conditions)

    @property
    def servers(self) -> dict[tuple[str, Conditions], set[str]]:
        """The servers measured with each workload under each conditions."""
        return sets_by_key(((cell.workload, cell.conditions), cell.server) for cell in self.every)

    def under(self, workload: str, conditions: Conditions) -> WorkspaceCells:
        """The same cells, for questions about another workload or other conditions."""
        axis = self.axes[workload, conditions]
        return replace(self, workload=workload, conditions=conditions, axis=axis)

    def others(self) -> Iterator[WorkspaceCells]:
        """The same cells, for questions about each other workload under each other conditions, with
        the most servers first."""
        servers = self.servers
        servers.pop((self.workload, self.conditions), None)
        for key in sorted(servers, key=lambda key: -len(servers[key])):
            yield self.under(*key)

    def without(self, run: UUID) -> WorkspaceCells:
        """The same cells as if the run had not been measured."""
        cells = [
            replace(cell, runs=others)
            for cell in self.every
            if (others := tuple(other for other in cell.runs if other != run))
        ]
        return replace(self, every=tuple(cells))

    @property
    def condition_filters(self) -> dict[str, str]:
        """The conditions as filters, where not all cells of the workspace have them."""
        return {
            field: value
            for at, (field, value) in enumerate(zip(CONDITIONS, self.conditions, strict=True))
            if value is not None and len({cell.conditions[at] for cell in self.every}) > 1
        }

    @property
    def base_query(self) -> Query:
        """The fields that questions share; the axis only where it is not the usual one."""
        axis = {} if self.axis == "connections" else {"x": self.axis}
        return {"workload": self.workload, **axis, **self.condition_filters}

    def query(self, first: Iterable[CellSummary], **more: str) -> Query:
        """The comparison of the servers in their newest versions, those of `first` before all."""
        return {**self.base_query, **newest_versions(first, self.alike), **more}

    def load_text(self, load: float | None) -> str:
        if load is None:
            return ""
        text = load_number(float(load))
        if self.axis == "connections":
            return f"{text} connection{'' if text == '1' else 's'}"
        return f"{text} req/s offered"


def sets_by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, set[V]]:
    """The values that each key is paired with, in the order of the keys."""
    sets: dict[K, set[V]] = defaultdict(set)
    for key, value in pairs:
        sets[key].add(value)
    return sets


def load_workspace_cells(workspace_id: UUID) -> WorkspaceCells | None:
    """Every load point of the workspace; None if nothing was measured."""
    rows = _newest_first(_rows(workspace_id))
    if not rows:
        return None
    conditions = _conditions(rows)
    workload = _widest((row.workload, row.server) for row in rows)
    of_workload = [row for row in rows if row.workload == workload]
    usual = _widest((conditions[row.series], row.server) for row in of_workload)
    axes = _axes(rows, conditions)
    cells = tuple(_summary(row, conditions[row.series], axes) for row in rows)
    return WorkspaceCells(workload, axes[workload, usual], cells, usual, axes)


def _axes(
    rows: Iterable[_Row], conditions: Mapping[UUID, Conditions]
) -> dict[tuple[str, Conditions], str]:
    alike: dict[tuple[str, Conditions], list[_Row]] = defaultdict(list)
    for row in rows:
        alike[row.workload, conditions[row.series]].append(row)
    return {
        key: load_axis((row.loop, row.connections, row.rate_rps) for row in own)
        for key, own in alike.items()
    }


def _conditions(rows: Sequence[_Row]) -> dict[UUID, Conditions]:
    """The conditions of each series."""
    hosts = _host_values({id_ for row in rows for id_ in (row.server_host, row.client_host)})
    return {
        row.series: (hosts.get(row.server_host), hosts.get(row.client_host), row.tool, row.loop)
        for row in rows
    }


class _Row(NamedTuple):
    """One series at one load. `runs`: those that measured it, the newest first."""

    series: UUID
    server: str
    version: str | None
    runtime: str | None
    settings: tuple[str, ...]
    workload: str
    server_host: UUID | None
    client_host: UUID | None
    tool: str
    loop: str
    connections: int | None
    rate_rps: float | None
    runs: list[UUID]
    newest: datetime
    has_distribution: bool


def _rows(workspace_id: UUID) -> list[_Row]:
    require_readable_texts(workspace_id)
    # Once for each server, not for each of its load points.
    servers = Server.objects.filter(workspace=workspace_id).values_list("pk", "configuration")
    settings = {pk: settings_of(configuration) for pk, configuration in servers}
    happened_at = happened_at_of("run__")
    cells = Cell.of_kept_runs.filter(run__workspace=workspace_id, trial_count__gt=0)
    load_points = cells.values_list(
        "series",
        *("series__server__name", "series__server__version", "series__server__runtime"),
        *("series__server", "series__workload__name"),
        *("series__server_host", "series__client_host", "series__tool", "series__loop"),
        *("connections", "rate_rps"),
    ).annotate(
        runs=ArrayAgg("run", order_by=(happened_at.desc(), "-run__recorded_at", "run")),
        newest=Max(happened_at),
        has_distribution=BoolOr(~Q(percentiles_us={})),
    )
    # By names: no id decides which of equals comes first.
    ordered = load_points.order_by(
        *("series__server__name", "series__workload__name", "series__tool", "series__loop"),
        *("connections", "rate_rps", "series"),
    )
    return [_Row._make((*row[:4], settings[row[4]], *row[5:])) for row in ordered]


def _newest_first(rows: Iterable[_Row]) -> list[_Row]:
    """Of one run, the highest version counts as the newest."""
    by_version = sorted(rows, key=lambda row: natural(row.version or ""), reverse=True)
    return sorted(by_version, key=lambda row: row.newest, reverse=True)


def _summary(
    row: _Row, conditions: Conditions, axes: Mapping[tuple[str, Conditions], str]
) -> CellSummary:
    axis = axes[row.workload, conditions]
    load = row.connections if axis == "connections" else row.rate_rps
    return CellSummary(
        row.server,
        row.version,
        Variant(row.runtime, row.settings),
        row.workload,
        load,
        conditions,
        row.has_distribution,
        tuple(row.runs),
    )


def _widest(pairs: Iterable[tuple[K, str]]) -> K:
    """What most servers were measured with; of equals the first, which is of the newest run."""
    servers = sets_by_key(pairs)
    return max(servers, key=lambda key: len(servers[key]))


def _host_values(ids: Iterable[UUID | None]) -> dict[UUID | None, str]:
    """How each host is written in a link: by its name. One without a name is left out."""
    named = Host.objects.filter(pk__in={id_ for id_ in ids if id_}).exclude(name=None)
    return {pk: name or "" for pk, name in named.values_list("pk", "name")}


def newest_versions(first: Iterable[CellSummary], cells: Sequence[CellSummary]) -> Query:
    """A filter on the version last measured of each server; none where no server has several.

    Of a server in `first` it is a version of that: those cells can answer the question.
    """
    newest: dict[str, str | None] = {}
    for cell in (*first, *cells):
        newest.setdefault(cell.server, cell.version)
    older = [cell for cell in cells if cell.version != newest[cell.server]]
    if not older:
        return {}
    versions = set(newest.values())
    # Where the newest version of one server is an older one of another, versions select too much.
    if any(cell.version in versions for cell in older) and (runs := _runs_without(older, cells)):
        return {"run": tuple(sorted(map(str, runs)))[:MAX_VALUES]}
    return {"version": tuple(sorted(version or UNKNOWN for version in versions))}


def _runs_without(older: Sequence[CellSummary], cells: Sequence[CellSummary]) -> set[UUID]:
    """The runs that hold no older version; none where a server is in no such run."""
    runs = {cell.run for cell in cells} - {run for cell in older for run in cell.runs}
    servers = {cell.server for cell in cells}
    return runs if servers == {cell.server for cell in cells if cell.run in runs} else set()
