"""What the artefacts of an upload give: records of trials, and why some could not be read.

The envelope says which trials there are; an upload without a plan has one for each result in its
files.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from backend.errors import WorkFailed
from backend.formats.archive_facts import NO_FACTS, ArchiveFacts
from backend.formats.read_trial import ReadTrial
from backend.formats.server_header import Product, read_product
from backend.ingest.envelope.envelope import Envelope, TrialEntry, given_members, read_envelope
from backend.ingest.models import Artefact, Upload
from backend.ingest.reading.answers import Answers
from backend.runs.measured.measured import NAMED_BY, UNKNOWN_SERVER, TrialRecord
from backend.runs.tables.names import MAX_TRIALS, is_unknown
from backend.untrusted.sandbox.child_answers import archive_of, trial_of

# What a shell interprets.
SHELL_MARKS = ("|", "&", ";", "<", ">", "`", "$(", "\n")
# More reasons of one upload are counted, and more places of one reason.
MAX_REASONS = 20
MAX_PLACES = 3
CUT_OFF = "the output ends before its report is complete. Its figures are not compared."


class NothingRead(WorkFailed):
    """No trial of the upload could be read; the message says why."""


class Refusal(NamedTuple):
    """A result that could not be read: the trial or the file, and why."""

    place: str
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: records with the artefacts behind each, and the parser that read them."""

    records: Sequence[TrialRecord]
    artefacts: Sequence[Sequence[Artefact]]
    refusals: Sequence[Refusal]
    # How many results were looked for: those of the records, and those that gave none.
    total: int
    parser_version: str
    # Trials that came early, as they are recorded if that upload was not read.
    elsewhere: Sequence[TrialRecord] = ()
    # Of an upload that is an archive of results.
    archive: ArchiveFacts = NO_FACTS

    @property
    def has_results(self) -> bool:
        return any(record.reading is not None for record in self.records)

    @property
    def reason(self) -> str:
        """How many results could not be read, and below it why, a line for each different refusal;
        the same of results that were cut off. Empty where everything was read."""
        lines = []
        if self.refusals:
            lines.append(f"{len(self.refusals)} of {self.total} results could not be read.")
            lines += _reason_lines(self.refusals)
        if cut := self._cut_off():
            noun = "result" if self.total == 1 else "results"
            lines.append(f"Partly read: {len(cut)} of {self.total} {noun}.")
            lines += _reason_lines(cut)
        return "\n".join(lines)

    def _cut_off(self) -> list[Refusal]:
        """The results whose output ends early, by their files. Failed trials say so themselves."""
        pairs = zip(self.records, self.artefacts, strict=True)
        return [
            Refusal(artefacts[0].name, CUT_OFF)
            for record, artefacts in pairs
            if artefacts and record.parsed.incomplete and not (record.warmup or record.error)
        ]


def _reason_lines(refusals: Sequence[Refusal]) -> list[str]:
    """A line for each different reason, with its places."""
    places: dict[str, list[str]] = {}
    for refusal in refusals:
        places.setdefault(" ".join(refusal.why.split()), []).append(refusal.place)
    lines = [f"{_joined(own)}: {why}" for why, own in places.items()][:MAX_REASONS]
    if len(places) > MAX_REASONS:
        lines.append(f"More reasons, not listed: {len(places) - MAX_REASONS}.")
    return lines


def _joined(places: Sequence[str]) -> str:
    """`Trial 3, Trial 4, Trial 9 and 97 more`."""
    different = [" ".join(place.split()) for place in dict.fromkeys(places)]
    more = len(different) - MAX_PLACES
    return ", ".join(different[:MAX_PLACES]) + (f" and {more} more" if more > 0 else "")


def read_upload(upload: Upload, *, meanwhile: Callable[[], None] = lambda: None) -> Reading:
    """What this version's parser reads in the artefacts; raises NothingRead and ParserFailed.

    `meanwhile` is called before each trial and every second while the parser works.
    """
    artefacts = list(upload.artefacts.all())
    envelope = envelope_of(upload)
    with Answers(meanwhile) as answers:
        if envelope.entries:
            return _read_plan(envelope, artefacts, answers)
        given = (answers.to([artefact], tool=upload.tool_hint) for artefact in artefacts)
        return read_plain(envelope, artefacts, given)


def envelope_of(upload: Upload) -> Envelope:
    """The envelope as it was received."""
    return read_envelope(upload.envelope) if upload.envelope else Envelope()


def _read_plan(envelope: Envelope, artefacts: Sequence[Artefact], answers: Answers) -> Reading:
    """Read each trial of the envelope from its own artefacts; a trial that cannot be read is
    recorded as failed."""
    artefacts_by_name = {artefact.name: artefact for artefact in artefacts}
    records, groups, refusals, version = [], [], [], ""
    elsewhere = [_early_not_read(entry) for entry in envelope.entries if entry.upload]
    entries = list(filter(_is_here, envelope.entries))
    own = [_artefacts_of(entry, artefacts_by_name) for entry in entries]
    answers.ask_ahead(list(zip(own, map(_tool_asked, entries), strict=True)))
    for entry, group in zip(entries, own, strict=True):
        answer = answers.to(group, tool=_tool_asked(entry))
        version = answer.get("version", version)
        trial, refusal = _only_trial(answer)
        place = f"Trial {entry.ordinal}"
        if refusal and not entry.error:
            refusals.append(Refusal(place, refusal))
        refusals += _rests_of(answer, place)
        records.append(_planned_record(entry, trial, refusal))
        groups.append(group)
    reading = Reading(records, groups, refusals, len(records), version, elsewhere)
    # Early trials, and the rest of their run, are no hole in it even without a result.
    if not (envelope.is_early or elsewhere):
        _require_results(reading)
    return reading


def _artefacts_of(entry: TrialEntry, by_name: Mapping[str, Artefact]) -> list[Artefact]:
    return [by_name[name] for name in entry.artefacts or ()]


def _tool_asked(entry: TrialEntry) -> str:
    return str(given_members(entry.load).get("tool") or "")


def _require_results(reading: Reading) -> None:
    if not reading.has_results:
        refusal = next(iter(reading.refusals), "No trial of this upload has a result.")
        raise NothingRead(str(refusal))


def _is_here(entry: TrialEntry) -> bool:
    """Whether the trial's output is in this upload, not in one that came early."""
    return not entry.upload


def _early_not_read(entry: TrialEntry) -> TrialRecord:
    reason = f"Its output is in upload {entry.upload}, which is not read yet, or failed."
    return _planned_record(entry, None, reason)


def _only_trial(answer: dict[str, Any]) -> tuple[ReadTrial | None, str]:
    """The one trial of an answer, or why there is none."""
    entries = [entry for entry in answer.get("entries") or [] if not entry.get("is_rest")]
    if len(entries) > 1:
        return None, f"The artefacts of one trial have {len(entries)} results; expected one."
    if not entries:
        return None, answer.get("refused") or "This trial has no artefacts."
    (entry,) = entries
    return (trial_of(entry), "") if "trial" in entry else (None, entry["refused"])


def _rests_of(answer: dict[str, Any], place: str) -> list[Refusal]:
    """What of the outputs looks like output and is no result."""
    entries = answer.get("entries") or []
    rests = [entry["refused"] for entry in entries if entry.get("is_rest")]
    # Beside a trial: else the output is refused as a whole.
    return [Refusal(place, why) for why in rests] if len(rests) < len(entries) else []


def _planned_record(entry: TrialEntry, trial: ReadTrial | None, refusal: str) -> TrialRecord:
    return TrialRecord(
        ordinal=entry.ordinal,
        server={"name": UNKNOWN_SERVER, **_with_values(given_members(entry.server))},
        workload={"name": "unknown workload", **_with_values(given_members(entry.workload))},
        load=given_members(entry.load),
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
    envelope: Envelope, artefacts: Sequence[Artefact], answers: Iterable[dict[str, Any]]
) -> Reading:
    """An upload without a plan: each file alone, with its answer; each result in it a trial."""
    records: list[TrialRecord] = []
    groups: list[list[Artefact]] = []
    refusals: list[Refusal] = []
    version, archive = "", NO_FACTS
    for artefact, answer in zip(artefacts, answers, strict=True):
        version = answer.get("version", version)
        archive = archive_of(answer) if len(artefacts) == 1 else NO_FACTS
        if "refused" in answer:
            refusals.append(Refusal(artefact.name, answer["refused"]))
        for entry in answer.get("entries") or []:
            if "refused" in entry:
                refusals.append(Refusal(artefact.name, entry["refused"]))
                continue
            records.append(plain_record(len(records), trial_of(entry), envelope))
            groups.append([artefact])
        if len(records) > MAX_TRIALS:
            raise NothingRead(
                f"The files of this upload have more than {MAX_TRIALS:,} results, the limit. Send "
                "them as several uploads."
            )
    if not records:
        raise NothingRead(str(refusals[0]) if refusals else "This upload has no files.")
    total = len(records) + len(refusals)
    return Reading(records, groups, refusals, total, version, archive=archive)


def plain_record(ordinal: int, trial: ReadTrial, envelope: Envelope) -> TrialRecord:
    """A result of a file without a plan: what its output says, and what the sender said of it."""
    url = _split(trial.parsed.url or "")
    described = {**trial.parsed.server, **_with_values(given_members(envelope.server))}
    return TrialRecord(
        ordinal=ordinal,
        server=_server_of(described, read_product(trial.parsed.server_software), url.netloc),
        workload={
            "name": (url.path or "unknown workload")[:200],
            "path": url.path[:2000] or None,
            "keepalive": trial.parsed.keepalive,
            "tls": {"http": False, "https": True}.get(url.scheme),
            **trial.parsed.workload,
            **_with_values(given_members(envelope.workload)),
        },
        load={},
        reading=trial,
        warmup=trial.parsed.is_warmup,
        command=_words(trial.parsed.command),
    )


def _server_of(
    described: Mapping[str, Any], product: Product | None, address: str
) -> Mapping[str, Any]:
    """The server as `described`. Where that is no name, its answers name it.

    Servers of one name at several addresses may be different ones, such as two behind one proxy. So
    the address stays a part of a server that nobody named.
    """
    if "name" in described:
        is_same = product is not None and product.name.casefold() == described["name"].casefold()
        return {"version": product.version, **described} if product and is_same else described
    if product is None:
        name = f"{UNKNOWN_SERVER} at {address}" if address else UNKNOWN_SERVER
        return {"name": name[:200], **described}
    settings = {"address": address[:200]} if address else {}
    configuration = {**settings, NAMED_BY: "its answers", **(described.get("configuration") or {})}
    return {**product._asdict(), **described, "configuration": configuration}


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
