"""Changing a result set: its description, its link and its state. The snapshot never changes."""

import uuid
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import transaction
from django.utils import timezone

from backend.accounts.audit import changes, record
from backend.accounts.models import Act
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.errors import Conflict, NotFound
from backend.ingest.quota.quota import take_room
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.secret_check import refuse_secrets_of


class EditRefused(Conflict):
    """This change cannot be made; the message says why and what can be done."""


class Edits(TypedDict, total=False):
    """What of a result set can be changed; None removes the end."""

    title: str
    notes: str
    visibility: Visibility
    expires_at: datetime | None


# What an edit is judged by.
_JUDGED = ("title", "notes", "visibility", "expires_at", "withdrawn_at")


@transaction.atomic
def edit(result_set: ResultSet, **fields: Unpack[Edits]) -> None:
    """Change what is given.

    Of a frozen set the snapshot keeps the title that it was frozen with. Raises EditRefused for a
    withdrawn set, SecretShared where others would read a secret, WorkspaceFull, and NotFound
    where the set was deleted meanwhile.
    """
    # Else one edit could publish what another one wrote a moment before.
    if not ResultSet.objects.select_for_update(no_key=True).filter(pk=result_set.pk).exists():
        raise NotFound("There is no such result set any more.")
    result_set.refresh_from_db(fields=_JUDGED)
    _refuse_withdrawn(result_set)
    before = {name: getattr(result_set, name) for name in fields}
    notes = result_set.notes
    for name, value in fields.items():
        setattr(result_set, name, value)
    changed = changes(before, dict(fields))
    if changed.keys() & {"title", "notes", "visibility"}:
        refuse_secrets_of(result_set)
    if fields:
        if (more := len(result_set.notes.encode()) - len(notes.encode())) != 0:
            take_room(result_set.workspace_id, more)
        result_set.save(update_fields=list(fields))
        _record_changes(result_set, changed)


def _record_changes(result_set: ResultSet, changed: dict[str, dict[str, Any]]) -> None:
    if "visibility" in changed:
        visibility = {name: str(value) for name, value in changed.pop("visibility").items()}
        _record(Act.SHARE_VISIBILITY, result_set, visibility=visibility)
    if changed:
        # Notes and titles are in the result set; the event says that they are others now.
        _record(Act.SHARE_CHANGED, result_set, fields=sorted(changed))


def _record(act: Act, result_set: ResultSet, **detail: Any) -> None:
    record(act, result_set.workspace, subject=result_set.title, subject_id=result_set.pk, **detail)


def supersede(result_set: ResultSet, by: ResultSet | None) -> None:
    """Set (or clear) the newer set that readers should use instead. Raises EditRefused."""
    _refuse_withdrawn(result_set)
    with transaction.atomic():
        # One change at a time in a workspace: two at once could make two sets replace each other.
        lock_workspace(result_set.workspace_id)
        if by is not None:
            _check_newer(result_set, by)
        has_changed = result_set.superseded_by_id != (by.pk if by else None)
        result_set.superseded_by = by
        result_set.save(update_fields=["superseded_by"])
        if has_changed:
            _record(Act.SHARE_SUPERSEDED, result_set, newer=str(by.pk) if by else None)


def _check_newer(result_set: ResultSet, by: ResultSet) -> None:
    if by.workspace_id != result_set.workspace_id:
        raise EditRefused("The newer result set must be in the same workspace.")
    if by.withdrawn_at is not None:
        raise EditRefused("The newer result set is withdrawn.")
    seen = {result_set.pk}
    following: ResultSet | None = by
    while following is not None:
        if following.pk in seen:
            raise EditRefused("The newer result set is already superseded by this one.")
        seen.add(following.pk)
        following = following.superseded_by


def withdraw(result_set: ResultSet, reason: str) -> None:
    """Leave only a tombstone with `reason` and the date. This cannot be undone."""
    _refuse_withdrawn(result_set)
    if not reason.strip():
        raise EditRefused("Give a reason. Readers of the link will see only this reason.")
    result_set.withdrawn_at = timezone.now()
    result_set.withdrawn_reason = reason.strip()
    with transaction.atomic():
        result_set.save(update_fields=["withdrawn_at", "withdrawn_reason"])
        _record(Act.SHARE_WITHDRAWN, result_set)


def revoke(result_set: ResultSet) -> None:
    """Give it a new link; the old link is not found from now on.

    Raises EditRefused when withdrawn: the tombstone stays where it was cited.
    """
    _refuse_withdrawn(result_set)
    result_set.link = uuid.uuid4()
    with transaction.atomic():
        result_set.save(update_fields=["link"])
        _record(Act.SHARE_REVOKED, result_set)


@transaction.atomic
def end_link(result_set: ResultSet) -> None:
    """Leave it to the members alone, under a new link: the old link is not found from now on.

    Raises EditRefused when withdrawn.
    """
    edit(result_set, visibility=Visibility.PRIVATE)
    revoke(result_set)


def _refuse_withdrawn(result_set: ResultSet) -> None:
    if result_set.withdrawn_at is not None:
        raise EditRefused("This result set was withdrawn permanently. Create a new one.")
