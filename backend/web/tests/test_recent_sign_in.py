"""Acts that would do lasting harm ask a session of yesterday for its password again."""

import io
import itertools
import uuid

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from backend.accounts.models import (
    Invitation,
    Membership,
    Role,
    Token,
    User,
    Workspace,
    WorkspaceLink,
)
from backend.accounts.sign_in.recent_sign_in import SIGNED_IN_AT
from backend.feeds.models import FeedToken
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
PASSWORD = "a long right password"
AGAIN = "/accounts/reauthenticate/"
FIRST_PASSWORD = "/accounts/password/set/"
TOKENS = "/w/own-lab/tokens"
# The counts are shared with other tests: no address is used twice.
ADDRESSES = (f"192.0.2.{number}" for number in itertools.count(1))


@pytest.fixture
def person(scene):
    """A browser of the owner, who signed in with a password."""
    user = scene.own.user
    user.set_password(PASSWORD)
    user.save()
    client = Client(REMOTE_ADDR=next(ADDRESSES))
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    assert client.get("/workspaces").status_code == 200
    return client


def age(client, seconds):
    session = client.session
    session[SIGNED_IN_AT] -= seconds
    session.save()


def token_form(**more):
    return {"name": f"made-{uuid.uuid4().hex[:6]}", "scope": "runs:read", "days": "1", **more}


def make_token(client):
    form = token_form()
    return client.post(TOKENS, form), Token.objects.filter(name=form["name"])


def asks_again(answer):
    return answer.status_code == 302 and answer["Location"].startswith(AGAIN)


def test_a_fresh_sign_in_is_asked_nothing(person):
    answer, made = make_token(person)
    assert answer.status_code == 200
    assert made.exists()
    # Nor to add a second factor.
    assert person.get("/accounts/2fa/totp/activate/").status_code == 200


def test_a_session_is_asked_after_the_time(person):
    limit_s = settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    age(person, limit_s - 60)
    assert make_token(person)[0].status_code == 200
    age(person, 120)
    answer, made = make_token(person)
    assert asks_again(answer)
    assert not made.exists()


def test_a_session_from_before_is_asked(person):
    session = person.session
    del session[SIGNED_IN_AT]
    session.save()
    assert asks_again(make_token(person)[0])


def test_the_password_goes_on_with_what_was_sent(person):
    age(person, 3600)
    answer, made = make_token(person)
    wrong = person.post(answer["Location"], {"password": "wrong"})
    assert "password" in html_of(wrong).lower()
    assert not made.exists()
    shown = person.post(AGAIN, {"password": PASSWORD, "next": TOKENS})
    assert made.exists()
    assert "ls_api_" in html_of(shown)
    assert make_token(person)[0].status_code == 200


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (TOKENS, token_form()),
        ("/w/own-lab/first-token", {}),
        ("/w/own-lab/delete", {"confirm": "own-lab"}),
        ("/w/own-lab/link", {}),
        ("/w/own-lab/feed-tokens", {"name": "reader"}),
        ("/w/own-lab/members", {"role": "owner"}),
        ("/w/own-lab/members/{mate}/role", {"role": "owner"}),
        ("/w/own-lab/members/{mate}/remove", {}),
        ("/accounts/2fa/totp/deactivate/", {}),
        ("/accounts/2fa/totp/activate/", {"code": "000000"}),
        ("/accounts/2fa/recovery-codes/generate/", {}),
        ("/accounts/email/", {"action_add": "", "email": "thief@example.org"}),
    ],
)
def test_each_of_these_acts_asks(person, scene, path, form):
    if "deactivate" in path or "recovery" in path:
        TOTP.activate(scene.own.user, generate_totp_secret())
    mate = make_mate(scene.own.workspace)
    before = everything()
    age(person, 3600)
    assert asks_again(person.post(path.format(mate=mate.pk), form))
    assert everything() == before
    assert Workspace.objects.filter(slug="own-lab").exists()
    assert not scene.own.user.emailaddress_set.exists()


def make_mate(workspace):
    mate = User.objects.create_user(username="mate")
    Membership.objects.create(user=mate, workspace=workspace, role=Role.MEMBER)
    return mate


def everything():
    """What these acts would change."""
    made = (Token, FeedToken, Invitation, WorkspaceLink, Authenticator)
    roles = sorted(Membership.objects.values_list("user__username", "role"))
    return [model.objects.count() for model in made], roles


def sends_json(method, path, body):
    def send(client, mate):
        address = path.format(mate=mate.pk)
        return getattr(client, method)(address, body, content_type="application/json")

    return send


@pytest.mark.parametrize(
    "send",
    [
        sends_json("post", "/api/v1/feed-tokens", {"workspace": "own-lab", "name": "reader"}),
        sends_json("post", "/api/v1/invitations", {"workspace": "own-lab", "role": "owner"}),
        sends_json("patch", "/api/v1/members/{mate}?workspace=own-lab", {"role": "owner"}),
        sends_json("delete", "/api/v1/members/{mate}?workspace=own-lab", None),
        sends_json("post", "/api/v1/workspaces/own-lab/link", None),
        sends_json(
            "post",
            "/api/v1/tokens",
            {"workspace": "own-lab", "name": "ci", "scopes": ["runs:read"]},
        ),
        sends_json("delete", "/api/v1/workspaces/own-lab?confirm=own-lab", None),
    ],
    ids=["feed", "invitation", "role", "removal", "link", "token", "workspace"],
)
def test_the_api_says_where_to_prove_it(person, scene, send):
    mate = make_mate(scene.own.workspace)
    age(person, 3600)
    before = everything()
    refused = send(person, mate)
    assert (refused.status_code, refused.json()["code"]) == (403, "sign-in-again")
    assert AGAIN in refused.json()["hint"]
    assert everything() == before
    person.post(AGAIN, {"password": PASSWORD})
    assert send(person, mate).status_code in (200, 201, 204)


def test_a_token_proves_nothing_again(scene):
    """It has no password; and it can be revoked."""
    maker = Client()
    maker.force_login(scene.own.user)
    body = {"workspace": "own-lab", "name": "ci", "scopes": ["runs:read", "admin"]}
    made = maker.post("/api/v1/tokens", body, content_type="application/json").json()["token"]
    answer = Client().post(
        "/api/v1/tokens",
        {"name": "of a token", "scopes": ["runs:read"]},
        content_type="application/json",
        headers={"authorization": f"Bearer {made}"},
    )
    assert answer.status_code == 201


def test_strangers_see_nothing_of_it(scene):
    stranger = Client()
    stranger.force_login(scene.foreign.user)
    age(stranger, 3600)
    for path in (TOKENS, "/w/own-lab/delete"):
        assert stranger.post(path, {"confirm": "own-lab"}).status_code == 404


def test_who_has_no_password_is_not_asked_for_it(scene):
    """People of a sign-in link: the link is what they have."""
    scene.own.user.set_unusable_password()
    scene.own.user.save()
    client = Client()
    client.force_login(scene.own.user)
    age(client, 3600)
    assert make_token(client)[0].status_code == 200


def test_guessing_the_password_of_a_session_ends(person, settings):
    settings.FAILED_SIGN_INS_PER_ACCOUNT = 3
    age(person, 3600)
    answers = [person.post(AGAIN, {"password": "wrong"}).status_code for _ in range(4)]
    assert answers == [200, 200, 200, 429]
    # The right one waits too, and the owner signs in elsewhere meanwhile.
    assert person.post(AGAIN, {"password": PASSWORD}).status_code == 429
    elsewhere = Client(REMOTE_ADDR=next(ADDRESSES))
    elsewhere.post("/accounts/login/", {"login": "own-lab", "password": PASSWORD})
    assert elsewhere.get("/workspaces").status_code == 200


def test_the_form_says_what_is_done_afterwards(person):
    age(person, 3600)
    answer = person.post(TOKENS, token_form(name="of-a-stranger"))
    page = html_of(person.get(answer["Location"]))
    assert "of-a-stranger" in page
    assert f"<code>{TOKENS}</code>" in page
    assert "csrfmiddlewaretoken</bdi>" not in page
    assert "After you confirm, this is sent" in html_of(
        person.post(AGAIN, {"password": "x", "next": TOKENS})
    )


def test_a_field_left_empty_is_shown_as_such(person):
    age(person, 3600)
    answer = person.post(TOKENS, token_form(days=""))
    assert "<bdi>empty</bdi>" in html_of(person.get(answer["Location"]))


@pytest.mark.parametrize("following", ["", "?next=/workspaces"])
def test_a_request_that_waits_for_another_page_is_neither_shown_nor_carried_out(person, following):
    age(person, 3600)
    person.post(TOKENS, token_form(name="of-a-stranger"))
    assert "of-a-stranger" not in html_of(person.get(AGAIN + following))
    next_page = following.partition("=")[2]
    assert person.post(AGAIN, {"password": PASSWORD, "next": next_page}).status_code == 302
    assert not Token.objects.filter(name="of-a-stranger").exists()


@pytest.fixture
def by_link(scene):
    """A browser that signed in by a link, to an account without a password."""
    user = scene.own.user
    user.set_unusable_password()
    user.save()
    client = Client(REMOTE_ADDR=next(ADDRESSES))
    out = io.StringIO()
    call_command("sign_in_link", "--user", user.username, stdout=out)
    client.get(out.getvalue().strip())
    assert SIGNED_IN_AT in client.session
    return client


def test_a_first_password_needs_a_new_session(by_link, scene):
    form = {"password1": PASSWORD, "password2": PASSWORD}
    age(by_link, 3600)
    for answer in (by_link.get(FIRST_PASSWORD), by_link.post(FIRST_PASSWORD, form)):
        assert answer.status_code == 403
        assert "You signed in too long ago" in html_of(answer)
    assert not User.objects.get(pk=scene.own.user.pk).has_usable_password()

    age(by_link, -3600)
    assert by_link.get(FIRST_PASSWORD).status_code == 200
    assert by_link.post(FIRST_PASSWORD, form).status_code == 302
    assert User.objects.get(pk=scene.own.user.pk).has_usable_password()


def test_an_account_without_a_password_is_told_that_nothing_can_be_asked(by_link):
    answer = by_link.get(AGAIN)
    assert answer.status_code == 403
    assert "has no password, code or key" in html_of(answer)
