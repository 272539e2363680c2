"""How much a workspace may have: the limits of the service, or what its operator set for it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from uuid import UUID

from django.conf import settings
from django.db import transaction

from backend.accounts.audit import changes, record
from backend.accounts.models import Act, Membership, Quota, Workspace
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.errors import Refused


class MembersFull(Refused):
    """The workspace has as many members as it may have."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one workspace; `reads`: uploads that are read at the same time."""

    uploads_per_day: int
    stored_bytes: int
    members: int
    reads: int


def service_limits() -> Limits:
    """The limits of every workspace for which the operator set no other."""
    return Limits(
        uploads_per_day=settings.UPLOADS_PER_DAY,
        stored_bytes=settings.WORKSPACE_MAX_BYTES,
        members=settings.WORKSPACE_MAX_MEMBERS,
        reads=settings.READS_PER_WORKSPACE,
    )


def limits_of(workspace_id: UUID) -> Limits:
    names = [field.name for field in fields(Limits)]
    own = Quota.objects.filter(workspace=workspace_id).values(*names).first() or {}
    chosen = {name: value for name, value in own.items() if value is not None}
    return Limits(**{**asdict(service_limits()), **chosen})


@transaction.atomic
def set_limits(workspace: Workspace, given: Mapping[str, int | None]) -> None:
    """Set limits of one workspace, by the names of `Limits`; None: the limit of the service."""
    lock_workspace(workspace.pk)
    before = asdict(limits_of(workspace.pk))
    Quota.objects.update_or_create(workspace=workspace, defaults=dict(given))
    if changed := changes(before, asdict(limits_of(workspace.pk))):
        record(Act.WORKSPACE_QUOTA, workspace, subject=workspace.name, **changed)


def check_members(workspace: Workspace, *, invited: int) -> None:
    """Raise MembersFull where one more is too many, beside `invited` others who may still join.

    Call it with the row of the workspace locked.
    """
    most = limits_of(workspace.pk).members
    joined = Membership.objects.filter(workspace=workspace).count()
    if joined + invited < most:
        return
    raise MembersFull(
        f"{workspace.name} has no room for another member. "
        f"Members: {joined}, open invitations: {invited}, limit: {most}."
    )
