"""Reading and checking the forms about result sets."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from backend.errors import InvalidInput
from backend.sharing.freezing import Description
from backend.sharing.models import Visibility
from backend.sharing.text import MAX_LENGTH

TITLE_LENGTH = 200


class BadForm(InvalidInput):
    """A field of a result set was refused; the message says what was sent and what is allowed."""


def description_from(form: Mapping[str, str]) -> Description:
    """Title, notes, visibility and last day of a new result set."""
    return Description(
        title=title_from(form),
        notes=notes_from(form),
        visibility=visibility_from(form.get("visibility") or Visibility.PRIVATE.value),
        expires_at=end_from(form.get("last_day", "")),
    )


def title_from(form: Mapping[str, str]) -> str:
    return _text(form, "title").strip()[:TITLE_LENGTH]


def notes_from(form: Mapping[str, str]) -> str:
    notes = _text(form, "notes").replace("\r\n", "\n").strip()
    if len(notes) > MAX_LENGTH:
        raise BadForm(f"notes: got {len(notes):,} characters, allowed are {MAX_LENGTH:,}.")
    return notes


def visibility_from(asked: str) -> Visibility:
    if asked not in Visibility.values:
        raise BadForm(f"Who may read it must be one of: {', '.join(Visibility.values)}.")
    return Visibility(asked)


def end_from(last_day: str) -> datetime | None:
    """The end of the day in UTC; None for an empty field."""
    if not last_day:
        return None
    try:
        day = date.fromisoformat(last_day)
        return datetime.combine(day + timedelta(days=1), time(), UTC)
    except (ValueError, OverflowError):
        raise BadForm(f"last_day: got {last_day[:40]!r}, allowed is YYYY-MM-DD.") from None


def _text(form: Mapping[str, str], name: str) -> str:
    # PostgreSQL stores no NUL in a text.
    return form.get(name, "").replace("\0", "")
