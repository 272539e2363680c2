"""Corrections that members made to the runs of a frozen result set since it was frozen."""

from collections import Counter

from django.db.models import Q

from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.models import Correction
from backend.sharing.models import ResultSet


def corrections_since(result_set: ResultSet) -> int:
    """How many were made or undone since; 0 for a live result set, which shows them."""
    if not result_set.is_frozen:
        return 0
    since = result_set.created_at
    rows = Correction.objects.filter(
        Q(made_at__gt=since) | Q(undone_at__gt=since), run__workspace=result_set.workspace_id
    )
    corrected = Counter(rows.values_list("run", flat=True))
    # Most sets have none: then their snapshot is not read.
    if not corrected:
        return 0
    try:
        query = CompareQuery.parse(result_set.frozen_snapshot()["query"])
    except QueryError:
        return 0
    return sum(corrected[run] for run in query.run_ids)
