"""Every page beside the comparison in a real Chromium: that it fits, is accessible and quiet, and
works by keyboard alone."""

import re
import uuid

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from backend.accounts.models import Token, TokenKind
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.ingest.models import State, Upload
from backend.ingest.storage import storage
from backend.ingest.worker import process
from backend.runs.models import Run, Server, Trial
from backend.sharing.models import Visibility
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_measured_run, make_result_set
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload
from backend.web.tests.browser.page_audit import faults_of, picture, violations

NAMES = (
    *("front", "runs", "runs-none", "servers", "server", "hosts", "host", "workloads"),
    *("workload", "run", "trial", "trial-seconds", "upload", "settings", "empty", "service"),
    *("not-understood", "agents", "agents-none", "agents-token", "revoke"),
    *("run-live", "run-waiting", "session", "docs", "pair", "pair-versions", "uploads", "try"),
    *("library", "library-server", "members", "workspaces", "new-workspace"),
)

RUNNING, LIVE = uuid.UUID(int=7), uuid.UUID(int=8)
NOW = {
    "ordinal": 3,
    "server": "gunicorn sync",
    "workload": "hello",
    "connections": 64,
    "rate_rps": None,
    "repeat": 2,
    "phase": "measure",
}

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def lab(settings, tmp_path):
    """A workspace with several servers, versions and hosts, and an empty one."""
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    cache.clear()
    tenant, empty = make_tenant("lab"), make_tenant("empty-lab")
    upload = make_upload(tenant, *[WRK] * 6, envelope=_plan())
    process(upload.pk)
    for version in ("27.0", "27.1"):
        cells = [
            CellSpec(server=name, version=version, connections=load, rates=(rate, rate + 9))
            for name, rate in (("gunicorn sync", 900.0), ("gunicorn gthread", 700.0))
            for load in (1, 8, 64)
        ]
        make_run(tenant.workspace, *cells, host={"name": "bench-2", "cpu_model": "EPYC"})
    seconds = make_measured_run(tenant.workspace)
    make_result_set(tenant.workspace, Visibility.PUBLIC)
    Upload.objects.create(
        workspace=tenant.workspace,
        content_sha256="1" * 64,
        state=State.FAILED,
        reason="We don't recognise this file. Line 1. Found: 'hello'.",
    )
    token = Token.objects.get(workspace=tenant.workspace, kind=TokenKind.AGENT)
    _send_part(tenant, 0)
    for host, heartbeat in (
        ("bench-client-3", _going_on(3)),
        ("bench-client-1", Heartbeat(run=upload.pk, state="finished", trials_done=6)),
        ("bench-client-2", Heartbeat(run=RUNNING, state="running", trials_done=3, silent_s=3600)),
    ):
        record_heartbeat(
            token, host_name=host, program="loadsheet-agent", version="0.1.0", heartbeat=heartbeat
        )
    settings.AGENT_FILES = tmp_path
    (tmp_path / "loadsheet.pyz").write_bytes(b"PK")
    (tmp_path / "loadsheet_agent-0.1.0-py3-none-any.whl").write_bytes(b"PK")
    yield {
        "token": token,
        "tenant": tenant,
        "empty": empty,
        "run": Run.objects.get(pk=upload.pk),
        "trial": Trial.objects.filter(run=upload.pk).first(),
        "seconds": Trial.objects.filter(run=seconds.run_id).earliest("ordinal"),
    }
    storage.cache_clear()


# What an agent sends beside figures.
EVIDENCE = {
    "plan": 'order = "randomised"\nrepeats = 3\n\n[load]\ntool = "wrk"\nconnections = [10]\n',
    "seed": 1795,
    "events": [{"at": "2026-01-31T12:00:05Z", "kind": "server-restart", "text": "started again"}],
    "max_rates": [{"server": "nginx", "workload": "hello", "rate_rps": 5120.0, "confirmed": True}],
    "labels": {"why": "what changed since " + "a-branch-with-a-long-name-" * 6, "batch": "7"},
    "server_tails": {"nginx": "worker process exited"},
}
USED = {
    "client_cpu_s": 1.52,
    "client_cores": 2,
    "client_cpu_per_core": [0.91, 0.44],
    "client_cpu_steal": 0.004,
    "server_cpu_s": 2.03,
    "server_rss_peak_bytes": 41_000_000,
    "server_threads_peak": 6,
    "server_processes_peak": 3,
    "time_wait_peak": 120,
}


def _going_on(done):
    return Heartbeat(
        run=LIVE,
        state="running",
        trials_done=done,
        trials_planned=48,
        current=NOW,
        last={"throughput_rps": 8120.0, "p99_us": 9100.0, "error_rate": 0.0},
        seconds_left=200.0,
        silent_s=3600,
    )


def _send_part(tenant, ordinal):
    """A trial of the run that goes on, as its agent sends it."""
    trial = {**make_trial(ordinal, resources=USED, phase="measure"), "artefacts": ["0.txt"]}
    envelope = {**make_envelope(0), "trials": [trial]}
    envelope["run"] |= {**EVIDENCE, "id": str(LIVE)}
    process(make_upload(tenant, envelope=envelope).pk)


def _plan():
    trials = []
    for server in ("nginx", "caddy"):
        for repeat in range(3):
            trial = make_trial(len(trials), repeat=repeat, phase="measure", resources=USED)
            trial["server"] = {"name": server, "version": "1.27", "configuration": {"workers": 2}}
            trials.append(trial)
    envelope = {**make_envelope(0), "trials": trials}
    envelope["run"] |= {**EVIDENCE, "session": {"name": "big", "parts": 2}}
    return envelope


def ids_of(model, lab, **fields):
    rows = model.objects.filter(workspace=lab["tenant"].workspace, **fields)
    return list(rows.values_list("pk", flat=True))


def path_of(name, lab):
    trial = lab["trial"]
    cell = trial.cell
    return {
        "front": "/w/lab/",
        "runs": "/w/lab/runs",
        "runs-none": "/w/lab/runs?q=nothing",
        "servers": "/w/lab/servers",
        "server": f"/w/lab/servers/{cell.series.server_id}",
        "hosts": "/w/lab/hosts",
        "host": f"/w/lab/hosts/{lab['run'].server_host_id}",
        "workloads": "/w/lab/workloads",
        "workload": f"/w/lab/workloads/{cell.series.workload_id}",
        "run": f"/r/{lab['run'].pk}",
        "trial": f"/t/{trial.pk}",
        "trial-seconds": f"/t/{lab['seconds'].pk}",
        "upload": "/w/lab/upload",
        "settings": "/w/lab/settings",
        "empty": "/w/empty-lab/",
        "service": "/",
        "not-understood": "/w/lab/runs?sever=x",
        "agents": "/w/lab/agents",
        "agents-none": "/w/empty-lab/agents",
        "agents-token": "/w/lab/agents",
        "run-live": f"/r/{LIVE}",
        "session": "/w/lab/sessions/big",
        "run-waiting": f"/r/{RUNNING}",
        "docs": "/docs/",
        "pair": "/w/lab/compare/pair?a={}&b={}".format(*ids_of(Run, lab)[:2]),
        "pair-versions": "/w/lab/compare/pair?a={}&b={}".format(
            *ids_of(Server, lab, name="gunicorn sync")[:2]
        ),
        "uploads": "/w/lab/uploads",
        "try": "/try",
        "library": "/library/",
        "library-server": "/library/servers/tornado",
        "members": "/w/lab/members",
        "workspaces": "/workspaces",
        "new-workspace": "/new-workspace",
        "revoke": f"/w/lab/agents/{lab['token'].pk}/revoke",
    }[name]


@pytest.fixture
def visit(open_page, lab):
    def open_path(path, *, tenant=None, width=1440, theme="light"):
        viewport = {"width": width, "height": 900}
        return open_page(path, tenant, refusals=(400,), viewport=viewport, color_scheme=theme)

    return open_path


def test_every_page_fits_is_accessible_and_quiet(visit, lab):
    faults = {}
    for name in NAMES:
        who = {"empty": lab["empty"], "agents-none": lab["empty"], "service": None}
        tenant = who.get(name, lab["tenant"])
        page = visit(path_of(name, lab), tenant=tenant)
        if name == "agents-token":
            page.get_by_label("Name of the machine").fill("bench-client-3")
            page.get_by_role("button", name="Create token").click()
            expect(page.locator("#new-token")).to_contain_text("ls_agent_")
        if name == "trial-seconds":
            expect(page.locator("[data-slot=timeline] canvas")).to_have_count(3)
        if found := {**faults_of(page, name), **dict.fromkeys(page.complaints)}:
            faults[name] = found
        page.context.close()
    assert faults == {}


def test_every_page_of_the_documentation_fits_a_narrow_screen(visit):
    page = visit("/docs/", width=390)
    links = page.locator(".guide-nav a").evaluate_all("all => all.map(one => one.href)")
    assert len(links) > 5
    wide = {}
    for link in links:
        page.goto(link)
        if over := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
            wide[link] = over
    assert wide == {}


def test_a_figure_and_its_number_link_to_each_other(visit, lab):
    page = visit(path_of("trial", lab), tenant=lab["tenant"])
    page.locator("#figure-completed a").click()
    mark = page.locator("a.read:target")
    expect(mark).to_have_text("18000")
    mark.click()
    expect(page.locator("tr:target")).to_have_id("figure-completed")
    assert page.complaints == []


def test_the_palette_by_keyboard_alone(visit, lab):
    page = visit("/w/lab/runs", tenant=lab["tenant"])
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search this workspace")
    expect(box).to_be_focused()
    page.keyboard.type("caddy")
    expect(page.locator("#palette-list li").first).to_contain_text("caddy 1.27")
    picture(page, "palette")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/w/lab/servers/"))
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert page.complaints == []


def test_a_slash_typed_in_a_field_stays_there(visit, lab):
    page = visit("/w/lab/runs", tenant=lab["tenant"])
    page.locator("#q").fill("")
    page.locator("#q").press("/")
    expect(page.locator("#q")).to_have_value("/")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_what_is_pasted_is_read_on_the_page_and_then_saved(visit, lab):
    page = visit("/w/lab/upload", tenant=lab["tenant"])
    page.locator("#server").fill("haproxy")
    page.locator("#paste").fill(WRK)
    expect(page.locator("#read")).to_contain_text("haproxy")
    expect(page.locator("#read")).to_contain_text("6.00")
    picture(page, "upload-read")
    assert page.url.endswith("/w/lab/upload")
    assert violations(page) == []
    page.locator("#paste").fill("hello <img src=x onerror=alert(1)>")
    expect(page.locator("#read .notice-error")).to_contain_text("We don't recognise this file")
    picture(page, "upload-refused")
    assert page.locator("#read img").count() == 0
    page.locator("#paste").fill(WRK)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/u/"))
    assert page.complaints == []


def test_a_dropped_file_is_read(visit, lab):
    page = visit("/w/lab/upload", tenant=lab["tenant"])
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], "dropped.txt", { type: "text/plain" }));
          dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        WRK,
    )
    expect(page.locator("#read")).to_contain_text("dropped.txt")
    expect(page.locator("#read")).to_contain_text("1 trial")
    expect(page.locator("[data-slot=chosen]")).to_contain_text("dropped.txt")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/u/"))
    assert page.complaints == []


def test_pasting_works_without_scripts(open_page, lab):
    page = open_page("/w/lab/upload", lab["tenant"], java_script_enabled=False)
    page.locator("#paste").fill(WRK)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#read")).to_contain_text("1 trial, not saved yet")
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile("/u/"))


def test_a_finding_is_dismissed_and_taken_back(visit, lab):
    page = visit(path_of("trial", lab), tenant=lab["tenant"])
    finding = page.locator("#check-same-host")
    finding.locator(".dismiss > summary").click()
    finding.locator("input[name=reason]").fill("Both measured so; we compare only within.")
    finding.get_by_role("button", name="Dismiss", exact=True).click()
    expect(page).to_have_url(re.compile("/t/.*#check-same-host"))
    expect(page.locator("#check-same-host")).to_contain_text("we compare only within")
    assert violations(page) == []
    page.locator("#check-same-host").get_by_role("button", name="Take back").click()
    expect(page.locator("#check-same-host")).not_to_contain_text("we compare only within")
    assert page.complaints == []


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", ["server", "host", "workload"])
def test_a_thing_is_renamed_by_keyboard_alone(visit, lab, name, width):
    page = visit(path_of(name, lab), tenant=lab["tenant"], width=width)
    page.locator("summary", has_text="Rename").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label(f"New name of the {name}")
    box = page.locator(".menu[open] > .menu-body").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    picture(page, f"rename-{name}-{width}")
    assert violations(page) == []
    former = field.input_value()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("another name")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("another name")
    expect(page.locator(".page-head")).to_contain_text(f"Called before: {former}")
    assert page.url.endswith(path_of(name, lab))
    picture(page, f"renamed-{name}-{width}")
    assert violations(page) == []
    assert page.complaints == []


def test_a_question_is_one_click_from_its_comparison(visit, lab):
    page = visit("/w/lab/", tenant=lab["tenant"])
    page.get_by_role("link", name=re.compile("^Which server is fastest")).click()
    expect(page).to_have_url(re.compile(r"/w/lab/compare\?at=10&.*workload=hello"))
    page.wait_for_selector("[data-compare].is-ready")


def test_a_run_grows_while_it_is_read(visit, lab):
    page = visit(f"/r/{LIVE}", tenant=lab["tenant"])
    live = page.locator("[data-live]")
    expect(live).to_contain_text("3 of 48 trials")
    row = page.locator("[data-grows=trials] tr")
    expect(row).to_have_count(1)
    page.get_by_role("tab", name="Trials").click()
    page.locator("details.trial").first.locator("summary").click()
    page.evaluate("window.stays = true")
    _send_part(lab["tenant"], 1)
    record_heartbeat(
        lab["token"],
        host_name="bench-client-3",
        program="loadsheet-agent",
        version="0.1.0",
        heartbeat=_going_on(4),
    )
    expect(row).to_have_count(2)
    expect(live).to_contain_text("4 of 48 trials")
    expect(live).to_contain_text("Now: gunicorn sync · hello · 64 connections · repeat 2")
    expect(page.locator("details.trial[id]")).to_have_count(2)
    expect(page.locator("details.trial").first).to_have_attribute("open", "")
    assert page.evaluate("window.stays")
    picture(page, "run-grown")
    assert violations(page) == []
    Run.objects.filter(pk=LIVE).update(is_open=False)
    expect(live).to_have_count(0)
    assert page.complaints == []


def test_a_run_is_there_from_its_first_word_on(visit, lab):
    page = visit(f"/r/{RUNNING}", tenant=lab["tenant"])
    expect(page.locator("main")).to_contain_text("No trials yet")
    expect(page.locator("[data-live]")).to_contain_text("running")
    assert page.complaints == []


def _wait_until_asked(page, ending):
    """Until the page has asked an address with this ending. Playwright's own waiting runs texts as
    scripts, which the pages forbid."""
    asked = f"performance.getEntriesByType('resource').some(e => e.name.endsWith('{ending}'))"
    for _ in range(200):
        if page.evaluate(asked):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"The page never asked {ending}.")


def test_a_comparison_offers_the_trials_that_came_since(visit, lab):
    page = visit(f"/w/lab/compare?run={LIVE}", tenant=lab["tenant"])
    page.wait_for_selector("[data-compare].is-ready")
    expect(page.locator("[data-slot=read-at]")).to_contain_text("Read")
    _wait_until_asked(page, "/progress")
    _send_part(lab["tenant"], 1)
    offer = page.locator("[data-slot=read-at]")
    expect(offer).to_contain_text("1 new trial", timeout=15_000)
    offer.get_by_role("button", name="Show").click()
    expect(page.locator("[data-slot=read-at]")).to_contain_text("Read")
    expect(page.locator("main")).to_contain_text("2 trials")
    assert page.complaints == []
