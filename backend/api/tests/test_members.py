"""Members and invitations through the API, by people and by tokens."""

import pytest
from django.test import Client

from backend.accounts.models import Act, AuditEvent, Invitation, Membership, Role, Token, User
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"
HERE = "workspace=own-lab"


def signed_in(person):
    client = Client()
    client.force_login(person)
    return client


def bearer(scene, *scopes):
    asked = TokenRequest("Onboarding", scopes)
    _, clear = make_token(scene.own.user, scene.own.workspace, asked)
    return Client(headers={"authorization": f"Bearer {clear}"})


def join(scene, name, role=Role.MEMBER):
    person = User.objects.create_user(username=name, password=None)
    Membership.objects.create(user=person, workspace=scene.own.workspace, role=role)
    return person


@pytest.fixture
def owner(scene):
    return signed_in(scene.own.user)


@pytest.fixture
def whole(scene):
    """A token that may do everything that a token may."""
    return bearer(scene, *Scope)


def give(client, person, role, query=""):
    path = f"{ROOT}/members/{person.pk}?{query}"
    return client.patch(path, {"role": role}, content_type="application/json")


def invite(client, **body):
    return client.post(f"{ROOT}/invitations", body, content_type="application/json")


def role_of(person):
    return Membership.objects.filter(user=person).values_list("role", flat=True).first()


def last_event():
    return AuditEvent.objects.order_by("at").last()


def test_members_are_listed_by_name_in_pages_with_their_roles(scene, owner):
    for name in ("ada", "zuse", "grace"):
        join(scene, name)
    seen, path = [], f"{ROOT}/members?{HERE}&limit=2"
    while path:
        page = owner.get(path).json()
        seen += [(member["name"], member["role"]) for member in page["members"]]
        path = page["next"]
    assert seen == [
        ("ada", "member"),
        ("grace", "member"),
        ("own-lab", "owner"),
        ("viewer", "viewer"),
        ("zuse", "member"),
    ]


def test_a_viewer_lists_members_and_changes_none(scene):
    viewer = signed_in(scene.viewer)
    assert viewer.get(f"{ROOT}/members?{HERE}").status_code == 200
    assert give(viewer, scene.viewer, "owner", HERE).status_code == 404
    other = join(scene, "ada")
    refused = viewer.delete(f"{ROOT}/members/{other.pk}?{HERE}")
    assert (refused.status_code, "You are viewer" in refused.json()["detail"]) == (409, True)


def test_a_session_names_its_workspace(scene, owner):
    refused = give(owner, scene.viewer, "member")
    assert (refused.status_code, refused.json()["field"]) == (400, "workspace")
    assert role_of(scene.viewer) == Role.VIEWER


def test_a_changed_role_is_an_event_with_who_and_what(scene, whole):
    changed = give(whole, scene.viewer, "admin")
    assert (changed.status_code, changed.json()["role"]) == (200, "admin")
    assert role_of(scene.viewer) == Role.ADMIN
    event = last_event()
    assert (event.act, event.token_name, event.subject) == (
        Act.MEMBER_ROLE,
        "Onboarding",
        "viewer",
    )
    assert event.detail["role"] == {"was": "viewer", "is": "admin"}


def test_a_workspace_is_transferred_by_its_owner_and_by_no_token(scene, owner, whole):
    for path in (scene.viewer, scene.own.user):
        assert give(whole, path, "owner").status_code == 409
    assert give(owner, scene.own.user, "admin", HERE).status_code == 409  # nobody else owns it
    assert give(owner, scene.viewer, "owner", HERE).status_code == 200
    left = owner.delete(f"{ROOT}/members/{scene.own.user.pk}?{HERE}")
    assert (left.status_code, role_of(scene.own.user)) == (204, None)
    assert last_event().act == Act.MEMBER_LEFT


def test_a_token_never_touches_an_owner(scene, whole):
    assert give(whole, scene.own.user, "viewer").status_code == 409
    assert whole.delete(f"{ROOT}/members/{scene.own.user.pk}").status_code == 409
    assert role_of(scene.own.user) == Role.OWNER


def test_a_token_gives_only_roles_whose_scopes_it_has(scene):
    onboarding = bearer(scene, Scope.ADMIN, Scope.RUNS_READ)
    for answer in (give(onboarding, scene.viewer, "member"), invite(onboarding, role="member")):
        problem = answer.json()
        assert answer.status_code == 409
        assert "You can give: viewer." in problem["detail"]
        assert problem["hint"].endswith("For “member”, this token lacks runs:write, agent.")
    assert invite(onboarding, role="viewer").status_code == 201
    assert (
        "You can give: none." in invite(bearer(scene, Scope.ADMIN), role="viewer").json()["detail"]
    )


def test_a_token_without_admin_manages_nobody(scene):
    reader = bearer(scene, Scope.RUNS_READ, Scope.RUNS_WRITE, Scope.AGENT)
    for answer in (
        reader.get(f"{ROOT}/members"),
        give(reader, scene.viewer, "member"),
        reader.delete(f"{ROOT}/members/{scene.viewer.pk}"),
        reader.get(f"{ROOT}/invitations"),
        invite(reader, role="viewer"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "scope-is-missing")


def test_a_removed_member_and_their_tokens_are_out(scene, whole):
    ada = join(scene, "ada")
    _, clear = make_token(ada, scene.own.workspace, TokenRequest("x", [Scope.RUNS_READ]))
    assert whole.delete(f"{ROOT}/members/{ada.pk}").status_code == 204
    assert last_event().act == Act.MEMBER_REMOVED
    of_ada = Client(headers={"authorization": f"Bearer {clear}"})
    assert of_ada.get(f"{ROOT}/runs").status_code == 401
    assert whole.delete(f"{ROOT}/members/{ada.pk}").status_code == 404


def test_an_invited_person_joins_by_the_link_which_is_shown_once(scene, whole):
    made = invite(whole, role="member")
    body = made.json()
    assert (made.status_code, body["is_sent"], body["author"]) == (201, False, "own-lab")
    (listed,) = whole.get(f"{ROOT}/invitations").json()["invitations"]
    assert listed["id"] == body["id"]
    assert "url" not in listed
    ada = User.objects.create_user(username="ada", password=None)
    path = body["url"].removeprefix("http://127.0.0.1:8000")
    assert signed_in(ada).post(f"{path}/join").status_code == 302
    assert role_of(ada) == Role.MEMBER
    assert whole.get(f"{ROOT}/invitations").json()["invitations"] == []


def test_a_mail_is_sent_where_the_service_sends_mail(scene, whole, settings, mailoutbox):
    assert invite(whole, role="viewer", email="ada@lab.example").json()["email"] == ""
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    body = invite(whole, role="viewer", email="ada@lab.example").json()
    assert (body["email"], body["is_sent"]) == ("ada@lab.example", True)
    assert body["url"] in mailoutbox[-1].body
    refused = invite(whole, role="viewer", email="ada")
    assert (refused.status_code, "name@example.org" in refused.json()["detail"]) == (400, True)


def test_a_revoked_invitation_lets_nobody_in(scene, whole):
    body = invite(whole, role="viewer").json()
    assert whole.delete(f"{ROOT}/invitations/{body['id']}").status_code == 204
    assert last_event().act == Act.INVITATION_REVOKED
    path = body["url"].removeprefix("http://127.0.0.1:8000")
    assert signed_in(scene.foreign.user).post(f"{path}/join").status_code == 410


def test_a_token_of_nobody_invites_nobody(scene, whole):
    Token.objects.filter(name="Onboarding").update(user=None)
    refused = invite(whole, role="viewer")
    assert (refused.status_code, "so it cannot invite" in refused.json()["detail"]) == (
        409,
        True,
    )
    assert Invitation.objects.count() == 0
