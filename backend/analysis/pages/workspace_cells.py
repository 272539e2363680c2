"""The newest cells of a workspace, and the workload and conditions that compare the most of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from backend.analysis.grouping.grouping import load_axis
from backend.analysis.query.compare_query import MAX_VALUES
from backend.analysis.query.field import UNKNOWN, number_text
from backend.analysis.query.natural_order import natural
from backend.runs.models import Cell, Host

# The fields of a comparison, as a link has them.
Query = Mapping[str, str | tuple[str, ...]]
MAX_CELLS = 5_000
# What must be alike before servers are held against each other, as the fields of a query.
CONDITIONS = ("host", "client", "tool", "loop")
Conditions = tuple[str | None, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CellSummary:
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
class WorkspaceCells:
    """The cells of a workspace, the newest first, and those that questions are asked about.

    `workload`, `conditions`: of which the most servers were measured. `axis`: of its loads.
    """

    workload: str
    axis: str
    every: tuple[CellSummary, ...]
    conditions: Conditions

    @property
    def of_workload(self) -> tuple[CellSummary, ...]:
        """The cells of the workload, under all conditions."""
        return tuple(cell for cell in self.every if cell.workload == self.workload)

    @property
    def alike(self) -> tuple[CellSummary, ...]:
        """The cells of the workload under the conditions."""
        return tuple(cell for cell in self.of_workload if cell.conditions == self.conditions)

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
        text = number_text(float(load))
        if self.axis == "connections":
            return f"{text} connection{'' if text == '1' else 's'}"
        return f"{text} req/s offered"


def load_workspace_cells(runs: Sequence[UUID]) -> WorkspaceCells | None:
    """The cells of `runs`, which come the newest first; None where nothing was measured."""
    rows = _newest_first(_rows(runs), runs)
    if not rows:
        return None
    conditions = _conditions(rows)
    workload = _widest((row.workload, row.server) for row in rows)
    of_workload = [row for row in rows if row.workload == workload]
    usual = _widest((conditions[row.cell], row.server) for row in of_workload)
    axis = load_axis(
        (row.loop, row.connections, row.rate_rps)
        for row in of_workload
        if conditions[row.cell] == usual
    )
    cells = tuple(_summary(row, conditions[row.cell], axis) for row in rows)
    return WorkspaceCells(workload, axis, cells, usual)


def _conditions(rows: Sequence[_Row]) -> dict[UUID, Conditions]:
    """The conditions of each cell."""
    hosts = _host_values(id_ for row in rows for id_ in (row.server_host, row.client_host))
    return {
        row.cell: (hosts.get(row.server_host), hosts.get(row.client_host), row.tool, row.loop)
        for row in rows
    }


class _Row(NamedTuple):
    cell: UUID
    server: str
    version: str | None
    workload: str
    connections: int | None
    rate_rps: float | None
    percentiles_us: Mapping[str, Any]
    server_host: UUID | None
    client_host: UUID | None
    tool: str
    loop: str
    run: UUID


def _rows(runs: Sequence[UUID]) -> list[_Row]:
    cells = Cell.objects.filter(run__in=runs, trial_count__gt=0).order_by("-run__recorded_at", "pk")
    columns = cells.values_list(
        "pk",
        *("series__server__name", "series__server__version", "series__workload__name"),
        *("connections", "rate_rps", "percentiles_us"),
        *("series__server_host", "series__client_host", "series__tool", "series__loop"),
        "run",
    )
    return [_Row(*row) for row in columns[:MAX_CELLS]]


def _newest_first(rows: Iterable[_Row], runs: Sequence[UUID]) -> list[_Row]:
    """Of one run, the highest version counts as the newest."""
    places = {run: place for place, run in enumerate(runs)}
    by_version = sorted(rows, key=lambda row: natural(row.version or ""), reverse=True)
    return sorted(by_version, key=lambda row: places[row.run])


def _summary(row: _Row, conditions: Conditions, axis: str) -> CellSummary:
    load = row.connections if axis == "connections" else row.rate_rps
    has_distribution = bool(row.percentiles_us)
    return CellSummary(
        row.server, row.version, row.workload, load, conditions, has_distribution, row.run
    )


def _widest(pairs: Iterable[tuple[T, str]]) -> T:
    """What most servers were measured with; of equals the first, which is of the newest run."""
    servers: dict[T, set[str]] = defaultdict(set)
    for key, server in pairs:
        servers[key].add(server)
    return max(servers, key=lambda key: len(servers[key]))


def _host_values(ids: Iterable[UUID | None]) -> dict[UUID | None, str]:
    """How each host stands in a link: by its name. One without a name is left out."""
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
    runs = {cell.run for cell in cells} - {cell.run for cell in older}
    servers = {cell.server for cell in cells}
    return runs if servers == {cell.server for cell in cells if cell.run in runs} else set()
