"""`loadsheet spool [list | retry [ID...] | drop ID...]`: results the service does not have yet."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from loadsheet_agent.commands.delivery_report import deliver, report
from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.delivery import Delivery
from loadsheet_agent.upload.spool import BusyError, Entry, Note, Spool, open_spool
from loadsheet_agent.upload.target import Target, require_target


def run(arguments: Namespace) -> Exit:
    spool = open_spool(arguments.spool)
    if arguments.action == "list":
        return _list(spool, as_json=arguments.json)
    if arguments.action == "drop":
        return _drop(spool, arguments)
    target = require_target(arguments.url, arguments.token)
    return _retry(_wanted(spool, arguments.ids), target, arguments)


def _list(spool: Spool, *, as_json: bool) -> Exit:
    notes = spool.notes()
    if as_json:
        put_json({"spool": str(spool.root), "entries": [asdict(note) for note in notes]})
        return Exit.OK
    for note in notes:
        put(_line(note))
    if not notes:
        put(f"Nothing waits in {spool.root}.")
    return Exit.OK


def _line(note: Note) -> str:
    cut = ", interrupted" if note.interrupted and note.state != "in progress" else ""
    content = f"{note.trials} trials" if note.started_at else f"{note.files} files"
    tries = f", {note.attempts} attempts" if note.attempts else ""
    error = f", last: {note.last_error}" if note.last_error else ""
    size = f"{note.size_bytes / 1024:.0f} KiB"
    return f"{note.id}  {note.state}{cut}, {content}, {size}{tries}{error}"


def _wanted(spool: Spool, ids: list[str]) -> list[Entry]:
    entries = spool.entries()
    unknown = set(ids) - {entry.id for entry in entries}
    if unknown:
        raise UsageError(
            f"{', '.join(sorted(unknown))} does not wait in {spool.root}; "
            "`loadsheet spool list` shows the results that do."
        )
    return [entry for entry in entries if not ids or entry.id in ids]


def _drop(spool: Spool, arguments: Namespace) -> Exit:
    """Delete the named results; there is no other copy of them."""
    if not arguments.ids:
        raise UsageError("no ID is given; name each result to delete (`loadsheet spool list`).")
    entries_by_id = {entry.id: entry for entry in (*spool.rejected(), *spool.entries())}
    unknown = sorted(set(arguments.ids) - set(entries_by_id))
    if unknown:
        raise UsageError(f"{', '.join(unknown)} is not in {spool.root}; nothing was dropped.")
    entries = [entries_by_id[each] for each in dict.fromkeys(arguments.ids)]
    for entry in entries:
        entry.lock()  # BusyError: a running run is not deleted
    for entry in entries:
        entry.remove()
        say(f"{entry.id}: dropped.")
    if arguments.json:
        put_json({"exit_code": 0, "dropped": [entry.id for entry in entries]})
    return Exit.OK


def _retry(entries: list[Entry], target: Target, arguments: Namespace) -> Exit:
    """Send each in turn. Stops at a refused token or an unreachable service."""
    worst = Exit.OK
    for entry in entries:
        delivery = _retry_one(entry, target, arguments.max_wait)
        if delivery is None:
            continue
        report(entry.id, delivery, as_json=arguments.json, more={})
        worst = max(worst, delivery.exit_code)
        if delivery.holds_others:
            break
    if not entries:
        say("Nothing to send.")
    return worst


def _retry_one(entry: Entry, target: Target, max_wait_s: float | None) -> Delivery | None:
    try:
        entry.lock()
    except (BusyError, FileNotFoundError):
        say(f"{entry.id}: in use by another loadsheet process, left alone.")
        return None
    if entry.is_empty():
        say(f"{entry.id}: ended before a trial had finished; removed.")
        entry.remove()
        return None
    return deliver(entry, target, max_wait_s)
