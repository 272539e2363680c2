"""How an instant is written in answers: ISO 8601 in UTC."""

from datetime import UTC, datetime
from typing import overload


@overload
def instant(at: datetime) -> str: ...


@overload
def instant(at: None) -> None: ...


def instant(at: datetime | None) -> str | None:
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
