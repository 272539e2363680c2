"""Finding what stands behind a random link, with a limit on guessing."""

import uuid
from collections.abc import Callable
from typing import TypeVar

from django.db.models import Model, QuerySet

from backend.accounts import throttle
from backend.accounts.takedown_models import Thing
from backend.accounts.takedowns import refuse_taken_down
from backend.errors import TooMany

Row = TypeVar("Row", bound=Model)


def row_at_link(
    rows: QuerySet[Row],
    link: uuid.UUID,
    *,
    kind: Thing,
    workspace_of: Callable[[Row], uuid.UUID],
    guesser: str = "",
) -> Row | None:
    """The one of `rows` that has this link.

    `guesser`: whose wrong links are counted (`access.name_of_guesser`). Raises TooMany where too
    many led nowhere, as guessed ones do. A right link gets the same answer then, so that guessing
    on finds nothing. Raises TakenDown where the staff took it down.
    """
    if guesser and (wait := throttle.seconds_until_link(guesser)):
        raise TooMany("You opened too many links that do not exist.", wait_s=wait)
    row = rows.filter(link=link).first()
    if row is not None:
        refuse_taken_down(kind, row.pk, workspace_of(row))
    elif guesser:
        throttle.count_missed_link(guesser)
    return row
