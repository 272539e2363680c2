"""The records that a comparison reads: series, runs, cells and trials, as loaded."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.text import slugify
from msgspec import Struct

from backend.analysis import figures
from backend.analysis.query.timestamps import instant


def slug_of(name: str) -> str:
    """How a name is written in a link."""
    return slugify(name, allow_unicode=True) or name


# A comparison loads thousands: made ten times as fast as a frozen dataclass, and without the
# collector of garbage, for none refers to itself.
class Loaded(Struct, frozen=True, gc=False):
    """What a row says."""


class LoadedHost(Loaded, frozen=True):
    id: uuid.UUID
    name: str | None
    slug: str
    cpu_model: str | None
    cores: int | None
    memory_bytes: int | None
    virtualisation: str | None
    os: str | None
    kernel: str | None
    # What it was called first, where it was renamed; so of servers and workloads.
    first_name: str | None = None

    @property
    def label(self) -> str:
        return self.name or self.cpu_model or "unnamed host"


class LoadedServer(Loaded, frozen=True):
    id: uuid.UUID
    name: str
    slot: int
    configuration: Mapping[str, Any]
    # The texts of `runs.server_texts` by their names; None is unknown.
    texts: Mapping[str, str | None]
    first_name: str | None = None

    @property
    def version(self) -> str | None:
        return self.texts["version"]

    @property
    def label(self) -> str:
        return f"{self.name} {self.version or ''}".strip()

    @property
    def settings(self) -> tuple[str, ...]:
        """The configuration as `key=value` texts, sorted."""
        return settings_of(self.configuration)


def settings_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """A configuration as `key=value` texts, sorted."""
    return tuple(f"{name}={_flat(value)}" for name, value in sorted(configuration.items()))


def _flat(value: Any) -> str:
    return str(value)[:40] if isinstance(value, dict | list) else str(value)


class LoadedWorkload(Loaded, frozen=True):
    id: uuid.UUID
    name: str
    method: str | None
    path: str | None
    payload_bytes: int | None
    keepalive: bool | None
    tls: bool | None
    headers: Mapping[str, Any]
    first_name: str | None = None
    body_sha256: str | None = None


class LoadedSeries(Loaded, frozen=True):
    """Everything of a result but its load."""

    id: uuid.UUID
    workspace_id: uuid.UUID
    server: LoadedServer
    workload: LoadedWorkload
    server_host: LoadedHost | None
    client_host: LoadedHost | None
    tool: str
    tool_version: str | None
    loop: str


class LoadedRun(Loaded, frozen=True):
    id: uuid.UUID
    workspace: str
    relevant_share: float
    # The factors of the hosts that must match, by the workspace's choice.
    must_match: tuple[str, ...]
    # Fewer trials of a load point are a caveat.
    min_trials: int
    started_at: datetime | None
    recorded_at: datetime
    same_host: bool | None
    labels: Mapping[str, Any]
    # Its trials still come.
    is_open: bool = False
    # What chooses the processor's speed on each host; None is unknown.
    client_governor: str | None = None
    server_governor: str | None = None
    # Whether the agent measured it by a plan; else somebody uploaded outputs.
    has_plan: bool = False


class LoadedDismissal(Loaded, frozen=True):
    """A member's reason why a check's finding in a run does not count."""

    run: uuid.UUID
    check: str
    reason: str
    by: str | None
    at: datetime

    def to_record(self) -> figures.Dismissed:
        return figures.Dismissed(
            run=str(self.run), reason=self.reason, by=self.by, at=instant(self.at)
        )


class LoadedTrial(Loaded, frozen=True):
    """A trial that is no warm-up."""

    id: uuid.UUID
    throughput_rps: float | None
    error_rate: float | None
    requests_completed: int | None
    # Failed attempts and attempts; None if the load tool does not tell, or made none.
    attempts: tuple[int, int] | None
    percentiles_us: Mapping[str, float | None]
    origin: str | None
    errors: Mapping[str, int | None]
    checks: tuple[str, ...]
    # Which repeat of its load point in the run: trials of several servers share it.
    repeat: int | None = None
    # Its place in its run, and the threads of the load tool: as asked, else as its output says.
    ordinal: int | None = None
    threads: int | None = None
    # What output and command say of how it was measured, by name.
    printed: Mapping[str, Any] = {}
    # Which start of the server in its run, and when the trial began, in seconds.
    start: int | None = None
    began_s: float | None = None
    # The smallest step of the latencies that the load tool prints, in µs.
    latency_step_us: float | None = None
    # Of the throughput; `origin` is that of the latencies.
    throughput_origin: str | None = None
    # Further columns, where the asked metric needs them.
    more: Mapping[str, Any] = {}
    # Names the bytes that were read; None if that is not recorded.
    output: bytes | None = None
    # Received bytes per completed request.
    response_bytes: float | None = None

    @property
    def has_figure(self) -> bool:
        """A load tool that crashed leaves none."""
        if self.throughput_rps is not None or self.error_rate is not None:
            return True
        return any(value is not None for value in self.percentiles_us.values())


class LoadedCell(Loaded, frozen=True):
    id: uuid.UUID
    run: LoadedRun
    series: LoadedSeries
    connections: int | None
    rate_rps: float | None
    # Of the merged histogram of every trial; empty if a trial has none.
    percentiles_us: Mapping[str, float | None]
    checks: tuple[str, ...]
    trials: tuple[LoadedTrial, ...] = ()
    # Trials with the output of a trial that counts: they count in no figure.
    duplicates: tuple[LoadedTrial, ...] = ()

    @property
    def server(self) -> LoadedServer:
        return self.series.server

    @property
    def workload(self) -> LoadedWorkload:
        return self.series.workload
