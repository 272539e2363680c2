"""What `manage.py reprocess` prints of an upload that was read again."""

from collections.abc import Iterator
from typing import Any

from backend.ingest.models import Rereading

MAX_SHOWN = 20


def lines_about(head: str, rereading: Rereading) -> Iterator[str]:
    """The outcome behind `head`, then the first figures that changed."""
    if reason := rereading.refused or rereading.stopped:
        yield f"{head}: {rereading.outcome}, the old figures stay: {reason}"
        return
    yield f"{head}: {len(rereading.changes)} figures changed"
    for change in rereading.changes[:MAX_SHOWN]:
        before, after = _short(change["before"]), _short(change["after"])
        yield f"    trial {change['ordinal']} {change['figure']}: {before} → {after}"
    if len(rereading.changes) > MAX_SHOWN:
        yield f"    … and {len(rereading.changes) - MAX_SHOWN} more"


def _short(value: Any) -> str:
    text = "unknown" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
