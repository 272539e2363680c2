"""robots.txt, security.txt, and the pages whose text the operator gives."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from backend.config.environment import public_settings
from backend.web.documents.site_files import TEXTS

pytestmark = pytest.mark.django_db


def lines(path):
    answer = Client().get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    return answer.content.decode().splitlines()


def test_crawlers_leave_private_and_expensive_addresses_alone():
    robots = lines("/robots.txt")

    assert robots[0] == "User-agent: *"
    for path in ("/api/", "/accounts/", "/staff/", "/w/*/compare", "/search", "/report"):
        assert f"Disallow: {path}" in robots
    assert "Disallow: /" not in robots


def test_an_operator_switches_indexing_off(settings):
    settings.INDEXING = False

    assert lines("/robots.txt") == ["User-agent: *", "Disallow: /"]
    assert Client().get("/explore")["X-Robots-Tag"] == "noindex"


def test_security_txt_has_what_the_rfc_asks_for(settings):
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    settings.SECURITY_POLICY_URL = "https://example.org/security"
    settings.PUBLIC_URL = "https://bench.example.org"

    fields = dict(line.split(": ", 1) for line in lines("/.well-known/security.txt"))

    assert fields["Contact"] == "mailto:security@example.org"
    assert fields["Policy"] == "https://example.org/security"
    assert fields["Canonical"] == "https://bench.example.org/.well-known/security.txt"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=90) < expires - datetime.now(UTC) < timedelta(days=365)


def test_without_a_contact_there_is_no_security_txt():
    assert Client().get("/.well-known/security.txt").status_code == 404


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_the_operator_has_a_page_and_a_link(name, settings, tmp_path):
    setting, _ = TEXTS[name]
    link = f'href="/{name}"'
    assert Client().get(f"/{name}").status_code == 404
    assert link not in Client().get("/explore").content.decode()

    file = tmp_path / "text.md"
    file.write_text("# Whose it is\n\nOurs. <script>alert(1)</script>\n")
    setattr(settings, setting, file)

    text = Client().get(f"/{name}").content.decode()
    assert "Whose it is</h1>" in text
    assert "<script>alert" not in text
    assert link in Client().get("/explore").content.decode()


def test_a_contact_is_an_address(monkeypatch):
    monkeypatch.setenv("A_CONTACT", "security@example.org")
    assert public_settings._contact("A_CONTACT", "x") == "mailto:security@example.org"
    for wrong in ("nobody", "http://example.org", "mailto:nobody", "https://", "a@b c", "a@b..c"):
        monkeypatch.setenv("A_CONTACT", wrong)
        with pytest.raises(ImproperlyConfigured, match="A_CONTACT"):
            public_settings._contact("A_CONTACT", "x")


def test_a_text_that_cannot_be_read_stops_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("A_TEXT", str(tmp_path / "none.md"))

    with pytest.raises(ImproperlyConfigured, match="A_TEXT"):
        public_settings._text_file("A_TEXT", "x")


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff"])
def test_a_text_that_is_gone_or_damaged_later_is_away(content, settings, tmp_path, caplog):
    settings.TERMS_FILE = tmp_path / "terms.md"
    if content is not None:
        settings.TERMS_FILE.write_bytes(content)
    answer = Client().get("/terms")
    assert answer.status_code == 503
    assert b"cannot be read at the moment" in answer.content
    assert "operators_text_unreadable" in caplog.text
