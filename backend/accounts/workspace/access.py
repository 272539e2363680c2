"""The one place that says who may see and change what."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.accounts.limits.throttle import site_of
from backend.accounts.models import Membership, Role, StaffAccess, Token, User, Workspace
from backend.accounts.workspace.scopes import Scope
from backend.accounts.workspace.workspaces import current_slug
from backend.errors import NotFound

Actor = User | Token | None
# What a user is in each workspace, by its id.
Roles = Mapping[UUID, str | None]
WRITERS = [Role.MEMBER, Role.ADMIN, Role.OWNER]
# How the name of a viewer without an account begins.
VISITOR = "address:"


def name_of_sender(actor: User | Token) -> str:
    """The key of what is counted or kept for each sender."""
    # A signed-in user may be a lazy object, whose type has another name.
    return f"{'token' if isinstance(actor, Token) else 'user'}:{actor.pk}"


def name_of_viewer(actor: Actor, meta: Mapping[str, str]) -> str:
    """The name under which slow work of this viewer is counted and limited.

    A user has one name, with all of the user's tokens. A visitor without an account has the name
    of the address, in every workspace: members must not wait for visitors of a public workspace.
    Of IPv6 that is the /48: one host may have 65,536 networks of /64, and would have as many names.
    """
    if isinstance(actor, Token) and actor.user_id is not None:
        return f"user:{actor.user_id}"
    return f"{VISITOR}{site_of(meta)}" if actor is None else name_of_sender(actor)


def workspaces_of(actor: Actor) -> QuerySet[Workspace]:
    """The workspaces whose private results `actor` may read."""
    if isinstance(actor, Token):
        return Workspace.objects.filter(pk__in=_ids_for_token(actor))
    if not isinstance(actor, User):
        return Workspace.objects.none()
    if actor.is_staff:
        return Workspace.objects.filter(pk__in=_ids_for_staff(actor))
    return Workspace.objects.filter(memberships__user=actor)


def _ids_for_token(token: Token) -> list[UUID]:
    return [token.workspace_id] if Scope.RUNS_READ in token.scopes else []


def _ids_for_staff(user: User) -> list[UUID]:
    """The workspaces of a member of the staff: their own, and those opened within the hour."""
    return [*user.memberships.values_list("workspace", flat=True), *_opened_by(user)]


def _opened_by(user: User) -> QuerySet[StaffAccess, UUID]:
    opened = user.staff_accesses.filter(expires_at__gt=timezone.now(), workspace__deleted_at=None)
    return opened.values_list("workspace", flat=True)


def roles_of(user: User | None) -> Roles:
    """The workspaces of `workspaces_of`, each with the user's role in it; None if a member of
    the staff has opened it.
    """
    if user is None:
        return {}
    own = dict(user.memberships.values_list("workspace", "role"))
    return dict.fromkeys(_opened_by(user)) | own if user.is_staff else own


def workspace_ids_of(actor: Actor) -> list[UUID]:
    """The ids of `workspaces_of`; of a token without a statement."""
    if isinstance(actor, Token):
        return _ids_for_token(actor)
    return list(workspaces_of(actor).values_list("pk", flat=True))


def readable_ids(actor: Actor) -> list[UUID]:
    """The workspaces whose runs `actor` may read: those of `workspaces_of`, and public ones."""
    return list({*workspace_ids_of(actor), *public_ids()})


def public_ids() -> QuerySet[Workspace, UUID]:
    """The workspaces whose runs everybody may read."""
    return Workspace.objects.public().values_list("pk", flat=True)


def ids_for_question(actor: Actor, slug: str | None, *, shared: Iterable[UUID] = ()) -> list[UUID]:
    """The workspaces that a comparison may ask: a public one, and one of `shared`, only where it
    is named.
    """
    own = workspace_ids_of(actor)
    if slug is None:
        return own
    readable = Q(pk__in=public_ids()) | Q(pk__in=shared)
    named = Workspace.objects.filter(readable, slug=current_slug(slug))
    return list({*own, *named.values_list("pk", flat=True)})


def may_write(actor: Actor, workspace_id: UUID, roles: Roles | None = None) -> bool:
    """Whether `actor` may upload to, freeze in and change the workspace.

    `roles`: those of `roles_of` where they are known; else they are read.
    """
    if isinstance(actor, Token):
        return actor.workspace_id == workspace_id and Scope.RUNS_WRITE in actor.scopes
    return _has_role(actor, workspace_id, WRITERS, roles)


def hold_right_to_write(actor: User | Token, workspace_id: UUID) -> None:
    """As `may_write` was when the request came, asked again where long work lay between.

    Until the transaction ends, nobody takes the right away. Raises NotFound for who lost it.
    """
    held: QuerySet[Any] = Token.objects.filter(pk=actor.pk, revoked_at=None)
    if not isinstance(actor, Token):
        held = Membership.objects.filter(user=actor, workspace=workspace_id, role__in=WRITERS)
    if not held.select_for_update(no_key=True, of=("self",)).values_list("pk").first():
        raise NotFound("You may not change this workspace any more. Nothing was changed.")


def may_upload(token: Token) -> bool:
    """Whether the token may send uploads to its workspace."""
    return bool({Scope.RUNS_WRITE, Scope.AGENT} & set(token.scopes))


def may_administer(actor: Actor, workspace_id: UUID, roles: Roles | None = None) -> bool:
    """Whether `actor` may manage the workspace: its settings, members, tokens and audit log."""
    if isinstance(actor, Token):
        return actor.workspace_id == workspace_id and Scope.ADMIN in actor.scopes
    return _has_role(actor, workspace_id, [Role.ADMIN, Role.OWNER], roles)


def may_own(actor: Actor, workspace_id: UUID, roles: Roles | None = None) -> bool:
    """Whether `actor` may delete the workspace; a token never may."""
    return not isinstance(actor, Token) and _has_role(actor, workspace_id, [Role.OWNER], roles)


def may_revoke(actor: Actor, token: Token) -> bool:
    """Whether `actor` may end `token`: an admin any of the workspace, members those they made."""
    if may_administer(actor, token.workspace_id):
        return True
    if not isinstance(actor, User) or token.user_id != actor.pk:
        return False
    return _has_role(actor, token.workspace_id, list(Role))


def _has_role(
    user: User | None, workspace_id: UUID, wanted: list[Role], roles: Roles | None = None
) -> bool:
    if not isinstance(user, User):
        return False
    if roles is not None:
        return roles.get(workspace_id) in wanted
    return Membership.objects.filter(user=user, workspace=workspace_id, role__in=wanted).exists()
