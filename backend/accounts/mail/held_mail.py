"""Mail without a mail server: messages are kept for the operator of the service to read."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.mail.outgoing_mail import make_visible
from backend.accounts.models import Act, HeldMessage, User

KEPT = timedelta(days=7)
MOST_KEPT = 500


class WorkspaceMail(EmailMessage):
    """A mail about a workspace. While it is unsent, it is deleted with the workspace."""

    def __init__(self, workspace_id: UUID, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.workspace_id = workspace_id


class EmailBackend(BaseEmailBackend):
    """Django's EMAIL_BACKEND where SMTP_URL is empty."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Keep the messages; returns how many."""
        _forget_old()
        for mail in email_messages:
            make_visible(mail)
        kept = HeldMessage.objects.bulk_create(
            HeldMessage(
                to=", ".join(mail.to)[:500],
                subject=str(mail.subject)[:200],
                body=str(mail.body),
                workspace_id=mail.workspace_id if isinstance(mail, WorkspaceMail) else None,
            )
            for mail in email_messages
        )
        return len(kept)


@transaction.atomic
def read_messages() -> list[HeldMessage]:
    """The messages of the last 7 days, newest first.

    They hold links that reset passwords, so an event tells who read how many.
    """
    held = list(HeldMessage.objects.filter(kept_at__gt=timezone.now() - KEPT)[: 2 * MOST_KEPT])
    if held:
        record(Act.STAFF_MESSAGES, None, messages=len(held))
    return held


def _forget_old() -> None:
    HeldMessage.objects.filter(kept_at__lte=timezone.now() - KEPT).delete()
    # Strangers have mails written to addresses that no account has: those push out only each other.
    known = User.objects.filter(email__iexact=OuterRef("to"))
    held = HeldMessage.objects.annotate(is_known=Exists(known))
    of_strangers = held.filter(is_known=False, workspace__isnull=True)
    for rows in (of_strangers, held.exclude(is_known=False, workspace__isnull=True)):
        newest = list(rows.values_list("pk", flat=True)[: MOST_KEPT - 1])
        rows.exclude(pk__in=newest).delete()
