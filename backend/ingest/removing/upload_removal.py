"""Deleting uploads for good, with their raw files and what agents observed of their run."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Coalesce, Length

from backend.accounts.models import Workspace
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota.stored_sums import add, bytes_of_uploads
from backend.ingest.removing.collector import remove_unnamed_later
from backend.runs.models import Observation

UPLOADS_AT_ONCE = 100


def remove_uploads(workspace: Workspace, run_id: UUID, uploads: QuerySet[Upload]) -> bool:
    """Delete the uploads with their raw files, and what agents observed of the run."""
    # Locked first, so that a reading that is under way ends before, or finds nothing.
    ids = lock_uploads(uploads)
    files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
    observations = Observation.objects.filter(run=run_id, workspace=workspace)
    add(workspace.pk, -bytes_of_uploads(ids) - _bytes_of(observations))
    Upload.objects.filter(pk__in=ids).delete()
    observations.delete()
    transaction.on_commit(partial(remove_unnamed_later, files), robust=True)
    return bool(ids)


def lock_uploads(uploads: QuerySet[Upload]) -> list[UUID]:
    """Keep these uploads as they are until the transaction ends; their ids.

    In one order, so that no two transactions wait for each other, and before the rows of runs.
    """
    rows = uploads.select_for_update().order_by("pk")
    return list(rows.values_list("pk", flat=True))


def _bytes_of(observations: QuerySet[Observation]) -> int:
    total = observations.aggregate(total=Coalesce(Sum(Length("packed")), 0))["total"]
    return int(total)


def remove_some_uploads(workspace: Workspace) -> bool:
    """Remove uploads that became no run, with their files; False where there were none."""
    with transaction.atomic():
        rows = Upload.objects.filter(workspace=workspace).order_by("pk")[:UPLOADS_AT_ONCE]
        ids = lock_uploads(Upload.objects.filter(pk__in=list(rows.values_list("pk", flat=True))))
        files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
        Upload.objects.filter(pk__in=ids).delete()
    remove_unnamed_later(files)
    return bool(ids)
