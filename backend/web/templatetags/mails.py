"""`{% sends_mail as is_sent %}`: whether this service has a mail server, for pages of allauth."""

from django.conf import settings
from django.template import Library

register = Library()


@register.simple_tag
def sends_mail() -> bool:
    """Whether mails are sent; else they are kept for the operator."""
    is_sent: bool = settings.SENDS_MAIL
    return is_sent
