"""The pages of an account: their titles are written like those of all other pages."""

import pytest

from backend.web.templatetags.sentence_case import sentence_case
from backend.web.tests.pages import html_of


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("Add Email Address", "Add email address"),
        ("Two-Factor Authentication", "Two-factor authentication"),
        ("IP Address", "IP address"),
        ("Re-send Verification", "Re-send verification"),
    ],
)
def test_a_title_has_one_capital(title, written):
    assert sentence_case(title) == written


def test_pages_of_an_account_have_one_word_for_email_and_mark_their_tab(owner):
    page = html_of(owner.get("/accounts/email/"))
    assert "Add email address" in page
    assert "Email Address" not in page
    assert "e-mail" not in page.lower()
    own = owner.get("/accounts/password/change/", follow=True).content.decode()
    assert own.count('aria-current="page"') == 1


def test_a_field_is_named_once(client):
    page = html_of(client.get("/accounts/login/"))
    assert ">Username or email</label>" in page
    assert "placeholder" not in page
