"""Which raw files stand behind which trial."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Q, QuerySet

from backend.ingest.models import NAMED_RUN, NAMED_RUN_SQL, Artefact, Upload
from backend.links import links_by_id
from backend.runs.models import Trial
from backend.runs.read_router import reading_connection

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
_REREADING = ("read_at", "from_version", "to_version", "changes", "refused", "stopped")
# As `uploads_by_name` has the uploads.
_REREADINGS = f"""
SELECT {", ".join(_REREADING)} FROM ingest_rereading WHERE upload_id IN (
    SELECT id FROM ingest_upload
    WHERE workspace_id = (SELECT workspace_id FROM runs_run WHERE id = %(run)s)
        AND (run_id = %(run)s OR {NAMED_RUN_SQL % {"expressions": "envelope"}} = %(digits)s)
)
ORDER BY read_at DESC
"""  # noqa: S608  names of our own

Linker = Callable[[UUID | str], str]


class Link(NamedTuple):
    """A trial, and an artefact that it was read from."""

    run_id: UUID
    ordinal: int
    artefact_id: UUID


def links_of_runs(run_ids: Sequence[UUID] | Sequence[str]) -> list[Link]:
    """The artefacts of the trials of these runs.

    In two statements: joined, tables without statistics were read once for each trial.
    """
    rows = Trial.objects.filter(run_id__in=run_ids).order_by()
    trials = {pk: (run, at) for pk, run, at in rows.values_list("pk", "run_id", "ordinal")}
    pairs = Artefact.trials.through.objects.filter(trial_id__in=list(trials))
    return [
        Link(*trials[trial_id], artefact_id)
        for trial_id, artefact_id in pairs.values_list("trial_id", "artefact_id")
    ]


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


def hash_of_output(artefacts: Iterable[Artefact], place: int = 0) -> bytes | None:
    """SHA-256 that two trials share only if they were read from the same bytes.

    Over the hashes of the files, whatever their names and order; empty files say nothing. `place`:
    of the result in a file of several results. None where there are no bytes.
    """
    hashes = sorted(artefact.sha256 for artefact in artefacts if artefact.size_bytes)
    return hashlib.sha256(f"{place} {' '.join(hashes)}".encode()).digest() if hashes else None


def uploads_by_name(workspace_id: UUID, run_ids: Collection[UUID]) -> QuerySet[Upload]:
    """The uploads of a workspace that are one of these runs, or name one in their envelope.

    Those of early trials do, read or not. Other workspaces may name the run too.
    """
    rows = Upload.objects.alias(named_run=NAMED_RUN).filter(workspace=workspace_id)
    named = Q(named_run__in=[run_id.hex for run_id in run_ids])
    return rows.filter(Q(run__in=run_ids) | named).order_by()


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


def rereadings_of(run_id: UUID) -> list[dict[str, Any]]:
    """When the run's files were read again, and what that changed; the latest first."""
    with reading_connection().cursor() as cursor:
        cursor.execute(_REREADINGS, {"run": run_id, "digits": run_id.hex})
        rows = cursor.fetchall()
    return [
        {
            **dict(zip(_REREADING, row, strict=True)),
            "read_at": row[0].isoformat(),
            "changes": orjson.loads(row[3]),
        }
        for row in rows
    ]


def without_names(rereading: Mapping[str, Any]) -> dict[str, Any]:
    """A rereading as people outside the workspace read it: a refusal quotes names of files."""
    refused = "Its output could not be read." if rereading["refused"] else ""
    return {**rereading, "refused": refused}
