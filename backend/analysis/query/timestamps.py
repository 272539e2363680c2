"""How an instant is written in answers: ISO 8601 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def instant(moment: datetime) -> str: ...


@overload
def instant(moment: None) -> None: ...


def instant(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
