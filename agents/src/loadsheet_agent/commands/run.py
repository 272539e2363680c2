"""`loadsheet run PLAN.toml`: measure by the plan, keep it, bring it to the service."""

from __future__ import annotations

import os
import random
import signal
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loadsheet_agent.commands import common
from loadsheet_agent.errors import AgentError, PlanStoppedError, UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.host.calibration import calibrate
from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.host.facts import HostFacts, read_host, sha256_of
from loadsheet_agent.host.locality import server_host, servers_are_here
from loadsheet_agent.plan.plan import Plan, read_plan
from loadsheet_agent.plan.steps import Step, expand, expand_most, load_point
from loadsheet_agent.run.live import Broadcast, Live, NotLive
from loadsheet_agent.run.progress import Clock, choose_progress
from loadsheet_agent.run.runner import Runner
from loadsheet_agent.run.session import Session, check_plan
from loadsheet_agent.run.summary import outline
from loadsheet_agent.tools import FoundTool, LoadPoint, choose, tool_paths
from loadsheet_agent.upload.api_client import Line, who_am_i
from loadsheet_agent.upload.delivery import Delivery, Target, is_loopback
from loadsheet_agent.upload.early_trials import EarlyTrials
from loadsheet_agent.upload.envelope import RunRecord
from loadsheet_agent.upload.redaction import Redactor
from loadsheet_agent.upload.secrets import redactor_for
from loadsheet_agent.upload.spool import BusyError, Entry, Spool

# What must be the same when a run goes on: one run has one client host.
HOST_IDENTITY = ("name", "cpu_model", "cores", "memory_bytes", "os", "kernel")
SEEDS = 2**31


@dataclass(frozen=True)
class Told:
    """Who is told of a run while it goes on, and with whom it meets."""

    target: Target | None
    session: Session | None


def run(arguments: Namespace) -> Exit:
    target = common.read_target(arguments)
    plan = read_plan(Path(arguments.plan))
    _check_seed(arguments, plan)
    redactor = redactor_for(plan, target)
    here = servers_are_here(plan)
    found = choose_tool(plan, tool_paths(arguments.tool_path, os.environ))
    spool = common.open_spool(arguments)
    host = _client_facts(plan, found, here, target)
    if arguments.resume is None:
        entry = spool.create()
        record = _record(entry, plan, host, here, redactor)
        if arguments.seed is not None:
            record.seed = arguments.seed
    else:
        entry, record = _resumed(spool, arguments.resume, plan, host, here, redactor)
    session = _session(arguments, target, plan, record)
    steps = expand(plan, record.seed)
    common.say(redactor.text(outline(plan, steps, expand_most(plan, record.seed), found)))
    if target is not None:
        common.say(f"Live and afterwards at {target.url}/r/{entry.id}")
    try:
        _measure(record, found, entry, steps, Told(target, session))
    except KeyboardInterrupt:
        common.say(_outcome(record, steps, f"Interrupted: {_finished(record, steps)}"))
        common.say(f"`loadsheet run {arguments.plan} --resume` goes on with it.")
        return _leave(entry, record, arguments, Exit.INTERRUPTED)
    except PlanStoppedError as stop:
        common.say(_outcome(record, steps, f"Stopped: {stop}; {_finished(record, steps)}"))
        if stop.is_resumable:
            return _leave(entry, record, arguments, Exit.STOPPED)
        return _upload(entry, record, target, arguments, Exit.STOPPED)
    common.say(_outcome(record, steps, f"Measured {len(record.trials)} trials"))
    code = Exit.TRIALS_FAILED if record.failed() else Exit.OK
    return _upload(entry, record, target, arguments, code)


def _check_seed(arguments: Namespace, plan: Plan) -> None:
    if arguments.seed is None:
        return
    if arguments.resume is not None:
        raise UsageError("--seed is given with --resume; a resumed run keeps its seed.")
    if plan.order != "randomised":
        raise UsageError("--seed is given, but the plan's order is not random; leave it out.")
    if not 0 <= arguments.seed < SEEDS:
        raise UsageError(f"--seed is {arguments.seed}; expected 0 to {SEEDS - 1}.")


def _session(
    arguments: Namespace, target: Target | None, plan: Plan, record: RunRecord
) -> Session | None:
    """The session that was asked for, joined: the order of the trials is then that of all."""
    name, parts = arguments.session, arguments.parts
    if name is None and parts is None:
        return None
    if name is None or parts is None or parts < 2:
        raise UsageError("a session needs both: --session NAME and --parts N, with N at least 2.")
    if arguments.resume is not None:
        raise UsageError("--session is given with --resume; begin a session of another name.")
    clock = record.client.facts.get("clock")
    if target is None or clock is None:
        raise UsageError(
            "a session needs the service, to agree on the start; set LOADSHEET_URL or log in."
        )
    check_plan(plan)
    record.session = {"name": name, "parts": parts}
    session = Session(target, record, clock["offset_s"])
    record.seed = session.join()
    common.say(f"Session {name}: waiting for {parts} agents before each trial.")
    common.say(f"Together at {_session_url(target, name)}")
    return session


def _session_url(target: Target, name: str) -> str:
    base = who_am_i(target).workspace_url
    return f"{base}sessions/{name}" if base else target.url


def choose_tool(plan: Plan, paths: dict[str, str]) -> FoundTool:
    """The load tool that can do every load point of the plan, warm-ups included."""
    found = choose(plan.load.tool, planned_points(plan), paths)
    if plan.max_rate is not None and not found.tool.tells_p99:
        raise UsageError(
            f"{found.tool.name} does not tell the p99 that [max_rate] has a limit for; use wrk2, "
            "vegeta or k6."
        )
    return found


def planned_points(plan: Plan) -> list[LoadPoint]:
    """Every load point the plan asks for, with the servers' addresses as they are written."""
    steps = (*expand(plan), *(expand_most(plan) if plan.max_rate else ()))
    return [load_point(step, step.server.url, plan.load.threads) for step in steps]


def _client_facts(plan: Plan, found: FoundTool, here: bool, target: Target | None) -> HostFacts:
    host = read_host(towards=None if here else server_host(plan))
    with ThreadPoolExecutor(max_workers=1) as beside:
        # It waits for the next second most of the time, which the score does not feel.
        clock = beside.submit(common.clock_facts, target)
        more = {
            "tool_path": found.path,
            "tool_sha256": sha256_of(found.path),
            "calibration": calibrate(),
            "clock": clock.result(),
        }
    return replace(host, facts={**host.facts, **more})


def _record(entry: Entry, plan: Plan, host: HostFacts, here: bool, redactor: Redactor) -> RunRecord:
    drawn = random.SystemRandom().randrange(SEEDS)
    return RunRecord(
        id=entry.id,
        plan=plan,
        seed=drawn if plan.seed is None else plan.seed,
        started_at=utc_now(),
        client=host,
        server=host if here else None,
        same_host=here,
        redactor=redactor,
    )


def _resumed(
    spool: Spool, wanted: str, plan: Plan, host: HostFacts, here: bool, redactor: Redactor
) -> tuple[Entry, RunRecord]:
    """The interrupted run of this plan that waits in the spool, locked, ready to go on."""
    new = _record(Entry(Path()), plan, host, here, redactor)
    entry = _interrupted_entry(spool, wanted, new.plan_sha256)
    envelope = entry.envelope() or {}
    _refuse_other_host(envelope["hosts"]["client"], host)
    run = envelope["run"]
    record = replace(
        new,
        id=entry.id,
        seed=run["seed"],
        started_at=run["started_at"],
        trials=[_without_upload(trial) for trial in envelope["trials"]],
        sent_early={
            trial["ordinal"]: trial["upload"] for trial in envelope["trials"] if "upload" in trial
        },
        events=run["events"],
        server_tails=run["server_tails"],
    )
    record.tell("resumed", f"went on after {len(record.trials)} trials; servers were started anew")
    return entry, record


def _without_upload(trial: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in trial.items() if name != "upload"}


def _interrupted_entry(spool: Spool, wanted: str, plan_sha256: str) -> Entry:
    waiting = []
    for entry in spool.entries():
        run = (entry.envelope() or {}).get("run") or {}
        is_meant = wanted in ("", entry.id)
        if is_meant and run.get("interrupted") and run.get("plan_sha256") == plan_sha256:
            waiting.append(entry)
    if not waiting:
        raise UsageError(
            f"no interrupted run of this plan waits in {spool.root}; a run that was uploaded or "
            "whose plan was changed since cannot be resumed, so leave --resume out."
        )
    if len(waiting) > 1:
        ids = ", ".join(entry.id for entry in waiting)
        raise UsageError(f"several interrupted runs of this plan wait; name one: {ids}.")
    try:
        waiting[0].lock()
    except BusyError as error:
        raise UsageError(f"{error} It cannot be resumed while that goes on.") from error
    return waiting[0]


def _refuse_other_host(before: dict[str, Any], now: HostFacts) -> None:
    for name in HOST_IDENTITY:
        if before.get(name) != getattr(now, name):
            raise UsageError(
                f"this machine is not the one the run began on: {name} was {before.get(name)!r} "
                f"and is {getattr(now, name)!r}; a run has one client host, so begin a new one."
            )


def _measure(
    record: RunRecord,
    found: FoundTool,
    entry: Entry,
    steps: tuple[Step, ...],
    told: Told,
) -> None:
    """Raises KeyboardInterrupt or PlanStoppedError with what had finished in the spool."""
    # SIGTERM ends a run the way Ctrl-C does: servers stopped, finished trials kept.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = record.plan
    ahead = steps[min(len(record.trials), len(steps)) :]
    progress = choose_progress(ahead, repeats=plan.repeats, rest_s=plan.rest_s)
    record.trials_planned = len(steps)
    live: Live = NotLive()
    if told.target is not None:
        live = _broadcast(told.target, entry, record, progress.clock)
    runner = Runner(
        record=record,
        found=found,
        entry=entry,
        progress=progress,
        live=live,
        gathering=told.session,
    )
    try:
        with progress, _told_of_its_end(live):
            runner.run()
    except OSError as error:
        raise AgentError(
            f"the run stopped: {error.strerror or error} ({entry.directory}); the "
            f"{len(record.trials)} trials finished before are kept there."
        ) from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _broadcast(target: Target, entry: Entry, record: RunRecord, clock: Clock) -> Live:
    early = EarlyTrials(Line(target), record, entry.directory, waits=is_loopback(target.url))
    return Broadcast(Line(target), early, record, clock, common.say)


@contextmanager
def _told_of_its_end(live: Live) -> Iterator[None]:
    try:
        yield
    except PlanStoppedError as stop:
        # After a full disk it goes on with --resume, like an interrupted one.
        live.end("interrupted" if stop.is_resumable else "stopped")
        raise
    except BaseException:
        live.end("interrupted")
        raise
    live.end("finished")


def _upload(
    entry: Entry, record: RunRecord, target: Target | None, arguments: Namespace, code: Exit
) -> Exit:
    if target is None:
        common.say("No address given, so nothing was uploaded (LOADSHEET_URL or --url).")
        return _leave(entry, record, arguments, code)
    if not entry.artefacts():
        return _nothing_to_send(entry, record, arguments)
    delivery = common.deliver(entry, target, arguments.max_wait)
    common.report(entry.id, delivery, as_json=arguments.json, more=_figures(record))
    return code if delivery.exit_code is Exit.OK else delivery.exit_code


def _nothing_to_send(entry: Entry, record: RunRecord, arguments: Namespace) -> Exit:
    """The service takes no upload without output, so the errors stay here, beside the refused."""
    first = next((trial["error"] for trial in record.trials), None)
    detail = f"No trial has output, so there is nothing to upload: {first}"
    place = entry.reject({"title": "Nothing to upload", "detail": detail})
    upload_id = place.name
    delivery = Delivery(Exit.TRIALS_FAILED, detail=f"{detail} (kept in {place})")
    if arguments.json:
        answer = common.delivery_json(upload_id, delivery)
        common.put_json({**answer, **_figures(record)})
    common.say(f"{detail}. Kept in {place}.")
    return Exit.TRIALS_FAILED


def _leave(entry: Entry, record: RunRecord, arguments: Namespace, code: Exit) -> Exit:
    if record.trials:
        common.say(f"Kept in {entry.directory}; `loadsheet spool retry` uploads it.")
    entry.release()
    if arguments.json:
        nothing = {"state": None, "result_url": None, "detail": record.stopped}
        common.put_json({"id": entry.id, "exit_code": int(code), **nothing, **_figures(record)})
    return code


def _figures(record: RunRecord) -> dict[str, Any]:
    return {
        "trials": len(record.trials),
        "failed_trials": len(record.failed()),
        "interrupted": record.finished_at is None,
        "stopped": record.stopped,
        "seed": record.seed,
        "plan_sha256": record.plan_sha256,
        "max_rates": record.max_rates,
    }


def _finished(record: RunRecord, steps: tuple[Step, ...]) -> str:
    return f"{len(record.trials)} of {len(steps)} trials had finished"


def _outcome(record: RunRecord, steps: tuple[Step, ...], what: str) -> str:
    bad = len(record.failed())
    errors = f", {bad} with an error" if bad else ""
    rates = [_max_rate_text(found) for found in record.max_rates]
    return "\n".join([f"{what}{errors}.", *rates])


def _max_rate_text(found: dict[str, Any]) -> str:
    name = f"{found['server']} · {found['workload']}"
    if found["rate_rps"] is None or not found["confirmed"]:
        return f"{name}: no rate within the limits was confirmed"
    return f"{name}: {found['rate_rps']:g} requests/s within the limits"
