"""Chosen passwords are looked up in the operator's list of breached ones, by five digits."""

import hashlib
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.test import Client

from backend.accounts.models import User
from backend.config.environment import breached_passwords, environment
from backend.config.environment.breached_passwords import BreachedPasswordValidator

BREACHED = "correct horse battery staple"
OTHER = "a password that nobody published"
DIGITS = {text: hashlib.sha1(text.encode()).hexdigest().upper() for text in (BREACHED, OTHER)}


class List:
    """A list of breached passwords on this machine; `answer` sends the rest of an answer."""

    def __init__(self):
        self.asked, self.answer = [], self.lines
        list_ = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                list_.asked.append(self.path)
                list_.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/range/"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @staticmethod
    def lines(handler, breached=BREACHED, times=7):
        text = f"{'0' * 35}:3\r\n{DIGITS[breached][5:]}:{times}\r\n{'F' * 35}:0".encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)


@pytest.fixture
def listed():
    made = List()
    yield made
    made.server.shutdown()
    made.server.server_close()


def is_taken(address, password):
    try:
        BreachedPasswordValidator(address).validate(password)
    except ValidationError:
        return False
    return True


def test_a_breached_password_is_refused_and_only_five_digits_are_sent(listed):
    assert not is_taken(listed.address, BREACHED)
    assert is_taken(listed.address, OTHER)
    assert listed.asked == [f"/range/{DIGITS[text][:5]}" for text in (BREACHED, OTHER)]


def test_a_line_of_padding_is_no_breach(listed):
    listed.answer = lambda handler: List.lines(handler, times=0)
    assert is_taken(listed.address, BREACHED)


def drip(handler):
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"0")
        handler.wfile.flush()
        time.sleep(0.05)


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"0" * 10_000)


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: handler.send_error(503),
        lambda handler: handler.wfile.write(b"no HTTP\r\n\r\n"),
        lambda handler: handler.wfile.write("HTTP/1.1 200 OK\r\n\r\nä".encode()),
        lambda handler: time.sleep(0.6),
        drip,
        endless,
    ],
    ids=["refusing", "no HTTP", "no list", "silent", "dripping", "endless"],
)
def test_a_list_that_is_away_refuses_nobody_and_is_logged(listed, answer, monkeypatch, caplog):
    monkeypatch.setattr(breached_passwords, "TOTAL_S", 0.3)
    monkeypatch.setattr(breached_passwords, "MOST_BYTES", 5_000)
    listed.answer = answer
    with caplog.at_level(logging.WARNING):
        assert is_taken(listed.address, BREACHED)
    assert "breached_passwords_away" in caplog.text
    assert DIGITS[BREACHED][:5] not in caplog.text
    assert BREACHED not in caplog.text


def test_an_address_where_nothing_listens_refuses_nobody():
    assert is_taken("http://127.0.0.1:1/range/", BREACHED)


def test_what_is_no_web_address_stops_the_start(monkeypatch):
    monkeypatch.setattr(environment, "VARIABLES", {})
    monkeypatch.setenv("LISTED", "api.pwnedpasswords.com")
    with pytest.raises(ImproperlyConfigured, match="expected an address"):
        environment.web_address("LISTED", "a list")


@pytest.mark.django_db
class TestForms:
    @pytest.fixture(autouse=True)
    def _with_the_list(self, listed, settings):
        options = {"address": listed.address}
        name = "backend.config.environment.breached_passwords.BreachedPasswordValidator"
        settings.AUTH_PASSWORD_VALIDATORS = [{"NAME": name, "OPTIONS": options}]
        settings.OPEN_SIGN_UP = True

    def test_sign_up(self):
        form = {"username": "ada", "password1": BREACHED, "password2": BREACHED}
        form["email"] = "ada@example.org"
        answer = Client().post("/accounts/signup/", form)
        assert "Choose another one" in answer.content.decode()
        assert not User.objects.filter(username="ada").exists()

    def test_changing_a_password(self):
        user = User.objects.create_user(username="ada", password=OTHER)
        client = Client()
        client.force_login(user)
        form = {"oldpassword": OTHER, "password1": BREACHED, "password2": BREACHED}
        answer = client.post("/accounts/password/change/", form)
        assert "Choose another one" in answer.content.decode()
        user.refresh_from_db()
        assert user.check_password(OTHER)

    def test_resetting_a_password(self, mailoutbox):
        user = User.objects.create_user(
            username="ada", email="ada@example.org", password="forgotten"
        )
        client = Client()
        client.post("/accounts/password/reset/", {"email": user.email})
        (link,) = (word for word in mailoutbox[0].body.split() if "/reset/key/" in word)
        form_page = client.get(link)["Location"]
        answer = client.post(form_page, {"password1": BREACHED, "password2": BREACHED})
        assert "Choose another one" in answer.content.decode()
        user.refresh_from_db()
        assert user.check_password("forgotten")
