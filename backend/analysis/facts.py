"""What the comparison reads: plain facts of runs, cells and trials, as loaded from the tables."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class HostFact:
    id: uuid.UUID
    name: str | None
    slug: str
    cpu_model: str | None
    cores: int | None
    memory_bytes: int | None
    virtualisation: str | None
    os: str | None
    kernel: str | None

    @property
    def label(self) -> str:
        return self.name or self.cpu_model or "unnamed host"


@dataclass(frozen=True, slots=True)
class RunFact:
    id: uuid.UUID
    workspace_id: uuid.UUID
    workspace: str
    relevant_share: float
    started_at: datetime | None
    recorded_at: datetime
    same_host: bool | None
    server_host: HostFact | None
    client_host: HostFact | None


@dataclass(frozen=True, slots=True)
class ServerFact:
    id: uuid.UUID
    name: str
    version: str | None
    slot: int
    configuration: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkloadFact:
    id: uuid.UUID
    name: str
    method: str | None
    path: str | None
    payload_bytes: int | None
    keepalive: bool | None
    tls: bool | None
    headers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrialFact:
    """A counted trial: no warm-up, with a throughput."""

    id: uuid.UUID
    throughput_rps: float
    error_rate: float | None
    requests_completed: int | None
    requests_ok: int | None
    percentiles_us: Mapping[str, float | None]
    origin: str | None
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellFact:
    id: uuid.UUID
    run: RunFact
    series_key: bytes
    server: ServerFact
    workload: WorkloadFact
    tool: str
    tool_version: str | None
    loop: str
    connections: int | None
    rate_rps: float | None
    # Of the merged histogram of every trial; empty where a trial has none.
    percentiles_us: Mapping[str, float | None]
    checks: tuple[str, ...]
    trials: tuple[TrialFact, ...] = field(default=())

    def load(self, axis: str) -> float | None:
        """Where the cell stands on the axis: connections, or the offered rate."""
        return self.connections if axis == "connections" else self.rate_rps
