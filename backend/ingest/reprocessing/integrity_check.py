"""One line of what `manage.py verify` prints."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

# Of the problems of one check, so many are named.
MAX_NAMED = 20
ROWS_AT_ONCE = 2000


@dataclass(slots=True)
class Check:
    """One line of the table: what was looked at, how many, and the first problems by name."""

    name: str
    count: int = 0
    problem_count: int = 0
    problems: list[str] = field(default_factory=list)

    def add_problem(self, text: str) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_NAMED:
            self.problems.append(text)

    def add_problems(self, rows: QuerySet[Any], text: str) -> None:
        """One for each row, whose id stands for {} in the text."""
        for pk in rows.order_by().values_list("pk", flat=True).iterator(ROWS_AT_ONCE):
            self.add_problem(text.format(pk))
