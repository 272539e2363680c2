"""Creating, changing and deleting the channels of a workspace."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.models import Act, User, Workspace
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.deliveries.models import Channel, ChannelKind, Delivery, Topic
from backend.deliveries.queue import Message, enqueue_for
from backend.deliveries.sending import is_members_address
from backend.email_address import what_is_wrong
from backend.errors import Conflict, InvalidInput, TooMany
from backend.links import absolute, link_to
from backend.transactions import whole

MAX_NAME = 120
MAX_ADDRESS = 1000
MAX_CHANNELS = 20
TESTS_PER_HOUR = 20


class BadChannel(InvalidInput):
    """A channel cannot be like this; the message says what was got and what is expected."""


class ChannelRefused(Conflict):
    """A channel contradicts those that exist; the message says why and what can be done."""


def channels_in(workspace_ids: Iterable[UUID]) -> QuerySet[Channel]:
    """The channels of these workspaces, by name."""
    rows = Channel.objects.filter(workspace__in=list(workspace_ids))
    return rows.select_related("workspace", "author")


def add_channel(
    workspace: Workspace,
    *,
    author: User | None,
    kind: str,
    name: str,
    address: str,
    topics: Sequence[str] = (Topic.ALERTS,),
) -> Channel:
    """A new channel. Raises BadChannel and ChannelRefused."""
    channel = Channel(
        workspace=workspace,
        author=author,
        kind=_checked_kind(kind),
        name=checked_name(name, BadChannel),
        address=address.strip(),
        topics=_checked_topics(topics),
    )
    _check_address(channel)
    with transaction.atomic():
        # One change at a time in a workspace: two at once could take one name.
        lock_workspace(workspace.pk)
        own = Channel.objects.filter(workspace=workspace)
        if own.count() >= MAX_CHANNELS:
            raise ChannelRefused(f"This workspace has {MAX_CHANNELS} channels. Delete one first.")
        if own.filter(name=channel.name).exists():
            raise ChannelRefused(f"There is a channel “{channel.name}”. Choose another name.")
        channel.save()
        _record(Act.CHANNEL_CREATED, channel)
    return channel


@whole
def remove_channel(channel: Channel) -> None:
    """Delete the channel with its log; messages that wait are not sent."""
    if Channel.objects.filter(pk=channel.pk).delete()[0]:
        _record(Act.CHANNEL_DELETED, channel)


@transaction.atomic
def renew_secret(channel: Channel) -> None:
    """Give the channel another signing secret; the earlier one stops at once."""
    _record(Act.CHANNEL_SECRET, channel)
    Channel.objects.filter(pk=channel.pk).update(secret_version=F("secret_version") + 1)
    channel.refresh_from_db(fields=["secret_version"])


def send_test(channel: Channel) -> Delivery:
    """Queue a message that shows whether the channel works. Raises TooMany."""
    an_hour_ago = timezone.now() - timedelta(hours=1)
    tests = Delivery.objects.filter(channel=channel, event="test", created_at__gt=an_hour_ago)
    page = absolute(link_to("channels-page", channel.workspace.slug))
    text = f"This is a test message of the channel {channel.name}. The channel works."
    message = Message("test", "Test message of Loadsheet", text, page)
    delivery = enqueue_for(channel, message) if tests.count() < TESTS_PER_HOUR else None
    if delivery is None:
        reason = f"The channel got {TESTS_PER_HOUR} tests within an hour, or its queue is full."
        raise TooMany(reason, wait_s=3600)
    return delivery


def _record(act: Act, channel: Channel) -> None:
    # The host alone: the rest of an address may hold a secret.
    is_mail = channel.kind == ChannelKind.MAIL
    address = channel.address
    host = address.rpartition("@")[2] if is_mail else urlsplit(address).hostname or ""
    record(
        act,
        channel.workspace,
        subject=channel.name,
        subject_id=channel.pk,
        kind=str(channel.kind),
        host=host,
    )


def _checked_kind(kind: str) -> str:
    if kind not in ChannelKind.values:
        raise BadChannel(f"kind: got “{kind[:40]}”, expected {', '.join(ChannelKind.values)}.")
    if kind != ChannelKind.MAIL and settings.WEBHOOKS == "off":
        raise BadChannel("The operator of this service has turned webhooks off. Use kind mail.")
    return kind


def checked_name(name: str, refusal: type[InvalidInput]) -> str:
    """The name with single spaces. Raises the refusal where it is too long, or empty."""
    cleaned = " ".join(name.replace("\0", " ").split())
    if not 1 <= len(cleaned) <= MAX_NAME:
        raise refusal(f"name: got {len(cleaned)} characters, expected 1 to {MAX_NAME} characters.")
    return cleaned


def _checked_topics(topics: Sequence[str]) -> list[str]:
    unknown = [topic for topic in topics if topic not in Topic.values]
    if unknown or not topics:
        got = f"“{unknown[0][:40]}”" if unknown else "none"
        raise BadChannel(f"topics: got {got}, expected some of {', '.join(Topic.values)}.")
    return [topic for topic in Topic.values if topic in topics]


def _check_address(channel: Channel) -> None:
    if channel.kind == ChannelKind.MAIL:
        if what_is_wrong(channel.address) or not is_members_address(channel):
            raise BadChannel(
                f"address: got “{channel.address[:80]}”, expected the email address of a member "
                "of this workspace, as in their account.",
                hint="The member confirms it on the page Email of the account.",
            )
        return
    schemes = ("https", "http") if settings.WEBHOOKS == "any" else ("https",)
    if len(channel.address) > MAX_ADDRESS or not _is_url(channel.address, schemes):
        raise BadChannel(
            f"address: got “{channel.address[:80]}”, expected an {schemes[0]}:// address of at "
            f"most {MAX_ADDRESS} characters, without user name and password."
        )


def _is_url(address: str, schemes: Sequence[str]) -> bool:
    if not address.isascii() or not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        has_credentials = parts.username is not None or parts.password is not None
        has_host = bool(parts.hostname and parts.port != 0)
        return parts.scheme in schemes and has_host and not has_credentials
    except ValueError:
        return False
