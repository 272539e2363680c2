"""Result sets in a real Chromium: kept, managed, framed and gone, by mouse and by keyboard."""

from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.core.cache import caches
from playwright.sync_api import expect

from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.sharing.edits import supersede, withdraw
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import ResultSet, Visibility
from backend.testing.rows import HELLO, CellSpec, make_run
from backend.testing.uploads import make_tenant
from backend.web.tests.browser.page_audit import faults_of, picture, violations

NOTES = """The client was pinned to **cores 0–3**; see [the method](https://example.org/method).

| server | flags |
|---|---|
| sync | `--workers 4` |
"""

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lab(db, settings, tmp_path):
    """A workspace with a frozen, a live, a superseded and a withdrawn result set."""
    settings.DATA_DIR = tmp_path
    caches["process"].clear()
    tenant = make_tenant("lab")
    cells = [
        CellSpec(name, connections=load, rates=(rate * load, rate * load + 9, rate * load + 4))
        for name, rate in (("sync", 900.0), ("gthread", 700.0), ("\u202egnp.<b>exe", 100.0))
        for load in (1, 8, 64)
    ]
    run = make_run(tenant.workspace, *cells)
    made = {
        name: how(
            CompareQuery.parse("server=gthread&server=sync" if name != "hostile" else ""),
            workspace=tenant.workspace,
            author=tenant.user,
            description=Description(title=title, notes=NOTES, visibility=Visibility.PUBLIC),
        )
        for name, how, title in (
            ("frozen", freeze, "Sync against gthread, March"),
            ("live", save_live, "Sync against gthread, live"),
            ("older", freeze, "A first look"),
            ("wrong", freeze, "A mistake"),
            ("hostile", freeze, "<script>alert(1)</script> \u202eevil 🚀"),
        )
    }
    supersede(made["older"], made["frozen"])
    withdraw(made["wrong"], "The client was the limit, not the servers.")
    Trial.objects.filter(run=run, cell__connections=64).update(throughput_rps=50_000.0)
    make_run(tenant.workspace, CellSpec("sync"))
    return tenant, made


@pytest.fixture
def page(open_page, live_server, lab, settings):
    settings.PUBLIC_URL = live_server.url
    return open_page("/w/lab/result-sets", lab[0])


def address(made, name):
    frozen, live = made["frozen"].path, made["live"].path
    return {
        "list": "/w/lab/result-sets",
        "frozen": frozen,
        "live": live,
        "older": made["older"].path,
        "changes": f"{frozen}/changes",
        "hostile": made["hostile"].path,
        "embed": f"/embed/{made['frozen'].link}",
        "embed-dark": f"/embed/{made['frozen'].link}?theme=dark&metric=p99",
        "embed-hostile": f"/embed/{made['hostile'].link}",
    }[name]


def ready(page, url):
    page.goto(url)
    if page.locator("[data-result-set]").count():
        page.wait_for_selector("[data-result-set].is-ready")
    if page.locator("[data-embed]").count():
        page.wait_for_selector("[data-embed] canvas")


def is_accessible(page):
    return violations(page) == []


def test_every_page_fits_is_accessible_and_quiet(page, lab, live_server):
    names = ("list", "frozen", "live", "older", "changes", "hostile", "embed", "embed-hostile")
    faults = {}
    for name in names:
        ready(page, live_server.url + address(lab[1], name))
        if found := faults_of(page, name):
            faults[name] = found
    assert faults == {}
    assert page.complaints == []


@pytest.fixture
def wide(lab):
    """A second workload of the same servers, and a way to freeze a view of both."""
    workspace = lab[0].workspace
    json = {**HELLO, "name": "json", "path": "/json"}
    make_run(
        workspace,
        *(
            CellSpec(name, connections=load, workload=json, rates=(rate, rate + 9, rate + 4))
            for name, rate in (("sync", 40_000.0), ("gthread", 700.0))
            for load in (1, 8, 64)
        ),
    )

    def frozen(view):
        query = CompareQuery.parse(f"server=gthread&server=sync&{view}")
        description = Description(title="Both", visibility=Visibility.PUBLIC)
        return freeze(query, workspace=workspace, author=None, description=description)

    return frozen


def test_a_frame_shows_the_view_that_was_kept(page, wide, live_server):
    page.goto(f"{live_server.url}/embed/{wide('view=ratios').link}")
    expect(page.locator("table.ratios tbody tr")).to_have_count(2)
    expect(page.locator("table.ratios thead th")).to_contain_text(["Server", "hello", "json"])
    expect(page.locator("[data-slot=chart-title]")).to_contain_text("as a ratio to")
    assert page.locator("canvas").count() == 0
    assert faults_of(page, "embed-ratios") == {}
    page.goto(f"{live_server.url}/embed/{wide('facet=workload&view=nines').link}")
    expect(page.locator("canvas")).to_have_count(2)
    expect(page.locator(".chart-part h3")).to_have_text(["hello", "json"])
    first = page.locator(".legend-item").first
    expect(first).to_have_attribute("aria-pressed", "true")
    first.click()
    expect(first).to_have_attribute("aria-pressed", "false")
    assert faults_of(page, "embed-panels") == {}
    assert page.complaints == []


def test_a_frame_says_how_far_to_trust_it_and_leaves_the_room_to_the_chart(page, lab, live_server):
    """In the size that the page suggests."""
    page.set_viewport_size({"width": 760, "height": 480})
    ready(page, f"{live_server.url}/embed/{lab[1]['frozen'].link}")
    page.locator(".trust-chip").click()
    drawer = page.locator("[data-slot=trust-body]")
    expect(drawer).to_be_visible()
    link = drawer.locator(".trust-more a")
    if link.count():
        assert link.get_attribute("href").endswith("#tab=checks")
    assert page.locator("[data-slot=chart]").bounding_box()["height"] >= 300
    assert page.evaluate("document.documentElement.scrollHeight") <= 480
    assert page.complaints == []


def test_a_frame_of_another_metric_is_not_headed_by_what_was_found(page, lab, live_server):
    frame = f"{live_server.url}/embed/{lab[1]['frozen'].link}"
    heading, missing = page.locator("h1"), page.locator("[data-slot=missing]")
    ready(page, f"{frame}?metric=p99")
    expect(heading).to_have_text("Latency p99")
    expect(page.locator("[data-slot=chart-title]")).to_contain_text("Latency p99 against")
    expect(missing).to_be_hidden()
    # These trials have no processor time: nothing is drawn as if it were known.
    ready(page, f"{frame}?metric=cpu")
    expect(missing).to_contain_text("hold no Server CPU: Throughput is")
    expect(heading).to_contain_text("Take sync 23.0")
    expect(page.locator("[data-slot=margin]")).to_contain_text("the requests of")
    expect(page.locator("[data-slot=chart-title]")).to_contain_text("Throughput")
    assert faults_of(page, "embed-missing") == {}
    assert page.complaints == []


def test_a_frozen_page_of_another_metric_and_its_picture(page, wide, live_server):
    made = wide("metric=p99&workload=hello")
    at = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    ResultSet.objects.filter(pk=made.pk).update(created_at=at)
    ready(page, live_server.url + made.path)
    heading = page.locator("h1[data-slot=finding]")
    # gthread was measured in one of the two runs: that one decides, and it is behind there.
    found = "sync 23.0 answers 99 % of its requests in 0.800×"
    expect(heading).to_contain_text(found)
    expect(heading).to_contain_text("in the run that measured both")
    page.locator("[data-control=metric]").select_option("throughput")
    expect(heading).to_have_text("Throughput")
    expect(page.locator("[data-slot=margin]")).to_have_text("")
    expect(page.locator("[data-slot=chart-title]")).to_contain_text("Throughput")
    page.reload()
    expect(page.locator("[data-slot=chart-title]")).to_contain_text("Throughput")
    expect(heading).to_have_text("Throughput")
    with page.expect_download() as download:
        page.locator("[data-slot=png]").click()
    assert download.value.suggested_filename == "loadsheet-sweep-2026-03-01.png"
    page.locator("[data-control=metric]").select_option("p99")
    expect(heading).to_contain_text(found)
    ready(page, f"{live_server.url}{made.path}?metric=cpu")
    expect(page.locator("[data-slot=missing]")).to_contain_text("hold no Server CPU")
    expect(heading).to_contain_text(found)
    page.locator("[data-control=metric]").select_option("p50")
    expect(page.locator("[data-slot=missing]")).to_be_hidden()
    assert page.complaints == []


def test_another_view_of_frozen_figures_has_an_address_and_a_table(page, lab, live_server):
    url = live_server.url + lab[1]["frozen"].path
    ready(page, url)
    for view in ("errors", "nines"):
        page.locator(f"[data-view={view}]").click()
        expect(page).to_have_url(f"{url}?view={view}")
    ready(page, page.url)
    expect(page.locator("[data-view=nines]")).to_have_attribute("aria-pressed", "true")
    href = page.locator("[data-slot=link-csv]").get_attribute("href")
    assert "percent,latency_us,count" in page.request.get(live_server.url + href).text()
    assert page.complaints == []


def test_the_tombstone(page, lab, live_server):
    page.goto(live_server.url + lab[1]["wrong"].path)
    expect(page.locator("body")).to_contain_text("The client was the limit, not the servers.")
    assert is_accessible(page)
    picture(page, "tombstone")


def test_kept_and_managed_by_keyboard_alone(page, lab, live_server):
    page.goto(f"{live_server.url}/w/lab/compare?server=sync")
    page.wait_for_selector("[data-compare].is-ready")
    page.locator("summary", has_text="Share").focus()
    page.keyboard.press("Enter")
    picture(page, "share-menu")
    assert is_accessible(page)
    page.locator("input[value=live]").focus()
    page.keyboard.press("Space")
    page.locator("#share-title").focus()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    page.wait_for_selector("[data-result-set].is-ready")
    made = ResultSet.objects.get(title="By keyboard")
    assert (made.kind, made.query) == ("live", "server=sync")
    page.locator("summary", has_text="Manage").focus()
    page.keyboard.press("Enter")
    picture(page, "manage-menu")
    assert is_accessible(page)
    page.locator("#edit-notes").focus()
    page.keyboard.type("Some *notes*")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".notes em")).to_have_text("notes")
    page.wait_for_selector("[data-result-set].is-ready")
    assert page.complaints == []


def test_framed_by_another_site(chromium, lab, live_server, other_site, settings):
    """The frame draws without cookies, without storage, without an origin of its own."""
    settings.PUBLIC_URL = live_server.url
    stranger = chromium.new_context(viewport={"width": 900, "height": 640})
    outside = stranger.new_page()
    complaints = []
    outside.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    link = lab[1]["frozen"].link
    body = stranger.request.get(f"{live_server.url}/oembed?url={live_server.url}/s/{link}").json()
    other_site.show(outside, body["html"].replace("<iframe", '<iframe sandbox="allow-scripts"'))
    frame = outside.frame_locator("iframe")
    expect(frame.locator("canvas")).to_be_visible()
    expect(frame.locator("h1")).to_contain_text("sync")
    picture(outside, "framed")
    # The page itself is framed by nobody.
    other_site.show(outside, f'<iframe src="{live_server.url}/s/{link}"></iframe>')
    expect(outside.frame_locator("iframe").locator("[data-result-set]")).to_have_count(0)
    assert stranger.cookies() == []
    assert [text for text in complaints if "frame-ancestors" not in text] == []
    stranger.close()


class OtherSite(ThreadingHTTPServer):
    """A site of another origin, with one page."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), OtherPage)
        self.body = ""

    def show(self, page, body):
        self.body = body
        page.goto(f"http://127.0.0.1:{self.server_port}/")


class OtherPage(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.server.body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def other_site():
    with OtherSite() as site:
        Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        yield site
        site.shutdown()


def test_the_badge_is_an_image(page, lab, live_server):
    page.goto(live_server.url + lab[1]["hostile"].path)
    size = page.evaluate(
        """async (src) => {
            const image = new Image();
            image.src = src;
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }""",
        f"{lab[1]['hostile'].path}.svg",
    )
    assert size[0] > 40
    assert size[1] == 20
