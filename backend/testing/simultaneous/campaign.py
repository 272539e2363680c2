"""One act beside its writers: threads that begin before it and go on after it, then a look at what
is left.
"""

import hashlib
import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import override_settings

from backend.accounts.models import Workspace
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.queue.worker import drain
from backend.ingest.removing.collector import collect
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.storage import open_artefact, storage
from backend.testing.simultaneous.acts import (
    OF_RUNS,
    OF_WORKSPACES,
    DestructiveAct,
    remove_old_output,
)
from backend.testing.simultaneous.writers import OTHERS, SENDERS, World, Writer, make_world
from backend.transfer.models import Export

log = logging.getLogger(__name__)
# A busy machine must fail no test: this is for a campaign that stands still.
PATIENCE_S = 300.0
# Calls of each writer before the act, and again after it began.
CALLS_BEFORE, CALLS_AFTER = 1, 1
SENDER_COUNT = 6
# Between two calls of a writer: else the quick ones leave the others no processor.
REST_S = 0.2
# PostgreSQL looks for a deadlock after a second. A wait that ends by itself is none, however slow
# the machine is.
WAITS = "-c TimeZone=UTC -c lock_timeout=120s -c statement_timeout=120s"


@dataclass(slots=True)
class Report:
    """What was answered, by who was asked, and every sentence about what must not be."""

    answers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    broken: list[str] = field(default_factory=list)

    def note(self, who: str, answer: Any) -> None:
        status = getattr(answer, "status_code", 0)
        self.answers[who][str(status or "done")] += 1
        if status >= 500:
            self.broken.append(f"{who}: {status} {answer.content[:300]!r}")

    def note_act(self, who: str, answer: Any) -> None:
        """As `note`; an act must be done."""
        self.note(who, answer)
        status = getattr(answer, "status_code", 0)
        if 400 <= status < 500:
            self.broken.append(f"{who}: {status} {answer.content[:300]!r}")


def strike(act: DestructiveAct, *, senders: int = SENDER_COUNT) -> Report:
    """Let `act` strike a new workspace while each kind of writer writes into it."""
    with _patient_sessions():
        return _strike(act, senders)


def _strike(act: DestructiveAct, senders: int) -> Report:
    world, report, deadlocks = make_world(), Report(), _deadlocks()
    writers = [SENDERS[number % len(SENDERS)] for number in range(senders)]
    with _writing(world, [*writers, *OTHERS], report) as calls:
        _wait_for(calls, [CALLS_BEFORE] * len(calls))
        _call(act, world, report.note_act)
        _wait_for(calls, [count + CALLS_AFTER for count in calls])
    _settle()
    _look(act, world, report)
    if (more := _deadlocks() - deadlocks) > 0:
        report.broken.append(f"{act.__name__}: {more} deadlocks")
    return report


def _call(task: Writer, world: World, note: Callable[[str, Any], None]) -> None:
    try:
        note(task.__name__, task(world))
    except Exception as fault:
        log.exception("campaign_fault")
        note(task.__name__, HttpResponse(f"{type(fault).__name__} {fault}", status=500))


@contextmanager
def _patient_sessions() -> Iterator[None]:
    """Of the sessions that begin meanwhile, and of this thread's."""
    options = connection.settings_dict["OPTIONS"]
    before = options.get("options", "")
    options["options"] = WAITS
    connection.close()
    try:
        yield
    finally:
        options["options"] = before
        connection.close()


@contextmanager
def _writing(world: World, writers: Sequence[Writer], report: Report) -> Iterator[list[int]]:
    """Each writer in a thread of its own; gives how often each was called."""
    calls, stopping = [0] * len(writers), threading.Event()

    def write(place: int) -> None:
        while not stopping.wait(REST_S):
            _call(writers[place], world, report.note)
            calls[place] += 1
        connection.close()

    threads = [threading.Thread(target=write, args=[place]) for place in range(len(writers))]
    for thread in threads:
        thread.start()
    try:
        yield calls
    finally:
        stopping.set()
        for thread in threads:
            thread.join(PATIENCE_S)


def _wait_for(calls: Sequence[int], wanted: Sequence[int]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while any(count < want for count, want in zip(calls, wanted, strict=True)):
        if time.monotonic() > deadline:
            raise TimeoutError(f"The writers stand still: {list(calls)} of {list(wanted)} calls.")
        time.sleep(0.01)


def _deadlocks() -> int:
    """Of this database, ever. Sessions that ended have told of theirs."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        (count,) = cursor.fetchone()
    return int(count)


def _settle() -> None:
    """What the workers and the collector do in time."""
    waiting = Upload.objects.filter(state=State.RECEIVED)
    deadline = time.monotonic() + PATIENCE_S
    while waiting.exists() and time.monotonic() < deadline:
        # After a passing fault an upload waits; this is the end of its pause.
        waiting.update(retry_at=None)
        drain()
    purge_deleted_workspaces()
    with override_settings(COLLECT_AFTER_S=0):
        collect(is_forced=True)


def _look(act: DestructiveAct, world: World, report: Report) -> None:
    _expect_accepted(world, "calm", report)
    if act in OF_WORKSPACES:
        _expect_nothing_of(world, report)
    elif act not in (*OF_RUNS, remove_old_output):
        _expect_accepted(world, "busy", report)
    else:
        _expect_bytes(world.busy.workspace, report)
    _expect_no_other_bytes(report)


def _expect_no_other_bytes(report: Report) -> None:
    kept = Artefact.objects.filter(upload__raw_removed_at=None)
    named = set(kept.values_list("sha256", flat=True))
    named |= set(Export.objects.values_list("sha256", flat=True))
    stored = {entry.name for entry in storage().list()}
    report.broken += [f"no row names the bytes {name}" for name in stored - named]


def _expect_accepted(world: World, name: str, report: Report) -> None:
    """What was answered with 2xx is there, byte for byte, and was read."""
    accepted = world.accepted[name]
    rows = Artefact.objects.filter(upload__in=list(accepted)).values_list(
        "upload", "sha256", "upload__state", "upload__reason"
    )
    there = {str(upload): (sha256, state, reason) for upload, sha256, state, reason in rows}
    for upload, sha256 in accepted.items():
        held = there.get(upload)
        if held is None or held[0] != sha256 or not storage().has(sha256):
            report.broken.append(f"{name}: the accepted upload {upload} is lost")
        elif held[1] != "parsed":
            report.broken.append(f"{name}: {upload} is {held[1]}: {held[2]}")


def _expect_bytes(workspace: Workspace, report: Report) -> None:
    """Every upload that is there has its bytes."""
    rows = Artefact.objects.filter(upload__workspace=workspace, upload__raw_removed_at=None)
    for sha256 in rows.values_list("sha256", flat=True):
        with open_artefact(sha256) as source:
            if hashlib.sha256(source.read()).hexdigest() != sha256:
                report.broken.append(f"{sha256} has other bytes")


def _expect_nothing_of(world: World, report: Report) -> None:
    workspace = world.busy.workspace
    if Upload.objects.filter(pk__in=world.accepted["busy"]).exists():
        report.broken.append("uploads of the deleted workspace are left")
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            if table == "accounts_auditevent":
                continue
            sql = f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s'  # noqa: S608  a table
            cursor.execute(sql, [f"%{workspace.pk}%"])
            if rows := cursor.fetchone()[0]:
                report.broken.append(f"{table} has {rows} rows of the deleted workspace")
