"""Inviting a person to a workspace by a link that works once."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.credentials import token_format
from backend.accounts.credentials.stored_token import find_stored, signature_of
from backend.accounts.models import Act, Invitation, Membership, Token, User, Workspace
from backend.accounts.workspace.members import (
    MemberRefused,
    check_may_give,
    role_of,
    roles_given_by,
)
from backend.accounts.workspace.quotas import check_members
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.errors import Refused

LIFETIME = timedelta(days=7)
# A form that is sent again and again must not fill the table.
MOST_OPEN = 100


class InvitationRefused(Refused):
    """The invitation is not accepted; the message says why."""


@transaction.atomic
def invite(actor: User | Token, workspace: Workspace, role: str, *, email: str = "") -> str:
    """Make an invitation; returns the clear text of its token, which is never shown again.

    The maker of a token invites by it. Raises MemberRefused where `actor` cannot give this role, or
    too many invitations are open, and MembersFull.
    """
    lock_workspace(workspace.pk)
    check_may_give(actor, workspace, role)
    maker = actor.user if isinstance(actor, Token) else actor
    if maker is None:
        raise MemberRefused(
            "The operator made this token, not a member, so it cannot invite.",
            hint="Send the request with a token that an admin or owner made.",
        )
    invited = open_invitations(workspace).count()
    if invited >= MOST_OPEN:
        raise MemberRefused(
            f"This workspace has {MOST_OPEN} open invitations, the limit.",
            hint="Revoke those that are no longer needed.",
        )
    check_members(workspace, invited=invited)
    clear = token_format.new_token("invite")
    invitation = Invitation.objects.create(
        workspace=workspace,
        role=role,
        email=email,
        made_by=maker,
        expires_at=timezone.now() + LIFETIME,
        **signature_of(clear),
    )
    record(Act.INVITATION_CREATED, workspace, subject=email, subject_id=invitation.pk, role=role)
    return clear


def open_invitations(workspace: Workspace) -> QuerySet[Invitation]:
    """The invitations of a workspace that can still be used, newest first."""
    return usable_invitations().filter(workspace=workspace)


def usable_invitations() -> QuerySet[Invitation]:
    """The invitations that can still be used, of all workspaces."""
    return Invitation.objects.filter(
        used_at=None, revoked_at=None, expires_at__gt=timezone.now(), workspace__deleted_at=None
    )


def find(clear: str) -> Invitation:
    """The usable invitation with this clear text; raises InvitationRefused."""
    invitation = _stored(clear)
    if invitation is None:
        raise InvitationRefused("Loadsheet does not know this invitation.")
    if invitation.used_at is not None:
        raise InvitationRefused("This invitation was already used.")
    if invitation.revoked_at is not None or not _still_may_invite(invitation):
        raise InvitationRefused("This invitation was revoked.")
    if invitation.expires_at <= timezone.now():
        raise InvitationRefused(f"This invitation expired on {invitation.expires_at:%Y-%m-%d}.")
    return invitation


@transaction.atomic
def accept(clear: str, user: User) -> Workspace:
    """Make `user` a member, once; returns the workspace. Raises InvitationRefused, MembersFull.

    A member keeps their role, and the invitation stays usable.
    """
    invitation = find(clear)
    lock_workspace(invitation.workspace_id)
    if role_of(user, invitation.workspace) is not None:
        return invitation.workspace
    # Others who are invited have no place before they join.
    check_members(invitation.workspace, invited=0)
    rows = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
    if rows.update(used_at=timezone.now(), used_by=user) != 1:
        raise InvitationRefused("This invitation was already used.")
    Membership.objects.create(user=user, workspace=invitation.workspace, role=invitation.role)
    record(
        Act.MEMBER_JOINED,
        invitation.workspace,
        subject=user,
        subject_id=user.pk,
        by=user,
        role=invitation.role,
        invited_by=invitation.made_by.get_username(),
    )
    return invitation.workspace


def joined_by(clear: str, user: User | None) -> Workspace | None:
    """The workspace that `user` joined by this invitation, also by making an account with it."""
    invitation = _stored(clear)
    is_own = invitation is not None and user is not None and invitation.used_by_id == user.pk
    return invitation.workspace if invitation is not None and is_own else None


@transaction.atomic
def revoke(workspace: Workspace, invitation_id: UUID) -> None:
    """Refuse the invitation from now on."""
    rows = Invitation.objects.filter(workspace=workspace, pk=invitation_id, revoked_at=None)
    invitation = rows.first()
    if invitation is not None and rows.update(revoked_at=timezone.now()):
        record(
            Act.INVITATION_REVOKED,
            workspace,
            subject=invitation.email,
            subject_id=invitation_id,
            role=invitation.role,
        )


def revoke_all_of(workspace_id: UUID, user_id: UUID, **_: Any) -> None:
    """Revoke the invitations of somebody who left the workspace."""
    for invitation in usable_invitations().filter(workspace=workspace_id, made_by=user_id):
        revoke(invitation.workspace, invitation.pk)


def end_leaked(clear: str) -> None:
    """Refuse the invitation with this clear text from now on; nothing if there is none."""
    invitation = _stored(clear)
    if invitation is not None:
        revoke(invitation.workspace, invitation.pk)


def _stored(clear: str) -> Invitation | None:
    return find_stored(Invitation.objects.select_related("workspace", "made_by"), clear)


def _still_may_invite(invitation: Invitation) -> bool:
    """Whether who made it could make it today: a removed admin's links end with the role."""
    role = role_of(invitation.made_by, invitation.workspace)
    return invitation.made_by.is_active and invitation.role in roles_given_by(role)
