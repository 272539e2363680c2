"""What the comparison says of doubtful evidence: repeated files, redirects, unreadable outputs."""

import os

import pytest

from backend.ingest.tests.test_responses import hey
from backend.ingest.worker import process
from backend.testing.uploads import make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def record(tenant):
    def upload(*named_texts):
        trials = [
            make_trial(
                index,
                server={"name": name, "version": "1"},
                workload={"name": "hello", "path": "/"},
                load={"tool": "hey", "connections": 10},
            )
            for index, (name, _) in enumerate(named_texts)
        ]
        envelope = {**make_envelope(), "trials": trials}
        process(make_upload(tenant, *(text for _, text in named_texts), envelope=envelope).pk)

    return upload


@pytest.fixture
def compare_page(open_page, live_server, tenant):
    def show(name):
        page = open_page("/w/lab/compare", tenant)
        page.wait_for_selector(".is-ready")
        if folder := os.environ.get("EVIDENCE_SHOTS"):
            page.screenshot(path=f"{folder}/{name}.png", full_page=True)
        return page

    return show


def trials(name, status=200, factor=1.0):
    return [(name, hey(status, seconds * factor)) for seconds in (3.0, 3.03, 2.98)]


def test_a_file_uploaded_again_is_told_and_counts_once(compare_page, record):
    record(*trials("nginx"), *trials("apache", factor=1.2))
    record(*trials("nginx"))
    page = compare_page("duplicates")
    page.locator(".trust-chip").click()
    text = page.inner_text("main")
    assert "Same output as another trial (3 of 9 trials)" in text
    assert "client and server on one host (" not in text
    assert "3 trials a point" in page.inner_text("[data-slot=conditions]")


def test_redirects_are_told_before_any_ranking(compare_page, record):
    record(*trials("moved", 302, 0.5), *trials("page"))
    page = compare_page("redirects")
    assert "share of redirects differs: over 1 %, under 1 %" in page.inner_text("main")
    assert page.locator(".ranks").count() == 0


def test_a_server_that_was_not_read_is_listed_with_its_reason(compare_page, record):
    record(*trials("nginx"), ("apache", "Segmentation fault\n"))
    page = compare_page("not-read")
    assert page.is_visible("[data-slot=not-read]")
    listed = page.inner_text("[data-slot=not-read]")
    assert "Not read" in listed
    assert "apache 1 at 10 connections, 1 trial: " in listed


def test_where_nothing_was_read_the_reason_is_all_there_is(compare_page, record):
    record(("nginx", hey(200)), ("apache", "Segmentation fault\n"))
    page = compare_page("partly")
    assert page.is_visible("[data-slot=not-read]")
    assert "apache" in page.inner_text("[data-slot=not-read]")
