"""Which raw files stand behind which trial."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from backend.ingest.models import Artefact, Rereading
from backend.links import artefact_link, link_to
from backend.runs.models import Trial


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


def artefacts_by_trial(run_id: UUID) -> dict[str, list[dict[str, Any]]]:
    """By trial id: each artefact with where it is read and downloaded."""
    return _by_trial(trial__run_id=run_id)


def artefacts_of_trial(trial_id: UUID) -> list[dict[str, Any]]:
    """The artefacts of one trial, as `artefacts_by_trial` has them."""
    return _by_trial(trial_id=trial_id)[str(trial_id)]


def _by_trial(**chosen: UUID) -> dict[str, list[dict[str, Any]]]:
    through = Artefact.trials.through
    links = through.objects.filter(**chosen).order_by("artefact__position")
    by_trial: dict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = links.select_related("artefact__upload").defer("artefact__upload__envelope")
    for link in rows:
        by_trial[str(link.trial_id)].append(listed(link.artefact))
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


def listed(artefact: Artefact) -> dict[str, Any]:
    """An artefact as pages and answers list it."""
    return {
        "id": str(artefact.pk),
        "name": artefact.name,
        "url": artefact_link(artefact.pk),
        "raw_url": link_to("artefact-raw", artefact.pk),
        "size_bytes": artefact.size_bytes,
        "sha256": artefact.sha256,
        "removed_at": artefact.upload.raw_removed_at,
        "kept_days": artefact.upload.raw_kept_days,
    }


def rereadings_of(run_id: UUID) -> list[dict[str, Any]]:
    """When the run's files were read again, and what that changed; the latest first."""
    return [
        {
            "read_at": row.read_at.isoformat(),
            "from_version": row.from_version,
            "to_version": row.to_version,
            "changes": row.changes,
            "refused": row.refused,
            "stopped": row.stopped,
        }
        for row in Rereading.objects.filter(_of_run(run_id)).select_related("upload")
    ]
