"""Raw files as pages and answers list them, each with its links; bytes that came before."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.ingest.models import Artefact, Upload
from backend.links import links_by_id
from backend.runs.database.read_router import reading_connection

# The route of the bytes: by a session, and by a token.
RAW, RAW_FOR_PROGRAMS = "artefact-raw", "artefact"
# Of an artefact and its upload: an object of each row would cost more than the statement.
_COLUMNS = ("id", "name", "size_bytes", "sha256", "upload__raw_removed_at", "upload__raw_kept_days")
# The trial, then `_COLUMNS`. By the ids of trials: joined to the trials of a run, the links of all
# runs were read.
_FILES = """
SELECT link.trial_id::text, artefact.id::text, artefact.name, artefact.size_bytes, artefact.sha256,
    upload.raw_removed_at, upload.raw_kept_days
FROM ingest_artefact_trials link
JOIN ingest_artefact artefact ON artefact.id = link.artefact_id
JOIN ingest_upload upload ON upload.id = artefact.upload_id
WHERE link.trial_id = ANY({})
ORDER BY artefact.position
"""
Linker = Callable[[UUID | str], str]


def artefacts_by_trial(run_id: UUID, *, raw_route: str = RAW) -> dict[str, list[dict[str, Any]]]:
    """By trial id: each artefact with where it is read and downloaded."""
    return _by_trial(raw_route, "ARRAY(SELECT id FROM runs_trial WHERE run_id = %s)", run_id)


def artefacts_of_trials(trial_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The artefacts of some trials of a run, as `artefacts_by_trial` has them."""
    return _by_trial(RAW, "%s", [UUID(trial_id) for trial_id in trial_ids])


def artefacts_of_trial(trial_id: UUID, *, raw_route: str = RAW) -> list[dict[str, Any]]:
    """The artefacts of one trial, as `artefacts_by_trial` has them."""
    return _by_trial(raw_route, "%s", [trial_id])[str(trial_id)]


def _by_trial(
    raw_route: str, trial_ids: str, given: UUID | list[UUID]
) -> dict[str, list[dict[str, Any]]]:
    """`trial_ids`: an array as SQL, with `given` in it."""
    page_of, raw_of = links_by_id("artefact-page"), links_by_id(raw_route)
    by_trial: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with reading_connection().cursor() as cursor:
        cursor.execute(_FILES.format(trial_ids), [given])
        for trial_id, *row in cursor.fetchall():
            by_trial[trial_id].append(_listed(row, page_of, raw_of))
    return by_trial


def artefacts_of_upload(upload_id: UUID) -> list[dict[str, Any]]:
    """The artefacts of an upload, as `artefacts_by_trial` has them."""
    rows = Artefact.objects.filter(upload=upload_id)
    page_of, raw_of = links_by_id("artefact-page"), links_by_id(RAW)
    return [_listed(row, page_of, raw_of) for row in rows.values_list(*_COLUMNS)]


def _listed(row: Sequence[Any], page_of: Linker, raw_of: Linker) -> dict[str, Any]:
    """An artefact as pages and answers list it, of the values of `_COLUMNS`."""
    id_, name, size_bytes, sha256, removed_at, kept_days = row
    # Written once: a run has hundreds of artefacts, each in two links.
    id_ = str(id_)
    return {
        "id": id_,
        "name": name,
        "url": page_of(id_),
        "raw_url": raw_of(id_),
        "size_bytes": size_bytes,
        "sha256": sha256,
        "removed_at": removed_at,
        "kept_days": kept_days,
    }


@dataclass(frozen=True, slots=True)
class EarlierUpload:
    """Where the same bytes came before. `run_id`: None if they were not read."""

    upload_id: UUID
    run_id: UUID | None
    received_at: datetime


def find_earlier_uploads(workspace_id: UUID, sha256s: Iterable[str]) -> dict[str, EarlierUpload]:
    """By SHA-256 of a file, the latest upload of the workspace that has it."""
    rows = Artefact.objects.filter(upload__workspace=workspace_id, sha256__in=set(sha256s))
    # The same bytes may have come in thousands of uploads.
    latest = rows.order_by("sha256", "-upload__received_at", "-pk").distinct("sha256")
    upload_of = dict(latest.values_list("sha256", "upload"))
    uploads = Upload.objects.without_envelopes().in_bulk(upload_of.values())
    found = {sha256: uploads[id_] for sha256, id_ in upload_of.items() if id_ in uploads}
    return {
        sha256: EarlierUpload(upload.pk, upload.result_run_id, upload.received_at)
        for sha256, upload in found.items()
    }
