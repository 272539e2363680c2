"""Reading one upload: claim, parse in the child, record the run, end the row. One transaction
writes result and state together, under the claim's fence."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction

from backend.formats import PARSER_VERSION
from backend.formats.model import ReadTrial
from backend.ingest import queue
from backend.ingest.envelope import Envelope, RunPart, TrialEntry, read_envelope, said
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.parse_child import trial_of
from backend.ingest.sandbox import LocalArtefact, ParserFailed, sandbox
from backend.ingest.storage import StorageAway, storage
from backend.runs.measured import TrialRecord
from backend.runs.models import Trial
from backend.runs.observations import apply_observations
from backend.runs.record import RunElsewhere, RunFacts, record_early, record_run
from backend.runs.registry import is_unknown

log = logging.getLogger(__name__)

Ask = Callable[..., dict[str, Any]]
# After so long a worker ends its task, so that Celery can replace or stop it.
SHIFT_S = 30.0
# With pauses of up to a quarter hour: about four hours.
LOST_AFTER_FAULTS = 20


class NothingRead(Exception):
    """No trial of the upload could be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: records with the artefacts behind each, and the parser that read them."""

    records: Sequence[TrialRecord]
    artefacts: Sequence[Sequence[Artefact]]
    refusals: Sequence[str]
    parser_version: str
    # Trials that came early, as they are recorded if that upload was not read.
    elsewhere: Sequence[TrialRecord] = ()

    @property
    def reason(self) -> str:
        """The end state's words: empty where everything was read."""
        if not self.refusals:
            return ""
        total = len(self.records)
        return f"{len(self.refusals)} of {total} could not be read: {self.refusals[0]}"


def drain() -> None:
    """Read what is due, the oldest first, until nothing is or the shift is over."""
    queue.hint_arrived()
    ends = time.monotonic() + SHIFT_S
    is_first = True
    while (held := queue.claim()) is not None:
        # Where there was one there may be more, for another worker.
        if is_first:
            queue.hint()
        is_first = False
        _process(held)
        if time.monotonic() > ends:
            queue.hint()
            return


def process(upload_id: UUID) -> None:
    """Read this upload if it is due."""
    held = queue.claim(upload_id)
    if held is not None:
        _process(held)


def _process(held: queue.Claim) -> None:
    """A bad upload ends as failed; a passing fault is tried again."""
    upload_id = held.upload_id
    log.info("upload_claimed", extra={"upload": str(upload_id), "attempt": held.attempt})
    try:
        _read_and_record(held)
    except queue.ClaimLost:
        log.warning("claim_lost", extra={"upload": str(upload_id)})
    except (NothingRead, ParserFailed) as refused:
        queue.finish(held, State.FAILED, reason=str(refused), parser_version=PARSER_VERSION)
    except RunElsewhere as taken:
        reason = f"The run id {taken} is not one of this workspace. Give a measurement its own id."
        queue.finish(held, State.FAILED, reason=reason, parser_version=PARSER_VERSION)
    except MemoryError:
        # Celery would end the whole worker on this.
        queue.finish(held, State.FAILED, reason="Reading this upload needed too much memory.")
    except FileNotFoundError:
        _missing(held)
    except (StorageAway, OSError, *queue.DatabaseGone) as fault:
        log.warning("upload_postponed", extra={"upload": str(upload_id)}, exc_info=True)
        queue.postpone(held, reason=_what_was_away(fault))
    except Exception:
        log.exception("upload_not_processed", extra={"upload": str(upload_id)})
        queue.release(held)


def _missing(held: queue.Claim) -> None:
    # A volume that is not mounted looks just so: for some hours it may come back.
    if held.faults < LOST_AFTER_FAULTS:
        reason = "A stored file of this upload is missing. Is the storage mounted? Tried again."
        queue.postpone(held, reason=reason)
    else:
        queue.finish(held, State.FAILED, reason="A stored file of this upload is missing.")


def _what_was_away(fault: Exception) -> str:
    if isinstance(fault, StorageAway):
        what = "The storage was away"
    elif isinstance(fault, OSError):
        what = "The machine could not start the parser"
    else:
        what = "The database was away"
    said = " ".join(str(fault).split())[:300].rstrip(".")
    return f"{what} ({said}). The raw files are kept; reading them is tried again by itself."


def _read_and_record(held: queue.Claim) -> None:
    upload = Upload.objects.select_related("workspace", "author").get(pk=held.upload_id)
    reading = read_upload(upload, meanwhile=queue.Lease(held).renew)
    with transaction.atomic():
        locked = queue.lock_claimed(held)
        facts, is_early = run_facts(locked), envelope_of(locked).is_early
        if is_early:
            trials = record_early(facts, reading.records)
        else:
            trials = record_run(facts, reading.records, reading.elsewhere)
        link_artefacts(trials, reading.artefacts)
        apply_observations(facts.id)
        queue.finish(
            held,
            State.PARSED,
            reason=reading.reason,
            # A run has one upload that is its own; those of early trials name it in their envelope.
            run_id=None if is_early else facts.id,
            parser_version=reading.parser_version,
        )


def read_upload(upload: Upload, *, meanwhile: Callable[[], None] = lambda: None) -> Reading:
    """What the parser of now reads in the artefacts; raises NothingRead and ParserFailed.

    `meanwhile` is called before each trial and every few seconds while the parser works.
    """
    artefacts = list(upload.artefacts.all())
    envelope = envelope_of(upload)
    ask = partial(_ask, meanwhile=meanwhile)
    if envelope.entries:
        return _read_plan(envelope, artefacts, ask)
    return _read_plain(envelope, artefacts, ask, tool=upload.tool_hint)


def envelope_of(upload: Upload) -> Envelope:
    """The envelope as it was received."""
    return read_envelope(upload.envelope) if upload.envelope else Envelope()


def run_facts(upload: Upload) -> RunFacts:
    """What the envelope says of the run as a whole."""
    envelope = envelope_of(upload)
    run = envelope.run or RunPart()
    # These are kept as they came, with members that nobody here knows.
    sent = (upload.envelope or {}).get("run") or {}
    return RunFacts(
        id=envelope.run_id or upload.pk,
        workspace=upload.workspace,
        author=upload.author,
        started_at=run.started_at,
        finished_at=run.finished_at,
        interrupted=bool(run.interrupted),
        same_host=envelope.same_host,
        labels=_labels(run.labels or {}),
        plan=run.plan or "",
        plan_sha256=run.plan_sha256 or "",
        server_host=said(envelope.hosts and envelope.hosts.server),
        client_host=said(envelope.hosts and envelope.hosts.client),
        agent=said(envelope.agent),
        seed=run.seed,
        stopped=run.stopped or "",
        events=sent.get("events") or [],
        max_rates=sent.get("max_rates") or [],
        server_tails={name: tail for name, tail in (run.server_tails or {}).items() if tail},
        trials_planned=run.trials_planned,
        session=sent.get("session") or {},
    )


def link_artefacts(trials: Sequence[Trial], artefacts: Sequence[Sequence[Artefact]]) -> None:
    """Remember which artefacts stand behind which trial."""
    through = Artefact.trials.through
    through.objects.bulk_create(
        through(artefact_id=artefact.pk, trial_id=trial.pk)
        for trial, group in zip(trials, artefacts, strict=True)
        for artefact in group
    )


def _ask(
    artefacts: Sequence[Artefact], *, tool: str, meanwhile: Callable[[], None]
) -> dict[str, Any]:
    meanwhile()
    with ExitStack() as stack:
        local = [
            LocalArtefact(item.name, stack.enter_context(storage().local_path(item.sha256)))
            for item in artefacts
        ]
        return sandbox().read(local, tool=tool, meanwhile=meanwhile)


def _read_plan(envelope: Envelope, artefacts: Sequence[Artefact], ask: Ask) -> Reading:
    """Each trial of the envelope with its own artefacts; one that can't be read is no hole."""
    by_name = {item.name: item for item in artefacts}
    records, groups, refusals, version = [], [], [], ""
    elsewhere = [_early_not_read(entry) for entry in envelope.entries if entry.upload]
    for entry in envelope.entries:
        if entry.upload:
            continue
        group = [by_name[name] for name in entry.artefacts or ()]
        answer = ask(group, tool=str(said(entry.load).get("tool") or "")) if group else {}
        version = answer.get("version", version)
        trial, refusal = _only_trial(answer)
        if refusal and not entry.error:
            refusals.append(refusal)
        records.append(_planned_record(entry, trial, refusal))
        groups.append(group)
    is_empty = all(record.reading is None for record in records)
    # Early trials, and the rest of their run, are no hole in it even without a result.
    if is_empty and not envelope.is_early and not elsewhere:
        raise NothingRead(refusals[0] if refusals else "No trial of this upload has a result.")
    return Reading(records, groups, refusals, version, elsewhere)


def _early_not_read(entry: TrialEntry) -> TrialRecord:
    reason = f"Its output came as upload {entry.upload}, which has not been read."
    return _planned_record(entry, None, reason)


def _only_trial(answer: dict[str, Any]) -> tuple[ReadTrial | None, str]:
    """The one trial of an answer, or why there is none."""
    entries = answer.get("entries") or []
    if len(entries) > 1:
        return None, f"The artefacts of one trial hold {len(entries)} results; expected one."
    if not entries:
        return None, answer.get("refused") or "This trial has no artefacts."
    (entry,) = entries
    return (trial_of(entry), "") if "trial" in entry else (None, entry["refused"])


def _planned_record(entry: TrialEntry, trial: ReadTrial | None, refusal: str) -> TrialRecord:
    return TrialRecord(
        ordinal=entry.ordinal,
        server={"name": "unknown server", **_known(said(entry.server))},
        workload={"name": "unknown workload", **_known(said(entry.workload))},
        load=said(entry.load),
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


def _read_plain(
    envelope: Envelope, artefacts: Sequence[Artefact], ask: Ask, *, tool: str
) -> Reading:
    """An upload without a plan: each file alone, each result in it a trial."""
    records: list[TrialRecord] = []
    groups: list[list[Artefact]] = []
    refusals: list[str] = []
    version = ""
    for artefact in artefacts:
        answer = ask([artefact], tool=tool)
        version = answer.get("version", version)
        if "refused" in answer:
            refusals.append(f"{artefact.name}: {answer['refused']}")
        for entry in answer.get("entries") or []:
            if "refused" in entry:
                refusals.append(f"{artefact.name}: {entry['refused']}")
                continue
            records.append(plain_record(len(records), trial_of(entry), envelope))
            groups.append([artefact])
    if not records:
        raise NothingRead(refusals[0] if refusals else "This upload has no files.")
    return Reading(records, groups, refusals, version)


def plain_record(ordinal: int, trial: ReadTrial, envelope: Envelope) -> TrialRecord:
    """A result of a file without a plan: what its output says, and what the sender said of it."""
    url = urlsplit(trial.parsed.url or "")
    target = f"unknown server at {url.netloc}" if url.netloc else "unknown server"
    return TrialRecord(
        ordinal=ordinal,
        server={"name": target[:200], **_known(said(envelope.server))},
        workload={
            "name": (url.path or "unknown workload")[:200],
            "path": url.path[:2000] or None,
            "keepalive": trial.parsed.keepalive,
            "tls": {"http": False, "https": True}.get(url.scheme),
            **_known(said(envelope.workload)),
        },
        load={},
        reading=trial,
    )


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say something: an empty text does not."""
    return {name: value for name, value in fields.items() if not is_unknown(value)}


def _labels(given: Mapping[str, Any]) -> dict[str, str]:
    """Labels are texts, so that a link can ask for them: 1 is "1", true is "true", null is none."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in given.items()
        if value is not None
    }
