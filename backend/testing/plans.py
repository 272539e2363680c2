"""How PostgreSQL would answer a statement that code makes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

Plan = Mapping[str, Any]


def first_plan(ask: Callable[[], object], *, of: str = "") -> Plan:
    """The plan of the first statement that `ask` makes and that names the table `of`."""
    with CaptureQueriesContext(connection) as statements:
        ask()
    statement = next(each["sql"] for each in statements if of in each["sql"])
    with connection.cursor() as cursor:
        # Without Django's cursor, which would take the text for one with parameters.
        cursor.cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}")
        plan: Plan = cursor.cursor.fetchone()[0][0]["Plan"]
    return plan


def scans_of(table: str, plan: Plan) -> Iterator[Plan]:
    """The scans of a table in the plan; of one that a bitmap leads, that of the index."""
    if plan.get("Relation Name") == table:
        yield plan.get("Plans", [plan])[0]
        return
    for part in plan.get("Plans", ()):
        yield from scans_of(table, part)


def index_scan(table: str, ask: Callable[[], object]) -> tuple[str | None, str]:
    """The index by which the first statement finds rows of the table, and its condition."""
    (scan,) = scans_of(table, first_plan(ask))
    return scan.get("Index Name"), scan.get("Index Cond", "")
