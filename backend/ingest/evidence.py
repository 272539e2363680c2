"""Which raw files stand behind which trial."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from backend.ingest.models import Artefact, Rereading
from backend.links import links_by_id
from backend.runs.models import Trial

# The route of the bytes: by a session, and by a token.
RAW, RAW_FOR_PROGRAMS = "artefact-raw", "artefact"
# Of an artefact and its upload: an object of each row would cost more than the statement.
_COLUMNS = ("id", "name", "size_bytes", "sha256", "upload__raw_removed_at", "upload__raw_kept_days")

_REREADING = ("read_at", "from_version", "to_version", "changes", "refused", "stopped")

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
    return _by_trial(raw_route, trial__run_id=run_id)


def artefacts_of_trials(trial_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The artefacts of some trials of a run, as `artefacts_by_trial` has them."""
    return _by_trial(RAW, trial_id__in=trial_ids)


def artefacts_of_trial(trial_id: UUID, *, raw_route: str = RAW) -> list[dict[str, Any]]:
    """The artefacts of one trial, as `artefacts_by_trial` has them."""
    return _by_trial(raw_route, trial_id=trial_id)[str(trial_id)]


def _by_trial(raw_route: str, **chosen: Any) -> dict[str, list[dict[str, Any]]]:
    rows = Artefact.trials.through.objects.filter(**chosen).order_by("artefact__position")
    page_of, raw_of = links_by_id("artefact-page"), links_by_id(raw_route)
    by_trial: dict[str, list[dict[str, Any]]] = defaultdict(list)
    # PostgreSQL writes the ids: a run has hundreds of artefacts.
    ids = (Cast("trial_id", TextField()), Cast("artefact_id", TextField()))
    columns = (f"artefact__{name}" for name in _COLUMNS[1:])
    for trial_id, *row in rows.values_list(*ids, *columns):
        by_trial[trial_id].append(_listed(row, page_of, raw_of))
    return by_trial


def hash_of_output(artefacts: Iterable[Artefact], place: int = 0) -> bytes | None:
    """SHA-256 that two trials share only if they were read from the same bytes.

    Over the hashes of the files, whatever their names and order; empty files say nothing. `place`:
    of the result in a file of several results. None where there are no bytes.
    """
    hashes = sorted(artefact.sha256 for artefact in artefacts if artefact.size_bytes)
    return hashlib.sha256(f"{place} {' '.join(hashes)}".encode()).digest() if hashes else None


def _of_run(run_id: UUID) -> Q:
    """Uploads of a run: its own, and those of its early trials, which name it in their envelope."""
    return Q(upload__run=run_id) | Q(upload__envelope__run__id=str(run_id))


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
    rows = Rereading.objects.filter(_of_run(run_id)).values(*_REREADING)
    return [{**row, "read_at": row["read_at"].isoformat()} for row in rows]


def without_names(rereading: Mapping[str, Any]) -> dict[str, Any]:
    """A rereading as people outside the workspace read it: a refusal quotes names of files."""
    refused = "Its output could not be read." if rereading["refused"] else ""
    return {**rereading, "refused": refused}
