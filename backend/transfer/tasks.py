"""Celery tasks: writing archives, and removing those that were kept for long enough."""

from __future__ import annotations

from celery import shared_task

from backend.transfer.exporting import WRITE_TASK, remove_expired, write_due


@shared_task(name=WRITE_TASK)  # type: ignore[untyped-decorator]
def write() -> None:
    """Write what waits, and remove what expired."""
    remove_expired()
    write_due()
