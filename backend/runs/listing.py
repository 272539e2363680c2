"""Listing runs page by page, the last received first.

A cursor holds the time and id of the last row, not an offset: a run that arrives meanwhile never
makes another run appear twice or not at all.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from backend.errors import InvalidInput
from backend.runs.models import Cell, Run, Trial
from backend.runs.search import RunSearch


class BadCursor(InvalidInput):
    """This is not a cursor that a page gave."""

    def __init__(self) -> None:
        super().__init__("The value of after is not a cursor from an earlier page.")

    @property
    def members(self) -> dict[str, Any]:
        """The field."""
        return {"field": "after"}


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list. `trials` counts all of them, warm-ups included."""

    id: UUID
    workspace: str
    started_at: datetime | None
    recorded_at: datetime
    interrupted: bool
    # More trials are expected.
    is_open: bool
    labels: dict[str, Any]
    trials: int
    servers: tuple[str, ...]
    workloads: tuple[str, ...]
    tools: tuple[str, ...]
    server_host: str | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page, and the cursor of the next page or None."""

    runs: tuple[RunRow, ...]
    next: str | None


EVERY_RUN = RunSearch()


def run_page(
    workspace_ids: Iterable[UUID],
    *,
    after: str = "",
    limit: int = 50,
    search: RunSearch = EVERY_RUN,
) -> RunPage:
    """The runs of these workspaces that `search` selects, after the cursor. Raises BadCursor."""
    rows = search.applied(Run.objects.filter(workspace__in=list(workspace_ids)))
    rows = _after(rows.select_related("workspace", "server_host"), after)
    rows = rows.order_by("-recorded_at", "-pk").defer("plan", "facts")
    runs = list(rows[: limit + 1])
    page = runs[:limit]
    measured, trials = _measured_in(page), _trials_in(page)
    return RunPage(
        runs=tuple(_row(run, measured[run.pk], trials.get(run.pk, 0)) for run in page),
        next=_cursor(page[-1]) if len(runs) > limit else None,
    )


def _after(rows: QuerySet[Run], cursor: str) -> QuerySet[Run]:
    if not cursor:
        return rows
    recorded_at, run_id = _read(cursor)
    recorded_together = Q(recorded_at=recorded_at, pk__lt=run_id)
    return rows.filter(Q(recorded_at__lt=recorded_at) | recorded_together)


def _cursor(run: Run) -> str:
    text = f"{run.recorded_at.isoformat()} {run.pk}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str) -> tuple[datetime, UUID]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        instant, run_id = base64.urlsafe_b64decode(padded).decode().split(" ")
        recorded_at = datetime.fromisoformat(instant)
        if recorded_at.tzinfo is None:
            raise BadCursor
        return recorded_at, UUID(run_id)
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error


def run_count(workspace_ids: Iterable[UUID], search: RunSearch = EVERY_RUN) -> int:
    """How many runs of these workspaces `search` selects."""
    return search.applied(Run.objects.filter(workspace__in=list(workspace_ids))).count()


Measured = tuple[set[str], set[str], set[str]]
_NAMES = ("series__server__name", "series__workload__name", "series__tool")


def _measured_in(runs: Sequence[Run]) -> dict[UUID, Measured]:
    """By run: the names of its servers, workloads and tools."""
    by_run: dict[UUID, Measured] = defaultdict(lambda: (set(), set(), set()))
    cells = Cell.objects.filter(run__in=runs)
    rows = cells.values_list("run_id", *_NAMES).distinct()
    for run_id, *names in rows:
        for collected, name in zip(by_run[run_id], names, strict=True):
            collected.add(name)
    return by_run


def _trials_in(runs: Sequence[Run]) -> dict[UUID, int]:
    # A separate statement: joined to the page it would count the trials of every run.
    trials = Trial.objects.filter(run__in=runs).order_by()
    return dict(trials.values_list("run_id").annotate(count=Count("pk")))


def _row(run: Run, measured: Measured, trials: int) -> RunRow:
    servers, workloads, tools = (tuple(sorted(names)) for names in measured)
    return RunRow(
        id=run.pk,
        workspace=run.workspace.slug,
        started_at=run.started_at,
        recorded_at=run.recorded_at,
        interrupted=run.interrupted,
        is_open=run.is_open,
        labels=run.labels,
        trials=trials,
        servers=servers,
        workloads=workloads,
        tools=tools,
        server_host=None if run.server_host is None else str(run.server_host),
    )
