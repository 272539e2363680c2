"""What the first questions of a web process would wait for, done before they come.

A new connection to the database has seen no table, and plans a statement again each time until it
has prepared it. The first comparison of a process also fills caches that the others read.
"""

import logging

from django.db import connection

from backend.accounts.models import Workspace
from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.config.databases import PREPARE_THRESHOLD
from backend.runs.models import Run

log = logging.getLogger(__name__)

# Of the run that is asked about: a larger one takes long, and shows nothing that this does not.
MOST_TRIALS = 1_000


def warm_up() -> None:
    """Ask, in this thread, what a visitor is likely to ask: about the latest run of the workspace
    that changed most, as often as its statements take to be prepared."""
    try:
        run = _recent_run()
        if run is None:
            connection.close()  # it holds memory, and may not be needed for long
            return
        query = CompareQuery.parse({"run": str(run.pk)})
        for _ in range(PREPARE_THRESHOLD + 1):
            compare(query, workspace_ids=[run.workspace_id])
    except Exception:  # a fault must not end the thread, and the next request meets it too
        log.warning("not_warmed_up", exc_info=True)
        connection.close()


def _recent_run() -> Run | None:
    """None if nothing of a usual size was measured."""
    liveliest = Workspace.objects.order_by("-data_version").values("pk")[:1]
    runs = Run.objects.filter(workspace__in=liveliest, counted_trials__range=(1, MOST_TRIALS))
    return runs.only("workspace_id").order_by("-recorded_at").first()
