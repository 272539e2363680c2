"""The series of workspaces, kept in memory for as long as nothing there changes.

They are few beside the cells (thousands where there are millions of trials), and every filter,
facet and label is about them: choosing among them here costs no statement.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from backend.accounts.models import Workspace
from backend.analysis.facts import HostFact, SeriesFact, ServerFact, WorkloadFact, slug_of
from backend.analysis.fields import Field, known_as, texts_of
from backend.runs.models import Host, Series, Server, Workload

MAX_SERIES_KNOWN = 50_000
MAX_KEPT = 32


class Catalogue:
    """The series of one workspace, with what a link may call the values of their fields."""

    def __init__(self, series: Iterable[SeriesFact]) -> None:
        self.series = tuple(series)
        self._spellings: dict[str, list[frozenset[str]]] = {}
        self._texts: dict[str, list[tuple[str, ...]]] = {}

    def spellings(self, field: Field) -> list[frozenset[str]]:
        """For each series every spelling that means its value of the field."""
        if field.id not in self._spellings:
            self._spellings[field.id] = [known_as(field, one) for one in self.series]
        return self._spellings[field.id]

    def texts(self, field: Field) -> list[tuple[str, ...]]:
        """For each series its values of the field, spelled in one way."""
        if field.id not in self._texts:
            self._texts[field.id] = [texts_of(field, one) for one in self.series]
        return self._texts[field.id]


_kept: dict[tuple[uuid.UUID, int], Catalogue] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Tenant:
    """A workspace as a comparison needs it."""

    id: uuid.UUID
    slug: str
    data_version: int
    relevant_share: float
    must_match: tuple[str, ...]


def tenants(workspace_ids: Iterable[uuid.UUID], slug: str | None = None) -> list[Tenant]:
    """The workspaces with these ids, or only the one among them with this slug."""
    rows = Workspace.objects.filter(pk__in=list(workspace_ids)).order_by("slug")
    if slug is not None:
        rows = rows.filter(slug=slug)
    return [
        Tenant(one.pk, one.slug, one.data_version, one.relevant_share, tuple(one.must_match))
        for one in rows
    ]


def catalogue_of(tenant: Tenant) -> Catalogue:
    """Every series of a workspace."""
    key = tenant.id, tenant.data_version
    if (known := _kept.get(key)) is not None:
        return known
    fresh = Catalogue(_load(tenant.id))
    with _lock:
        _kept[key] = fresh
        for old in list(_kept)[: max(0, len(_kept) - MAX_KEPT)]:
            del _kept[old]
    return fresh


def _load(workspace_id: uuid.UUID) -> list[SeriesFact]:
    servers = {row.pk: _server(row) for row in Server.objects.filter(workspace=workspace_id)}
    workloads = {row.pk: _workload(row) for row in Workload.objects.filter(workspace=workspace_id)}
    hosts = {row.pk: host_fact(row) for row in Host.objects.filter(workspace=workspace_id)}
    rows = Series.objects.filter(workspace=workspace_id).order_by("pk")
    columns = rows.values_list(
        *("pk", "server_id", "workload_id", "server_host_id", "client_host_id"),
        *("tool", "tool_version", "loop"),
    )
    return [
        SeriesFact(
            id=pk,
            workspace_id=workspace_id,
            server=servers[server],
            workload=workloads[workload],
            server_host=hosts.get(server_host),
            client_host=hosts.get(client_host),
            tool=tool,
            tool_version=tool_version,
            loop=loop,
        )
        for pk, server, workload, server_host, client_host, tool, tool_version, loop in columns[
            :MAX_SERIES_KNOWN
        ]
    ]


def _server(row: Server) -> ServerFact:
    return ServerFact(row.pk, row.name, row.version, row.runtime, row.slot, row.configuration)


def _workload(row: Workload) -> WorkloadFact:
    return WorkloadFact(
        row.pk,
        row.name,
        row.method,
        row.path,
        row.payload_bytes,
        row.keepalive,
        row.tls,
        row.headers,
    )


def host_fact(host: Host) -> HostFact:
    return HostFact(
        id=host.pk,
        name=host.name,
        slug=slug_of(host.name or host.cpu_model or str(host.pk)),
        cpu_model=host.cpu_model,
        cores=host.cores,
        memory_bytes=host.memory_bytes,
        virtualisation=host.virtualisation,
        os=host.os,
        kernel=host.kernel,
    )


def forget() -> None:
    """Keep nothing any more."""
    with _lock:
        _kept.clear()
