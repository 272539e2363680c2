"""Carries out a plan: trial by trial, each durable before the next begins."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import PlanStoppedError, ServerStartError
from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.plan.plan import Plan, ServerSpec, WorkloadSpec
from loadsheet_agent.plan.schedule import Shot, drive
from loadsheet_agent.plan.steps import Step, load_point, step_of, warmup_of
from loadsheet_agent.run import servers as servers_module
from loadsheet_agent.run.execution import EXTRA_TIME_S, Execution, execute
from loadsheet_agent.run.live import Live, NotLive
from loadsheet_agent.run.progress import Progress
from loadsheet_agent.run.sampling import Sampler
from loadsheet_agent.run.servers import ManagedServer
from loadsheet_agent.run.session import Alone, Gathering
from loadsheet_agent.tools import NOTHING_SEEN, Command, FoundTool, Glance
from loadsheet_agent.upload.envelope import RunRecord, ServerFacts, Trial
from loadsheet_agent.upload.spool import Entry

# Below this much free space no trial begins: its output may have nowhere to go.
LEAST_FREE_BYTES = 256 * 1024 * 1024
# A glance reads files whole; larger ones are left to the service.
GLANCE_LIMIT_BYTES = 64 * 1024 * 1024


class Runner:
    def __init__(
        self,
        *,
        record: RunRecord,
        found: FoundTool,
        entry: Entry,
        progress: Progress,
        live: Live | None = None,
        gathering: Gathering | None = None,
    ) -> None:
        self._record = record
        self._plan = record.plan
        self._found = found
        self._entry = entry
        self._progress = progress
        self._live = live or NotLive()
        self._gathering = gathering or Alone()
        self._done = {trial_key(trial): _glance_of(trial) for trial in record.trials}
        self._warm: set[tuple[object, ...]] = set()
        self._deaths: dict[str, int] = {}
        self._began = time.monotonic()
        self._servers: Mapping[str, ManagedServer] = {}
        self._is_first = True

    def run(self) -> None:
        """Every trial in order, but those a resumed run has already.

        Raises PlanStoppedError by a rule of the plan; what had finished is kept, as with
        KeyboardInterrupt, which goes to the caller with the servers stopped.
        """
        self._commit()
        with _servers(self._plan) as self._servers:
            try:
                drive(self._plan, self._take, seed=self._record.seed, found=self._note_max_rate)
            except PlanStoppedError as stop:
                self._record.stopped = str(stop)
                self._record.tell("stopped", str(stop))
                raise
            finally:
                self._note_tails()
                self._commit()
        self._record.finished_at = utc_now()
        self._commit()

    def _take(self, shot: Shot) -> Glance:
        if shot.key in self._done:
            return self._done[shot.key]
        self._check_rules_before()
        server = self._servers[shot.server.name]
        if self._plan.restart == "each-trial":
            server.stop()
        for step in self._steps(shot, server):
            trial = self._step(step, server)
        self._check_rules_after(trial)
        return _glance_of(trial)

    def _steps(self, shot: Shot, server: ManagedServer) -> Iterator[Step]:
        """The warm-up, where this process of the server has not had it, and the trial."""
        if self._plan.warmup_s > 0:
            # Started here, so that a fresh process is known for one before this is decided.
            problem = self._ensure_ready(server)
            key = (server.starts, *shot.warm_key)
            if problem is None and key not in self._warm:
                self._warm.add(key)
                yield warmup_of(shot, self._plan.warmup_s, len(self._record.trials))
        yield step_of(shot, len(self._record.trials))

    def _ensure_ready(self, server: ManagedServer) -> str | None:
        """Why the server is not ready, or None."""
        ended = server.ended()
        if ended is not None:
            text = f"server {server.spec.name!r} had ended with exit code {ended}; started again"
            self._record.tell("server-restart", text)
        try:
            server.ensure_ready()
        except ServerStartError as error:
            return str(error)
        return None

    def _step(self, step: Step, server: ManagedServer) -> dict[str, Any]:
        self._live.before(step)
        if not self._is_first:
            self._rest(self._plan.rest_s)
        self._is_first = False
        self._progress.begin(step)
        trial = self._measure(step, server)
        for name in trial.execution.artefacts:
            self._record.redactor.file(self._entry.directory / name)
        kept = self._record.add(trial)
        self._commit(trial.execution.artefacts)
        self._progress.end(step, kept["error"], trial.glance)
        self._live.after(kept)
        return kept

    def _measure(self, step: Step, server: ManagedServer) -> Trial:
        tool = self._found.tool
        point = load_point(step, server.url, self._plan.load.threads)
        command = tool.command(point, f"{step.ordinal:03d}")
        problem = self._ensure_ready(server)
        payload, mismatch = _payload(step, server) if problem is None else (None, None)
        problem = problem or mismatch
        # Also who cannot take part comes, so that the others do not wait in vain.
        self._gathering.gather(step.ordinal)
        if problem is None:
            execution, resources = self._execute(command, step, server)
        else:
            execution, resources = _not_run(problem), {}
        return Trial(
            step=step,
            server=ServerFacts(
                version=server.version,
                runtime=server.runtime,
                tls=server.url.startswith("https:"),
                payload_bytes=step.workload.payload_bytes if payload is None else payload,
            ),
            found=self._found,
            threads=tool.threads(point),
            connections=tool.connections(point),
            command=command.line(),
            execution=execution,
            resources=resources,
            glance=self._glance(command, execution),
            server_tail=server.tail() if execution.error is not None else None,
        )

    def _execute(
        self, command: Command, step: Step, server: ManagedServer
    ) -> tuple[Execution, dict[str, Any]]:
        sampler = Sampler(server.tree())

        def tick() -> None:
            sampler.tick()
            self._progress.tick()

        load_s = self._plan.load.longest_s if step.duration_s is None else step.duration_s
        execution = execute(
            command,
            self._found.path,
            directory=self._entry.directory,
            limit_s=load_s + (EXTRA_TIME_S if step.duration_s is not None else 0.0),
            tick=tick,
        )
        resources = sampler.finish(execution.client_cpu_s)
        ended = server.ended()
        if ended is not None:
            text = f"server {step.server.name!r} ended with exit code {ended} during the trial"
            self._note_death(step.server.name, text)
            execution = replace(execution, error=execution.error or text)
        return execution, resources

    def _glance(self, command: Command, execution: Execution) -> Glance:
        if execution.error is not None:
            return NOTHING_SEEN

        def outputs(name: str) -> str:
            path = self._entry.directory / name
            if not path.exists() or path.stat().st_size > GLANCE_LIMIT_BYTES:
                return ""
            return path.read_text(encoding="utf-8", errors="replace")

        try:
            return self._found.tool.glance(outputs, command)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return NOTHING_SEEN  # an output of another shape; the service reads it, not we

    def _check_rules_before(self) -> None:
        limit_s = self._plan.abort.wall_clock_s
        if limit_s is not None and time.monotonic() - self._began > limit_s:
            raise PlanStoppedError(f"the plan's time is over ([abort] wall_clock_s = {limit_s:g})")
        free = shutil.disk_usage(self._entry.directory).free
        if free < LEAST_FREE_BYTES:
            raise PlanStoppedError(
                f"only {free >> 20} MiB are free in {self._entry.directory.parent}; expected "
                f"{LEAST_FREE_BYTES >> 20} MiB before a trial begins, so make room and run "
                "`loadsheet run --resume`",
                is_resumable=True,
            )

    def _check_rules_after(self, trial: Mapping[str, Any]) -> None:
        abort, name = self._plan.abort, trial["server"]["name"]
        rate = trial["glance"]["error_rate"]
        if abort.error_rate is not None and rate is not None and rate > abort.error_rate:
            raise PlanStoppedError(
                f"{rate:.1%} of the attempts failed at server {name!r} in trial "
                f"{trial['ordinal']} ([abort] error_rate = {abort.error_rate:g})"
            )
        deaths = self._deaths.get(name, 0)
        if deaths and self._plan.on_server_death == "stop":
            raise PlanStoppedError(f'server {name!r} died (on_server_death = "stop")')
        if abort.server_deaths is not None and deaths >= abort.server_deaths:
            raise PlanStoppedError(
                f"server {name!r} died {deaths} times ([abort] server_deaths = "
                f"{abort.server_deaths})"
            )

    def _note_death(self, name: str, text: str) -> None:
        self._deaths[name] = self._deaths.get(name, 0) + 1
        self._record.tell("server-death", text)

    def _note_max_rate(
        self, server: ServerSpec, workload: WorkloadSpec, rate: float | None, confirmed: bool
    ) -> None:
        self._record.max_rates.append(
            {
                "server": server.name,
                "workload": workload.name,
                "rate_rps": rate,
                "confirmed": confirmed,
            }
        )

    def _note_tails(self) -> None:
        for name, server in self._servers.items():
            tail = server.tail()
            self._record.server_tails[name] = tail and self._record.redactor.text(tail)

    def _commit(self, artefacts: tuple[str, ...] = ()) -> None:
        self._entry.commit(self._record.as_envelope(), artefacts)

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._progress.tick()
            time.sleep(min(0.1, max(until - time.monotonic(), 0)))


def trial_key(trial: Mapping[str, Any]) -> tuple[object, ...]:
    """As `Shot.key`, of a trial in an envelope; a warm-up's is no shot's."""
    load = trial["load"]
    point = (load["connections_asked"], load["rate_rps"])
    names = (trial["server"]["name"], trial["workload"]["name"])
    return (*names, *point, trial["phase"], trial["repeat"])


def _glance_of(trial: Mapping[str, Any]) -> Glance:
    return Glance(**trial["glance"])


@contextmanager
def _servers(plan: Plan) -> Iterator[dict[str, ManagedServer]]:
    with tempfile.TemporaryDirectory(prefix="loadsheet-") as logs:
        servers = servers_module.prepare(plan, Path(logs))
        try:
            yield servers
        finally:
            for server in servers.values():
                server.stop()


def _payload(step: Step, server: ManagedServer) -> tuple[int | None, str | None]:
    """Size of the answer, and why the trial cannot run with an answer of that size."""
    found, planned = server.payload_bytes(step.workload), step.workload.payload_bytes
    if found is not None and planned is not None and found != planned:
        return found, (
            f"server {step.server.name!r} answers {step.workload.path} with {found} bytes, the "
            f"plan says {planned}; the trial was not run"
        )
    return found, None


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
