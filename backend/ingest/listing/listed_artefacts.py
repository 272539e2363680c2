"""Raw files as pages and answers list them, each with its links; bytes that came before."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.ingest.models import Artefact, Upload
from backend.links import links_by_id
from backend.runs.database.read_router import reading_connection
from backend.untrusted.limits import TRIAL_ARTEFACTS

# The route of the bytes: by a session, and by a token.
RAW, RAW_FOR_PROGRAMS = "artefact-raw", "artefact"
# Of an artefact and its upload: an object of each row would cost more than the statement.
_COLUMNS = ("id", "name", "size_bytes", "sha256", "upload__raw_removed_at", "upload__raw_kept_days")
# The files of each trial beside other trials; its own page has all.
FILES_OF_TRIAL = 20
# Of all trials of an answer together, but one of each at least: uploads may link millions in one
# run.
FILES_TOGETHER = 20_000
# The trial and how many files it has, then `_COLUMNS`. By the ids of trials: joined to the trials
# of a run, the links of all runs were read.
_FILES = """
SELECT file.trial_id::text, file.count, artefact.id::text, artefact.name, artefact.size_bytes,
    artefact.sha256, upload.raw_removed_at, upload.raw_kept_days
FROM (
    SELECT link.trial_id, link.artefact_id, count(*) OVER (PARTITION BY link.trial_id),
        row_number() OVER (PARTITION BY link.trial_id ORDER BY each.position, each.id) AS place
    FROM ingest_artefact_trials link JOIN ingest_artefact each ON each.id = link.artefact_id
    WHERE link.trial_id = ANY(%s::uuid[])
) file
JOIN ingest_artefact artefact ON artefact.id = file.artefact_id
JOIN ingest_upload upload ON upload.id = artefact.upload_id
WHERE file.place <= %s
ORDER BY artefact.position
"""
Linker = Callable[[UUID | str], str]


@dataclass(slots=True)
class TrialFiles:
    """The first files of a trial, and how many it has."""

    listed: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0

    @property
    def shown(self) -> dict[str, Any]:
        """As members of the trial."""
        return {"artefacts": self.listed, "artefact_count": self.count}


def artefacts_of_trials(
    trial_ids: Sequence[str], *, raw_route: str = RAW
) -> Mapping[str, TrialFiles]:
    """By trial id: the first artefacts with where they are read and downloaded."""
    most = min(FILES_OF_TRIAL, FILES_TOGETHER // max(1, len(trial_ids)))
    return _by_trial(raw_route, trial_ids, max(1, most))


def artefacts_of_trial(trial_id: UUID, *, raw_route: str = RAW) -> list[dict[str, Any]]:
    """Every artefact of one trial, as `artefacts_of_trials` has them."""
    return _by_trial(raw_route, [str(trial_id)], TRIAL_ARTEFACTS)[str(trial_id)].listed


def _by_trial(raw_route: str, trial_ids: Sequence[str], most: int) -> Mapping[str, TrialFiles]:
    """`most`: of each trial."""
    page_of, raw_of = links_by_id("artefact-page"), links_by_id(raw_route)
    by_trial: dict[str, TrialFiles] = defaultdict(TrialFiles)
    with reading_connection().cursor() as cursor:
        cursor.execute(_FILES, [list(trial_ids), most])
        for trial_id, count, *row in cursor.fetchall():
            files = by_trial[trial_id]
            files.count = count
            files.listed.append(_listed(row, page_of, raw_of))
    return by_trial


def artefacts_of_upload(upload_id: UUID) -> list[dict[str, Any]]:
    """The artefacts of an upload, as `artefacts_of_trials` has them."""
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
