"""The runs that frozen result sets cite: their raw output stays, whatever its age."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from backend.sharing.models import CitedRun, ResultSet


def cite_runs(result_set: ResultSet, document: Mapping[str, Any]) -> None:
    """Note the runs of a frozen document. Call it in the transaction that stores the set."""
    runs = {UUID(run["id"]) for run in document["runs"]}
    CitedRun.objects.bulk_create(CitedRun(result_set=result_set, run=run) for run in runs)


def cited_run_ids(workspace_id: UUID) -> QuerySet[Any]:
    """The ids, as text, of the runs that frozen result sets of the workspace cite.

    A withdrawn set cites nothing any more. An expired one does: it can be given a new end.
    """
    rows = CitedRun.objects.filter(
        result_set__workspace=workspace_id, result_set__withdrawn_at__isnull=True
    )
    return rows.annotate(text=Cast("run", TextField())).values("text")
