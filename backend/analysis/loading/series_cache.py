"""The series of workspaces, kept in memory for as long as nothing there changes.

They are few beside the cells (thousands where there are millions of trials), and every filter,
facet and label is about them: choosing among them here costs no statement.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.db.models import Q, QuerySet, Sum

from backend.accounts.models import Workspace
from backend.accounts.workspace.workspaces import current_slug
from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.analysis.query.factors import DEFAULT_MUST_MATCH
from backend.analysis.query.field import Field, spellings_of, texts_of
from backend.analysis.query.records import (
    LoadedHost,
    LoadedSeries,
    LoadedServer,
    LoadedWorkload,
    slug_of,
)
from backend.errors import Unprocessable
from backend.runs.database.json_bytes import json_bytes
from backend.runs.database.kept_findings import Findings
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import FormerName, Host, Server, Workload
from backend.runs.registry.shown import shown_series
from backend.runs.tables.server_texts import SERVER_TEXTS

MAX_LOADED_SERIES = 50_000
# Of the configurations and headers of all servers and workloads of a workspace, as JSON.
MAX_TEXT_BYTES = 32 << 20
# Of the servers of all series of a workspace: each series has a text for each.
MAX_SETTINGS = 500_000
# Of all catalogues that are kept together, by what a series and a setting take.
MAX_KEPT_BYTES = 128 << 20
BYTES_OF_A_SERIES, BYTES_OF_A_SETTING = 1_000, 200


class TooManyConfigurations(Unprocessable):
    """A workspace has more than a comparison can read at once."""

    def __init__(self, what: str, most: str) -> None:
        super().__init__(
            f"The series of this workspace have {what}; comparisons read at most {most}.",
            hint="Delete runs whose servers have long configurations.",
        )


class FormerNames:
    """The names that things of a workspace had before, each pair of a kind and a name."""

    def __init__(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """`rows`: kind, former and current name, a thing's first name before its others."""
        self._first: dict[tuple[str, str], str] = {}
        self._current: dict[tuple[str, str], set[str]] = {}
        for kind, former, current in rows:
            self._first.setdefault((kind, current), former)
            for spelling in (former, slug_of(former)):
                self._current.setdefault((kind, spelling), set()).add(current)

    def first(self, kind: str, name: str | None) -> str | None:
        """What the thing of this name was called first; None if it was never renamed."""
        return None if name is None else self._first.get((kind, name))

    def current(self, kind: str, spelling: str) -> Set[str]:
        """The names now of what was once called, or spelled in links, like this."""
        return self._current.get((kind, spelling), frozenset())


NO_FORMER_NAMES = FormerNames(())


class Catalogue:
    """The series of one workspace, with what a link may call the values of their fields."""

    def __init__(
        self,
        series: Iterable[LoadedSeries],
        names: FormerNames = NO_FORMER_NAMES,
        text_bytes: int = 0,
    ) -> None:
        self.series = tuple(series)
        self.names = names
        self.bytes = (
            text_bytes
            + BYTES_OF_A_SERIES * len(self.series)
            + BYTES_OF_A_SETTING * _count_settings(self.series)
        )
        self._spellings: dict[str, list[frozenset[str]]] = {}
        self._texts: dict[str, list[tuple[str, ...]]] = {}
        self._positions: dict[str, dict[str, list[int]]] = {}
        self._all_spellings: dict[str, frozenset[str]] = {}
        self._called: dict[str, dict[str, set[str]]] = {}

    def spellings(self, field: Field) -> list[frozenset[str]]:
        """For each series every spelling that means its value of the field."""
        if field.id not in self._spellings:
            self._spellings[field.id] = [spellings_of(field, series) for series in self.series]
        return self._spellings[field.id]

    def has(self, field: Field, spelling: str) -> bool:
        """Whether any series has a value of the field that is spelled so in links."""
        if field.id not in self._all_spellings:
            self._all_spellings[field.id] = frozenset().union(*self.spellings(field))
        return spelling in self._all_spellings[field.id]

    def called(self, field: Field, spelling: str) -> Set[str]:
        """The value with this text or, if there is none, the values with this slug."""
        if field.id not in self._called:
            texts = self.positions(field)
            called: dict[str, set[str]] = {}
            for text in texts:
                called.setdefault(slug_of(text), set()).add(text)
            self._called[field.id] = called | {text: {text} for text in texts}
        return self._called[field.id].get(spelling, frozenset())

    def texts(self, field: Field) -> list[tuple[str, ...]]:
        """For each series its values of the field, spelled in one way."""
        if field.id not in self._texts:
            self._texts[field.id] = [texts_of(field, series) for series in self.series]
        return self._texts[field.id]

    def positions(self, field: Field) -> Mapping[str, Sequence[int]]:
        """The positions of the series that have a value of the field, by its text."""
        if field.id not in self._positions:
            positions: dict[str, list[int]] = {}
            for position, texts in enumerate(self.texts(field)):
                for text in texts:
                    positions.setdefault(text, []).append(position)
            self._positions[field.id] = positions
        return self._positions[field.id]

    @cached_property
    def position_by_id(self) -> Mapping[str, int]:
        """The position of each series by the text of its id, which is hashed faster than a UUID."""
        return {str(series.id): position for position, series in enumerate(self.series)}


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """A workspace as a comparison needs it."""

    id: uuid.UUID
    slug: str
    data_version: int
    relevant_share: float
    must_match: tuple[str, ...]
    min_trials: int


# Every comparison asks this twice. As text it costs a third of what composing it each time does.
_SETTINGS = """
    SELECT * FROM accounts_workspace
    WHERE id = ANY(%s::uuid[]) AND (%s::text IS NULL OR slug = %s)
    ORDER BY slug
    """


def load_settings(
    workspace_ids: Iterable[uuid.UUID], slug: str | None = None
) -> list[WorkspaceSettings]:
    """The workspaces with these ids; with `slug`, only that workspace."""
    wanted = None if slug is None else current_slug(slug)
    rows = Workspace.objects.raw(_SETTINGS, [list(workspace_ids), wanted, wanted])
    return [
        WorkspaceSettings(
            row.pk,
            row.slug,
            row.data_version,
            row.relevant_share,
            DEFAULT_MUST_MATCH if row.must_match is None else tuple(row.must_match),
            row.min_trials,
        )
        for row in rows
    ]


def get_catalogue(workspace: WorkspaceSettings) -> Catalogue:
    """Every series of a workspace."""
    return _catalogues.get(workspace.id, workspace.data_version, partial(_load, workspace.id))


@repeatable_read()
def load_catalogue(workspace_id: uuid.UUID, *, viewer: str) -> None:
    """Read the series of a workspace, unless they are kept; of a large one in a slot of the viewer.

    Raises TooManyAnswers and AnswersBusy.
    """
    take_slot = partial(hold_slot_if_workspace_large, workspace_id, viewer=viewer)
    load = partial(_load, workspace_id)
    for workspace in load_settings([workspace_id]):
        _catalogues.get(workspace_id, workspace.data_version, load, take_slot=take_slot)


_catalogues: Findings[Catalogue] = Findings(
    most=MAX_KEPT_BYTES, least_age=0, weigh=lambda catalogue: catalogue.bytes
)


def _load(workspace_id: uuid.UUID) -> Catalogue:
    own = Q(workspace=workspace_id)
    text_bytes = require_readable_texts(workspace_id)
    names = FormerNames(FormerName.objects.filter(own).values_list("kind", "former", "current"))
    # As tuples: thousands of model instances take twice as long as their rows.
    server_rows = Server.objects.filter(own).values_list(*_SERVER, named=True)
    servers = {row.pk: _server(row, names) for row in server_rows}
    workload_rows = Workload.objects.filter(own).values_list(*_WORKLOAD, named=True)
    workloads = {row.pk: _workload(row, names) for row in workload_rows}
    hosts = {row.pk: load_host(row, names) for row in Host.objects.filter(own)}
    rows = shown_series([workspace_id]).order_by("pk")
    columns = rows.values_list(
        *("pk", "server_id", "workload_id", "server_host_id", "client_host_id"),
        *("tool", "tool_version", "loop"),
    )
    series = (
        LoadedSeries(
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
            :MAX_LOADED_SERIES
        ]
    )
    loaded = tuple(series)
    if (settings := _count_settings(loaded)) > MAX_SETTINGS:
        raise TooManyConfigurations(f"{settings:,} settings of servers", f"{MAX_SETTINGS:,}")
    return Catalogue(loaded, names, text_bytes)


def _count_settings(series: Iterable[LoadedSeries]) -> int:
    return sum(len(each.server.configuration) for each in series)


def require_readable_texts(workspace_id: uuid.UUID) -> int:
    """The bytes of the configurations and headers of a workspace, which one answer may hold.

    Raises TooManyConfigurations.
    """
    own = Q(workspace=workspace_id)
    text_bytes = _text_bytes(Server.objects.filter(own), "configuration")
    text_bytes += _text_bytes(Workload.objects.filter(own), "headers")
    if text_bytes > MAX_TEXT_BYTES:
        most = f"{MAX_TEXT_BYTES >> 20} MiB"
        raise TooManyConfigurations(f"{text_bytes >> 20} MiB of configurations and headers", most)
    return text_bytes


def _text_bytes(rows: QuerySet[Any], column: str) -> int:
    total: int | None = rows.aggregate(total=Sum(json_bytes(column)))["total"]
    return total or 0


_SERVER = ("pk", "name", "slot", "configuration", *(text.name for text in SERVER_TEXTS))
_WORKLOAD = (
    *("pk", "name", "method", "path", "payload_bytes", "keepalive", "tls", "headers"),
    "body_sha256",
)


def _server(row: Any, names: FormerNames) -> LoadedServer:
    return LoadedServer(
        row.pk,
        row.name,
        row.slot,
        row.configuration,
        {text.name: getattr(row, text.name) for text in SERVER_TEXTS},
        names.first(FormerName.Kind.SERVER, row.name),
    )


def _workload(row: Any, names: FormerNames) -> LoadedWorkload:
    return LoadedWorkload(
        row.pk,
        row.name,
        row.method,
        row.path,
        row.payload_bytes,
        row.keepalive,
        row.tls,
        row.headers,
        names.first(FormerName.Kind.WORKLOAD, row.name),
        row.body_sha256,
    )


def load_host(host: Host, names: FormerNames = NO_FORMER_NAMES) -> LoadedHost:
    return LoadedHost(
        id=host.pk,
        name=host.name,
        slug=slug_of(host.name or host.cpu_model or str(host.pk)),
        cpu_model=host.cpu_model,
        cores=host.cores,
        memory_bytes=host.memory_bytes,
        virtualisation=host.virtualisation,
        os=host.os,
        kernel=host.kernel,
        first_name=names.first(FormerName.Kind.HOST, host.name),
    )


def forget() -> None:
    """Empty the cache."""
    _catalogues.forget()
