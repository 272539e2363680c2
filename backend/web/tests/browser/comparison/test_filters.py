"""Filters, limits and addresses of a comparison, in a real Chromium."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from backend.web.tests.browser.comparison.actions import (
    LIKE,
    NEWEST,
    answered,
    compare,
    figures_of,
    press_until,
)
from backend.web.tests.browser.page_audit import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_filters_are_chosen_by_keyboard_and_what_would_give_nothing_is_dimmed(page, live_server):
    compare(page, live_server.url, workload="json", host="bench-1")
    press_until(page, "Tab", "e.textContent === 'Filters (2)'")
    page.keyboard.press("Enter")
    connections = page.locator("details.facet", has=page.locator("[data-facet^='connections=']"))
    expect(connections).to_have_count(1)
    press_until(page, "Tab", "e.matches('details.facet > summary') && "
                "e.textContent.startsWith('Connections')")  # fmt: skip
    if connections.get_attribute("open") is None:
        page.keyboard.press("Enter")
    none = connections.locator("label.is-none", has=page.locator("[data-facet='connections=512']"))
    expect(none.locator(".count")).to_have_text("0")
    press_until(page, "Tab", "e.dataset.facet === 'connections=8'")
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("connections=8&"))
    answered(page)
    expect(page.locator("[data-facet='connections=8']")).to_be_focused()
    points = [p for one in figures_of(page, live_server.url)["series"] for p in one["points"]]
    assert {point["x"] for point in points} == {8}
    assert (
        page.locator("[data-slot=table] table.figures").first.locator("tbody tr").count()
        == len(points)
        == 4
    )
    assert page.complaints == []


def test_a_chip_that_is_taken_away_leaves_the_focus_to_the_next(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    focused = page.locator(":focus")
    page.locator("summary", has_text="Filters (3)").click()
    page.get_by_role("button", name="Remove server host bench-1").focus()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("host="))
    answered(page)
    expect(focused).to_have_class("chip-remove")
    for _ in range(page.locator(".chip-remove").count()):
        page.keyboard.press("Enter")
        answered(page)
    expect(page.locator("summary", has_text="Filters")).to_have_text("Filters")
    expect(page.locator("details[open] :focus")).to_have_count(1)
    assert page.complaints == []


def test_a_limit_is_set_by_enter_or_by_leaving_the_field(page, live_server):
    warned = []
    page.on("console", lambda said: warned.append(said.text))
    compare(page, live_server.url, **LIKE, **NEWEST)
    field = page.locator("input[data-control=limit]")
    field.focus()
    page.keyboard.type("15")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("limit=15000"))
    answered(page)
    expect(field).to_be_focused()
    expect(page.locator("[data-slot=derived]")).to_contain_text("Highest load with p99 under 15")
    page.keyboard.press("Control+a")
    page.keyboard.type("20")
    page.keyboard.press("Tab")
    expect(page).to_have_url(re.compile("limit=20000"))
    answered(page)
    expect(page.locator("summary", has_text="Filters")).to_be_focused()
    assert page.complaints == []
    assert warned == []


def test_any_fragment_of_an_address_is_borne(page, live_server):
    page.goto(f"{live_server.url}/w/lab/compare?{urlencode({'workload': 'hello'})}#%")
    answered(page)
    assert page.complaints == []


def test_an_unknown_field_is_named_and_never_an_empty_chart(page, live_server):
    answer = page.goto(f"{live_server.url}/w/lab/compare?sever=nginx")
    assert answer.status == 400
    expect(page.locator("main")).to_contain_text("sever")
    expect(page.locator("main")).to_contain_text("server")
    assert page.locator("canvas").count() == 0
    assert violations(page) == []
    assert page.complaints == []
