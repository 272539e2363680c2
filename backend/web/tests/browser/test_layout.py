"""What a reader has in sight at each width: nothing is cut, squeezed, or touches its neighbour."""

import re

import pytest
from playwright.sync_api import expect

from backend.accounts.models import Token, TokenKind, Workspace
from backend.runs.models import Host, Run
from backend.web.tests.browser.layout import NARROW, WIDE, box, gap, make_lab, make_visit
from backend.web.tests.browser.page_audit import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lab():
    return make_lab()


@pytest.fixture
def page(new_page, lab):
    page = new_page(lab, viewport=WIDE)
    yield page
    assert page.complaints == []


@pytest.fixture
def visit(page, live_server):
    return make_visit(page, live_server)


@pytest.mark.parametrize("width", [1024, 1279, 1280, 1366, 1439])
def test_the_menu_fits_a_laptop(visit, width):
    page = visit("/w/lab/runs", {"width": width, "height": 720})
    ends = page.locator(".topbar :is(a, button):visible").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= width
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert box(page, ".workspace")["width"] > 30


@pytest.mark.parametrize("width", [1440, 1920])
def test_the_menu_has_room_for_the_name_of_a_workspace(visit, lab, width):
    Workspace.objects.filter(pk=lab.workspace.pk).update(name="Payments team")
    name = visit("/w/lab/runs", {"width": width, "height": 720}).locator("a.workspace")
    expect(name).to_have_text("Payments team")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_the_list_of_runs_begins_on_the_first_screen_of_a_phone(visit):
    page = visit("/w/lab/runs", NARROW)
    first, state = page.locator(".run-name a").first, page.get_by_label("State")
    assert first.bounding_box()["y"] < NARROW["height"]
    expect(state).to_be_hidden()
    page.locator("summary", has_text="Filters").click()
    state.select_option("failed")
    page.get_by_role("search", name="Runs").get_by_role("button", name="Search").click()
    expect(page.locator("summary", has_text="Filters (1)")).to_be_visible()
    expect(page.locator(".count")).to_contain_text("0 of 1 run")
    page.set_viewport_size(WIDE)
    expect(page.get_by_label("State")).to_have_value("failed")
    expect(page.get_by_label("State")).to_be_visible()
    expect(page.locator("summary", has_text="Filters")).to_be_hidden()


def test_labels_of_runs_take_several_lines_and_none_is_cut(visit):
    labels = {f"key-{number}": f"a value of several words, {number}" for number in range(5)}
    Run.objects.update(labels=labels)
    page = visit("/w/lab/runs")
    table = page.locator(".table-box")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    tags = page.locator(".words .tag")
    expect(tags).to_have_count(len(labels))
    tops = tags.evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert len(set(tops)) > 1
    assert violations(page) == []


def test_a_card_has_the_unit_behind_its_number(visit):
    page = visit("/w/lab/runs", NARROW)
    cell = page.locator("td[data-label='Best throughput']").first
    unit = cell.locator("data").evaluate("e => getComputedStyle(e, '::after').content")
    assert unit == '" req/s"'
    page.set_viewport_size(WIDE)
    unit = cell.locator("data").evaluate("e => getComputedStyle(e, '::after').content")
    assert unit == "none"


def test_facts_of_a_host_are_read_on_a_phone_and_make_no_other_panel_tall(visit, lab):
    host = Host.objects.get()
    page = visit(f"/w/lab/hosts/{host.pk}", NARROW)
    widths = page.locator(".facts dd").evaluate_all("all => all.map(e => e.clientWidth)")
    assert min(widths) > 150
    page.set_viewport_size(WIDE)
    panels = page.locator(".columns > .panel").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().bottom"
        " - e.lastElementChild.getBoundingClientRect().bottom)"
    )
    assert max(panels) < 40


def test_steps_and_points_of_a_document_are_marked(visit):
    page = visit("/docs/getting-started")
    kind = "e => getComputedStyle(e).listStyleType"
    assert page.locator(".guide-text ol").first.evaluate(kind) == "decimal"
    assert page.locator(".guide-nav ul").first.evaluate(kind) == "none"


@pytest.mark.parametrize("width", [360, 375])
def test_the_top_bar_of_a_visitor_is_one_line_on_a_small_phone(page, visit, width):
    page.context.clear_cookies()
    page = visit("/explore", {"width": width, "height": 800})
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    assert box(page, ".topbar")["height"] < 60
    assert page.get_by_role("link", name="Loadsheet").count() == 1


def test_the_menu_of_a_phone_is_folded_and_opens_by_keys(visit):
    page = visit("/w/lab/compare", NARROW)
    menu, link = page.get_by_role("button", name="Menu"), page.locator(".nav a").first
    expect(link).to_be_hidden()
    assert box(page, ".topbar")["height"] < 60
    account = box(page, ".who")
    assert account["x"] >= 0
    assert account["x"] + account["width"] <= NARROW["width"]
    expect(page.locator(".who")).to_have_accessible_name(re.compile("."))
    menu.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    assert violations(page) == []
    panel = box(page, ".nav")
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= NARROW["width"]
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.locator("h1")).to_have_text("Runs")
    page.set_viewport_size(WIDE)
    expect(link).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()


def test_an_address_is_not_broken_over_two_lines(visit):
    for viewport in (WIDE, NARROW):
        page = visit("/w/lab/settings", viewport)
        lines = page.locator("#slug-help code").evaluate("e => e.getClientRects().length")
        assert lines == 1
        assert box(page, "#slug-help code")["height"] < 24
        # A sentence of three parts, which once had a line each.
        assert box(page, "#slug-help")["height"] < 60
    assert box(visit("/w/lab/settings"), "#slug-help")["height"] < 42


def test_text_keeps_off_what_is_below_it(visit, lab):
    assert gap(visit("/explore"), "form[role=search]", ".explore-kinds") >= 12
    assert gap(visit("/explore"), ".explore-kinds", ".explore-kinds + *") >= 8
    assert gap(visit("/w/lab/alerts"), ".alert-states", ".alert-states + *") >= 8
    assert gap(visit("/w/lab/audit?act=workspace.deleted"), "main form", ".empty") >= 8
    token = Token.objects.get(workspace=lab.workspace, kind=TokenKind.AGENT)
    page = visit(f"/w/lab/agents/{token.pk}/revoke")
    assert gap(page, ".panel p >> nth=-1", ".panel .actions") >= 8
    visit("/w/lab/compare")
    assert gap(page, "[data-slot=chart]", ".legend") >= 6
    visit("/api/v1/docs")
    assert gap(page, "section:has(> .facts) > p", "section > .facts") >= 8
    Run.objects.all().delete()
    visit("/w/lab/compare")
    assert gap(page, ".steps-lead", ".steps") >= 8
