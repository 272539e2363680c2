"""Rows by many ids, as a condition of one parameter."""

import uuid
from collections.abc import Iterable

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, F, Func, UUIDField, Value


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
