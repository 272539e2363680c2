"""What the tests of layout share: a lab of many servers, widths, and distances in pixels."""

from django.core.cache import caches

from backend.testing.rows import MACHINE, CellSpec, make_run
from backend.testing.uploads import make_tenant

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
MANY = 12


def make_lab():
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


def make_visit(page, live_server):
    """A function that opens a path in the page, at a width."""

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
