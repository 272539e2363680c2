"""`loadsheet import PROJECT DIR`: upload the results of another benchmark project."""

from __future__ import annotations

import queue
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Callable, TypeVar

from loadsheet_agent.commands.delivery_report import deliver, delivery_json, delivery_text
from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.exits import Exit
from loadsheet_agent.imports import httparena, techempower
from loadsheet_agent.imports.imported_run import ImportedRun
from loadsheet_agent.upload.delivery import Delivery
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.spool import Entry, open_spool
from loadsheet_agent.upload.target import require_target

Sent = TypeVar("Sent")
PROJECTS = {
    httparena.ARCHIVE: httparena.runs_of,
    techempower.ARCHIVE: techempower.runs_of,
}
SENT_AT_ONCE = 2
# A run keeps at most so many remarks.
MOST_REMARKS = 1_000


def run(arguments: Namespace) -> Exit:
    target = require_target(arguments.url, arguments.token)
    say(f"Reading {arguments.directory}")
    runs = PROJECTS[arguments.project](Path(arguments.directory))
    say(f"{sum(each.trials for each in runs)} trials in {len(runs)} runs")
    spool = open_spool(arguments.spool)

    def send(head: str, imported: ImportedRun) -> tuple[str, Delivery]:
        say(f"{head}: sending {imported.trials} trials")
        entry = spool.create()
        _write(imported, entry)
        return entry.id, deliver(entry, target, arguments.max_wait)

    heads = [f"[{number}/{len(runs)}] {each.name}" for number, each in enumerate(runs, 1)]
    worst, answers = Exit.OK, []
    results = _in_threads([partial(send, *each) for each in zip(heads, runs)])
    for head, imported, (upload_id, delivery) in zip(heads, runs, results):
        _report(head, imported, upload_id, delivery, arguments.json)
        answers.append({**delivery_json(upload_id, delivery), "differences": imported.remarks})
        worst = max(worst, delivery.exit_code)
    if arguments.json:
        put_json({"exit_code": int(worst), "runs": answers})
    return worst


def _in_threads(works: Sequence[Callable[[], Sent]]) -> Iterator[Sent]:
    """What `works` give, in their order: one run is sent while the service reads another."""
    futures: list[Future[Sent]] = [Future() for _ in works]
    waiting: queue.SimpleQueue[tuple[Future[Sent], Callable[[], Sent]]] = queue.SimpleQueue()
    for each in zip(futures, works):
        waiting.put(each)
    for _ in range(SENT_AT_ONCE):
        # An interrupt ends the program, and with it what these wait for.
        Thread(target=_work, args=(waiting,), daemon=True).start()
    return (future.result() for future in futures)


def _work(waiting: queue.SimpleQueue[tuple[Future[Sent], Callable[[], Sent]]]) -> None:
    while True:
        try:
            future, work = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            future.set_result(work())
        except BaseException as fault:  # raised where the result is asked for
            future.set_exception(fault)


def _write(imported: ImportedRun, entry: Entry) -> None:
    """Write the artefacts and the envelope of one run."""
    for name, data in imported.files.items():
        (entry.directory / name).write_bytes(data)
    remarks = [{"kind": "import", "text": text} for text in imported.remarks[:MOST_REMARKS]]
    envelope: dict[str, Any] = {
        **file_envelope(entry.id),
        "run": {
            "labels": {"archive": imported.archive, "results": imported.name},
            "notes": imported.notes,
            **({"events": remarks} if remarks else {}),
        },
        **imported.members,
    }
    entry.commit(envelope, imported.files)


def _report(
    head: str, imported: ImportedRun, upload_id: str, delivery: Delivery, as_json: bool
) -> None:
    tell = say if as_json or delivery.exit_code is not Exit.OK else put
    tell(f"{head}: {imported.trials} trials. {delivery_text(upload_id, delivery)}")
    if imported.remarks:
        say(
            f"  {len(imported.remarks)} remarks about the archive; the first: {imported.remarks[0]}"
        )
