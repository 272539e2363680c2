"""Celery tasks: mails that no request waits for, and the end of sessions."""

from uuid import UUID

from celery import shared_task

from backend.accounts.sign_in import browsers
from backend.accounts.sign_in.leaks import WARN_TASK, warn_of_leak

DELETE_TASK = "accounts.delete_ended_sessions"


@shared_task(name=WARN_TASK)  # type: ignore[untyped-decorator]
def warn(token_id: str, seen: str) -> None:
    """Tell people that a token of theirs was published."""
    warn_of_leak(UUID(token_id), seen)


@shared_task(name=DELETE_TASK)  # type: ignore[untyped-decorator]
def delete_ended_sessions() -> None:
    browsers.delete_ended()
