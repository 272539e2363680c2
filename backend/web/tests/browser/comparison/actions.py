"""What a viewer does on the page of a comparison, and what the page shows then."""

from urllib.parse import urlencode

import pytest

from backend.web.tests.browser.comparison.figures import SERVERS
from backend.web.tests.browser.page_audit import faults_of

LIKE = {"at": "512", "host": "bench-1", "workload": "hello"}
NEWEST = {"version": sorted(version for version, _, _ in SERVERS.values())}


def compare(page, base, **fields):
    page.goto(f"{base}/w/lab/compare?{urlencode(fields, doseq=True)}")
    answered(page)


def answered(page):
    page.wait_for_selector("[data-compare].is-ready[aria-busy=false]")


def open_tab(page, name):
    """One of the tabs below the charts."""
    page.locator(f"#tab-{name}").click()
    page.wait_for_selector(f"#{name}:not([hidden])")


def figures_of(page, base):
    query = page.url.partition("?")[2].partition("#")[0]
    answer = page.request.get(f"{base}/api/v1/compare?{query}&workspace=lab")
    assert answer.status == 200, answer.text()
    return answer.json()


def press_until(page, key, reached):
    """Press a key until the focused element is the one: the way there is what is tested. Returns
    how often it was pressed."""
    for presses in range(1, 151):
        page.keyboard.press(key)
        if page.evaluate(f"(() => {{ const e = document.activeElement; return {reached}; }})()"):
            return presses
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
    return page.locator("[data-slot=table] table.figures").first.evaluate(
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
    pressed = "[aria-pressed=true]:is([data-view], .rank, [data-scale])"
    return {
        "url": page.url,
        "answer": page.locator(".verdict-text").inner_text(),
        "trust": page.locator("[data-slot=trust-level]").inner_text(),
        "title": page.locator("[data-slot=chart-title]").inner_text(),
        "pressed": page.locator(pressed).evaluate_all(
            "all => all.map(e => JSON.stringify(e.dataset))"
        ),
        "chosen": page.locator("select[data-control]").evaluate_all("all => all.map(e => e.value)"),
        "figures": page.locator("[data-slot=table]").text_content(),
        "ranking": page.locator("[data-slot=ranking]").inner_text(),
    }


def assert_fits(page, name):
    """At every width and in every theme: nothing too wide, accessible, drawn, and quiet."""
    assert faults_of(page, f"question-{name}", is_blank) == {}
    assert page.complaints == []


def is_blank(page):
    drawn = page.locator("[data-slot=chart] canvas").count()
    return ["the canvas is blank"] if drawn and colours(page) < 8 else []
