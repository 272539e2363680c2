"""Finding or making the server, host and workload that identity fields describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.accounts.models import Workspace
from backend.runs.identity import identity_of
from backend.runs.models import Host, Server, Workload

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


def _pick(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: fields.get(name) for name in names}
