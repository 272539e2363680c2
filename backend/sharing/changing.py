"""What may still be said of a result set once it is made. Its snapshot never changes."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.sharing.models import ResultSet, Visibility


class Refused(ValueError):
    """This change cannot be made; the message says why and what can be done."""


class _Unsaid:
    """Told apart from None, which takes a value away."""


UNSAID: Final = _Unsaid()


def edit(
    result_set: ResultSet,
    *,
    title: str | _Unsaid = UNSAID,
    notes: str | _Unsaid = UNSAID,
    visibility: Visibility | _Unsaid = UNSAID,
    expires_at: datetime | _Unsaid | None = UNSAID,
) -> None:
    """Change what is given. Raises Refused for the title of a frozen one, and when withdrawn."""
    _not_withdrawn(result_set)
    given: dict[str, Any] = {
        "title": title,
        "notes": notes,
        "visibility": visibility,
        "expires_at": expires_at,
    }
    fields = {name: value for name, value in given.items() if not isinstance(value, _Unsaid)}
    if result_set.is_frozen and fields.get("title", result_set.title) != result_set.title:
        raise Refused("The title is part of the snapshot, which never changes. Use the notes.")
    for name, value in fields.items():
        setattr(result_set, name, value)
    if fields:
        result_set.save(update_fields=list(fields))


def supersede(result_set: ResultSet, by: ResultSet | None) -> None:
    """Name the newer one that readers should take instead, or none. Raises Refused."""
    _not_withdrawn(result_set)
    with transaction.atomic():
        # One change of this kind at a time in a workspace: two could close a ring between them.
        Workspace.objects.select_for_update().get(pk=result_set.workspace_id)
        if by is not None:
            _check_newer(result_set, by)
        result_set.superseded_by = by
        result_set.save(update_fields=["superseded_by"])


def _check_newer(result_set: ResultSet, by: ResultSet) -> None:
    if by.workspace_id != result_set.workspace_id:
        raise Refused("The newer one must be of the same workspace.")
    if by.withdrawn_at is not None:
        raise Refused("The newer one is withdrawn.")
    seen = {result_set.pk}
    following: ResultSet | None = by
    while following is not None:
        if following.pk in seen:
            raise Refused("The newer one is itself superseded by this one.")
        seen.add(following.pk)
        following = following.superseded_by


def withdraw(result_set: ResultSet, reason: str) -> None:
    """Leave only a tombstone with `reason` and the date. For good: a citation must not flicker."""
    _not_withdrawn(result_set)
    if not reason.strip():
        raise Refused("A reason is needed: it is all that readers of the link will find.")
    result_set.withdrawn_at = timezone.now()
    result_set.withdrawn_reason = reason.strip()
    result_set.save(update_fields=["withdrawn_at", "withdrawn_reason"])


def revoke(result_set: ResultSet) -> None:
    """Give it a new address that nobody knows yet; the old one leads nowhere from now on.

    Raises Refused when withdrawn: its tombstone stays where it was cited.
    """
    _not_withdrawn(result_set)
    result_set.link = uuid.uuid4()
    result_set.save(update_fields=["link"])


def _not_withdrawn(result_set: ResultSet) -> None:
    if result_set.withdrawn_at is not None:
        raise Refused("It is withdrawn, which is for good. Make a new one.")
