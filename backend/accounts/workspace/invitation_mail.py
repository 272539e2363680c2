"""Mailing an invitation."""

import logging

from django.conf import settings

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import INVITATIONS
from backend.accounts.mail.held_mail import WorkspaceMail
from backend.accounts.mail.outgoing_mail import send
from backend.accounts.models import Invitation, User
from backend.accounts.workspace.invitations import LIFETIME
from backend.email_address import what_is_wrong
from backend.errors import InvalidInput

log = logging.getLogger(__name__)


def checked_email(given: str, sender: User) -> str:
    """The address to send an invitation to; empty if none is given, or no mail server is there.

    Counts the mail of `sender`. Raises InvalidInput for what is no address, and TooOften.
    """
    email = given.strip() if settings.SENDS_MAIL else ""
    if not email:
        return ""
    if wrong := what_is_wrong(email):
        raise InvalidInput(f"{wrong} You may leave it empty.")
    throttle.require(INVITATIONS, throttle.payer_of(sender.pk))
    return email


def send_invitation(invitation: Invitation, address: str) -> bool:
    """Mail the link `address` of the invitation; whether the mail server took it.

    Where it did not, the link is handed over by other means.
    """
    sender, workspace = invitation.made_by, invitation.workspace
    mail = WorkspaceMail(
        workspace.pk,
        f"{sender} invites you to {workspace.name} on Loadsheet",
        f"{sender} invites you to the workspace {workspace.name} as {invitation.role}.\n\n"
        f"Open this link within {LIFETIME.days} days to join:\n\n{address}\n\n"
        "If you do not know the sender, ignore this email.\n",
        None,
        [invitation.email],
    )
    try:
        return send(mail)
    except OSError:
        log.warning("invitation_not_sent", exc_info=True)
        return False
