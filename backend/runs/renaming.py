"""Renaming a server, host or workload: its rows, their identities, and the names it had before.

A name belongs to one thing for ever: what was called so once is meant by it still. So two things
never swap names or become one, and no link changes its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from backend.accounts.models import User, Workspace
from backend.runs.models import FormerName, Series
from backend.runs.search import UNKNOWN
from backend.runs.things import (
    HOST_FIELDS,
    MODELS,
    SERVER_FIELDS,
    WORKLOAD_FIELDS,
    SeriesIdentity,
    hold_names,
    thing_identity,
)

Kind = FormerName.Kind
MAX_NAME = 200
_IDENTITY = {Kind.SERVER: SERVER_FIELDS, Kind.HOST: HOST_FIELDS, Kind.WORKLOAD: WORKLOAD_FIELDS}
_BATCH = 500


class RenameRefused(ValueError):
    """Nothing was renamed; the message says what was got and what was expected."""


def rename(
    workspace: Workspace, kind: FormerName.Kind, former: str, current: str, author: User | None
) -> str:
    """Call everything of the name `former` by `current`; the name as it was stored.

    Raises RenameRefused.
    """
    current = " ".join(current.split())
    if not current or len(current) > MAX_NAME or "\0" in current:
        raise RenameRefused(
            f"The new name has {len(current)} characters; expected 1 to {MAX_NAME}, without NUL."
        )
    if current == UNKNOWN:
        raise RenameRefused(f"“{UNKNOWN}” means in links what nobody said; choose another name.")
    if current == former:
        raise RenameRefused(f"The {kind} is called “{former}” already.")
    try:
        with transaction.atomic():
            hold_names(workspace, exclusive=True)
            _refuse_taken(workspace, kind, former, current)
            _rename_rows(workspace, kind, former, current)
            _remember(workspace, kind, former, current, author)
            workspace.changed()
    except IntegrityError:
        # Fields that differ as they were sent and are equal as they are stored, like 1e2 and 100.
        raise RenameRefused(f"Two {kind}s of the name “{former}” would become one.") from None
    return current


def former_names(
    workspace: Workspace, kind: FormerName.Kind, current: str | None
) -> Sequence[FormerName]:
    """What the thing that is called `current` was called before, the first name first."""
    rows = FormerName.objects.filter(workspace=workspace, kind=kind, current=current)
    return list(rows.exclude(former=F("current")))


def _refuse_taken(workspace: Workspace, kind: FormerName.Kind, former: str, current: str) -> None:
    rows = MODELS[kind]._default_manager.filter(workspace=workspace)
    if not rows.filter(name=former).exists():
        raise RenameRefused(f"There is no {kind} called “{former}” any more; reload its page.")
    if rows.filter(name=current).exists():
        raise RenameRefused(
            f"There is another {kind} called “{current}”; two are never made one. "
            "Choose a name of its own."
        )
    once = FormerName.objects.filter(workspace=workspace, kind=kind, former=current)
    if (other := once.exclude(current=former).first()) is not None:
        raise RenameRefused(
            f"“{current}” was the name of the {kind} that is called “{other.current}” now, and "
            "links with it lead there. Choose a name of its own."
        )


def _rename_rows(workspace: Workspace, kind: FormerName.Kind, former: str, current: str) -> None:
    model, fields = MODELS[kind], _IDENTITY[kind]
    rows: list[Any] = list(model._default_manager.filter(workspace=workspace, name=former))
    for row in rows:
        row.name = current
        row.identity = thing_identity({name: getattr(row, name) for name in fields})
    model._default_manager.bulk_update(rows, ["name", "identity"], batch_size=_BATCH)
    roles = ("server_host", "client_host") if kind == Kind.HOST else (str(kind),)
    touched = Q()
    for role in roles:
        touched |= Q(**{f"{role}__in": [row.pk for row in rows]})
    parts = ("server", "workload", "server_host", "client_host")
    series = list(Series.objects.filter(touched, workspace=workspace).select_related(*parts))
    for one in series:
        one.key = SeriesIdentity.of(one).key
    Series.objects.bulk_update(series, ["key"], batch_size=_BATCH)


def _remember(
    workspace: Workspace, kind: FormerName.Kind, former: str, current: str, author: User | None
) -> None:
    FormerName.objects.filter(workspace=workspace, kind=kind, current=former).update(
        current=current
    )
    FormerName.objects.update_or_create(
        workspace=workspace,
        kind=kind,
        former=former,
        defaults={"current": current, "renamed_at": timezone.now(), "author": author},
    )
