"""Many rows in few statements, none above the number of parameters that PostgreSQL takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Model

# The wire protocol counts the parameters of a statement in 16 bits.
MAX_PARAMETERS = 65_535
# Above this a statement becomes large without becoming faster.
MAX_ROWS = 1000
Row = TypeVar("Row", bound=Model)


def rows_per_statement(model: type[Model]) -> int:
    """How many rows of all columns fit into one statement."""
    return min(MAX_ROWS, MAX_PARAMETERS // len(model._meta.concrete_fields))


def insert_rows(model: type[Row], rows: Iterable[Row], *, ignore_conflicts: bool = False) -> None:
    """Insert any number of rows; to be called in a transaction."""
    model._default_manager.bulk_create(
        rows, batch_size=rows_per_statement(model), ignore_conflicts=ignore_conflicts
    )
