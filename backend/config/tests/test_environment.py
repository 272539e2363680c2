"""A wrong value stops the start with a line that names the variable, what was got and expected."""

import secrets
import subprocess
import sys

import pytest
from django.conf import settings
from django.core import management
from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand

import manage
from backend.config.environment import environment as env


@pytest.fixture(autouse=True)
def _leave_the_list_alone(monkeypatch):
    monkeypatch.setattr(env, "VARIABLES", {})


def test_a_missing_value_without_default_names_the_variable(monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)

    with pytest.raises(
        ImproperlyConfigured, match=r"SECRET_KEY is not set\. Set it to a long text"
    ):
        env.text("SECRET_KEY", "a long text")


def test_an_empty_value_counts_as_missing(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "")

    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is not set"):
        env.text("SECRET_KEY", "a long text")


@pytest.mark.parametrize("value", ["-1", "1.5", "10k", "ten", " "])
def test_a_number_that_is_none_says_what_was_got(monkeypatch, value):
    monkeypatch.setenv("LEASE_S", value)

    with pytest.raises(ImproperlyConfigured, match=f"LEASE_S is {value!r}, expected a whole"):
        env.whole("LEASE_S", "seconds", default=1)


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("FALSE", False), ("", False)])
def test_a_flag_is_true_or_false(monkeypatch, value, expected):
    monkeypatch.setenv("DEBUG", value)

    assert env.flag("DEBUG", "show tracebacks", default=False) is expected


@pytest.mark.parametrize("value", ["1", "yes", "on"])
def test_a_flag_is_not_guessed(monkeypatch, value):
    monkeypatch.setenv("DEBUG", value)

    with pytest.raises(ImproperlyConfigured, match=f"DEBUG is '{value}', expected true or false"):
        env.flag("DEBUG", "show tracebacks", default=False)


def test_a_listing_leaves_blanks_out(monkeypatch):
    monkeypatch.setenv("ALLOWED_HOSTS", " a.example, ,b.example,")

    assert env.listing("ALLOWED_HOSTS", "hosts", default="x") == ["a.example", "b.example"]


class TestDatabase:
    def read(self, monkeypatch, url):
        monkeypatch.setenv("DATABASE_URL", url)
        return env.database("DATABASE_URL", "the database")

    @pytest.mark.parametrize("url", ["mysql://a@b/c", "sqlite:///x.db", "just words"])
    def test_only_postgresql(self, monkeypatch, url):
        with pytest.raises(ImproperlyConfigured, match="Loadsheet needs PostgreSQL"):
            self.read(monkeypatch, url)

    def test_a_host_with_everything(self, monkeypatch):
        found = self.read(
            monkeypatch, "postgresql://u%40x:p%2Fw@db.example:6432/bench?sslmode=require"
        )

        assert found["USER"] == "u@x"
        assert found["PASSWORD"] == "p/w"
        assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example", "6432", "bench")
        assert found["OPTIONS"] == {"sslmode": "require"}

    def test_a_socket_folder_with_spaces(self, monkeypatch):
        found = self.read(monkeypatch, "postgresql://me@/bench?host=%2Ftmp%2Fa%20b")

        assert (found["HOST"], found["PORT"]) == ("/tmp/a b", "")
        assert found["OPTIONS"] == {}


@pytest.mark.long
def test_files_can_be_parsed_without_any_settings(tmp_path):
    file = tmp_path / "junk.txt"
    file.write_text("junk")
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "parse", str(file)]

    done = subprocess.run(
        command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "junk.txt: We don't recognise this file" in done.stderr


def test_a_command_checks_no_code(monkeypatch):
    monkeypatch.setattr(BaseCommand, "requires_system_checks", "__all__")
    checks = []
    monkeypatch.setattr(
        management,
        "execute_from_command_line",
        lambda _: checks.append(list(BaseCommand.requires_system_checks)),
    )
    monkeypatch.setattr(sys, "argv", ["manage.py", "quota"])

    manage.main()

    assert checks == [[]]


def test_a_terminal_finds_the_secrets_and_the_database_of_a_running_start(tmp_path):
    (tmp_path / "secrets.json").write_text('{"SECRET_KEY": "s", "TOKEN_PEPPER": "p"}')
    (tmp_path / "postgres").mkdir()
    pid_file = ["1", str(tmp_path), "0", "5432", "/tmp/loadsheet-x", "", "", "ready"]
    (tmp_path / "postgres" / "postmaster.pid").write_text("\n".join(pid_file))

    assert manage.beside_start(tmp_path) == {
        "SECRET_KEY": "s",
        "TOKEN_PEPPER": "p",
        "DATABASE_URL": "postgresql://loadsheet@/loadsheet?host=/tmp/loadsheet-x",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }


def test_a_terminal_invents_nothing_when_nothing_runs(tmp_path):
    assert manage.beside_start(tmp_path) == {}


@pytest.mark.parametrize(
    ("value", "got"),
    [("x", "1 characters, 1 of them"), ("a" * 60, "60 characters, 1 of them"), ("s3cret!" * 4, "")],
)
def test_a_secret_that_can_be_guessed_is_refused_and_not_shown(monkeypatch, value, got):
    monkeypatch.setenv("SECRET_KEY", value)

    with pytest.raises(ImproperlyConfigured, match=r"^SECRET_KEY has .* at least 50") as refusal:
        env.random_secret("SECRET_KEY", "a long random text")

    assert got in str(refusal.value)
    assert "s3cret!" not in str(refusal.value)


def test_a_random_secret_is_taken(monkeypatch):
    value = secrets.token_hex(32)
    monkeypatch.setenv("SECRET_KEY", value)

    assert env.random_secret("SECRET_KEY", "a long random text") == value


@pytest.mark.parametrize("value", ["root@mailhost", "Loadsheet <bench@example.org>", ""])
def test_mails_come_from_an_address_with_or_without_a_name(monkeypatch, value):
    monkeypatch.setenv("MAIL_FROM", value)

    assert env.mail_sender("MAIL_FROM", "sender", default="a@b") == (value or "a@b")


@pytest.mark.parametrize("value", ["nobody", "a@b..org", "a@\u200d.org", "A, B <a@b.org>"])
def test_an_address_that_no_mail_can_come_from_stops_the_start(monkeypatch, value):
    monkeypatch.setenv("MAIL_FROM", value)

    with pytest.raises(ImproperlyConfigured, match=r"MAIL_FROM is .*, expected name@example\.org"):
        env.mail_sender("MAIL_FROM", "sender", default="a@localhost")
