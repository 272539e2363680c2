"""How often: uploads per token, failed sign-ins per address."""

import time

import pytest
from django.test import Client

from backend.accounts import throttle
from backend.broker import Guard, limits_storage
from backend.ingest.models import Upload
from backend.testing.uploads import make_file, make_tenant

pytestmark = pytest.mark.django_db
NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture
def upload():
    client = Client(headers=make_tenant().headers)
    return lambda: client.post("/api/v1/uploads", {"file": make_file()})


@pytest.fixture
def cache_away(settings, monkeypatch):
    settings.CACHE_URL = NOBODY
    monkeypatch.setattr(throttle, "CACHE", Guard("cache"))
    caches = (throttle._shared, throttle._of_this_process, limits_storage)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def too_many(answer):
    assert answer.status_code == 429
    assert answer["Content-Type"] == "application/problem+json"
    assert 1 <= int(answer["Retry-After"]) <= 3600
    assert answer.json()["hint"]


def test_uploads_of_one_token_have_a_limit_and_others_their_own(upload, settings):
    settings.UPLOADS_PER_MINUTE = 3
    assert [upload().status_code for _ in range(3)] == [202] * 3
    too_many(upload())
    assert Upload.objects.count() == 3
    other = Client(headers=make_tenant("other").headers)
    assert other.post("/api/v1/uploads", {"file": make_file()}).status_code == 202


def test_uploads_pass_while_the_cache_is_away(upload, settings, cache_away):
    settings.UPLOADS_PER_MINUTE = 1
    assert [upload().status_code for _ in range(3)] == [202] * 3


def wrong_tokens(address, count):
    client = Client(REMOTE_ADDR=address, headers={"authorization": "Bearer nonsense"})
    return [client.get("/api/v1/runs") for _ in range(count)]


def test_wrong_tokens_of_one_address_have_a_limit(settings):
    settings.FAILED_TOKENS_PER_HOUR = 3
    answers = wrong_tokens("192.0.2.1", 4)
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    too_many(answers[-1])
    assert wrong_tokens("192.0.2.2", 1)[0].status_code == 401
    right = Client(REMOTE_ADDR="192.0.2.1", headers=make_tenant().headers)
    assert right.get("/api/v1/runs").status_code == 200


def test_wrong_links_and_passwords_count_together(settings):
    settings.FAILED_SIGN_INS_PER_HOUR = 3
    tenant = make_tenant()
    tenant.user.set_password("a long right password")
    tenant.user.save()
    client = Client(REMOTE_ADDR="192.0.2.3")

    def sign_in(password):
        form = {"login": tenant.user.username, "password": password}
        return client.post("/accounts/login/", form).status_code

    assert [client.get("/sign-in/nonsense").status_code for _ in range(2)] == [410, 410]
    assert sign_in("a long wrong password") == 200
    locked = client.get("/sign-in/nonsense")
    assert locked.status_code == 429
    assert int(locked["Retry-After"]) > 0
    assert b"minutes" in locked.content
    assert sign_in("a long right password") == 429
    client = Client(REMOTE_ADDR="192.0.2.4")
    assert sign_in("a long right password") == 302


def test_wrong_tokens_lock_out_no_sign_in_and_wrong_links_no_token(settings):
    settings.FAILED_TOKENS_PER_HOUR = settings.FAILED_SIGN_INS_PER_HOUR = 3
    browser = Client(REMOTE_ADDR="192.0.2.6")
    assert wrong_tokens("192.0.2.6", 5)[-1].status_code == 429
    assert browser.get("/sign-in/nonsense").status_code == 410

    browser = Client(REMOTE_ADDR="192.0.2.7")
    codes = [browser.get("/sign-in/nonsense").status_code for _ in range(5)]
    assert codes[-1] == 429
    assert wrong_tokens("192.0.2.7", 1)[0].status_code == 401


def test_failures_are_counted_while_the_cache_is_away(settings, cache_away):
    settings.FAILED_TOKENS_PER_HOUR = settings.FAILED_SIGN_INS_PER_HOUR = 2
    codes = [answer.status_code for answer in wrong_tokens("192.0.2.5", 3)]
    assert codes == [401, 401, 429]
    browser = Client(REMOTE_ADDR="192.0.2.5")
    codes = [browser.get("/sign-in/nonsense").status_code for _ in range(3)]
    assert codes == [410, 410, 429]


@pytest.mark.parametrize(
    ("trusted", "forwarded", "remote", "address"),
    [
        (False, "198.51.100.7", "192.0.2.9", "192.0.2.9"),
        (True, "203.0.113.1, 198.51.100.7", "192.0.2.9", "198.51.100.7"),
        (True, None, "192.0.2.9", "192.0.2.9"),
        (False, None, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (False, None, "", "unknown"),
    ],
)
def test_whose_address_counts(trusted, forwarded, remote, address, settings):
    settings.TRUST_PROXY = trusted
    meta = {"REMOTE_ADDR": remote}
    if forwarded:
        meta["HTTP_X_FORWARDED_FOR"] = forwarded
    assert throttle.address_of(meta) == address


def test_after_the_clock_was_set_back_nobody_waits_longer_than_the_window():
    a_minute = throttle._parsed("5/minute")
    now_s = time.time()
    assert throttle._seconds_until(now_s + 660, a_minute) == 60
    assert 1 <= throttle._seconds_until(now_s + 30, a_minute) <= 30
    assert throttle._seconds_until(now_s - 5, a_minute) == 1
