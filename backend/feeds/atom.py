"""Entries as an Atom document (RFC 4287)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from django.utils.feedgenerator import Atom1Feed

from backend.feeds.entries import Entry
from backend.visible_text import visible, visible_line

CONTENT_TYPE = "application/atom+xml; charset=utf-8"
_EMPTY_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


class _Feed(Atom1Feed):
    """Django's generator, with a time of an empty feed that does not change at each reading."""

    def latest_post_date(self) -> datetime:
        dates = [item["updateddate"] for item in self.items]
        return max(dates, default=_EMPTY_SINCE)


def write_feed(entries: Sequence[Entry], *, title: str, page_url: str, feed_url: str) -> bytes:
    """The document. `page_url` is the page of what the feed follows."""
    feed = _Feed(
        title=visible_line(title),
        link=page_url,
        description="",
        feed_url=feed_url,
        feed_guid=page_url,
        language="en",
        author_name="Loadsheet",
    )
    for entry in entries:
        feed.add_item(
            title=visible_line(entry.title),
            link=entry.link,
            # The generator declares it as HTML.
            description=escape(visible(entry.text)),
            unique_id=entry.id_,
            pubdate=entry.at,
            updateddate=entry.at,
        )
    return feed.writeString("utf-8").encode()
