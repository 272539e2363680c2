"""Where a value of a plan stands, so that each mistake becomes one sentence with its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from loadsheet_agent.errors import PlanError


@dataclass(frozen=True)
class Place:
    """A table of the plan, such as `plan.toml: servers[1]`, and a key in it."""

    table: str
    key: str = ""

    def at(self, key: str) -> Place:
        """A key of this table."""
        return replace(self, key=key)

    def member(self, name: str) -> Place:
        """A member of the inline table or sub-table that stands here."""
        return replace(self, key=f"{self.key}.{name}")

    def subtable(self) -> Place:
        """The table that stands here, such as `plan.toml: [load]`."""
        return Place(f"{self.table}: [{self.key}]")

    def item(self, number: int) -> Place:
        """A table of the list of tables that stands here; numbers begin at 1."""
        return Place(f"{self.table}: {self.key}[{number}]")

    def error(self, text: str) -> PlanError:
        """An error about the table as a whole."""
        return PlanError(f"{self.table}: {text}")

    def wrong(self, text: str) -> PlanError:
        """An error about the key: its name, then `text`, make the sentence."""
        return self.error(f"{self.key} {text}")

    def unexpected(self, value: Any, expected: str) -> PlanError:
        return self.wrong(f"is {value!r}; expected {expected}.")
