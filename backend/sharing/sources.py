"""What figures were read from: each run with its raw files and the parser that read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.ingest.models import Upload


def sources_of(run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """`{id, upload, parser_version, artefacts: [{name, sha256, size}]}` of each run, in order."""
    uploads = Upload.objects.filter(run_id__in=run_ids).prefetch_related("artefacts")
    by_run = {str(upload.run_id): upload for upload in uploads}
    return [_source(run_id, by_run.get(run_id)) for run_id in run_ids]


def _source(run_id: str, upload: Upload | None) -> dict[str, Any]:
    if upload is None:
        return {"id": run_id, "upload": None, "parser_version": None, "artefacts": []}
    artefacts = [
        {"name": one.name, "sha256": one.sha256, "size": one.size_bytes}
        for one in upload.artefacts.all()
    ]
    return {
        "id": run_id,
        "upload": str(upload.pk),
        "parser_version": upload.parser_version or None,
        "artefacts": artefacts,
    }
