"""How a page looks at every width and in both themes, as a reader and as axe see it."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page

AXE = Path(__file__).parents[4] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
# Where to leave a picture of every look, for people to look at.
PICTURES = os.environ.get("PICTURES", "")
WIDTHS = (1440, 390)
# Nothing but colours differs between the themes: in the second one the other rules are not asked.
RULES: dict[Literal["light", "dark"], dict[str, Any]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}
# Charts follow their frames some frames later: what is too wide after two seconds stays so.
_TOO_WIDE = """new Promise((done) => {
  const until = performance.now() + 2000;
  const over = () => document.documentElement.scrollWidth - innerWidth;
  const look = () => over() <= 0 || performance.now() > until ? done(over())
    : requestAnimationFrame(look);
  requestAnimationFrame(() => requestAnimationFrame(look));
})"""
_RUN = "axe.run(%s).then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html)]))"


def violations(page: Page, options: Mapping[str, Any] | None = None) -> list[Any]:
    """What axe finds on the page as it is now: [[rule, [element, ...]], ...]."""
    if not page.evaluate("typeof axe === 'object'"):
        # As a tester's tool, past the page's own policy against foreign scripts.
        page.evaluate(AXE.read_text())
    # Of what passes axe would describe each element, which takes longer than most rules.
    asked = {"resultTypes": ["violations"], **(options or {})}
    found: list[Any] = page.evaluate(_RUN % json.dumps(asked))
    return found


def picture(page: Page, name: str) -> None:
    """Leave a picture where one is wanted."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def nothing(_: Page) -> list[Any]:
    return []


def faults_of(
    page: Page, name: str, more: Callable[[Page], list[Any]] = nothing
) -> dict[tuple[int, str], list[Any]]:
    """By width and theme: what is too wide, what axe finds, and what `more` finds."""
    faults: dict[tuple[int, str], list[Any]] = {}
    # A colour on its way from one theme to the other has the contrast of neither.
    page.emulate_media(reduced_motion="reduce")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme, rules in RULES.items():
            page.emulate_media(color_scheme=theme)
            too_wide = page.evaluate(_TOO_WIDE)
            picture(page, f"{name}-{width}-{theme}")
            found = [*violations(page, rules), *([f"{too_wide} px too wide"] * (too_wide > 0))]
            if found := [*found, *more(page)]:
                faults[width, theme] = found
    return faults
