"""Reading one upload: parse in the child, record the run, end the row. One transaction writes
result and state together, under the claim's fence."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import transaction

from backend import log_context
from backend.formats.archive_facts import NO_FACTS, ArchiveFacts
from backend.ingest.envelope.envelope import Envelope, given_members
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.queue import queue
from backend.ingest.reading.reading import envelope_of, read_upload
from backend.ingest.signals import runs_read
from backend.noise.record import refresh_noise
from backend.runs.database.bulk import copy_rows
from backend.runs.models import Trial
from backend.runs.recording.observations import apply_observations
from backend.runs.recording.record import RunInput, record_early, record_run
from backend.runs.registry.registry import lock_names

# Members of the envelope's run that mean the same in a RunInput; its defaults where left out.
RUN_MEMBERS = (
    *("started_at", "finished_at", "interrupted", "plan", "plan_sha256"),
    *("seed", "stopped", "trials_planned", "notes"),
)
RUN_MEMBERS_AS_SENT = ("events", "max_rates")


def read_and_record(held: queue.Claim, *, meanwhile: Callable[[], None]) -> None:
    """Read the claimed upload and end its row.

    `meanwhile` is called before each trial is read and before it is written, and every second while
    the parser works. Raises ClaimLost, RunElsewhere, and as read_upload.
    """
    upload = Upload.objects.select_related("workspace", "author").get(pk=held.upload_id)
    log_context.add(workspace=str(upload.workspace_id))
    reading = read_upload(upload, meanwhile=meanwhile)
    with transaction.atomic():
        # Before the row of the upload, as whoever deletes a run does.
        lock_names(upload.workspace)
        locked = queue.lock_claimed(held)
        run_input, is_early = run_input_of(locked, reading.archive), envelope_of(locked).is_early
        if is_early:
            trials = record_early(run_input, reading.records, meanwhile=meanwhile)
        else:
            trials = record_run(run_input, reading.records, reading.elsewhere, meanwhile=meanwhile)
        link_artefacts(trials, reading.artefacts)
        mark_trashed(locked, trials)
        apply_observations(run_input.id)
        refresh_noise(run_input.id)
        if not is_early:
            runs_read.send(None, workspace_id=upload.workspace_id, run_ids=[run_input.id])
        queue.finish(
            held,
            State.PARSED,
            reason=reading.reason,
            # A run has one upload that is its own; those of early trials name it in their envelope.
            run_id=None if is_early else run_input.id,
            parser_version=reading.parser_version,
        )


def run_input_of(upload: Upload, archive: ArchiveFacts = NO_FACTS) -> RunInput:
    """What the envelope says of the run as a whole, and what the archive says beside it."""
    envelope = envelope_of(upload)
    run = given_members(envelope.run)
    return RunInput(
        id=envelope.run_id or upload.pk,
        workspace=upload.workspace,
        author=upload.author,
        same_host=envelope.same_host,
        labels=_labels(run.get("labels", {})),
        server_host=given_members(envelope.hosts and envelope.hosts.server) or archive.server_host,
        client_host=given_members(envelope.hosts and envelope.hosts.client),
        agent=given_members(envelope.agent),
        server_tails={name: tail for name, tail in run.get("server_tails", {}).items() if tail},
        session=given_members(run.get("session")),
        **{"notes": archive.notes, **{name: run[name] for name in RUN_MEMBERS if name in run}},
        **_members_as_sent(upload, envelope, archive),
    )


def _members_as_sent(upload: Upload, envelope: Envelope, archive: ArchiveFacts) -> dict[str, Any]:
    """The members that are stored as they came, including what this version does not know; the
    times of events by the service's clock.

    What the archive contradicts itself in or lacks follows the events, as the agent's importer
    sends it.
    """
    run = (upload.envelope or {}).get("run") or {}
    members = {name: run[name] for name in RUN_MEMBERS_AS_SENT if run.get(name)}
    remarks = [{"kind": "import", "text": text} for text in archive.remarks]
    read = (envelope.run and envelope.run.events) or []
    events = [
        {**sent, "at": event.at.isoformat().replace("+00:00", "Z")} if event.at else sent
        for sent, event in zip(members.get("events", ()), read, strict=True)
    ]
    return {**members, "events": [*events, *remarks]}


def mark_trashed(upload: Upload, trials: Sequence[Trial]) -> None:
    """Put an upload into the trash, where the run it came for is."""
    if any(trial.run.trashed_at is not None for trial in trials[:1]):
        Upload.objects.filter(pk=upload.pk).update(is_in_trash=True)


def link_artefacts(trials: Sequence[Trial], artefacts: Sequence[Sequence[Artefact]]) -> None:
    """Remember which artefacts stand behind which trial."""
    through = Artefact.trials.through
    rows = [
        through(artefact_id=artefact.pk, trial_id=trial.pk)
        for trial, group in zip(trials, artefacts, strict=True)
        for artefact in group
    ]
    copy_rows(through, rows)


def _labels(given: Mapping[str, Any]) -> dict[str, str]:
    """Labels are texts, so that a link can ask for them: 1 is "1", true is "true", null is none."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in given.items()
        if value is not None
    }
