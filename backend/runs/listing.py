"""Listing runs, newest first, one page at a time.

Pages are cut by key (time, id), not by offset: a run that arrives while somebody reads never
makes another one appear twice or not at all.
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

from backend.runs.models import Cell, Run


class BadCursor(ValueError):
    """The cursor of a page is none that a page gave."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list. `trials` counts all of them, warm-ups included."""

    id: UUID
    workspace: str
    started_at: datetime | None
    recorded_at: datetime
    interrupted: bool
    labels: dict[str, Any]
    trials: int
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page, and the cursor of the next one or None."""

    runs: tuple[RunRow, ...]
    next: str | None


def run_page(workspace_ids: Iterable[UUID], *, after: str = "", limit: int = 50) -> RunPage:
    """The runs of these workspaces that come after the cursor; raises BadCursor."""
    rows = Run.objects.filter(workspace__in=list(workspace_ids)).select_related("workspace")
    rows = _after(rows, after).order_by("-recorded_at", "-pk")
    found = list(rows.annotate(trial_count=Count("trials"))[: limit + 1])
    page = found[:limit]
    servers = _servers_of(page)
    return RunPage(
        runs=tuple(_row(run, servers[run.pk]) for run in page),
        next=_cursor(page[-1]) if len(found) > limit else None,
    )


def _after(rows: QuerySet[Run], cursor: str) -> QuerySet[Run]:
    if not cursor:
        return rows
    moment, run_id = _read(cursor)
    same_moment = Q(recorded_at=moment, pk__lt=run_id)
    return rows.filter(Q(recorded_at__lt=moment) | same_moment)


def _cursor(run: Run) -> str:
    text = f"{run.recorded_at.isoformat()} {run.pk}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str) -> tuple[datetime, UUID]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        moment, run_id = base64.urlsafe_b64decode(padded).decode().split(" ")
        when = datetime.fromisoformat(moment)
        if when.tzinfo is None:
            raise BadCursor(cursor)
        return when, UUID(run_id)
    except (binascii.Error, ValueError) as error:
        raise BadCursor(cursor) from error


def _servers_of(runs: Sequence[Run]) -> dict[UUID, list[str]]:
    names: dict[UUID, list[str]] = defaultdict(list)
    pairs = Cell.objects.filter(run__in=runs).values_list("run_id", "series__server__name")
    for run_id, name in pairs.distinct().order_by("series__server__name"):
        names[run_id].append(name)
    return names


def _row(run: Run, servers: list[str]) -> RunRow:
    return RunRow(
        id=run.pk,
        workspace=run.workspace.slug,
        started_at=run.started_at,
        recorded_at=run.recorded_at,
        interrupted=run.interrupted,
        labels=run.labels,
        trials=getattr(run, "trial_count"),  # noqa: B009  an annotation no stub knows
        servers=tuple(servers),
    )
