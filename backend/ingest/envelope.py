"""The envelope an agent sends beside the artefacts: checked here, stored as it came.

A plain upload (`curl -F file=@ab.txt`) has none; it gets an empty envelope.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

SCHEMA = 1
MAX_TRIALS = 5000
MAX_TEXT = 2000
MAX_PLAN = 200_000
MAX_EVENTS = 2000
MAX_TAIL = 20_000
PHASES = ("warmup", "measure", "search", "confirm")
# Far above what an agent sends, far below what a JSON writer can recurse into.
MAX_DEPTH = 50


class EnvelopeError(ValueError):
    """The envelope is not as agreed: says where, what was got and what was expected."""

    def __init__(self, where: str, got: object, expected: str) -> None:
        shown = repr(got)
        shown = shown if len(shown) <= 80 else shown[:77] + "…"
        super().__init__(f"envelope: {where} is {shown}, expected {expected}.")


@dataclass(frozen=True, slots=True)
class TrialEntry:
    """One trial of the envelope: what was asked for, and which artefacts hold the answer."""

    ordinal: int
    artefacts: tuple[str, ...]
    server: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)
    repeat: int | None = None
    warmup: bool = False
    command: tuple[str, ...] = ()
    started_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int | None = None
    error: str = ""
    resources: Mapping[str, Any] = field(default_factory=dict)
    # What the trial was for, the tool's own figures as the agent saw them, and what the server
    # printed last where it failed.
    phase: str | None = None
    glance: Mapping[str, Any] = field(default_factory=dict)
    server_tail: str = ""
    # The upload that brought its artefacts, where the trial came early.
    upload: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """What an upload says about itself."""

    upload_id: uuid.UUID | None = None
    agent: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    hosts: Mapping[str, Any] = field(default_factory=dict)
    same_host: bool | None = None
    trials: tuple[TrialEntry, ...] = ()
    # Of every result in the files, where no trials are listed.
    server: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def run_id(self) -> uuid.UUID | None:
        """The run's, where it is said: other than the upload's where its trials come early."""
        return _uuid(self.run.get("id"), "run.id")

    @property
    def is_early(self) -> bool:
        return self.run_id is not None and self.run_id != self.upload_id

    @property
    def started_at(self) -> datetime | None:
        return instant(self.run, "started_at", "run")

    @property
    def finished_at(self) -> datetime | None:
        return instant(self.run, "finished_at", "run")


def read_envelope(value: object) -> Envelope:
    """Check a decoded envelope; raises EnvelopeError with the first thing that is wrong."""
    body = _mapping(value, "the envelope")
    if body.get("schema") != SCHEMA:
        raise EnvelopeError("schema", body.get("schema"), f"{SCHEMA}")
    _refuse_unstorable(body)
    run = _mapping(body.get("run") or {}, "run")
    _check_run(run)
    agent = _mapping(body.get("agent") or {}, "agent")
    for key in ("name", "version", "hostname"):
        text(agent, key, "agent", limit=200)
    hosts = _mapping(body.get("hosts") or {}, "hosts")
    for role, host in hosts.items():
        check_host(role, host)
    server = _mapping(body.get("server") or {}, "server")
    workload = _mapping(body.get("workload") or {}, "workload")
    _check_trial_parts("the envelope", server, workload, {})
    envelope = Envelope(
        upload_id=_uuid(body.get("id"), "id"),
        agent=agent,
        run=run,
        hosts=hosts,
        same_host=_optional(body, "same_host", bool, "the envelope"),
        trials=_trials(body.get("trials") or []),
        server=server,
        workload=workload,
    )
    # Reading the two dates now makes a bad one an error of the request, not of the worker.
    _ = envelope.started_at, envelope.finished_at, envelope.run_id
    return envelope


def _check_run(run: Mapping[str, Any]) -> None:
    text(run, "plan", "run", limit=MAX_PLAN)
    text(run, "stopped", "run")
    whole(run, "seed", "run")
    whole(run, "trials_planned", "run", most=2**31 - 1)
    session = _mapping(run.get("session") or {}, "run.session")
    text(session, "name", "run.session", limit=100)
    whole(session, "parts", "run.session", least=2, most=1000)
    for name, tail in _mapping(run.get("server_tails") or {}, "run.server_tails").items():
        text({name: tail}, name, "run.server_tails", limit=MAX_TAIL)
    _mapping(run.get("labels") or {}, "run.labels")
    for index, event in enumerate(_objects(run, "events", "run")):
        where = f"run.events[{index}]"
        instant(event, "at", where)
        text(event, "kind", where, limit=60)
        text(event, "text", where)
    for index, found in enumerate(_objects(run, "max_rates", "run")):
        where = f"run.max_rates[{index}]"
        text(found, "server", where, limit=200)
        text(found, "workload", where, limit=200)
        number(found, "rate_rps", where)
        _optional(found, "confirmed", bool, where)


def check_host(role: str, host: object) -> None:
    """A host as an envelope describes it; raises EnvelopeError."""
    _refuse_unstorable(host)
    if role not in ("client", "server"):
        raise EnvelopeError("hosts", role, "the roles client and server only")
    if host is None:
        return
    facts = _mapping(host, f"hosts.{role}")
    for key in ("name", "cpu_model", "virtualisation", "os", "kernel"):
        text(facts, key, f"hosts.{role}", limit=200)
    for key in ("cores", "memory_bytes"):
        whole(facts, key, f"hosts.{role}")
    _mapping(facts.get("facts") or {}, f"hosts.{role}.facts")


def _trials(value: object) -> tuple[TrialEntry, ...]:
    if not isinstance(value, list):
        raise EnvelopeError("trials", value, "a list")
    if len(value) > MAX_TRIALS:
        raise EnvelopeError("trials", f"{len(value)} trials", f"at most {MAX_TRIALS}")
    entries = tuple(_trial(item, index) for index, item in enumerate(value))
    ordinals = [entry.ordinal for entry in entries]
    if len(set(ordinals)) != len(ordinals):
        raise EnvelopeError("trials", "an ordinal used twice", "a different ordinal each")
    return entries


def _trial(value: object, index: int) -> TrialEntry:
    where = f"trials[{index}]"
    body = _mapping(value, where)
    server = _mapping(body.get("server") or {}, f"{where}.server")
    workload = _mapping(body.get("workload") or {}, f"{where}.workload")
    load = _mapping(body.get("load") or {}, f"{where}.load")
    _check_trial_parts(where, server, workload, load)
    ordinal = whole(body, "ordinal", where)
    return TrialEntry(
        ordinal=index if ordinal is None else ordinal,
        artefacts=_strings(body.get("artefacts") or [], f"{where}.artefacts"),
        server=server,
        workload=workload,
        load=load,
        repeat=whole(body, "repeat", where),
        warmup=bool(_optional(body, "warmup", bool, where)),
        command=_strings(body.get("command") or [], f"{where}.command"),
        started_at=instant(body, "started_at", where),
        finished_at=instant(body, "finished_at", where),
        exit_code=whole(body, "exit_code", where, least=-255, most=2**31 - 1),
        error=text(body, "error", where) or "",
        resources=_mapping(body.get("resources") or {}, f"{where}.resources"),
        phase=_choice(body, "phase", PHASES, where),
        glance=_mapping(body.get("glance") or {}, f"{where}.glance"),
        server_tail=text(body, "server_tail", where, limit=MAX_TAIL) or "",
        upload=_uuid(body.get("upload"), f"{where}.upload"),
    )


def _check_trial_parts(
    where: str, server: Mapping[str, Any], workload: Mapping[str, Any], load: Mapping[str, Any]
) -> None:
    for key in ("name", "version", "runtime"):
        text(server, key, f"{where}.server", limit=200)
    _mapping(server.get("configuration") or {}, f"{where}.server.configuration")
    text(workload, "name", f"{where}.workload", limit=200)
    text(workload, "method", f"{where}.workload", limit=20)
    text(workload, "path", f"{where}.workload", limit=2000)
    whole(workload, "payload_bytes", f"{where}.workload")
    whole(workload, "body_bytes", f"{where}.workload")
    text(workload, "body_sha256", f"{where}.workload", limit=64)
    for key in ("keepalive", "tls"):
        _optional(workload, key, bool, f"{where}.workload")
    _mapping(workload.get("headers") or {}, f"{where}.workload.headers")
    text(load, "tool", f"{where}.load", limit=40)
    text(load, "tool_version", f"{where}.load", limit=80)
    _choice(load, "loop", ("closed", "open"), f"{where}.load")
    whole(load, "connections", f"{where}.load", most=2**31 - 1)
    whole(load, "connections_asked", f"{where}.load", most=2**31 - 1)
    whole(load, "requests", f"{where}.load")
    number(load, "rate_rps", f"{where}.load")


def text(body: Mapping[str, Any], key: str, where: str, *, limit: int = MAX_TEXT) -> str | None:
    """The optional text `key`; raises EnvelopeError when it is no text or too long."""
    value = body.get(key)
    if value is not None and (not isinstance(value, str) or len(value) > limit):
        raise EnvelopeError(f"{where}.{key}", value, f"text of at most {limit} characters")
    return value


def whole(
    body: Mapping[str, Any], key: str, where: str, *, least: int = 0, most: int = 2**63 - 1
) -> int | None:
    """The optional whole number `key` within the column's range."""
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise EnvelopeError(f"{where}.{key}", value, f"a whole number from {least} to {most}")
    return value


def number(body: Mapping[str, Any], key: str, where: str) -> float | None:
    """The optional finite number `key`, at least 0."""
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise EnvelopeError(f"{where}.{key}", value, "a number of at least 0")
    return float(value)


def instant(body: Mapping[str, Any], key: str, where: str) -> datetime | None:
    """The optional ISO 8601 time `key`, in UTC; a time without a zone is refused."""
    value = body.get(key)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        expected = "an ISO 8601 time with its zone, as 2026-01-31T12:00:00Z"
        raise EnvelopeError(f"{where}.{key}", value, expected) from None


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise EnvelopeError(where, value, "an object")
    return value


def _optional(body: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = body.get(key)
    if value is not None and not isinstance(value, kind):
        raise EnvelopeError(f"{where}.{key}", value, f"{kind.__name__} or null")
    return value


def _choice(body: Mapping[str, Any], key: str, allowed: tuple[str, ...], where: str) -> str | None:
    value = body.get(key)
    if value is not None and value not in allowed:
        raise EnvelopeError(f"{where}.{key}", value, f"one of {', '.join(allowed)}")
    return value


def _objects(body: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    value = body.get(key) or []
    if not isinstance(value, list) or len(value) > MAX_EVENTS:
        raise EnvelopeError(f"{where}.{key}", value, f"a list of at most {MAX_EVENTS} objects")
    return [_mapping(item, f"{where}.{key}[{index}]") for index, item in enumerate(value)]


def _strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise EnvelopeError(where, value, "a list of texts")
    return tuple(value)


def _uuid(value: object, where: str) -> uuid.UUID | None:
    if value is None:
        return None
    try:
        return uuid.UUID(str(value))
    except ValueError:
        raise EnvelopeError(where, value, "a UUID") from None


def _refuse_unstorable(value: object) -> None:
    # PostgreSQL keeps no NUL in text and no infinity in JSON (1e999 reads as one); saying so
    # here beats an error in the worker.
    stack: list[tuple[object, int]] = [(value, 0)]
    while stack:
        item, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise EnvelopeError("the envelope", "deeper", f"at most {MAX_DEPTH} levels")
        if isinstance(item, str):
            _refuse_bad_text(item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise EnvelopeError("a number", item, "a finite number")
        elif isinstance(item, dict):
            stack.extend((child, depth + 1) for child in _children(item))
        elif isinstance(item, list):
            stack.extend((child, depth + 1) for child in item)


def _children(item: dict[str, object]) -> Iterable[object]:
    yield from item.keys()
    yield from item.values()


def _refuse_bad_text(item: str) -> None:
    if "\0" in item or any("\ud800" <= character <= "\udfff" for character in item):
        raise EnvelopeError("a text", item, "no NUL and no lone surrogate")
