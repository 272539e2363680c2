"""The mails about an account and the pages that announce them: what happened, and what to do."""

from datetime import timedelta

import pytest
from django.test import Client

from backend.accounts.models import User
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db

RESET = "/accounts/password/reset/"


@pytest.fixture
def ada():
    return User.objects.create_user(
        username="ada", email="ada@example.org", password="forgotten long ago"
    )


def ask(address):
    return Client().post(RESET, {"email": address}, follow=True)


def test_the_mail_that_resets_a_password_has_the_account_the_link_and_what_to_do(
    ada, mailoutbox, settings
):
    ask(ada.email)
    (mail,) = mailoutbox
    assert mail.subject == "Reset your Loadsheet password"
    first, open_it, link, otherwise, sender = mail.body.split("\n\n")
    assert first == "Somebody asked for a new password for the account ada."
    assert open_it == "Open this link within 3 days to choose it:"
    assert timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT) == timedelta(days=3)
    assert otherwise.startswith("If you did not ask for it, ignore this email.")
    assert sender == f"Loadsheet at {settings.PUBLIC_URL}"
    client = Client()
    page = client.get(link.removeprefix(settings.PUBLIC_URL), follow=True)
    assert "Choose a new password" in html_of(page)
    form = {"password1": "a new one, and longer", "password2": "a new one, and longer"}
    changed = html_of(client.post(page.redirect_chain[-1][0], form, follow=True))
    assert "Your password is changed" in changed
    assert 'href="/accounts/login/">Sign in</a></p>' in changed
    ada.refresh_from_db()
    assert ada.check_password(form["password1"])
    used = html_of(Client().get(link.removeprefix(settings.PUBLIC_URL), follow=True))
    assert "This link no longer works" in used
    assert RESET in used


def test_a_mailed_link_never_leads_to_the_host_and_port_of_the_request(ada, mailoutbox, settings):
    settings.PUBLIC_URL = "https://bench.example"
    settings.ALLOWED_HOSTS = ["bench.example"]
    Client().post(RESET, {"email": ada.email}, headers={"host": "bench.example:9999"})
    (mail,) = mailoutbox
    assert f"\n\n{settings.PUBLIC_URL}{RESET}key/" in mail.body
    assert "9999" not in mail.body


def test_the_mail_to_an_address_without_an_account_says_so(ada, mailoutbox):
    ask("eve@example.org")
    (mail,) = mailoutbox
    assert mail.subject == "No Loadsheet account has this address"
    assert "with the address eve@example.org. No account has this address." in mail.body


def test_who_signs_up_twice_is_told_where_to_go(ada, mailoutbox, settings):
    settings.OPEN_SIGN_UP = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    word = "a long password of hers"
    fields = {"email": ada.email, "password1": word, "password2": word}
    Client().post("/accounts/signup/", {"username": "ada2", **fields})
    (mail,) = mailoutbox
    assert mail.subject == "There is already a Loadsheet account with this address"
    assert f"{settings.PUBLIC_URL}{RESET}" in mail.body


def test_an_address_is_confirmed_by_a_link(mailoutbox, settings):
    # Mails to one address are limited, over tests too.
    grace = User.objects.create_user(username="grace", email="grace@example.org")
    client = Client()
    client.force_login(grace)
    client.post("/accounts/email/", {"email": grace.email, "action_send": ""})
    (mail,) = mailoutbox
    assert mail.subject == "Confirm your email address for Loadsheet"
    first, _, link, *_ = mail.body.split("\n\n")
    assert first == "The account grace has this email address."
    path = link.removeprefix(settings.PUBLIC_URL)
    asked = html_of(client.get(path))
    assert "<bdi>grace@example.org</bdi></strong> belong to you" in asked
    client.post(path)
    assert grace.emailaddress_set.get().verified
    assert "This link no longer works" in html_of(client.get(path))


def test_without_a_mail_server_the_operator_has_the_link(ada, settings):
    assert settings.SENDS_MAIL is False
    assert "ask the operator for the link" in html_of(Client().get(RESET))
    assert "Ask the operator for the link" in html_of(ask(ada.email))
    settings.SENDS_MAIL = True
    assert "operator for the link" not in html_of(Client().get(RESET))
    assert "We sent an email to the address." in html_of(ask(ada.email))
