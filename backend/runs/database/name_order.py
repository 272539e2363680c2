"""The order in which people look for names: without regard to capitals."""

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Model, QuerySet
from django.db.models.functions import Lower

Row = TypeVar("Row", bound=Model)


def order_by_name(rows: QuerySet[Row], column: str = "name", *, then: str = "pk") -> QuerySet[Row]:
    """The rows by a column of names. `then`: what decides between equal names."""
    return rows.order_by(Lower(column), column, then)


def distinct_names(rows: QuerySet[Row], column: str = "name") -> QuerySet[Row, str]:
    """Each name once."""
    names = rows.order_by(Lower(column), column)
    return names.values_list(column, flat=True).distinct()


def sort_names(names: Iterable[str]) -> list[str]:
    """Each name once, in the same order."""
    return sorted(set(names), key=lambda name: (name.lower(), name))
