"""What allauth counts is counted once for all processes, and also while Redis is away."""

import os
import subprocess
import sys
import uuid

import pytest
from django.conf import settings
from django.core.cache import caches
from django.test import Client

from backend.accounts.models import User
from backend.broker import CACHE
from backend.config.environment.shared_cache import SharedCache
from backend.web.tests.test_second_factors import CODE, Person, is_signed_in

ANOTHER_PROCESS = """
import sys, django
django.setup()
from django.core.cache import caches
print(caches["default"].add(sys.argv[1], "y", timeout=60))
"""


def in_another_process(key):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "backend.config.settings"}
    command = [sys.executable, "-c", ANOTHER_PROCESS, key]
    return subprocess.run(
        command, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def away(monkeypatch):
    monkeypatch.setattr(CACHE, "_paused_until", float("inf"))


@pytest.mark.long
def test_two_processes_share_what_they_add():
    key, other = uuid.uuid4().hex, uuid.uuid4().hex
    assert isinstance(caches["default"], SharedCache)
    assert caches["default"].add(key, "y", timeout=60)
    assert in_another_process(key) == "False"
    assert in_another_process(other) == "True"
    assert not caches["default"].add(other, "y", timeout=60)


def test_it_works_alike_while_redis_is_away(away):
    cache, key = caches["default"], uuid.uuid4().hex
    assert cache.get(key) is None
    assert (cache.add(key, [1]), cache.add(key, [2])) == (True, False)
    cache.set(key, [1, 2], 60)
    assert cache.touch(key, 60)
    assert cache.get(key) == [1, 2]
    assert (cache.delete(key), cache.delete(key)) == (True, False)


def test_a_server_that_does_not_answer_is_asked_once(monkeypatch):
    monkeypatch.setattr(CACHE, "_paused_until", 0.0)
    cache = SharedCache("redis://127.0.0.1:1/0", {})
    key = uuid.uuid4().hex
    assert (cache.add(key, 1), cache.get(key)) == (True, 1)
    assert CACHE.is_paused


def test_nothing_empties_the_whole_server():
    with pytest.raises(NotImplementedError):
        caches["default"].clear()


@pytest.mark.django_db
class TestSigningIn:
    @pytest.mark.parametrize("is_away", [False, True])
    def test_a_code_lets_in_once(self, is_away, request):
        person = Person()
        browsers = [person.with_password(f"198.18.0.{number}") for number in (1, 2)]
        if is_away:
            request.getfixturevalue("away")
        code = person.code
        for browser in browsers:
            browser.post(CODE, {"code": code})
        assert [is_signed_in(browser) for browser in browsers] == [True, False]

    @pytest.mark.parametrize("is_away", [False, True])
    def test_resets_are_limited(self, is_away, request, mailoutbox, monkeypatch):
        monkeypatch.setattr("backend.web.middleware.ACCOUNT_ANSWER_S", 0.001)
        if is_away:
            request.getfixturevalue("away")
        name = uuid.uuid4().hex[:8]
        User.objects.create_user(username=name, email=f"{name}@example.org", password="a")
        # No further mail is sent, and nobody is refused.
        answers = [
            Client(REMOTE_ADDR=f"198.18.{1 + is_away}.1")
            .post("/accounts/password/reset/", {"email": f"{name}@example.org"})
            .status_code
            for _ in range(6)
        ]
        assert answers == [302] * 6
        assert len(mailoutbox) == 5
