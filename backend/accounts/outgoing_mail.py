"""Mails to a mail server, with every character of their texts visible."""

from collections.abc import Sequence

from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends import smtp

from backend.visible_text import visible, visible_line


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
