"""Telling the service of a run while it goes on: between the trials, never during one.

Whatever runs beside a load tool takes processor time and network from it. So a word is said before
a trial begins, and with it how long the agent will then be silent; the rest before the trial comes
after it. The service takes the silence for what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.progress import Clock
from loadsheet_agent.upload.api_client import HEARTBEAT_PATH, Line
from loadsheet_agent.upload.early_trials import EarlyTrials
from loadsheet_agent.upload.envelope import RunRecord, agent_identity

# Beside the load itself: starting a server and a tool, probing, reading what it wrote.
AROUND_S = 15.0


class Live(Protocol):
    def before(self, step: Step) -> None:
        """A trial is about to begin."""

    def after(self, trial: Mapping[str, Any]) -> None:
        """A trial has ended and is durable here."""

    def end(self, state: str) -> None:
        """The run ends: finished, stopped or interrupted."""


class NotLive:
    """Nobody is told: there is no address."""

    def before(self, step: Step) -> None:
        return

    def after(self, trial: Mapping[str, Any]) -> None:
        return

    def end(self, state: str) -> None:
        return


class Broadcast:
    """Says where the run is, and sends its trials as they end."""

    TIMEOUT_S = 1.0

    def __init__(
        self,
        line: Line,
        early: EarlyTrials,
        record: RunRecord,
        clock: Clock,
        tell: Callable[[str], None],
    ) -> None:
        self._line = line
        self._early = early
        self._record = record
        self._clock = clock
        self._tell = tell

    def before(self, step: Step) -> None:
        plan = self._record.plan
        load_s = plan.load.longest_s if step.duration_s is None else step.duration_s
        word = {
            **self._word("running"),
            "current": self._record.redactor.value(_current(step)),
            "silent_s": plan.rest_s + load_s + AROUND_S,
        }
        self._say(word)

    def after(self, trial: Mapping[str, Any]) -> None:
        self._early.send(trial)

    def end(self, state: str) -> None:
        self._say({**self._word(state), "seconds_left": None})
        self._line.close()
        self._early.close()
        if self._line.failures:
            count, why = self._line.failures, self._line.why
            self._tell(f"{count} words of how the run goes were not taken ({why}).")

    def _say(self, run: Mapping[str, Any]) -> None:
        said = {"agent": agent_identity(), "run": run}
        self._line.ask("POST", HEARTBEAT_PATH, self.TIMEOUT_S, json=said)

    def _word(self, state: str) -> dict[str, Any]:
        trials = self._record.trials
        return {
            "id": self._record.id,
            "state": state,
            "trials_done": len(trials),
            "trials_planned": self._record.planned,
            "last": _last(trials[-1]["glance"]) if trials else None,
            "seconds_left": self._clock.left_s(),
        }


def _current(step: Step) -> dict[str, Any]:
    return {
        "ordinal": step.ordinal,
        "server": step.server.name[:200],
        "workload": step.workload.name[:200],
        "connections": step.connections,
        "rate_rps": step.rate_rps,
        "repeat": step.repeat,
        "phase": "warmup" if step.warmup else step.phase,
    }


def _last(glance: dict[str, Any]) -> dict[str, Any]:
    p99_s = glance["p99_s"]
    return {
        "throughput_rps": glance["throughput_rps"],
        "p99_us": None if p99_s is None else p99_s * 1e6,
        "error_rate": glance["error_rate"],
    }
