"""How many runs came since a result set was made that its question would show as well."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backend.analysis.cells import MAX_RUNS, select
from backend.analysis.known import UnknownValue
from backend.analysis.query import CompareQuery, QueryError
from backend.runs.models import Run
from backend.sharing.models import ResultSet
from backend.sharing.reading import question_of

# A larger number is not counted out: the reader knows enough.
MOST = MAX_RUNS


def newer_runs(result_set: ResultSet) -> int | None:
    """Runs recorded since, MOST at most; None where today's language cannot ask the question.

    A frozen question that named runs is asked without them, of the same servers and workloads.
    """
    came = _recorded_since(result_set)
    if not came:
        return 0
    try:
        question = replace(_open_question(result_set), run=tuple(sorted(came)))
    except QueryError:
        return None
    except _NamesItsRuns:
        return 0
    return _shown_by(question, result_set.workspace_id)


def _shown_by(question: CompareQuery | None, workspace_id: uuid.UUID) -> int:
    """How many runs of the question have something that it shows."""
    while question is not None:
        try:
            found = select(question, [workspace_id])
        except UnknownValue as gone:
            # With its last run a server is gone from the workspace, and from the question.
            question = gone.rest
            continue
        cells = found.cells().filter(run__in=found.chosen_runs(), trial_count__gt=0)
        return cells.values("run").distinct().count()
    return 0


class _NamesItsRuns(Exception):
    """A live question that names its runs never shows another."""


def _recorded_since(result_set: ResultSet) -> list[uuid.UUID]:
    rows = Run.objects.filter(
        workspace_id=result_set.workspace_id, recorded_at__gt=result_set.created_at
    )
    return list(rows.order_by("-recorded_at").values_list("pk", flat=True)[:MOST])


def _open_question(result_set: ResultSet) -> CompareQuery:
    question = question_of(result_set)
    if not question.run:
        return question
    if not result_set.is_frozen:
        raise _NamesItsRuns
    series = result_set.frozen_snapshot()["figures"]["series"]
    return replace(
        question,
        server=question.server or _names(series, "server"),
        workload=question.workload or _names(series, "workload"),
    )


def _names(series: list[Mapping[str, Any]], field: str) -> tuple[str, ...]:
    return tuple(sorted({one[field] for one in series if one[field] is not None}))
