"""What an envelope must keep beside the kinds of its values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import orjson

from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.untrusted import limits

if TYPE_CHECKING:
    from backend.ingest.envelope.envelope import Envelope, Server, Workload


def check_labels(envelope: Envelope) -> None:
    """No label is too long, nor all together: tables repeat them for each trial."""
    labels = (envelope.run and envelope.run.labels) or {}
    if len(orjson.dumps(labels)) > limits.LABELS_BYTES:
        expected = f"an object of at most {limits.LABELS_BYTES:,} bytes of JSON"
        raise EnvelopeError("run.labels", labels, expected)
    for name, value in labels.items():
        if _label_length(value) > limits.TEXT_LENGTH:
            expected = f"text of at most {limits.TEXT_LENGTH} characters"
            raise EnvelopeError(f"run.labels.{name}", value, expected)


def _label_length(value: object) -> int:
    """Of the text that is stored; of a shorter one where that is too long already."""
    if isinstance(value, str):
        return len(value)
    # No text of JSON is shorter, and none is written as fast.
    shortest = len(orjson.dumps(value))
    return shortest if shortest > limits.TEXT_LENGTH else len(json.dumps(value))


def check_trials(envelope: Envelope) -> None:
    """No ordinal and no file twice; an entry without an ordinal gets its place in the list."""
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


def check_maps(envelope: Envelope) -> None:
    """What tells servers and workloads apart is short: a correction keeps it beside each trial."""
    _check_map(envelope.server, envelope.workload, "")
    for index, entry in enumerate(envelope.entries):
        _check_map(entry.server, entry.workload, f"trials[{index}].")


def _check_map(server: Server | None, workload: Workload | None, place: str) -> None:
    maps = {
        "server.configuration": server and server.configuration,
        "workload.headers": workload and workload.headers,
    }
    for name, members in maps.items():
        if members and len(orjson.dumps(members)) > limits.IDENTITY_MAP_BYTES:
            expected = f"an object of at most {limits.IDENTITY_MAP_BYTES:,} bytes of JSON"
            raise EnvelopeError(place + name, members, expected)
