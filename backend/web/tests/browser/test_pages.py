"""Pages beside the comparison in a real Chromium: that they fit, are accessible and quiet in every
state, and work by keyboard alone."""

import re

import pytest
from django.core.cache import caches
from playwright.sync_api import expect

from backend.fleet.heartbeats import record_heartbeat
from backend.ingest.queue.worker import process
from backend.runs.models import Run, Server, Trial
from backend.storage import storage
from backend.testing.uploads import WRK, make_upload
from backend.testing.waiting import wait_until
from backend.web.tests.browser.page_audit import faults_of, picture, violations
from backend.web.tests.browser.page_lab import (
    LIVE,
    RUNNING,
    going_on,
    make_page_lab,
    send_part,
)

# What the pages of test_every_page.py show in other states.
NAMES = (
    *("runs-none", "trial-seconds", "empty", "service", "not-understood", "agents-none"),
    *("agents-token", "run-live", "run-waiting", "pair-versions", "failed-upload"),
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lab(settings, tmp_path):
    settings.DATA_DIR = settings.AGENT_FILES = tmp_path
    storage.cache_clear()
    caches["process"].clear()
    yield make_page_lab(tmp_path)
    storage.cache_clear()


def ids_of(model, lab, **fields):
    rows = model.objects.filter(workspace=lab["tenant"].workspace, **fields)
    return list(rows.values_list("pk", flat=True))


def path_of(name, lab):
    trial = lab["trial"]
    cell = trial.cell
    return {
        "front": "/w/lab/",
        "runs": "/w/lab/runs",
        "runs-none": "/w/lab/runs?q=nothing",
        "servers": "/w/lab/servers",
        "server": f"/w/lab/servers/{cell.series.server_id}",
        "hosts": "/w/lab/hosts",
        "host": f"/w/lab/hosts/{lab['run'].server_host_id}",
        "workloads": "/w/lab/workloads",
        "workload": f"/w/lab/workloads/{cell.series.workload_id}",
        "run": f"/r/{lab['run'].pk}",
        "trial": f"/t/{trial.pk}",
        "trial-seconds": f"/t/{lab['seconds'].pk}",
        "upload": "/w/lab/upload",
        "settings": "/w/lab/settings",
        "failed-upload": f"/u/{lab['failed'].pk}",
        "empty": "/w/empty-lab/",
        "service": "/",
        "not-understood": "/w/lab/runs?sever=x",
        "agents": "/w/lab/agents",
        "agents-none": "/w/empty-lab/agents",
        "agents-token": "/w/lab/agents",
        "run-live": f"/r/{LIVE}",
        "session": "/w/lab/sessions/big",
        "run-waiting": f"/r/{RUNNING}",
        "docs": "/docs/",
        "pair": "/w/lab/compare/pair?a={}&b={}".format(*ids_of(Run, lab)[:2]),
        "pair-versions": "/w/lab/compare/pair?a={}&b={}".format(
            *ids_of(Server, lab, name="gunicorn sync")[:2]
        ),
        "uploads": "/w/lab/uploads",
        "try": "/try",
        "library": "/library/",
        "library-server": "/library/servers/tornado",
        "members": "/w/lab/members",
        "workspaces": "/workspaces",
        "new-workspace": "/new-workspace",
        "revoke": f"/w/lab/agents/{lab['token'].pk}/revoke",
    }[name]


@pytest.fixture
def visit(open_page, lab):
    def open_path(path, *, tenant=None, width=1440, theme="light"):
        viewport = {"width": width, "height": 900}
        return open_page(path, tenant, refusals=(400,), viewport=viewport, color_scheme=theme)

    return open_path


def test_every_state_of_a_page_fits_is_accessible_and_quiet(visit, lab):
    faults = {}
    for name in NAMES:
        who = {"empty": lab["empty"], "agents-none": lab["empty"], "service": None}
        tenant = who.get(name, lab["tenant"])
        page = visit(path_of(name, lab), tenant=tenant)
        if name == "agents-token":
            page.get_by_label("Name of the machine").fill("bench-client-3")
            page.get_by_role("button", name="Create token").click()
            expect(page.locator("#new-token")).to_contain_text("ls_agent_")
        if name == "trial-seconds":
            expect(page.locator("[data-slot=timeline] canvas")).to_have_count(3)
        if found := {**faults_of(page, name), **dict.fromkeys(page.complaints)}:
            faults[name] = found
        page.context.close()
    assert faults == {}


def test_every_page_of_the_documentation_fits_a_narrow_screen(visit):
    page = visit("/docs/", width=390)
    links = page.locator(".guide-nav a").evaluate_all("all => all.map(one => one.href)")
    assert len(links) > 5
    wide = {}
    for link in links:
        page.goto(link)
        if over := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
            wide[link] = over
    assert wide == {}


def test_a_figure_and_its_number_link_to_each_other(visit, lab):
    page = visit(path_of("trial", lab), tenant=lab["tenant"])
    page.locator("#figure-completed a").click()
    mark = page.locator("a.read:target")
    expect(mark).to_have_text("18000")
    mark.click()
    expect(page.locator("tr:target")).to_have_id("figure-completed")
    assert page.complaints == []


def test_what_failed_or_was_not_read_comes_first_and_fits(visit, lab):
    upload = make_upload(lab["tenant"], WRK, "no tool's output", f"{'y' * 300}\n", "", "x", "z")
    process(upload.pk)
    first = Trial.objects.filter(run=lab["run"], ordinal__lt=2)
    first.update(error=f"wrk ended with exit status 1: {'x' * 200}")
    for name, path, words in (
        ("run-partly-read", f"/r/{upload.pk}", "5 of 6 results could not be read."),
        ("upload-partly-read", f"/u/{upload.pk}", "5 of 6 results could not be read."),
        ("run-failed-trials", f"/r/{lab['run'].pk}", "2 of 6 trials failed."),
    ):
        page = visit(path, tenant=lab["tenant"])
        expect(page.locator("main .notice").first).to_contain_text(words)
        assert faults_of(page, name) == {}, name


def test_the_palette_by_keyboard_alone(visit, lab):
    page = visit("/w/lab/runs", tenant=lab["tenant"])
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search this workspace and what is public")
    expect(box).to_be_focused()
    page.keyboard.type("caddy")
    expect(page.locator("#palette-list [role=option]").first).to_contain_text("caddy 1.27")
    picture(page, "palette")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/w/lab/servers/"))
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert page.complaints == []


def test_the_palette_outside_of_a_workspace_searches_all_of_them(visit, lab):
    page = visit("/workspaces", tenant=lab["tenant"])
    page.keyboard.press("Control+k")
    expect(
        page.get_by_role("combobox", name="Search your workspaces and what is public")
    ).to_be_focused()
    page.keyboard.type("caddy")
    # Pressed before the answer: it opens the first result of the question, not of what was listed.
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/w/lab/servers/"))
    assert page.complaints == []


def test_a_slash_typed_in_a_field_stays_there(visit, lab):
    page = visit("/w/lab/runs", tenant=lab["tenant"])
    page.locator("#q").fill("")
    page.locator("#q").press("/")
    expect(page.locator("#q")).to_have_value("/")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_what_is_pasted_is_read_on_the_page_and_then_saved(visit, lab):
    page = visit("/w/lab/upload", tenant=lab["tenant"])
    page.locator("#server").fill("haproxy")
    page.locator("#paste").fill(WRK)
    expect(page.locator("#read")).to_contain_text("haproxy")
    expect(page.locator("#read")).to_contain_text("6,000")
    picture(page, "upload-read")
    assert page.url.endswith("/w/lab/upload")
    assert violations(page) == []
    page.locator("#paste").fill("hello <img src=x onerror=alert(1)>")
    expect(page.locator("#read .notice-error")).to_contain_text("We don't recognise this file")
    picture(page, "upload-refused")
    assert page.locator("#read img").count() == 0
    page.locator("#paste").fill(WRK)
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(re.compile("/u/"))
    assert page.complaints == []


def test_a_dropped_file_is_read(visit, lab):
    page = visit("/w/lab/upload", tenant=lab["tenant"])
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], "dropped.txt", { type: "text/plain" }));
          dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        WRK,
    )
    expect(page.locator("#read")).to_contain_text("dropped.txt")
    expect(page.locator("#read")).to_contain_text("1 trial")
    expect(page.locator("[data-slot=chosen]")).to_contain_text("dropped.txt")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(re.compile("/u/"))
    assert page.complaints == []


def test_pasting_works_without_scripts(open_page, lab):
    page = open_page("/w/lab/upload", lab["tenant"], java_script_enabled=False)
    page.locator("#paste").fill(WRK)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#read")).to_contain_text("1 trial, not saved yet")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/u/"))


def test_a_finding_is_dismissed_and_taken_back(visit, lab):
    page = visit(path_of("trial", lab), tenant=lab["tenant"])
    finding = page.locator("#check-same-host")
    finding.locator(".dismiss > summary").click()
    finding.locator("input[name=reason]").fill("Both measured so; we compare only within.")
    finding.get_by_role("button", name="Dismiss", exact=True).click()
    expect(page).to_have_url(re.compile("/t/.*#check-same-host"))
    expect(page.locator("#check-same-host")).to_contain_text("we compare only within")
    assert violations(page) == []
    page.locator("#check-same-host").get_by_role("button", name="Take back").click()
    expect(page.locator("#check-same-host")).not_to_contain_text("we compare only within")
    assert page.complaints == []


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", ["server", "host", "workload"])
def test_a_thing_is_renamed_by_keyboard_alone(visit, lab, name, width):
    page = visit(path_of(name, lab), tenant=lab["tenant"], width=width)
    page.locator("summary", has_text="Rename").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label(f"New name of the {name}")
    box = page.locator(".menu[open] > .menu-body").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    picture(page, f"rename-{name}-{width}")
    assert violations(page) == []
    former = field.input_value()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("another name")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("another name")
    expect(page.locator(".page-head")).to_contain_text(f"Former names: {former}")
    assert page.url.endswith(path_of(name, lab))
    picture(page, f"renamed-{name}-{width}")
    assert violations(page) == []
    assert page.complaints == []


def test_a_question_is_one_click_from_its_comparison(visit, lab):
    page = visit("/w/lab/", tenant=lab["tenant"])
    page.get_by_role("link", name=re.compile("^Which server is fastest")).click()
    expect(page).to_have_url(re.compile(r"/w/lab/compare\?at=10&.*workload=hello"))
    page.wait_for_selector("[data-compare].is-ready")


def test_a_run_grows_while_it_is_read(visit, lab):
    page = visit(f"/r/{LIVE}", tenant=lab["tenant"])
    live = page.locator("[data-live]")
    expect(live).to_contain_text("3 of 48 trials")
    row = page.locator("[data-grows=trials] tr")
    expect(row).to_have_count(1)
    page.get_by_role("tab", name="Trials").click()
    page.locator("details.trial").first.locator("summary").click()
    page.evaluate("window.stays = true")
    send_part(lab["tenant"], 1)
    record_heartbeat(
        lab["token"],
        host_name="bench-client-3",
        program="loadsheet-agent",
        version="0.1.0",
        heartbeat=going_on(4),
    )
    expect(row).to_have_count(2)
    expect(live).to_contain_text("4 of 48 trials")
    expect(live).to_contain_text("Now: gunicorn sync · hello · 64 connections · repeat 2")
    expect(page.locator("details.trial[id]")).to_have_count(2)
    expect(page.locator("details.trial").first).to_have_attribute("open", "")
    assert page.evaluate("window.stays")
    picture(page, "run-grown")
    assert violations(page) == []
    Run.objects.filter(pk=LIVE).update(is_open=False)
    expect(live).to_have_count(0)
    assert page.complaints == []


def test_a_run_is_there_from_its_first_word_on(visit, lab):
    page = visit(f"/r/{RUNNING}", tenant=lab["tenant"])
    expect(page.locator("main")).to_contain_text("No trials yet")
    expect(page.locator("[data-live]")).to_contain_text("Running")
    assert page.complaints == []


def _wait_until_asked(page, ending):
    """Until the page has asked an address with this ending. Playwright's own waiting runs texts as
    scripts, which the pages forbid."""
    asked = f"performance.getEntriesByType('resource').some(e => e.name.endsWith('{ending}'))"
    # The page goes on while this waits.
    assert wait_until(lambda: page.evaluate(asked), 120), f"The page never asked {ending}."


def test_a_comparison_offers_the_trials_that_came_since(visit, lab):
    page = visit(f"/w/lab/compare?run={LIVE}", tenant=lab["tenant"])
    page.wait_for_selector("[data-compare].is-ready")
    expect(page.locator("[data-slot=read-at]")).to_contain_text("Read")
    _wait_until_asked(page, "/progress")
    send_part(lab["tenant"], 1)
    offer = page.locator("[data-slot=read-at]")
    expect(offer).to_contain_text("1 new trial", timeout=15_000)
    offer.get_by_role("button", name="Show").click()
    expect(page.locator("[data-slot=read-at]")).to_contain_text("Read")
    expect(page.locator("main")).to_contain_text("2 trials")
    assert page.complaints == []
