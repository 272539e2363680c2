"""Creating, renaming and finding workspaces; and looking at one before people outside may read it.

Layers above add to the lists of checks what they know of the workspace, such as texts with secrets.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Subquery
from django.utils import timezone
from django.utils.text import slugify

from backend.accounts.audit import change, changes, record
from backend.accounts.models import Act, AuditEvent, FormerSlug, Membership, Role, User, Workspace
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.database_faults import is_taken
from backend.errors import InvalidInput, NotFound
from backend.transactions import whole

# One person cannot fill the service with empty workspaces.
MOST_OWNED = 20
# Bounds of two settings: the smallest relevant difference, and the trials per load point.
LARGEST_SHARE = 0.5
MIN_TRIALS = range(2, 51)
# Parts of addresses that would read as pages of Loadsheet.
RESERVED_SLUGS = frozenset({"new", "loadsheet"})
# Addresses of the workspaces that the service makes for itself.
OWN_SLUGS = frozenset({"library", "demo"})
# What a check raises refuses that the workspace becomes public or gets a link.
OpeningCheck = Callable[[Workspace], None]
# Each is called in the transaction that opens the workspace, before it locks a row: it may take
# seconds.
OPENING_CHECKS: list[OpeningCheck] = []
# Each is called with the workspace locked: what it finds holds until the transaction ends.
LOCKED_OPENING_CHECKS: list[OpeningCheck] = []


class WorkspaceRefused(InvalidInput):
    """The name or address of a workspace cannot be used. Nothing was changed."""


@transaction.atomic
def create(owner: User, *, name: str, slug: str) -> Workspace:
    """A new workspace with its owner; an empty slug is made from the name.

    Raises WorkspaceRefused.
    """
    # One at a time: workspaces made at once would not count each other.
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)
    owned = Membership.objects.filter(user=owner, role=Role.OWNER).count()
    if owned >= MOST_OWNED:
        raise WorkspaceRefused(
            f"You own {owned} workspaces; the limit is {MOST_OWNED}.",
            hint="Delete a workspace, or make someone else its owner.",
        )
    checked = _checked_name(name)
    workspace = Workspace(name=checked, slug=_persons_slug(slug or slugify(checked)[:60]))
    _check(workspace)
    _save(workspace)
    Membership.objects.create(user=owner, workspace=workspace, role=Role.OWNER)
    record(Act.WORKSPACE_CREATED, workspace, subject=workspace.name, by=owner)
    return workspace


def create_without_owner(*, name: str, slug: str, **settings: Any) -> Workspace:
    """A new workspace that nobody is a member of yet. `settings`: by the names of their columns.

    Raises WorkspaceRefused. Call it in a transaction that records who made it.
    """
    workspace = Workspace(name=_checked_name(name), slug=_free_slug(slug), **settings)
    _check(workspace)
    _save(workspace)
    return workspace


def own_workspace(slug: str, fields: dict[str, Any]) -> Workspace:
    """The workspace that the service has for itself at this address, made with `fields` where there
    is none.

    Raises WorkspaceRefused where a person made it: the address was not always kept for the service.
    """
    workspace, _ = Workspace.objects.get_or_create(slug=slug, defaults=fields)
    if AuditEvent.objects.filter(workspace_id=workspace.pk, act=Act.WORKSPACE_CREATED).exists():
        raise WorkspaceRefused(
            f"The workspace “{workspace.name}” at the address “{slug}” was made by a person, and "
            "the service needs the address.",
            hint="Have its owner give it another address, then try again.",
        )
    # Of a person's workspace that had the address before it was kept: links mean the service's.
    FormerSlug.objects.filter(slug=slug).delete()
    return workspace


@whole
def rename(workspace: Workspace, *, name: str, slug: str) -> None:
    """Give the workspace another name and address; links with the former slug lead on.

    Raises WorkspaceRefused.
    """
    # What was read before the lock may be out of date: none of it is stored.
    locked = lock_workspace(workspace.pk)
    before = {"name": locked.name, "address": locked.slug}
    locked.name = _checked_name(name)
    if slug != locked.slug:
        former, locked.slug = locked.slug, _persons_slug(slug, of=workspace)
        FormerSlug.objects.filter(slug=slug, workspace=workspace).delete()
        FormerSlug.objects.create(slug=former, workspace=workspace)
    _check(locked)
    _save(locked)
    workspace.name, workspace.slug = locked.name, locked.slug
    workspace.changed()
    changed = changes(before, {"name": locked.name, "address": locked.slug})
    if changed:
        record(Act.WORKSPACE_RENAMED, workspace, subject=workspace.name, **changed)


@transaction.atomic
def change_settings(
    workspace: Workspace, fields: dict[str, Any], *, owner: User | None = None
) -> None:
    """Store values of the workspace's settings, by the names of their columns.

    `owner`: who makes it public, or private again. Raises what the opening checks raise, where the
    workspace becomes public, and NotFound where `owner` was removed meanwhile.
    """
    public = Workspace.objects.filter(pk=workspace.pk, is_public=True)
    if fields.get("is_public") and not public.exists():
        check_opening(workspace)
    locked = lock_workspace(workspace.pk)
    if owner is not None:
        check_still_owner(owner, locked)
    if fields.get("is_public") and not locked.is_public:
        check_opening(locked, LOCKED_OPENING_CHECKS)
    before = {name: getattr(locked, name) for name in fields}
    Workspace.objects.filter(pk=workspace.pk).update(**fields)
    workspace.changed()
    changed = changes(before, fields)
    if "is_public" in changed:
        del changed["is_public"]
        was, now = (_visibility(values["is_public"]) for values in (before, fields))
        record(Act.WORKSPACE_VISIBILITY, workspace, visibility=change(was, now))
    if changed:
        record(Act.WORKSPACE_SETTINGS, workspace, **changed)


def _visibility(is_public: bool) -> str:
    return "public" if is_public else "private"


def current_slug(slug: str) -> str:
    """The slug that the workspace has today; `slug` itself where no workspace had it before."""
    rows = FormerSlug.objects.filter(slug=slug)
    return rows.values_list("workspace__slug", flat=True).first() or slug


def with_slug(slug: str) -> QuerySet[Workspace]:
    """The workspace with this slug, and the workspace that had it before."""
    now = Workspace.objects.filter(slug=slug).values("pk")
    before = FormerSlug.objects.filter(slug=slug).values("workspace")
    # Two ids that are looked up first: an OR over both tables would read every workspace.
    return Workspace.objects.filter(pk__in=[Subquery(now), Subquery(before)])


def _save(workspace: Workspace) -> None:
    try:
        with transaction.atomic():
            workspace.save()
    except IntegrityError as refusal:
        if not is_taken(refusal):
            raise
        # Somebody took the address since it was looked up.
        raise WorkspaceRefused(f"The address “{workspace.slug}” is taken.") from None


def _checked_name(name: str) -> str:
    cleaned = " ".join(name.replace("\0", " ").split())
    if not cleaned:
        raise WorkspaceRefused("The name is empty; expected 1 to 120 characters.")
    return cleaned


def _persons_slug(slug: str, *, of: Workspace | None = None) -> str:
    """As _free_slug, for a workspace of a person."""
    if slug in OWN_SLUGS:
        raise WorkspaceRefused(f"The address “{slug}” is taken.", hint="Choose another one.")
    return _free_slug(slug, of=of)


def _free_slug(slug: str, *, of: Workspace | None = None) -> str:
    # PostgreSQL has no NUL; the check of the whole row refuses the space.
    slug = slug.replace("\0", " ")
    former = FormerSlug.objects.filter(slug=slug)
    if of is not None:
        former = former.exclude(workspace=of)
    if not slug:
        raise WorkspaceRefused(
            "The address is empty; expected letters a to z, digits, hyphens and underscores."
        )
    if slug in RESERVED_SLUGS or former.exists() or Workspace.objects.filter(slug=slug).exists():
        raise WorkspaceRefused(f"The address “{slug[:60]}” is taken.", hint="Choose another one.")
    return slug


def _check(workspace: Workspace) -> None:
    try:
        # Whether the address is free was asked before, and the database has the last word.
        workspace.full_clean(validate_constraints=False)
    except ValidationError as error:
        field, reasons = next(iter(error.message_dict.items()))
        shown = {"slug": "address"}.get(field, field)
        got = str(getattr(workspace, field, ""))[:60]
        raise WorkspaceRefused(f"The {shown} is “{got}”. {reasons[0]}") from None


def close(workspace: Workspace) -> None:
    """End all access to the workspace, for good: members, tokens, invitations and its address.

    Call it under `lock_workspace`, with what else makes the workspace readable.
    """
    workspace.memberships.all().delete()
    # Kept until the data are removed: uploads under way refer to them.
    workspace.tokens.filter(revoked_at=None).update(revoked_at=timezone.now())
    workspace.invitations.all().delete()
    workspace.links.all().delete()
    workspace.former_slugs.all().delete()
    # The address is free again.
    workspace.slug = f"deleted-{workspace.pk.hex}"
    workspace.is_public = False
    workspace.deleted_at = timezone.now()
    workspace.save(update_fields=["slug", "is_public", "deleted_at"])
    workspace.changed()
    # Of a deleted workspace only this stays, so it says no name.
    record(Act.WORKSPACE_DELETED, workspace)


def check_still_owner(user: User, workspace: Workspace) -> None:
    """Raise NotFound for somebody who owned the workspace when the request came, and does not now.

    The checks before it is opened take seconds. To be asked under the lock of the workspace.
    """
    owners = Membership.objects.filter(workspace=workspace, role=Role.OWNER)
    if not owners.filter(user=user).exists():
        raise NotFound("You do not own this workspace any more. Nothing was changed.")


def check_opening(workspace: Workspace, checks: Iterable[OpeningCheck] = OPENING_CHECKS) -> None:
    """Raises what the checks raise."""
    for check in checks:
        check(workspace)
