"""Listing uploads page by page, the last received first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.db.models.fields.json import KT

from backend.ingest.models import Artefact, State, Upload
from backend.runs import listing
from backend.runs.cursors import Page, page_by_time
from backend.runs.models import Run


class Which(Enum):
    """Which uploads a list has."""

    ALL = Q()
    FAILED = Q(state__in=(State.FAILED, State.QUARANTINED))
    # Read, but for some of their results.
    PARTIAL = Q(state=State.PARSED, reason__gt="")
    # Those that are no run, or not yet.
    UNREAD = Q(state__in=[state for state in State if state != State.PARSED])


# So many files of an upload are named in a list.
NAMED_FILES = 3


@dataclass(frozen=True, slots=True)
class ListedUpload:
    """An upload with its state, reason and time, and the names of its first files.

    `run_name`: what its run measured, such as "caddy 1.27.1 · json · wrk"; empty without a run.
    """

    upload: Upload
    run_name: str
    file_names: Sequence[str]
    # How many files it has beside those.
    more_files: int


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
    shown = rows.only("id", "state", "reason", "received_at", "run")
    # A part of a run that came in several uploads has no row of its own there.
    shown = shown.annotate(part_of=KT("envelope__run__id"))
    page = page_by_time(shown, "received_at", after=after, limit=limit, fitting=_fitting)
    return Page(_with_files(page.rows), page.next)


def _fitting(uploads: Sequence[Upload]) -> int:
    """How many of the first uploads one page may have: the names of their series are read."""
    run_of = [_run_of(upload) for upload in uploads]
    runs = Run.with_trash.filter(pk__in=filter(None, run_of))
    counts = dict(runs.values_list("pk", "counted_trials"))
    return listing.fitting(
        [counts.get(id_, 0) if id_ else 0 for id_ in run_of], listing.PAGE_TRIALS
    )


def _with_files(uploads: Sequence[Upload]) -> list[ListedUpload]:
    names: dict[UUID, list[str]] = defaultdict(list)
    files = Artefact.objects.filter(upload__in=uploads)
    first = files.filter(position__lt=NAMED_FILES).order_by("position")
    for upload_id, name in first.values_list("upload_id", "name"):
        names[upload_id].append(name)
    counts = dict(files.order_by().values_list("upload_id").annotate(count=Count("*")))
    run_of = {upload.pk: _run_of(upload) for upload in uploads}
    run_names = listing.names_of_runs([run_id for run_id in run_of.values() if run_id is not None])
    return [
        ListedUpload(
            upload,
            run_names.get(run_of[upload.pk] or upload.pk, ""),
            names[upload.pk],
            more_files=counts.get(upload.pk, 0) - len(names[upload.pk]),
        )
        for upload in uploads
    ]


def _run_of(upload: Any) -> UUID | None:
    """As `Upload.result_run_id`, of a row whose envelope was not loaded."""
    if upload.run_id is not None or upload.state != State.PARSED or not upload.part_of:
        return upload.run_id  # type: ignore[no-any-return]
    return UUID(upload.part_of)
