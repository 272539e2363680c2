"""The order of a list of runs, and where a page begins.

A cursor holds the sort value and id of the last row, not an offset: a run that arrives meanwhile
never makes another run appear twice or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from django.db.models import (
    DateTimeField,
    F,
    FloatField,
    Func,
    IntegerField,
    Max,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce

from backend.errors import InvalidInput
from backend.runs.database.bulk import among
from backend.runs.database.cursors import (
    BadCursor,
    beyond,
    pack_cursor,
    read_cursor,
    read_id,
    read_instant,
)
from backend.runs.models import Cell, Run
from backend.runs.tables.happening import happened_at_of

DIRECTIONS = ("desc", "asc")
# Of a run without a throughput: below every measured one.
NO_THROUGHPUT = -1.0
EVERY_CELL = Q()
# In a column of whole numbers.
MOST = 2**31 - 1


class BadOrder(InvalidInput):
    """An unknown order: which field, what was got, what is allowed."""

    def __init__(self, field: str, got: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{field}: got “{got[:60]}”, allowed is {', '.join(allowed)}.")
        self.field = field


# What a list can be sorted by. Each is read from an index of the runs.
_SORTS: dict[str, Any] = {
    "received": F("recorded_at"),
    "started": happened_at_of(),
    "trials": F("counted_trials"),
    "throughput": Coalesce("best_rps", Value(NO_THROUGHPUT)),
}
SORTS = tuple(_SORTS)


@dataclass(frozen=True, slots=True)
class RunOrder:
    """By what a list is sorted, and whether the largest or the smallest comes first."""

    sort: str = "received"
    direction: str = "desc"

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Self:
        """From the fields sort and direction of a link. Raises BadOrder."""
        order = cls(given.get("sort") or "received", given.get("direction") or "desc")
        if order.sort not in SORTS:
            raise BadOrder("sort", order.sort, SORTS)
        if order.direction not in DIRECTIONS:
            raise BadOrder("direction", order.direction, DIRECTIONS)
        return order

    @property
    def is_by_time(self) -> bool:
        """Whether nothing but the run itself is read to order it."""
        return self.sort in ("received", "started")

    def query(self) -> dict[str, str]:
        """The fields of a link that are not usual."""
        usual = RunOrder()
        pairs = (("sort", self.sort, usual.sort), ("direction", self.direction, usual.direction))
        return {name: value for name, value, otherwise in pairs if value != otherwise}

    def applied(self, rows: QuerySet[Run], after: str) -> QuerySet[Run]:
        """`rows` in this order, after the cursor. Raises BadCursor."""
        rows = rows.annotate(sort_value=_SORTS[self.sort])
        if after:
            rows = rows.filter(self._is_behind(after, "pk"))
        return rows.order_by(*self._directed("sort_value", "pk"))

    def best_of_runs(self, cells: QuerySet[Cell], after: str) -> QuerySet[Any, tuple[UUID, float]]:
        """The runs of these load points, and the best throughput of them in each, in the order of
        the throughput, after the cursor. Raises BadCursor."""
        best = Coalesce(Max("throughput_rps"), Value(NO_THROUGHPUT))
        rows = cells.order_by().values_list("run_id").annotate(sort_value=best)
        if after:
            rows = rows.filter(self._is_behind(after, "run_id"))
        return rows.order_by(*self._directed("sort_value", "run_id"))

    def _is_behind(self, after: str, id_column: str) -> Func:
        value, run_id = self._read(after)
        side: Literal["<", ">"] = "<" if self.direction == "desc" else ">"
        return beyond("sort_value", value, run_id, side, id_column=id_column)

    def _directed(self, *columns: str) -> list[str]:
        return [f"{'-' if self.direction == 'desc' else ''}{column}" for column in columns]

    def cursor(self, run: Any) -> str:
        """Where the page after `run` begins."""
        value = run.sort_value
        text = value.isoformat() if isinstance(value, datetime) else value
        return pack_cursor(self.sort, self.direction, text, str(run.pk))

    def _read(self, cursor: str) -> tuple[Value, UUID]:
        """The value and the id in a cursor of this order."""
        sort, direction, value, run_id = read_cursor(cursor, 4)
        if (sort, direction) != (self.sort, self.direction):
            raise BadCursor
        return self._value(value), read_id(run_id)

    def _value(self, value: Any) -> Value:
        """As the type of the column: an index is read only for that."""
        if self.is_by_time:
            return Value(read_instant(value), DateTimeField())
        if self.sort == "trials" and type(value) is int and 0 <= value <= MOST:
            return Value(value, IntegerField())
        if self.sort == "throughput" and type(value) in (int, float):
            return Value(float(value), FloatField())
        raise BadCursor


def best_throughput_of(run_ids: list[UUID], cells: Q = EVERY_CELL) -> dict[UUID, float]:
    """By run, the throughput of the best among these load points in req/s; runs without any are
    left out."""
    rows = Cell.objects.filter(
        cells, among("run", run_ids), throughput_rps__isnull=False
    ).order_by()
    return dict(rows.values_list("run").annotate(best=Max("throughput_rps")))
