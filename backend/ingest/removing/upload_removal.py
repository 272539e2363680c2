"""Deleting uploads for good, with their raw files and with what agents observed of their run.

The corrections are deleted with the run; their bytes are subtracted here.
"""

from collections.abc import Collection, Generator, Sequence
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Coalesce

from backend.accounts.models import Workspace
from backend.accounts.workspace.turns import guarded
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota.stored_sums import add, bytes_of_uploads
from backend.ingest.removing.collector import remove_unnamed_later
from backend.runs.amending.room import kept_bytes
from backend.runs.database.bulk import delete_rows
from backend.runs.models import Correction, Observation
from backend.runs.recording.observations import KEPT_BYTES

UPLOADS_AT_ONCE = 100


def remove_uploads(workspace: Workspace, run_id: UUID, uploads: QuerySet[Upload]) -> bool:
    """Delete the uploads with their raw files, and what agents observed of the run."""
    # Locked first, so that a reading that is under way ends before, or finds nothing.
    ids = lock_uploads(uploads)
    files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
    add(workspace.pk, -bytes_of_uploads(ids) - bytes_beside_uploads(workspace, [run_id]))
    delete_rows(Upload.objects.filter(pk__in=ids))
    Observation.objects.filter(run=run_id, workspace=workspace).delete()
    transaction.on_commit(partial(remove_unnamed_later, files), robust=True)
    return bool(ids)


def lock_uploads(uploads: QuerySet[Upload]) -> list[UUID]:
    """Keep these uploads as they are until the transaction ends; their ids.

    In one order, so that no two transactions wait for each other, and before the rows of runs.
    """
    rows = uploads.select_for_update().order_by("pk")
    return list(rows.values_list("pk", flat=True))


def bytes_beside_uploads(workspace: Workspace, run_ids: Collection[UUID]) -> int:
    """What the observations and the corrections of runs count in the quota."""
    observations = Observation.objects.filter(run__in=run_ids, workspace=workspace)
    observed = observations.aggregate(total=Coalesce(Sum(KEPT_BYTES), 0))["total"]
    corrections = Correction.objects.filter(run__in=run_ids, run__workspace=workspace)
    return int(observed) + kept_bytes(corrections)


def remove_uploads_of_workspace(workspace: Workspace) -> Generator[None]:
    """Remove the uploads that became no run, with their files, some at a time.

    Where some cannot be removed together, each is removed alone; one that cannot be is left.
    """
    uploads = Upload.objects.filter(workspace=workspace).order_by("pk")
    left = uploads
    while ids := list(left.values_list("pk", flat=True)[:UPLOADS_AT_ONCE]):
        try:
            _remove_together(ids)
        except Exception:  # whatever it is, it may be of one upload
            for upload_id in ids:
                with guarded("upload_not_removed", upload=upload_id):
                    _remove_together([upload_id])
                yield
        yield
        left = uploads.filter(pk__gt=ids[-1])


def _remove_together(upload_ids: Sequence[UUID]) -> None:
    with transaction.atomic():
        ids = lock_uploads(Upload.objects.filter(pk__in=upload_ids))
        files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
        delete_rows(Upload.objects.filter(pk__in=ids))
    remove_unnamed_later(files)
