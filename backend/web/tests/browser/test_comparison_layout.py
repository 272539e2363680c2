"""What a reader of a comparison has in sight at each width: the answer, the chart and every row."""

import re

import pytest
from playwright.sync_api import expect

from backend.runs.checks import CHECKS
from backend.runs.models import Run
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run
from backend.web.tests.browser.comparison.actions import press_until
from backend.web.tests.browser.layout import MANY, NARROW, WIDE, box, make_lab, make_visit
from backend.web.tests.browser.page_audit import violations

# Pixels: of the main chart, and of a whole page that nobody has to scroll for long.
PLOT, LONGEST = 420, 2400
TABS = ("latency", "errors", "saturation", "figures", "checks", "runs")
# Presses of Tab to the chart for who takes no skip link; 41 once.
MOST_TABS = 36

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lab():
    return make_lab()


@pytest.fixture
def page(new_page, lab):
    page = new_page(lab, viewport=WIDE)
    yield page
    assert page.complaints == []


@pytest.fixture
def visit(page, live_server):
    return make_visit(page, live_server)


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


def test_the_options_of_a_filter_are_lines_not_paragraphs(visit):
    page = visit("/w/lab/compare")
    page.get_by_text("Filters", exact=True).click()
    assert box(page, ".menu-check:visible")["height"] < 32


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
