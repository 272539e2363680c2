"""Carries out a plan: step by step, each result durable before the next step begins."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from loadsheet_agent import servers as servers_module
from loadsheet_agent.clock import utc_now
from loadsheet_agent.envelope import RunRecord, ServerFacts, Trial
from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.execution import EXTRA_TIME_S, Execution, execute
from loadsheet_agent.plan import Plan
from loadsheet_agent.progress import Progress
from loadsheet_agent.servers import UNKNOWN_USAGE, ManagedServer, Usage
from loadsheet_agent.spool import Entry
from loadsheet_agent.steps import Step
from loadsheet_agent.tools import Command, FoundTool, LoadPoint


class Runner:
    def __init__(
        self, *, record: RunRecord, found: FoundTool, entry: Entry, progress: Progress
    ) -> None:
        self._record = record
        self._found = found
        self._entry = entry
        self._progress = progress

    def run(self, steps: tuple[Step, ...]) -> None:
        """Every step in order. KeyboardInterrupt goes to the caller, with the servers stopped."""
        plan = self._record.plan
        self._entry.commit(self._record.as_envelope())
        with _servers(plan) as servers:
            for number, step in enumerate(steps):
                if number:
                    self._rest(plan.rest_s)
                self._step(step, servers[step.server.name])
        self._record.finished_at = utc_now()
        self._entry.commit(self._record.as_envelope())

    def _step(self, step: Step, server: ManagedServer) -> None:
        self._progress.begin(step)
        if self._record.plan.restart == "each-trial" and not _follows_warmup(
            step, self._record.trials
        ):
            server.stop()
        trial = self._measure(step, server)
        self._record.trials.append(trial)
        self._entry.commit(self._record.as_envelope(), trial.execution.artefacts)
        self._progress.end(step, trial.execution.error)

    def _measure(self, step: Step, server: ManagedServer) -> Trial:
        point = load_point(step, server.url, self._record.plan.load.threads)
        prefix = f"{step.ordinal:03d}"
        command = self._found.tool.command(point, prefix)
        payload = step.workload.payload_bytes
        try:
            server.ensure_ready()
            payload = _checked_payload(step, server)
        except ServerStartError as error:
            execution, usage = _not_run(str(error)), UNKNOWN_USAGE
        else:
            execution, usage = self._execute(command, step, server)
        return Trial(
            step=step,
            server=ServerFacts(
                version=server.version,
                runtime=server.runtime,
                tls=server.url.startswith("https:"),
                payload_bytes=payload,
            ),
            found=self._found,
            threads=self._found.tool.threads(point),
            command=command.line(),
            execution=execution,
            usage=usage,
        )

    def _execute(
        self, command: Command, step: Step, server: ManagedServer
    ) -> tuple[Execution, Usage]:
        before = server.usage()
        execution = execute(
            command,
            self._found.path,
            directory=self._entry.directory,
            limit_s=step.duration_s + EXTRA_TIME_S,
            tick=self._progress.tick,
        )
        ended = server.ended()
        if ended is not None and execution.error is None:
            text = f"server {step.server.name!r} ended with exit code {ended} during the trial"
            execution = replace(execution, error=text)
        return execution, _spent(before, server.usage())

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._progress.tick()
            time.sleep(min(0.1, max(until - time.monotonic(), 0)))


def load_point(step: Step, base_url: str, threads: int) -> LoadPoint:
    return LoadPoint(
        url=base_url + step.workload.path,
        method=step.workload.method,
        keepalive=step.workload.keepalive,
        connections=step.connections,
        duration_s=step.duration_s,
        threads=threads,
    )


@contextmanager
def _servers(plan: Plan) -> Iterator[dict[str, ManagedServer]]:
    with tempfile.TemporaryDirectory(prefix="loadsheet-") as logs:
        servers = servers_module.prepare(plan, Path(logs))
        try:
            yield servers
        finally:
            for server in servers.values():
                server.stop()


def _follows_warmup(step: Step, trials: list[Trial]) -> bool:
    """A warm-up is for the trial right after it: no restart between the two."""
    return not step.warmup and bool(trials) and trials[-1].step.warmup


def _checked_payload(step: Step, server: ManagedServer) -> int | None:
    found, planned = server.payload_bytes(step.workload), step.workload.payload_bytes
    if found is None:
        return planned
    if planned is not None and found != planned:
        raise ServerStartError(
            f"server {step.server.name!r} answers {step.workload.path} with {found} bytes, the "
            f"plan says {planned}; the trial was not run"
        )
    return found


def _not_run(error: str) -> Execution:
    now = utc_now()
    return Execution(
        started_at=now,
        finished_at=now,
        exit_code=None,
        error=error,
        client_cpu_s=None,
        artefacts=(),
    )


def _spent(before: Usage, after: Usage) -> Usage:
    if before.cpu_s is None or after.cpu_s is None:
        return Usage(cpu_s=None, rss_bytes=after.rss_bytes)
    # Below zero only when a process was lost between the readings: then it is unknown.
    spent = after.cpu_s - before.cpu_s
    return Usage(cpu_s=spent if spent >= 0 else None, rss_bytes=after.rss_bytes)
