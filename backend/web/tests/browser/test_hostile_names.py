"""Two hundred hostile strings in every text that a person can send stay text on every page."""

import csv
import io
import json
import re
import uuid
from dataclasses import dataclass
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from playwright.sync_api import expect

from backend.accounts.models import TokenKind
from backend.accounts.tokens.tokens import AGENT_LIFETIME as LASTS
from backend.accounts.tokens.tokens import find, issue
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.receiving.receive import receive
from backend.runs.amending.dismissals import dismiss
from backend.runs.models import Run, Trial
from backend.sharing.models import ResultSet
from backend.storage import storage
from backend.testing.hostile_names import ATTACKS, FORMULAS
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial
from backend.visible_text import MARK

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# As many series as one comparison shows.
EACH = 40
GROUPS = [ATTACKS[start : start + EACH] for start in range(0, len(ATTACKS), EACH)]
LONG = "<img src=x onerror=alert(1)>" * 366
CONTROLS = dict.fromkeys((*range(32), *range(127, 160)))
# What is not seen: those, and what turns the text after it around.
BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
UNSEEN = CONTROLS | dict.fromkeys((0x2028, 0x2029, *BIDI))
# With the mark that stands for each of them on a page.
HIDDEN = UNSEEN | {ord(MARK): None}

# What no page of ours has: handlers, scripts and styles in the text, addresses that run, elements
# that load. Asked of the tree that a browser makes of the page.
FOREIGN = """(root) => [...root.querySelectorAll("*")].flatMap((one) => {
  const found = [...one.attributes].filter(({ name, value }) =>
    name.startsWith("on") || name === "srcdoc" || name === "formaction" ||
    (["href", "src", "action", "data", "xlink:href"].includes(name) &&
      /^\\W*(javascript|vbscript|data:text)/i.test(value)));
  const loads = "iframe object embed base frame applet marquee math video audio xss image keygen";
  const odd = loads.split(" ").includes(one.localName)
    || (one.localName === "script" && !one.src.startsWith(location.origin)
        && one.type !== "application/json")
    || (one.localName === "meta" && one.httpEquiv)
    || (one.localName === "img" && !one.hasAttribute("alt"))
    || (one.localName === "style" && !one.hasAttribute("nonce"));
  return odd || found.length ? [one.outerHTML.slice(0, 200)] : [];
})"""
FETCHED = """async (urls) => {
  const judge = FOREIGN, faults = [], left = [...urls];
  const lane = async () => {
    for (let url = left.pop(); url !== undefined; url = left.pop()) {
      const answer = await fetch(url), text = await answer.text();
      if (answer.status >= 500) faults.push([url, answer.status]);
      if (!(answer.headers.get("content-type") ?? "").includes("html")) continue;
      const found = judge(new DOMParser().parseFromString(text, "text/html"));
      if (found.length) faults.push([url, found]);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return faults;
}""".replace("FOREIGN", FOREIGN)


@pytest.fixture
def lab(settings, tmp_path):
    """A workspace whose every text is hostile: a run, result sets, a dismissal for forty each."""
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    caches["process"].clear()
    tenant = make_tenant("lab")
    tenant.workspace.name = ATTACKS[0]
    tenant.workspace.save()
    owner = Client()
    owner.force_login(tenant.user)
    runs = [_measured(tenant, names) for names in GROUPS]
    for run, names in zip(runs, GROUPS, strict=True):
        _kept(owner, run, names)
        trial = Trial.objects.filter(run=run).first()
        dismiss(run, trial.checks[0]["id"], reason=" ".join(names)[:500], author=tenant.user)
    with connection.cursor() as cursor:
        # As a service does by itself. Tests before this one leave rows that were taken back, and
        # a plan without statistics may read them again for each word that is searched.
        cursor.execute("VACUUM (ANALYZE)")
    yield tenant, owner, runs
    storage.cache_clear()


def _measured(tenant, names):
    """One upload: a trial of a server and a workload for each name; facts of them all."""
    trials = [_trial(names, index) for index in range(len(names))]
    facts = dict(zip(names, reversed(names), strict=True))
    envelope = {**make_envelope(0), "trials": trials, "same_host": False}
    envelope["run"] |= {"labels": {**facts, "long": LONG[:2000]}, "plan": "\n".join([*names, LONG])}
    envelope["run"] |= _evidence(names)
    envelope["agent"] = dict.fromkeys(("name", "version", "hostname"), names[2][:200])
    envelope["hosts"] = {"client": _host(names[1], facts), "server": _host(names[0], facts)}
    files = [Sent(_file(names, index)) for index in range(len(names))]
    upload = receive(tenant.sender, files, raw_envelope=envelope).upload
    process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "parsed", upload.reason
    return Run.objects.get(pk=upload.run_id)


def _file(names, index):
    return f"{index} {names[index]}.txt"


@dataclass
class Sent:
    """A file whose name no form has mended on its way."""

    name: str
    size: int = len(WRK)

    @property
    def file(self):
        return io.BytesIO(WRK.encode())

    def chunks(self, chunk_size=None):
        return [WRK.encode()]


def _evidence(names):
    at = "2026-01-31T12:00:00Z"
    return {
        "stopped": names[3],
        "events": [{"at": at, "kind": name[:60], "text": name} for name in names],
        "max_rates": [
            {"server": name[:200], "workload": name[:200], "rate_rps": None, "confirmed": False}
            for name in names
        ],
        "server_tails": {name: name for name in names},
    }


def _is_heard(tenant, names):
    """An agent whose every word is hostile, in a run that goes on; the run's id."""
    clear = issue(
        TokenKind.AGENT, tenant.workspace, user=tenant.user, name=names[0][:120], lifetime=LASTS
    )
    now = {"server": names[2][:200], "workload": names[3][:200], "connections": 1}
    word = Heartbeat(
        run=uuid.uuid4(),
        state="running",
        trials_done=1,
        current={**now, "ordinal": 1, "rate_rps": None, "repeat": 1, "phase": "measure"},
        silent_s=3600,
    )
    said = {"host_name": names[1][:200], "program": names[4][:60], "version": names[5][:40]}
    record_heartbeat(find(clear, TokenKind.AGENT), **said, heartbeat=word)
    return word.run


def _host(name, facts):
    text = dict.fromkeys(("name", "cpu_model", "virtualisation", "os", "kernel"), name)
    return {**text, "cores": 2, "facts": {**facts, "long": LONG}}


def _trial(names, index):
    name, other = names[index], names[index - 1]
    return make_trial(
        index,
        server={
            "name": name,
            "version": other,
            "runtime": other,
            "configuration": {name: other, other: LONG if index == 0 else name},
        },
        workload={
            "name": name if index % 2 else names[0],
            "method": name[:20] if index % 2 else "GET",
            "path": other if index % 2 else "/",
            "headers": {name: other},
            "body_sha256": name[:64],
        },
        load={"tool": "wrk", "tool_version": other, "loop": "closed", "connections": 10},
        command=["wrk", name, LONG[:2000]],
        error=name,
        exit_code=1,
        phase="search" if index % 2 else "confirm",
        server_tail=name,
        resources={name: other, "client_cpu_per_core": [name], "server_rss_peak_bytes": name},
        artefacts=[_file(names, index)],
    )


def _kept(owner, run, names):
    """A frozen and a live result set of the run."""
    for kind in ("frozen", "live"):
        form = {"query": f"run={run.pk}&override=1", "kind": kind, "visibility": "public"}
        form |= {"title": " ".join(names)[:200], "notes": "\n\n".join(names)}
        answer = owner.post("/w/lab/result-sets/new", form)
        assert answer.status_code == 302, answer.content


@pytest.fixture
def page(new_page, live_server, lab, settings):
    settings.PUBLIC_URL = live_server.url
    page = new_page(lab[0], refusals=(400, 404))
    page.on("dialog", lambda dialog: page.complaints.append(dialog.message) or dialog.dismiss())
    page.on("request", lambda asked: _stays(page, live_server.url, asked.url))
    page.goto(f"{live_server.url}/w/lab/")
    return page


def _stays(page, home, url):
    if not url.startswith((home, "data:", "blob:")):
        page.complaints.append(f"asked for {url}")


def visit(page, live_server, path, ready=None):
    page.goto(live_server.url + path, wait_until="domcontentloaded")
    if ready:
        page.wait_for_selector(ready)
    assert page.evaluate(f"({FOREIGN})(document)") == [], path
    assert page.complaints == [], path


def shown(page):
    return _plain(page.evaluate("document.body.textContent"))


def _plain(text):
    """Without what a page may leave out of a text: white space and what is not seen."""
    return "".join(text.translate(HIDDEN).split())


def missing(page, names):
    text = shown(page)
    return [name for name in names if _plain(name) not in text]


def test_nothing_runs_and_nothing_is_lost(page, lab, live_server, settings):
    """In one test: recording the two hundred strings takes longer than most of its parts."""
    _nothing_runs_on_any_page(page, lab, live_server)
    _nothing_runs_of_what_is_asked_and_typed(page, live_server)
    _exports_carry_names_as_data(lab, settings)


def _nothing_runs_on_any_page(page, lab, live_server):
    _, _, runs = lab
    visit(page, live_server, "/")
    for path in ("", "runs", "servers", "hosts", "workloads", "result-sets", "settings", "upload"):
        visit(page, live_server, f"/w/lab/{path}")
    waiting = [_is_heard(lab[0], names) for names in GROUPS]
    for path in ("/w/lab/agents", *(f"/r/{run_id}" for run_id in waiting)):
        visit(page, live_server, path)
    page.locator("a", has_text="Agents").first.click()
    page.get_by_role("link", name="Revoke").first.click()
    assert page.evaluate(f"({FOREIGN})(document)") == []
    for run, names in zip(runs, GROUPS, strict=True):
        visit(
            page, live_server, f"/w/lab/compare?override=1&run={run.pk}", "[data-compare].is-ready"
        )
        assert missing(page, names) == []
        visit(page, live_server, f"/r/{run.pk}")
        assert missing(page, names) == []
        visit(page, live_server, f"/r/{run.pk}/edit")
    run, names = runs[0], GROUPS[0]
    for view in ("nines", "tradeoff", "errors", "ratios", "trend"):
        text = f"override=1&run={run.pk}&view={view}{'&x=version' * (view == 'trend')}"
        visit(page, live_server, f"/w/lab/compare?{text}", "[data-compare].is-ready")
    trial = Trial.objects.filter(run=run).select_related("cell__series").first()
    series = trial.cell.series
    for path in (
        f"/t/{trial.pk}",
        f"/w/lab/servers/{series.server_id}",
        f"/w/lab/workloads/{series.workload_id}",
        f"/w/lab/hosts/{series.server_host_id}",
        f"/u/{Upload.objects.get(run_id=run.pk).pk}",
        f"/a/{trial.artefacts.get().pk}",
    ):
        visit(page, live_server, path)
    for kept in ResultSet.objects.all():
        visit(page, live_server, kept.path, "[data-result-set].is-ready")
        visit(page, live_server, f"/embed/{kept.link}", "[data-embed] canvas")
    visit(page, live_server, f"{ResultSet.objects.filter(kind='frozen').first().path}/changes")


def _question(index, text):
    """Each string in one of the places where an address may carry it."""
    asked = (
        ("/w/lab/compare", {"server": text}),
        ("/w/lab/compare", {text: "x"}),
        ("/w/lab/runs", {"q": text}),
        ("/w/lab/servers", {"q": text}),
        ("/oembed", {"url": text}),
        (f"/w/{quote(text, safe='')}", {}),
        (f"/sign-in/{quote(text, safe='')}", {"next": text}) if index < 30 else ("/", {text: text}),
    )
    path, query = asked[index % len(asked)]
    return f"{path}?{urlencode(query)}"


def _nothing_runs_of_what_is_asked_and_typed(page, live_server):
    questions = [_question(index, text) for index, text in enumerate(ATTACKS)]
    assert page.evaluate(FETCHED, questions) == []
    visit(page, live_server, "/w/lab/runs")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search this workspace")
    for text in ("<", "alert(1)", "__proto__", "javascript:", "\u202e"):
        box.fill(text)
        expect(page.locator("#palette-list [role=option]").first).to_contain_text(
            text.strip()[:8] or ""
        )
        assert page.evaluate(f"({FOREIGN})(document)") == []
    visit(page, live_server, "/w/lab/upload")
    for text in ("<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>'):
        for field in ("server", "version", "runtime", "workload", "host"):
            page.locator(f"#{field}").fill(text)
        page.locator("#paste").fill(WRK)
        expect(page.locator("#read")).to_contain_text(text, timeout=60_000)
        assert page.evaluate(f"({FOREIGN})(document)") == []
        page.locator("#paste").fill(text)
        expect(page.locator("#read .notice-error")).to_be_visible()
        assert page.evaluate(f"({FOREIGN})(document)") == []
    assert page.complaints == []


def _exports_carry_names_as_data(lab, settings):
    _, owner, runs = lab
    for run, names in zip(runs, GROUPS, strict=True):
        query = f"override=1&run={run.pk}"
        figures = owner.get(f"/api/v1/compare?{query}").json()
        assert {one["server"] for one in figures["series"]} == set(names)
        cells = _cells(owner.get(f"/api/v1/compare.csv?{query}").content.decode())
        assert [cell for cell in cells if _is_formula(cell)] == []
        for kept in ResultSet.objects.filter(query__contains=str(run.pk)):
            document = json.loads(owner.get(f"{kept.path}.json").content)
            drawn = document.get("figures", document)
            assert {one["server"] for one in drawn["series"]} == set(names)
            kept_cells = _cells(owner.get(f"{kept.path}.csv").content.decode())
            assert [cell for cell in kept_cells if _is_formula(cell)] == []
            _is_harmless_badge(owner.get(f"{kept.path}.svg").content)
            asked = urlencode({"url": f"{settings.PUBLIC_URL}{kept.path}"})
            _is_one_frame(owner.get(f"/oembed?{asked}").json()["html"])
            if kept.kind == "frozen":
                image = owner.get(f"{kept.path}.png")
                assert image.content.startswith(b"\x89PNG")


def _cells(text):
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


def _is_formula(cell):
    """Whether a spreadsheet would compute it; a number is no formula."""
    start = cell.translate(CONTROLS).lstrip("\ufeff\u200b\u200e\u200f ")
    return start.startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"))


def _is_harmless_badge(svg):
    allowed = {"svg", "title", "rect", "g", "text", "clipPath", "linearGradient", "stop", "path"}
    for one in ElementTree.fromstring(svg).iter():
        assert one.tag.rpartition("}")[2] in allowed
        assert not [name for name in one.attrib if name.startswith("on") or "href" in name]


def _is_one_frame(html):
    assert re.fullmatch(r'<iframe( [a-z]+="[^"<>]*")+></iframe>', html), html


def test_names_too_long_are_refused_with_the_field(db):
    tenant = make_tenant("lab")
    for part, field in (("server", "name"), ("server", "version"), ("workload", "name")):
        trial = make_trial(0)
        trial[part][field] = LONG
        form = {
            "file": SimpleUploadedFile("0.txt", WRK.encode()),
            "envelope": json.dumps({**make_envelope(0), "trials": [trial]}),
        }
        answer = Client().post("/api/v1/uploads", form, headers=tenant.headers)
        assert answer.status_code == 400
        assert f"{part}.{field}" in answer.json()["detail"]


def test_settings_that_are_no_numbers_are_refused_as_text(db):
    owner = Client()
    owner.force_login(make_tenant("lab").user)
    for text in (LONG, *ATTACKS[:8], *FORMULAS):
        form = {"relevant_percent": text, "min_trials": text, "must_match": text}
        answer = owner.post("/w/lab/settings", form)
        assert answer.status_code == 400
        assert "<img src=x" not in answer.content.decode()
