"""The page of a run, correcting it and the trash, in a real Chromium."""

import re

import pytest
from django.core.cache import caches
from playwright.sync_api import expect

from backend.ingest.queue.worker import process
from backend.runs.models import Run, Trial
from backend.storage import storage
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload
from backend.web.runs import trial_listing
from backend.web.tests.browser.comparison.actions import press_until
from backend.web.tests.browser.page_audit import faults_of, picture, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONGEST = 1800
SERVERS = ("caddy", "nginx", "gunicorn sync", "gunicorn gthread")
PLAN = "\n".join(["repeats = 3", *(f"# step {number}" for number in range(80))])
TABS = ("Results", "Trials", "Checks", "Hosts", "Reproduce")


@pytest.fixture
def tenant(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    caches["process"].clear()
    return make_tenant("lab")


@pytest.fixture
def run(tenant):
    """48 trials of four servers at three loads, a quarter of them warm-ups."""
    envelope = make_envelope(48)
    envelope["run"]["plan"] = PLAN
    for number, trial in enumerate(envelope["trials"]):
        trial["server"] = {"name": SERVERS[number % 4], "version": "1.27.1"}
        trial["load"]["connections"] = (1, 8, 64)[number // 4 % 3]
        trial["warmup"] = number < 12
        trial["resources"] = {"server_cpu_s": 1.5}
    outputs = [WRK.replace("2.10MB", f"2.{at + 10}MB") for at in range(48)]
    upload = make_upload(tenant, *outputs, envelope=envelope)
    process(upload.pk)
    return Run.objects.get(upload=upload)


@pytest.fixture
def visit(open_page, tenant):
    def open_path(path, *, width=1440, **options):
        return open_page(path, tenant, viewport={"width": width, "height": 900}, **options)

    return open_path


def test_every_part_fits_is_accessible_and_short(visit, run):
    faults = {}
    for name in TABS:
        page = visit(f"/r/{run.pk}")
        tab = page.get_by_role("tab", name=name)
        tab.click()
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()
        height = page.evaluate("document.documentElement.scrollHeight")
        found = faults_of(page, f"run-{name.lower()}")
        if found or height > LONGEST or page.complaints:
            faults[name] = (found, height, page.complaints)
        page.context.close()
    assert faults == {}


def test_forms_and_trash_fit_and_are_accessible(visit, run, tenant):
    page = visit(f"/r/{run.pk}/edit")
    faults = {"edit": faults_of(page, "run-edit")}
    page.goto(page.url.replace("/edit", "/delete"))
    faults["delete"] = faults_of(page, "run-delete")
    page.get_by_role("button", name="Move to trash").click()
    expect(page.locator("h1")).to_have_text("Trash")
    faults["trash"] = faults_of(page, "trash")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("main")).to_contain_text("was restored")
    assert faults == {"edit": {}, "delete": {}, "trash": {}}
    assert page.complaints == []


def test_trials_open_under_their_row(visit, run):
    page = visit(f"/r/{run.pk}")
    row = page.locator(".load-point").first
    expect(row.locator(".load-point-trial").first).to_be_hidden()
    row.get_by_role("button").click()
    expect(row.locator(".load-point-trial")).to_have_count(4)
    expect(row.locator(".load-point-trial").first).to_be_visible()
    expect(row.get_by_role("button")).to_have_attribute("aria-expanded", "true")
    picture(page, "run-row-open")
    assert violations(page) == []


def test_a_link_to_a_check_opens_its_tab_and_its_text(visit, run):
    page = visit(f"/r/{run.pk}#check-same-host")
    expect(page.get_by_role("tab", name="Checks")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#check-same-host .check-body")).to_be_visible()
    trial = Trial.objects.filter(run=run).first()
    page = visit(f"/r/{run.pk}#trial-{trial.pk}")
    expect(page.locator(f"#trial-{trial.pk}")).to_have_attribute("open", "")
    expect(page.locator(f"#trial-{trial.pk} .trial-body")).to_be_visible()


def test_tabs_work_by_keyboard_and_are_in_the_address(visit, run):
    page = visit(f"/r/{run.pk}")
    page.get_by_role("tab", name="Results").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("#checks$"))
    expect(page.get_by_role("tab", name="Checks")).to_be_focused()
    page.reload()
    expect(page.get_by_role("tabpanel", name="Checks")).to_be_visible()


def test_a_long_plan_is_reached_and_scrolled_by_keyboard(visit, run):
    page = visit(f"/r/{run.pk}#reproduce")
    plan = page.locator("#plan")
    page.get_by_role("tab", name="Reproduce").focus()
    press_until(page, "Tab", "e.id === 'plan'")
    expect(plan).to_be_in_viewport()
    page.keyboard.press("End")
    page.wait_for_function("() => document.getElementById('plan').scrollTop > 0")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy the plan")).to_be_focused()


def test_without_scripts_every_part_is_there(visit, run):
    page = visit(f"/r/{run.pk}", java_script_enabled=False)
    if "/sign-in/" in page.url:
        page.get_by_role("button", name="Sign in").first.click()
    for part in TABS:
        expect(page.locator(f"#{part.lower()}")).to_be_visible()
    expect(page.locator(".load-point-trial").first).to_be_visible()


def test_a_phone_shows_the_throughput_of_each_trial(visit, run):
    page = visit(f"/r/{run.pk}#trials", width=390)
    header = page.get_by_role("columnheader", name=re.compile("Throughput")).last
    box = header.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_a_phone_has_every_tab_in_sight_beside_the_count_of_checks(visit, run):
    page = visit(f"/r/{run.pk}", width=390)
    expect(page.get_by_role("tab", name="Checks")).to_have_text(re.compile(r"Checks\s+\(\d+\)"))
    tabs = page.locator("[data-tabs] > .tab-list")
    assert tabs.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_a_version_is_corrected_and_the_correction_undone(visit, run):
    page = visit(f"/r/{run.pk}")
    page.locator("summary", has_text="Manage").click()
    page.get_by_role("link", name="Edit…").click()
    page.get_by_label("Version").fill("2.0")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("main")).to_contain_text("Saved. Frozen result sets do not change.")
    expect(page.locator(".load-point").first).to_contain_text("caddy 2.0")
    page.locator("summary", has_text="Edited by members").click()
    picture(page, "run-corrected")
    assert violations(page) == []
    page.get_by_role("button", name="Undo the correction of version").click()
    expect(page.locator("main")).to_contain_text("The correction was undone.")
    expect(page.locator(".load-point").first).to_contain_text("caddy 1.27.1")
    assert page.complaints == []


def test_a_run_is_shared_and_its_link_revoked(visit, open_page, live_server, run, settings):
    settings.PUBLIC_URL = live_server.url
    page = visit(f"/r/{run.pk}", width=390)
    share = page.locator("summary", has_text="Share")
    share.click()
    picture(page, "run-share-menu")
    page.get_by_label("Who may read this run").select_option("unlisted")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main")).to_contain_text("because it is unlisted")
    share.click()
    faults = {"menu": faults_of(page, "run-shared-menu")}
    link = page.locator("#share-link").inner_text()
    reader = open_page(link.removeprefix(live_server.url))
    expect(reader.locator("h1")).to_contain_text("4 servers")
    faults["page"] = faults_of(reader, "shared-run")
    reader.get_by_role("tab", name="Trials").click()
    reader.locator("#trials tbody th a").first.click()
    expect(reader.locator("details.trial").first).to_have_attribute("open", "")
    faults["trial"] = faults_of(reader, "shared-run-trial")
    page.set_viewport_size({"width": 390, "height": 900})
    page.locator("summary", has_text="Revoke link…").click()
    page.get_by_role("button", name="Revoke link", exact=True).click()
    expect(page.locator("main")).to_contain_text("The link was revoked")
    assert reader.reload().status == 404
    assert faults == {"menu": {}, "page": {}, "trial": {}}
    assert page.complaints == []


def test_a_link_to_a_trial_of_another_page_opens_that_page(visit, run, monkeypatch):
    monkeypatch.setattr(trial_listing, "TRIALS_PER_PAGE", 20)
    trial = Trial.objects.get(run=run, ordinal=45)
    page = visit(f"/r/{run.pk}#trial-{trial.pk}")
    expect(page.locator(f"#trial-{trial.pk}")).to_have_attribute("open", "")
    expect(page).to_have_url(re.compile(f"trial={trial.pk}#trial-"))
    page.get_by_role("link", name="Previous page").first.click()
    expect(page.locator("#trials [data-grows=trials] tr")).to_have_count(20)
    expect(page.get_by_role("tabpanel", name="Trials")).to_be_visible()
    assert violations(page) == []
    assert page.complaints == []
