"""What people call a run: by what it measured, not by its id.

And the order in which they look for names: without regard to capitals.
"""

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Model, QuerySet
from django.db.models.functions import Lower

# More names than these are counted.
MAX_NAMED = 2
NAMELESS = "Run without trials"
Row = TypeVar("Row", bound=Model)


def run_name(servers: Iterable[str], workloads: Iterable[str], tools: Iterable[str]) -> str:
    """The name of a run such as "caddy 1.27.1 · json · wrk"; equal names count once."""
    parts = (
        _join_names(servers, "servers"),
        _join_names(workloads, "workloads"),
        _join_names(tools, "load tools"),
    )
    return " · ".join(filter(None, parts)) or NAMELESS


def _join_names(names: Iterable[str], plural: str) -> str:
    distinct = sort_names(names)
    return f"{len(distinct)} {plural}" if len(distinct) > MAX_NAMED else " and ".join(distinct)


def trial_count_text(trials: int, warmups: int) -> str:
    """How many trials there are beside the warm-ups: "36 trials and 12 warm-ups"."""
    counted = count_text(trials - warmups, "trial")
    return f"{counted} and {count_text(warmups, 'warm-up')}" if warmups else counted


def count_text(number: int, noun: str) -> str:
    """`1 trial`, `1,200 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


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
