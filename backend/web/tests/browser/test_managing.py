"""The forms of a result set in a real Chromium, whose requests carry the origin of their page."""

import pytest
from playwright.sync_api import expect

from backend.sharing.models import ResultSet, Visibility
from backend.testing.scenes import make_result_set
from backend.testing.uploads import make_tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def press(page, button):
    """Press a button of the menu "Manage" and wait for the page that it leads to."""
    menu = page.locator("details.menu", has=page.locator("summary", has_text="Manage"))
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()
    with page.expect_navigation():
        menu.get_by_role("button", name=button).click()


@pytest.mark.parametrize("visibility", Visibility)
def test_every_button_works_whatever_the_visibility(open_page, live_server, settings, visibility):
    settings.PUBLIC_URL = live_server.url
    tenant = make_tenant("lab")
    result_set = make_result_set(tenant.workspace, visibility)
    newer = make_result_set(tenant.workspace, visibility)
    page = open_page(result_set.path, tenant, refusals=[410])

    page.locator("summary", has_text="Manage").click()
    page.locator("#edit-notes").fill("Measured *twice*")
    press(page, "Save")
    expect(page.locator(".notes em")).to_have_text("twice")

    page.locator("summary", has_text="Manage").click()
    page.locator("#by").fill(newer.path)
    press(page, "Mark as superseded")
    expect(page.get_by_text("Superseded by")).to_be_visible()

    page.locator("summary", has_text="Manage").click()
    question = page.locator("summary", has_text="Revoke link…")
    if visibility == Visibility.PRIVATE:
        expect(question).to_have_count(0)
    else:
        address = page.url
        question.click()
        press(page, "Revoke link")
        expect(page.get_by_text("The link was revoked.")).to_be_visible()
        assert page.request.get(address).status == 404
        page.locator("summary", has_text="Manage").click()

    page.locator("#reason").fill("The client was the limit.")
    press(page, "Withdraw")
    expect(page.locator("main")).to_contain_text("The client was the limit.")
    assert ResultSet.objects.get(pk=result_set.pk).is_gone
