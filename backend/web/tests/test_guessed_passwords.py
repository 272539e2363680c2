"""Thousands of guessed passwords from many networks: how many are looked at, and who pays."""

import uuid
from collections import Counter

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import resolve

from backend.accounts.limits import throttle
from backend.accounts.models import User
from backend.broker import CACHE
from backend.web import middleware

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"
ADDRESSES = [f"203.0.113.{number}" for number in range(100)]
TRIES = 20
PASSWORD = "a long right password"


@pytest.fixture(autouse=True)
def _default_limits(settings, monkeypatch):
    settings.FAILED_SIGN_INS_PER_HOUR = 60
    settings.FAILED_SIGN_INS_PER_ACCOUNT = 20
    settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 100
    # What is limited is not the hash; and ten thousand pages would take minutes.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr(middleware, "answer_error", lambda *_, **__: HttpResponse(status=429))
    # Counted in this process, which takes a tenth of the time; and not with other tests.
    monkeypatch.setattr(CACHE, "_paused_until", float("inf"))
    throttle._of_this_process.cache_clear()


def is_looked_at(name, address):
    """Whether a wrong password for `name` gets past the limits, to the password check."""
    form = {"login": name, "password": "wrong"}
    request = RequestFactory().post(LOGIN, form, REMOTE_ADDR=address)
    request.user, request.resolver_match = AnonymousUser(), resolve(LOGIN)
    if middleware.LimitForms(lambda _: HttpResponse()).process_view(request) is not None:
        return False
    assert authenticate(request, username=name, password="wrong") is None
    return True


@pytest.mark.parametrize(("exists", "count"), [(True, 5), (False, 2)])
def test_of_accounts(exists, count):
    names = [f"guessed-{uuid.uuid4().hex[:8]}" for _ in range(count)]
    for name in names if exists else ():
        User.objects.create_user(username=name, password="a long right password")
    looked_at = [
        (name, address)
        for address in ADDRESSES
        for name in names
        for _ in range(TRIES)
        if is_looked_at(name, address)
    ]
    # An account pays for a hundred guesses an hour, whoever sends them, and a network for sixty.
    assert len(looked_at) == 100 * count
    assert set(Counter(name for name, _ in looked_at).values()) == {100}
    assert max(Counter(address for _, address in looked_at).values()) == min(60, TRIES * count)
    assert max(Counter(looked_at).values()) == 20


def test_of_ever_new_accounts():
    """Each address may be wrong 60 times; nobody pays for all."""
    looked_at = Counter(
        address
        for address in ADDRESSES[:5]
        for _ in range(100)
        if is_looked_at(uuid.uuid4().hex, address)
    )
    assert looked_at == dict.fromkeys(ADDRESSES[:5], 60)


def test_thousands_of_networks_of_one_site_are_four_networks():
    """And the right password gets in from elsewhere, whatever they send."""
    name = f"guessed-{uuid.uuid4().hex[:8]}"
    User.objects.create_user(username=name, password=PASSWORD)
    networks = [f"2001:db8:7:{number:x}::1" for number in range(3000)]
    looked_at = sum(is_looked_at(uuid.uuid4().hex, address) for address in networks)
    assert looked_at == 4 * 60
    for address in networks[:300]:
        is_looked_at(name, address)
    assert is_signed_in(name, "2001:db8:8::1")
    assert is_signed_in(name, "192.0.2.77")


def test_junk_links_of_hundreds_of_networks_keep_nobody_from_signing_in():
    name = f"guessed-{uuid.uuid4().hex[:8]}"
    User.objects.create_user(username=name, password=PASSWORD)
    answers = Counter(
        Client(REMOTE_ADDR=f"2001:db8:9:{number:x}::1").get(f"/sign-in/junk-{number}").status_code
        for number in range(300)
    )
    assert answers == {410: 300}
    assert is_signed_in(name, "192.0.2.78")
    assert is_signed_in(name, "2001:db8:9:0::1")


def is_signed_in(name, address):
    form = {"login": name, "password": PASSWORD}
    return Client(REMOTE_ADDR=address).post(LOGIN, form).status_code == 302
