"""Bytes that a workspace has already."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from backend.ingest.models import Artefact


@dataclass(frozen=True, slots=True)
class EarlierUpload:
    """Where the same bytes came before. `run_id`: None if they were not read."""

    upload_id: UUID
    run_id: UUID | None
    received_at: datetime


def find_earlier_uploads(workspace_id: UUID, sha256s: Iterable[str]) -> dict[str, EarlierUpload]:
    """By SHA-256 of a file, the latest upload of the workspace that has it."""
    rows = Artefact.objects.filter(upload__workspace=workspace_id, sha256__in=set(sha256s))
    earlier = {}
    for row in rows.select_related("upload").order_by("upload__received_at", "pk"):
        upload = row.upload
        earlier[row.sha256] = EarlierUpload(upload.pk, upload.result_run_id, upload.received_at)
    return earlier
