"""Each question of a workspace's front, from its link to its answer, in a real Chromium."""

import json
import os
import re
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from backend.accounts.models import TokenKind
from backend.accounts.tokens import LINK_LIFETIME, issue
from backend.analysis.questions import ALL
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run
from backend.testing.uploads import make_tenant

AXE = Path(__file__).parents[3] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
# Where to leave a picture of every answer, for people to look at.
PICTURES = os.environ.get("PICTURES", "")
LOOKS = [(width, theme) for width in (1440, 390) for theme in ("light", "dark")]

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
        errors={"timeout": round(rate * 10 * 0.015), "status": round(rate * 10 * 0.005)}
        if failing
        else {},
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
    hello[-1] = cell("nginx", 512, trial_checks=["short-trial"])
    make_run(workspace, *hello, host=BENCH)
    return tenant


def note(page, said):
    page.complaints.append(said)


@pytest.fixture
def page(chromium, live_server, lab):
    """The front of the workspace, for a member; what the browser complains of is kept."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda said: page.complaints.append(said.text) if is_fault(said) else None)
    # Playwright marks the function it is given, so it cannot be a list's own method.
    page.expose_function("reportViolation", lambda said: note(page, said))
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
    page.goto(f"{base}/w/lab/compare?{urlencode(fields, quote_via=quote)}")
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


def violations(page):
    found = "axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html)]))"
    return page.evaluate(found)


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
    faults = {}
    # As a tester's tool, past the page's own policy against foreign scripts.
    page.evaluate(AXE.read_text())
    for width, theme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(50)
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/question-{name}-{width}-{theme}.png", full_page=True)
        too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        found = [*violations(page), *([f"{too_wide} px too wide"] if too_wide > 0 else [])]
        if page.locator("[data-slot=chart] canvas").count() and colours(page) < 8:
            found.append("the canvas is blank")
        if found:
            faults[width, theme] = found
    assert faults == {}
    assert page.complaints == []


# By question: the view that answers it, and its sentence.
ANSWERS = {
    "fastest": ("sweep", "haproxy .* the requests of .* at 512 connections"),
    "limits": ("tradeoff", "haproxy 3.0.2 gains no more beyond .* connections"),
    "distributions": ("nines", "haproxy .* answers 99 % .* in 0.8.* the time of nginx"),
    "versions": ("trend", "nginx .*regressed with version 1.24.0: throughput 0\\.8"),
    "hardware": ("sweep", "haproxy 3.0.2 .* on bench-2"),
    "cost": ("sweep", "haproxy 3.0.2 spends 0.8.* the CPU time of nginx 1.27.0"),
    "distance": (
        "ratios",
        "^Throughput over 2 workloads, relative to caddy 2.8.4: haproxy 3.0.2 1.7",
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
    expect(page.locator("[data-slot=finding]")).to_have_text(re.compile(sentence))
    expect(page.locator("[data-view][aria-pressed=true]")).to_have_attribute("data-view", view)
    figures = figures_of(page, live_server.url)
    said = page.locator("[data-slot=finding]").inner_text()
    assert figures["finding"].startswith(said.removesuffix("…"))
    assert figures["series"]
    assert figures["outcome"]["status"] != "not_comparable", figures["outcome"]
    assert_table_is(page, figures)
    before = state(page)
    page.reload()
    answered(page)
    assert state(page) == before
    assert_fits(page, question)
