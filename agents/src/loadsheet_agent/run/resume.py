"""Continues an interrupted run that waits in the spool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loadsheet_agent.errors import UsageError
from loadsheet_agent.host.facts import HostFacts
from loadsheet_agent.run.record import RunRecord
from loadsheet_agent.upload.spool import BusyError, Entry, Spool

# What must be the same when a run goes on: one run has one client host.
HOST_IDENTITY = ("name", "cpu_model", "cores", "memory_bytes", "os", "kernel")


def resume_run(spool: Spool, wanted_id: str, new: RunRecord) -> tuple[Entry, RunRecord]:
    """The spool's entry, locked, and its record; `new` is a record the plan would begin with.

    `wanted_id` may be empty if only one run waits. Raises UsageError for a run that cannot go
    on: another plan, another machine, several runs, or one in use.
    """
    entry = _interrupted_entry(spool, wanted_id, new.plan_sha256)
    envelope = entry.envelope() or {}
    _refuse_other_host(envelope["hosts"]["client"], new.client)
    run, trials = envelope["run"], envelope["trials"]
    record = replace(
        new,
        id=entry.id,
        seed=run["seed"],
        started_at=run["started_at"],
        trials=[_without_upload(trial) for trial in trials],
        sent_early={trial["ordinal"]: trial["upload"] for trial in trials if "upload" in trial},
        events=run["events"],
        server_tails=run["server_tails"],
    )
    record.add_event(
        "resumed", f"went on after {len(record.trials)} trials; servers were started again"
    )
    return entry, record


def _without_upload(trial: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in trial.items() if name != "upload"}


def _interrupted_entry(spool: Spool, wanted_id: str, plan_sha256: str) -> Entry:
    entries = [
        entry
        for entry in spool.entries()
        if wanted_id in ("", entry.id) and _is_interrupted(entry, plan_sha256)
    ]
    if not entries:
        raise UsageError(
            f"no interrupted run of this plan waits in {spool.root}; a run that was uploaded or "
            "whose plan was changed since cannot be resumed, so leave --resume out."
        )
    if len(entries) > 1:
        ids = ", ".join(entry.id for entry in entries)
        raise UsageError(f"several interrupted runs of this plan wait; name one: {ids}.")
    try:
        entries[0].lock()
    except BusyError as error:
        raise UsageError(f"{error} It cannot be resumed until that process has ended.") from error
    return entries[0]


def _is_interrupted(entry: Entry, plan_sha256: str) -> bool:
    run = (entry.envelope() or {}).get("run") or {}
    return bool(run.get("interrupted")) and run.get("plan_sha256") == plan_sha256


def _refuse_other_host(before: dict[str, Any], now: HostFacts) -> None:
    for name in HOST_IDENTITY:
        if before.get(name) != getattr(now, name):
            raise UsageError(
                f"the run began on another machine: {name} was {before.get(name)!r} and is "
                f"{getattr(now, name)!r}; a run has one client host, so begin a new run."
            )
