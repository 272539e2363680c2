"""A security key and an authenticator app, added and used in a real Chromium with its policies."""

import re

import pytest
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from playwright.sync_api import expect

from backend.accounts.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a long right password"
KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}


@pytest.fixture
def person(open_page, live_server, settings):
    """A page of a person who has signed in by password."""
    settings.PUBLIC_URL = live_server.url
    User.objects.create_user(username="ada", password=PASSWORD)
    page = open_page("/accounts/login/")
    sign_in(page)
    return page


def sign_in(page):
    page.locator("input[name=login]").fill("ada")
    page.locator("input[name=password]").fill(PASSWORD)
    press(page, "main form button[type=submit]")


def press(page, button):
    with page.expect_navigation():
        page.locator(button).first.click()


def sign_out(page, url):
    page.goto(f"{url}/accounts/logout/")
    press(page, "main form button[type=submit]")
    page.goto(f"{url}/accounts/login/")


def is_signed_in(page, url):
    return page.request.get(f"{url}/api/v1/me").status == 200


def test_a_security_key_lets_in_after_the_password(person, live_server):
    url, page = live_server.url, person
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
    page.goto(f"{url}/accounts/2fa/webauthn/add/")
    page.get_by_label("Name").fill("Blue key")
    press(page, "#mfa_webauthn_add")
    page.goto(f"{url}/accounts/2fa/webauthn/")
    expect(page.locator("main")).to_contain_text("Blue key")
    sign_out(page, url)
    sign_in(page)
    assert not is_signed_in(page, url)
    press(page, "#mfa_webauthn_authenticate")
    assert is_signed_in(page, url)
    assert page.complaints == []


def test_the_code_of_an_app_lets_in_after_the_password(person, live_server):
    url, page = live_server.url, person
    page.goto(f"{url}/accounts/2fa/totp/activate/")
    secret = re.search(r"\b[A-Z2-7]{32}\b", page.locator("main").inner_html())
    assert secret, page.locator("main").inner_html()
    page.get_by_label("Authenticator code").fill(code_of(secret[0]))
    press(page, "main form button[type=submit]")
    sign_out(page, url)
    sign_in(page)
    assert not is_signed_in(page, url)
    assert page.complaints == []


def code_of(secret):
    counter = next(iter(yield_hotp_counters_from_time()))
    return format_hotp_value(hotp_value(secret, counter))
