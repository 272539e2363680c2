"""What a reader has in sight at each width, in a real Chromium: nothing cut without a sign of it,
nothing squeezed, nothing that touches its neighbour."""

import re

import pytest
from django.core.cache import caches
from playwright.sync_api import expect

from backend.accounts.models import Token, TokenKind, Workspace
from backend.runs.checks import CHECKS
from backend.runs.models import Host, Run
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run
from backend.testing.uploads import make_tenant
from backend.web.tests.browser.comparison.actions import press_until
from backend.web.tests.browser.page_audit import violations

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
MANY = 12
# Pixels: of the main chart, and of a whole page that nobody has to scroll for long.
PLOT, LONGEST = 420, 2400
TABS = ("latency", "errors", "saturation", "figures", "checks", "runs")
# Presses of Tab to the chart for who takes no skip link; 41 once.
MOST_TABS = 36

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lab():
    """More servers than fit beside a chart."""
    caches["process"].clear()
    tenant = make_tenant("lab")
    cells = [
        CellSpec(
            server=f"server {number}", connections=load, rates=tuple(rate + i for i in range(3))
        )
        for number in range(MANY)
        for load, rate in ((1, 900.0 + 50 * number), (8, 2000.0 + 90 * number), (64, 2010.0))
    ]
    make_run(tenant.workspace, *cells, host=MACHINE)
    return tenant


@pytest.fixture
def page(new_page, lab):
    page = new_page(lab, viewport=WIDE)
    yield page
    assert page.complaints == []


@pytest.fixture
def visit(page, live_server):
    def open_path(path, viewport=WIDE):
        page.set_viewport_size(viewport)
        page.goto(live_server.url + path)
        if page.locator("[data-compare]").count():
            page.wait_for_selector("[data-compare].is-ready[aria-busy=false]")
        return page

    return open_path


def box(page, selector):
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return found


def gap(page, above, below):
    upper = box(page, above)
    return box(page, below)["y"] - upper["y"] - upper["height"]


def test_a_long_ranking_is_as_high_as_the_chart_and_shows_where_it_is_cut(visit):
    page = visit("/w/lab/compare")
    ranking = page.locator(".ranking")
    expect(ranking.locator(".rank")).to_have_count(MANY)
    shown, whole = ranking.evaluate("e => [e.clientHeight, e.scrollHeight]")
    assert 420 < shown < whole
    assert box(page, "[data-slot=chart]")["height"] == PLOT
    main, side = box(page, ".stage-main"), box(page, ".stage-side")
    assert side["y"] + side["height"] == pytest.approx(main["y"] + main["height"], abs=1)
    assert page.locator(".derived li").count() == MANY
    assert "local" in ranking.evaluate("e => getComputedStyle(e).backgroundAttachment")
    page.set_viewport_size({"width": 1100, "height": 700})
    page.set_viewport_size(WIDE)
    assert box(page, "[data-slot=chart] canvas")["height"] == PLOT


def test_a_small_ratio_is_whole_in_the_ranking(visit, lab):
    Run.objects.all().delete()
    rates = {"a fast server": (10_000.0, 10_310.0, 9_720.0), "slow": (850.0, 880.0, 821.0)}
    cells = [CellSpec(server=name, rates=each) for name, each in rates.items()]
    make_run(lab.workspace, *cells, host=MACHINE)
    page = visit("/w/lab/compare")
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        ratio = page.locator(".rank .ratio", has_text=re.compile(r"^0\.0\d{3}× \[0\.0\d{3}, 0\."))
        assert ratio.evaluate("e => e.scrollWidth <= e.clientWidth")
        beside = ".name" if viewport == WIDE else ".plot"
        before = box(page, f".rank:has-text('slow') {beside}")
        inside = ratio.bounding_box()
        assert before["x"] + before["width"] <= inside["x"]
        ranking = box(page, ".ranking")
        assert inside["x"] + inside["width"] <= ranking["x"] + ranking["width"]


@pytest.mark.parametrize("viewport", [WIDE, NARROW])
def test_a_place_among_many_takes_one_line(visit, viewport):
    places = visit("/w/lab/compare?at=64", viewport).locator(".rank .tier")
    assert f"1–{MANY}" in places.all_inner_texts()
    read = "all => all.map(e => [e.clientHeight, e.scrollWidth - e.clientWidth])"
    heights, hidden = zip(*places.evaluate_all(read), strict=True)
    assert max(heights) < 26
    assert max(hidden) <= 0


def test_the_chart_is_on_the_first_screen(visit):
    """Of a small laptop and of a phone, where the answer stands above it."""
    page = visit("/w/lab/compare", {"width": 1280, "height": 720})
    chart = box(page, "[data-slot=chart]")
    assert chart["height"] == PLOT
    assert chart["y"] < 260
    assert chart["y"] + chart["height"] < 720
    page.set_viewport_size(NARROW)
    title, chart = box(page, "[data-slot=finding]"), box(page, "[data-slot=chart] canvas")
    assert title["y"] < chart["y"]
    assert chart["y"] + chart["height"] < NARROW["height"]


def test_a_legend_without_room_says_how_many_lines_it_leaves_out(visit, lab):
    Run.objects.all().delete()
    names = [f"a server whose name takes most of a line {number}" for number in range(MANY)]
    make_run(
        lab.workspace,
        *(CellSpec(server=name, connections=load) for name in names for load in (1, 8)),
        host=MACHINE,
    )
    page = visit("/w/lab/compare")
    legend, items = page.locator(".legend"), page.locator(".legend-item:visible")
    more = page.get_by_role("button", name=re.compile(r"Show \d+ more"))
    shown = items.count()
    assert 0 < shown < MANY
    expect(more).to_have_text(f"Show {MANY - shown} more")
    assert legend.evaluate("e => e.scrollHeight <= e.clientHeight")
    press_until(page, "Tab", "e.matches('.legend-more')")
    page.keyboard.press("Enter")
    expect(items).to_have_count(MANY)
    fewer = page.get_by_role("button", name="Show fewer")
    expect(fewer).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".legend-item:focus")).to_have_count(1)
    assert violations(page) == []
    page.set_viewport_size(NARROW)
    fewer.click()
    expect(more).to_be_visible()
    assert legend.evaluate("e => e.scrollHeight <= e.clientHeight")


@pytest.mark.parametrize("width", [1024, 1279, 1280, 1366, 1439])
def test_the_menu_fits_a_laptop(visit, width):
    page = visit("/w/lab/runs", {"width": width, "height": 720})
    ends = page.locator(".topbar :is(a, button):visible").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= width
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert box(page, ".workspace")["width"] > 30


@pytest.mark.parametrize("width", [1440, 1920])
def test_the_menu_has_room_for_the_name_of_a_workspace(visit, lab, width):
    Workspace.objects.filter(pk=lab.workspace.pk).update(name="Payments team")
    name = visit("/w/lab/runs", {"width": width, "height": 720}).locator("a.workspace")
    expect(name).to_have_text("Payments team")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_the_chart_is_reached_by_three_keys(visit):
    page = visit("/w/lab/compare")
    assert press_until(page, "Tab", "e.matches('a.skip[href=\"#chart\"]')") == 2
    page.keyboard.press("Enter")
    expect(page.locator("[data-slot=chart]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-slot=readout]")).to_contain_text("at 1 connection")
    page.reload()
    page.wait_for_selector("[data-compare].is-ready[aria-busy=false]")
    # Who passes the skip link meets the menu, the toolbar and the tabs of the charts.
    assert press_until(page, "Tab", "e.matches('[data-slot=chart]')") <= MOST_TABS


def test_the_list_of_runs_begins_on_the_first_screen_of_a_phone(visit):
    page = visit("/w/lab/runs", NARROW)
    first, state = page.locator(".run-name a").first, page.get_by_label("State")
    assert first.bounding_box()["y"] < NARROW["height"]
    expect(state).to_be_hidden()
    page.locator("summary", has_text="Filters").click()
    state.select_option("failed")
    page.get_by_role("search", name="Runs").get_by_role("button", name="Search").click()
    expect(page.locator("summary", has_text="Filters (1)")).to_be_visible()
    expect(page.locator(".count")).to_contain_text("0 of 1 run")
    page.set_viewport_size(WIDE)
    expect(page.get_by_label("State")).to_have_value("failed")
    expect(page.get_by_label("State")).to_be_visible()
    expect(page.locator("summary", has_text="Filters")).to_be_hidden()


def test_labels_of_runs_take_several_lines_and_none_is_cut(visit):
    labels = {f"key-{number}": f"a value of several words, {number}" for number in range(5)}
    Run.objects.update(labels=labels)
    page = visit("/w/lab/runs")
    table = page.locator(".table-box")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    tags = page.locator(".words .tag")
    expect(tags).to_have_count(len(labels))
    tops = tags.evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert len(set(tops)) > 1
    assert violations(page) == []


def test_a_card_has_the_unit_behind_its_number(visit):
    page = visit("/w/lab/runs", NARROW)
    cell = page.locator("td[data-label='Best throughput']").first
    unit = cell.locator("data").evaluate("e => getComputedStyle(e, '::after').content")
    assert unit == '" req/s"'
    page.set_viewport_size(WIDE)
    unit = cell.locator("data").evaluate("e => getComputedStyle(e, '::after').content")
    assert unit == "none"


def open_every_tab(page):
    """Opens each tab that has content; of each, the page must be short."""
    for name in TABS:
        tab = page.locator(f"#tab-{name}")
        if not tab.is_visible():
            continue
        tab.click()
        expect(page.locator(f"#{name}")).to_be_visible()
        expect(page.locator("[role=tabpanel]:visible")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollHeight") <= LONGEST, name
        assert page.url.endswith(f"#tab={name}")


def test_a_comparison_of_three_panels_is_short_and_has_every_row_in_sight(visit, lab):
    Run.objects.all().delete()
    workloads = [dict(HELLO, name=name, path=f"/{name}") for name in ("hello", "json", "file")]
    cells = [
        CellSpec(
            server=f"application server {number}",
            workload=workload,
            connections=load,
            rates=tuple(900.0 + 50 * number + 400 * place + 3 * trial for trial in range(3)),
        )
        for workload in workloads
        for number in range(MANY - 1)
        for place, load in enumerate((1, 8, 64))
    ]
    make_run(lab.workspace, *cells, host=MACHINE)
    page = visit("/w/lab/compare?facet=workload")
    expect(page.locator(".ranking-part")).to_have_count(3)
    expect(page.locator(".rank:visible")).to_have_count(3 * (MANY - 1))
    open_every_tab(page)
    # The figure beside the name, whole, and the ratio below it.
    name, absolute, ratio = (
        box(page, f".rank {part}") for part in (".name", ".absolute", ".ratio")
    )
    assert name["x"] + name["width"] <= absolute["x"] + 1
    assert absolute["y"] + absolute["height"] <= ratio["y"] + 1
    # A name of some words takes one line, with room for a version.
    assert name["width"] > 200
    heights = page.locator(".rank .name").evaluate_all("all => all.map(e => e.clientHeight)")
    assert max(heights) < 26
    assert violations(page) == []


def test_a_usual_comparison_is_short_and_every_tab_can_be_reached(visit):
    page = visit("/w/lab/compare")
    open_every_tab(page)
    page.reload()
    page.wait_for_selector("[data-compare].is-ready[aria-busy=false]")
    expect(page.locator("#runs")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator("[data-slot=table]")).to_be_focused()


def test_a_page_with_every_check_is_short(visit, lab):
    Run.objects.all().delete()
    make_run(
        lab.workspace,
        *(CellSpec(server=name, checks=list(CHECKS)) for name in "ab"),
        host=MACHINE,
    )
    page = visit("/w/lab/compare#tab=checks")
    expect(page.locator("#checks li").last).to_be_attached()
    assert page.locator("#checks li").count() > 20
    open_every_tab(page)


def test_without_scripts_every_part_stands_on_the_page(open_page, lab, live_server):
    page = open_page("/w/lab/compare", lab, viewport=WIDE, java_script_enabled=False)
    for name in TABS:
        expect(page.locator(f"#{name}")).to_be_visible()


def test_nothing_found_is_said_once(visit):
    page = visit("/w/lab/compare?since=2090-01-01")
    expect(page.locator("h1")).to_contain_text("no measurement matches")
    expect(page.get_by_text("Share", exact=True)).to_be_hidden()
    for slot in ("trust", "checks", "runs"):
        expect(page.locator(f"[data-slot={slot}]")).to_be_hidden()
    expect(page.get_by_text("Filters (1)")).to_be_visible()


@pytest.mark.parametrize("view", ["errors", "ratios", "trend"])
def test_the_chosen_view_is_in_sight_on_a_phone(visit, view):
    page = visit(f"/w/lab/compare?view={view}", NARROW)
    tab = box(page, ".view-tab[aria-pressed=true]")
    assert tab["x"] >= 0
    assert tab["x"] + tab["width"] <= NARROW["width"]
    assert page.evaluate("scrollY") == 0


def test_the_figures_fit_a_phone_until_all_columns_are_asked_for(visit):
    page = visit("/w/lab/compare#tab=figures", NARROW)
    width = "e => [e.scrollWidth, e.clientWidth]"
    heads = page.locator("[data-slot=table] thead th:visible")
    whole, seen = page.locator("[data-slot=table]").evaluate(width)
    assert whole <= seen
    expect(heads).to_have_count(4)
    page.get_by_role("button", name="Show all").first.click()
    assert heads.count() > 4
    page.get_by_role("button", name="Show fewer columns").click()
    expect(heads).to_have_count(4)
    page.set_viewport_size(WIDE)
    assert heads.count() > 4
    expect(page.locator(".table-columns")).to_be_hidden()


def test_whose_figures_they_are_stays_in_sight_on_a_phone(visit):
    page = visit("/w/lab/compare#tab=figures", NARROW)
    page.get_by_role("button", name="Show all").first.click()
    first = box(page, "[data-slot=table] .figures tbody th")
    assert first["width"] <= NARROW["width"] * 0.45
    page.locator("[data-slot=table]").evaluate("e => { e.scrollLeft = 300; }")
    assert box(page, "[data-slot=table] .figures tbody th")["x"] == first["x"]
    painted = "e => getComputedStyle(e).backgroundColor"
    assert (
        page.locator("[data-slot=table] .figures tbody th").first.evaluate(painted)
        != "rgba(0, 0, 0, 0)"
    )


def test_facts_of_a_host_are_read_on_a_phone_and_make_no_other_panel_tall(visit, lab):
    host = Host.objects.get()
    page = visit(f"/w/lab/hosts/{host.pk}", NARROW)
    widths = page.locator(".facts dd").evaluate_all("all => all.map(e => e.clientWidth)")
    assert min(widths) > 150
    page.set_viewport_size(WIDE)
    panels = page.locator(".columns > .panel").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().bottom"
        " - e.lastElementChild.getBoundingClientRect().bottom)"
    )
    assert max(panels) < 40


def test_the_options_of_a_filter_are_lines_not_paragraphs(visit):
    page = visit("/w/lab/compare")
    page.get_by_text("Filters", exact=True).click()
    assert box(page, ".menu-check:visible")["height"] < 32


def test_steps_and_points_of_a_document_are_marked(visit):
    page = visit("/docs/getting-started")
    kind = "e => getComputedStyle(e).listStyleType"
    assert page.locator(".guide-text ol").first.evaluate(kind) == "decimal"
    assert page.locator(".guide-nav ul").first.evaluate(kind) == "none"


def test_the_list_of_keys_lies_over_the_page(visit):
    page = visit("/w/lab/compare")
    page.locator("button[data-view=errors]").focus()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Ctrl K")
    expect(keys).to_contain_text("baseline")
    assert page.evaluate("scrollY") == 0
    assert violations(page) == []
    # What lies under it takes no keys.
    page.keyboard.press("/")
    expect(page.locator("dialog[open]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("button[data-view=errors]")).to_be_focused()
    page.keyboard.press("?")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.parametrize("width", [360, 375])
def test_the_top_bar_of_a_visitor_is_one_line_on_a_small_phone(page, visit, width):
    page.context.clear_cookies()
    page = visit("/explore", {"width": width, "height": 800})
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    assert box(page, ".topbar")["height"] < 60
    assert page.get_by_role("link", name="Loadsheet").count() == 1


def test_the_menu_of_a_phone_is_folded_and_opens_by_keys(visit):
    page = visit("/w/lab/compare", NARROW)
    menu, link = page.get_by_role("button", name="Menu"), page.locator(".nav a").first
    expect(link).to_be_hidden()
    assert box(page, ".topbar")["height"] < 60
    account = box(page, ".who")
    assert account["x"] >= 0
    assert account["x"] + account["width"] <= NARROW["width"]
    expect(page.locator(".who")).to_have_accessible_name(re.compile("."))
    menu.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    assert violations(page) == []
    panel = box(page, ".nav")
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= NARROW["width"]
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.locator("h1")).to_have_text("Runs")
    page.set_viewport_size(WIDE)
    expect(link).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()


def test_an_address_is_not_broken_over_two_lines(visit):
    for viewport in (WIDE, NARROW):
        page = visit("/w/lab/settings", viewport)
        lines = page.locator("#slug-help code").evaluate("e => e.getClientRects().length")
        assert lines == 1
        assert box(page, "#slug-help code")["height"] < 24
        # A sentence of three parts, which once had a line each.
        assert box(page, "#slug-help")["height"] < 60
    assert box(visit("/w/lab/settings"), "#slug-help")["height"] < 42


def test_text_keeps_off_what_is_below_it(visit, lab):
    assert gap(visit("/explore"), "form[role=search]", ".explore-kinds") >= 12
    assert gap(visit("/explore"), ".explore-kinds", ".explore-kinds + *") >= 8
    assert gap(visit("/w/lab/alerts"), ".alert-states", ".alert-states + *") >= 8
    assert gap(visit("/w/lab/audit?act=workspace.deleted"), "main form", ".empty") >= 8
    token = Token.objects.get(workspace=lab.workspace, kind=TokenKind.AGENT)
    page = visit(f"/w/lab/agents/{token.pk}/revoke")
    assert gap(page, ".panel p >> nth=-1", ".panel .actions") >= 8
    visit("/w/lab/compare")
    assert gap(page, "[data-slot=chart]", ".legend") >= 6
    visit("/api/v1/docs")
    assert gap(page, "section:has(> .facts) > p", "section > .facts") >= 8
    Run.objects.all().delete()
    visit("/w/lab/compare")
    assert gap(page, ".steps-lead", ".steps") >= 8
