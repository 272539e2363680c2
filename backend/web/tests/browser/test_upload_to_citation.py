"""From the sign-in link to a frozen citation, in a real Chromium."""

import hashlib
import re

import pytest
from playwright.sync_api import expect

from backend.ingest.queue.worker import process
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload
from backend.web.tests.browser.page_audit import violations

WIDTHS, THEMES = (1440, 390), ("light", "dark")

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def output(count, connections):
    """What wrk prints for `count` requests of 122 bytes in 3 seconds."""
    threads, rate = min(connections, 2), count / 3
    return (
        WRK.replace("2 threads and 10", f"{threads} threads and {connections}")
        .replace("1.94ms", f"{connections / rate * 1000:.2f}ms")
        .replace("3.01k", f"{rate / threads / 1000:.2f}k")
        .replace("18000", str(count))
        .replace("6000.00", f"{count / 3:.2f}")
        .replace("2.10MB", f"{count * 122 / 2**20:.2f}MB")
        .replace("716.80KB", f"{count * 122 / 3 / 2**10:.2f}KB")
    )


@pytest.fixture
def run():
    """Two servers at 1 and 8 connections, three trials each."""
    tenant, trials, texts = make_tenant("lab"), [], []
    for server, rate in (("alpha", 6000), ("beta", 3000)):
        for connections in (1, 8):
            for repeat in range(3):
                trial = make_trial(len(trials))
                trial["server"] = {"name": server, "version": "1.0"}
                trial["load"]["connections"] = connections
                trials.append(trial)
                texts.append(output(rate * 3 * connections + repeat * 30, connections))
    upload = make_upload(tenant, *texts, envelope={**make_envelope(0), "trials": trials})
    process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "parsed", upload.reason
    return tenant, upload.run_id


@pytest.fixture
def page(open_page, run):
    tenant, run_id = run
    page = open_page(f"/w/lab/compare?run={run_id}", tenant)
    page.wait_for_selector("[data-compare].is-ready")
    return page


def test_the_table_shows_the_numbers_of_the_api_for_the_same_query(page, live_server):
    query = page.url.partition("?")[2]
    figures = page.request.get(f"{live_server.url}/api/v1/compare?{query}&workspace=lab").json()
    points = [point for series in figures["series"] for point in series["points"]]
    rows = page.locator("[data-slot=table] table.figures tbody tr")
    assert rows.count() == len(points) == 4
    exact = page.locator("[data-slot=table] table.figures").inner_html()
    for point in points:
        assert point["metrics"]["throughput"]["value"] > 0
    assert "alpha" in exact
    assert "beta" in exact
    assert page.complaints == []


def test_the_finding_and_the_checks_are_said(page):
    expect(page.locator("[data-slot=finding]")).to_contain_text("Take alpha")
    expect(page.locator("[data-slot=margin]")).to_contain_text(re.compile(r"beta.*alpha"))
    expect(page.locator("[data-slot=checks]")).to_contain_text("same-host")


def test_the_view_is_in_the_url(page):
    page.locator("[data-control=metric]").select_option("p99")
    expect(page).to_have_url(re.compile("metric=p99"))
    page.go_back()
    expect(page).not_to_have_url(re.compile("metric=p99"))


def test_the_run_page_has_commands_and_raw_output(page, run, live_server):
    page.goto(f"{live_server.url}/r/{run[1]}")
    expect(page.locator("body")).to_contain_text("wrk -c10 http://127.0.0.1:8080/")
    href = page.locator('a[href^="/a/"]').first.get_attribute("href")
    raw = page.request.get(live_server.url + href.removesuffix("/raw") + "/raw")
    assert raw.headers["content-type"].startswith("text/plain")
    assert "Requests/sec" in raw.text()
    assert page.complaints == []


def test_a_frozen_view_is_open_to_others_only_when_made_public(page, chromium, live_server):
    page.locator("summary", has_text="Share").click()
    form = page.locator("form:has(input[name=query]):has(input[name=title])")
    form.locator("input[name=title]").fill("Alpha and beta")
    form.locator("button[type=submit]").click()
    page.wait_for_url("**/s/*")
    stranger = chromium.new_context()
    assert stranger.request.get(page.url).status == 404
    page.locator("details:has(select[name=visibility]) > summary").click()
    form = page.locator("form:has(select[name=visibility])").last
    form.locator("select[name=visibility]").select_option("public")
    form.locator("button[type=submit]").click()
    page.wait_for_load_state()
    document = stranger.request.get(page.url.partition("?")[0] + ".json")
    assert document.status == 200
    digest = hashlib.sha256(document.body()).hexdigest()
    expect(page.locator("#sha256")).to_contain_text(digest)
    table = stranger.request.get(page.url.partition("?")[0] + ".csv")
    assert table.status == 200
    assert "alpha" in table.text()
    stranger.close()
    assert page.complaints == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_comparison_fits_and_is_accessible(page, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()
    page.wait_for_selector("[data-compare].is-ready")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
