"""Each secret may be in a file whose path is in NAME_FILE; whatever is wrong with it is told."""

import json
import os
import re
import runpy
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from backend.config.environment import environment as env
from backend.config.environment import secret_files
from backend.config.environment.environment import VARIABLES
from backend.config.environment.secret_files import SecretRefused, is_given
from backend.config.processes.heartbeat import BACKUP
from backend.config.site.site_folder import SiteFolder

SCRIPT = settings.BASE_DIR / "scripts" / "make-secrets"
MAKE_SECRETS = runpy.run_path(str(SCRIPT))
SECRETS = sorted(name for name, variable in VARIABLES.items() if variable.is_secret)
PLAIN = sorted(set(VARIABLES) - set(SECRETS))
VALUE = "postgresql://u:s3cret-0123456789-abcdefghijklmnopqrstuvwxyz@db.example:5432/x"
# What a name of a secret says; METRICS_TOKEN and the like must not be read as plain texts.
TELLING = ("SECRET", "TOKEN", "PEPPER", "PASSWORD", "DSN", "ACCESS_KEY", "DATABASE_URL")
NOT_SECRET = {"BREACHED_PASSWORDS_URL"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "secret"


@pytest.fixture
def give(monkeypatch, path):
    def write(content, *, name="SMTP_URL", mode=0o400):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(path))

    return write


def refusal(name="SMTP_URL"):
    with pytest.raises(SecretRefused) as refused:
        secret_files.read_secret(name)
    sentence = str(refused.value)
    with pytest.raises(ImproperlyConfigured, match=re.escape(sentence)):
        env.optional_secret(name, "a secret")
    assert sentence.startswith(name)
    assert "s3cret" not in sentence
    return sentence


def test_what_starts_the_site_loads_nothing_of_django():
    program = (
        "import sys\n"
        "import backend.config.environment.secret_files, backend.config.site.site_folder\n"
        "sys.exit(any(name.partition('.')[0] == 'django' for name in sys.modules))"
    )

    subprocess.run([sys.executable, "-c", program], cwd=settings.BASE_DIR, check=True)


def test_every_setting_whose_name_tells_a_secret_is_one():
    telling = {name for name in VARIABLES if any(word in name for word in TELLING)}

    assert telling - NOT_SECRET <= set(SECRETS)
    assert telling >= NOT_SECRET
    assert len(SECRETS) == 14


@pytest.mark.parametrize("name", SECRETS)
def test_every_secret_is_read_from_its_file(give, monkeypatch, name):
    monkeypatch.setattr(env, "VARIABLES", {})
    give(f"{VALUE}\n", name=name)

    assert is_given(name)
    assert env.text(name, "a secret", is_secret=True) == VALUE


# Each file in turn is one that others may read: the settings must say so.
_LOAD = """
import importlib, json, os, pathlib, sys
from django.core.exceptions import ImproperlyConfigured
from backend.config import settings
folder, refusals = pathlib.Path(sys.argv[1]), {}
for file in sorted(folder.iterdir()):
    file.chmod(0o444)
    try:
        importlib.reload(settings)
    except ImproperlyConfigured as refused:
        refusals[file.name] = str(refused)
    file.chmod(0o400)
print(json.dumps(refusals))
"""


@pytest.mark.processes
def test_the_settings_read_every_secret_from_its_file(tmp_path):
    """The whole settings: no variable of the environment has a secret."""
    MAKE_SECRETS["make"](str(tmp_path), {}, os.geteuid())
    (tmp_path / "POSTGRES_PASSWORD").unlink()
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(tmp_path)],
        cwd=settings.BASE_DIR,
        env={
            "PATH": os.environ["PATH"],
            **{f"{name}_FILE": str(tmp_path / name) for name in SECRETS},
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    refusals = json.loads(done.stdout)
    assert set(refusals) == set(SECRETS)
    for name, sentence in refusals.items():
        assert sentence.startswith(f"{name}_FILE is '{tmp_path / name}' with the mode 0444")
        assert f"chmod 0400 {tmp_path / name}" in sentence


@pytest.mark.parametrize("name", PLAIN)
def test_no_other_setting_is_read_from_a_file(give, monkeypatch, name):
    monkeypatch.setattr(env, "VARIABLES", {})
    give(VALUE, name=name)

    assert env.text(name, "a text", default="") == ""


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_line_break_at_the_end_is_no_part_of_the_secret(give, ending):
    give(f"{VALUE}{ending}")

    assert secret_files.read_secret("SMTP_URL") == VALUE


@pytest.mark.parametrize(
    "content",
    ["s3cret\n\n", "s3cret\nmore\n", " s3cret", "s3cret ", "s3c\0ret", "\ts3cret", "s3cret\x1b[0m"],
)
def test_more_than_a_line_is_refused(give, content):
    give(content)

    assert "more than one line, or white space" in refusal()


def test_bytes_that_are_no_text_are_refused(give):
    give(b"\xff\xfes3cret")

    assert "is not UTF-8" in refusal()


def test_a_long_file_is_refused(give):
    give("s3cret" * 20_000)

    assert "has more than 65536 bytes" in refusal()


def test_both_are_refused(give, monkeypatch):
    give(VALUE)
    monkeypatch.setenv("SMTP_URL", "s3cret")

    assert "are both set, expected one of them. Unset SMTP_URL." in refusal()


def test_a_missing_file_and_a_folder_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("SMTP_URL_FILE", str(tmp_path / "none"))
    assert "cannot be read: No such file or directory" in refusal()
    monkeypatch.setenv("SMTP_URL_FILE", str(tmp_path))
    assert "cannot be read: Is a directory" in refusal()


@pytest.mark.parametrize("mode", [0o404, 0o444, 0o644, 0o420, 0o402, 0o666, 0o777])
def test_a_file_that_others_may_read_or_change_is_refused(give, mode):
    give(VALUE, mode=mode)

    assert f"with the mode {mode:04o}" in refusal()


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440, 0o640])
def test_a_file_of_owner_and_group_is_read(give, mode):
    give(VALUE, mode=mode)

    assert secret_files.read_secret("SMTP_URL") == VALUE


def test_an_empty_file_counts_as_not_set(give, monkeypatch):
    monkeypatch.setattr(env, "VARIABLES", {})
    give("\n")
    assert env.text("SMTP_URL", "the mail server", default="", is_secret=True) == ""

    give("", name="SECRET_KEY", mode=0o600)
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY is empty in the file .*/secret"):
        env.text("SECRET_KEY", "a long text", is_secret=True)


def test_scripts_start_leaves_a_secret_of_a_file_alone(give, tmp_path):
    give(VALUE, name="SECRET_KEY")
    folder = tmp_path / "data"
    folder.mkdir()

    assert "SECRET_KEY" not in SiteFolder(folder).secrets()


def test_health_checks_read_the_address_of_the_database_from_its_file(give):
    give("postgresql://nobody@127.0.0.1:1/none", name="DATABASE_URL")
    environment = {name: text for name, text in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "backend.config.processes.heartbeat_check", BACKUP],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "127.0.0.1" in done.stderr
    assert "KeyError" not in done.stderr


class TestMakeSecrets:
    def run(self, *words):
        return subprocess.run(
            [sys.executable, str(SCRIPT), *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
        )

    def make(self, folder, *words):
        none = folder.parent / "no.env"
        return self.run(folder, "--owner", os.geteuid(), "--env-file", none, *words)

    def test_it_knows_every_secret_and_the_password_of_postgres(self):
        assert set(MAKE_SECRETS["NAMES"]) == {*SECRETS, "POSTGRES_PASSWORD"}

    def test_it_writes_files_that_the_settings_take(self, tmp_path, monkeypatch):
        monkeypatch.setattr(env, "VARIABLES", {})
        folder = tmp_path / "secrets"
        done = self.make(folder)

        assert done.returncode == 0, done.stderr
        assert folder.stat().st_mode & 0o777 == 0o700
        for name in SECRETS:
            monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv(f"{name}_FILE", str(folder / name))
        assert env.random_secret("SECRET_KEY", "x") != env.random_secret("TOKEN_PEPPER", "x")
        password = (folder / "POSTGRES_PASSWORD").read_text()
        database = env.database("DATABASE_URL", "x")
        assert (database["PASSWORD"], database["HOST"]) == (password, "postgres")
        assert env.text("SENTRY_DSN", "x", default="", is_secret=True) == ""

    def test_it_changes_no_file_that_exists(self, tmp_path):
        folder = tmp_path / "secrets"
        self.make(folder)
        before = {file.name: file.read_text() for file in folder.iterdir()}
        (folder / "SMTP_URL").unlink()
        done = self.make(folder)

        assert "Wrote 1 files" in done.stdout
        assert before == {file.name: file.read_text() for file in folder.iterdir()}

    def test_it_takes_the_values_of_a_former_env_file(self, tmp_path):
        env_file = tmp_path / "former.env"
        env_file.write_text("POSTGRES_PASSWORD=abc\nSECRET_KEY='def'\nSITE_ADDRESS=x.example\n")
        folder = tmp_path / "secrets"
        done = self.run(folder, "--owner", os.geteuid(), "--env-file", env_file)

        assert (folder / "SECRET_KEY").read_text() == "def"
        assert ":abc@postgres:" in (folder / "DATABASE_URL").read_text()
        assert "Remove from" in done.stdout
        assert "POSTGRES_PASSWORD, SECRET_KEY" in done.stdout
        assert "abc" not in done.stdout

    def test_it_writes_no_password_beside_another_one(self, tmp_path):
        folder = tmp_path / "secrets"
        self.make(folder)
        (folder / "DATABASE_URL").unlink()
        done = self.make(folder)

        assert done.returncode == 1
        assert "DATABASE_URL is missing, but not POSTGRES_PASSWORD" in done.stderr

    def test_its_owner_is_the_user_of_the_image(self):
        assert f"--uid {MAKE_SECRETS['OWNER']} " in (settings.BASE_DIR / "Dockerfile").read_text()

    def test_a_folder_that_cannot_be_made_is_named(self, tmp_path):
        (tmp_path / "file").touch()
        done = self.make(tmp_path / "file")

        assert done.returncode == 1
        assert "scripts/make-secrets: " in done.stderr
        assert "Traceback" not in done.stderr
