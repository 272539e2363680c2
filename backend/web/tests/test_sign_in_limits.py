"""Guessing: limits of sign-ins and links, and answers that tell nobody who has an account."""

import itertools
import re
import uuid
from datetime import timedelta
from types import SimpleNamespace

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core import mail
from django.http import HttpResponse
from django.test import Client

from backend.accounts.credentials.token_format import new_token
from backend.accounts.models import Role, TokenKind, User
from backend.accounts.sign_in import browsers, guesses
from backend.accounts.tokens import tokens
from backend.accounts.workspace import invitations
from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set
from backend.web import middleware

pytestmark = pytest.mark.django_db
PASSWORD = "a long right password"
LOGIN = "/accounts/login/"
ADDRESSES = (f"198.51.100.{number}" for number in itertools.count(1))
# The counts are shared with other tests: no account name and no address is used twice.
NAMES = (f"guessed-{uuid.uuid4().hex[:8]}" for _ in itertools.count())


def sign_in(name, password="wrong", address=None, **headers):
    client = Client(REMOTE_ADDR=address or next(ADDRESSES), headers=headers)
    return client.post(LOGIN, {"login": name, "password": password})


def codes(answers):
    return [answer.status_code for answer in answers]


class TestLimits:
    def test_of_one_account_from_many_addresses(self, settings):
        settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 3
        name = next(NAMES)
        User.objects.create_user(username=name, password=PASSWORD)
        answers = [sign_in(f" {name.upper()} ") for _ in range(4)]
        assert codes(answers) == [200, 200, 200, 429]
        assert 1 <= int(answers[-1]["Retry-After"]) <= 3600
        # In a new browser the right password waits too; other accounts do not.
        assert sign_in(name, PASSWORD).status_code == 429
        assert sign_in(next(NAMES)).status_code == 200

    def test_spellings_that_mean_one_account_have_one_counter(self):
        """PostgreSQL looks an account up by UPPER(), for which a dotless i is an I."""
        meta = {"REMOTE_ADDR": next(ADDRESSES)}
        spellings = ("victim", "VICTIM", "v\u0131ct\u0131m", " victim ")
        counters = [
            list(guesses._counters(guesses.Guess(guesses.PASSWORD, name, meta)))
            for name in spellings
        ]
        assert all(each == counters[0] for each in counters)

    def test_of_an_account_that_does_not_exist_is_the_same(self, settings):
        settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 2
        known, unknown = next(NAMES), next(NAMES)
        User.objects.create_user(username=known, password=PASSWORD)
        for name in (known, unknown):
            assert codes([sign_in(name) for _ in range(3)]) == [200, 200, 429], name

    def test_a_forged_forwarded_address_is_no_other_sender(self, settings):
        settings.FAILED_SIGN_INS_PER_HOUR = 2
        address = next(ADDRESSES)
        forged = {"x-forwarded-for": "203.0.113.1", "x-real-ip": "203.0.113.2"}
        forged["forwarded"] = "for=203.0.113.3"
        answers = [sign_in(next(NAMES), address=address, **forged) for _ in range(3)]
        assert codes(answers) == [200, 200, 429]

    @pytest.mark.parametrize("form", ["/s/{}", "/s/{}.json", "/s/{}.atom", "/embed/{}"])
    def test_links_that_lead_nowhere_shut_none_that_works(self, scene, form):
        shared = make_result_set(scene.own.workspace, Visibility.UNLISTED)
        reader = Client(REMOTE_ADDR=next(ADDRESSES))
        answers = [reader.get(form.format(uuid.uuid4())) for _ in range(40)]
        assert set(codes(answers)) == {404}
        assert reader.get(form.format(shared.link)).status_code == 200


class TestBrowsers:
    """Strangers filled the counter of an account: who still gets in."""

    @pytest.fixture
    def person(self, settings):
        settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 2
        name = next(NAMES)
        return User.objects.create_user(
            username=name, email=f"{name}@example.org", password=PASSWORD
        )

    @staticmethod
    def attack(person):
        assert codes([sign_in(person.username) for _ in range(3)]) == [200, 200, 429]

    @staticmethod
    def can_sign_in(browser, login, password=PASSWORD):
        browser.cookies.pop("session", None)
        return browser.post(LOGIN, {"login": login, "password": password}).status_code == 302

    @pytest.mark.parametrize("field", ["username", "email"])
    def test_one_that_signed_in_before(self, person, field):
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, person.username)
        self.attack(person)
        assert self.can_sign_in(browser, getattr(person, field).upper())
        # Also from another network.
        browser.defaults["REMOTE_ADDR"] = next(ADDRESSES)
        assert self.can_sign_in(browser, person.username)

    def test_one_whose_network_failed_too_often(self, person, settings):
        settings.FAILED_SIGN_INS_PER_HOUR = 2
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, person.username)
        address = browser.defaults["REMOTE_ADDR"]
        assert codes([sign_in(next(NAMES), address=address) for _ in range(3)]) == [200, 200, 429]
        assert self.can_sign_in(browser, person.username)

    def test_one_that_opened_the_mail_for_a_new_password(self, person, mailoutbox):
        self.attack(person)
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        browser.post("/accounts/password/reset/", {"email": person.email})
        path = re.search(r"https?://[^/]+(/accounts/password/reset/key/\S+)", mailoutbox[-1].body)
        form = browser.get(path[1])["Location"]
        new = "another long right password"
        browser.post(form, {"password1": new, "password2": new})
        assert self.can_sign_in(browser, person.username, new)

    def test_one_that_opened_a_sign_in_link(self, person, scene):
        self.attack(person)
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        life = timedelta(hours=1)
        link = tokens.issue(
            TokenKind.LINK, scene.own.workspace, user=person, name="link", lifetime=life
        )
        assert browser.get(f"/sign-in/{link}").status_code == 302
        assert self.can_sign_in(browser, person.username)

    def test_it_guesses_no_more_often_than_others(self, person, settings):
        settings.FAILED_SIGN_INS_PER_ACCOUNT = 3
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, person.username)
        browser.cookies.pop("session")
        wrong = {"login": person.username, "password": "wrong"}
        answers = [browser.post(LOGIN, wrong) for _ in range(4)]
        assert codes(answers) == [200, 200, 200, 429]
        # A new browser of the same person is not refused for that.
        assert self.can_sign_in(Client(REMOTE_ADDR=next(ADDRESSES)), person.username)

    def test_the_browser_of_another_account_is_new_to_this_one(self, person):
        self.attack(person)
        other = User.objects.create_user(username=next(NAMES), password=PASSWORD)
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, other.username)
        assert not self.can_sign_in(browser, person.username)

    def test_a_username_that_is_somebodys_address_opens_nothing(self, person):
        self.attack_by_email(person)
        thief = User.objects.create_user(username=person.email, password="the thief's password")
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        browser.force_login(thief)
        user = SimpleNamespace(pk=thief.pk)
        request, answer = SimpleNamespace(COOKIES={}), HttpResponse()
        browsers.prove(request, user)
        browsers.remember(request, answer)
        browser.cookies["browser"] = answer.cookies["browser"].value
        assert not self.can_sign_in(browser, person.email)

    @pytest.mark.parametrize("is_confirmed", [True, False])
    def test_an_account_that_claims_somebodys_address_shuts_nobody_out(self, person, is_confirmed):
        EmailAddress.objects.create(user=person, email=person.email, verified=is_confirmed)
        for number in range(8):
            thief = User.objects.create_user(username=next(NAMES), password="the thief's password")
            EmailAddress.objects.create(user=thief, email=person.email, primary=not number)
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, person.email)
        self.attack_by_email(person)
        assert self.can_sign_in(browser, person.email)

    def test_a_user_name_that_is_an_address_is_not_taken_by_who_claims_the_address(self, settings):
        settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 2
        person = User.objects.create_user(username=f"{next(NAMES)}@corp.test", password=PASSWORD)
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, person.username)
        thief = User.objects.create_user(username=next(NAMES), password="the thief's password")
        EmailAddress.objects.create(user=thief, email=person.username)
        self.attack(person)
        assert self.can_sign_in(browser, person.username)

    def test_no_new_user_name_looks_like_an_address(self, settings):
        settings.OPEN_SIGN_UP = True
        form = {"password1": PASSWORD, "password2": PASSWORD, "email": "a@example.org"}
        answer = Client().post("/accounts/signup/", {**form, "username": "ada@example.org"})
        assert "Leave it out" in answer.text
        assert not User.objects.filter(username="ada@example.org").exists()

    @staticmethod
    def attack_by_email(person):
        assert codes([sign_in(person.email) for _ in range(3)]) == [200, 200, 429]

    def test_a_name_with_nul_means_no_account(self, person):
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        assert self.can_sign_in(browser, person.username)
        browser.cookies.pop("session")
        answer = browser.post(LOGIN, {"login": f"{person.username}\0", "password": PASSWORD})
        assert answer.status_code == 200
        assert "session" not in answer.cookies

    @pytest.mark.parametrize("forged", ["nonsense", "a:b:c"])
    def test_a_forged_cookie_is_none(self, person, forged):
        self.attack(person)
        browser = Client(REMOTE_ADDR=next(ADDRESSES))
        browser.cookies["browser"] = forged
        assert not self.can_sign_in(browser, person.username)


@pytest.fixture
def hashings(monkeypatch):
    """How often a password was hashed, which is what takes long enough to measure."""
    counted = []
    for name in ("encode", "verify"):
        original = getattr(Argon2PasswordHasher, name)

        def counting(self, *args, original=original, name=name):
            counted.append(name)
            return original(self, *args)

        monkeypatch.setattr(Argon2PasswordHasher, name, counting)
    return counted


def plain(response, *names):
    """The answer without what differs for every request or repeats what was typed."""
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", response.content.decode())
    for name in names:
        text = text.replace(name, "")
    return response.status_code, response.headers.get("Location"), text


class TestNobodyLearnsWhoHasAnAccount:
    @pytest.fixture
    def known(self):
        name = next(NAMES)
        return User.objects.create_user(
            username=name, email=f"{name}@example.org", password=PASSWORD
        )

    @pytest.mark.parametrize("kind", ["name", "address", "without a password", "closed"])
    def test_by_signing_in(self, known, hashings, kind):
        if kind == "without a password":
            known.set_unusable_password()
        known.is_active = kind != "closed"
        known.save()
        unknown = next(NAMES)
        suffix = "@example.org" if kind == "address" else ""
        answers, work = [], []
        for name in (known.username, unknown):
            hashings.clear()
            answers.append(plain(sign_in(name + suffix), name))
            work.append(len(hashings))
        assert answers[0] == answers[1]
        assert work[0] == work[1] > 0

    def test_by_resetting_a_password(self, known, hashings):
        answers, mails = [], []
        for address in (known.email, f"{next(NAMES)}@example.org"):
            mail.outbox.clear()
            client = Client(REMOTE_ADDR=next(ADDRESSES))
            answer = client.post("/accounts/password/reset/", {"email": address}, follow=True)
            answers.append(plain(answer, address))
            mails.append(len(mail.outbox))
        assert answers[0] == answers[1]
        assert mails == [1, 1]
        assert hashings == []

    def test_by_signing_up_with_an_address(self, known, hashings, settings):
        settings.OPEN_SIGN_UP = True
        settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
        settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
        answers, work, mails = [], [], []
        for address in (known.email, f"{next(NAMES)}@example.org"):
            hashings.clear()
            mail.outbox.clear()
            form = {"username": next(NAMES), "email": address}
            form |= {"password1": PASSWORD, "password2": PASSWORD}
            client = Client(REMOTE_ADDR=next(ADDRESSES))
            answer = client.post("/accounts/signup/", form, follow=True)
            answers.append(plain(answer, address, form["username"]))
            work.append(len(hashings))
            mails.append(len(mail.outbox))
        assert answers[0] == answers[1]
        assert work[0] == work[1] > 0
        assert mails == [1, 1]

    @pytest.mark.parametrize("work_s", [0.01, 0.07, 0.6])
    def test_by_how_long_a_form_takes(self, work_s, monkeypatch):
        slept_s = self.sleeps(monkeypatch, work_s)
        Client(REMOTE_ADDR=next(ADDRESSES)).post(
            "/accounts/password/reset/", {"email": "any@example.org"}
        )
        assert [work_s + each for each in slept_s] == [pytest.approx(0.5 if work_s < 0.5 else 1)]

    @pytest.mark.parametrize("form", ["/accounts/password/reset/", "/accounts/signup/"])
    @pytest.mark.parametrize("is_checking", [True, False])
    def test_what_is_refused_keeps_no_thread_waiting(self, form, is_checking, monkeypatch):
        slept_s = self.sleeps(monkeypatch, 0.01)
        stranger = Client(REMOTE_ADDR=next(ADDRESSES), enforce_csrf_checks=is_checking)
        assert stranger.post(form, {"email": "no address"}).status_code != 302
        assert slept_s == []

    @staticmethod
    def sleeps(monkeypatch, work_s):
        """What the middleware sleeps, where a form takes `work_s` seconds."""
        clock = iter((100.0, 100.0 + work_s))
        slept_s = []
        fake = SimpleNamespace(monotonic=lambda: next(clock), sleep=slept_s.append)
        monkeypatch.setattr(middleware, "time", fake)
        monkeypatch.setattr(middleware, "ACCOUNT_ANSWER_S", 0.5)
        return slept_s

    def test_by_an_invitation(self, scene):
        """Only who has the link learns that it ended, and why."""
        clear = invitations.invite(scene.own.user, scene.own.workspace, Role.VIEWER)
        invitations.revoke(scene.own.workspace, scene.own.workspace.invitations.get().pk)
        assert "revoked" in Client().get(f"/invitations/{clear}").content.decode()
        texts = [new_token("invite"), clear[:-7] + new_token("invite")[-7:], "nonsense"]
        answers = {plain(Client().get(f"/invitations/{text}"), text) for text in texts}
        assert len(answers) == 1


def test_a_closed_limit_says_nothing_of_the_account(settings):
    settings.FAILED_SIGN_INS_IN_NEW_BROWSERS = 1
    name = next(NAMES)
    sign_in(name)
    page = sign_in(name).content.decode()
    assert name not in page
    assert "Too many" in page
