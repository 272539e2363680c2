"""Freezing a comparison: canonical JSON of everything a reader needs to check it, and its hash.

The bytes are stored as they were hashed and never rewritten. Nothing of another workspace enters.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q
from django.utils import timezone

from backend import __version__
from backend.accounts.models import User, Workspace
from backend.analysis.comparison import compare
from backend.analysis.query import CompareQuery
from backend.analysis.times import instant
from backend.ingest.models import Upload
from backend.runs.identity import canonical_json
from backend.runs.moment import one_moment
from backend.sharing.models import ResultSet, Visibility

SCHEMA = 1


def freeze(
    query: CompareQuery,
    *,
    workspace: Workspace,
    author: User | None,
    title: str,
    visibility: Visibility = Visibility.PRIVATE,
) -> ResultSet:
    """Keep what `query` shows of `workspace` now. Raises NotVisible for a run that is not there."""
    with one_moment():
        figures = compare(query, workspace_ids=[workspace.pk])
        result_set = ResultSet(
            id=uuid.uuid4(),
            workspace=workspace,
            author=author,
            title=title or figures["finding"][:300],
            query=figures["query"],
            visibility=visibility,
            created_at=timezone.now(),
        )
        result_set.snapshot = canonical_json(_snapshot(result_set, figures))
        result_set.sha256 = hashlib.sha256(result_set.snapshot).hexdigest()
        result_set.save(force_insert=True)
    return result_set


def _snapshot(result_set: ResultSet, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": str(result_set.pk),
        "title": result_set.title,
        "created_at": instant(result_set.created_at),
        "workspace": result_set.workspace.slug,
        "query": figures["query"],
        "runs": _runs([run["id"] for run in figures["runs"]]),
        "figures": figures,
        "software": {"name": "loadsheet", "version": __version__},
    }


def _runs(run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Each run with the raw files it was read from and the parser that read them."""
    uploads = Upload.objects.filter(run_id__in=run_ids).prefetch_related("artefacts")
    by_run = {str(upload.run_id): upload for upload in uploads}
    return [_run(run_id, by_run.get(run_id)) for run_id in run_ids]


def _run(run_id: str, upload: Upload | None) -> dict[str, Any]:
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


def find_result_set(
    result_set_id: uuid.UUID, *, workspace_ids: Sequence[uuid.UUID]
) -> ResultSet | None:
    """The result set, when it is shared or of one of the reader's workspaces."""
    shared = Q(visibility__in=[Visibility.UNLISTED, Visibility.PUBLIC])
    rows = ResultSet.objects.select_related("workspace", "author")
    return rows.filter(shared | Q(workspace_id__in=workspace_ids), pk=result_set_id).first()


def set_visibility(result_set: ResultSet, visibility: Visibility) -> None:
    """Who may read it. The snapshot itself never changes."""
    result_set.visibility = Visibility(visibility)
    result_set.save(update_fields=["visibility"])
