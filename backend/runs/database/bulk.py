"""Many rows in few statements, none above the number of parameters that PostgreSQL takes.

Rows by many ids are a condition of one parameter.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any, TypeVar

import orjson
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import (
    AutoField,
    BooleanField,
    F,
    Field,
    Func,
    JSONField,
    Model,
    QuerySet,
    UUIDField,
    Value,
)
from django.db.models.expressions import DatabaseDefault

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


def copy_rows(model: type[Row], rows: Iterable[Row]) -> None:
    """Insert rows whose keys are made here, with one COPY: no statement is composed or planned.

    To be called in a transaction. Values are written as they stand in the rows, JSON by orjson; a
    column that the first row leaves to the database is left to it in all rows.
    Raises IntegrityError and the like as `insert_rows` does, and TypeError for what is no JSON.
    """
    waiting = list(rows)
    if not waiting:
        return
    fields = [field for field in model._meta.concrete_fields if _is_given(field, waiting[0])]
    columns = [(field.attname, isinstance(field, JSONField)) for field in fields]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    command = f"COPY {connection.ops.quote_name(model._meta.db_table)} ({names}) FROM STDIN"
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(command) as copy,
    ):
        for row in waiting:
            values = ((getattr(row, name), is_json) for name, is_json in columns)
            copy.write_row([as_json(value) if is_json else value for value, is_json in values])


def _is_given(field: Field[Any, Any], row: Model) -> bool:
    is_left = isinstance(getattr(row, field.attname), DatabaseDefault)
    return not (is_left or isinstance(field, AutoField))


def as_json(value: object) -> str | None:
    """JSON as PostgreSQL takes it; None for None, which is no value there."""
    if value is None:
        return None
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        # A whole number of more than 64 bits: PostgreSQL gives 1e20 of an envelope so.
        return json.dumps(value)


def delete_rows(rows: QuerySet[Any]) -> None:
    """Delete the rows, and what hangs on them. Django by itself reads all columns of each before,
    which may hold megabytes."""
    rows.only("pk").delete()


def among(column: str, ids: Iterable[uuid.UUID] | ArraySubquery) -> Func:
    """`column = ANY(ids)`: one parameter, where Django's `in` prepares and quotes each of them.

    What a statement within the statement gives comes first, so an index of the column can be read.
    """
    listed = (
        ids
        if isinstance(ids, ArraySubquery)
        else Value(list(ids), output_field=ArrayField(UUIDField()))
    )
    return Func(
        F(column),
        listed,
        template="%(expressions)s)",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
