"""Finding what stands behind a random link, with a limit on guessing."""

from __future__ import annotations

import uuid
from typing import TypeVar

from django.db.models import Model, QuerySet

from backend.accounts import throttle
from backend.errors import TooMany

Row = TypeVar("Row", bound=Model)


def row_at_link(rows: QuerySet[Row], link: uuid.UUID, *, visitor: str = "") -> Row | None:
    """The one of `rows` that has this link.

    `visitor`: the address of somebody without an account. Raises TooMany where too many links from
    there led nowhere, as guessed ones do.
    """
    if visitor and (wait := throttle.seconds_until_link(visitor)):
        raise TooMany("Too many links from your address lead to nothing here.", wait_s=wait)
    row = rows.filter(link=link).first()
    if row is None and visitor:
        throttle.count_missed_link(visitor)
    return row
