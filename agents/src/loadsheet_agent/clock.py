"""Wall clock for records, monotonic clock for durations."""

from __future__ import annotations

from datetime import datetime, timezone


def utc_now() -> str:
    now = datetime.now(timezone.utc)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
