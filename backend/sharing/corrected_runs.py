"""Corrections that members made to the runs of a frozen result set since it was frozen."""

from __future__ import annotations

from django.db.models import Q

from backend.analysis.query.compare_query import QueryError
from backend.runs.models import Correction
from backend.sharing.models import ResultSet
from backend.sharing.reading import saved_query


def corrections_since(result_set: ResultSet) -> int:
    """How many were made or undone since; 0 for a live result set, which shows them."""
    if not result_set.is_frozen:
        return 0
    try:
        runs = saved_query(result_set).run_ids
    except QueryError:
        return 0
    since = result_set.created_at
    rows = Correction.objects.filter(run__in=runs, run__workspace=result_set.workspace_id)
    return rows.filter(Q(made_at__gt=since) | Q(undone_at__gt=since)).count()
