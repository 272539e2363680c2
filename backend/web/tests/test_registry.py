"""Servers, hosts, workloads and the list of runs: what they hold, and how they are searched."""

import re
import uuid
from datetime import UTC, datetime

import pytest
from django.test import Client

from backend.noise.models import HostNoise, SelfComparison
from backend.runs.catalogue.search import RunSearch, SearchError
from backend.runs.models import Host, Series, Server, Trial, Workload
from backend.testing.rows import CellSpec, make_run
from backend.web.tests.pages import html_of

HOSTILE = "<script>alert(1)</script>\"'&\u202e 😀" + "x" * 100


def page(client, path):
    response = client.get(path)
    assert response.status_code == 200, path
    return html_of(response)


def test_a_server_is_one_line_for_all_its_versions(owner, scene):
    make_run(scene.own.workspace, CellSpec(server="nginx", version="1.27"))
    make_run(
        scene.own.workspace,
        CellSpec(server="nginx", version="1.28", configuration={"workers": 4}),
    )
    listed = owner.get("/api/v1/servers?workspace=own-lab").json()
    assert [one["name"] for one in listed["servers"]] == ["nginx", "other-server", "secret-server"]
    nginx = listed["servers"][0]
    assert {one["version"] for one in nginx["variants"]} == {"1.27", "1.28"}
    assert nginx["runs"] == 2
    html = page(owner, "/w/own-lab/servers")
    assert "1.27" in html
    assert "1.28" in html
    shown = page(owner, f"/w/own-lab/servers/{nginx['id']}")
    assert "workers=4" in shown
    assert "/w/own-lab/compare?server=nginx&amp;version=1.28" in shown
    assert "/w/own-lab/compare?series=version&amp;server=nginx" in shown
    assert "bench-1" in shown


def test_lists_are_paged_by_name_without_loss(owner, scene):
    for number in range(5):
        make_run(scene.own.workspace, CellSpec(server=f"s{number}"))
    names, url = [], "/api/v1/servers?workspace=own-lab&limit=3"
    while url:
        answer = owner.get(url).json()
        assert answer["total"] == 7
        names += [one["name"] for one in answer["servers"]]
        url = answer["next"]
    assert names == sorted(names)
    assert len(names) == len(set(names)) == 7


def test_a_host_shows_its_facts_and_what_ran_on_it(owner, scene):
    host = Host.objects.get(name="bench-1", workspace=scene.own.workspace)
    html = page(owner, f"/w/own-lab/hosts/{host.pk}")
    assert "Xeon" in html
    assert "secret-server" in html
    assert "/w/own-lab/compare?host=bench-1" in html
    assert "1 run as server host, 1 as client host" in html
    listed = owner.get("/api/v1/hosts").json()["hosts"]
    assert [(one["name"], one["runs"], one["memory_bytes"]) for one in listed] == [
        ("bench-1", 1, None)
    ]


def test_a_host_shows_its_noise(owner, scene):
    host = Host.objects.get(workspace=scene.own.workspace)
    html = page(owner, f"/w/own-lab/hosts/{host.pk}")
    assert "Noise floor unknown: 0 of 3 A/A comparisons recorded." in html
    assert "<code>loadsheet plan new --aa</code>" in html
    (listed,) = owner.get("/api/v1/hosts").json()["hosts"]
    assert (listed["noise"]["floor_share"], listed["noise"]["comparisons"]) == (None, 0)

    latest = datetime(2026, 11, 12, tzinfo=UTC)
    HostNoise.objects.create(
        host=host, floor_share=0.024, comparisons=6, latest=latest, run_sd=0.03, run_freedom=4
    )
    SelfComparison.objects.create(
        run=scene.run,
        host=host,
        series=Series.objects.filter(workspace=scene.own.workspace).first(),
        connections=64,
        difference=-0.008,
        trials_a=5,
        trials_b=4,
        start_group=0,
        measured_at=latest,
    )
    html = page(owner, f"/w/own-lab/hosts/{host.pk}")
    assert (
        "This host cannot show differences under 2.4 % (from 6 A/A comparisons, latest 12 Nov "
        "2026)."
    ) in html
    assert "Throughput varies by 3 % from run to run" in html
    assert "−0.8 %" in html
    assert "5 + 4" in html
    assert "2.4 %" in page(owner, "/w/own-lab/hosts")
    (listed,) = owner.get("/api/v1/hosts").json()["hosts"]
    assert listed["noise"]["floor_share"] == 0.024
    assert listed["noise"]["text"].startswith("This host cannot show differences under 2.4 %")


def test_a_workload_shows_what_is_asked_and_who_was_measured(owner, scene):
    workload = Workload.objects.get(workspace=scene.own.workspace)
    html = page(owner, f"/w/own-lab/workloads/{workload.pk}")
    assert "secret-server" in html
    assert "/w/own-lab/compare?server=secret-server&amp;workload=hello" in html
    assert owner.get("/api/v1/workloads").json()["workloads"][0]["load_points"] == 4


@pytest.mark.parametrize("kind", ["servers", "hosts", "workloads"])
def test_another_workspaces_things_are_not_here(owner, scene, kind):
    model = {"servers": Server, "hosts": Host, "workloads": Workload}[kind]
    make_run(scene.foreign.workspace, CellSpec())
    foreign = model.objects.filter(workspace=scene.foreign.workspace).first()
    # Not even by the address of a workspace one may see.
    assert owner.get(f"/w/own-lab/{kind}/{foreign.pk}").status_code == 404
    assert owner.get(f"/w/own-lab/{kind}/{uuid.uuid4()}").status_code == 404


def test_hostile_names_stay_text(owner, scene):
    run = make_run(
        scene.own.workspace,
        CellSpec(server=HOSTILE, workload={"name": HOSTILE}, tool="wrk"),
        host={"name": HOSTILE},
    )
    run.labels = {HOSTILE: HOSTILE}
    run.save()
    server = Server.objects.get(name=HOSTILE)
    workload = Workload.objects.get(name=HOSTILE)
    host = Host.objects.get(name=HOSTILE)
    trial = Trial.objects.filter(run=run).first()
    for path in (
        "/w/own-lab/",
        "/w/own-lab/runs",
        "/w/own-lab/servers",
        f"/w/own-lab/servers/{server.pk}",
        "/w/own-lab/hosts",
        f"/w/own-lab/hosts/{host.pk}",
        "/w/own-lab/workloads",
        f"/w/own-lab/workloads/{workload.pk}",
        f"/r/{run.pk}",
        f"/t/{trial.pk}",
    ):
        html = page(owner, path)
        assert "<script>alert" not in html, path
        assert "&lt;script&gt;alert(1)" in html, path


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {"own", "beta", "old"}),
        ("q=beta", {"beta"}),
        ("q=nightly", {"beta"}),
        ("q=bench-1", {"own", "beta"}),
        ("q=nothing-like-it", set()),
        ("server=old", {"old"}),
        ("workload=hello&server=beta", {"beta"}),
        ("server=beta&tool=ab", set()),
        ("tool=ab", {"old"}),
        ("host=bench-1", {"own", "beta"}),
        ("host=unknown", {"old"}),
        ("since=2026-02-01", {"beta"}),
        ("until=2026-01-31", {"own", "old"}),
        ("since=2026-01-31&until=2026-01-31", {"own"}),
        ("state=interrupted", {"old"}),
        ("state=complete", {"own"}),
        ("state=failed", {"beta"}),
    ],
)
def test_runs_are_chosen_by_the_link(owner, scene, query, found):
    beta = make_run(scene.own.workspace, CellSpec(server="beta"))
    beta.labels = {"suite": "nightly"}
    beta.save()
    Trial.objects.filter(run=beta, ordinal=1).update(error="The tool was not found.")
    old = make_run(
        scene.own.workspace,
        CellSpec(server="old", tool="ab"),
        host=None,
        started_at=datetime(2025, 5, 5, tzinfo=UTC),
    )
    old.interrupted = True
    old.save()
    ids = {str(scene.run.pk): "own", str(beta.pk): "beta", str(old.pk): "old"}
    listed = owner.get(f"/api/v1/runs?{query}").json()["runs"]
    assert {ids[one["id"]] for one in listed} == found
    html = page(owner, f"/w/own-lab/runs?{query}")
    assert {name for id_, name in ids.items() if f'href="/r/{id_}"' in html} == found
    count = f"<strong>{len(found)}</strong>" + (" of 3 runs" if query else " runs")
    assert count in html


def test_runs_are_ordered_by_the_column_that_says_so(owner, scene):
    late = make_run(
        scene.own.workspace, CellSpec(), started_at=datetime(2020, 1, 2, 3, 4, tzinfo=UTC)
    )
    html = page(owner, "/w/own-lab/runs")
    assert html.index(f'href="/r/{late.pk}"') < html.index(f'href="/r/{scene.run.pk}"')
    head = re.search(r'<th scope="col"\s+aria-sort="descending">(.*?)</th>', html, re.DOTALL)
    assert "Received" in head[1]
    assert late.recorded_at.strftime("%Y-%m-%d %H:%M UTC") in html


def test_a_run_is_found_by_the_beginning_of_its_id(owner, scene):
    make_run(scene.own.workspace, CellSpec())
    start = str(scene.run.pk)[:13]
    listed = owner.get(f"/api/v1/runs?q={start}").json()["runs"]
    assert [one["id"] for one in listed] == [str(scene.run.pk)]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("sever=x", "There is no field “sever” of runs"),
        ("state=odd", "allowed is complete, failed, interrupted"),
        ("since=yesterday", "allowed is a day such as 2026-01-31"),
        ("until=2026-02-30", "allowed is a day"),
        ("until=9999-12-31", "allowed is a day"),
        ("q=" + "x" * 300, "at most 200 characters"),
    ],
)
def test_a_query_that_is_not_understood_is_named(owner, query, said):
    response = owner.get(f"/w/own-lab/runs?{query}")
    assert response.status_code == 400
    assert said in response.content.decode()
    assert '<a href="/w/own-lab/runs">/w/own-lab/runs</a>' in response.content.decode()
    problem = owner.get(f"/api/v1/runs?{query}")
    assert problem.status_code == 400
    assert said in problem.json()["detail"]
    assert problem.json()["field"] == query.partition("=")[0]


def test_the_next_page_keeps_the_filters(owner, scene, monkeypatch):
    from backend.web.runs import runs

    monkeypatch.setattr(runs, "RUNS_PER_PAGE", 1)
    make_run(scene.own.workspace, CellSpec(server="beta"))
    html = page(owner, "/w/own-lab/runs?tool=wrk")
    assert "/w/own-lab/runs?tool=wrk&amp;after=" in html
    assert "<strong>2</strong> of 2 runs" in html
    assert "beta" not in page(owner, "/w/own-lab/runs?server=secret-server").split("<table")[1]


def test_a_search_is_spelt_in_one_way():
    search = RunSearch.parse({"tool": "wrk", "q": " a  b ", "state": ""})
    assert search.query() == "q=a++b&tool=wrk"
    assert RunSearch.parse({}).query() == ""
    with pytest.raises(SearchError, match="no field"):
        RunSearch.parse({"nosuch": ""})
    with pytest.raises(SearchError, match="until"):
        RunSearch.parse({"until": " "})


def test_an_empty_workspace_says_what_to_do(db):
    from backend.testing.uploads import make_tenant

    tenant = make_tenant("empty-lab")
    client = Client()
    client.force_login(tenant.user)
    for name in ("runs", "servers", "hosts", "workloads"):
        html = page(client, f"/w/empty-lab/{name}")
        assert "curl -H" in html
        assert "/w/empty-lab/upload" in html
