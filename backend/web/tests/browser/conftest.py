"""One Chromium for all tests of a process: Playwright's synchronous API starts only once in it."""

import os

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
DESKTOP = {"width": 1440, "height": 900}
# What a page is to show is waited for as long as Playwright waits for what is to be clicked: a busy
# machine takes longer than the five seconds that are usual.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def _synchronous_django():
    # Playwright runs an event loop in this thread; the ORM is used between its calls, not in them.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def chromium(_synchronous_django):
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or None
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium, live_server):
    """A function that opens a blank window, signed in as a tenant's user if one is given.

    `page.complaints` gathers the errors of scripts and of the console; `refusals` are the statuses
    that the test provokes, which the console reports too.
    """
    contexts = []

    def new(tenant=None, *, refusals=(), **options):
        contexts.append(chromium.new_context(**{"viewport": DESKTOP, **options}))
        if tenant is not None:
            contexts[-1].add_cookies([_session(tenant, live_server.url)])
        page = contexts[-1].new_page()
        _gather_complaints(page, [f"status of {status}" for status in refusals])
        return page

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(new_page, live_server):
    """A function that opens a path in a new window, as `new_page` makes it."""

    def open_path(path, tenant=None, **options):
        page = new_page(tenant, **options)
        page.goto(live_server.url + path)
        return page

    return open_path


def _gather_complaints(page, expected):
    def hear(message):
        if message.type == "error" and not any(text in message.text for text in expected):
            page.complaints.append(message.text)

    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", hear)


def _session(tenant, url):
    """The cookie of a session, as Chromium takes it."""
    client = Client()
    client.force_login(tenant.user)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": url}
