"""Celery tasks: a message is a hint; each task looks at the rows and calls one function."""

from __future__ import annotations

from celery import shared_task

from backend.ingest import parts, queue
from backend.ingest import process as processing


@shared_task(name=queue.DRAIN_TASK)  # type: ignore[untyped-decorator]
def drain() -> None:
    """Read what is due."""
    processing.drain()


@shared_task(name="ingest.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Send a hint again where uploads were forgotten or abandoned."""
    queue.sweep()


@shared_task(name="ingest.sweep_parts")  # type: ignore[untyped-decorator]
def sweep_parts() -> None:
    """Throw away parts whose upload never came."""
    parts.sweep()
