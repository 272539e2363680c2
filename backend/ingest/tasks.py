"""Celery tasks: each takes an id, re-checks the row, and calls one function."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from backend.ingest import process as processing
from backend.ingest import queue


@shared_task(name=queue.PROCESS_TASK)  # type: ignore[untyped-decorator]
def process(upload_id: str) -> None:
    """Read one upload, if it is due."""
    processing.process(UUID(upload_id))


@shared_task(name="ingest.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Send hints again for uploads that were forgotten or abandoned."""
    queue.sweep()
