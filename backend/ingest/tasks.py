"""Celery tasks: a message is a hint; each task looks at the rows and calls one function."""

from celery import shared_task

from backend.accounts.workspace.turns import guarded
from backend.ingest.queue import worker
from backend.ingest.queue.poller import Poller
from backend.ingest.queue.worker import read_due
from backend.ingest.receiving.hints import DRAIN_TASK
from backend.ingest.removing.collector import collect_in_turn
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.retention import remove_due_output
from backend.ingest.removing.trash import remove_expired_runs

COLLECT_TASK = "ingest.collect"
# An upload that is being read when the worker stops is read to its end.
Poller(read_due, fault="queue_not_polled").run_in_workers()


@shared_task(name=DRAIN_TASK)  # type: ignore[untyped-decorator]
def drain() -> None:
    """Read what is due."""
    worker.drain()


@shared_task(name=COLLECT_TASK)  # type: ignore[untyped-decorator]
def collect() -> None:
    """Remove runs that were in the trash for long enough, the data of deleted workspaces, raw
    output that is older than its workspace keeps it, and bytes that nothing names. A fault of one
    step stops no other."""
    for step in (
        remove_expired_runs,
        purge_deleted_workspaces,
        remove_due_output,
        collect_in_turn,
    ):
        with guarded("step_failed", step=step.__name__):
            step()
