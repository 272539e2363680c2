"""Finding or making the server, host, workload and series that identity fields describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.accounts.models import Workspace
from backend.runs.identity import identity_of
from backend.runs.models import Host, Series, Server, Workload

SERVER_FIELDS = ("name", "version", "runtime", "configuration")
HOST_FIELDS = ("name", "cpu_model", "cores", "memory_bytes", "virtualisation", "os", "kernel")
WORKLOAD_FIELDS = ("name", "method", "path", "payload_bytes", "keepalive", "tls", "headers")


def server_of(workspace: Workspace, fields: Mapping[str, Any]) -> Server:
    """The server with this identity. A new version keeps its server's colour slot."""
    known = _pick(fields, SERVER_FIELDS)
    known["configuration"] = dict(fields.get("configuration") or {})
    identity = identity_of(known)
    existing = Server.objects.filter(workspace=workspace, identity=identity).first()
    if existing is not None:
        return existing
    server, _ = Server.objects.get_or_create(
        workspace=workspace,
        identity=identity,
        defaults={**known, "slot": _slot(workspace, known["name"])},
    )
    return server


def _slot(workspace: Workspace, name: str) -> int:
    rows = Server.objects.filter(workspace=workspace)
    same = rows.filter(name=name).values_list("slot", flat=True).first()
    if same is not None:
        return same
    highest = rows.order_by("-slot").values_list("slot", flat=True).first()
    return 0 if highest is None else min(highest + 1, 32_000)


def host_of(workspace: Workspace, fields: Mapping[str, Any] | None) -> Host | None:
    """The host with these facts; None when nothing is known."""
    if not fields:
        return None
    known = _pick(fields, HOST_FIELDS)
    host, _ = Host.objects.get_or_create(
        workspace=workspace, identity=identity_of(known), defaults=known
    )
    return host


def workload_of(workspace: Workspace, fields: Mapping[str, Any]) -> Workload:
    """The workload with this identity."""
    known = _pick(fields, WORKLOAD_FIELDS)
    known["headers"] = dict(fields.get("headers") or {})
    workload, _ = Workload.objects.get_or_create(
        workspace=workspace, identity=identity_of(known), defaults=known
    )
    return workload


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
    return {name: fields.get(name) for name in names}
