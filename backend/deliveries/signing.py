"""Signatures of webhooks, as the Standard Webhooks specification 1.0 describes them.

Receivers verify them with any of its libraries. The secret of a channel is computed from SECRET_KEY
and never stored: a dump of the database lets nobody sign.
"""

import base64
import hashlib
import hmac
from uuid import UUID

from django.conf import settings

from backend.deliveries.models import Channel

_PREFIX = "whsec_"
_PURPOSE = b"loadsheet webhook secret "


def secret_of(channel: Channel) -> str:
    """`whsec_…`: what the receiver needs to verify messages of this channel."""
    return _PREFIX + base64.b64encode(_key(channel)).decode()


def signature_headers(
    channel: Channel, delivery_id: UUID, at_s: int, body: bytes
) -> dict[str, str]:
    """The headers that identify, date and sign one attempt. `at_s`: seconds since 1970."""
    return {
        "webhook-id": str(delivery_id),
        "webhook-timestamp": str(at_s),
        "webhook-signature": signature(_key(channel), str(delivery_id), at_s, body),
    }


def signature(key: bytes, message_id: str, at_s: int, body: bytes) -> str:
    """`v1,` and the HMAC-SHA256 of id, time and body, in base64."""
    signed = b".".join([message_id.encode(), str(at_s).encode(), body])
    digest = hmac.digest(key, signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def _key(channel: Channel) -> bytes:
    named = f"{channel.pk} {channel.secret_version}".encode()
    return hmac.digest(settings.SECRET_KEY.encode(), _PURPOSE + named, hashlib.sha256)
