"""Listing the messages of a channel page by page, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.deliveries.models import Channel, Delivery
from backend.runs.cursors import page_by_time


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One page, and the cursor of the next page or None."""

    deliveries: Sequence[Delivery]
    next: str | None


def delivery_page(channel: Channel, *, after: str = "", limit: int) -> DeliveryPage:
    """The messages after the cursor. Raises BadCursor."""
    rows = Delivery.objects.filter(channel=channel)
    page, cursor = page_by_time(rows, "created_at", after=after, limit=limit)
    return DeliveryPage(page, cursor or None)
