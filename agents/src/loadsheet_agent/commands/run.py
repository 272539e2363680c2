"""`loadsheet run PLAN.toml`: measure by the plan, keep it, bring it to the service."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadsheet_agent.clock import utc_now
from loadsheet_agent.commands import common
from loadsheet_agent.delivery import Delivery
from loadsheet_agent.envelope import RunRecord, failed
from loadsheet_agent.errors import AgentError
from loadsheet_agent.exits import Exit
from loadsheet_agent.facts import read_host
from loadsheet_agent.hosts import servers_are_here
from loadsheet_agent.plan import Plan, read_plan
from loadsheet_agent.progress import choose_progress, clock_text
from loadsheet_agent.runner import Runner, load_point
from loadsheet_agent.spool import Entry
from loadsheet_agent.steps import Step, expand, planned_seconds
from loadsheet_agent.tools import FoundTool, choose, tool_paths


def run(arguments: Namespace) -> Exit:
    target = common.read_target(arguments)
    plan = read_plan(Path(arguments.plan))
    steps = expand(plan)
    here = servers_are_here(plan)
    points = [load_point(step, step.server.url, plan.load.threads) for step in steps]
    found = choose(plan.load.tool, points, tool_paths(arguments.tool_path, os.environ))
    entry = common.open_spool(arguments).create()
    record = _record(entry, plan, found, here)
    common.say(_summary(plan, steps, found))
    interrupted = _measure(record, found, entry, steps)
    common.say(_outcome(record, steps, interrupted))
    if interrupted:
        return _leave(entry, record, arguments, Exit.INTERRUPTED)
    if target is None:
        common.say("No address given, so nothing was uploaded (LOADSHEET_URL or --url).")
        code = Exit.TRIALS_FAILED if failed(record.trials) else Exit.OK
        return _leave(entry, record, arguments, code)
    if not entry.artefacts():
        return _nothing_to_send(entry, record, arguments)
    delivery = common.deliver(entry, target, arguments.max_wait)
    common.report(entry.id, delivery, as_json=arguments.json, more=_figures(record))
    if delivery.exit_code is Exit.OK and failed(record.trials):
        return Exit.TRIALS_FAILED
    return delivery.exit_code


def _record(entry: Entry, plan: Plan, found: FoundTool, here: bool) -> RunRecord:
    host = read_host()
    client = replace(host, facts={**host.facts, "tool_path": found.path})
    return RunRecord(
        id=entry.id,
        plan=plan,
        started_at=utc_now(),
        client=client,
        server=host if here else None,
        same_host=here,
    )


def _measure(record: RunRecord, found: FoundTool, entry: Entry, steps: tuple[Step, ...]) -> bool:
    """True when it was interrupted; what had finished is in the spool either way."""
    # SIGTERM ends a run the way Ctrl-C does: servers stopped, finished trials kept.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = record.plan
    progress = choose_progress(steps, repeats=plan.repeats, rest_s=plan.rest_s)
    try:
        with progress:
            Runner(record=record, found=found, entry=entry, progress=progress).run(steps)
    except KeyboardInterrupt:
        return True
    except OSError as error:
        raise AgentError(
            f"the run stopped: {error.strerror or error} ({entry.directory}); the "
            f"{len(record.trials)} trials finished before are kept there."
        ) from error
    finally:
        signal.signal(signal.SIGTERM, before)
    return False


def _nothing_to_send(entry: Entry, record: RunRecord, arguments: Namespace) -> Exit:
    """The service takes no upload without output, so the errors stay here, beside the refused."""
    first = next((trial.execution.error for trial in record.trials), None)
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
        nothing = {"state": None, "result_url": None, "detail": None}
        common.put_json({"id": entry.id, "exit_code": int(code), **nothing, **_figures(record)})
    return code


def _figures(record: RunRecord) -> dict[str, Any]:
    return {
        "trials": len(record.trials),
        "failed_trials": len(failed(record.trials)),
        "interrupted": record.finished_at is None,
    }


def _summary(plan: Plan, steps: tuple[Step, ...], found: FoundTool) -> str:
    warmups = sum(step.warmup for step in steps)
    count = f"{len(steps) - warmups} trials and {warmups} warm-ups"
    shape = (
        f"{_count(len(plan.servers), 'server')} x {_count(len(plan.workloads), 'workload')} x "
        f"{_count(len(plan.load.connections), 'load point')} x {_count(plan.repeats, 'repeat')}"
    )
    tool = f"{found.tool.name} {found.version or '(version unknown)'}"
    time = clock_text(planned_seconds(plan, steps))
    return f"{shape}: {count} with {tool}, {time} under load."


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _outcome(record: RunRecord, steps: tuple[Step, ...], interrupted: bool) -> str:
    bad = len(failed(record.trials))
    errors = f", {bad} with an error" if bad else ""
    if interrupted:
        return f"Interrupted: {len(record.trials)} of {len(steps)} trials had finished{errors}."
    return f"Measured {len(record.trials)} trials{errors}."
