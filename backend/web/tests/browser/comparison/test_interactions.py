"""What a reader does with the chart: hide series, enlarge the axis, open trials. In Chromium."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from backend.sharing.models import SavedView
from backend.testing.rows import make_run
from backend.web.tests.browser.comparison.actions import LIKE, NEWEST, answered, compare
from backend.web.tests.browser.comparison.conftest import BENCH, cell
from backend.web.tests.browser.page_audit import faults_of, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 390, "height": 844}


def canvas_box(page):
    canvas = page.locator("[data-slot=chart] canvas").first
    canvas.scroll_into_view_if_needed()
    return canvas.bounding_box()


def drag(page, start, end):
    """Drag over the chart between two shares of its width."""
    box = canvas_box(page)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    for share in (start + 0.1, (start + end) / 2, end):
        page.mouse.move(box["x"] + share * box["width"], y)
    expect(page.locator(".range-band")).to_be_visible()
    page.mouse.up()
    expect(page.locator(".range-band")).to_have_count(0)


def pressed(page):
    return [item.get_attribute("aria-pressed") for item in page.locator(".legend-item").all()]


def test_the_legend_hides_series_and_the_link_keeps_it(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator(".legend-item", has_text="envoy").click()
    expect(page).to_have_url(re.compile("hidden="))
    page.reload()
    answered(page)
    assert pressed(page) == ["true", "false", "true", "true"]
    expect(page.locator(".rank .hidden-mark")).to_have_count(1)
    expect(page.locator(".rank", has_text="envoy")).to_contain_text("hidden")
    expect(page.locator("[data-slot=table] tr.is-hidden")).to_have_count(5)
    assert faults_of(page, "hidden-series") == {}
    page.locator(".legend-item", has_text="nginx").dblclick()
    assert pressed(page) == ["false", "false", "false", "true"]
    page.locator(".legend-item", has_text="caddy").focus()
    page.keyboard.press("Alt+Enter")
    assert pressed(page) == ["true", "false", "false", "false"]
    page.locator(".legend-all").click()
    expect(page).not_to_have_url(re.compile("hidden="))
    assert pressed(page) == ["true"] * 4
    assert page.complaints == []


def test_a_drag_enlarges_the_axis_and_a_double_click_shows_it_all(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    note = page.locator(".zoom-note")
    drag(page, 0.35, 0.65)
    expect(page).to_have_url(re.compile("zoom="))
    expect(note).to_contain_text("Zoomed to")
    page.reload()
    answered(page)
    expect(note).to_be_visible()
    box = canvas_box(page)
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page).not_to_have_url(re.compile("zoom="))
    # The double click chose no other place to rank at.
    expect(page).to_have_url(re.compile("at=512"))
    expect(note).to_be_hidden()
    page.go_back()
    expect(note).to_be_visible()
    note.get_by_role("button").click()
    expect(note).to_be_hidden()
    assert page.complaints == []


def test_the_axis_is_enlarged_by_keyboard(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator("[data-slot=chart]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    expect(page.locator(".zoom-note")).to_have_text(re.compile("^Zoomed to 1 to 32 connections"))
    expect(page.locator("[data-slot=chart]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("zoom="))
    assert page.complaints == []


def test_a_point_opens_its_trials(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    chart, trials = page.locator("[data-slot=chart]"), page.locator(".point-trials")
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(trials).to_be_focused()
    expect(trials.locator("h3")).to_have_text("caddy 2.8.4 at 1 connection")
    expect(trials.locator("li a")).to_have_count(3)
    assert faults_of(page, "point-trials") == {}
    page.keyboard.press("Escape")
    expect(trials).to_be_hidden()
    expect(chart).to_be_focused()
    page.keyboard.press("Enter")
    trials.locator("li a").first.click()
    page.wait_for_url("**/t/*")
    assert page.complaints == []


def test_a_range_of_days_becomes_the_filter_of_dates(page, live_server, lab):
    for day in range(1, 6):
        make_run(
            lab.workspace,
            cell("haproxy", 32, version=f"9.{day}"),
            host=BENCH,
            started_at=datetime(2026, 5, day, tzinfo=UTC),
        )
    compare(page, live_server.url, x="date", view="trend", server="haproxy", since="2026-05-01")
    drag(page, 0.3, 0.5)
    answered(page)
    expect(page).to_have_url(re.compile(r"since=2026-05-0[23]&until=2026-05-0[34]"))
    expect(page.locator("[data-slot=chips]")).to_contain_text("2026-05-0")
    assert page.complaints == []


def test_a_finger_scrolls_down_and_enlarges_sideways(open_page, live_server, lab):
    fields = "at=512&host=bench-1&workload=hello"
    page = open_page(f"/w/lab/compare?{fields}", lab, viewport=NARROW, has_touch=True)
    answered(page)
    touch = page.context.new_cdp_session(page)

    def swipe(by_x, by_y):
        box = canvas_box(page)
        x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2
        spots = [(x + by_x * i / 8, y + by_y * i / 8) for i in range(9)]
        for i, (left, top) in enumerate(spots):
            touch.send(
                "Input.dispatchTouchEvent",
                {
                    "type": "touchStart" if i == 0 else "touchMove",
                    "touchPoints": [{"x": left, "y": top}],
                },
            )
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    canvas_box(page)
    before = page.evaluate("scrollY")
    swipe(0, -200)
    page.wait_for_function("before => scrollY > before", arg=before)
    expect(page).not_to_have_url(re.compile("zoom="))
    swipe(90, 0)
    expect(page).to_have_url(re.compile("zoom="))
    assert page.complaints == []


def test_a_view_is_saved_as_it_is_drawn_and_opened_by_its_name(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator(".legend-item", has_text="envoy").click()
    expect(page).to_have_url(re.compile("hidden="))
    page.locator("summary", has_text="Saved views").click()
    page.get_by_label("Name of this view").fill("Without envoy")
    page.get_by_label("Make it the default: Compare in the menu opens it").check()
    page.get_by_role("button", name="Save view").click()
    page.wait_for_url("**/compare?*hidden=*")
    answered(page)
    assert "hidden=" in SavedView.objects.get(is_default=True).query
    page.goto(f"{live_server.url}/w/lab/views")
    assert faults_of(page, "saved-views") == {}
    page.locator("summary", has_text="Rename").click()
    assert violations(page) == []
    page.goto(f"{live_server.url}/w/lab/")
    page.get_by_role("link", name="Compare", exact=True).first.click()
    answered(page)
    assert pressed(page) == ["true", "false", "true", "true"]
    assert page.complaints == []
