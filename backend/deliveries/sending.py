"""Sending one delivery to its channel."""

import time
from smtplib import SMTPException

from django.conf import settings

from backend.accounts.mail import outgoing_mail
from backend.accounts.mail.held_mail import WorkspaceMail
from backend.accounts.mail.mailed_addresses import mailed_addresses
from backend.accounts.models import User
from backend.deliveries.models import Channel, ChannelKind, Delivery
from backend.deliveries.payloads import mail_body, slack_body, webhook_body
from backend.deliveries.posting import NotSent, post
from backend.deliveries.signing import signature_headers


def send(delivery: Delivery) -> int | None:
    """The status of the receiver's answer; None if the channel has none. Raises NotSent."""
    if delivery.channel.kind == ChannelKind.MAIL:
        _send_mail(delivery)
        return None
    if delivery.channel.kind == ChannelKind.SLACK:
        return post(delivery.channel.address, slack_body(delivery), {})
    body = webhook_body(delivery)
    headers = signature_headers(delivery.channel, delivery.pk, int(time.time()), body)
    return post(delivery.channel.address, body, headers)


def is_members_address(channel: Channel) -> bool:
    """Whether the address is that of a member, who confirmed it where a mail server is set:
    strangers get no mails in the service's name.
    """
    members = User.objects.filter(memberships__workspace=channel.workspace_id)
    return bool(mailed_addresses(members.filter(email__iexact=channel.address)))


def _send_mail(delivery: Delivery) -> None:
    channel = delivery.channel
    if not is_members_address(channel):
        raise NotSent(f"{channel.address} is not a confirmed address of a member.", is_final=True)
    mail = WorkspaceMail(
        channel.workspace_id,
        subject=" ".join(delivery.subject.split()),
        body=mail_body(delivery),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[channel.address],
        headers={"X-Loadsheet-Delivery": str(delivery.pk), "Auto-Submitted": "auto-generated"},
    )
    try:
        is_sent = outgoing_mail.send(mail)
    except (SMTPException, OSError) as error:
        message = " ".join(str(error).split())[:200]
        raise NotSent(f"The mail server did not take the mail: {message}.") from None
    if not is_sent:
        raise NotSent("No mail can be sent to the address of the channel.", is_final=True)
