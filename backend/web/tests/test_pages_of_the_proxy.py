"""The pages that the proxy shows where no web process answers: they stand alone."""

import re

import pytest
from django.conf import settings

PROXY = settings.BASE_DIR / "proxy"
PAGES = sorted(PROXY.glob("errors/*.html"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_fits_every_screen_and_theme(page):
    text = page.read_text()

    assert '<html lang="en">' in text
    assert '<meta charset="utf-8">' in text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "color-scheme: light dark" in text
    # No other file may be needed: the service that has it does not answer.
    assert not re.findall(r'(?:src|href)="(?!data:,|/|")', text)
    assert "@import" not in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_nothing_that_its_reader_cannot_see(page):
    text = page.read_text()

    assert "Retry-After" not in text
    assert "gents" not in text


def test_the_wait_is_that_of_the_header():
    (seconds,) = set(re.findall(r"429 (\d+);", (PROXY / "nginx.conf").read_text()))

    for ending in ("html", "json"):
        assert f"Wait {seconds} seconds" in (PROXY / "errors" / f"429.{ending}").read_text()
