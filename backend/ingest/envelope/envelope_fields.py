"""The kinds of values in an envelope, each with its limit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, cast

from msgspec import Meta

from backend.untrusted import limits

Name = Annotated[str, Meta(max_length=limits.NAME_LENGTH)]
Text = Annotated[str, Meta(max_length=limits.TEXT_LENGTH)]
Notes = Annotated[str, Meta(max_length=limits.NOTES_LENGTH)]
Plan = Annotated[str, Meta(max_length=limits.PLAN_LENGTH)]
Tail = Annotated[str, Meta(max_length=limits.TAIL_LENGTH)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Small = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Amount = Annotated[float, Meta(ge=0, lt=1e15)]
Value = Tail | int | float | bool | list[Any] | dict[str, Any] | None
Fields = Annotated[dict[Name, Value], Meta(max_length=limits.MAP_MEMBERS)]
Word = Annotated[str, Meta(max_length=limits.COMMAND_WORD_LENGTH)]
Words = Annotated[tuple[Word, ...], Meta(max_length=limits.COMMAND_WORDS)]


class Instant(datetime):
    """A time with its zone, in UTC."""

    @classmethod
    def read(cls, value: object) -> Instant:
        """Of ISO 8601; raises ValueError."""
        instant = cls.fromisoformat(cast(str, value))
        if instant.tzinfo is None:
            raise ValueError("no time zone")
        try:
            return instant.astimezone(UTC)
        except OverflowError:
            raise ValueError("in UTC, no year from 1 to 9999") from None
