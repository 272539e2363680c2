"""The record of a run: its trials as the envelope has them, and what else happened."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.host.facts import HostFacts
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerKey
from loadsheet_agent.plan.steps import SEARCH, Step
from loadsheet_agent.run.execution import Execution
from loadsheet_agent.tools import FoundTool
from loadsheet_agent.tools.base import Glance
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.redaction import MARK, Redactor, is_sensitive

ERROR_LIMIT = 2000  # what the service takes


@dataclass(frozen=True)
class Trial:
    """One step as it was carried out; None where something of the server is unknown."""

    step: Step
    server_version: str | None
    # Of `plan.server_texts`, by name.
    server_texts: Mapping[str, str | None]
    tls: bool
    payload_bytes: int | None
    keepalive: bool | None
    # Which start of a server in this run; None where the plan did not start it.
    start: int | None
    tool: FoundTool
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
    # By the number of a trial: the early upload that brought its artefacts.
    sent_early: dict[int, str] = field(default_factory=dict)
    # name and parts, where several agents carry out the plan together.
    session: dict[str, Any] | None = None

    @property
    def planned(self) -> int:
        """Trials of the plan; at least as many as were made."""
        return max(self.trials_planned, len(self.trials))

    @property
    def next_start(self) -> int:
        """The number of the next start of a server: a resumed run counts on."""
        return max((trial["load"].get("start") or 0 for trial in self.trials), default=0) + 1

    @property
    def plan_text(self) -> str:
        """The plan without secrets, as it is sent."""
        return self.redactor.text(self.plan.text)

    @property
    def plan_sha256(self) -> str:
        """SHA-256 of the plan's text as sent, so that readers of the run can check it."""
        return hashlib.sha256(self.plan_text.encode()).hexdigest()

    def add(self, trial: Trial) -> dict[str, Any]:
        """The trial as the envelope has it, numbered by its place in the run."""
        document = _trial_document(len(self.trials), trial, self.redactor)
        redacted: dict[str, Any] = self.redactor.value(document)
        self.trials.append(redacted)
        return redacted

    def add_event(self, kind: str, text: str) -> None:
        """Record an event of the run that is not a trial."""
        self.events.append({"at": utc_now(), "kind": kind, "text": self.redactor.text(text)})

    def failed_trials(self) -> list[dict[str, Any]]:
        return [trial for trial in self.trials if trial["error"] is not None]

    def as_envelope(self) -> dict[str, Any]:
        """Interrupted unless `finished_at` is set, because a killed agent cannot write it later.

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
        trials = self._trials_to_send()
        return {**file_envelope(self.id), "run": run, **self._machines(), "trials": trials}

    def as_early_envelope(self, upload_id: str, trial: Mapping[str, Any]) -> dict[str, Any]:
        """One trial of this run in an upload of its own."""
        run = self._header()
        return {**file_envelope(upload_id), "run": run, **self._machines(), "trials": [trial]}

    def _trials_to_send(self) -> list[dict[str, Any]]:
        # The last trial with artefacts always brings them: no upload is without artefacts.
        last = max((trial["ordinal"] for trial in self.trials if trial["artefacts"]), default=None)
        return [
            trial
            if trial["ordinal"] == last or trial["ordinal"] not in self.sent_early
            else {**trial, "artefacts": [], "upload": self.sent_early[trial["ordinal"]]}
            for trial in self.trials
        ]

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


def step_key(trial: Mapping[str, Any]) -> tuple[object, ...]:
    """`Step.key` of a trial in the envelope; for a warm-up, a key that no step has."""
    load = trial["load"]
    point = (load["connections_asked"], load["rate_rps"])
    return (*server_key(trial), trial["workload"]["name"], *point, trial["phase"], trial["repeat"])


def server_key(trial: Mapping[str, Any]) -> ServerKey:
    """`ServerSpec.key` of the server of a trial in the envelope."""
    load = trial["load"]
    return (trial["server"]["name"], load.get("variant"), load.get("side"))


def glance_of(trial: Mapping[str, Any]) -> Glance:
    return Glance(**trial["glance"])


def _trial_document(ordinal: int, trial: Trial, redactor: Redactor) -> dict[str, Any]:
    step, execution = trial.step, trial.execution
    return {
        "ordinal": ordinal,
        "server": {
            "name": step.server.name,
            "version": trial.server_version,
            **trial.server_texts,
            "configuration": step.server.recorded_configuration,
        },
        "workload": _workload_document(trial),
        "load": _load_document(trial),
        "repeat": step.repeat,
        # A trial of a search is carried out and recorded like a warm-up: never a result.
        "warmup": step.is_warmup or step.phase == SEARCH,
        "phase": step.recorded_phase,
        "command": redactor.line(trial.command),
        "started_at": execution.started_at,
        "finished_at": execution.finished_at,
        "exit_code": execution.exit_code,
        "error": None if execution.error is None else execution.error[:ERROR_LIMIT],
        "resources": dict(trial.resources),
        "glance": asdict(trial.glance),
        "server_tail": trial.server_tail,
        "artefacts": list(execution.artefacts),
    }


def _workload_document(trial: Trial) -> dict[str, Any]:
    workload, body = trial.step.workload, trial.step.workload.content
    return {
        "name": workload.name,
        "method": workload.method,
        "path": workload.path,
        "payload_bytes": trial.payload_bytes,
        "keepalive": trial.keepalive,
        "tls": trial.tls,
        "headers": {
            name: MARK if is_sensitive(name) else text for name, text in workload.headers.items()
        },
        "body_bytes": None if body is None else len(body),
        "body_sha256": None if body is None else hashlib.sha256(body).hexdigest(),
    }


def _load_document(trial: Trial) -> dict[str, Any]:
    step = trial.step
    return {
        "tool": trial.tool.tool.name,
        "tool_version": trial.tool.version,
        "loop": "closed" if step.rate_rps is None else "open",
        "connections": trial.connections,
        "connections_asked": step.connections,
        "rate_rps": step.rate_rps,
        "duration_s": step.duration_s,
        "requests": step.requests,
        "threads": trial.threads,
        "variant": step.server.variant,
        "side": step.server.side,
        "start": trial.start,
    }
