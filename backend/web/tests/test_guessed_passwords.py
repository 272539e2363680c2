"""Ten thousand guessed passwords from a hundred addresses: how many are looked at."""

import uuid
from collections import Counter

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import resolve
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from backend.accounts.models import User
from backend.broker import CACHE
from backend.web import middleware

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"
ADDRESSES = [f"203.0.113.{number}" for number in range(100)]
TRIES = 20


@pytest.fixture(autouse=True)
def _default_limits(settings, monkeypatch):
    settings.FAILED_SIGN_INS_PER_HOUR = 60
    settings.FAILED_SIGN_INS_PER_ACCOUNT = 20
    settings.FAILED_SIGN_INS_IN_ALL = 6000
    # What is limited is not the hash; and ten thousand pages would take minutes.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr(middleware, "message", lambda *_, **__: HttpResponse(status=429))
    # Counted in this process, which takes a tenth of the time; and not with other tests.
    monkeypatch.setattr(CACHE, "_paused_until", float("inf"))
    monkeypatch.setattr("backend.accounts.throttle.ALL_SENDERS", uuid.uuid4().hex)
    monkeypatch.setattr("backend.accounts.throttle._of_this_process", fresh_counts())


def fresh_counts():
    limiter = MovingWindowRateLimiter(MemoryStorage())
    return lambda: limiter


def is_looked_at(name, address):
    """Whether a wrong password for `name` gets past the limits, to the password check."""
    form = {"login": name, "password": "wrong"}
    request = RequestFactory().post(LOGIN, form, REMOTE_ADDR=address)
    request.user, request.resolver_match = AnonymousUser(), resolve(LOGIN)
    if middleware.LimitFailedSignIns(lambda _: HttpResponse()).process_view(request) is not None:
        return False
    assert authenticate(request, username=name, password="wrong") is None
    return True


@pytest.mark.parametrize("exists", [True, False])
def test_of_five_accounts(exists):
    names = [f"guessed-{uuid.uuid4().hex[:8]}" for _ in range(5)]
    for name in names if exists else ():
        User.objects.create_user(username=name, password="a long right password")
    looked_at = [
        (name, address)
        for address in ADDRESSES
        for name in names
        for _ in range(TRIES)
        if is_looked_at(name, address)
    ]
    assert len(looked_at) == 100
    assert set(Counter(name for name, _ in looked_at).values()) == {20}
    # Of the first address three accounts, of the second the others; then nothing is left to try.
    assert Counter(address for _, address in looked_at) == {ADDRESSES[0]: 60, ADDRESSES[1]: 40}


def test_of_ever_new_accounts(settings):
    """Each address may be wrong 60 times, and all together so often as the service allows."""
    settings.FAILED_SIGN_INS_IN_ALL = 300
    looked_at = Counter(
        address
        for address in ADDRESSES
        for _ in range(100)
        if is_looked_at(uuid.uuid4().hex, address)
    )
    assert looked_at == dict.fromkeys(ADDRESSES[:5], 60)
