"""When a run ends early or leaves out a server: the plan's rules, and a full disk."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import PlanStoppedError
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerKey
from loadsheet_agent.run.record import RunRecord, server_key

# Below this much free space no trial begins: its output may have nowhere to go.
LEAST_FREE_BYTES = 256 * 1024 * 1024


class StopRules:
    """Counts from its creation; `directory` is where trials write."""

    def __init__(self, plan: Plan, directory: Path) -> None:
        self._plan = plan
        self._directory = directory
        self._began = time.monotonic()
        self._deaths: Counter[str] = Counter()

    def note_death(self, label: str) -> None:
        self._deaths[label] += 1

    def check_before_trial(self) -> None:
        """Raises PlanStoppedError where no further trial may begin."""
        limit_s = self._plan.abort.wall_clock_s
        if limit_s is not None and time.monotonic() - self._began > limit_s:
            raise PlanStoppedError(f"the plan's time is over ([abort] wall_clock_s = {limit_s:g})")
        free = shutil.disk_usage(self._directory).free
        if free < LEAST_FREE_BYTES:
            raise PlanStoppedError(
                f"only {free >> 20} MiB are free in {self._directory.parent}; expected "
                f"{LEAST_FREE_BYTES >> 20} MiB before a trial begins, so make room and run "
                "`loadsheet run --resume`",
                is_resumable=True,
            )

    def check_after_trial(self, trial: Mapping[str, Any], name: str) -> None:
        """`trial` as the envelope has it, of the server that messages call `name`.

        Raises PlanStoppedError where it breaks a rule.
        """
        abort = self._plan.abort
        rate = trial["glance"]["error_rate"]
        if abort.error_rate is not None and rate is not None and rate > abort.error_rate:
            raise PlanStoppedError(
                f"{rate:.1%} of the requests failed at server {name!r} in trial "
                f"{trial['ordinal']} ([abort] error_rate = {abort.error_rate:g})"
            )
        deaths = self._deaths[name]
        if deaths and self._plan.on_server_death == "stop":
            raise PlanStoppedError(f'server {name!r} died (on_server_death = "stop")')
        if abort.server_deaths is not None and deaths >= abort.server_deaths:
            raise PlanStoppedError(
                f"server {name!r} died {deaths} times ([abort] server_deaths = "
                f"{abort.server_deaths})"
            )


class SkipRule:
    """Which servers failed too often in a row; a resumed run counts its earlier trials."""

    def __init__(self, record: RunRecord) -> None:
        self._limit = record.plan.skip_after
        self._failures: Counter[ServerKey] = Counter()
        for trial in record.trials:
            self.note(server_key(trial), trial)

    def is_skipped(self, server: ServerKey) -> bool:
        """Whether no further trial of the server is made."""
        return self._limit is not None and self._failures[server] >= self._limit

    def note(self, server: ServerKey, trial: Mapping[str, Any]) -> int | None:
        """Count the trial. The number of failures, when the server is skipped from now on."""
        if trial["error"] is None:
            self._failures[server] = 0
            return None
        self._failures[server] += 1
        return self._failures[server] if self._failures[server] == self._limit else None
