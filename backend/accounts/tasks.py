"""Celery tasks: mails that no request waits for."""

from uuid import UUID

from celery import shared_task

from backend.accounts.leaks import WARN_TASK, warn_of_leak


@shared_task(name=WARN_TASK)  # type: ignore[untyped-decorator]
def warn(token_id: str, seen: str) -> None:
    """Tell people that a token of theirs was published."""
    warn_of_leak(UUID(token_id), seen)
