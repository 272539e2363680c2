"""Finding or making the server, host, workload and series that identity fields describe."""

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
# Came later: unknown they are left out, so that what was identified before stays the same thing.
LATER_FIELDS = frozenset({"body_bytes", "body_sha256"})
MODELS: dict[FormerName.Kind, type[Server | Host | Workload]] = {
    FormerName.Kind.SERVER: Server,
    FormerName.Kind.HOST: Host,
    FormerName.Kind.WORKLOAD: Workload,
}
Thing = TypeVar("Thing", Server, Host, Workload)


def hold_names(workspace: Workspace, *, exclusive: bool = False) -> None:
    """Keep names as they are until the transaction ends; exclusive: to change them alone.

    To be called before any thing is looked up. Recordings share the hold, so none waits for
    another; a renaming waits for those under way, and the next ones see only its names.
    """
    share = "" if exclusive else "_shared"
    key = int.from_bytes(workspace.pk.bytes[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock{share}(%s)", [key])


def current_name(workspace_ids: Iterable[UUID], kind: FormerName.Kind, name: str) -> str:
    """What is called `name` now; `name` itself where something is, or nothing ever was."""
    own = Q(workspace__in=list(workspace_ids))
    former = FormerName.objects.filter(own, kind=kind, former=name)
    current = former.values_list("current", flat=True).first()
    if current is None or MODELS[kind]._default_manager.filter(own, name=name).exists():
        return name
    return current


def server_of(workspace: Workspace, fields: Mapping[str, Any]) -> Server:
    """The server with this identity. A new version keeps its server's colour slot."""
    known = _pick(fields, SERVER_FIELDS)
    known["configuration"] = dict(fields.get("configuration") or {})
    return _thing_of(Server, workspace, known, slot=_slot)


def _slot(workspace: Workspace, name: str) -> int:
    rows = Server.objects.filter(workspace=workspace)
    same = rows.filter(name=name).values_list("slot", flat=True).first()
    if same is not None:
        return same
    highest = rows.order_by("-slot").values_list("slot", flat=True).first()
    return 0 if highest is None else min(highest + 1, 32_000)


def host_of(workspace: Workspace, fields: Mapping[str, Any] | None) -> Host | None:
    """The host with these facts; None when nothing is known."""
    return _thing_of(Host, workspace, _pick(fields, HOST_FIELDS)) if fields else None


def workload_of(workspace: Workspace, fields: Mapping[str, Any]) -> Workload:
    """The workload with this identity."""
    known = _pick(fields, WORKLOAD_FIELDS)
    known["headers"] = dict(fields.get("headers") or {})
    return _thing_of(Workload, workspace, known)


def thing_identity(known: Mapping[str, Any]) -> bytes:
    """SHA-256 of the identity fields of a server, host or workload."""
    return identity_of(
        {
            name: value
            for name, value in known.items()
            if value is not None or name not in LATER_FIELDS
        }
    )


def _thing_of(
    model: type[Thing],
    workspace: Workspace,
    known: dict[str, Any],
    **computed: Callable[[Workspace, str], Any],
) -> Thing:
    """The row of this identity, under the name that a former one became; a new row otherwise."""
    rows = model._default_manager.filter(workspace=workspace)
    existing = rows.filter(identity=thing_identity(known)).first()
    if existing is not None:
        return existing
    if known["name"] is not None:
        kind = FormerName.Kind(str(model._meta.model_name))
        known = {**known, "name": current_name([workspace.pk], kind, known["name"])}
    more = {name: partial(read, workspace, known["name"]) for name, read in computed.items()}
    thing, _ = model._default_manager.get_or_create(
        workspace=workspace, identity=thing_identity(known), defaults={**known, **more}
    )
    return thing


@dataclass(frozen=True, slots=True)
class SeriesIdentity:
    """What makes results one series; everything but the load."""

    server: Server
    workload: Workload
    server_host: Host | None
    client_host: Host | None
    tool: str
    tool_version: str | None
    loop: str

    @classmethod
    def of(cls, series: Series) -> SeriesIdentity:
        """The identity of a stored series, out of its parts as they are now."""
        return cls(**{name: getattr(series, name) for name in cls.__dataclass_fields__})

    @property
    def key(self) -> bytes:
        """SHA-256 over the identities of the parts."""
        things = (self.server, self.workload, self.server_host, self.client_host)
        names = ("server", "workload", "server_host", "client_host")
        return identity_of(
            {
                **{name: _identity(thing) for name, thing in zip(names, things, strict=True)},
                "tool": self.tool,
                "tool_version": self.tool_version,
                "loop": self.loop,
            }
        )


def _identity(thing: Server | Workload | Host | None) -> str | None:
    return None if thing is None else bytes(thing.identity).hex()


def series_of(workspace: Workspace, identity: SeriesIdentity) -> Series:
    """The series with this identity."""
    fields = {name: getattr(identity, name) for name in SeriesIdentity.__dataclass_fields__}
    series, _ = Series.objects.get_or_create(workspace=workspace, key=identity.key, defaults=fields)
    return series


def _pick(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: None if is_unsaid(value := fields.get(name)) else value for name in names}


def is_unsaid(value: object) -> bool:
    """Whether a field of an identity is unknown: missing, a text of nothing, or the word for it."""
    return value is None or (isinstance(value, str) and value.strip().lower() in ("", "unknown"))
