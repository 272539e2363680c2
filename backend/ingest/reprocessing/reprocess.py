"""Reading a stored upload again with this version's parser.

The old result stays until the new one is complete; then both are exchanged in one transaction, so
that a reader sees one complete result. What changed is kept beside the upload.
"""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from backend.errors import WorkFailed
from backend.formats import PARSER_VERSION
from backend.ingest.models import Rereading, State, Upload
from backend.ingest.queue import queue
from backend.ingest.queue.process import link_artefacts, run_input_of
from backend.ingest.queue.worker import process
from backend.ingest.reading.reading import NothingRead, Reading, envelope_of, read_upload
from backend.ingest.removing.retention import refuse_removed
from backend.noise.record import refresh_noise
from backend.runs.amending.changes import Change, changes_between
from backend.runs.models import Trial
from backend.runs.recording.observations import apply_observations
from backend.runs.recording.record import record_early, rerecord_run
from backend.runs.recording.refusals import RunTooLarge
from backend.runs.registry.registry import lock_names
from backend.untrusted.sandbox.parser_failures import ParserFailed


class NotEnded(WorkFailed):
    """The upload has not been read for the first time yet: the workers will do it."""


def outdated() -> QuerySet[Upload]:
    """Uploads with raw output that another version of the parser read last, or that none could
    read."""
    ended = Upload.objects.filter(state__in=[State.PARSED, State.FAILED], raw_removed_at=None)
    return ended.exclude(parser_version=PARSER_VERSION).order_by("received_at")


def reprocess(upload_id: UUID) -> Rereading:
    """Read an upload again and exchange its result; what changed.

    Raises Upload.DoesNotExist, NotEnded for an upload that the workers have not finished, and
    RawOutputRemoved: then the figures stay as they are.
    """
    upload = Upload.objects.select_related("workspace", "author").get(pk=upload_id)
    if not upload.is_ended:
        raise NotEnded(str(upload_id))
    refuse_removed(upload)
    return _exchange(upload) if upload.state == State.PARSED else _read_first(upload)


def _exchange(upload: Upload) -> Rereading:
    try:
        return _record_again(upload, read_upload(upload))
    # The recorded run stays, so that its links work. The reason is stored for people to read.
    except (NothingRead, RunTooLarge) as refusal:
        return _record_rereading(upload, PARSER_VERSION, refused=str(refusal))
    except ParserFailed as failure:
        return _record_rereading(upload, PARSER_VERSION, stopped=str(failure))


def _record_again(upload: Upload, reading: Reading) -> Rereading:
    with transaction.atomic():
        lock_names(upload.workspace)
        locked = Upload.objects.select_for_update(of=("self",)).get(pk=upload.pk)
        run_input = run_input_of(upload, reading.archive)
        ordinals = [record.ordinal for record in reading.records]
        old = list(_own_trials(locked, ordinals))
        if envelope_of(upload).is_early:
            trials = record_early(run_input, reading.records)
        else:
            trials = rerecord_run(run_input, reading.records, reading.elsewhere)
        link_artefacts(trials, reading.artefacts)
        apply_observations(run_input.id)
        refresh_noise(run_input.id)
        changes = changes_between(old, trials)
        rereading = _record_rereading(locked, reading.parser_version, changes=changes)
        _finish(locked, reading)
    return rereading


def _own_trials(upload: Upload, ordinals: Sequence[int]) -> QuerySet[Trial]:
    """The trials that a reading of this upload replaces."""
    rows = Trial.objects.filter(run=run_input_of(upload).id)
    early = [entry.ordinal for entry in envelope_of(upload).entries if entry.upload]
    is_early = envelope_of(upload).is_early
    return rows.filter(ordinal__in=ordinals) if is_early else rows.exclude(ordinal__in=early)


def _record_rereading(
    upload: Upload,
    version: str,
    *,
    changes: Sequence[Change] = (),
    refused: str = "",
    stopped: str = "",
) -> Rereading:
    return Rereading.objects.create(
        upload=upload,
        from_version=upload.parser_version,
        to_version=version,
        changes=[asdict(change) for change in changes],
        refused=refused,
        stopped=stopped,
    )


def _finish(upload: Upload, reading: Reading) -> None:
    upload.state = State.PARSED
    upload.reason = reading.reason
    upload.parser_version = reading.parser_version
    upload.save(update_fields=["state", "reason", "parser_version"])


def _read_first(upload: Upload) -> Rereading:
    """Put an upload that could not be read through the queue again.

    Raises NotEnded where the parser died, or storage or database were down: the workers try again.
    """
    before = upload.parser_version
    queue.reopen(upload.pk)
    process(upload.pk)
    upload.refresh_from_db()
    if not upload.is_ended:
        raise NotEnded(str(upload.pk))
    upload.parser_version, after = before, upload.parser_version or PARSER_VERSION
    refused = "" if upload.state == State.PARSED else upload.reason
    trials = Trial.objects.filter(artefacts__upload=upload).distinct()
    changes = [] if refused else changes_between([], list(trials))
    return _record_rereading(upload, after, changes=changes, refused=refused)
