"""Claiming what is due: one upload, or several small ones that one worker reads together.

A small upload is read in a millisecond, and a claim takes as long. So further small uploads are
claimed together with the small upload whose turn it is: uploads behind it, and uploads of other
payers that wait. Each payer gets an equal share, however many of its uploads wait.
"""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction

from backend.ingest.models import State, Upload
from backend.ingest.queue.queue import (
    FAULTS_OF_AN_ATTEMPT,
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    Claim,
    give_back_owed,
    take,
)
from backend.ingest.queue.turn_statement import SINCE_INTERACTIVE
from backend.ingest.queue.turns import Head, heads_of_queues, lock_turns, note_turns

# Claimed together. What another workspace uploads meanwhile waits until they are recorded; a batch
# takes 50 ms, less than a worker needs to hear of an upload.
TOGETHER = 32
_IN_QUEUE = """
    state = 'received' AND NOT upload.is_slow AND upload.workspace_id = workspace.id
    AND retry_at IS NULL
"""
# The beginning of each queue, without what is not small: so no queue is searched through.
_COMPANY = f"""
    SELECT other.id, other.workspace_id, other.fence, other.attempts, other.faults, FALSE
    FROM unnest(%s::uuid[]) WITH ORDINALITY AS workspace (id, place)
    CROSS JOIN LATERAL (
        SELECT waiting.id, min(since) AS since FROM (
            (SELECT id, {SINCE_INTERACTIVE} AS since FROM ingest_upload AS upload
             WHERE {_IN_QUEUE} AND is_interactive ORDER BY received_at LIMIT %s)
            UNION ALL
            (SELECT id, received_at FROM ingest_upload AS upload
             WHERE {_IN_QUEUE} ORDER BY retry_at, received_at LIMIT %s)
        ) AS waiting GROUP BY waiting.id ORDER BY since LIMIT %s
    ) AS beginning
    JOIN ingest_upload AS other ON other.id = beginning.id
    WHERE other.state = 'received' AND other.is_small AND other.attempts = 0
      AND other.faults = 0 AND other.id <> %s
    ORDER BY workspace.place, beginning.since LIMIT %s FOR UPDATE OF other SKIP LOCKED
    """  # noqa: S608  our own conditions


def claim_due(most: int = TOGETHER) -> list[list[Claim]]:
    """Take the upload whose turn it is, and where it is small up to `most` small ones in all.

    The claims of each workspace, first those of the workspace whose turn it is. Empty if nothing
    is due.
    """
    give_back_owed()
    # One transaction: a claim that is lost on the way back was never made.
    with transaction.atomic():
        lock_turns()
        heads = heads_of_queues(
            first_pause_s=FIRST_PAUSE_S,
            longest_pause_s=LONGEST_PAUSE_S,
            faults_of_an_attempt=FAULTS_OF_AN_ATTEMPT,
        )
        first = _lock_first(heads)
        if first is None:
            return []
        uploads = [first]
        if most > 1 and _may_be_read_together(first):
            others = {head.workspace_id for head in heads} - {first.workspace_id}
            uploads += _company_of(first, [first.workspace_id, *others], most=most)
        served = {upload.workspace_id for upload in uploads}
        note_turns([head for head in heads if head.workspace_id in served], is_slow=first.is_slow)
        return _by_workspace(uploads)


def _by_workspace(uploads: Sequence[Upload]) -> list[list[Claim]]:
    groups: dict[UUID, list[Claim]] = defaultdict(list)
    for upload, held in zip(uploads, take(uploads), strict=True):
        groups[upload.workspace_id].append(held)
    return list(groups.values())


def _lock_first(heads: Sequence[Head]) -> Upload | None:
    """The first that no removal has locked."""
    for head in heads:
        rows = Upload.objects.filter(pk=head.upload_id, state=State.RECEIVED)
        upload = rows.select_for_update(skip_locked=True).first()
        if upload is not None:
            return upload
    return None


def _may_be_read_together(upload: Upload) -> bool:
    """Whether the upload had no fault yet. It may have caused the fault, so it is then read
    alone."""
    is_first_time = upload.attempts == 0 and upload.faults == 0 and upload.retry_at is None
    return upload.is_small and is_first_time and not upload.is_slow


def _company_of(first: Upload, workspace_ids: Sequence[UUID], *, most: int) -> list[Upload]:
    """Small uploads to read with `first`, locked: of each workspace at most an equal share."""
    share = -(-most // len(workspace_ids))
    with connection.cursor() as cursor:
        cursor.execute(_COMPANY, [list(workspace_ids), share, share, share, first.pk, most - 1])
        names = ("id", "workspace_id", "fence", "attempts", "faults", "is_slow")
        return [Upload(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
