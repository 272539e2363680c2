"""Listing uploads page by page, the last received first."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from backend.ingest.listing.listed_uploads import ListedUpload, Which, with_files
from backend.ingest.models import Upload
from backend.runs.catalogue import listing
from backend.runs.database.cursors import Page, page_by_time
from backend.runs.models import Run


def upload_page(
    workspace_id: UUID,
    *,
    which: Which = Which.ALL,
    since: datetime | None = None,
    after: str = "",
    limit: int,
) -> Page[ListedUpload]:
    """Uploads of a workspace after the cursor, as many as a page of runs may have trials.

    Raises BadCursor.
    """
    rows = Upload.objects.filter(workspace=workspace_id, is_in_trash=False)
    rows = rows.filter(which.value)
    if since is not None:
        rows = rows.filter(received_at__gte=since)
    # A part of a run that came in several uploads has no row of its own there.
    shown = rows.without_envelopes().only("id", "state", "reason", "received_at", "run")
    page = page_by_time(shown, "received_at", after=after, limit=limit, fitting=_fitting)
    return Page(with_files(page.rows), page.next)


def _fitting(uploads: Sequence[Upload]) -> int:
    """How many of the first uploads one page may have: the names of their series are read."""
    run_of = [upload.result_run_id for upload in uploads]
    runs = Run.with_trash.filter(pk__in=filter(None, run_of))
    counts = dict(runs.values_list("pk", "counted_trials"))
    return listing.fitting(
        [counts.get(id_, 0) if id_ else 0 for id_ in run_of], listing.PAGE_TRIALS
    )
