"""Signing in with an authenticator app or a recovery code, and the limits of wrong codes."""

import itertools
import uuid

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.test import Client

from backend.accounts.models import User
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
PASSWORD = "a long right password"
LOGIN, CODE = "/accounts/login/", "/accounts/2fa/authenticate/"
# The counts are shared with other tests: no address is used twice.
ADDRESSES = (f"203.0.113.{number}" for number in itertools.count(1))
WRONG = "000000"


class Person:
    """An account with an authenticator app and recovery codes, and browsers to sign in with."""

    def __init__(self):
        name = f"two-{uuid.uuid4().hex[:8]}"
        self.user = User.objects.create_user(username=name, password=PASSWORD)
        self.secret = generate_totp_secret()
        TOTP.activate(self.user, self.secret)
        self.recovery_codes = RecoveryCodes.activate(self.user).get_unused_codes()

    @property
    def code(self):
        counter = next(iter(yield_hotp_counters_from_time()))
        return format_hotp_value(hotp_value(self.secret, counter))

    def with_password(self, address=None):
        """A browser that was asked for the code."""
        client = Client(REMOTE_ADDR=address or next(ADDRESSES))
        answer = client.post(LOGIN, {"login": self.user.username, "password": PASSWORD})
        assert answer["Location"] == CODE
        return client


@pytest.fixture
def person():
    return Person()


def is_signed_in(client):
    return client.get("/workspaces").status_code == 200


def test_the_password_alone_lets_nobody_in(person):
    assert not is_signed_in(person.with_password())


def test_the_code_of_the_app_lets_in_once(person):
    client, code = person.with_password(), person.code
    assert client.post(CODE, {"code": code}).status_code == 302
    assert is_signed_in(client)
    # Who looks over the shoulder has no use for it.
    again = person.with_password()
    assert "Incorrect code" in html_of(again.post(CODE, {"code": code}))
    assert not is_signed_in(again)


def test_each_recovery_code_lets_in_once(person):
    assert len(person.recovery_codes) == 10
    for code in person.recovery_codes[:2]:
        client = person.with_password()
        client.post(CODE, {"code": code})
        assert is_signed_in(client)
    again = person.with_password()
    assert "Incorrect code" in html_of(again.post(CODE, {"code": person.recovery_codes[0]}))
    assert not is_signed_in(again)


def test_wrong_codes_from_many_addresses_end_for_the_account(person, settings):
    settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 3
    for _ in range(3):
        answer = person.with_password().post(CODE, {"code": WRONG})
        assert "Incorrect code" in html_of(answer)
    client = person.with_password()
    assert "wrong passwords or codes" in html_of(client.post(CODE, {"code": person.code}))
    assert not is_signed_in(client)
    # Another account is not kept waiting, nor are its passwords.
    other, code = Person(), None
    client, code = other.with_password(), other.code
    client.post(CODE, {"code": code})
    assert is_signed_in(client)


def test_wrong_codes_count_for_the_address(person, settings):
    settings.FAILED_SIGN_INS_PER_HOUR = 3
    address = next(ADDRESSES)
    client = person.with_password(address)
    for _ in range(3):
        client.post(CODE, {"code": WRONG})
    assert "wrong passwords or codes" in html_of(client.post(CODE, {"code": person.code}))
    refused = Client(REMOTE_ADDR=address).post(LOGIN, {"login": "nobody", "password": "wrong"})
    assert refused.status_code == 429


def test_wrong_passwords_of_others_do_not_keep_the_owner_from_a_code(person, settings):
    settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 2
    client = person.with_password()
    for _ in range(2):
        guess = {"login": person.user.username, "password": "wrong"}
        Client(REMOTE_ADDR=next(ADDRESSES)).post(LOGIN, guess)
    client.post(CODE, {"code": person.code})
    assert is_signed_in(client)


def signed_in_twice(person):
    """A browser that gave password and code."""
    client = person.with_password()
    client.post(CODE, {"code": person.code})
    return client


def with_key(person):
    """As `signed_in_twice`; the account has a key that can be asked for."""
    data = {"name": "key", "credential": {}}
    Authenticator.objects.create(user=person.user, type="webauthn", data=data)
    return signed_in_twice(person)


KEY_FORMS = {
    "sign in": (CODE, Person.with_password),
    "confirm": ("/accounts/2fa/webauthn/reauthenticate/", with_key),
    "add": ("/accounts/2fa/webauthn/add/", signed_in_twice),
}


@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("nonsense", "The answer of the security key is refused. It is not JSON"),
        pytest.param(
            "[" * 20_000 + "]" * 20_000,
            "The answer of the security key is refused. It has more than 50 levels",
            id="deep",
        ),
        ('{"id": "\\u0000"}', "The answer of the security key is refused. A text in it has a NUL"),
        ('{"id": "a"}', "The answer of the security key cannot be read."),
        ('{"id": "a", "rawId": "b"}', None),
        ('{"rawId": "AAAA", "response": []}', None),
        ('{"rawId": "AAAA", "response": {"clientDataJSON": "AAAA"}}', None),
        ('{"rawId": "AAAA", "response": {"clientDataJSON": "W10"}}', None),
        ("[1]", None),
        ("null", None),
        ("", None),
    ],
)
def test_what_is_no_answer_of_a_key_is_refused(person, form, answer, sentence):
    path, browser_of = KEY_FORMS[form]
    client = browser_of(person)
    refused = client.post(path, {"credential": answer})
    if sentence is None:
        # By a page of django-allauth, or by ours.
        assert refused.status_code in (200, 302, 400)
    else:
        assert refused.status_code == 400
        assert sentence in html_of(refused)
    assert is_signed_in(client) == (form != "sign in")
    keys = Authenticator.objects.filter(user=person.user, type="webauthn")
    assert keys.count() == (form == "confirm")
