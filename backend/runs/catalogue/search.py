"""Searching runs: the query fields of the list of runs, and the rows they select."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, QuerySet

from backend.errors import InvalidInput
from backend.runs.catalogue.run_states import STATES, runs_in_state
from backend.runs.catalogue.text_search import Searched, few_with, runs_with
from backend.runs.database.bulk import among
from backend.runs.models import Cell, FormerName, Host, Run
from backend.runs.registry.registry import current_name
from backend.runs.tables.happening import happened_at_of

MAX_LENGTH = 200
MAX_WORDS = 8
UNKNOWN = "unknown"


class SearchError(InvalidInput):
    """An unknown field or value: which field, what was got, what is allowed."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSearch:
    """The search. Empty fields select all runs; `since` and `until` are days, both inclusive."""

    q: str = ""
    server: str = ""
    host: str = ""
    workload: str = ""
    tool: str = ""
    state: str = ""
    since: date | None = None
    until: date | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """From the fields of a query string; raises SearchError."""
        allowed = [field.name for field in fields(cls)]
        for name in given:
            if name not in allowed:
                raise SearchError(
                    name,
                    f"There is no field “{name[:60]}” of runs. "
                    f"Fields are {', '.join(sorted(allowed))}.",
                )
        return cls(**{name: _read(name, str(value)) for name, value in given.items()})

    def with_current_names(self, workspace_ids: Iterable[UUID]) -> Self:
        """The same search, with the current names of its server, host and workload."""
        ids = list(workspace_ids)
        named: dict[str, Any] = {
            kind.value: current_name(ids, kind, name)
            for kind in FormerName.Kind
            if (name := getattr(self, kind.value))
        }
        return replace(self, **named)

    @property
    def filter_count(self) -> int:
        """How many fields select, beside the words of `q`."""
        return sum(bool(getattr(self, field.name)) for field in fields(self) if field.name != "q")

    def query(self) -> str:
        """The fields that are not empty, as a query string sorted by name."""
        chosen = {field.name: getattr(self, field.name) for field in fields(self)}
        return urlencode({name: str(value) for name, value in sorted(chosen.items()) if value})

    def applied(self, rows: QuerySet[Run], searched: Searched) -> QuerySet[Run]:
        """The runs of `rows` that match every field; all of them are in `searched`."""
        for word in self._words():
            rows = rows.filter(pk__in=runs_with(word, searched))
        return self._narrowed(rows)

    def applied_to_few(
        self, rows: QuerySet[Run], run_ids: Sequence[UUID], workspace_ids: Sequence[UUID]
    ) -> QuerySet[Run]:
        """As `applied`, of these few runs."""
        if run_ids and (words := self._words()):
            run_ids = few_with(words, run_ids, workspace_ids)
        return self._narrowed(rows.filter(among("pk", run_ids)) if run_ids else rows.none())

    def _words(self) -> list[str]:
        return self.q.split()[:MAX_WORDS]

    def _narrowed(self, rows: QuerySet[Run]) -> QuerySet[Run]:
        """The runs of `rows` that match every field but the words."""
        if self.host:
            rows = rows.filter(_on_host(self.host))
        if wanted := self.cells():
            rows = rows.filter(Exists(Cell.objects.filter(wanted, run=OuterRef("pk"))))
        rows = self._within(rows)
        return runs_in_state(rows, self.state) if self.state else rows

    def cells(self) -> Q:
        """Which load points are of the chosen server, workload and tool; empty: all."""
        return self.series("series__")

    def series(self, prefix: str = "") -> Q:
        """As `cells`, of series. `prefix`: of the columns."""
        chosen = {"server__name": self.server, "workload__name": self.workload, "tool": self.tool}
        return Q(**{f"{prefix}{column}": value for column, value in chosen.items() if value})

    def without_cells(self) -> Self:
        """The same search, of any server, workload and tool."""
        return replace(self, server="", workload="", tool="")

    def _within(self, rows: QuerySet[Run]) -> QuerySet[Run]:
        if not (self.since or self.until):
            return rows
        rows = rows.alias(when=happened_at_of())
        if self.since:
            rows = rows.filter(when__gte=_midnight(self.since))
        if self.until:
            rows = rows.filter(when__lt=_midnight(self.until + timedelta(days=1)))
        return rows


def _read(name: str, value: str) -> Any:
    if len(value) > MAX_LENGTH or "\0" in value:
        raise SearchError(name, f"{name}: expected at most {MAX_LENGTH} characters, without NUL.")
    if name in ("since", "until"):
        return _day(name, value) if value else None
    if name == "state" and value not in ("", *STATES):
        raise SearchError(name, f"state: got “{value[:60]}”, allowed is {', '.join(STATES)}.")
    return value.strip()


def _day(name: str, value: str) -> date:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        try:
            day = date.fromisoformat(value)
        except ValueError:
            pass
        else:
            if day.year < date.max.year:
                return day
    raise SearchError(name, f"{name}: got “{value[:60]}”, allowed is a day such as 2026-01-31.")


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _on_host(name: str) -> Q:
    if name == UNKNOWN:
        return Q(server_host=None)
    named = Q(name=name) | Q(name=None, cpu_model=name)
    if (id_ := _uuid(name)) is not None:
        named |= Q(pk=id_)
    # Their ids come first, as an array: then the indexes of both columns can be read.
    hosts = ArraySubquery(Host.objects.filter(named).values("pk"))
    return Q(among("server_host", hosts)) | Q(among("client_host", hosts))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
