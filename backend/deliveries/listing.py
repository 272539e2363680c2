"""Listing the messages of a channel page by page, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from backend.deliveries.models import Channel, Delivery
from backend.runs.cursors import pack_cursor, read_instant_cursor


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One page, and the cursor of the next page or None."""

    deliveries: Sequence[Delivery]
    next: str | None


def delivery_page(channel: Channel, *, after: str = "", limit: int) -> DeliveryPage:
    """The messages after the cursor. Raises BadCursor."""
    rows = Delivery.objects.filter(channel=channel)
    if after:
        created_at, delivery_id = read_instant_cursor(after)
        together = Q(created_at=created_at, pk__lt=delivery_id)
        rows = rows.filter(Q(created_at__lt=created_at) | together)
    deliveries = list(rows.order_by("-created_at", "-pk")[: limit + 1])
    page = deliveries[:limit]
    has_more = len(deliveries) > limit
    cursor = pack_cursor(page[-1].created_at.isoformat(), str(page[-1].pk)) if has_more else None
    return DeliveryPage(page, cursor)
