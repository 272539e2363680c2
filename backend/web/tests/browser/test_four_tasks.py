"""What four people come for, done in a real Chromium: their clicks are counted and bounded.

The seconds are printed (`scripts/test -s`) and not asserted: they depend on the machine.
"""

import time
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.utils import timezone
from playwright.sync_api import expect

from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.runs.models import Run, Trial
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility
from backend.storage import storage
from backend.testing.rows import MACHINE, CellSpec, make_run
from backend.testing.uploads import WRK, make_tenant
from backend.web.tests.browser.page_audit import picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


class Person:
    """Someone at a page, whose clicks are counted. Typing is no click, choosing files is one."""

    def __init__(self, task, page):
        self.task, self.page, self.clicks = task, page, 0
        self.began = time.monotonic()

    def click(self, locator):
        self.clicks += 1
        locator.click()

    def choose_file(self, name, text):
        self.clicks += 1
        file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        self.page.get_by_label("Or choose files").set_input_files(file)

    def needs_at_most(self, clicks):
        seconds = time.monotonic() - self.began
        print(f"{self.task}: {self.clicks} clicks, {seconds:.1f} s")  # noqa: T201
        picture(self.page, f"task-{self.task}")
        assert self.clicks <= clicks
        assert self.page.complaints == []


@pytest.fixture
def lab(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    caches["process"].clear()
    tenant = make_tenant("lab")
    for day in range(3):
        cells = [
            CellSpec(server, connections=load, rates=tuple(rate + day + step for step in range(5)))
            for server, rate in (("haproxy", 9000.0), ("caddy", 6000.0), ("apache", 3000.0))
            for load in (8, 64, 256)
        ]
        make_run(tenant.workspace, *cells, host=MACHINE)
    yield tenant
    storage.cache_clear()


def is_on_first_screen(page, locator):
    box = locator.bounding_box()
    assert box is not None
    assert page.evaluate("scrollY") == 0
    return box["y"] >= 0 and box["y"] + box["height"] <= page.viewport_size["height"]


def wait_for_answer(page):
    page.wait_for_selector("[data-compare].is-ready[aria-busy=false]")


def test_an_engineer_reads_which_server_to_take_on_the_first_screen(open_page, lab):
    page = open_page("/w/lab/", lab, viewport=WIDE)
    engineer = Person("engineer", page)
    engineer.click(page.get_by_role("link", name="Compare", exact=True).last)
    wait_for_answer(page)
    answer = page.locator("[data-slot=finding]")
    expect(answer).to_contain_text("Take haproxy")
    for part in (answer, page.locator("[data-slot=margin]"), page.locator("[data-slot=trust]")):
        assert is_on_first_screen(page, part)
    engineer.needs_at_most(1)


def test_a_maintainer_compares_two_versions_from_saved_outputs(open_page, lab):
    Run.objects.all().delete()
    page = open_page("/w/lab/", lab, viewport=WIDE)
    maintainer = Person("maintainer", page)
    maintainer.click(page.get_by_role("link", name="Upload", exact=True).first)
    maintainer.choose_file("old.txt", WRK)
    page.get_by_label("Server", exact=True).fill("caddy")
    page.get_by_label("Version").fill("1.26")
    page.get_by_label("Workload").fill("json")
    maintainer.click(page.get_by_role("button", name="Save and add another"))
    expect(page.locator("main")).to_contain_text("Saved. Add the next output")
    expect(page.get_by_label("Server", exact=True)).to_have_value("caddy")
    expect(page.get_by_label("Version")).to_have_value("")
    maintainer.choose_file("new.txt", WRK.replace("18000", "15000").replace("6000.00", "5000.00"))
    page.get_by_label("Version").fill("1.27")
    maintainer.click(page.get_by_role("button", name="Save", exact=True))
    page.wait_for_url("**/u/*")
    for upload in Upload.objects.order_by("received_at"):
        process(upload.pk)
    page.wait_for_url("**/r/*")
    maintainer.click(page.get_by_role("link", name="Compare versions"))
    wait_for_answer(page)
    expect(page.locator(".ranking")).to_contain_text("1.26")
    expect(page.locator(".ranking")).to_contain_text("1.27")
    maintainer.needs_at_most(6)


def test_a_reader_understands_a_public_set_on_the_first_screen_of_a_phone(open_page, lab):
    shared = freeze(
        CompareQuery.parse("x=connections"),
        workspace=lab.workspace,
        author=lab.user,
        description=Description(title="Three servers", visibility=Visibility.PUBLIC),
    )
    page = open_page(shared.path, viewport=PHONE)
    reader = Person("reader", page)
    page.wait_for_selector("[data-result-set][aria-busy=false]")
    answer, chart = page.locator("[data-slot=finding]"), page.locator("[data-slot=chart] canvas")
    expect(answer).to_contain_text("haproxy")
    assert is_on_first_screen(page, answer)
    box = chart.first.bounding_box()
    assert answer.bounding_box()["y"] < box["y"]
    assert is_on_first_screen(page, chart.first)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    links = page.locator("a[href^='/']").evaluate_all("all => all.map(e => e.href)")
    dead = [link for link in set(links) if page.request.get(link).status == 404]
    assert dead == []
    reader.needs_at_most(0)


def test_a_lead_finds_the_run_that_failed_last_night(open_page, lab):
    failed = make_run(lab.workspace, CellSpec("nginx"), host=MACHINE)
    last_night = timezone.now() - timedelta(hours=9)
    Run.objects.filter(pk=failed.pk).update(recorded_at=last_night, started_at=last_night)
    first = Trial.objects.filter(run=failed, warmup=False).first()
    Trial.objects.filter(pk=first.pk).update(error="Connection refused")
    for _ in range(30):
        make_run(lab.workspace, CellSpec("caddy"), host=MACHINE)
    page = open_page("/", lab, viewport=WIDE)
    lead = Person("lead", page)
    lead.click(page.locator("section:has(#failed-runs-title) li a").first)
    expect(page.locator("h1")).to_contain_text("nginx")
    lead.click(page.locator(".load-point").first.get_by_role("button"))
    expect(page.locator(".load-point-trial .status-error").first).to_be_visible()
    lead.needs_at_most(3)
