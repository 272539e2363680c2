"""Reports a running run to the service: between the trials, never during a trial.

Whatever runs beside a load tool takes processor time and network from it. So the agent reports
before a trial begins, and announces how long it will be silent, so that the service does not take
the silence for a lost agent. The plan's rest before the trial follows the report.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loadsheet_agent.errors import PlanStoppedError
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.progress import Clock
from loadsheet_agent.run.record import RunRecord
from loadsheet_agent.run.resting import longest_rest_s
from loadsheet_agent.upload.api_client import HEARTBEAT_PATH, ApiClient
from loadsheet_agent.upload.early_trials import EarlyTrials
from loadsheet_agent.upload.envelope import agent_identity

# Beside the load itself: starting a server and a tool, probing, reading the tool's output.
AROUND_S = 15.0
NAME_LIMIT = 200
TIMEOUT_S = 1.0


class Live:
    """Receives each change of a run's progress; without an address, it reports nothing."""

    def before(self, step: Step) -> None:
        """A trial is about to begin."""

    def after(self, trial: Mapping[str, Any]) -> None:
        """A trial has ended and is on disk."""

    def end(self, state: str) -> None:
        """The run ends: finished, stopped or interrupted."""


@dataclass
class Broadcast(Live):
    """Reports the run's progress, and sends its trials as they end."""

    client: ApiClient
    early: EarlyTrials
    record: RunRecord
    clock: Clock
    say: Callable[[str], None]

    def before(self, step: Step) -> None:
        plan = self.record.plan
        load_s = plan.longest_s(step.server) if step.duration_s is None else step.duration_s
        current = _current(len(self.record.trials), step)
        self._report(
            {
                **self._progress("running"),
                "current": self.record.redactor.value(current),
                "silent_s": longest_rest_s(plan) + load_s + AROUND_S,
            }
        )

    def after(self, trial: Mapping[str, Any]) -> None:
        """Send the trial, and note in the record that the service has it."""
        upload_id = str(uuid.uuid4())
        envelope = self.record.as_early_envelope(upload_id, trial)
        if self.early.send(envelope, trial["artefacts"]):
            self.record.sent_early[trial["ordinal"]] = upload_id

    def end(self, state: str) -> None:
        self._report({**self._progress(state), "seconds_left": None})
        self.client.close()
        self.early.close()
        if self.client.failures:
            count, reason = self.client.failures, self.client.last_failure
            self.say(f"{count} progress reports did not reach the service ({reason}).")

    def _report(self, run: Mapping[str, Any]) -> None:
        content = {"agent": agent_identity(), "run": run}
        self.client.ask("POST", HEARTBEAT_PATH, TIMEOUT_S, json=content)

    def _progress(self, state: str) -> dict[str, Any]:
        trials = self.record.trials
        return {
            "id": self.record.id,
            "state": state,
            "trials_done": len(trials),
            "trials_planned": self.record.planned,
            "last": _last(trials[-1]["glance"]) if trials else None,
            "seconds_left": self.clock.left_s(),
        }


@contextmanager
def reports_end(live: Live) -> Iterator[None]:
    """Report how the run inside the `with` block ended."""
    try:
        yield
    except PlanStoppedError as stop:
        # After a full disk the run goes on with --resume, like an interrupted run.
        live.end("interrupted" if stop.is_resumable else "stopped")
        raise
    except BaseException:
        live.end("interrupted")
        raise
    live.end("finished")


def _current(ordinal: int, step: Step) -> dict[str, Any]:
    return {
        "ordinal": ordinal,
        "server": step.server.label[:NAME_LIMIT],
        "workload": step.workload.name[:NAME_LIMIT],
        "connections": step.connections,
        "rate_rps": step.rate_rps,
        "repeat": step.repeat,
        "phase": step.recorded_phase,
    }


def _last(glance: dict[str, Any]) -> dict[str, Any]:
    p99_s = glance["p99_s"]
    return {
        "throughput_rps": glance["throughput_rps"],
        "p99_us": None if p99_s is None else p99_s * 1e6,
        "error_rate": glance["error_rate"],
    }
