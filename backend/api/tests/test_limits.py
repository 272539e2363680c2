"""How often: uploads per token, wrong tokens and passwords per network."""

import time

import pytest
from django.test import Client

from backend.accounts.limits import throttle
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


def test_a_wrong_token_is_a_request_of_nobody_and_valid_ones_pass(settings):
    settings.REQUESTS_PER_MINUTE = 3
    answers = wrong_tokens("192.0.2.1", 4)
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    too_many(answers[-1])
    assert wrong_tokens("192.0.2.2", 1)[0].status_code == 401
    right = Client(REMOTE_ADDR="192.0.2.1", headers=make_tenant().headers)
    assert right.get("/api/v1/runs").status_code == 200


def test_wrong_passwords_are_counted_while_the_cache_is_away(settings, cache_away):
    settings.FAILED_SIGN_INS_PER_HOUR = 2
    browser = Client(REMOTE_ADDR="192.0.2.5")
    form = {"login": "nobody", "password": "wrong"}
    codes = [browser.post("/accounts/login/", form).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    form["login"] = "nobody else"
    elsewhere = Client(REMOTE_ADDR="192.0.2.6")
    assert elsewhere.post("/accounts/login/", form).status_code == 200


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


@pytest.mark.parametrize(
    ("remote", "counters"),
    [
        ("192.0.2.9", [("192.0.2.9", 1)]),
        ("::ffff:192.0.2.9", [("192.0.2.9", 1)]),
        ("2001:db8:1:2:3:4:5:6", [("2001:db8:1:2::/64", 1), ("2001:db8:1::/48", 4)]),
        ("", [("unknown", 1)]),
    ],
)
def test_a_network_of_ipv6_pays_twice(remote, counters):
    payer = throttle.network_of({"REMOTE_ADDR": remote})
    assert [(counter.key, counter.times) for counter in payer] == counters
