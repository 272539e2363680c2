"""How long what a column holds is, told by the database: what is too long is not read for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from django.db.models import (
    BinaryField,
    F,
    Field,
    Func,
    IntegerField,
    JSONField,
    Model,
    TextField,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce


def json_bytes(column: str) -> Func:
    """Bytes of the JSON text in the column of this path; null where there is none."""
    return Func(Cast(column, TextField()), function="octet_length", output_field=IntegerField())


def bytes_of_columns(model: type[Model], columns: Sequence[str] | None = None) -> Combinable:
    """Bytes of the JSON, texts and binary data of a row; `columns`: of these alone.

    Texts with a limit of characters are short, so they are left out.
    """
    named = [
        each for each in model._meta.concrete_fields if columns is None or each.name in columns
    ]
    sizes = [Coalesce(_bytes_of(each), 0) for each in named if isinstance(each, _LARGE)]
    return reduce(add, sizes, Value(0))


_LARGE = (JSONField, TextField, BinaryField)


def _bytes_of(column: Field[Any, Any]) -> Func:
    if isinstance(column, JSONField):
        return json_bytes(column.name)
    return Func(F(column.name), function="octet_length", output_field=IntegerField())
