"""A workspace whose comparisons have an answer to every question, and its front page."""

import pytest
from django.core.cache import caches

from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run
from backend.testing.uploads import make_tenant
from backend.web.tests.browser.comparison.figures import LOADS, SERVERS

BENCH = {**MACHINE, "name": "bench-1", "os": "Debian 12", "memory_bytes": 8 << 30}
LARGE = {**BENCH, "name": "bench-2", "cpu_model": "EPYC 9354", "cores": 8}
JSON = {**HELLO, "name": "json", "path": "/json", "payload_bytes": 1024}
VERSIONS = ("1.20.0", "1.21.0", "1.22.0", "1.23.0", "1.24.0", "1.25.0", "1.26.0")
SLOWER_SINCE = "1.24.0"


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
    caches["process"].clear()
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
    hello[-1] = cell("nginx", 512, trial_checks=["unsteady"])
    make_run(workspace, *hello, host=BENCH)
    return tenant


@pytest.fixture
def page(new_page, live_server, lab):
    """The front page of the workspace, for a member."""
    page = new_page(lab, refusals=(400,), accept_downloads=True)
    page.expose_function("reportViolation", lambda text: page.complaints.append(f"CSP: {text}"))
    page.add_init_script(
        "addEventListener('securitypolicyviolation', e =>"
        " reportViolation(`${e.violatedDirective} ${e.blockedURI}`))"
    )
    page.goto(f"{live_server.url}/w/lab/")
    return page


@pytest.fixture
def make_board(lab):
    """Makes a workspace whose servers have a throughput that rises with their number."""

    def make(servers, loads=(8,)):
        workspace = make_tenant("board").workspace
        owner = lab.workspace.memberships.first().user
        owner.memberships.create(workspace=workspace, role="owner")
        make_run(
            workspace,
            *(
                CellSpec(
                    f"server-{number:03}",
                    connections=load,
                    rates=tuple(100.0 * (number + 5) * load * share for share in (1, 1.002, 0.998)),
                    p50_us=None,
                )
                for number in range(servers)
                for load in loads
            ),
        )

    return make
