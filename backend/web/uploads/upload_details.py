"""What a person adds to an upload in the form: the fields, and the envelope that they make."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from backend.errors import InvalidInput
from backend.runs.tables.server_texts import SERVER_TEXTS

# Fields of the form, and their place in the envelope.
_PLACES = {
    "server": ("server", "name"),
    **{text.name: ("server", text.name) for text in SERVER_TEXTS},
    "workload": ("workload", "name"),
}
# By field: the role of the host.
_HOSTS = {"host": "server", "client_host": "client"}
_SAME_HOST = {"yes": True, "no": False}
DETAILS = (*_PLACES, *_HOSTS, "same_host", "started", "labels", "notes")
# Of outputs of several versions that were measured together.
SHARED_DETAILS = tuple(name for name in DETAILS if name not in ("version", "started", "notes"))
# The boxes of texts: the field, its label, and an example.
BOXES = (
    ("server", "Server", "nginx"),
    *((text.name, text.noun.capitalize(), text.example) for text in SERVER_TEXTS),
    ("workload", "Workload", "hello"),
    ("host", "Server host", "bench-1"),
    ("client_host", "Client host", "bench-2"),
)


class DetailRefused(InvalidInput):
    """A detail is not understood; the message says what was got and what was expected."""


def read_details(form: Mapping[str, str]) -> dict[str, Any] | None:
    """The details as an envelope; None if all fields are empty. Raises DetailRefused."""
    envelope: dict[str, Any] = {}
    for name, (part, key) in _PLACES.items():
        if text := _text(form, name):
            envelope.setdefault(part, {})[key] = text
    for name, role in _HOSTS.items():
        if text := _text(form, name):
            envelope.setdefault("hosts", {})[role] = {"name": text}
    if (same := _SAME_HOST.get(form.get("same_host", ""))) is not None:
        envelope["same_host"] = same
    if run := _read_run(form):
        envelope["run"] = run
    return {"schema": 1, **envelope} if envelope else None


def _text(form: Mapping[str, str], name: str) -> str:
    return form.get(name, "").strip()


def _read_run(form: Mapping[str, str]) -> dict[str, Any]:
    run: dict[str, Any] = {}
    if started := _text(form, "started"):
        run["started_at"] = _read_instant(started)
    if labels := _text(form, "labels"):
        run["labels"] = _read_labels(labels)
    if notes := _text(form, "notes"):
        run["notes"] = notes
    return run


def _read_instant(text: str) -> str:
    """A date with a time of day in UTC, as browsers send it, in ISO 8601."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise DetailRefused(
            f"Measured at: got “{text[:60]}”, expected a date and a time such as 2026-01-31T12:00."
        ) from None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).isoformat()


def _read_labels(text: str) -> dict[str, str]:
    """`branch: main, day: 2` as names and values."""
    labels = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, colon, value = (piece.strip() for piece in part.partition(":"))
        if not (name and colon and value):
            raise DetailRefused(
                f"Labels: got “{part[:60]}”, expected names with values, such as branch: main, "
                "day: 2."
            )
        labels[name] = value
    return labels
