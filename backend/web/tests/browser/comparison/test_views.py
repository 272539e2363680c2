"""Views, metrics and series of a comparison, by keyboard in a real Chromium."""

import re

import pytest
from playwright.sync_api import expect

from backend.web.tests.browser.comparison.actions import (
    LIKE,
    NEWEST,
    answered,
    colours,
    compare,
    open_tab,
    press_until,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_menu_of_series_stays_open_and_under_the_hand(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator("summary", has_text="Customise").press("Enter")
    page.locator("summary[data-control=series]").press("Enter")
    box = page.locator(".menu[open] input[value=server]")
    box.focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("series=server"))
    answered(page)
    expect(box).to_be_focused()
    expect(box).to_be_checked()
    page.get_by_role("button", name="Automatic").press("Enter")
    expect(page).not_to_have_url(re.compile("series="))
    answered(page)
    expect(page.get_by_role("button", name="Automatic")).to_be_focused()
    assert page.complaints == []


def test_the_focus_stays_in_the_table_as_it_was_sorted_and_among_the_charts(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    open_tab(page, "figures")
    page.locator("[data-slot=table] table.figures button.sort", has_text="Throughput").first.click()
    name = page.locator(".series-name", has_text="envoy").first
    name.focus()
    row = name.locator("xpath=ancestor::tr").get_attribute("id")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("baseline="))
    answered(page)
    expect(page.locator(f"[id='{row}'] .series-name")).to_be_focused()
    expect(page.locator("[data-slot=table] table.figures th[aria-sort]").first).to_contain_text(
        "Throughput"
    )
    open_tab(page, "latency")
    page.locator(".multiple-title", has_text="Latency p99").first.press("Enter")
    expect(page).to_have_url(re.compile("metric=p99"))
    answered(page)
    expect(page.locator(":focus")).to_have_class("multiple-title")
    metric = page.locator("[data-control=metric]")
    metric.focus()
    metric.select_option("memory")
    expect(page).to_have_url(re.compile("metric=memory"))
    answered(page)
    expect(metric).to_be_focused()
    expect(metric).to_have_value("memory")
    assert page.complaints == []


def test_metrics_and_views_are_changed_by_keyboard(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    for control, value, title in (
        ("metric", "p99", "Latency p99"),
        ("view", "errors", "Failed attempts by class"),
        ("view", "nines", "Latency percentiles at 512 connections"),
        ("metric", "cpu_per_1k", "Latency percentiles"),
        ("view", "sweep", "CPU per 1,000 requests"),
    ):
        page.locator(".trust-chip").focus()
        if control == "metric":
            press_until(page, "Tab", "e.dataset.control === 'metric'")
            page.locator(":focus").select_option(value)
        else:
            press_until(page, "Tab", f"e.dataset.view === '{value}'")
            page.keyboard.press("Enter")
        answered(page)
        expect(page.locator("[data-slot=chart-title]")).to_contain_text(title)
        assert colours(page) > 8
        chosen = "[data-control=metric]" if control == "metric" else f"[data-view='{value}']"
        expect(page.locator(chosen)).to_be_focused()
    page.locator("[data-slot=chart]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-slot=readout]")).to_contain_text("caddy")
    assert page.complaints == []


SHADES = """canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
    if (data[i + 3] > 250) seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].filter(([, n]) => n > 60).map(([key]) => key).sort();
}"""


def test_a_line_goes_and_comes_back_as_it_was(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    canvas = page.locator("[data-slot=chart] canvas")
    # The pointer on a legend's entry fades the other lines; it is the keyboard that presses here.
    page.mouse.move(0, 0)
    item = page.locator(".legend-item", has_text="haproxy")
    colour = item.evaluate(
        "one => getComputedStyle(one.querySelector('.swatch')).getPropertyValue('--series')"
    )
    assert colour
    loud = canvas.evaluate(SHADES)
    item.focus()
    page.keyboard.press("Space")
    expect(item).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile("hidden="))
    expect(item).to_be_focused()
    page.locator("[data-slot=png]").focus()
    expect(page.locator(".legend-item.is-lit")).to_have_count(0)
    quiet = canvas.evaluate(SHADES)
    assert len(set(loud) - set(quiet)) >= 1
    item.focus()
    page.keyboard.press("Space")
    expect(page).not_to_have_url(re.compile("hidden="))
    page.locator("[data-slot=png]").focus()
    expect(page.locator(".legend-item.is-lit")).to_have_count(0)
    assert (set(loud) - set(quiet)) & set(canvas.evaluate(SHADES))
    assert page.complaints == []
