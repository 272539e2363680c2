"""Roles, invitations and owners: who may change whom."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import (
    FormerSlug,
    Invitation,
    Membership,
    Role,
    TokenKind,
    User,
    Workspace,
)
from backend.accounts.tokens import token_making, tokens
from backend.accounts.workspace import access, invitations, members, workspace_links, workspaces
from backend.errors import NotFound
from backend.feeds import tokens as feed_tokens

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace():
    return Workspace.objects.create(slug="lab", name="Lab")


@pytest.fixture
def people(workspace):
    """A user of each role, by the role's name."""
    return {role.value: member_of(workspace, role) for role in Role}


def member_of(workspace, role, name=""):
    user = User.objects.create_user(username=name or f"the-{role}", password=None)
    Membership.objects.create(user=user, workspace=workspace, role=role)
    return user


def role_of(user, workspace):
    return members.role_of(user, workspace)


@pytest.mark.parametrize(
    ("actor", "member", "role", "allowed"),
    [
        ("owner", "viewer", "owner", True),
        ("owner", "admin", "viewer", True),
        ("admin", "viewer", "admin", True),
        ("admin", "member", "viewer", True),
        ("admin", "viewer", "owner", False),
        ("admin", "owner", "viewer", False),
        ("member", "viewer", "member", False),
        ("viewer", "member", "viewer", False),
        ("owner", "viewer", "emperor", False),
    ],
)
def test_who_gives_which_role(workspace, people, actor, member, role, allowed):
    before = role_of(people[member], workspace)
    if allowed:
        members.change_role(people[actor], workspace, people[member].pk, role)
        assert role_of(people[member], workspace) == role
    else:
        with pytest.raises(members.MemberRefused):
            members.change_role(people[actor], workspace, people[member].pk, role)
        assert role_of(people[member], workspace) == before


@pytest.mark.parametrize(("actor", "member"), [("admin", "owner"), ("member", "viewer")])
def test_who_may_not_remove_whom(workspace, people, actor, member):
    with pytest.raises(members.MemberRefused):
        members.remove(people[actor], workspace, people[member].pk)
    assert role_of(people[member], workspace) == member


def test_everyone_but_the_last_owner_may_leave(workspace, people):
    for role in ("viewer", "member", "admin"):
        members.remove(people[role], workspace, people[role].pk)
    with pytest.raises(members.MemberRefused, match="only owner"):
        members.remove(people["owner"], workspace, people["owner"].pk)


def test_the_last_owner_stays_owner(workspace, people):
    with pytest.raises(members.MemberRefused, match="only owner"):
        members.change_role(people["owner"], workspace, people["owner"].pk, Role.MEMBER)
    member_of(workspace, Role.OWNER, "second")
    members.change_role(people["owner"], workspace, people["owner"].pk, Role.MEMBER)
    assert role_of(people["owner"], workspace) == Role.MEMBER


def test_a_stranger_is_no_member(workspace, people):
    stranger = User.objects.create_user(username="stranger", password=None)
    with pytest.raises(NotFound):
        members.remove(people["owner"], workspace, stranger.pk)
    with pytest.raises(NotFound):
        members.change_role(stranger, workspace, people["viewer"].pk, Role.MEMBER)


def test_tokens_of_a_removed_member_stop_working(workspace, people):
    clear = tokens.issue(
        TokenKind.AGENT,
        workspace,
        user=people["member"],
        name="bench",
        lifetime=tokens.AGENT_LIFETIME,
    )
    tokens.find(clear, TokenKind.AGENT)
    members.remove(people["owner"], workspace, people["member"].pk)
    with pytest.raises(tokens.TokenRefused, match="no longer a member"):
        tokens.find(clear, TokenKind.AGENT)


def test_what_a_removed_member_made_stays_ended_when_they_come_again(workspace, people):
    life = tokens.AGENT_LIFETIME
    clear = tokens.issue(
        TokenKind.AGENT, workspace, user=people["admin"], name="bench", lifetime=life
    )
    invitation = invitations.invite(people["admin"], workspace, Role.ADMIN)
    feed = feed_tokens.make_token(workspace, people["admin"], "reader")[1]
    assert feed_tokens.opened_by(feed, None) == workspace.pk

    members.remove(people["owner"], workspace, people["admin"].pk)
    again = invitations.invite(people["owner"], workspace, Role.ADMIN)
    invitations.accept(again, people["admin"])

    with pytest.raises(tokens.TokenRefused, match="revoked"):
        tokens.find(clear, TokenKind.AGENT)
    guest = User.objects.create_user(username="guest", password=None)
    with pytest.raises(invitations.InvitationRefused, match="revoked"):
        invitations.accept(invitation, guest)
    assert feed_tokens.opened_by(feed, None) is None


def test_nobody_makes_a_token_who_is_removed_while_it_waits(workspace, people, monkeypatch):
    lock = token_making.lock_workspace

    def lock_late(workspace_id):
        members.remove(people["owner"], workspace, people["member"].pk)
        return lock(workspace_id)

    monkeypatch.setattr(token_making, "lock_workspace", lock_late)
    with pytest.raises(token_making.TokenNotMade):
        token_making.make_agent_token(people["member"], workspace, "late")


def test_a_link_to_sign_in_stays_with_the_account(workspace, people):
    life = tokens.LINK_LIFETIME
    link = tokens.issue(TokenKind.LINK, workspace, user=people["member"], name="", lifetime=life)
    members.remove(people["owner"], workspace, people["member"].pk)
    assert tokens.redeem_link(link) == people["member"]


OPENINGS = {
    "publish": lambda workspace, owner: workspaces.change_settings(
        workspace, {"is_public": True}, owner=owner
    ),
    "make a link": lambda workspace, owner: workspace_links.make_link(owner, workspace),
}


@pytest.mark.parametrize("opening", OPENINGS)
def test_an_owner_who_is_removed_while_texts_are_searched_opens_nothing(
    workspace, people, opening, request
):
    second = member_of(workspace, Role.OWNER, "second")

    def search(_):
        members.remove(second, workspace, people["owner"].pk)

    workspaces.OPENING_CHECKS.append(search)
    request.addfinalizer(lambda: workspaces.OPENING_CHECKS.remove(search))
    with pytest.raises(NotFound, match="do not own"):
        OPENINGS[opening](workspace, people["owner"])


def test_an_admin_writes_and_administers(workspace, people):
    assert access.may_write(people["admin"], workspace.pk)
    assert access.may_administer(people["admin"], workspace.pk)
    assert not access.may_administer(people["member"], workspace.pk)


class TestInvitations:
    def guest(self):
        return User.objects.create_user(username="guest", password=None)

    def test_one_person_joins_once(self, workspace, people):
        clear = invitations.invite(people["owner"], workspace, Role.MEMBER)
        guest, other = self.guest(), User.objects.create_user(username="other", password=None)

        assert invitations.accept(clear, guest) == workspace
        assert role_of(guest, workspace) == Role.MEMBER
        with pytest.raises(invitations.InvitationRefused, match="already used"):
            invitations.accept(clear, other)

    def test_a_member_keeps_the_role_and_the_invitation(self, workspace, people):
        clear = invitations.invite(people["owner"], workspace, Role.VIEWER)
        invitations.accept(clear, people["admin"])
        assert role_of(people["admin"], workspace) == Role.ADMIN
        assert invitations.accept(clear, self.guest()) == workspace

    def test_the_clear_text_is_not_stored(self, workspace, people):
        clear = invitations.invite(people["owner"], workspace, Role.MEMBER)
        stored = Invitation.objects.get()
        assert clear.encode() not in bytes(stored.digest)
        assert len(bytes(stored.digest)) == 32

    @pytest.mark.parametrize(
        ("end", "reason"),
        [
            ({"expires_at": timezone.now() - timedelta(days=1)}, "expired"),
            ({"revoked_at": timezone.now()}, "revoked"),
        ],
    )
    def test_an_ended_invitation_says_why(self, workspace, people, end, reason):
        clear = invitations.invite(people["owner"], workspace, Role.MEMBER)
        Invitation.objects.update(**end)
        with pytest.raises(invitations.InvitationRefused, match=reason):
            invitations.accept(clear, self.guest())

    def test_it_ends_with_the_role_of_its_maker(self, workspace, people):
        clear = invitations.invite(people["admin"], workspace, Role.ADMIN)
        members.change_role(people["owner"], workspace, people["admin"].pk, Role.MEMBER)
        with pytest.raises(invitations.InvitationRefused, match="revoked"):
            invitations.accept(clear, self.guest())

    @pytest.mark.parametrize(("actor", "role"), [("member", "viewer"), ("admin", "owner")])
    def test_nobody_gives_more_than_they_may(self, workspace, people, actor, role):
        with pytest.raises(members.MemberRefused):
            invitations.invite(people[actor], workspace, role)

    @pytest.mark.parametrize("clear", ["", "nonsense", "ls_invite_" + "0" * 36])
    def test_what_is_not_ours_is_refused(self, clear):
        with pytest.raises(invitations.InvitationRefused, match="does not know"):
            invitations.find(clear)


class TestWorkspaces:
    def test_who_makes_it_owns_it(self):
        owner = User.objects.create_user(username="ada", password=None)
        workspace = workspaces.create(owner, name=" Web  team ", slug="")
        assert (workspace.name, workspace.slug) == ("Web team", "web-team")
        assert role_of(owner, workspace) == Role.OWNER

    @pytest.mark.parametrize(
        ("name", "slug", "reason"),
        [
            ("", "x", "name is empty"),
            ("x" * 121, "x", "at most 120"),
            ("Lab", "lab", "is taken"),
            ("Lab", "a b", "address is “a b”"),
            ("Lab", "a\0b", "address is “a b”"),
            ("日本", "", "address is empty"),
            ("New", "new", "is taken"),
        ],
    )
    def test_what_cannot_be_its_name(self, workspace, name, slug, reason):
        owner = User.objects.create_user(username="ada", password=None)
        with pytest.raises(workspaces.WorkspaceRefused, match=reason):
            workspaces.create(owner, name=name, slug=slug)

    def test_one_person_cannot_own_very_many(self, monkeypatch):
        monkeypatch.setattr(workspaces, "MOST_OWNED", 1)
        owner = User.objects.create_user(username="ada", password=None)
        workspaces.create(owner, name="One", slug="one")
        with pytest.raises(workspaces.WorkspaceRefused, match="the limit is 1"):
            workspaces.create(owner, name="Two", slug="two")

    def test_the_former_address_is_kept_for_it(self, workspace):
        workspaces.rename(workspace, name="Lab", slug="bench")
        assert workspaces.current_slug("lab") == "bench"
        owner = User.objects.create_user(username="ada", password=None)
        with pytest.raises(workspaces.WorkspaceRefused, match="is taken"):
            workspaces.create(owner, name="Lab", slug="lab")
        workspaces.rename(workspace, name="Lab", slug="lab")
        assert workspaces.current_slug("lab") == "lab"
        assert list(FormerSlug.objects.values_list("slug", flat=True)) == ["bench"]
