"""Each question of a workspace's front, from its link to its answer, in a real Chromium."""

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from backend.accounts.models import TokenKind
from backend.accounts.tokens import LINK_LIFETIME, issue
from backend.analysis.pages.front_questions import ALL
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.looks import PICTURES, faults_of, violations
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run
from backend.testing.uploads import make_tenant

BENCH = {**MACHINE, "name": "bench-1", "os": "Debian 12", "memory_bytes": 8 << 30}
LARGE = {**BENCH, "name": "bench-2", "cpu_model": "EPYC 9354", "cores": 8}
JSON = {**HELLO, "name": "json", "path": "/json", "payload_bytes": 1024}
# By server: version, requests per second once saturated, CPU seconds per 1,000 requests.
SERVERS = {
    "caddy": ("2.8.4", 31_000.0, 0.052),
    "envoy": ("1.31.0", 38_000.0, 0.047),
    "haproxy": ("3.0.2", 54_000.0, 0.024),
    "nginx": ("1.27.0", 45_000.0, 0.029),
}
LOADS = (1, 8, 32, 128, 512)
VERSIONS = ("1.20.0", "1.21.0", "1.22.0", "1.23.0", "1.24.0", "1.25.0", "1.26.0")
SLOWER_SINCE = "1.24.0"

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def cell(server, load, *, factor=1.0, version=None, **more):
    """A server that saturates with more connections, and fails a little under the most."""
    own, most, cost = SERVERS[server]
    rate = most * factor * load / (load + 3)
    failing = server == "caddy" and load == LOADS[-1]
    return CellSpec(
        server=server,
        version=version or own,
        connections=load,
        rates=tuple(rate * jitter for jitter in (1.0, 1.012, 0.991)),
        p50_us=load / rate * 1_000_000 * 0.9,
        tail=9.0 if server == "envoy" else 5.0,
        error_rate=0.02 if failing else 0.0,
        errors={
            "timeout": round(rate * 10 * 0.015) * failing,
            "status": round(rate * 10 * 0.005) * failing,
        },
        resources={
            "server_cpu_s": rate * 10 * cost / 1000,
            "server_rss_bytes": 40e6 + load * 2e4,
        },
        **more,
    )


@pytest.fixture
def lab():
    """Four servers over five loads, a second workload, a second host, eight versions of one."""
    cache.clear()
    tenant = make_tenant("lab")
    workspace = tenant.workspace
    for version in VERSIONS:
        faster = 1.0 if VERSIONS.index(version) >= VERSIONS.index(SLOWER_SINCE) else 1.25
        make_run(workspace, cell("nginx", 128, factor=faster, version=version), host=BENCH)
    names = sorted(SERVERS)
    make_run(workspace, *(cell(name, 128, factor=3.1) for name in names), host=LARGE)
    json_cells = (
        cell(name, load, factor=0.6, workload=JSON) for name in names for load in (8, 128)
    )
    make_run(workspace, *json_cells, host=BENCH)
    hello = [cell(name, load) for name in names for load in LOADS]
    hello[-1] = cell("nginx", 512, trial_checks=["too-short"])
    make_run(workspace, *hello, host=BENCH)
    return tenant


@pytest.fixture
def page(chromium, live_server, lab):
    """The front of the workspace, for a member; what the browser complains of is kept."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda said: page.complaints.append(said.text) if is_fault(said) else None)
    page.expose_function("reportViolation", lambda said: page.complaints.append(f"CSP: {said}"))
    page.add_init_script(
        "addEventListener('securitypolicyviolation', e =>"
        " reportViolation(`${e.violatedDirective} ${e.blockedURI}`))"
    )
    token = issue(TokenKind.LINK, lab.workspace, user=lab.user, name="t", lifetime=LINK_LIFETIME)
    page.goto(f"{live_server.url}/sign-in/{token}?next=/w/lab/")
    yield page
    context.close()


def is_fault(said):
    # A page of status 400 is said by the browser too; that is no fault of the page.
    return said.type == "error" and "status of 400" not in said.text


def compare(page, base, **fields):
    page.goto(f"{base}/w/lab/compare?{urlencode(fields, doseq=True)}")
    answered(page)


def answered(page):
    page.wait_for_selector("[data-compare].is-ready[aria-busy=false]")


def figures_of(page, base):
    query = page.url.partition("?")[2].partition("#")[0]
    answer = page.request.get(f"{base}/api/v1/compare?{query}&workspace=lab")
    assert answer.status == 200, answer.text()
    return answer.json()


def press_until(page, key, reached):
    """Press a key until the focused element is the one: the way there is what is tested."""
    for _ in range(150):
        page.keyboard.press(key)
        if page.evaluate(f"(() => {{ const e = document.activeElement; return {reached}; }})()"):
            return
    raise AssertionError(f"{key} never reached {reached}")


def colours(page):
    """How many colours the main canvas holds: a blank one has none."""
    return page.locator("[data-slot=chart] canvas").first.evaluate(
        """canvas => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const seen = new Set();
          for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 200) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
          return seen.size;
        }"""
    )


def shown_numbers(page):
    """By cell and column: the exact number that the table's cell stands for, None for unknown."""
    return page.locator("table.figures").first.evaluate(
        """table => {
          const heads = [...table.tHead.rows[0].cells].map(c => c.innerText.toLowerCase());
          return [...table.tBodies[0].rows].map(row => [row.id, heads.map((head, i) =>
            [head, row.cells[i].dataset.sortValue ?? row.cells[i].innerText])]);
        }"""
    )


def assert_table_is(page, figures):
    """The table's numbers are the API's, cell by cell and metric by metric."""
    points = {f"cell-{p['cell']}": p for one in figures["series"] for p in one["points"]}
    rows = dict(shown_numbers(page))
    assert set(rows) == set(points)
    labels = {metric["id"]: metric["label"].lower() for metric in figures["metrics"]}
    compared = 0
    for id_, cells in rows.items():
        for metric, measure in points[id_]["metrics"].items():
            texts = [text for head, text in cells if head.startswith(labels[metric])]
            if not texts:
                continue
            shown = float(texts[0]) if texts[0] else None
            assert shown == pytest.approx(measure["value"], rel=1e-9), (id_, metric)
            compared += 1
    assert compared >= 2 * len(rows)


def state(page):
    """What the address must bring back."""
    pressed = "[aria-pressed=true]:is([data-view], [data-metric], .rank, [data-scale])"
    return {
        "url": page.url,
        "finding": page.locator("[data-slot=finding]").inner_text(),
        "title": page.locator("[data-slot=chart-title]").inner_text(),
        "pressed": page.locator(pressed).evaluate_all(
            "all => all.map(e => JSON.stringify(e.dataset))"
        ),
        "chosen": page.locator("select[data-control]").evaluate_all("all => all.map(e => e.value)"),
        "figures": page.locator("[data-slot=table]").inner_text(),
        "ranking": page.locator("[data-slot=ranking]").inner_text(),
    }


def assert_fits(page, name):
    """At every width and in every theme: nothing too wide, accessible, drawn, and quiet."""
    assert faults_of(page, f"question-{name}", is_blank) == {}
    assert page.complaints == []


def is_blank(page):
    drawn = page.locator("[data-slot=chart] canvas").count()
    return ["the canvas is blank"] if drawn and colours(page) < 8 else []


# By question: the view that answers it, and its sentence.
ANSWERS = {
    "fastest": ("sweep", "haproxy .* the requests of .* at 512 connections"),
    "limits": ("tradeoff", "haproxy 3.0.2 saturates at .* connections"),
    "distributions": ("nines", "haproxy .* answers 99 % .* in 0[.]69.* the time of nginx"),
    "versions": ("trend", "nginx .*regressed with version 1.24.0: throughput 0\\.8"),
    "hardware": ("sweep", "By server: caddy .*bench-2.* serves 3[.].* the requests of .*bench-1"),
    "cost": ("sweep", "haproxy 3.0.2 spends 0.8.* the CPU time of nginx 1.27.0"),
    "distance": ("ratios", "By workload: hello: haproxy .* nginx .* 512 .*; json: haproxy "),
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
    expect(page.locator("[data-slot=finding]")).to_have_text(re.compile(sentence))
    expect(page.locator("[data-view][aria-pressed=true]")).to_have_attribute("data-view", view)
    figures = figures_of(page, live_server.url)
    said = page.locator("[data-slot=finding]").inner_text()
    assert figures["finding"].startswith(said.removesuffix("…"))
    assert figures["series"]
    assert "null" not in page.locator("main").inner_text()
    assert figures["outcome"]["status"] != "not_comparable", figures["outcome"]
    assert_table_is(page, figures)
    before = state(page)
    page.reload()
    answered(page)
    assert state(page) == before
    assert_fits(page, question)


def test_filters_are_chosen_by_keyboard_and_what_would_give_nothing_is_dimmed(page, live_server):
    compare(page, live_server.url, workload="json", host="bench-1")
    press_until(page, "Tab", "e.textContent === '+ filter'")
    page.keyboard.press("Enter")
    connections = page.locator("details.facet", has=page.locator("[data-facet^='connections=']"))
    expect(connections).to_have_count(1)
    press_until(page, "Tab", "e.matches('details.facet > summary') && "
                "e.textContent.startsWith('Connections')")  # fmt: skip
    if connections.get_attribute("open") is None:
        page.keyboard.press("Enter")
    none = connections.locator("label.is-none", has=page.locator("[data-facet='connections=512']"))
    expect(none.locator(".count")).to_have_text("0")
    press_until(page, "Tab", "e.dataset.facet === 'connections=8'")
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("connections=8&"))
    answered(page)
    expect(page.locator("[data-facet='connections=8']")).to_be_focused()
    points = [p for one in figures_of(page, live_server.url)["series"] for p in one["points"]]
    assert {point["x"] for point in points} == {8}
    assert page.locator("table.figures").first.locator("tbody tr").count() == len(points) == 4
    assert page.complaints == []


def test_unlike_servers_are_ranked_only_on_request_and_that_is_said(page, live_server):
    base = live_server.url
    compare(page, base, connections="128", version=["1.27.0", "3.0.2"], workload="hello")
    expect(page.locator("[data-slot=outcome]")).to_contain_text("not comparable")
    expect(page.locator("[data-slot=ranking]")).to_contain_text("Not ranked")
    assert page.locator(".rank").count() == 0
    press_until(page, "Tab", "e.dataset.control === 'override'")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("override=1"))
    answered(page)
    finding = page.locator("[data-slot=finding]")
    expect(finding).to_have_text(re.compile("^Not comparable, ranked by request: "))
    expect(page.locator("[data-slot=outcome]")).to_contain_text("overridden")
    assert page.locator(".rank").count() == 4
    answer = page.request.get(base + page.locator("[data-slot=link-json]").get_attribute("href"))
    assert answer.json()["outcome"]["overridden"] is True
    table = page.request.get(base + page.locator("[data-slot=link-csv]").get_attribute("href"))
    rows = list(csv.DictReader(io.StringIO(table.text())))
    assert {(row["outcome"], row["overridden"]) for row in rows} == {("not_comparable", "yes")}
    expect(page.get_by_role("button", name="Take back")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("override"))
    answered(page)
    expect(page.get_by_role("button", name="Rank anyway")).to_be_focused()
    assert page.complaints == []


LIKE = {"at": "512", "host": "bench-1", "workload": "hello"}
NEWEST = {"version": sorted(version for version, _, _ in SERVERS.values())}


def test_pressing_a_row_makes_it_the_baseline(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    press_until(page, "Tab", "e.matches('.rank') && e.textContent.includes('envoy')")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("baseline="))
    answered(page)
    pressed = page.locator(".rank[aria-pressed=true]")
    expect(pressed).to_contain_text("envoy")
    expect(pressed.locator(".ratio")).to_have_text("×1")
    expect(pressed).to_be_focused()
    expect(page.locator("[data-slot=finding]")).to_contain_text("the requests of envoy")
    page.locator("table.figures").first.locator("tbody tr", has_text="nginx").first.locator(
        "td"
    ).nth(1).click()
    expect(pressed).to_contain_text("nginx")
    expect(page.locator("[data-slot=finding]")).to_contain_text("the requests of nginx")
    assert page.complaints == []


def test_a_chip_that_is_taken_away_leaves_the_focus_to_the_next(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    focused = page.locator(":focus")
    page.get_by_role("button", name="Remove host bench-1").focus()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("host="))
    answered(page)
    expect(focused).to_have_class("chip-remove")
    for _ in range(page.locator(".chip-remove").count()):
        page.keyboard.press("Enter")
        answered(page)
    expect(focused).to_have_text("+ filter")
    assert page.complaints == []


def test_a_limit_is_set_by_enter_or_by_leaving_the_field(page, live_server):
    warned = []
    page.on("console", lambda said: warned.append(said.text))
    compare(page, live_server.url, **LIKE, **NEWEST)
    field = page.locator("input[data-control=limit]")
    field.focus()
    page.keyboard.type("15")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("limit=15000"))
    answered(page)
    expect(field).to_be_focused()
    expect(page.locator("[data-slot=derived]")).to_contain_text("Highest load with p99 under 15")
    page.keyboard.press("Control+a")
    page.keyboard.type("20")
    page.keyboard.press("Tab")
    expect(page).to_have_url(re.compile("limit=20000"))
    answered(page)
    expect(page.locator("[data-slot=metrics] .tab").first).to_be_focused()
    assert page.complaints == []
    assert warned == []


def test_any_fragment_of_an_address_is_borne(page, live_server):
    page.goto(f"{live_server.url}/w/lab/compare?{urlencode({'workload': 'hello'})}#%")
    answered(page)
    assert page.complaints == []


def test_the_menu_of_series_stays_open_and_under_the_hand(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator("summary[data-control=series]").press("Enter")
    box = page.locator(".menu[open] input[value=server]")
    box.focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("series=server"))
    answered(page)
    expect(box).to_be_focused()
    expect(box).to_be_checked()
    page.get_by_role("button", name="whole identity").press("Enter")
    expect(page).not_to_have_url(re.compile("series="))
    answered(page)
    expect(page.locator("summary[data-control=series]")).to_be_focused()
    assert page.complaints == []


def test_the_focus_stays_in_the_table_as_it_was_sorted_and_among_the_charts(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    page.locator("table.figures button.sort", has_text="Throughput").first.click()
    name = page.locator(".series-name", has_text="envoy").first
    name.focus()
    row = name.locator("xpath=ancestor::tr").get_attribute("id")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("baseline="))
    answered(page)
    expect(page.locator(f"[id='{row}'] .series-name")).to_be_focused()
    expect(page.locator("table.figures th[aria-sort]").first).to_contain_text("Throughput")
    page.locator(".multiple-title", has_text="Latency p99").first.press("Enter")
    expect(page).to_have_url(re.compile("metric=p99"))
    answered(page)
    expect(page.locator(":focus")).to_have_class("multiple-title")
    page.locator("summary", has_text="More").press("Enter")
    page.locator(".menu-item[data-metric=memory]").press("Enter")
    expect(page).to_have_url(re.compile("metric=memory"))
    answered(page)
    expect(page.locator(".tab[data-metric=memory]")).to_be_focused()
    expect(page.locator(".menu[open]")).to_have_count(0)
    assert page.complaints == []


def test_metrics_and_views_are_changed_by_keyboard(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    for attribute, value, title in (
        ("metric", "p99", "Latency p99 against connections"),
        ("view", "errors", "Failed attempts by class"),
        ("view", "nines", "Latency percentiles at 512 connections"),
        ("metric", "cpu_per_1k", "Latency percentiles"),
        ("view", "sweep", "CPU per 1,000 requests against connections"),
    ):
        page.locator("[data-slot=chips] button, [data-slot=chips] a").first.focus()
        press_until(page, "Tab", f"e.dataset.{attribute} === '{value}'")
        page.keyboard.press("Enter")
        answered(page)
        expect(page.locator("[data-slot=chart-title]")).to_contain_text(title)
        assert colours(page) > 8
        expect(page.locator(f"[data-{attribute}='{value}']").first).to_be_focused()
    page.locator("[data-slot=chart]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-slot=readout]")).to_contain_text("caddy")
    assert page.complaints == []


SHADES = """canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
    if (data[i + 3] > 250) seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].filter(([, n]) => n > 60).map(([key]) => key).sort();
}"""


def test_a_line_goes_grey_and_comes_back_on_the_same_canvas(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    canvas = page.locator("[data-slot=chart] canvas").element_handle()
    # The pointer on a legend's entry fades the other lines; it is the keyboard that presses here.
    page.mouse.move(0, 0)
    item = page.locator(".legend-item", has_text="haproxy")
    colour = item.evaluate(
        "one => getComputedStyle(one.querySelector('.swatch')).getPropertyValue('--series')"
    )
    assert colour
    loud = canvas.evaluate(SHADES)
    item.focus()
    page.keyboard.press("Space")
    expect(item).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile("#show="))
    page.locator("[data-slot=png]").focus()
    expect(page.locator(".legend-item.is-lit")).to_have_count(0)
    assert canvas.evaluate("one => one.isConnected")
    quiet = canvas.evaluate(SHADES)
    assert len(set(loud) - set(quiet)) >= 1
    item.focus()
    page.keyboard.press("Space")
    expect(item).to_be_focused()
    page.locator("[data-slot=png]").focus()
    expect(page.locator(".legend-item.is-lit")).to_have_count(0)
    assert canvas.evaluate(SHADES) == loud
    assert page.complaints == []


def test_the_exports_are_of_exactly_this_view(page, live_server):
    base = live_server.url
    compare(page, base, **{**LIKE, "at": "32"}, **NEWEST, metric="cpu_per_1k", server="nginx")
    figures = figures_of(page, base)
    links = {
        kind: page.request.get(
            base + page.locator(f"[data-slot=link-{kind}]").get_attribute("href")
        )
        for kind in ("json", "csv")
    }
    assert links["json"].json() == figures
    text = links["csv"].text()
    values = {p["metrics"]["cpu_per_1k"]["value"] for p in figures["series"][0]["points"]}
    told = set(re.findall(r"[0-9.]+", text))
    assert len(values) == len(LOADS)
    assert all(any(float(one) == value for one in told if one.count(".") < 2 and one != ".")
               for value in values)  # fmt: skip
    assert "caddy" not in text
    with page.expect_download() as download:
        page.locator("[data-slot=png]").focus()
        page.keyboard.press("Enter")
    image = Path(download.value.path()).read_bytes()
    if PICTURES:
        Path(PICTURES, "question-export.png").write_bytes(image)
    assert image.startswith(b"\x89PNG")
    width, height = (int.from_bytes(image[at : at + 4], "big") for at in (16, 20))
    assert width >= 1000
    assert height >= 500
    assert len(image) > 20_000
    href = page.locator("[data-slot=png]").get_attribute("href")
    asked = CompareQuery.parse(page.url.partition("?")[2])
    assert href == f"/w/lab/compare.png?{asked.canonical()}"
    served = page.request.get(base + href)
    assert served.headers["content-type"] == "image/png"
    assert served.body().startswith(b"\x89PNG")
    assert page.complaints == []


def test_an_unknown_field_is_named_and_never_an_empty_chart(page, live_server):
    answer = page.goto(f"{live_server.url}/w/lab/compare?sever=nginx")
    assert answer.status == 400
    expect(page.locator("main")).to_contain_text("sever")
    expect(page.locator("main")).to_contain_text("server")
    assert page.locator("canvas").count() == 0
    assert violations(page) == []
    assert page.complaints == []


def test_from_a_check_to_its_trial(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    press_until(page, "Tab", "e.matches('#check-too-short .trial-links a')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/t/*")
    expect(page.locator("main")).to_contain_text("nginx")
    expect(page.locator("#check-too-short")).to_be_visible()
    assert page.complaints == []


def test_a_finding_is_dismissed_where_it_is_read_and_stays_in_sight(page, live_server):
    compare(page, live_server.url, **LIKE, **NEWEST)
    address = page.url
    expect(page.locator("[data-slot=outcome]")).to_contain_text("caveat")
    press_until(page, "Tab", "e.matches('#check-too-short summary')")
    page.keyboard.press("Enter")
    press_until(page, "Tab", "e.matches('#check-too-short input[name=reason]')")
    page.keyboard.type("Ten seconds are what we always take.")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}#check-too-short")
    answered(page)
    expect(page.locator("[data-slot=checks]")).to_contain_text("Ten seconds are what we always")
    expect(page.locator("[data-slot=outcome]")).not_to_contain_text("caveat")
    assert_fits(page, "dismissed")
    press_until(page, "Tab", "e.matches('form.undo button')")
    page.keyboard.press("Enter")
    expect(page.locator("[data-slot=outcome]")).to_contain_text("caveat")
    assert page.url.partition("#")[0] == address
    expect(page.locator("form.undo")).to_have_count(0)
