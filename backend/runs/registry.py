"""The registry of a workspace: one row per distinct server, host, workload and series.

Registering looks the row up by its identity, and makes it where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Q

from backend.accounts.models import Workspace
from backend.runs.identity import identity_of
from backend.runs.models import FormerName, Host, Series, Server, Workload

SERVER_FIELDS = ("name", "version", "runtime", "configuration")
HOST_FIELDS = ("name", "cpu_model", "cores", "memory_bytes", "virtualisation", "os", "kernel")
WORKLOAD_FIELDS = (
    *("name", "method", "path", "payload_bytes", "keepalive", "tls", "headers"),
    *("body_bytes", "body_sha256"),
)
# Added later. Where unknown they are left out of the identity, so that older rows keep theirs.
LATER_FIELDS = frozenset({"body_bytes", "body_sha256"})
MODELS: dict[FormerName.Kind, type[Server | Host | Workload]] = {
    FormerName.Kind.SERVER: Server,
    FormerName.Kind.HOST: Host,
    FormerName.Kind.WORKLOAD: Workload,
}
Row = TypeVar("Row", Server, Host, Workload)


def lock_names(workspace: Workspace, *, exclusive: bool = False) -> None:
    """Keep names as they are until the transaction ends; `exclusive` to change them.

    Call it before any row is looked up. Recordings share the lock, so none waits for another. A
    renaming waits for the recordings under way, and later recordings see only the new names.
    """
    share = "" if exclusive else "_shared"
    key = int.from_bytes(workspace.pk.bytes[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock{share}(%s)", [key])


def current_name(workspace_ids: Iterable[UUID], kind: FormerName.Kind, name: str) -> str:
    """The current name of the rows once called `name`; `name` itself where it was never renamed."""
    own = Q(workspace__in=list(workspace_ids))
    former = FormerName.objects.filter(own, kind=kind, former=name)
    current = former.values_list("current", flat=True).first()
    if current is None or MODELS[kind]._default_manager.filter(own, name=name).exists():
        return name
    return current


def register_server(workspace: Workspace, fields: Mapping[str, Any]) -> Server:
    """The server with this identity. A new version keeps the colour slot of its name."""
    identity = _pick(fields, SERVER_FIELDS)
    identity["configuration"] = dict(fields.get("configuration") or {})
    return _register(Server, workspace, identity, slot=_slot)


def _slot(workspace: Workspace, name: str) -> int:
    rows = Server.objects.filter(workspace=workspace)
    same = rows.filter(name=name).values_list("slot", flat=True).first()
    if same is not None:
        return same
    highest = rows.order_by("-slot").values_list("slot", flat=True).first()
    return 0 if highest is None else min(highest + 1, 32_000)


def register_host(workspace: Workspace, fields: Mapping[str, Any] | None) -> Host | None:
    """The host with these facts; None where no fact is known."""
    return _register(Host, workspace, _pick(fields, HOST_FIELDS)) if fields else None


def register_workload(workspace: Workspace, fields: Mapping[str, Any]) -> Workload:
    """The workload with this identity."""
    identity = _pick(fields, WORKLOAD_FIELDS)
    identity["headers"] = dict(fields.get("headers") or {})
    return _register(Workload, workspace, identity)


def identity_hash(fields: Mapping[str, Any]) -> bytes:
    """SHA-256 of the identity fields of a server, host or workload."""
    return identity_of(
        {
            name: value
            for name, value in fields.items()
            if value is not None or name not in LATER_FIELDS
        }
    )


def _register(
    model: type[Row],
    workspace: Workspace,
    identity: dict[str, Any],
    **computed: Callable[[Workspace, str], Any],
) -> Row:
    """The row with this identity, or a new row. A former name is replaced by the current one."""
    rows = model._default_manager.filter(workspace=workspace)
    existing = rows.filter(identity=identity_hash(identity)).first()
    if existing is not None:
        return existing
    if identity["name"] is not None:
        kind = FormerName.Kind(str(model._meta.model_name))
        identity = {**identity, "name": current_name([workspace.pk], kind, identity["name"])}
    more = {name: partial(read, workspace, identity["name"]) for name, read in computed.items()}
    row, _ = model._default_manager.get_or_create(
        workspace=workspace, identity=identity_hash(identity), defaults={**identity, **more}
    )
    return row


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
        rows = (self.server, self.workload, self.server_host, self.client_host)
        names = ("server", "workload", "server_host", "client_host")
        return identity_of(
            {
                **{name: _identity(row) for name, row in zip(names, rows, strict=True)},
                "tool": self.tool,
                "tool_version": self.tool_version,
                "loop": self.loop,
            }
        )


def _identity(row: Server | Workload | Host | None) -> str | None:
    return None if row is None else bytes(row.identity).hex()


def register_series(workspace: Workspace, identity: SeriesIdentity) -> Series:
    """The series with this identity."""
    fields = {name: getattr(identity, name) for name in SeriesIdentity.__dataclass_fields__}
    series, _ = Series.objects.get_or_create(workspace=workspace, key=identity.key, defaults=fields)
    return series


def _pick(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: None if is_unknown(value := fields.get(name)) else value for name in names}


def is_unknown(value: object) -> bool:
    """Whether an identity field is unknown: missing, empty, or the text "unknown"."""
    return value is None or (isinstance(value, str) and value.strip().lower() in ("", "unknown"))
