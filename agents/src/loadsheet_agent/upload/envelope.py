"""The envelope: what is said about a run beside its raw output. JSON is made here only."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from loadsheet_agent import AGENT_NAME, __version__
from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.host.facts import HostFacts
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.execution import Execution
from loadsheet_agent.tools import FoundTool, Glance
from loadsheet_agent.upload.redaction import MARK, Redactor, is_sensitive

SCHEMA = 1
ERROR_LIMIT = 2000  # what the service takes


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
    connections: int | None
    command: tuple[str, ...]
    execution: Execution
    resources: Mapping[str, Any]
    glance: Glance
    server_tail: str | None


@dataclass
class RunRecord:
    """Grows trial by trial; `as_envelope` is valid at any moment.

    Trials are kept as the envelope has them, redacted: a resumed run reads them back.
    """

    id: str
    plan: Plan
    seed: int
    started_at: str
    client: HostFacts
    server: HostFacts | None
    same_host: bool
    redactor: Redactor
    trials: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    max_rates: list[dict[str, Any]] = field(default_factory=list)
    server_tails: dict[str, str | None] = field(default_factory=dict)
    finished_at: str | None = None
    stopped: str | None = None
    # How many trials the plan makes, as far as it is known; warm-ups included.
    trials_planned: int = 0
    # By the number of a trial: the upload that brought its artefacts already.
    sent_early: dict[int, str] = field(default_factory=dict)
    # name and parts, where several agents carry out the plan together.
    session: dict[str, Any] | None = None

    @property
    def planned(self) -> int:
        return max(self.trials_planned, len(self.trials))

    @property
    def plan_text(self) -> str:
        return self.redactor.text(self.plan.text)

    @property
    def plan_sha256(self) -> str:
        """Of the text that travels: anyone who has the run can check it."""
        return hashlib.sha256(self.plan_text.encode()).hexdigest()

    def add(self, trial: Trial) -> dict[str, Any]:
        found: dict[str, Any] = self.redactor.value(_trial(trial, self.redactor))
        self.trials.append(found)
        return found

    def tell(self, kind: str, text: str) -> None:
        """Remember what happened to the run besides its trials."""
        self.events.append({"at": utc_now(), "kind": kind, "text": self.redactor.text(text)})

    def failed(self) -> list[dict[str, Any]]:
        return [trial for trial in self.trials if trial["error"] is not None]

    def as_envelope(self) -> dict[str, Any]:
        """Interrupted unless `finished_at` is set: a killed agent cannot say it any more.

        Trials that the service has already name the upload that brought them.
        """
        last = self.trials[-1]["finished_at"] if self.trials else self.started_at
        run = {
            **self._header(),
            "finished_at": self.finished_at or last,
            "interrupted": self.finished_at is None,
            "stopped": self.stopped,
            "events": self.events,
            "max_rates": self.max_rates,
            "server_tails": self.server_tails,
        }
        # The last one that has any always brings its own: no upload is without artefacts.
        own = max((trial["ordinal"] for trial in self.trials if trial["artefacts"]), default=None)
        trials = [
            trial
            if trial["ordinal"] == own or trial["ordinal"] not in self.sent_early
            else {**trial, "artefacts": [], "upload": self.sent_early[trial["ordinal"]]}
            for trial in self.trials
        ]
        return {**file_envelope(self.id), "run": run, **self._machines(), "trials": trials}

    def as_early(self, upload_id: str, trial: Mapping[str, Any]) -> dict[str, Any]:
        """One trial on its own, of the same run."""
        run = self._header()
        return {**file_envelope(upload_id), "run": run, **self._machines(), "trials": [trial]}

    def _header(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "started_at": self.started_at,
            "plan": self.plan_text,
            "plan_sha256": self.plan_sha256,
            "seed": self.seed,
            "labels": self.redactor.value(dict(self.plan.labels)),
            "trials_planned": self.planned,
            "session": self.session,
        }

    def _machines(self) -> dict[str, Any]:
        hosts = {
            "client": asdict(self.client),
            "server": None if self.server is None else asdict(self.server),
        }
        return {"hosts": hosts, "same_host": self.same_host}


def agent_identity() -> dict[str, str]:
    """This program and the machine it runs on, as the service lists them."""
    return {"name": AGENT_NAME, "version": __version__, "hostname": socket.gethostname()}


def file_envelope(upload_id: str, tool: str | None = None) -> dict[str, Any]:
    """For files measured elsewhere; `tool` is the sender's word for what wrote them."""
    envelope: dict[str, Any] = {"schema": SCHEMA, "id": upload_id, "agent": agent_identity()}
    if tool is not None:
        envelope["tool"] = tool
    return envelope


def _trial(trial: Trial, redactor: Redactor) -> dict[str, Any]:
    step, done, workload = trial.step, trial.execution, trial.step.workload
    return {
        "ordinal": step.ordinal,
        "server": {
            "name": step.server.name,
            "version": trial.server.version,
            "runtime": trial.server.runtime,
            "configuration": dict(step.server.configuration),
        },
        "workload": {
            "name": workload.name,
            "method": workload.method,
            "path": workload.path,
            "payload_bytes": trial.server.payload_bytes,
            "keepalive": workload.keepalive,
            "tls": trial.server.tls,
            "headers": {
                name: MARK if is_sensitive(name) else text for name, text in workload.headers
            },
            "body_bytes": None if workload.body is None else len(workload.body),
            "body_sha256": None
            if workload.body is None
            else hashlib.sha256(workload.body).hexdigest(),
        },
        "load": {
            "tool": trial.found.tool.name,
            "tool_version": trial.found.version,
            "loop": "closed" if step.rate_rps is None else "open",
            "connections": trial.connections,
            "connections_asked": step.connections,
            "rate_rps": step.rate_rps,
            "duration_s": step.duration_s,
            "requests": step.requests,
            "threads": trial.threads,
        },
        "repeat": step.repeat,
        # What a search tried is no result: executed, discarded, and said so.
        "warmup": step.warmup or step.phase == "search",
        "phase": "warmup" if step.warmup else step.phase,
        "command": redactor.line(trial.command),
        "started_at": done.started_at,
        "finished_at": done.finished_at,
        "exit_code": done.exit_code,
        "error": None if done.error is None else done.error[:ERROR_LIMIT],
        "resources": dict(trial.resources),
        "glance": asdict(trial.glance),
        "server_tail": trial.server_tail,
        "artefacts": list(done.artefacts),
    }
