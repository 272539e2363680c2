"""Cursors that no page gave are refused before the database reads them."""

from datetime import UTC, datetime

import pytest

from backend.runs.database.cursors import BadCursor, read_instant


def test_an_instant_is_read_in_utc():
    instant = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)
    assert read_instant("2026-01-31T23:30:00+00:00") == instant
    # PostgreSQL refuses such a zone.
    assert read_instant("2026-02-01T23:29:59+23:59:59") == instant
    assert read_instant("2026-02-01T23:29:59+23:59:59").tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-31T23:30:00", 5]
)
def test_an_instant_without_a_zone_or_beyond_the_calendar_is_refused(text):
    with pytest.raises(BadCursor):
        read_instant(text)
