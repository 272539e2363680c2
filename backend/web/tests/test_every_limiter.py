"""Each limiter of the table, filled: the shape of the refusal, and who is not refused."""

import json
import uuid

import pytest
from django.test import RequestFactory

from backend.accounts.limits import limiters
from backend.accounts.limits.limiters import LIMITERS
from backend.accounts.limits.throttle import NETWORKS_OF_A_SITE, TooOften
from backend.broker import CACHE
from backend.web.base.errors import answer_error
from backend.web.tests.limiter_cases import CASES, RESET, Net, browser, make_person, sign_in

pytestmark = pytest.mark.django_db
MOST = 2
BY_NAME = {limiter.name: limiter for limiter in LIMITERS}


@pytest.fixture
def net():
    return Net()


@pytest.fixture(autouse=True)
def _small_limits(settings, monkeypatch):
    settings.OPEN_SIGN_UP = settings.SENDS_MAIL = True
    monkeypatch.setattr("backend.web.middleware.ACCOUNT_ANSWER_S", 0.001)


# Those that no setting changes.
CONSTANTS = {
    "own_data": "OWN_DATA_PER_HOUR",
    "invitations": "INVITATIONS_PER_HOUR",
    "acts": "ACTS_PER_DAY",
    "sign_ups": "SIGN_UPS_PER_MINUTE",
    "visits": "VISITS_PER_MINUTE",
    "password_resets": "RESETS_PER_MINUTE",
    "account_mails": "MAILS_PER_HOUR",
    "account_changes": "ACCOUNT_CHANGES_PER_HOUR",
}


def make_small(name, settings, monkeypatch):
    """Only the limiter under test is small."""
    if setting := BY_NAME[name].setting:
        setattr(settings, setting, MOST)
    else:
        monkeypatch.setattr(limiters, CONSTANTS[name], MOST)


def test_every_limiter_has_a_case():
    assert {*CASES, "account_mails"} == set(BY_NAME)


def assert_refused(answer, limiter, *, is_api):
    """The one shape: when to come back, for programs and in words."""
    assert answer.status_code == 429
    wait_s = int(answer["Retry-After"])
    assert 1 <= wait_s <= limiter.window_s
    name = limiter.name.replace("_", "-")
    assert answer["RateLimit-Policy"].startswith(f'"{name}";q=')
    assert answer["RateLimit-Policy"].endswith(f";w={limiter.window_s}")
    assert answer["RateLimit"] == f'"{name}";r=0;t={wait_s}'
    if is_api:
        assert answer["Content-Type"] == "application/problem+json"
        assert json.loads(answer.content)["code"] == "too-many-requests"
        assert json.loads(answer.content)["detail"] == limiter.sentence
        return
    assert answer["Content-Type"].startswith("text/html")
    page = answer.content.decode()
    assert "Loadsheet</title>" in page
    assert limiter.sentence in page
    assert "Try again in " in page


@pytest.mark.parametrize("name", CASES)
def test_who_fills_it_is_refused_and_nobody_else(name, net, settings, monkeypatch):
    case = CASES[name](net)
    make_small(name, settings, monkeypatch)
    filled = [case.send().status_code for _ in range(MOST)]
    assert 429 not in filled
    # More than the whole site of this network may send.
    for _ in range(NETWORKS_OF_A_SITE * MOST + 1):
        assert_refused(case.send(), BY_NAME[name], is_api=case.is_api)
    for who, send in case.others.items():
        assert send().status_code in (200, 201, 202, 204, 302), who


@pytest.mark.parametrize("name", CASES)
def test_without_the_cache_it_is_counted_here_or_not_at_all(name, net, settings, monkeypatch):
    case = CASES[name](net)
    make_small(name, settings, monkeypatch)
    monkeypatch.setattr(CACHE, "_paused_until", float("inf"))
    answers = [case.send().status_code for _ in range(MOST + 1)]
    assert (answers[-1] == 429) == BY_NAME[name].is_kept_while_away
    for who, send in case.others.items():
        assert send().status_code in (200, 201, 202, 204, 302), who


def test_an_address_of_data_answers_as_the_api_does():
    refused = TooOften(limiters.TRIES, 7)
    for path in ("/s/x.json", "/s/x.png", "/s/x.atom"):
        request = RequestFactory().get(path)
        request.resolver_match = None
        answer = answer_error(request, refused)
        assert_refused(answer, limiters.TRIES, is_api=True)
        assert json.loads(answer.content)["type"] == "urn:loadsheet:problem:too-many-requests"


def test_no_more_mails_go_to_an_address_and_nobody_is_refused(net, monkeypatch, mailoutbox):
    make_small("account_mails", None, monkeypatch)
    person, other = make_person(), make_person()
    answers = [browser(net.mine).post(RESET, {"email": person.email}) for _ in range(MOST + 2)]
    # The owner elsewhere gets a mail, however many a stranger had sent.
    answers.append(browser(net.elsewhere).post(RESET, {"email": person.email}))
    answers.append(browser(net.mine).post(RESET, {"email": other.email}))
    assert {answer.status_code for answer in answers} == {302}
    assert [mail.to for mail in mailoutbox] == [[person.email]] * (MOST + 1) + [[other.email]]


def test_a_mailbox_gets_so_many_mails_and_no_more(net, monkeypatch, mailoutbox):
    make_small("account_mails", None, monkeypatch)
    person = make_person()
    for number in range(12):
        for _ in range(MOST):
            browser(f"198.18.{number}.1").post(RESET, {"email": person.email})
    assert len(mailoutbox) == 10 * MOST


def test_the_networks_of_a_site_together_are_four(net, settings):
    settings.FAILED_SIGN_INS_PER_HOUR = MOST
    answers = [
        sign_in(f"{net.site}:{number:x}::1", uuid.uuid4().hex, "wrong").status_code
        for number in range(4 * MOST + 1)
    ]
    assert answers == [200] * 4 * MOST + [429]
    assert sign_in(net.elsewhere, uuid.uuid4().hex, "wrong").status_code == 200
