"""Mails to a mail server, with every character of their texts visible."""

import logging
from collections.abc import Sequence
from email.errors import MessageError

from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends import smtp

from backend.email_address import SHOWN
from backend.errors import Away
from backend.visible_text import visible, visible_line

log = logging.getLogger(__name__)


class MailAway(Away):
    """The mail server cannot be reached, or refuses the mail; the message is what it answered."""


def send(mail: EmailMessage) -> bool:
    """Whether the mail was sent; where it cannot be written, a line of the log says so.

    Accounts, invitations and channels of before have addresses that are refused today. The line
    has their domains alone: the rest names a person. Raises OSError where the mail server is away.
    """
    try:
        return mail.send() == 1
    except (ValueError, MessageError) as unwritable:
        domains = [address.rpartition("@")[2][:SHOWN] for address in mail.recipients()]
        reason = type(unwritable).__name__
        log.warning("mail_undeliverable", extra={"domains": domains, "reason": reason})
        return False


def make_visible(mail: EmailMessage) -> None:
    """Show what its subject and its texts would hide: they name servers, people and workspaces."""
    mail.subject = visible_line(str(mail.subject))
    mail.body = visible(str(mail.body))
    if isinstance(mail, EmailMultiAlternatives):
        alternatives, mail.alternatives = mail.alternatives, []
        for content, kind in alternatives:
            mail.attach_alternative(visible(str(content)), kind)


class SmtpBackend(smtp.EmailBackend):
    """Django's EMAIL_BACKEND where SMTP_URL is set."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Returns how many were sent. Raises what Django's own raises."""
        for mail in email_messages:
            make_visible(mail)
        return super().send_messages(email_messages)
