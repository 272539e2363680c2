"""The ways of people who come with a question, an output, or two runs: in a real Chromium."""

import re
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.utils import timezone
from playwright.sync_api import expect

from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import State, Upload
from backend.ingest.queue.worker import process
from backend.runs.models import Run
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility
from backend.storage import storage
from backend.testing.rows import CellSpec, make_run
from backend.testing.uploads import WRK, make_tenant
from backend.web.tests.browser.page_audit import faults_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NARROW = {"width": 390, "height": 844}


@pytest.fixture
def lab(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    caches["process"].clear()
    tenant = make_tenant("lab")
    for version, rate in (("1.0", 2000.0), ("1.1", 1000.0)):
        cells = [
            CellSpec("caddy", version=version, connections=load, rates=(rate, rate + 2, rate - 2))
            for load in (8, 64)
        ]
        make_run(tenant.workspace, *cells)
    yield tenant
    storage.cache_clear()


@pytest.fixture
def public_set(lab):
    description = Description(title="caddy over two versions", visibility=Visibility.PUBLIC)
    query = CompareQuery.parse("series=version&x=connections")
    return freeze(query, workspace=lab.workspace, author=lab.user, description=description)


def test_a_stranger_plays_with_the_comparison(open_page, public_set):
    page = open_page("/")
    expect(page.locator("h1")).to_contain_text("Which HTTP server is faster")
    frame = page.frame_locator("iframe[name=showcase]")
    expect(frame.locator("canvas").first).to_be_visible()
    page.get_by_role("link", name="Latency p99").click()
    expect(frame.locator("[data-slot=chart-title]")).to_contain_text("p99")
    expect(page.get_by_role("link", name="Latency p99")).to_have_attribute("aria-current", "true")
    assert page.complaints == []


@pytest.mark.parametrize(
    "viewport", [{"width": 1440, "height": 900}, NARROW], ids=["wide", "phone"]
)
def test_the_frame_takes_the_theme_of_the_page_and_fits(open_page, public_set, viewport):
    page = open_page("/", viewport=viewport)
    frame = page.frame_locator("iframe[name=showcase]")
    expect(frame.locator("canvas").first).to_be_visible()
    page.locator("button[data-theme-toggle]").click()
    page.locator("button[data-theme-toggle]").click()
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.locator("html").evaluate("e => e.scrollWidth <= e.clientWidth")


def test_the_legend_of_a_phone_begins_with_the_leader(open_page, lab):
    """A frame has room for a few names: those of the slowest are folded."""
    names = ("apache", "bjoern", "cherrypy", "daphne", "eventlet", "fastest")
    cells = [
        CellSpec(name, connections=load, rates=(rate, rate + 2, rate - 2))
        for name, rate in zip(names, (100, 200, 300, 400, 500, 2000), strict=True)
        for load in (8, 64)
    ]
    run = make_run(lab.workspace, *cells)
    description = Description(title="Six servers", visibility=Visibility.PUBLIC)
    query = CompareQuery.parse("").with_filters(run=[run.pk])
    freeze(query, workspace=lab.workspace, author=lab.user, description=description)
    page = open_page("/", viewport=NARROW)
    items = page.frame_locator("iframe[name=showcase]").locator(".legend-item")
    expect(items.first).to_have_text("fastest 23.0")
    expect(items.first).to_be_visible()
    expect(items.last).to_have_text("apache 23.0")


def test_a_stranger_sees_an_output_checked_at_once(open_page, lab):
    page = open_page("/")
    uploads = Upload.objects.count()
    page.get_by_label("Paste the output of a load tool").fill(WRK)
    expect(page.locator("#read")).to_contain_text("1 trial, nothing was stored")
    expect(page.locator("#read")).to_contain_text("6,000")
    assert faults_of(page, "tried") == {}
    page.get_by_label("Paste the output of a load tool").fill("x" * 70_000)
    expect(page.locator("#read")).to_contain_text("Sign in to read more")
    assert Upload.objects.count() == uploads
    assert page.complaints == []


def test_two_ticked_runs_stand_side_by_side_in_three_clicks(open_page, lab):
    page = open_page("/w/lab/", lab)
    compare = page.get_by_role("button", name="Compare two")
    expect(compare).to_be_disabled()
    page.get_by_label("Tick caddy 1.0").check()
    expect(compare).to_be_disabled()
    page.get_by_label("Tick caddy 1.1").check()
    compare.click()
    expect(page.locator("h1")).to_have_text(
        re.compile(r"caddy 1\.[01] serves .* the requests of caddy")
    )
    assert page.complaints == []


def test_an_output_is_previewed_saved_and_leads_to_its_run(open_page, lab):
    page = open_page("/w/lab/upload", lab)
    page.get_by_label("Paste the output").fill(f"{WRK}\n")
    expect(page.locator("#read")).to_contain_text("1 trial, not saved yet")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/u/*")
    expect(page.locator("[data-slot=state]").first).to_have_text("Waiting to be read")
    process(Upload.objects.get().pk)
    page.wait_for_url("**/r/*")
    assert page.url.endswith(str(Run.objects.get(upload__isnull=False).pk))


def test_the_failed_upload_of_last_night_is_one_click_from_the_front(open_page, lab):
    Upload.objects.create(
        workspace=lab.workspace,
        content_sha256="0" * 64,
        state=State.FAILED,
        reason="We don't recognise this file.",
        received_at=timezone.now() - timedelta(hours=9),
    )
    page = open_page("/w/lab/", lab)
    page.locator("section:has(#failed-title) tbody a").click()
    expect(page.locator(".notice-error")).to_contain_text("We don't recognise this file.")


def test_the_front_page_with_a_comparison_is_accessible(open_page, public_set):
    page = open_page("/")
    expect(page.frame_locator("iframe[name=showcase]").locator("canvas").first).to_be_visible()
    assert faults_of(page, "introduction") == {}
