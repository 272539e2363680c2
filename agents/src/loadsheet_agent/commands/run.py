"""`loadsheet run PLAN.toml`: measure by the plan, keep the result, upload it."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadsheet_agent.commands.delivery_report import deliver, delivery_json, report
from loadsheet_agent.commands.options import read_pairs
from loadsheet_agent.commands.output import put_json, say
from loadsheet_agent.errors import PlanStoppedError, UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.host.facts import HostFacts
from loadsheet_agent.host.locality import servers_are_here
from loadsheet_agent.plan.expansion import choose_tool, expand_most
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import read_plan
from loadsheet_agent.run.allowed_targets import AllowedTargets, read_allowed_targets
from loadsheet_agent.run.installation import Installation, find_available, install_plan
from loadsheet_agent.run.measurement import Measurement
from loadsheet_agent.run.new_run import SEEDS, client_facts, new_record
from loadsheet_agent.run.record import RunRecord
from loadsheet_agent.run.restarts import expect_restarts
from loadsheet_agent.run.resume import resume_run
from loadsheet_agent.run.session import Session, join_session
from loadsheet_agent.run.summary import summarise, trials_text
from loadsheet_agent.run.tool_user import ToolUser, find_tool_user
from loadsheet_agent.tools import tool_paths
from loadsheet_agent.upload.delivery import Delivery
from loadsheet_agent.upload.secrets import redactor_for
from loadsheet_agent.upload.spool import Entry, open_spool
from loadsheet_agent.upload.target import Target, read_target


def run(arguments: Namespace) -> Exit:
    target = read_target(arguments.url, arguments.token)
    whole = read_plan(Path(arguments.plan), is_short=arguments.short)
    labels = {**whole.labels, **read_pairs(arguments.label, "--label")}
    whole = replace(whole, labels=labels)
    _check_arguments(arguments)
    same_host = servers_are_here(whole)
    tool_user, targets = _bounds(arguments, whole)
    available = find_available(whole)
    tool = choose_tool(available.plan, tool_paths(arguments.tool_path, os.environ))
    installation = install_plan(available, tool, say)
    installation = replace(installation, tool_user=tool_user, targets=targets)
    for sentence in installation.skipped:
        say(f"{sentence[0].upper()}{sentence[1:]}")
    plan = installation.plan
    host = client_facts(plan, tool, target, same_host=same_host)
    entry, record = _begin(arguments, plan, target, host, same_host=same_host)
    _note_skipped(record, installation)
    session = _join_session(arguments, target, record)
    expected = expect_restarts(plan, record.seed)
    steps, most = expected.steps, expand_most(expected.plan, record.seed)
    say(record.redactor.text(summarise(expected.plan, steps, most, tool, expected.expectation)))
    if target is not None:
        say(f"Results, live and afterwards: {target.url}/r/{entry.id}")
    progress = f"{{}} of {len(steps)} trials and warm-ups had finished"
    try:
        Measurement(record, installation, entry, expected, say).run(target, session)
    except KeyboardInterrupt:
        say(_outcome(record, f"Interrupted: {progress.format(len(record.trials))}"))
        form = " --short" if arguments.short else ""
        say(f"`loadsheet run {arguments.plan}{form} --resume` continues it.")
        return _keep(entry, record, arguments, Exit.INTERRUPTED)
    except PlanStoppedError as stop:
        say(_outcome(record, f"Stopped: {stop}; {progress.format(len(record.trials))}"))
        if stop.is_resumable:
            return _keep(entry, record, arguments, Exit.STOPPED)
        return _upload(entry, record, target, arguments, Exit.STOPPED)
    say(_outcome(record, f"Measured {_measured_text(record)}"))
    code = Exit.TRIALS_FAILED if record.failed_trials() else Exit.OK
    return _upload(entry, record, target, arguments, code)


def _bounds(arguments: Namespace, plan: Plan) -> tuple[ToolUser | None, AllowedTargets]:
    """Whom load tools run as, and what gets load. Raises UsageError, and PlanError for the plan."""
    tool_user = find_tool_user(arguments.tool_user or os.environ.get("LOADSHEET_TOOL_USER"))
    targets = read_allowed_targets(arguments.targets or os.environ.get("LOADSHEET_TARGETS"))
    targets.check(plan)
    return tool_user, targets


def _check_arguments(arguments: Namespace) -> None:
    """Raises UsageError for flags that contradict each other."""
    is_resumed, has_session = arguments.resume is not None, arguments.session is not None
    if arguments.seed is not None:
        if is_resumed:
            raise UsageError("--seed is given with --resume; a resumed run keeps its seed.")
        if not 0 <= arguments.seed < SEEDS:
            raise UsageError(f"--seed is {arguments.seed}; expected 0 to {SEEDS - 1}.")
    if has_session != (arguments.parts is not None) or (has_session and arguments.parts < 2):
        raise UsageError("a session needs both: --session NAME and --parts N, with N at least 2.")
    if has_session and is_resumed:
        raise UsageError("--session is given with --resume; begin a session with another name.")


def _begin(
    arguments: Namespace, plan: Plan, target: Target | None, host: HostFacts, *, same_host: bool
) -> tuple[Entry, RunRecord]:
    """A new run, or the interrupted run to continue; its entry in the spool is locked."""
    spool = open_spool(arguments.spool)
    redactor = redactor_for(plan, target)
    if arguments.resume is not None:
        new = new_record("", plan, host, redactor, same_host=same_host)
        return resume_run(spool, arguments.resume, new)
    entry = spool.create()
    record = new_record(entry.id, plan, host, redactor, same_host=same_host)
    if arguments.seed is not None:
        record.seed = arguments.seed
    return entry, record


def _note_skipped(record: RunRecord, installation: Installation) -> None:
    """Record why servers are skipped; a resumed run has noted it already."""
    noted = {event["text"] for event in record.events}
    for sentence in installation.skipped:
        if sentence not in noted:
            record.add_event("server-skipped", sentence)


def _join_session(arguments: Namespace, target: Target | None, record: RunRecord) -> Session | None:
    if arguments.session is None:
        return None
    return join_session(arguments.session, arguments.parts, target, record, say)


def _upload(
    entry: Entry, record: RunRecord, target: Target | None, arguments: Namespace, code: Exit
) -> Exit:
    if target is None:
        say("No address given, so nothing was uploaded (LOADSHEET_URL or --url).")
        return _keep(entry, record, arguments, code)
    if not entry.artefacts():
        return _reject_empty(entry, record, arguments)
    delivery = deliver(entry, target, arguments.max_wait)
    report(entry.id, delivery, as_json=arguments.json, more=_figures(record))
    return code if delivery.exit_code is Exit.OK else delivery.exit_code


def _reject_empty(entry: Entry, record: RunRecord, arguments: Namespace) -> Exit:
    """The service takes no upload without output, so the errors are kept in rejected/."""
    first_error = next((trial["error"] for trial in record.trials), None)
    detail = f"No trial has output, so there is nothing to upload: {first_error}"
    directory = entry.reject({"title": "Nothing to upload", "detail": detail})
    delivery = Delivery(Exit.TRIALS_FAILED, detail=f"{detail} (kept in {directory})")
    if arguments.json:
        put_json({**delivery_json(directory.name, delivery), **_figures(record)})
    say(f"{detail}. Kept in {directory}.")
    return Exit.TRIALS_FAILED


def _keep(entry: Entry, record: RunRecord, arguments: Namespace, code: Exit) -> Exit:
    if record.trials:
        say(f"Kept in {entry.directory}; `loadsheet spool retry` uploads it.")
    entry.release()
    if arguments.json:
        delivery = Delivery(code, detail=record.stopped)
        put_json({**delivery_json(entry.id, delivery), **_figures(record)})
    return code


def _figures(record: RunRecord) -> dict[str, Any]:
    return {
        "trials": len(record.trials),
        "failed_trials": len(record.failed_trials()),
        "interrupted": record.finished_at is None,
        "stopped": record.stopped,
        "seed": record.seed,
        "plan_sha256": record.plan_sha256,
        "max_rates": record.max_rates,
    }


def _measured_text(record: RunRecord) -> str:
    """`36 trials and 12 warm-ups`."""
    warmups = sum(trial["warmup"] for trial in record.trials)
    return trials_text(len(record.trials) - warmups, warmups)


def _outcome(record: RunRecord, sentence: str) -> str:
    failed = len(record.failed_trials())
    errors = f", {failed} with an error" if failed else ""
    return "\n".join([f"{sentence}{errors}.", *map(_max_rate_text, record.max_rates)])


def _max_rate_text(result: dict[str, Any]) -> str:
    name = f"{result['server']} · {result['workload']}"
    if result["rate_rps"] is None or not result["confirmed"]:
        return f"{name}: no rate within the limits was confirmed"
    return f"{name}: {result['rate_rps']:g} requests/s within the limits"
