"""The envelope: what is said about a run beside its raw output. JSON is made here only."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from loadsheet_agent import AGENT_NAME, __version__
from loadsheet_agent.execution import Execution
from loadsheet_agent.facts import HostFacts
from loadsheet_agent.plan import Plan
from loadsheet_agent.servers import Usage
from loadsheet_agent.steps import Step
from loadsheet_agent.tools import FoundTool

SCHEMA = 1


@dataclass(frozen=True)
class ServerFacts:
    version: str | None
    runtime: str | None
    tls: bool
    payload_bytes: int | None


@dataclass(frozen=True)
class Trial:
    step: Step
    server: ServerFacts
    found: FoundTool
    threads: int
    command: tuple[str, ...]
    execution: Execution
    usage: Usage


@dataclass
class RunRecord:
    """Grows trial by trial; `as_envelope` is valid at any moment."""

    id: str
    plan: Plan
    started_at: str
    client: HostFacts
    server: HostFacts | None
    same_host: bool
    trials: list[Trial] = field(default_factory=list)
    finished_at: str | None = None

    def as_envelope(self) -> dict[str, Any]:
        """Interrupted unless `finished_at` is set: a killed agent cannot say it any more."""
        last = self.trials[-1].execution.finished_at if self.trials else self.started_at
        return {
            **file_envelope(self.id),
            "run": {
                "started_at": self.started_at,
                "finished_at": self.finished_at or last,
                "interrupted": self.finished_at is None,
                "plan": self.plan.text,
                "plan_sha256": self.plan.sha256,
                "labels": dict(self.plan.labels),
            },
            "hosts": {
                "client": asdict(self.client),
                "server": None if self.server is None else asdict(self.server),
            },
            "same_host": self.same_host,
            "trials": [_trial(trial) for trial in self.trials],
        }


def file_envelope(upload_id: str, tool: str | None = None) -> dict[str, Any]:
    """For files measured elsewhere; `tool` is the sender's word for what wrote them."""
    agent = {"name": AGENT_NAME, "version": __version__, "hostname": socket.gethostname()}
    envelope: dict[str, Any] = {"schema": SCHEMA, "id": upload_id, "agent": agent}
    if tool is not None:
        envelope["tool"] = tool
    return envelope


def _trial(trial: Trial) -> dict[str, Any]:
    step, done = trial.step, trial.execution
    return {
        "ordinal": step.ordinal,
        "server": {
            "name": step.server.name,
            "version": trial.server.version,
            "runtime": trial.server.runtime,
            "configuration": dict(step.server.configuration),
        },
        "workload": {
            "name": step.workload.name,
            "method": step.workload.method,
            "path": step.workload.path,
            "payload_bytes": trial.server.payload_bytes,
            "keepalive": step.workload.keepalive,
            "tls": trial.server.tls,
            "headers": {},
        },
        "load": {
            "tool": trial.found.tool.name,
            "tool_version": trial.found.version,
            "loop": "closed",
            "connections": step.connections,
            "rate_rps": None,
            "duration_s": step.duration_s,
            "requests": None,
            "threads": trial.threads,
        },
        "repeat": step.repeat,
        "warmup": step.warmup,
        "command": list(trial.command),
        "started_at": done.started_at,
        "finished_at": done.finished_at,
        "exit_code": done.exit_code,
        "error": done.error,
        "resources": {
            "client_cpu_s": _rounded(done.client_cpu_s),
            "server_cpu_s": _rounded(trial.usage.cpu_s),
            "server_rss_bytes": trial.usage.rss_bytes,
        },
        "artefacts": list(done.artefacts),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def failed(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.execution.error is not None]
