"""A delivery in the form of each kind of channel."""

import orjson

from backend.analysis.query.timestamps import instant
from backend.deliveries.models import Delivery
from backend.visible_text import visible, visible_line


def webhook_body(delivery: Delivery) -> bytes:
    """JSON for programs: `type`, `timestamp`, `workspace`, `text`, `url` and `data`.

    `subject` and `text` are for people and hide no characters; `data` is exact.
    """
    return orjson.dumps(
        {
            "id": str(delivery.pk),
            "type": delivery.event,
            "timestamp": instant(delivery.created_at),
            "workspace": delivery.workspace.slug,
            "subject": visible_line(delivery.subject),
            "text": visible(delivery.text),
            "url": delivery.link,
            "data": delivery.data,
        }
    )


def slack_body(delivery: Delivery) -> bytes:
    """The payload of Slack's incoming webhooks, which Mattermost and others read too."""
    heading = f"*<{_slack_url(delivery.link)}|{_slack_text(visible_line(delivery.subject))}>*"
    return orjson.dumps({"text": f"{heading}\n{_slack_text(visible(delivery.text))}"})


def _slack_text(text: str) -> str:
    """Names are text: the three characters that Slack reads as markup are escaped.

    A zero-width space keeps `@channel` and formatting marks in a name from being read.
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "*_~`@":
        escaped = escaped.replace(mark, f"{mark}\u200b")
    return escaped


def _slack_url(url: str) -> str:
    return url.replace("|", "%7C").replace(">", "%3E").replace("&", "&amp;")


def mail_body(delivery: Delivery) -> str:
    """Plain text with the link, and how to stop such mails."""
    return (
        f"{delivery.text}\n\n{delivery.link}\n\n"
        f"You get this because a channel of the workspace {delivery.workspace.name} has your "
        "address. A member can remove it on the page Channels.\n"
    )
