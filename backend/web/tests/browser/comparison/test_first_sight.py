"""What a reader sees first: on a phone, on paper, of hundreds of servers, and without figures."""

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
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 390, "height": 844}
SERVERS = 20


def test_every_control_is_in_sight_on_a_phone(page, live_server):
    page.set_viewport_size(NARROW)
    compare(page, live_server.url, **LIKE, **NEWEST)
    controls = page.locator(".toolbar :is(select, input, summary.button):visible")
    boxes = [box for control in controls.all() if (box := control.bounding_box())]
    assert len(boxes) >= 4
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert page.locator("[data-slot=chart]").bounding_box()["y"] < 844 - 150
    page.get_by_text("Customise").click()
    for control in ("limit", "baseline"):
        expect(page.locator(f"[data-slot=customise] [data-control={control}]")).to_be_visible()
    assert page.complaints == []


def test_back_returns_to_the_tab_before(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    open_tab(page, "figures")
    open_tab(page, "checks")
    page.go_back()
    expect(page.locator("#figures")).to_be_visible()
    page.go_back()
    expect(page.locator("#latency")).to_be_visible()
    page.go_forward()
    expect(page.locator("#figures")).to_be_visible()
    assert page.complaints == []


def test_paper_has_the_answer_and_all_of_the_evidence(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    answer = figures_of(page, live_server.url)["answer"]
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("h1")).to_have_text(answer["sentence"])
    expect(page.locator("[data-slot=margin]")).to_have_text(answer["margin"])
    for place in ("trust-level", "conditions", "ranking", "table"):
        expect(page.locator(f"[data-slot={place}]")).to_be_visible()
    assert page.complaints == []


def test_the_chip_and_the_tab_count_the_same(page, live_server):
    compare(page, live_server.url, workload="hello", connections="128", at="128")
    page.locator(".trust-chip").click()
    link = page.locator("[data-slot=trust-body] .trust-more a")
    count = int("".join(filter(str.isdecimal, link.inner_text())))
    assert count > 1
    expect(page.locator("#tab-checks")).to_have_text(f"Checks ({count})")
    link.click()
    expect(page.locator("#checks .checks > li")).to_have_count(count)


@pytest.fixture
def board(make_board):
    make_board(SERVERS, loads=(1, 8))


def test_many_servers_are_searched_and_ticked_into_the_chart(page, live_server, board):
    page.goto(f"{live_server.url}/w/board/compare")
    answered(page)
    rows = page.locator(".ranks > li:visible")
    expect(rows).to_have_count(SERVERS)
    expect(rows.first).to_contain_text("server-019")
    expect(page.locator("[data-slot=legend] .legend-item")).to_have_count(6)
    field = page.get_by_label("Search the ranking")
    field.fill("server-003")
    expect(rows).to_have_count(1)
    page.get_by_label("Draw server-003").check()
    expect(page.locator("[data-slot=rank-search]")).to_contain_text(
        "1 of 20 series, 7 in the chart"
    )
    expect(page.locator(".legend-item", has_text="server-003")).to_be_visible()
    page.reload()
    answered(page)
    expect(page.get_by_label("Draw server-003")).to_be_checked()
    assert_fits(page, "board")


def test_a_metric_that_nobody_printed_says_so_and_offers_others(page, live_server, board):
    page.goto(f"{live_server.url}/w/board/compare?metric=p99")
    answered(page)
    empty = page.locator(".chart-empty")
    expect(empty).to_contain_text(
        "Latency p99 is unknown for all series: the output of wrk does not have it."
    )
    empty.get_by_role("button", name="Throughput").click()
    answered(page)
    expect(page.locator("[data-slot=chart] canvas")).to_be_visible()
    assert page.complaints == []
