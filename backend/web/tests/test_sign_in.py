"""The sign-in link works once, and leads nowhere but into this site."""

import io
import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Token, TokenKind, User, Workspace
from backend.accounts.tokens.tokens import find
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db


def made(*args):
    out = io.StringIO()
    call_command(*args, stdout=out)
    return out.getvalue().strip()


@pytest.fixture
def link(scene):
    return made("sign_in_link", "--user", "own-lab", "--next", "/w/own-lab/compare?metric=p99")


def test_the_link_signs_in_and_goes_on(link):
    client = Client()
    response = client.get(link)
    assert response.status_code == 302
    assert response["Location"] == "/w/own-lab/compare?metric=p99"
    assert response["Referrer-Policy"] == "same-origin"
    assert client.get("/w/own-lab/runs").status_code == 200


def test_its_session_is_listed_and_ended_with_the_others(link):
    client, later = Client(headers={"User-Agent": "Firefox of the link"}), Client()
    client.get(link)
    later.get(made("sign_in_link", "--user", "own-lab"))
    page = later.get("/accounts/sessions/").content.decode()
    assert "Firefox of the link" in page
    later.post("/accounts/sessions/")
    assert client.get("/w/own-lab/runs").status_code == 404
    assert later.get("/w/own-lab/runs").status_code == 200


def test_a_second_browser_cannot_use_it(link):
    Client().get(link)
    second = Client()
    response = second.get(link)
    assert response.status_code == 410
    assert b"already used" in response.content
    assert b"sign_in_link" in response.content
    assert second.get("/w/own-lab/runs").status_code == 404


def test_the_same_browser_may_open_it_again(link):
    client = Client()
    client.get(link)
    assert client.get(link)["Location"] == "/w/own-lab/compare?metric=p99"


def test_an_expired_link_says_so(link):
    Token.objects.filter(kind=TokenKind.LINK).update(expires_at=timezone.now() - timedelta(days=1))
    response = Client().get(link)
    assert response.status_code == 410
    assert b"expired" in response.content


def test_looking_at_the_link_does_not_use_it(link):
    assert Client().head(link).status_code == 405
    assert Client().get(link).status_code == 302


def test_a_closed_account_stays_out(link, scene):
    scene.own.user.is_active = False
    scene.own.user.save()
    client = Client()
    assert client.get(link).status_code == 410
    assert client.get("/w/own-lab/runs").status_code == 404


@pytest.mark.parametrize(
    "page", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_it_never_leads_to_another_site(link, page):
    response = Client().get(link.split("?")[0], {"next": page})
    assert response["Location"] == "/"


def test_an_agent_token_is_no_sign_in_link(scene):
    assert Client().get(f"/sign-in/{scene.own.token}").status_code == 410


def test_a_person_named_demo_does_not_own_the_demo():
    User.objects.create_user(username="demo", password="a long right password")
    with pytest.raises(CommandError, match="belongs to a person"):
        made("make_demo")
    assert not Workspace.objects.filter(slug="demo").exists()


def test_make_demo_twice_makes_one_workspace_and_two_working_tokens():
    import json

    first, second = (json.loads(made("make_demo")) for _ in range(2))
    assert first["workspace"] == second["workspace"] == "demo"
    for answer in (first, second):
        assert find(answer["token"], TokenKind.AGENT).workspace.slug == "demo"
    assert made("sign_in_link", "--next", "/").startswith("/sign-in/ls_link_")


def test_make_token(scene):
    clear = made("make_token", "--workspace", "own-lab", "--name", "laptop")
    assert find(clear, TokenKind.AGENT).name == "laptop"
    with pytest.raises(CommandError, match="There are: foreign-lab, own-lab"):
        call_command("make_token", "--workspace", "nope", "--name", "x")


def test_a_link_for_nobody_is_refused():
    with pytest.raises(CommandError, match="no user 'ghost'"):
        call_command("sign_in_link", "--user", "ghost")


def test_a_link_for_a_user_without_a_workspace_says_what_to_do():
    User.objects.create_user("boss")
    with pytest.raises(CommandError, match="make_workspace SLUG --member boss"):
        call_command("sign_in_link", "--user", "boss")
    call_command("make_workspace", "lab", "--member", "boss")
    assert made("sign_in_link", "--user", "boss").startswith("/sign-in/")


@pytest.mark.parametrize("page", ["password/change/", "email/", "2fa/", "sessions/"])
def test_pages_of_an_account_need_a_sign_in(client, db, page):
    response = client.get(f"/accounts/{page}")
    assert response["Location"].startswith("/accounts/login/?next=/accounts/")


def test_the_sign_in_form_asks_for_name_and_password_only(client, db):
    page = client.get("/accounts/login/").content.decode()
    assert "Username" in page
    assert "Remember" not in page
    assert "Create an account" not in page


@pytest.mark.parametrize("page", ["login/", "password/reset/", "password/set/", "email/"])
def test_labels_of_account_pages_have_no_colon(scene, page):
    client = Client()
    if page in ("password/set/", "email/"):
        client.force_login(scene.own.user)
    answer = client.get(f"/accounts/{page}").content.decode()
    labels = re.findall(r"<label[^>]*>([^<]+)</label>", answer)
    assert labels
    assert not [label for label in labels if label.strip().endswith(":")]


def test_the_form_of_a_local_site_says_what_prints_a_link(client, settings):
    settings.LOCAL_SITE = True
    page = html_of(client.get("/accounts/login/"))
    assert "manage.py sign_in_link<" in page
    assert "manage.py first_owner_link<" in page
    assert "ask a member of a workspace" not in page


def test_the_form_of_another_site_names_no_command(client, settings):
    page = html_of(client.get("/accounts/login/"))
    assert "manage.py" not in page
    assert "An account needs an invitation: ask a member of a workspace" in page
    settings.OPEN_SIGN_UP = True
    page = html_of(client.get("/accounts/login/"))
    assert "Create an account" in page
    assert "needs an invitation" not in page
