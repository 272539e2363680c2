"""Alerts, rules, channels, the directory and the operator's page in a real Chromium."""

import pytest
from playwright.sync_api import expect

from backend.alerts.models import AlertRule
from backend.sharing.models import Visibility
from backend.testing.scenes import make_alerts, make_result_set, make_saved_view, make_scene
from backend.web.tests.browser.page_audit import faults_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def scene(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    made = make_scene()
    made.own.user.is_staff = True
    made.own.user.save()
    return made


def test_every_page_fits_both_widths_and_themes(open_page, live_server, scene):
    ids = make_alerts(scene.own, scene.run)
    make_saved_view(scene.own.workspace)
    make_result_set(scene.own.workspace, Visibility.PUBLIC)
    page = open_page("/w/own-lab/alerts", scene.own)
    paths = [
        "/w/own-lab/alerts?state=all",
        f"/w/own-lab/alerts/{ids['alert']}",
        "/w/own-lab/alerts/rules",
        "/w/own-lab/channels",
        f"/w/own-lab/channels/{ids['channel']}",
        "/explore",
        "/operator",
    ]
    for path in paths:
        page.goto(live_server.url + path)
        assert faults_of(page, path.strip("/").replace("/", "-")) == {}, path
    assert page.complaints == []


def test_a_rule_is_added_by_keyboard(open_page, settings, live_server, scene):
    settings.PUBLIC_URL = live_server.url
    make_saved_view(scene.own.workspace)
    page = open_page("/w/own-lab/alerts/rules", scene.own)
    name = page.locator("#name-regression")
    name.focus()
    page.keyboard.type("main branch")
    page.locator("#label-regression").focus()
    page.keyboard.type("branch:main")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Added the rule “main branch”.")
    assert AlertRule.objects.get().label == "branch:main"
    assert page.complaints == []
