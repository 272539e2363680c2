"""The ranking of a comparison and the checks below it, in a real Chromium."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from backend.web.tests.browser.comparison.actions import (
    LIKE,
    NEWEST,
    answered,
    assert_fits,
    compare,
    figures_of,
    open_tab,
    press_until,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_unlike_servers_are_ranked_only_on_request_and_that_is_said(page, live_server):
    base = live_server.url
    compare(page, base, connections="128", version=["1.27.0", "3.0.2"], workload="hello")
    expect(page.locator("[data-slot=trust-level]")).to_have_text("■ Not comparable")
    expect(page.locator("[data-slot=ranking]")).to_contain_text("Not ranked")
    assert page.locator(".rank").count() == 0
    press_until(page, "Tab", "e.dataset.control === 'override'")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("override=1"))
    answered(page)
    finding = page.locator("[data-slot=finding]")
    expect(finding).to_have_text(re.compile("^Not comparable, but ranked anyway: "))
    expect(page.locator("[data-slot=trust-level]")).to_contain_text("ranked anyway")
    assert page.locator(".rank").count() == 4
    answer = page.request.get(base + page.locator("[data-slot=link-json]").get_attribute("href"))
    assert answer.json()["outcome"]["overridden"] is True
    table = page.request.get(base + page.locator("[data-slot=link-csv]").get_attribute("href"))
    rows = list(csv.DictReader(io.StringIO(table.text())))
    assert {(row["outcome"], row["overridden"]) for row in rows} == {("not_comparable", "yes")}
    expect(page.get_by_role("button", name="Take back")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("override"))
    answered(page)
    expect(page.get_by_role("button", name="Rank anyway")).to_be_focused()
    assert page.complaints == []


def test_pressing_a_row_makes_it_the_baseline(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    press_until(page, "Tab", "e.matches('.rank') && e.textContent.includes('envoy')")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("baseline="))
    answered(page)
    pressed = page.locator(".rank[aria-pressed=true]")
    expect(pressed).to_contain_text("envoy")
    expect(pressed.locator(".ratio")).to_have_text("1×")
    expect(pressed).to_be_focused()
    expect(page.locator("[data-slot=margin]")).to_contain_text("the requests of envoy")
    open_tab(page, "figures")
    page.locator("[data-slot=table] table.figures").first.locator(
        "tbody tr", has_text="nginx"
    ).first.locator("td").nth(1).click()
    expect(pressed).to_contain_text("nginx")
    expect(page.locator("[data-slot=margin]")).to_contain_text("the requests of nginx")
    assert page.complaints == []


def test_the_page_says_what_more_runs_would_add_and_names_the_default_baseline(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    press_until(page, "Tab", "e.matches('.trust-chip')")
    page.keyboard.press("Enter")
    drawer = page.locator("[data-slot=trust-body]")
    expect(drawer).to_be_visible()
    expect(drawer).to_contain_text("would cover other days and builds too.")
    expect(page.locator("[data-control=baseline]")).to_have_value("")
    expect(page.locator("[data-control=baseline] option").first).to_have_text("First series")
    assert page.locator(".rank[aria-pressed=true]").count() == 1
    assert page.complaints == []


def test_from_a_check_to_its_trial(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator(".trust-chip").click()
    press_until(page, "Tab", "e.matches('[data-slot=trust-body] a')")
    page.keyboard.press("Enter")
    expect(page.locator("#checks")).to_be_visible()
    press_until(page, "Tab", "e.matches('#check-unsteady .trial-links a')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/t/*")
    expect(page.locator("main")).to_contain_text("nginx")
    expect(page.locator("#check-unsteady")).to_be_visible()
    assert page.complaints == []


def test_every_tab_and_the_reasons_are_accessible(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST, limit="15000")
    for name in ("latency", "errors", "saturation", "figures", "checks", "runs"):
        open_tab(page, name)
        assert_fits(page, f"tab-{name}")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator(".trust-chip").click()
    expect(page.locator("[data-slot=trust-body] li").first).to_be_visible()
    assert_fits(page, "reasons")


def test_what_is_over_the_limit_is_grey_in_the_ranking_and_in_the_chart(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST, limit="15000")
    figures = figures_of(page, live_server.url)
    rows = [row for row in figures["ranking"]["rows"] if "over_limit" in row]
    over = {row["series"]: row.get("limit_doubt", row["over_limit"]) for row in rows}
    assert over
    grey = page.locator(".is-over .rank")
    assert {row.get_attribute("data-series") for row in grey.all()} == set(over)
    for series, reason in over.items():
        expect(page.locator(f".rank[data-series='{series}'] .remark")).to_have_text(reason)
        expect(page.locator(f".legend-item[data-series='{series}']")).to_have_class(
            re.compile("is-grey")
        )


def test_a_finding_is_dismissed_where_it_is_read_and_stays_in_sight(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    address = page.url
    trust = page.locator("[data-slot=trust-level]")
    expect(trust).to_have_text("▲ Use with care")
    open_tab(page, "checks")
    press_until(page, "Tab", "e.matches('#check-unsteady summary')")
    page.keyboard.press("Enter")
    press_until(page, "Tab", "e.matches('#check-unsteady input[name=reason]')")
    page.keyboard.type("Ten seconds are what we always take.")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}#check-unsteady")
    answered(page)
    expect(page.locator("[data-slot=checks]")).to_contain_text("Ten seconds are what we always")
    expect(trust).to_have_text("● Solid")
    assert_fits(page, "dismissed")
    press_until(page, "Tab", "e.matches('form.undo button')")
    page.keyboard.press("Enter")
    expect(trust).to_have_text("▲ Use with care")
    assert page.url.partition("#")[0] == address
    expect(page.locator("form.undo")).to_have_count(0)
