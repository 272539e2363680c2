"""What a comparison exports, in a real Chromium."""

import re
from pathlib import Path

import pytest

from backend.analysis.query.compare_query import CompareQuery
from backend.web.tests.browser.comparison.actions import LIKE, NEWEST, compare, figures_of
from backend.web.tests.browser.comparison.figures import LOADS
from backend.web.tests.browser.page_audit import PICTURES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
