"""Reading several small uploads together: one message to the parser, one transaction to record.

Uploads that were claimed together stay separate: each file is read under its own limits, a parser
that dies says which upload it was reading, and what goes wrong while a batch is recorded writes
nothing, so that each of its uploads can be read alone.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import prefetch_related_objects

from backend.ingest.models import Artefact, State, Upload
from backend.ingest.queue.process import link_artefacts, run_input_of
from backend.ingest.queue.queue import Claim
from backend.ingest.reading.reading import Reading, envelope_of, read_plain
from backend.ingest.signals import runs_read
from backend.noise.record import refresh_noise
from backend.runs.recording.observations import apply_observations
from backend.runs.recording.record_new import NewRun, record_new_runs
from backend.runs.registry.registry import lock_names
from backend.storage import open_artefact
from backend.storage.rows import contents_of
from backend.untrusted.sandbox.sandbox import LocalArtefact, Question, sandbox


@dataclass(frozen=True, slots=True)
class Member:
    """One upload of a batch: its claim, its row and its files."""

    held: Claim
    upload: Upload
    artefacts: Sequence[Artefact]


@dataclass(slots=True)
class Batch:
    """What came of reading a batch. A claim is in one of these, or its upload was removed."""

    readings: list[tuple[Member, Reading]] = field(default_factory=list)
    # Each with what was wrong with it.
    refused: list[tuple[Claim, Exception]] = field(default_factory=list)
    # Not looked at, because the parser stopped at an earlier one.
    unread: list[Claim] = field(default_factory=list)
    # How long reading took.
    read_s: float = 0.0


def read_batch(claims: Sequence[Claim], *, meanwhile: Callable[[], None]) -> Batch:
    """Read uploads of one workspace that were claimed together.

    `meanwhile` is called before each upload, and every second while the parser works. What it
    raises, and what the parser raises, is held against the upload that is being read; those behind
    it are left unread. Raises what database and storage raise before anything is read.
    """
    batch, started = Batch(), time.monotonic()
    waiting = _members(claims)
    # Closed in any case: an answer that stays unread would be taken for that of the next upload.
    with closing(sandbox().read_each(_questions(waiting), meanwhile=meanwhile)) as answers:
        while waiting:
            member = waiting.pop(0)
            try:
                meanwhile()
                own_answers = [next(answers) for _ in member.artefacts]
            except Exception as fault:
                batch.refused.append((member.held, fault))
                batch.unread += [each.held for each in waiting]
                break
            _add(batch, member, own_answers)
    batch.read_s = time.monotonic() - started
    return batch


def _add(batch: Batch, member: Member, answers: Sequence[dict[str, Any]]) -> None:
    try:
        reading = read_plain(envelope_of(member.upload), member.artefacts, answers)
    except Exception as fault:
        # Whatever it is, it is about this upload alone.
        batch.refused.append((member.held, fault))
    else:
        batch.readings.append((member, reading))


def _members(claims: Sequence[Claim]) -> list[Member]:
    """The uploads with their files, without those that were removed meanwhile."""
    ids = [held.upload_id for held in claims]
    rows = Upload.objects.raw("SELECT * FROM ingest_upload WHERE id = ANY(%s)", [ids])
    uploads = {upload.pk: upload for upload in rows}
    prefetch_related_objects(list(uploads.values()), "workspace", "author")
    artefacts = defaultdict(list)
    for artefact in Artefact.objects.raw(
        "SELECT * FROM ingest_artefact WHERE upload_id = ANY(%s) ORDER BY position", [ids]
    ):
        artefacts[artefact.upload_id].append(artefact)
    return [
        Member(held, uploads[held.upload_id], artefacts[held.upload_id])
        for held in claims
        if held.upload_id in uploads
    ]


def _questions(members: Sequence[Member]) -> list[Question]:
    """One for each file, in order."""
    artefacts = [(each, member.upload.tool_hint) for member in members for each in member.artefacts]
    contents = contents_of(artefact.sha256 for artefact, _ in artefacts)
    questions = []
    for artefact, tool in artefacts:
        if artefact.sha256 not in contents:
            with open_artefact(artefact.sha256) as stored:
                contents[artefact.sha256] = stored.read()
        # As Latin-1 any bytes are a text, and the same bytes again.
        text = contents[artefact.sha256].decode("latin-1")
        questions.append(Question([LocalArtefact(artefact.name, text=text)], tool))
    return questions


def record_batch(readings: Sequence[tuple[Member, Reading]]) -> int:
    """Write the runs of one workspace, and end their uploads; those whose claim is lost are left
    out. Returns how many were written. Raises NotNew where a run is stored already; nothing is
    written then.
    """
    with transaction.atomic():
        # Before the rows of the uploads, as whoever deletes a run does.
        for member, _ in readings[:1]:
            lock_names(member.upload.workspace)
        held_ids = _lock_held([member.held for member, _ in readings])
        kept = [pair for pair in readings if pair[0].held.upload_id in held_ids]
        if not kept:
            return 0
        runs = [
            NewRun(run_input_of(member.upload, reading.archive), reading.records)
            for member, reading in kept
        ]
        trials = record_new_runs(kept[0][0].upload.workspace, runs)
        artefacts = [group for _, reading in kept for group in reading.artefacts]
        link_artefacts(list(chain.from_iterable(trials)), artefacts)
        run_ids = [run.run_input.id for run in runs]
        _observe(run_ids)
        runs_read.send(None, workspace_id=kept[0][0].upload.workspace_id, run_ids=run_ids)
        _finish(kept, run_ids)
        return len(kept)


def _lock_held(claims: Sequence[Claim]) -> set[UUID]:
    """The uploads whose claims still hold, locked for the rest of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id FROM ingest_upload JOIN unnest(%s::uuid[], %s::int[]) AS held (id, fence)
                USING (id, fence)
            WHERE state = 'parsing' ORDER BY id FOR UPDATE OF ingest_upload
            """,
            [[held.upload_id for held in claims], [held.fence for held in claims]],
        )
        return {row[0] for row in cursor.fetchall()}


def _observe(run_ids: Sequence[UUID]) -> None:
    """A host may have been observed before the run came. Other new runs without hosts say nothing
    about the noise of a host."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT run FROM runs_observation WHERE run = ANY(%s)", [list(run_ids)]
        )
        observed = [row[0] for row in cursor.fetchall()]
    for run_id in observed:
        apply_observations(run_id)
        refresh_noise(run_id)


def _finish(readings: Sequence[tuple[Member, Reading]], run_ids: Sequence[UUID]) -> None:
    """End uploads whose rows are locked and whose claims hold."""
    columns: list[Any] = [
        [member.held.upload_id for member, _ in readings],
        list(run_ids),
        [reading.reason for _, reading in readings],
        [reading.parser_version for _, reading in readings],
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            UPDATE ingest_upload AS upload
            SET state = '{State.PARSED}', finished_at = statement_timestamp(), lease_until = NULL,
                run_id = read.run_id, reason = read.reason, parser_version = read.version
            FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::text[])
                AS read (upload_id, run_id, reason, version)
            WHERE upload.id = read.upload_id
            """,  # noqa: S608  the name of our own state
            columns,
        )
