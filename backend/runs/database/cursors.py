"""Cursors of lists: the sort value and id of the last row of a page, as one opaque text."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

import orjson
from django.db.models import (
    BooleanField,
    DateTimeField,
    Expression,
    F,
    Func,
    Model,
    QuerySet,
    UUIDField,
    Value,
)

from backend.errors import InvalidInput

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list, and the cursor of the next page or None."""

    rows: Sequence[Item]
    next: str | None


class BadCursor(InvalidInput):
    """This is not a cursor that a page gave."""

    field = "after"

    def __init__(self) -> None:
        super().__init__("The value of after is not a cursor from an earlier page.")


def pack_cursor(*parts: object) -> str:
    """Plain values as a cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def read_cursor(cursor: str, length: int) -> list[Any]:
    """The `length` values of a cursor. Raises BadCursor."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error
    if not isinstance(parts, list) or len(parts) != length:
        raise BadCursor
    # No text of the database has it.
    if any("\0" in part for part in parts if isinstance(part, str)):
        raise BadCursor
    return parts


def read_instant(value: object) -> datetime:
    """A time in UTC, of one with its zone. Raises BadCursor."""
    try:
        instant = datetime.fromisoformat(value)  # type: ignore[arg-type]  # TypeError is caught
        if instant.tzinfo is None:
            raise BadCursor
        # PostgreSQL refuses zones of 16 hours and more.
        return instant.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadCursor from error


def read_id(value: object) -> UUID:
    """The id of a row. Raises BadCursor."""
    try:
        return UUID(str(value))
    except ValueError as error:
        raise BadCursor from error


def read_instant_cursor(cursor: str) -> tuple[datetime, UUID]:
    """The time and the id in the cursor of a list by time. Raises BadCursor."""
    instant, id_ = read_cursor(cursor, 2)
    return read_instant(instant), read_id(id_)


def beyond(
    column: str, value: Expression, id_: UUID, sign: Literal["<", ">"], *, id_column: str = "pk"
) -> Func:
    """The rows behind one that has this value and id, as a condition of both together.

    An index of value and id begins at it. Of an OR, an index begins at its end, and a late page
    reads what all earlier pages showed.
    """
    row, last = _together(F(column), F(id_column)), _together(value, Value(id_, UUIDField()))
    return Func(row, last, arg_joiner=sign, template="%(expressions)s", output_field=BooleanField())


def _together(*values: Expression | F) -> Func:
    return Func(*values, template="(%(expressions)s)", output_field=BooleanField())


def page_by_time(
    rows: QuerySet[Row],
    field: str,
    *,
    after: str,
    limit: int,
    fitting: Callable[[Sequence[Row]], int] = len,
) -> Page[Row]:
    """One page of `rows`, the newest first.

    `field` names the time of a row; `fitting` says how many of the first rows one page may have.
    Raises BadCursor.
    """
    if after:
        instant, id_ = read_instant_cursor(after)
        rows = rows.filter(beyond(field, Value(instant, DateTimeField()), id_, "<"))
    page_and_next = list(rows.order_by(f"-{field}", "-pk")[: limit + 1])
    page = page_and_next[:limit]
    page = page[: fitting(page)]
    if len(page_and_next) == len(page):
        return Page(page, None)
    return Page(page, pack_cursor(getattr(page[-1], field).isoformat(), str(page[-1].pk)))
