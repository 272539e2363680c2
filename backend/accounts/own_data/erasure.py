"""Erasing an account: what refers to the person goes, or forgets the person (personal_data.py)."""

import logging
import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import Q, QuerySet

from backend.accounts.audit import record
from backend.accounts.mail.mailed_addresses import own_addresses
from backend.accounts.models import (
    Act,
    AuditEvent,
    HeldMessage,
    Invitation,
    Membership,
    Role,
    Token,
    User,
    Workspace,
)
from backend.accounts.own_data.personal_data import FORGETS, RELATIONS
from backend.accounts.takedown_models import Report
from backend.accounts.workspace import members
from backend.errors import Conflict
from backend.transactions import whole

log = logging.getLogger(__name__)

NOBODY = "deleted account"


class OnlyOwner(Conflict):
    """Workspaces would be left without an owner. Nothing was erased."""

    def __init__(self, workspaces: Sequence[Workspace]) -> None:
        names = ", ".join(workspace.name for workspace in workspaces)
        super().__init__(
            f"You are the only owner of {names}.",
            hint="Make another member an owner, or delete the workspace. Then erase the account.",
        )


def workspaces_owned_alone(user: User) -> list[Workspace]:
    """The workspaces that have no other owner."""
    owners = Membership.objects.filter(role=Role.OWNER)
    own = owners.filter(user=user).values("workspace")
    shared = owners.exclude(user=user).values("workspace")
    return list(Workspace.objects.filter(pk__in=own).exclude(pk__in=shared))


@whole
def erase_account(person: User) -> None:
    """Delete the account. Raises OnlyOwner where a workspace would be left without an owner."""
    user = _locked(person.pk)
    if user is None:
        return
    if alone := workspaces_owned_alone(user):
        raise OnlyOwner(alone)
    _forget_in_runs(user)
    for membership in Membership.objects.filter(user=user).order_by("workspace"):
        # Asks again under the lock of the workspace: another owner may leave at the same time.
        members.remove(user, membership.workspace, user.pk)
    _erase(user, by=user)


@whole
def erase_again(user_id: UUID) -> bool:
    """Erase an account that a restored backup brought back; whether it was there.

    A workspace may be left without an owner: it had another when the account was erased.
    """
    user = _locked(user_id)
    if user is None:
        return False
    for workspace in workspaces_owned_alone(user):
        log.warning("workspace_without_owner", extra={"workspace": str(workspace.pk)})
    _forget_in_runs(user)
    _erase(user, by=None)
    return True


def _locked(user_id: UUID) -> User | None:
    """The account as it is now; no workspace of theirs comes meanwhile (workspaces.create).

    A new row of it each time: deleting takes the id from the object. Not the lock of its key, for
    which a reading that names the account would wait at its end (decision 0069).
    """
    # Before all other locks, as the requests do that they belong to.
    _delete_answers(user_id)
    return User.objects.select_for_update(no_key=True).filter(pk=user_id).first()


def _forget_in_runs(user: User) -> None:
    """Uploads, runs and what was written to runs.

    Before the workspaces, as readings and corrections lock them (decision 0069).
    """
    _lock(_rows("ingest.Upload").filter(Q(author=user) | Q(token__user=user)))
    _lock(_rows("runs.Run").filter(Q(author=user) | Q(trashed_by=user)))
    for relation in RELATIONS:
        if relation.erasure is FORGETS and relation.column.startswith(("ingest.", "runs.")):
            relation.rows_of(user).order_by().update(**{relation.field: None})


def _lock(rows: QuerySet[Any]) -> None:
    locked = rows.select_for_update(no_key=True, of=("self",)).order_by("pk")
    list(locked.values_list("pk", flat=True))


def _erase(user: User, *, by: User | None) -> None:
    if by is not None:
        record(Act.ACCOUNT_ERASED, None, subject_id=user.pk, by=by)
    addresses = own_addresses(user)
    _delete_sessions(user)
    _delete_mails(user, addresses)
    _forget_addresses(addresses)
    _delete_staff_log(user)
    _rename_changes(user)
    _rename_in_audit_log(user, addresses)
    _lock_keys(user)
    user.delete()


def _lock_keys(user: User) -> None:
    """No row comes any more that names the account or a token of it.

    The account first, as PostgreSQL does at the end of an upload, which names both. Agents before
    their progress, as heartbeats do.
    """
    User.objects.select_for_update().get(pk=user.pk)
    list(Token.objects.filter(user=user).select_for_update().order_by("pk").values_list("pk"))
    _lock(_rows("fleet.Agent").filter(token__user=user))


def _delete_sessions(user: User) -> None:
    sessions = apps.get_model("usersessions", "UserSession")._base_manager.filter(user=user)
    Session.objects.filter(pk__in=list(sessions.values_list("session_key", flat=True))).delete()


def _delete_mails(user: User, addresses: Sequence[str]) -> None:
    """Mails that were not sent: to the person, and invitations by the person."""
    # Receivers are kept as one text. `joann@example.org` is not `ann@example.org`.
    alone = [rf"(^|[ ,<]){re.escape(address)}($|[ ,>])" for address in addresses]
    HeldMessage.objects.filter(_any_of("to__iregex", alone)).delete()
    HeldMessage.objects.filter(subject__startswith=f"{user} invites you to ").delete()


def _forget_addresses(addresses: Sequence[str]) -> None:
    """Where others or the person wrote down an address of the person."""
    Invitation.objects.filter(_any_of("email__iexact", addresses)).delete()
    Report.objects.filter(_any_of("email__iexact", addresses)).update(email="")
    channels = _rows("deliveries.Channel").filter(kind="mail")
    channels.filter(_any_of("address__iexact", addresses)).delete()


def _delete_answers(user_id: UUID) -> None:
    """Answers that are kept for requests that are sent again, of the person and their tokens."""
    tokens = Token.objects.filter(user=user_id).values_list("pk", flat=True)
    senders = [f"user:{user_id}", *(f"token:{token}" for token in tokens)]
    _rows("api.CreationKey").filter(sender__in=senders).delete()


def _delete_staff_log(user: User) -> None:
    """Of what the staff changed of the account."""
    rows = _rows("admin.LogEntry").filter(content_type__model="user", object_id=str(user.pk))
    rows.delete()


def _rename_changes(user: User) -> None:
    _rows("alerts.AlertChange").filter(by=user).update(by_name=NOBODY)


def _rename_in_audit_log(user: User, addresses: Sequence[str]) -> None:
    """Who, where and what stays as the id of nobody: events stay whole, and name no person."""
    with connection.cursor() as cursor:
        # The trigger of the table refuses a change without it.
        cursor.execute("SET LOCAL loadsheet.erases_account = 'on'")
        AuditEvent.objects.filter(actor_id=user.pk).update(actor_name=NOBODY, address=None)
        # Only there a subject is an address: a user name that is spelled so is somebody else's.
        of_invitation = Q(act__in=[Act.INVITATION_CREATED, Act.INVITATION_REVOKED])
        is_subject = Q(subject_id=user.pk) | of_invitation & _any_of("subject__iexact", addresses)
        AuditEvent.objects.filter(is_subject).exclude(subject="").update(subject=NOBODY)
        for event in AuditEvent.objects.filter(detail__invited_by=user.username):
            event.detail["invited_by"] = NOBODY
            event.save(update_fields=["detail"])
        cursor.execute("SET LOCAL loadsheet.erases_account = 'off'")


def _any_of(lookup: str, values: Sequence[str]) -> Q:
    """Rows with one of the values; none without values."""
    found = Q(pk__in=[])
    for value in values:
        found |= Q(**{lookup: value})
    return found


def _rows(label: str) -> QuerySet[Any]:
    """The rows of a model of another package."""
    rows: QuerySet[Any] = apps.get_model(label)._base_manager.all()
    return rows
