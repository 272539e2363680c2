"""The envelope an agent sends beside the artefacts: checked here, stored as it came.

A plain upload (`curl -F file=@ab.txt`) has none; it gets an empty envelope. Members that are not
listed here are kept and not looked at.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from backend.ingest.envelope.envelope_checks import (
    check_host,
    check_labels,
    check_maps,
    check_trials,
)
from backend.ingest.envelope.envelope_errors import EnvelopeError, error_of
from backend.ingest.envelope.envelope_times import by_service_clock
from backend.runs.tables.server_texts import SERVER_TEXTS
from backend.untrusted import limits

SCHEMA = 1
PHASES = ("warmup", "measure", "search", "confirm")
Name = Annotated[str, Meta(max_length=limits.NAME_LENGTH)]
Text = Annotated[str, Meta(max_length=limits.TEXT_LENGTH)]
Notes = Annotated[str, Meta(max_length=limits.NOTES_LENGTH)]
Plan = Annotated[str, Meta(max_length=limits.PLAN_LENGTH)]
Tail = Annotated[str, Meta(max_length=limits.TAIL_LENGTH)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Small = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Amount = Annotated[float, Meta(ge=0, lt=1e15)]
Value = Tail | int | float | bool | list[Any] | dict[str, Any] | None
Fields = Annotated[dict[Name, Value], Meta(max_length=limits.MAP_MEMBERS)]
Word = Annotated[str, Meta(max_length=limits.COMMAND_WORD_LENGTH)]
Words = Annotated[tuple[Word, ...], Meta(max_length=limits.COMMAND_WORDS)]


class Instant(datetime):
    """A time with its zone, in UTC."""

    @classmethod
    def read(cls, value: object) -> Instant:
        """Of ISO 8601; raises ValueError."""
        instant = cls.fromisoformat(cast(str, value))
        if instant.tzinfo is None:
            raise ValueError("no time zone")
        try:
            return instant.astimezone(UTC)
        except OverflowError:
            raise ValueError("in UTC, no year from 1 to 9999") from None


class Section(Struct, frozen=True):
    """A part of the envelope. Null is unknown, as if the member were left out."""


class Agent(Section, frozen=True):
    """The program that sent the upload."""

    name: Name | None = None
    version: Name | None = None
    hostname: Name | None = None


class Host(Section, frozen=True):
    """A machine, with whatever facts are known of it."""

    name: Name | None = None
    cpu_model: Name | None = None
    cores: Small | None = None
    memory_bytes: Count | None = None
    virtualisation: Annotated[str, Meta(max_length=100)] | None = None
    os: Name | None = None
    kernel: Name | None = None
    facts: Fields | None = None


class Hosts(Section, frozen=True, forbid_unknown_fields=True):
    """The machines of a run by role."""

    client: Host | None = None
    server: Host | None = None


if TYPE_CHECKING:
    _ServerTexts = Section
else:
    _ServerTexts = msgspec.defstruct(
        "_ServerTexts",
        [(text.name, Name | None, None) for text in SERVER_TEXTS],
        bases=(Section,),
        frozen=True,
    )


class Server(_ServerTexts, frozen=True):
    """The HTTP server that was measured; SERVER_TEXTS has its other members."""

    name: Name | None = None
    configuration: Fields | None = None


class Workload(Section, frozen=True):
    """The request that was sent again and again."""

    name: Name | None = None
    method: Annotated[str, Meta(max_length=20)] | None = None
    path: Text | None = None
    payload_bytes: Count | None = None
    body_bytes: Count | None = None
    body_sha256: Annotated[str, Meta(max_length=64)] | None = None
    keepalive: bool | None = None
    tls: bool | None = None
    headers: Fields | None = None


class Load(Section, frozen=True):
    """What the load tool was asked for."""

    tool: Annotated[str, Meta(max_length=40)] | None = None
    tool_version: Annotated[str, Meta(max_length=80)] | None = None
    loop: Literal["closed", "open"] | None = None
    connections: Small | None = None
    connections_asked: Small | None = None
    requests: Count | None = None
    threads: Count | None = None
    rate_rps: Amount | None = None
    duration_s: Amount | None = None
    # Of a server that the plan has twice, and which start of a server in this run it was.
    side: Literal["A", "B"] | None = None
    start: Small | None = None


class Event(Section, frozen=True):
    """What happened to a run besides its trials."""

    at: Instant | None = None
    kind: Annotated[str, Meta(max_length=60)] | None = None
    text: Text | None = None


class MaxRate(Section, frozen=True):
    """The highest rate that a search found."""

    server: Name | None = None
    workload: Name | None = None
    rate_rps: Amount | None = None
    confirmed: bool | None = None


class Session(Section, frozen=True):
    """Agents that carried out the plan together."""

    name: Annotated[str, Meta(max_length=100)] | None = None
    parts: Annotated[int, Meta(ge=2, le=1000)] | None = None


class RunPart(Section, frozen=True):
    """The run as a whole."""

    id: UUID | None = None
    started_at: Instant | None = None
    finished_at: Instant | None = None
    interrupted: bool | None = None
    stopped: Text | None = None
    plan: Plan | None = None
    plan_sha256: Annotated[str, Meta(max_length=64)] | None = None
    seed: Count | None = None
    trials_planned: Small | None = None
    labels: Annotated[dict[Name, Any], Meta(max_length=limits.LABELS)] | None = None
    notes: Notes | None = None
    session: Session | None = None
    events: Annotated[list[Event], Meta(max_length=limits.EVENTS)] | None = None
    max_rates: Annotated[list[MaxRate], Meta(max_length=limits.EVENTS)] | None = None
    server_tails: Annotated[dict[Name, Tail | None], Meta(max_length=limits.MAP_MEMBERS)] | None = (
        None
    )


class TrialEntry(Struct, frozen=True, rename={"given_ordinal": "ordinal"}):
    """One trial of the envelope: what was asked for, and which artefacts hold the answer."""

    given_ordinal: Small | None = None
    artefacts: Annotated[tuple[Name, ...], Meta(max_length=limits.TRIAL_ARTEFACTS)] | None = None
    server: Server | None = None
    workload: Workload | None = None
    load: Load | None = None
    repeat: Small | None = None
    warmup: bool | None = None
    command: Words | None = None
    started_at: Instant | None = None
    finished_at: Instant | None = None
    exit_code: Annotated[int, Meta(ge=-255, le=2**31 - 1)] | None = None
    error: Text | None = None
    resources: Fields | None = None
    # What the trial was for, the tool's own figures as the agent saw them, and what the server
    # printed last where it failed.
    phase: Literal["warmup", "measure", "search", "confirm"] | None = None
    glance: Fields | None = None
    server_tail: Tail | None = None
    # The upload that brought its artefacts, where the trial came early.
    upload: UUID | None = None

    @property
    def ordinal(self) -> int:
        """Its number in the run; by default its place in the list."""
        assert self.given_ordinal is not None
        return self.given_ordinal


class Envelope(Struct, frozen=True, rename={"upload_id": "id"}):
    """What an upload says about itself."""

    schema: int | None = SCHEMA
    upload_id: UUID | None = None
    agent: Agent | None = None
    run: RunPart | None = None
    hosts: Hosts | None = None
    same_host: bool | None = None
    trials: Annotated[tuple[TrialEntry, ...], Meta(max_length=limits.ENVELOPE_TRIALS)] | None = None
    # Of every result in the files, where no trials are listed.
    server: Server | None = None
    workload: Workload | None = None

    @property
    def run_id(self) -> UUID | None:
        """The run's, where it is said: other than the upload's where its trials come early."""
        return None if self.run is None else self.run.id

    @property
    def is_early(self) -> bool:
        return self.run_id is not None and self.run_id != self.upload_id

    @property
    def entries(self) -> tuple[TrialEntry, ...]:
        return self.trials or ()


def given_members(section: Section | None) -> dict[str, Any]:
    """The members of a section that are known, as JSON has them; none where it is left out."""
    members = {} if section is None else msgspec.structs.asdict(section)
    return {name: value for name, value in members.items() if value is not None}


def read_envelope(value: object) -> Envelope:
    """A decoded envelope, its times by the service's clock; raises EnvelopeError with the first
    thing that is wrong."""
    if not isinstance(value, dict):
        raise EnvelopeError("the envelope", value, "an object")
    if value.get("schema") != SCHEMA:
        raise EnvelopeError("schema", value.get("schema"), f"{SCHEMA}")
    envelope: Envelope = _convert(value, Envelope, "the envelope")
    check_labels(envelope)
    check_trials(envelope)
    check_maps(envelope)
    return by_service_clock(envelope)


def read_host(value: object, role: str) -> dict[str, Any]:
    """The known members of a host as an envelope describes it; raises EnvelopeError."""
    host = _convert(value, Host | None, f"hosts.{role}")
    check_host(host, f"hosts.{role}")
    return given_members(host)


def read_session(value: object) -> dict[str, Any]:
    """The known members of a run's session; raises EnvelopeError."""
    return given_members(_convert(value, Session, "run.session"))


def _convert(value: object, kind: Any, whole: str) -> Any:
    try:
        return msgspec.convert(value, kind, dec_hook=_read_instant)
    except msgspec.ValidationError as error:
        raise error_of(error, value, whole) from None


def _read_instant(kind: type, value: object) -> object:
    return kind.read(value) if issubclass(kind, Instant) else value


# Of a type it has not met, msgspec looks up the fields at the first use. Two threads that do so at
# the same time end the process by SIGSEGV, so the thread that imports this does it.
for _kind in (Envelope, Host):
    msgspec.json.Decoder(_kind)
