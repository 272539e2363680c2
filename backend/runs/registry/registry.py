"""The registry of a workspace: one row per distinct server, host, workload and series.

Registering looks rows up by their identities, and makes those that are missing: a few statements
for any number of rows.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

from django.db import connection
from django.db.models import Max, Q

from backend.accounts.models import Workspace
from backend.errors import Away
from backend.runs.database.bulk import insert_rows
from backend.runs.models import FormerName, Host, Series, Server, Workload
from backend.runs.registry.identity import identity_of
from backend.runs.tables.names import is_unknown
from backend.runs.tables.server_texts import SERVER_TEXTS

SERVER_FIELDS = ("name", *(text.name for text in SERVER_TEXTS), "configuration")
HOST_FIELDS = ("name", "cpu_model", "cores", "memory_bytes", "virtualisation", "os", "kernel")
WORKLOAD_FIELDS = (
    *("name", "method", "path", "payload_bytes", "keepalive", "tls", "headers"),
    *("body_bytes", "body_sha256"),
)
# Part of the identity also where unknown. A field that was added later is left out where unknown,
# so that older rows keep their identity.
_FIRST_FIELDS = frozenset(
    {
        *("name", "version", "runtime", "configuration"),
        *("cpu_model", "cores", "memory_bytes", "virtualisation", "os", "kernel"),
        *("method", "path", "payload_bytes", "keepalive", "tls", "headers"),
    }
)
MODELS: dict[FormerName.Kind, type[Server | Host | Workload]] = {
    FormerName.Kind.SERVER: Server,
    FormerName.Kind.HOST: Host,
    FormerName.Kind.WORKLOAD: Workload,
}
# The columns of runs and series that hold a host, and the rows that a series is made of.
HOST_ROLES = ("server_host", "client_host")
PARTS = ("server", "workload", *HOST_ROLES)
_FIELDS = {Server: SERVER_FIELDS, Host: HOST_FIELDS, Workload: WORKLOAD_FIELDS}
Row = TypeVar("Row", Server, Host, Workload)
HIGHEST_SLOT = 32_000
# Threads of a process that may wait for names at once, of one workspace and in all. A merge keeps
# the names of its workspace for many seconds; whoever began changes of them meanwhile would have
# all threads wait.
MOST_WAITING_OF_WORKSPACE, MOST_WAITING = 4, 12
WAIT_AGAIN_S = 5
_places = threading.Lock()
_waiting: Counter[UUID] = Counter()


class NamesBusy(Away):
    """Names are changed at the moment, and enough requests wait for that already."""

    def __init__(self) -> None:
        super().__init__("Names of servers, hosts or workloads are changed at the moment.")


def roles_of(kind: FormerName.Kind) -> tuple[str, ...]:
    """The columns of series that hold a server, host or workload."""
    return HOST_ROLES if kind == FormerName.Kind.HOST else (str(kind),)


def lock_names(workspace: Workspace, *, exclusive: bool = False) -> None:
    """Keep names as they are until the transaction ends; `exclusive` to change them.

    Call it before any row is looked up. Recordings share the lock, so none waits for another. A
    renaming waits for the recordings under way, and later recordings see only the new names.
    Raises NamesBusy.
    """
    share = "" if exclusive else "_shared"
    key = int.from_bytes(workspace.pk.bytes[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_xact_lock{share}(%s)", [key])
        if cursor.fetchone()[0]:
            return
        with _place_to_wait(workspace.pk):
            cursor.execute(f"SELECT pg_advisory_xact_lock{share}(%s)", [key])


@contextmanager
def _place_to_wait(workspace_id: UUID) -> Iterator[None]:
    with _places:
        own = _waiting[workspace_id]
        if own >= MOST_WAITING_OF_WORKSPACE or _waiting.total() >= MOST_WAITING:
            raise NamesBusy
        _waiting[workspace_id] += 1
    try:
        yield
    finally:
        with _places:
            _waiting[workspace_id] -= 1
            if not _waiting[workspace_id]:
                del _waiting[workspace_id]


def current_name(workspace_ids: Iterable[UUID], kind: FormerName.Kind, name: str) -> str:
    """The current name of the rows once called `name`; `name` itself where it was never renamed."""
    return _current_names(list(workspace_ids), kind, {name}).get(name, name)


def _current_names(
    workspace_ids: Sequence[UUID], kind: FormerName.Kind, names: Collection[str]
) -> dict[str, str]:
    """The current names by the former ones; only of names that no row has any more."""
    own = Q(workspace__in=workspace_ids)
    former = FormerName.objects.filter(own, kind=kind, former__in=names)
    # The oldest row of a name comes last, and counts.
    current = dict(former.order_by("-pk").values_list("former", "current"))
    if current:
        rows = MODELS[kind]._default_manager.filter(own, name__in=current)
        for name in rows.values_list("name", flat=True).distinct():
            current.pop(str(name), None)
    return current


def register_servers(
    workspace: Workspace, servers: Sequence[Mapping[str, Any]]
) -> Sequence[Server]:
    """The server of each identity. A new version keeps the colour slot of its name."""
    return _register(Server, workspace, [server_identity(fields) for fields in servers])


def server_identity(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The identity fields among what an upload says of a server; None is unknown."""
    configuration = dict(fields.get("configuration") or {})
    return {**_pick(fields, SERVER_FIELDS), "configuration": configuration}


def register_host(workspace: Workspace, fields: Mapping[str, Any] | None) -> Host | None:
    """The host with these facts; None if no fact is known."""
    return _register(Host, workspace, [host_identity(fields)])[0] if fields else None


def host_identity(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The identity fields among what an upload says of a host; None is unknown."""
    return _pick(fields, HOST_FIELDS)


def register_workloads(
    workspace: Workspace, workloads: Sequence[Mapping[str, Any]]
) -> Sequence[Workload]:
    return _register(Workload, workspace, [workload_identity(fields) for fields in workloads])


def workload_identity(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The identity fields among what an upload says of a workload; None is unknown."""
    headers = dict(fields.get("headers") or {})
    return {**_pick(fields, WORKLOAD_FIELDS), "headers": headers}


def identity_fields(row: Server | Host | Workload) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _FIELDS[type(row)]}


def identity_hash(fields: Mapping[str, Any]) -> bytes:
    """SHA-256 of the identity fields of a server, host or workload."""
    return identity_of(
        {
            name: value
            for name, value in fields.items()
            if value is not None or name in _FIRST_FIELDS
        }
    )


def _register(
    model: type[Row], workspace: Workspace, identities: Sequence[dict[str, Any]]
) -> Sequence[Row]:
    """The row of each identity: stored before, or new."""
    hashes = [identity_hash(identity) for identity in identities]
    rows = _stored_rows(model, workspace, hashes)
    pairs = zip(hashes, identities, strict=True)
    missing = {hash_: identity for hash_, identity in pairs if hash_ not in rows}
    if missing:
        rows |= _make_rows(model, workspace, missing)
    return [rows[hash_] for hash_ in hashes]


def _stored_rows(
    model: type[Row], workspace: Workspace, hashes: Iterable[bytes]
) -> dict[bytes, Row]:
    rows = model._default_manager.filter(workspace=workspace, identity__in=set(hashes))
    return {bytes(row.identity): row for row in rows}


def _make_rows(
    model: type[Row], workspace: Workspace, missing: Mapping[bytes, dict[str, Any]]
) -> dict[bytes, Row]:
    """New rows, by the hashes of what was asked for. A former name is replaced by the current one,
    so the row of the current name may be stored already."""
    names = {identity["name"] for identity in missing.values() if identity["name"] is not None}
    kind = FormerName.Kind(str(model._meta.model_name))
    current = _current_names([workspace.pk], kind, names)
    identities = {
        hash_: {**identity, "name": current.get(identity["name"], identity["name"])}
        for hash_, identity in missing.items()
    }
    current_hashes = {hash_: identity_hash(fields) for hash_, fields in identities.items()}
    rows = {
        current_hashes[hash_]: model(
            workspace=workspace, identity=current_hashes[hash_], **identities[hash_]
        )
        for hash_ in missing
    }
    if model is Server:
        _choose_slots(workspace, cast(Collection[Server], rows.values()))
    # In one order, so that two recordings of the same new rows do not wait for each other.
    insert_rows(model, [rows[hash_] for hash_ in sorted(rows)], ignore_conflicts=True)
    stored = _stored_rows(model, workspace, rows)
    return {hash_: stored[current_hash] for hash_, current_hash in current_hashes.items()}


def _choose_slots(workspace: Workspace, servers: Collection[Server]) -> None:
    """Give each new server the slot of its name, or the next one."""
    stored = Server.objects.filter(workspace=workspace)
    names = {server.name for server in servers}
    same = stored.filter(name__in=names).order_by("-pk")
    slots: dict[str, int] = dict(same.values_list("name", "slot"))
    if len(slots) < len(names):
        highest = stored.aggregate(highest=Max("slot"))["highest"]
        following = 0 if highest is None else highest + 1
        for server in servers:
            if server.name not in slots:
                slots[server.name] = min(following, HIGHEST_SLOT)
                following += 1
    for server in servers:
        server.slot = slots[server.name]


@dataclass(frozen=True, slots=True)
class SeriesIdentity:
    """What makes results one series: everything but the load."""

    server: Server
    workload: Workload
    server_host: Host | None
    client_host: Host | None
    tool: str
    tool_version: str | None
    loop: str

    @classmethod
    def of(cls, series: Series) -> SeriesIdentity:
        """The identity of a stored series, from the current state of its parts."""
        return cls(**{name: getattr(series, name) for name in cls.__dataclass_fields__})

    @property
    def key(self) -> bytes:
        """SHA-256 over the identities of the parts."""
        return identity_of(
            {
                **{part: _identity(getattr(self, part)) for part in PARTS},
                "tool": self.tool,
                "tool_version": self.tool_version,
                "loop": self.loop,
            }
        )


def _identity(row: Server | Workload | Host | None) -> str | None:
    return None if row is None else bytes(row.identity).hex()


def register_series(workspace: Workspace, identities: Sequence[SeriesIdentity]) -> Sequence[Series]:
    """The series of each identity, with its parts loaded."""
    keys = {identity: identity.key for identity in set(identities)}
    stored = _stored_series(workspace, keys.values())
    missing = {key: identity for identity, key in keys.items() if key not in stored}
    if missing:
        rows = [_series_row(workspace, key, missing[key]) for key in sorted(missing)]
        insert_rows(Series, rows, ignore_conflicts=True)
        stored |= _stored_series(workspace, missing)
    for identity, key in keys.items():
        for part in PARTS:
            setattr(stored[key], part, getattr(identity, part))
    return [stored[keys[identity]] for identity in identities]


def _stored_series(workspace: Workspace, keys: Iterable[bytes]) -> dict[bytes, Series]:
    rows = Series.objects.filter(workspace=workspace, key__in=set(keys))
    return {bytes(row.key): row for row in rows}


def _series_row(workspace: Workspace, key: bytes, identity: SeriesIdentity) -> Series:
    fields = {name: getattr(identity, name) for name in SeriesIdentity.__dataclass_fields__}
    return Series(workspace=workspace, key=key, **fields)


def _pick(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: None if is_unknown(value := fields.get(name)) else value for name in names}
