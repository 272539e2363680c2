"""A new team, from the link of the first owner to the workspace that is deleted for good."""

import io

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.testing.uploads import WRK
from backend.untrusted.sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a long right password"
PHONE = {"width": 390, "height": 844}
SLOWER = WRK.replace("18000", "9000").replace("6000.00", "3000.00")


def first_owner_path(url):
    out = io.StringIO()
    call_command("first_owner_link", stdout=out)
    return out.getvalue().strip().removeprefix(url)


def sign_up(page, name):
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    press(page, "main form button[type=submit]")


def press(page, button):
    with page.expect_navigation():
        page.locator(button).first.click()


def paste_outputs(page):
    """Of two servers, one after the other, as a person does."""
    for server, text in (("alpha", WRK), ("beta", SLOWER)):
        page.locator("#paste").fill(text)
        page.locator("#server").fill(server)
        page.locator("#workload").fill("hello")
        press(page, f"button[value={'save_another' if server == 'alpha' else 'save'}]")
        for upload in Upload.objects.filter(state="received"):
            process(upload.pk)


class Journey:
    """What the owner does, window by window."""

    def __init__(self, open_page, url, options):
        self.url, self._open, self._options = url, open_page, options
        self.page = self.open(first_owner_path(url))

    def open(self, path):
        return self._open(path, refusals=[404, 410], **self._options)

    def make_workspace(self):
        sign_up(self.page, "ada")
        self.page.goto(f"{self.url}/new-workspace")
        self.page.get_by_label("Name").fill("Lab")
        press(self.page, "main form button[type=submit]")
        expect(self.page).to_have_url(f"{self.url}/w/lab/")

    def invite(self):
        self.page.goto(f"{self.url}/w/lab/members")
        press(self.page, "button:has-text('Create invitation')")
        link = self.page.locator("#invitation-link").inner_text()
        second = self.open(link.removeprefix(self.url))
        press(second, "main a:has-text('Create account')")
        sign_up(second, "bob")
        expect(second).to_have_url(f"{self.url}/w/lab/")
        assert second.complaints == []

    def make_token(self):
        self.page.goto(f"{self.url}/w/lab/tokens")
        self.page.locator("#token-name").fill("laptop")
        press(self.page, "button:has-text('Create token')")
        token = self.page.locator("#new-token").inner_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        assert self.page.request.get(f"{self.url}/api/v1/me", headers=headers).status == 200

    def upload_and_compare(self):
        self.page.goto(f"{self.url}/w/lab/upload")
        paste_outputs(self.page)
        self.page.goto(f"{self.url}/w/lab/compare")
        self.page.wait_for_selector("[data-compare].is-ready")
        expect(self.page.locator("[data-slot=finding]")).to_contain_text("alpha")

    def share(self):
        """The link for everyone who has it."""
        self.page.locator("summary", has_text="Share").click()
        form = self.page.locator("form:has(input[name=query]):has(input[name=title])")
        form.locator("input[name=title]").fill("Alpha and beta")
        form.locator("select[name=visibility]").select_option("unlisted")
        form.locator("button[type=submit]").click()
        self.page.wait_for_url("**/s/*")
        return self.page.url.removeprefix(self.url)

    def revoke(self):
        self.page.locator("summary", has_text="Manage").click()
        self.page.locator("summary", has_text="Revoke link…").click()
        press(self.page, "button:has-text('Revoke link')")

    def delete_workspace(self):
        self.page.goto(f"{self.url}/w/lab/settings")
        self.page.locator("#confirm").fill("lab")
        press(self.page, "button:has-text('Delete workspace')")


@pytest.fixture
def _own_sandbox(monkeypatch):
    """For the worker, which this process plays beside a web server that shows previews."""
    own = Sandbox()
    for module in ("answers", "questions"):
        monkeypatch.setattr(f"backend.ingest.reading.{module}.sandbox", lambda: own)
    yield
    own.close()


@pytest.mark.usefixtures("_own_sandbox")
@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}], ids=["1440", "390"])
def test_from_the_first_link_to_the_end(open_page, live_server, settings, options):
    settings.PUBLIC_URL = live_server.url
    journey = Journey(open_page, live_server.url, options)
    journey.make_workspace()
    journey.invite()
    journey.make_token()
    journey.upload_and_compare()
    path = journey.share()
    stranger = journey.open(path)
    expect(stranger.locator(".set-title")).to_have_text("Alpha and beta")
    journey.revoke()
    assert stranger.goto(live_server.url + path).status == 404
    journey.delete_workspace()
    assert journey.page.goto(f"{live_server.url}/w/lab/").status == 404
    assert journey.page.complaints == []
