"""Celery tasks: a message is a hint; each task looks at the rows and calls one function."""

from typing import Any

from celery import shared_task
from celery.signals import worker_process_init, worker_process_shutdown

from backend.ingest import polling, worker
from backend.ingest.collector import collect_in_turn
from backend.ingest.hints import DRAIN_TASK
from backend.ingest.purging import purge_deleted_workspaces
from backend.ingest.retention import remove_due_output
from backend.ingest.trash import remove_expired_runs

COLLECT_TASK = "ingest.collect"


@shared_task(name=DRAIN_TASK)  # type: ignore[untyped-decorator]
def drain() -> None:
    """Read what is due."""
    worker.drain()


@shared_task(name=COLLECT_TASK)  # type: ignore[untyped-decorator]
def collect() -> None:
    """Remove runs that were in the trash for long enough, the data of deleted workspaces, raw
    output that is older than its workspace keeps it, and bytes that nothing names."""
    remove_expired_runs()
    purge_deleted_workspaces()
    remove_due_output()
    collect_in_turn()


@worker_process_init.connect  # type: ignore[untyped-decorator]
def start_polling(**_: Any) -> None:
    """Every reader looks for uploads by itself too."""
    polling.start()


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def stop_polling(**_: Any) -> None:
    """An upload that is being read is read to its end."""
    polling.stop()
