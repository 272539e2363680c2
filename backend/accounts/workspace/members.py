"""Who belongs to a workspace: changing roles, removing, leaving.

Admins manage everyone but owners; only an owner appoints or removes an owner. A token with the
scope admin acts as an admin, and gives only roles whose scopes it has itself. A workspace always
has an owner.
"""

from uuid import UUID

from django.db.models import F, QuerySet
from django.dispatch import Signal

from backend.accounts.audit import change, record
from backend.accounts.models import Act, Membership, Role, Token, User, Workspace
from backend.accounts.workspace.scopes import Scope, scopes_of_role
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.errors import Conflict, NotFound
from backend.transactions import whole

# In the transaction in which a member left or was removed. Arguments: workspace_id, user_id.
member_left = Signal()
# In rising order, as the class says.
_ROLES = list(Role)
_NO_MEMBER = "This person is not a member of the workspace."


class MemberRefused(Conflict):
    """The members cannot be changed like this. Nothing was changed."""


def roles_given_by(role: str | None) -> list[Role]:
    """The roles that a member with `role` may give to others; empty for viewers and members."""
    if role not in (Role.ADMIN, Role.OWNER):
        return []
    return _ROLES[: _ROLES.index(Role(role)) + 1]


def role_of(user: User | None, workspace: Workspace) -> str | None:
    """The role of `user` in the workspace; None for everyone who is no member."""
    if user is None:
        return None
    rows = Membership.objects.filter(user=user, workspace=workspace)
    return rows.values_list("role", flat=True).first()


def manager_role(actor: User | Token, workspace: Workspace) -> str | None:
    """The role with which `actor` manages members: a token with the scope admin is an admin."""
    if not isinstance(actor, Token):
        return role_of(actor, workspace)
    is_own = actor.workspace_id == workspace.pk and Scope.ADMIN in actor.scopes
    return Role.ADMIN if is_own else None


def roles_to_give(actor: User | Token, workspace: Workspace) -> list[Role]:
    """The roles that `actor` may give: a token none whose scopes it does not have itself."""
    roles = roles_given_by(manager_role(actor, workspace))
    if not isinstance(actor, Token):
        return roles
    own = set(actor.scopes)
    return [role for role in roles if own.issuperset(scopes_of_role(role))]


def check_may_give(actor: User | Token, workspace: Workspace, role: str) -> None:
    """Raises MemberRefused for a role that `actor` cannot give."""
    roles = roles_to_give(actor, workspace)
    if role in roles:
        return
    raise MemberRefused(
        f"The role is “{role[:20]}”, which you cannot give. You can give: "
        f"{', '.join(roles) or 'none'}.",
        hint=_hint_for_token(actor, role) if isinstance(actor, Token) else "",
    )


def _hint_for_token(token: Token, role: str) -> str:
    """Which scopes the token lacks to give `role`."""
    if role == Role.OWNER:
        return "A token cannot make an owner. An owner who is signed in can."
    missing = [scope for scope in scopes_of_role(role) if scope not in token.scopes]
    return (
        "A token gives only roles whose scopes it has. "
        f"For “{role[:20]}”, this token lacks {', '.join(missing)}."
    )


def members_of(workspace: Workspace) -> QuerySet[Membership]:
    """The members with their users; `name` is the user name."""
    rows = Membership.objects.filter(workspace=workspace).select_related("user", "workspace")
    return rows.annotate(name=F("user__username"))


@whole
def change_role(actor: User | Token, workspace: Workspace, user_id: UUID, role: str) -> Membership:
    """Give a member another role; raises MemberRefused and NotFound."""
    members = _locked(workspace)
    membership = _member(members, user_id)
    _check_may_manage(actor, workspace, membership)
    check_may_give(actor, workspace, role)
    if role != Role.OWNER:
        _check_owner_remains(members, membership)
    was, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    if was != role:
        record(
            Act.MEMBER_ROLE,
            workspace,
            subject=membership.user,
            subject_id=user_id,
            role=change(str(was), role),
        )
    return membership


@whole
def remove(actor: User | Token, workspace: Workspace, user_id: UUID) -> User:
    """Take a member out of the workspace; anyone may remove themselves.

    What the member made to be let in by ends: tokens, feed tokens, invitations. It stays ended when
    the person comes again. Raises MemberRefused and NotFound.
    """
    members = _locked(workspace)
    membership = _member(members, user_id)
    if membership.user_id != actor.pk:
        _check_may_manage(actor, workspace, membership)
    _check_owner_remains(members, membership)
    membership.delete()
    act = Act.MEMBER_LEFT if membership.user_id == actor.pk else Act.MEMBER_REMOVED
    member_left.send(None, workspace_id=workspace.pk, user_id=user_id)
    record(act, workspace, subject=membership.user, subject_id=user_id, role=membership.role)
    return membership.user


def _locked(workspace: Workspace) -> list[Membership]:
    # The workspace's row is the lock: two owners who leave at once must not leave it without one.
    lock_workspace(workspace.pk)
    return list(Membership.objects.filter(workspace=workspace).select_related("user"))


def _member(members: list[Membership], user_id: UUID) -> Membership:
    for membership in members:
        if membership.user_id == user_id:
            return membership
    raise NotFound(_NO_MEMBER)


def _check_may_manage(actor: User | Token, workspace: Workspace, membership: Membership) -> None:
    role = manager_role(actor, workspace)
    if role is None:
        raise NotFound(_NO_MEMBER)
    if membership.role not in roles_given_by(role):
        raise MemberRefused(
            f"You are {role} and {membership.user} is {membership.role} of this workspace.",
            hint="Ask an owner of the workspace.",
        )


def _check_owner_remains(members: list[Membership], leaving: Membership) -> None:
    owners = [membership for membership in members if membership.role == Role.OWNER]
    if owners == [leaving]:
        raise MemberRefused(
            f"{leaving.user} is the only owner of this workspace.",
            hint="Make another member an owner first.",
        )
