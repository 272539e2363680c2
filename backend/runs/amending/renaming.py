"""Renaming a server, host or workload: its rows, their identities, and its former names.

A former name keeps leading to what it once named. So two servers never swap names or become one,
and no link changes its meaning.
"""

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from backend.accounts.models import User, Workspace
from backend.database_faults import is_taken
from backend.errors import InvalidInput
from backend.runs.catalogue.search import UNKNOWN
from backend.runs.models import FormerName, Merge, Series
from backend.runs.registry.registry import (
    MODELS,
    PARTS,
    SeriesIdentity,
    identity_fields,
    identity_hash,
    lock_names,
    roles_of,
)
from backend.runs.registry.shown import shown_rows
from backend.runs.tables.names import MAX_NAME

Kind = FormerName.Kind
_BATCH = 500


class RenameRefused(InvalidInput):
    """Nothing was renamed; the message says what was got and what was expected."""


def rename(
    workspace: Workspace, kind: FormerName.Kind, former: str, current: str, author: User | None
) -> str:
    """Rename every row named `former` to `current`; returns the name as stored.

    Raises RenameRefused.
    """
    current = " ".join(current.split())
    if not current or len(current) > MAX_NAME or "\0" in current:
        raise RenameRefused(
            f"The new name has {len(current)} characters; expected 1 to {MAX_NAME}, without NUL."
        )
    if current == UNKNOWN:
        raise RenameRefused(
            f"“{UNKNOWN}” is reserved: links use it for unknown values. Choose another name."
        )
    if current == former:
        raise RenameRefused(f"The {kind} already has the name “{former}”.")
    try:
        with transaction.atomic():
            lock_names(workspace, exclusive=True)
            _refuse_taken(workspace, kind, former, current)
            _rename_rows(workspace, kind, former, current)
            remember_name(workspace, kind, former, current, author)
            workspace.changed()
    except IntegrityError as refusal:
        if not is_taken(refusal):
            raise
        # Fields that differ as sent may be equal as stored, for example 1e2 and 100.
        raise RenameRefused(f"Two {kind}s with the name “{former}” would become one.") from None
    return current


def former_names(
    workspace: Workspace, kind: FormerName.Kind, current: str | None
) -> Sequence[FormerName]:
    """The former names of the rows now named `current`, the oldest first."""
    rows = FormerName.objects.filter(workspace=workspace, kind=kind, current=current)
    return list(rows.exclude(former=F("current")))


def _refuse_taken(workspace: Workspace, kind: FormerName.Kind, former: str, current: str) -> None:
    rows = MODELS[kind]._default_manager.filter(workspace=workspace)
    shown = shown_rows(MODELS[kind], [workspace.pk])
    if not rows.filter(name=former).exists():
        raise RenameRefused(f"There is no {kind} named “{former}” any more. Reload its page.")
    if shown.filter(name=current).exists():
        raise RenameRefused(
            f"Another {kind} has the name “{current}”. Choose a name that is not in use, or merge "
            "the two."
        )
    # Left of a correction, and shown nowhere.
    rows.filter(name=current).delete()
    merges = Merge.objects.filter(workspace=workspace, kind=kind, source=current, undone_at=None)
    if merges.exists():
        raise RenameRefused(
            f"The {kind} “{current}” was merged, and undoing that gives it this name back. Choose "
            "another name, or undo the merge first."
        )
    former_names = FormerName.objects.filter(workspace=workspace, kind=kind, former=current)
    if (other := former_names.exclude(current=former).first()) is not None:
        raise RenameRefused(
            f"“{current}” is a former name of the {kind} “{other.current}”, and links with it "
            "lead there. Choose another name."
        )


def _rename_rows(workspace: Workspace, kind: FormerName.Kind, former: str, current: str) -> None:
    model = MODELS[kind]
    rows: list[Any] = list(model._default_manager.filter(workspace=workspace, name=former))
    for row in rows:
        row.name = current
        row.identity = identity_hash(identity_fields(row))
    model._default_manager.bulk_update(rows, ["name", "identity"], batch_size=_BATCH)
    affected = Q()
    for role in roles_of(kind):
        affected |= Q(**{f"{role}__in": [row.pk for row in rows]})
    all_series = list(Series.objects.filter(affected, workspace=workspace).select_related(*PARTS))
    for row in all_series:
        row.key = SeriesIdentity.of(row).key
    Series.objects.bulk_update(all_series, ["key"], batch_size=_BATCH)


def remember_name(
    workspace: Workspace, kind: FormerName.Kind, former: str, current: str, author: User | None
) -> None:
    """Make a name, and the names before it, lead to the current name."""
    FormerName.objects.filter(workspace=workspace, kind=kind, current=former).update(
        current=current
    )
    FormerName.objects.update_or_create(
        workspace=workspace,
        kind=kind,
        former=former,
        defaults={"current": current, "renamed_at": timezone.now(), "author": author},
    )
