"""Carries out a plan: trial by trial, each on disk before the next begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from loadsheet_agent.errors import PlanStoppedError, ServerStartError
from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.plan.expansion import expand_further
from loadsheet_agent.plan.schedule import drive
from loadsheet_agent.plan.server_spec import ServerKey, ServerSpec
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.run.execution import EXTRA_TIME_S, Execution, execute, not_executed
from loadsheet_agent.run.expectation import find_misfit, find_mismatch
from loadsheet_agent.run.installation import Installation, log_folder
from loadsheet_agent.run.live import Live
from loadsheet_agent.run.probe import Answer
from loadsheet_agent.run.progress import Progress
from loadsheet_agent.run.record import RunRecord, Trial, glance_of, step_key
from loadsheet_agent.run.restarts import settle_restarts
from loadsheet_agent.run.resting import rest
from loadsheet_agent.run.rules import SkipRule, StopRules
from loadsheet_agent.run.sampling import Sampler
from loadsheet_agent.run.servers import ANSWER_LIMIT_S, ManagedServer, running_servers
from loadsheet_agent.tools.base import NOTHING_SEEN, Command, Glance
from loadsheet_agent.upload.spool import Entry

# A glance reads files whole; larger ones are left to the service.
GLANCE_LIMIT_BYTES = 64 * 1024 * 1024


class Runner:
    """One run of a plan. Trials that the record has already are not run again."""

    def __init__(
        self,
        record: RunRecord,
        entry: Entry,
        progress: Progress,
        installation: Installation,
        live: Live,
        gather: Callable[[int], None],
    ) -> None:
        """`gather` returns when the trial of a number begins."""
        self._record = record
        self._plan = installation.plan
        self._installation = installation
        self._logs = log_folder(entry)
        self._tool = installation.tool
        self._entry = entry
        self._progress = progress
        self._live = live
        self._gather = gather
        self._rules = StopRules(record.plan, entry.directory)
        self._skipping = SkipRule(record)
        self._done = {step_key(trial): glance_of(trial) for trial in record.trials}
        self._warm: set[tuple[object, ...]] = set()
        # Load points that a process gave a result for, each with the number of its start.
        self._measured: set[tuple[object, ...]] = set()
        self._servers: Mapping[ServerKey, ManagedServer] = {}
        self._is_first = True
        # Seconds for stopping servers, which are part of the start that follows.
        self._stopping_s = 0.0

    def run(self) -> None:
        """Every trial in order. Finished trials are in the spool however the run ends.

        Raises PlanStoppedError by a rule of the plan. KeyboardInterrupt goes to the caller after
        the servers were stopped.
        """
        self._commit()
        with running_servers(
            self._plan, self._installation.words, self._logs, self._record.next_start
        ) as self._servers:
            self._progress.clock.note_prepared()
            try:
                drive(
                    self._plan,
                    self._take,
                    seed=self._record.seed,
                    note_rate=self._note_rate,
                    note_more=self._note_more,
                )
            except PlanStoppedError as stop:
                self._record.stopped = str(stop)
                self._record.add_event("stopped", str(stop))
                raise
            finally:
                self._note_tails()
                self._commit()
        self._record.finished_at = utc_now()
        self._commit()

    def _take(self, step: Step) -> Glance:
        """The trial and, where it needs one, its warm-up."""
        if step.key in self._done:
            return self._done[step.key]
        if self._skipping.is_skipped(step.server.key):
            self._progress.drop(step)
            return NOTHING_SEEN
        self._rules.check_before_trial()
        server = self._servers[step.server.key]
        self._stop_before(step, server)
        self._warm_up(step, server)
        trial = self._carry_out(step, server)
        self._measured.add((server.start, step.result_key))
        self._rules.check_after_trial(trial, server.spec.label)
        self._note_failures(server, trial)
        return glance_of(trial)

    def _stop_before(self, step: Step, server: ManagedServer) -> None:
        """Stop what the plan does not want to run during the trial."""
        is_restarted = server.program.is_running and self._is_restarted(step, server)
        began = time.monotonic()
        if is_restarted:
            server.program.stop()
        if self._plan.is_one_alive:
            for other in self._servers.values():
                if other is not server:
                    other.program.stop()
        self._stopping_s = time.monotonic() - began

    def _is_restarted(self, step: Step, server: ManagedServer) -> bool:
        """Whether the trial gets a new process of a server that runs."""
        if self._plan.restart == "each-trial":
            return True
        is_again = step.result_key is not None and (server.start, step.result_key) in self._measured
        if is_again and self._plan.restart == "auto":
            self._settle_restarts(step)
        return is_again and self._plan.restart == "each-repeat"

    def _settle_restarts(self, step: Step) -> None:
        """Decide by what this run has measured; `step` is the first that a restart is about."""
        clock = self._progress.clock
        restarts = settle_restarts(
            self._plan, self._record.seed, clock.timings, clock.warmups_each()
        )
        self._plan = restarts.plan
        servers = {key for key in self._servers if not self._skipping.is_skipped(key)}
        following, starts = restarts.left_from(step, servers)
        if following:
            clock.replan(self._plan, following, starts)
            self._record.trials_planned = len(self._record.trials) + len(following)
        if restarts.sentence is not None:
            self._record.add_event("restarts", restarts.sentence)
            self._progress.note(self._record.redactor.text(restarts.sentence))

    def _warm_up(self, step: Step, server: ManagedServer) -> None:
        if not self._needs_warmup(step, server):
            return
        rates: list[float | None] = []
        warmup = step.warm_up(self._plan.warmup_s)
        while not self._plan.is_warm(rates):
            if len(rates) >= self._plan.least_warmups:
                self._record.trials_planned += 1
                self._progress.clock.add_warmup(warmup)
            trial = self._carry_out(warmup, server)
            if trial["error"] is not None:
                return
            rates.append(glance_of(trial).throughput_rps)

    def _note_failures(self, server: ManagedServer, trial: Mapping[str, Any]) -> None:
        failures = self._skipping.note(server.spec.key, trial)
        if failures is not None:
            text = (
                f"server {server.spec.label!r} is skipped after {failures} failed trials in a "
                f"row; the last: {trial['error']}. "
                f"Its whole output is in {self._logs}"
            )
            self._record.add_event("server-skipped", text)

    def _needs_warmup(self, step: Step, server: ManagedServer) -> bool:
        """Whether this process of the server has not been warmed up for the step."""
        # Started first: only then is it known whether this is a fresh process.
        if self._plan.warmup_s <= 0 or self._ensure_ready(server) is not None:
            return False
        key = (server.start, *step.warm_key)
        is_cold = key not in self._warm
        self._warm.add(key)
        return is_cold

    def _ensure_ready(self, server: ManagedServer) -> str | None:
        """Why the server is not ready, or None."""
        exit_code = server.program.exit_code()
        if exit_code is not None:
            text = (
                f"server {server.spec.label!r} had ended with exit code {exit_code}; started again"
            )
            self._record.add_event("server-restart", text)
        began, start = time.monotonic(), server.start
        try:
            server.ensure_ready()
        except ServerStartError as error:
            return str(error)
        if server.start != start:
            seconds = self._stopping_s + time.monotonic() - began
            self._progress.clock.note_start(server.spec, seconds)
        return None

    def _carry_out(self, step: Step, server: ManagedServer) -> dict[str, Any]:
        self._live.before(step)
        if not self._is_first:
            began = time.monotonic()
            rest(self._plan, self._progress.tick)
            self._progress.clock.note_rest(time.monotonic() - began)
        self._is_first = False
        self._progress.begin(step)
        trial = self._measure(step, server)
        for name in trial.execution.artefacts:
            self._record.redactor.file(self._entry.directory / name)
        document = self._record.add(trial)
        self._commit(trial.execution.artefacts)
        self._progress.end(step, document["error"], trial.glance)
        self._live.after(document)
        return document

    def _measure(self, step: Step, server: ManagedServer) -> Trial:
        tool, ordinal = self._tool.tool, len(self._record.trials)
        point = step.load_point(server.url, self._plan.load.threads)
        command = tool.command(point, f"{ordinal:03d}")
        problem = self._ensure_ready(server) or self._find_refusal(server)
        answer = None
        if problem is None:
            answer, problem = _check_answer(step.workload, server, tool.name)
        # An agent that cannot measure comes too, so that the others do not wait in vain.
        self._gather(ordinal)
        if problem is None:
            execution, resources = self._execute(command, step, server)
            glance = self._glance(command, execution)
            if server.program.exit_code() is None and _went_badly(glance):
                execution, resources = self._find_hang(execution, resources, server)
                # What a hung server gave decides nothing.
                glance = NOTHING_SEEN if execution.error else glance
        else:
            execution, resources, glance = not_executed(problem), {}, NOTHING_SEEN
        return Trial(
            step=step,
            server_version=server.version,
            server_texts=server.texts,
            tls=server.url.startswith("https:"),
            payload_bytes=answer.body_bytes if answer else step.workload.payload_bytes,
            keepalive=_keepalive(step.workload, answer),
            start=server.start,
            tool=self._tool,
            threads=tool.threads(point),
            connections=tool.connections(point),
            command=command.line(),
            execution=execution,
            resources=resources,
            glance=glance,
            server_tail=server.program.tail() if execution.error is not None else None,
        )

    def _find_refusal(self, server: ManagedServer) -> str | None:
        refusal = self._installation.targets.refusal(server.url)
        return refusal and f"server {server.spec.label!r} gets no load: {refusal}"

    def _execute(
        self, command: Command, step: Step, server: ManagedServer
    ) -> tuple[Execution, dict[str, Any]]:
        sampler = Sampler(server.program.tree(), server.services.trees())

        def tick() -> None:
            sampler.tick()
            self._progress.tick()

        duration_s = step.duration_s
        execution = execute(
            command,
            self._tool.path,
            directory=self._entry.directory,
            limit_s=(
                self._plan.longest_s(step.server)
                if duration_s is None
                else duration_s + EXTRA_TIME_S
            ),
            tick=tick,
            user=self._installation.tool_user,
        )
        resources = sampler.finish(execution.client_cpu_s)
        exit_code = server.program.exit_code()
        if exit_code is not None:
            text = f"server {step.server.label!r} ended with exit code {exit_code} during the trial"
            execution = self._note_death(step.server.label, "server-death", text, execution)
        return execution, resources

    def _find_hang(
        self, execution: Execution, resources: dict[str, Any], server: ManagedServer
    ) -> tuple[Execution, dict[str, Any]]:
        """Ask the server once more; where it hung, the next trial starts it again."""
        is_answering = server.is_answering()
        if not is_answering:
            label, limit = server.spec.label, f"{ANSWER_LIMIT_S:g} s"
            text = f"server {label!r} hung: after the trial it did not answer within {limit}"
            execution = self._note_death(label, "server-hung", text, execution)
            server.program.stop()
        return execution, {**resources, "server_answers_after": is_answering}

    def _note_death(self, label: str, kind: str, text: str, execution: Execution) -> Execution:
        """The execution with the death as its error, unless it has one."""
        self._rules.note_death(label)
        self._record.add_event(kind, text)
        return replace(execution, error=execution.error or text)

    def _glance(self, command: Command, execution: Execution) -> Glance:
        if execution.error is not None:
            return NOTHING_SEEN

        def outputs(name: str) -> str:
            path = self._entry.directory / name
            if not path.exists() or path.stat().st_size > GLANCE_LIMIT_BYTES:
                return ""
            return path.read_text(encoding="utf-8", errors="replace")

        try:
            return self._tool.tool.glance(outputs, command)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return NOTHING_SEEN  # an output of another shape, which the service reads

    def _note_more(self, steps: tuple[Step, ...]) -> None:
        further = expand_further(self._plan, steps)
        self._record.trials_planned += len(further)
        self._progress.clock.extend([step for step in further if step.key not in self._done])

    def _note_rate(
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
        for server in self._servers.values():
            tail = server.program.tail()
            self._record.server_tails[server.spec.label] = tail and self._record.redactor.text(tail)

    def _commit(self, artefacts: tuple[str, ...] = ()) -> None:
        self._entry.commit(self._record.as_envelope(), artefacts)


def _went_badly(glance: Glance) -> bool:
    """Whether the server may have stopped answering."""
    return not glance.throughput_rps or bool(glance.error_rate)


def _check_answer(
    workload: WorkloadSpec, server: ManagedServer, tool_name: str
) -> tuple[Answer | None, str | None]:
    """The server's answer where it is known, and why no trial can run with it."""
    try:
        answer = server.answer(workload)
    except ServerStartError as error:
        return None, str(error)
    if answer is None:
        return None, None
    difference = find_mismatch(workload, answer) or find_misfit(tool_name, workload, answer)
    if difference is None:
        return answer, None
    return answer, f"server {server.spec.label!r} {difference}; the trial was not run"


def _keepalive(workload: WorkloadSpec, answer: Answer | None) -> bool | None:
    """The plan's; None if it asks for keep-alive and the server closes all the same."""
    return None if workload.keepalive and answer and answer.closes else workload.keepalive
