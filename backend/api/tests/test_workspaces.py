"""Workspaces, their links, feed tokens, agents and secrets of webhooks through the API."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import (
    Act,
    AuditEvent,
    Membership,
    Role,
    StaffAccess,
    Token,
    User,
    Workspace,
)
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.tokens.tokens import revoke
from backend.accounts.workspace.scopes import Scope
from backend.deliveries.channels import add_channel
from backend.deliveries.signing import secret_of
from backend.feeds.tokens import tokens_of

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"
HOST = "http://127.0.0.1:8000"
MINE = f"{ROOT}/workspaces/own-lab"


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


@pytest.fixture
def admin(scene):
    person = User.objects.create_user(username="ada", password=None)
    Membership.objects.create(user=person, workspace=scene.own.workspace, role=Role.ADMIN)
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def whole(scene):
    """A token that may do everything that a token may."""
    _, clear = make_token(scene.own.user, scene.own.workspace, TokenRequest("x", list(Scope)))
    return Client(headers={"authorization": f"Bearer {clear}"})


def send(client, method, path, **body):
    return getattr(client, method)(path, body, content_type="application/json")


def acts():
    return list(AuditEvent.objects.order_by("at").values_list("act", flat=True))


def test_a_person_lists_their_workspaces_with_their_roles(scene, owner, whole):
    send(owner, "post", f"{ROOT}/workspaces", name="A second lab")
    listed = owner.get(f"{ROOT}/workspaces").json()["workspaces"]
    assert [(each["workspace"], each["role"]) for each in listed] == [
        ("a-second-lab", "owner"),
        ("own-lab", "owner"),
    ]
    page = owner.get(f"{ROOT}/workspaces?limit=1").json()
    assert owner.get(page["next"]).json()["workspaces"] == listed[1:]
    (of_token,) = whole.get(f"{ROOT}/workspaces").json()["workspaces"]
    assert (of_token["workspace"], of_token["role"]) == ("own-lab", None)


def test_a_person_makes_a_workspace_once_for_a_key(scene, owner):
    for _ in range(2):
        made = owner.post(
            f"{ROOT}/workspaces",
            {"name": "A second lab"},
            content_type="application/json",
            headers={"idempotency-key": "a-key"},
        )
        assert (made.status_code, made.json()["workspace"]) == (201, "a-second-lab")
    taken = send(owner, "post", f"{ROOT}/workspaces", name="Another", slug="own-lab")
    assert (taken.status_code, "is taken" in taken.json()["detail"]) == (400, True)
    assert acts().count(Act.WORKSPACE_CREATED) == 1


def test_what_an_owner_decides_no_token_does(scene, whole):
    for method, path in (
        ("post", f"{ROOT}/workspaces"),
        ("delete", f"{MINE}?confirm=own-lab"),
        ("post", f"{MINE}/link"),
        ("delete", f"{MINE}/link"),
    ):
        refused = send(whole, method, path, name="x")
        assert (refused.status_code, refused.json()["code"]) == (403, "not-for-tokens")
    refused = send(whole, "patch", MINE, is_public=True, min_trials=9)
    assert (refused.status_code, refused.json()["field"]) == (403, "is_public")
    scene.own.workspace.refresh_from_db()
    assert (scene.own.workspace.is_public, scene.own.workspace.min_trials) == (False, 3)


def test_an_admin_renames_and_an_owner_publishes(scene, admin, owner):
    renamed = send(admin, "patch", MINE, name="Our lab", slug="our-lab", min_trials=9)
    assert (renamed.status_code, renamed.json()["workspace"]) == (200, "our-lab")
    assert (renamed.json()["name"], renamed.json()["min_trials"]) == ("Our lab", 9)
    # The former address leads on.
    assert send(admin, "patch", MINE, is_public=True).status_code == 403
    assert send(owner, "patch", MINE, is_public=True).json()["is_public"] is True
    assert Client().get("/w/our-lab/runs").status_code == 200
    assert acts()[-3:] == [
        Act.WORKSPACE_SETTINGS,
        Act.WORKSPACE_RENAMED,
        Act.WORKSPACE_VISIBILITY,
    ]


def test_a_refused_address_changes_no_setting_either(scene, admin):
    refused = send(admin, "patch", MINE, slug="foreign-lab", min_trials=9)
    assert (refused.status_code, "is taken" in refused.json()["detail"]) == (400, True)
    scene.own.workspace.refresh_from_db()
    assert (scene.own.workspace.slug, scene.own.workspace.min_trials) == ("own-lab", 3)


def test_a_workspace_is_deleted_by_an_owner_who_confirms(scene, owner, admin):
    assert admin.delete(f"{MINE}?confirm=own-lab").status_code == 404
    for path in (MINE, f"{MINE}?confirm=own"):
        refused = owner.delete(path)
        assert (refused.status_code, refused.json()["field"]) == (400, "confirm")
        assert "?confirm=own-lab" in refused.json()["hint"]
    assert owner.delete(f"{MINE}?confirm=own-lab").status_code == 204
    assert owner.get(MINE).status_code == 404
    assert Workspace.objects.get(pk=scene.own.workspace.pk).deleted_at is not None


def test_a_link_opens_the_workspace_until_it_is_revoked(scene, owner, admin):
    assert send(admin, "post", f"{MINE}/link").status_code == 404
    made = send(owner, "post", f"{MINE}/link")
    assert (made.status_code, owner.get(MINE).json()["is_unlisted"]) == (201, True)
    visitor = Client()
    assert visitor.get(made.json()["url"].removeprefix(HOST)).status_code == 302
    assert visitor.get("/w/own-lab/runs").status_code == 200
    assert owner.delete(f"{MINE}/link").status_code == 204
    assert visitor.get("/w/own-lab/runs").status_code == 404
    assert owner.get(MINE).json()["is_unlisted"] is False


def test_a_feed_token_opens_the_feeds_until_it_is_revoked(scene, whole, admin):
    made = send(whole, "post", f"{ROOT}/feed-tokens", name="Reader")
    body = made.json()
    assert made.status_code == 201
    for name in ("alerts_url", "workspace_url"):
        assert Client().get(body[name].removeprefix(HOST)).status_code == 200
    (listed,) = whole.get(f"{ROOT}/feed-tokens").json()["feed_tokens"]
    assert (listed["id"], "token" in listed) == (body["id"], False)
    # Each member has their own.
    assert admin.get(f"{ROOT}/feed-tokens?workspace=own-lab").json()["feed_tokens"] == []
    assert admin.delete(f"{ROOT}/feed-tokens/{body['id']}").status_code == 404
    assert whole.delete(f"{ROOT}/feed-tokens/{body['id']}").status_code == 204
    assert Client().get(body["alerts_url"].removeprefix(HOST)).status_code == 404
    assert acts()[-2:] == [Act.FEED_TOKEN_CREATED, Act.FEED_TOKEN_REVOKED]


@pytest.mark.parametrize("how", ["revoked", "expired", "elsewhere"])
def test_a_feed_token_opens_no_more_than_the_token_that_made_it(scene, how):
    scopes = [Scope.ADMIN, Scope.RUNS_READ]
    asked = TokenRequest("x", scopes, networks=["127.0.0.0/8"])
    maker, clear = make_token(scene.own.user, scene.own.workspace, asked)
    client = Client(headers={"authorization": f"Bearer {clear}"})
    path = send(client, "post", f"{ROOT}/feed-tokens", name="x").json()["alerts_url"]
    path = path.removeprefix(HOST)
    assert Client().get(path).status_code == 200
    address = "192.0.2.1" if how == "elsewhere" else "127.0.0.1"
    if how == "revoked":
        revoke(maker)
    if how == "expired":
        Token.objects.update(expires_at=timezone.now())
    assert Client(REMOTE_ADDR=address).get(path).status_code == 404
    listed = tokens_of(scene.own.workspace, scene.own.user)
    assert listed.exists() == (how == "elsewhere")


@pytest.mark.parametrize("scope", [Scope.ADMIN, Scope.RUNS_READ])
def test_a_token_that_may_not_read_and_manage_makes_no_feed_token(scene, scope):
    _, clear = make_token(scene.own.user, scene.own.workspace, TokenRequest("x", [scope]))
    client = Client(headers={"authorization": f"Bearer {clear}"})
    assert send(client, "post", f"{ROOT}/feed-tokens", name="x").status_code == 403


def test_a_token_of_nobody_has_no_feed_tokens(whole):
    Token.objects.filter(name="x").update(user=None)
    refused = whole.get(f"{ROOT}/feed-tokens")
    assert (refused.status_code, "only members" in refused.json()["detail"]) == (404, True)


def test_staff_who_opened_a_workspace_make_no_feed_token_there(scene):
    staff = User.objects.create_user("of-staff", is_staff=True)
    ends = timezone.now() + timedelta(hours=1)
    StaffAccess.objects.create(
        user=staff, workspace=scene.own.workspace, reason="A question.", expires_at=ends
    )
    client = Client()
    client.force_login(staff)
    assert client.get(f"{ROOT}/feed-tokens?workspace=own-lab").status_code == 200
    body = {"name": "x", "workspace": "own-lab"}
    refused = send(client, "post", f"{ROOT}/feed-tokens", **body)
    assert (refused.status_code, "Only a member" in refused.json()["detail"]) == (404, True)
    assert client.post("/w/own-lab/feed-tokens", {"name": "x"}).status_code == 404


def test_the_secret_of_a_webhook_is_read_and_renewed(scene, whole, admin):
    def add(kind, address):
        return add_channel(scene.own.workspace, author=None, kind=kind, name=kind, address=address)

    hook = add("webhook", "https://hooks.example/1")
    path = f"{ROOT}/channels/{hook.pk}/secret"
    first = whole.get(path).json()["secret"]
    assert first == secret_of(hook)
    assert "no-store" in whole.get(path)["Cache-Control"]
    renewed = send(admin, "post", path).json()["secret"]
    assert renewed != first
    assert whole.get(path).json()["secret"] == renewed
    assert acts()[-1] == Act.CHANNEL_SECRET
    # Only webhooks are signed.
    chat = add("slack", "https://chat.example/1")
    assert whole.get(f"{ROOT}/channels/{chat.pk}/secret").status_code == 404


def test_agents_are_listed_with_what_they_do(scene, owner):
    token = Client(headers=scene.own.headers)
    agent = {"name": "loadsheet-agent", "version": "0.1.0", "hostname": "bench-2"}
    assert send(token, "post", f"{ROOT}/heartbeat", agent=agent, run=None).status_code == 200
    (row,) = owner.get(f"{ROOT}/agents?workspace=own-lab").json()["agents"]
    assert (row["host"], row["program"], row["version"]) == ("bench-2", "loadsheet-agent", "0.1.0")
    assert (row["run"], row["state"], row["shared_with"]) == (None, None, [])
    assert token.get(f"{ROOT}/agents").json()["agents"] == [row]
    assert owner.get(f"{ROOT}/agents").status_code == 400
