"""Each question of a workspace's front page, from its link to its answer, in a real Chromium."""

import json
import re

import pytest
from playwright.sync_api import expect

from backend.analysis.pages.front_questions import ALL
from backend.web.tests.browser.comparison.actions import (
    answered,
    assert_fits,
    assert_table_is,
    figures_of,
    press_until,
    state,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


# By question: the view that answers it, and its sentence or what stands below it.
ANSWERS = {
    "fastest": ("sweep", "Take haproxy 3.0.2 .*haproxy .* the requests of .* at 512 connections"),
    "limits": ("tradeoff", "haproxy 3.0.2 seems to saturate at .* connections"),
    "distributions": ("nines", "Take haproxy .*haproxy .* answers 99 % .* in 0[.]69.* nginx"),
    "versions": ("sweep", "Too noisy to rank nginx 1.27.0 and nginx 1.26.0 at 128 connections"),
    "hardware": ("sweep", "By server: caddy .*bench-2.* serves 3[.].* the requests of .*bench-1"),
    "cost": ("sweep", "haproxy 3.0.2 uses 0.8.* the CPU time of nginx 1.27.0"),
    "distance": (
        "ratios",
        "In this run, by workload: haproxy 3.0.2 leads in each: .* nginx .* 512 .*; json: ",
    ),
}


@pytest.mark.parametrize("question", [id_ for id_, _ in ALL])
def test_a_question_is_answered_by_keyboard_alone(page, live_server, question):
    view, sentence = ANSWERS[question]
    place = [id_ for id_, _ in ALL].index(question)
    link = page.locator(".question").nth(place).locator("a")
    target = link.get_attribute("href")
    press_until(page, "Tab", f"e.getAttribute('href') === {json.dumps(target)}")
    page.keyboard.press("Enter")
    answered(page)
    expect(page.locator(".verdict-text")).to_contain_text(re.compile(sentence, re.DOTALL))
    expect(page.locator("[data-view][aria-pressed=true]")).to_have_attribute("data-view", view)
    figures = figures_of(page, live_server.url)
    shown = page.locator("[data-slot=finding]").inner_text()
    sentences = (figures["answer"]["sentence"], figures["finding"])
    assert any(text.startswith(shown.removesuffix("…")) for text in sentences)
    assert figures["series"]
    assert "null" not in page.locator("main").inner_text()
    assert figures["outcome"]["status"] != "not_comparable", figures["outcome"]
    assert_table_is(page, figures)
    before = state(page)
    page.reload()
    answered(page)
    assert state(page) == before
    assert_fits(page, question)
