"""Pages that load themselves again yield to a reader who goes elsewhere."""

import pytest
from playwright.sync_api import Request, expect
from playwright.sync_api import TimeoutError as OutOfTime

from backend.accounts.models import Token
from backend.fleet.heartbeats import record_heartbeat
from backend.ingest.models import State, Upload
from backend.links import link_to
from backend.runs.models import Run
from backend.testing.uploads import make_tenant, make_upload
from backend.transfer.models import Export, ExportState
from backend.web.tests.browser.page_lab import LIVE, going_on, send_part

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Followed:
    """A page, the address that it asks until what it shows has ended, and how that ends."""

    def __init__(self, path, asked, end):
        self.path, self.asked, self.end = path, asked, end


def an_upload(tenant):
    upload = make_upload(tenant)
    ends = {"state": State.FAILED, "reason": "We don't recognise this file."}
    paths = link_to("upload-page", upload.pk), link_to("upload", upload.pk)
    return Followed(*paths, lambda: Upload.objects.update(**ends))


def a_run(tenant):
    send_part(tenant, 0)
    agent = {"host_name": "bench-1", "program": "loadsheet-agent", "version": "0.1.0"}
    record_heartbeat(Token.objects.get(), **agent, heartbeat=going_on(1))
    paths = link_to("run-page", LIVE), link_to("run-progress", LIVE)
    return Followed(*paths, lambda: Run.objects.update(is_open=False))


def an_archive(tenant):
    export = Export.objects.create(workspace=tenant.workspace)
    ends = {"state": ExportState.FAILED, "reason": "No room."}
    paths = link_to("exports-page", "lab"), link_to("export", export.pk)
    return Followed(*paths, lambda: Export.objects.update(**ends))


@pytest.fixture
def tenant():
    return make_tenant("lab")


@pytest.mark.parametrize("make", [an_upload, a_run, an_archive])
def test_a_link_that_was_followed_leads_where_it_should(open_page, live_server, tenant, make):
    followed = make(tenant)
    page = open_page(followed.path, tenant)
    elsewhere = "/w/lab/runs"
    on_the_way = []

    def hold(route):
        on_the_way.append(route)

    page.route(f"**{elsewhere}", hold)
    page.get_by_role("link", name="Runs", exact=True).first.click(no_wait_after=True)

    with page.expect_response(lambda answer: answer.url.endswith(followed.asked)):
        pass
    followed.end()
    with page.expect_response(lambda answer: answer.url.endswith(followed.asked)):
        pass
    with pytest.raises(OutOfTime, match="Timeout 2000ms"):
        page.wait_for_event("request", Request.is_navigation_request, timeout=2_000)
    on_the_way[0].continue_()

    expect(page).to_have_url(live_server.url + elsewhere)
    assert page.complaints == []


@pytest.mark.parametrize("make", [an_upload, a_run, an_archive])
def test_a_page_that_nobody_leaves_is_loaded_again(open_page, tenant, make):
    followed = make(tenant)
    page = open_page(followed.path, tenant)
    page.evaluate("document.body.dataset.before = ''")
    followed.end()

    expect(page.locator("body[data-before]")).to_have_count(0, timeout=60_000)
    assert page.complaints == []
