"""Reading one upload: parse in the child, record the run, end the row. One transaction writes
result and state together, under the claim's fence."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.db import transaction

from backend import log_context
from backend.errors import WorkFailed
from backend.formats.model import ReadTrial
from backend.ingest import queue
from backend.ingest.answers import Answers
from backend.ingest.envelope import Envelope, TrialEntry, known_members, read_envelope
from backend.ingest.evidence import hash_of_output
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.parse_child import trial_of
from backend.ingest.signals import runs_read
from backend.noise.record import refresh_noise
from backend.runs.bulk import copy_rows
from backend.runs.measured import UNKNOWN_SERVER, TrialRecord
from backend.runs.models import Trial
from backend.runs.names import is_unknown
from backend.runs.observations import apply_observations
from backend.runs.record import RunInput, record_early, record_run

# What a shell interprets.
SHELL_MARKS = ("|", "&", ";", "<", ">", "`", "$(", "\n")


# Members of the envelope's run that mean the same in a RunInput; its defaults where left out.
RUN_MEMBERS = (
    *("started_at", "finished_at", "interrupted", "plan", "plan_sha256"),
    *("seed", "stopped", "trials_planned", "notes"),
)
RUN_MEMBERS_AS_SENT = ("events", "max_rates", "session")


class NothingRead(WorkFailed):
    """No trial of the upload could be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: records with the artefacts behind each, and the parser that read them."""

    records: Sequence[TrialRecord]
    artefacts: Sequence[Sequence[Artefact]]
    refusals: Sequence[str]
    # How many results were looked for: those of the records, and those that gave none.
    total: int
    parser_version: str
    # Trials that came early, as they are recorded if that upload was not read.
    elsewhere: Sequence[TrialRecord] = ()

    @property
    def has_results(self) -> bool:
        return any(record.reading is not None for record in self.records)

    @property
    def reason(self) -> str:
        """The end state's words: empty where everything was read."""
        if not self.refusals:
            return ""
        return f"{len(self.refusals)} of {self.total} could not be read: {self.refusals[0]}"


def read_and_record(held: queue.Claim, *, meanwhile: Callable[[], None]) -> None:
    """Read the claimed upload and end its row.

    `meanwhile` is called before each trial is read and before it is written, and every second while
    the parser works. Raises ClaimLost, RunElsewhere, and as read_upload.
    """
    upload = Upload.objects.select_related("workspace", "author").get(pk=held.upload_id)
    log_context.add(workspace=str(upload.workspace_id))
    reading = read_upload(upload, meanwhile=meanwhile)
    with transaction.atomic():
        locked = queue.lock_claimed(held)
        run_input, is_early = run_input_of(locked), envelope_of(locked).is_early
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


def read_upload(upload: Upload, *, meanwhile: Callable[[], None] = lambda: None) -> Reading:
    """What this version's parser reads in the artefacts; raises NothingRead and ParserFailed.

    `meanwhile` is called before each trial and every second while the parser works.
    """
    artefacts = list(upload.artefacts.all())
    envelope = envelope_of(upload)
    with Answers(meanwhile) as answers:
        if envelope.entries:
            return _read_plan(envelope, artefacts, answers)
        return read_plain(envelope, artefacts, answers, tool=upload.tool_hint)


def envelope_of(upload: Upload) -> Envelope:
    """The envelope as it was received."""
    return read_envelope(upload.envelope) if upload.envelope else Envelope()


def run_input_of(upload: Upload) -> RunInput:
    """What the envelope says of the run as a whole."""
    envelope = envelope_of(upload)
    run = known_members(envelope.run)
    return RunInput(
        id=envelope.run_id or upload.pk,
        workspace=upload.workspace,
        author=upload.author,
        same_host=envelope.same_host,
        labels=_labels(run.get("labels", {})),
        server_host=known_members(envelope.hosts and envelope.hosts.server),
        client_host=known_members(envelope.hosts and envelope.hosts.client),
        agent=known_members(envelope.agent),
        server_tails={name: tail for name, tail in run.get("server_tails", {}).items() if tail},
        **{name: run[name] for name in RUN_MEMBERS if name in run},
        **_members_as_sent(upload),
    )


def _members_as_sent(upload: Upload) -> dict[str, Any]:
    """The members that are stored as they came, including what this version does not know."""
    run = (upload.envelope or {}).get("run") or {}
    return {name: run[name] for name in RUN_MEMBERS_AS_SENT if run.get(name)}


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


def _read_plan(envelope: Envelope, artefacts: Sequence[Artefact], answers: Answers) -> Reading:
    """Read each trial of the envelope from its own artefacts; a trial that cannot be read is
    recorded as failed."""
    artefacts_by_name = {artefact.name: artefact for artefact in artefacts}
    records, groups, refusals, version = [], [], [], ""
    elsewhere = [_early_not_read(entry) for entry in envelope.entries if entry.upload]
    for entry in filter(_is_here, envelope.entries):
        group = _artefacts_of(entry, artefacts_by_name)
        answer = answers.to(group, tool=_tool_asked(entry))
        version = answer.get("version", version)
        trial, refusal = _only_trial(answer)
        if refusal and not entry.error:
            refusals.append(refusal)
        record = _planned_record(entry, trial, refusal)
        records.append(replace(record, output_sha256=hash_of_output(group)))
        groups.append(group)
    reading = Reading(records, groups, refusals, len(records), version, elsewhere)
    # Early trials, and the rest of their run, are no hole in it even without a result.
    if not (envelope.is_early or elsewhere):
        _require_results(reading)
    return reading


def _artefacts_of(entry: TrialEntry, by_name: Mapping[str, Artefact]) -> list[Artefact]:
    return [by_name[name] for name in entry.artefacts or ()]


def _tool_asked(entry: TrialEntry) -> str:
    return str(known_members(entry.load).get("tool") or "")


def _require_results(reading: Reading) -> None:
    if not reading.has_results:
        refusal = next(iter(reading.refusals), "No trial of this upload has a result.")
        raise NothingRead(refusal)


def _is_here(entry: TrialEntry) -> bool:
    """Whether the trial's output is in this upload, not in one that came early."""
    return not entry.upload


def _early_not_read(entry: TrialEntry) -> TrialRecord:
    reason = f"Its output is in upload {entry.upload}, which was not read."
    return _planned_record(entry, None, reason)


def _only_trial(answer: dict[str, Any]) -> tuple[ReadTrial | None, str]:
    """The one trial of an answer, or why there is none."""
    entries = answer.get("entries") or []
    if len(entries) > 1:
        return None, f"The artefacts of one trial have {len(entries)} results; expected one."
    if not entries:
        return None, answer.get("refused") or "This trial has no artefacts."
    (entry,) = entries
    return (trial_of(entry), "") if "trial" in entry else (None, entry["refused"])


def _planned_record(entry: TrialEntry, trial: ReadTrial | None, refusal: str) -> TrialRecord:
    return TrialRecord(
        ordinal=entry.ordinal,
        server={"name": UNKNOWN_SERVER, **_with_values(known_members(entry.server))},
        workload={"name": "unknown workload", **_with_values(known_members(entry.workload))},
        load=known_members(entry.load),
        reading=trial,
        repeat=entry.repeat,
        warmup=bool(entry.warmup),
        command=entry.command or (),
        started_at=entry.started_at,
        finished_at=entry.finished_at,
        exit_code=entry.exit_code,
        error=entry.error or refusal,
        resources=entry.resources or {},
        phase=entry.phase,
        glance=entry.glance or {},
        server_tail=entry.server_tail or "",
    )


def read_plain(
    envelope: Envelope, artefacts: Sequence[Artefact], answers: Answers, *, tool: str
) -> Reading:
    """An upload without a plan: each file alone, each result in it a trial."""
    records: list[TrialRecord] = []
    groups: list[list[Artefact]] = []
    refusals: list[str] = []
    version = ""
    for artefact in artefacts:
        answer = answers.to([artefact], tool=tool)
        version = answer.get("version", version)
        if "refused" in answer:
            refusals.append(f"{artefact.name}: {answer['refused']}")
        for place, entry in enumerate(answer.get("entries") or []):
            if "refused" in entry:
                refusals.append(f"{artefact.name}: {entry['refused']}")
                continue
            record = plain_record(len(records), trial_of(entry), envelope)
            records.append(replace(record, output_sha256=hash_of_output([artefact], place)))
            groups.append([artefact])
    if not records:
        raise NothingRead(refusals[0] if refusals else "This upload has no files.")
    return Reading(records, groups, refusals, len(records) + len(refusals), version)


def plain_record(ordinal: int, trial: ReadTrial, envelope: Envelope) -> TrialRecord:
    """A result of a file without a plan: what its output says, and what the sender said of it."""
    url = _split(trial.parsed.url or "")
    target = f"{UNKNOWN_SERVER} at {url.netloc}" if url.netloc else UNKNOWN_SERVER
    return TrialRecord(
        ordinal=ordinal,
        server={
            "name": target[:200],
            **trial.parsed.server,
            **_with_values(known_members(envelope.server)),
        },
        workload={
            "name": (url.path or "unknown workload")[:200],
            "path": url.path[:2000] or None,
            "keepalive": trial.parsed.keepalive,
            "tls": {"http": False, "https": True}.get(url.scheme),
            **trial.parsed.workload,
            **_with_values(known_members(envelope.workload)),
        },
        load={},
        reading=trial,
        warmup=trial.parsed.is_warmup,
        command=_words(trial.parsed.command),
    )


def _split(url: str) -> SplitResult:
    """The parts of a URL; without any where it is none, such as `http://[host]/`."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _words(command: str) -> Sequence[str]:
    """The words of a command; none where a shell would do more than start it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ()
    return () if any(mark in command for mark in SHELL_MARKS) else words


def _with_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say something: an empty text does not."""
    return {name: value for name, value in fields.items() if not is_unknown(value)}


def _labels(given: Mapping[str, Any]) -> dict[str, str]:
    """Labels are texts, so that a link can ask for them: 1 is "1", true is "true", null is none."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in given.items()
        if value is not None
    }
