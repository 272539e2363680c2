"""Entries as an Atom document (RFC 4287)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from django.utils.feedgenerator import Atom1Feed

from backend.feeds.entries import Entry

CONTENT_TYPE = "application/atom+xml; charset=utf-8"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_EMPTY_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


class _Feed(Atom1Feed):
    """Django's generator, with a time of an empty feed that does not change at each reading."""

    def latest_post_date(self) -> datetime:
        dates = [item["updateddate"] for item in self.items]
        return max(dates, default=_EMPTY_SINCE)


def write_feed(entries: Sequence[Entry], *, title: str, page_url: str, feed_url: str) -> bytes:
    """The document. `page_url` is the page of what the feed follows."""
    feed = _Feed(
        title=_valid(title),
        link=page_url,
        description="",
        feed_url=feed_url,
        feed_guid=page_url,
        language="en",
        author_name="Loadsheet",
    )
    for entry in entries:
        feed.add_item(
            title=_valid(entry.title),
            link=entry.link,
            # The generator declares it as HTML.
            description=escape(_valid(entry.text)),
            unique_id=entry.id_,
            pubdate=entry.at,
            updateddate=entry.at,
        )
    return feed.writeString("utf-8").encode()


def _valid(text: str) -> str:
    """With a mark in the place of each character that XML does not allow."""
    return _FORBIDDEN.sub("\ufffd", text)
