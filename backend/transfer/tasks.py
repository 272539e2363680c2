"""Celery tasks: writing archives, and removing those that were kept for long enough."""

from celery import shared_task

from backend.accounts.workspace.turns import guarded
from backend.transfer.exporting import WRITE_TASK, remove_expired, write_due

# An archive of everything takes longer than other tasks may. Its lease says whether it goes on.
WRITE_LIMIT_S = 24 * 3600


@shared_task(name=WRITE_TASK, time_limit=WRITE_LIMIT_S)  # type: ignore[untyped-decorator]
def write() -> None:
    """Remove what expired, and write what waits. A fault of one stops not the other."""
    for step in (remove_expired, write_due):
        with guarded("step_failed", step=step.__name__):
            step()
