"""What an envelope must keep beside the kinds of its values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.untrusted import limits

if TYPE_CHECKING:
    from backend.ingest.envelope.envelope import Envelope, Host, TrialEntry

# JSON writes floats from here on with an exponent, and PostgreSQL with all their digits.
WHOLE_FROM = 1e16


def check_labels(envelope: Envelope) -> None:
    """No label is too long, nor all together: tables repeat them for each trial."""
    labels = (envelope.run and envelope.run.labels) or {}
    _check_bytes(labels, limits.LABELS_BYTES, "run.labels")
    for name, value in labels.items():
        if _label_length(value) > limits.TEXT_LENGTH:
            expected = f"text of at most {limits.TEXT_LENGTH} characters"
            raise EnvelopeError(f"run.labels.{name}", value, expected)


def _label_length(value: object) -> int:
    """Of the text that is stored; of a shorter one where that is too long already."""
    if isinstance(value, str):
        return len(value)
    # No text of JSON is shorter, and none is written as fast.
    shortest = _stored_bytes(value)
    return shortest if shortest > limits.TEXT_LENGTH else len(json.dumps(_as_stored(value)))


def _stored_bytes(value: object) -> int:
    """Of JSON without blanks, the same before the value is stored as after it."""
    stored = _as_stored(value)
    try:
        return len(orjson.dumps(stored))
    except TypeError:
        # Whole numbers above 64 bits.
        return len(json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode())


def _as_stored(value: object) -> object:
    """The value as the database gives it: 1e300 is a whole number there."""
    if isinstance(value, dict):
        return {name: _as_stored(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_stored(inner) for inner in value]
    return int(value) if isinstance(value, float) and abs(value) >= WHOLE_FROM else value


def check_trials(envelope: Envelope) -> None:
    """No ordinal and no file twice, no command too long; an entry without an ordinal gets its place
    in the list."""
    ordinals, files = set(), 0
    for index, entry in enumerate(envelope.entries):
        if entry.given_ordinal is None:
            msgspec.structs.force_setattr(entry, "given_ordinal", index)
        if entry.ordinal in ordinals:
            raise EnvelopeError("trials", "an ordinal used twice", "a different ordinal each")
        ordinals.add(entry.ordinal)
        names = entry.artefacts or ()
        files += len(names)
        if files > limits.TRIAL_ARTEFACTS_TOGETHER:
            expected = f"at most {limits.TRIAL_ARTEFACTS_TOGETHER:,} files of all trials together"
            raise EnvelopeError(f"trials[{index}].artefacts", f"{files:,} files", expected)
        if len(set(names)) < len(names):
            where = f"trials[{index}].artefacts"
            raise EnvelopeError(where, list(names), "each file named once")
        if sum(map(len, entry.command or ())) > limits.COMMAND_LENGTH:
            expected = f"words of at most {limits.COMMAND_LENGTH:,} characters together"
            raise EnvelopeError(f"trials[{index}].command", list(entry.command or ()), expected)


def check_maps(envelope: Envelope) -> None:
    """What is nested in a map is bounded. What tells servers and workloads apart is short: a
    correction keeps it beside each trial."""
    if envelope.hosts is not None:
        check_host(envelope.hosts.client, "hosts.client")
        check_host(envelope.hosts.server, "hosts.server")
    for place, members in _identity_maps(envelope):
        _check_nested(members, place)
        _check_bytes(members, limits.IDENTITY_MAP_BYTES, place)
    for index, entry in enumerate(envelope.entries):
        for name, own in (("resources", entry.resources), ("glance", entry.glance)):
            _check_nested(own, f"trials[{index}].{name}")
            _check_bytes(own or {}, limits.TRIAL_MAP_BYTES, f"trials[{index}].{name}")


def check_host(host: Host | None, place: str) -> None:
    """What is nested in the facts of a host is bounded, and so is what they have together."""
    if host is not None:
        _check_nested(host.facts, f"{place}.facts")
        _check_bytes(host.facts or {}, limits.FACTS_BYTES, f"{place}.facts")


def _identity_maps(envelope: Envelope) -> Iterator[tuple[str, Mapping[str, Any]]]:
    sections: list[tuple[Envelope | TrialEntry, str]] = [(envelope, "")]
    sections += [(entry, f"trials[{at}].") for at, entry in enumerate(envelope.entries)]
    for section, place in sections:
        if section.server and section.server.configuration:
            yield f"{place}server.configuration", section.server.configuration
        if section.workload and section.workload.headers:
            yield f"{place}workload.headers", section.workload.headers


def _check_bytes(members: Mapping[str, Any], most: int, place: str) -> None:
    if _stored_bytes(members) > most:
        raise EnvelopeError(place, members, f"an object of at most {most:,} bytes of JSON")


def _check_nested(members: Mapping[str, Any] | None, place: str) -> None:
    """How deep a map is nested, how many values all levels have, and how long its texts are."""
    level: list[Any] = [members] if members else []
    count = 0
    for _ in range(limits.MAP_LEVELS):
        values = list(chain.from_iterable(map(_values, level)))
        count += len(values)
        if count > limits.MAP_VALUES:
            expected = f"at most {limits.MAP_VALUES:,} values at all levels"
            raise EnvelopeError(place, members, expected)
        names = chain.from_iterable(map(_names, level))
        _check_texts(names, limits.NAME_LENGTH, f"a name in {place}")
        _check_texts(values, limits.TAIL_LENGTH, f"a value in {place}")
        level = [value for value in values if isinstance(value, dict | list)]
    if level:
        raise EnvelopeError(place, members, f"at most {limits.MAP_LEVELS} levels")


def _check_texts(values: Iterable[object], most: int, place: str) -> None:
    if any(isinstance(value, str) and len(value) > most for value in values):
        raise EnvelopeError(place, "longer", f"text of at most {most} characters")


def _values(each: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return each.values() if isinstance(each, dict) else each


def _names(each: dict[str, Any] | list[Any]) -> Iterable[str]:
    return each if isinstance(each, dict) else ()
