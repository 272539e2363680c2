"""Boards: comparisons of more servers than a chart can show."""

import pytest
from playwright.sync_api import expect

from backend.web.tests.browser.comparison.actions import answered, assert_fits

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_six_hundred_servers_are_all_in_the_ranking(page, live_server, make_board):
    make_board(600)
    page.goto(f"{live_server.url}/w/board/compare")
    answered(page)
    rows = page.locator(".ranks > li:visible")
    expect(rows).to_have_count(600)
    expect(rows.first).to_contain_text("server-599")
    rows.last.scroll_into_view_if_needed()
    expect(rows.last).to_contain_text("server-000")
    page.get_by_label("Search the ranking").fill("server-300")
    expect(rows).to_have_count(1)
    assert_fits(page, "board of 600")


def test_thirty_servers_on_the_axis_have_their_names(page, live_server, make_board):
    make_board(30)
    page.goto(f"{live_server.url}/w/board/compare?x=server")
    answered(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_text("Each server has a place on the axis.")).to_be_visible()
    assert_fits(page, "servers on the axis")
    assert page.complaints == []
