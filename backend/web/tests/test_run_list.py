"""The list of runs: names, figures and states, in an order that the server keeps over pages."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.analysis.pages.run import describe_run
from backend.analysis.pages.run_summary import summarise_run
from backend.ingest.listing.listing import upload_page
from backend.ingest.models import State, Upload
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.editing import edit_run
from backend.ingest.reprocessing.merging import merge_names
from backend.runs.catalogue import listing
from backend.runs.catalogue.listing import rows_of, run_page
from backend.runs.catalogue.run_order import DIRECTIONS, SORTS, RunOrder
from backend.runs.catalogue.search import RunSearch
from backend.runs.models import FormerName, Run, Server, Trial, Workload
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace
from backend.testing.uploads import WRK, make_envelope, make_trial, make_upload
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace():
    return make_workspace("own-lab")


@pytest.fixture
def runs(workspace):
    """Three runs: another one is first by each order."""
    slow = make_run(workspace, CellSpec("slow", rates=(10.0, 20.0)), started_at=STARTED)
    points = [CellSpec("fast", connections=c, rates=(r, r)) for c, r in ((8, 50.0), (64, 3000.0))]
    fast = make_run(workspace, *points, started_at=STARTED - timedelta(days=2))
    many = make_run(
        workspace, CellSpec("many", rates=[500.0] * 9), started_at=STARTED + timedelta(days=2)
    )
    for age, run in enumerate((many, fast, slow)):
        Run.objects.filter(pk=run.pk).update(recorded_at=STARTED - timedelta(hours=age))
    return {"slow": slow, "fast": fast, "many": many}


def names(workspace, order, *, limit=50, after=""):
    page = run_page([workspace.pk], order=order, limit=limit, after=after)
    return [run.servers[0] for run in page.rows], page.next


ORDERS = {
    "received": ["many", "fast", "slow"],
    "started": ["many", "slow", "fast"],
    "trials": ["many", "fast", "slow"],
    "throughput": ["fast", "many", "slow"],
}


@pytest.mark.parametrize("sort", SORTS)
def test_each_order_holds_over_pages_in_both_directions(workspace, runs, sort):
    for direction, expected in (("desc", ORDERS[sort]), ("asc", ORDERS[sort][::-1])):
        order, after, listed = RunOrder(sort, direction), "", []
        for _ in range(3):
            page, after = names(workspace, order, limit=1, after=after or "")
            listed += page
        assert listed == expected, direction
        assert after is None


def test_runs_of_equal_value_each_stand_on_one_page(workspace):
    equal = {make_run(workspace, CellSpec(rates=(5.0, 5.0))).pk for _ in range(5)}
    after, listed = "", []
    while after is not None:
        page = run_page([workspace.pk], order=RunOrder("throughput"), limit=2, after=after)
        listed += [run.id for run in page.rows]
        after = page.next
    assert sorted(listed) == sorted(equal)


def test_a_row_has_the_best_load_point_and_a_name(workspace, runs):
    rows = {run.servers[0]: run for run in run_page([workspace.pk]).rows}
    assert rows["fast"].throughput_rps == 3000
    assert rows["slow"].throughput_rps == pytest.approx(200**0.5)
    assert rows["slow"].name == "slow 23.0 · hello · wrk"
    assert (rows["fast"].counted_trials, rows["fast"].trials_text) == (
        4,
        "4 trials and 2 warm-ups",
    )


def throughput_on_its_page(run):
    own = [run.workspace_id]
    trials = describe_run(run.pk, workspace_ids=own)["trials"]
    rows = summarise_run(run.pk, trials, workspace_ids=own)
    return max(row["figures"]["throughput"].value for row in rows)


# A geometric mean, a trial far from the others, and a rate that was rounded to zero.
@pytest.mark.parametrize(
    "rates", [(10.0, 1000.0), (100.0, 101.0, 99.0, 100.5, 99.5, 20.0), (0.0, 5.0, 7.0)]
)
def test_list_and_page_give_a_run_one_throughput(workspace, rates):
    run = make_run(workspace, CellSpec(rates=rates, p50_us=None))
    (row,) = run_page([workspace.pk], order=RunOrder("throughput")).rows
    assert row.throughput_rps == throughput_on_its_page(run)


def test_list_and_page_agree_on_an_upload_that_is_edited_and_merged(scene):
    Run.objects.all().delete()
    outputs = [WRK.replace("18000", count) for count in ("18000", "9000", "9000", "21000")]
    upload = make_upload(scene.own, *outputs, envelope=make_envelope(4))
    process(upload.pk)
    run = Run.objects.get(pk=upload.result_run_id or upload.pk)
    # One output was sent twice: it counts once.
    expected = pytest.approx((6000 * 3000 * 7000) ** (1 / 3), rel=0.001)
    edit_run(run, {"server": "another"}, ordinals=[0], author=None)
    workspace, kind = run.workspace, FormerName.Kind.SERVER
    merge_names(workspace, kind, "another", server_of(run, 1), author=None)
    (row,) = run_page([workspace.pk]).rows
    assert row.throughput_rps == throughput_on_its_page(run) == expected


def server_of(run, ordinal):
    return Trial.objects.get(run=run, ordinal=ordinal).cell.series.server.name


def test_a_run_without_a_throughput_comes_last(workspace, runs):
    make_run(workspace, CellSpec("crashed", rates=(None,)))
    page, _ = names(workspace, RunOrder("throughput"))
    assert page[-1] == "crashed"
    assert run_page([workspace.pk], order=RunOrder("throughput")).rows[-1].throughput_rps is None


def test_each_state_is_told_and_searched_for(workspace, runs):
    Run.objects.filter(pk=runs["slow"].pk).update(is_open=True)
    Run.objects.filter(pk=runs["fast"].pk).update(interrupted=True)
    first = Trial.objects.filter(run=runs["many"]).first()
    Trial.objects.filter(pk=first.pk).update(error="Connection refused")
    states = {run.servers[0]: run.state for run in run_page([workspace.pk]).rows}
    assert states == {"slow": "running", "fast": "interrupted", "many": "failed"}
    for name, state in states.items():
        page = run_page([workspace.pk], search=RunSearch.parse({"state": state}))
        assert [run.servers[0] for run in page.rows] == [name]


def test_a_search_for_a_server_gives_its_own_throughput_and_order(workspace):
    both = make_run(workspace, CellSpec("fast", rates=(900.0,)), CellSpec("slow", rates=(30.0,)))
    alone = make_run(workspace, CellSpec("slow", rates=(40.0,)))
    page = run_page([workspace.pk], search=RunSearch(server="slow"), order=RunOrder("throughput"))
    assert [(run.id, run.throughput_rps) for run in page.rows] == [(alone.pk, 40), (both.pk, 30)]
    whole = run_page([workspace.pk], order=RunOrder("throughput"))
    assert [run.throughput_rps for run in whole.rows] == [900, 40]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_throughput_of_a_server_orders_each_page(workspace, direction):
    """Another server's throughput, another workspace's runs and the trash do not count."""
    for rate in (30.0, None, 50.0, 30.0, 40.0):
        make_run(workspace, CellSpec("fast", rates=(900.0,)), CellSpec("slow", rates=(rate,)))
    make_run(workspace, CellSpec("fast", rates=(900.0,)))
    make_run(make_workspace("elsewhere"), CellSpec("slow", rates=(35.0,)))
    trashed = make_run(workspace, CellSpec("slow", rates=(45.0,)))
    Run.objects.filter(pk=trashed.pk).update(trashed_at=timezone.now())
    search, order = RunSearch(server="slow"), RunOrder("throughput", direction)
    after, listed = "", []
    while after is not None:
        page = run_page([workspace.pk], search=search, order=order, limit=2, after=after)
        listed += page.rows
        after = page.next
    expected = [50, 40, 30, 30, None]
    rates = [run.throughput_rps for run in listed]
    assert rates == (expected if direction == "desc" else expected[::-1])
    assert len({run.id for run in listed}) == len(expected)


def test_where_all_load_points_are_of_one_tool_the_order_is_that_of_the_runs(workspace, runs):
    order, search = RunOrder("throughput"), RunSearch(tool="wrk")
    with CaptureQueriesContext(connection) as captured:
        page = run_page([workspace.pk], search=search, order=order)
    assert page == run_page([workspace.pk], order=order)
    assert len(page.rows) == len(runs)
    assert not any("MAX(" in query["sql"] and "LIMIT" in query["sql"] for query in captured)


def test_the_throughput_of_a_server_is_ordered_among_what_else_is_asked(workspace):
    for rate, build in ((30.0, "a"), (50.0, "b"), (40.0, "a")):
        run = make_run(workspace, CellSpec("slow", rates=(rate,)))
        Run.objects.filter(pk=run.pk).update(labels={"build": build}, is_open=build == "a")
    for search in (RunSearch(server="slow", q='"a"'), RunSearch(tool="wrk", state="running")):
        page = run_page([workspace.pk], search=search, order=RunOrder("throughput"))
        assert [run.throughput_rps for run in page.rows] == [40, 30], search


@pytest.mark.parametrize("sort", ["received", "throughput"])
def test_words_are_found_in_the_last_runs_too(workspace, sort):
    """A search looks at the first few runs by themselves, then at all: no run is left out."""
    wanted = {4, 5, 11, 17}
    for number in range(18):
        server = "wanted" if number in wanted else "other"
        run = make_run(workspace, CellSpec(server, rates=(1000.0 - number,)))
        recorded_at = STARTED - timedelta(hours=number)
        Run.objects.filter(pk=run.pk).update(recorded_at=recorded_at, labels={"number": number})
    for limit in (1, 2, 3, 50):
        after, listed = "", []
        while after is not None:
            page = run_page(
                [workspace.pk],
                search=RunSearch(q="wanted"),
                order=RunOrder(sort),
                limit=limit,
                after=after,
            )
            listed += [run.labels["number"] for run in page.rows]
            after = page.next
        assert listed == sorted(wanted), limit


def test_more_runs_and_load_points_take_no_more_statements(workspace, runs):
    def count_statements():
        with CaptureQueriesContext(connection) as captured:
            run_page([workspace.pk])
        return len(captured)

    before = count_statements()
    points = [CellSpec("many", connections=connections) for connections in (1, 2, 4)]
    for _ in range(5):
        make_run(workspace, *points)
    assert count_statements() == before


def test_the_page_of_a_server_or_workload_gives_its_own_throughput(client, scene):
    workspace = scene.own.workspace
    fast = CellSpec("fast", workload={"name": "plain"}, rates=(900.0,))
    make_run(workspace, fast, CellSpec("slow", rates=(30.0,)))
    slow = Server.objects.get(workspace=workspace, name="slow")
    html = html_of(client.get(f"/w/own-lab/servers/{slow.pk}"))
    assert "Best throughput is that of <bdi>slow</bdi> in each run." in html
    assert 'value="30.0" data-format="rate"' in html
    assert 'value="900.0"' not in html
    plain = Workload.objects.get(workspace=workspace, name="plain")
    assert 'value="900.0"' in html_of(client.get(f"/w/own-lab/workloads/{plain.pk}"))
    (row,) = client.get("/api/v1/runs?server=slow").json()["runs"]
    assert row["throughput_rps"] == 30


@pytest.fixture
def client(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def test_the_heads_of_the_page_sort_and_keep_the_search(client, scene):
    html = html_of(client.get("/w/own-lab/runs?tool=wrk&sort=throughput"))
    assert 'href="/w/own-lab/runs?tool=wrk&amp;sort=throughput&amp;direction=asc"' in html
    assert 'aria-sort="descending"' in html
    assert "secret-server 1.0 and other-server 1.0 · hello · wrk" in html.replace(
        "other-server 1.0 and secret-server 1.0", "secret-server 1.0 and other-server 1.0"
    )
    assert '<option value="failed">Failed trials</option>' in html


@pytest.mark.parametrize(
    ("query", "field"), [("sort=name", "sort"), ("sort=trials&direction=up", "direction")]
)
def test_an_unknown_order_is_refused_by_page_and_api(client, scene, query, field):
    assert client.get(f"/w/own-lab/runs?{query}").status_code == 400
    problem = client.get(f"/api/v1/runs?{query}")
    assert (problem.status_code, problem.json()["field"]) == (400, field)


def test_the_cursor_of_another_order_is_refused(client, scene):
    make_run(scene.own.workspace, CellSpec())
    following = client.get("/api/v1/runs?limit=1&sort=trials").json()["next"]
    assert client.get(following).status_code == 200
    other = following.replace("sort=trials", "sort=throughput")
    assert client.get(other).json()["title"] == "Bad cursor"


def test_the_api_tells_name_state_and_throughput(client, scene):
    (row,) = client.get("/api/v1/runs").json()["runs"]
    assert row["state"] == "complete"
    assert row["throughput_rps"] == pytest.approx(6033.3, rel=0.001)
    assert row["name"].endswith("· hello · wrk")


def test_failed_uploads_of_last_night_are_two_clicks_away(client, scene):
    for hour in range(8):
        Upload.objects.create(
            workspace=scene.own.workspace,
            content_sha256="0" * 64,
            state=State.FAILED,
            reason=f"reason {hour}",
            received_at=timezone.now() - timedelta(hours=hour),
        )
    front = html_of(client.get("/w/own-lab/"))
    assert "reason 0" in front
    assert "/w/own-lab/uploads?state=failed" in front
    failed = html_of(client.get("/w/own-lab/uploads?state=failed"))
    assert "reason 7" in failed
    assert "Done" not in failed
    assert "Done" in html_of(client.get("/w/own-lab/uploads"))


def test_uploads_are_listed_by_what_their_run_measured(client, scene):
    """Also the parts of a run that came trial by trial, all with files of one name."""
    run_id, page = uuid4(), "/w/own-lab/uploads"
    for ordinal in range(2):
        envelope = make_envelope(0)
        trial = make_trial(ordinal, server={"name": "nginx", "version": "1"})
        envelope["trials"] = [{**trial, "artefacts": ["0.txt"]}]
        envelope["run"] |= {"id": str(run_id), "plan": "[load]"}
        upload = make_upload(scene.own, WRK + ordinal * "\n", envelope=envelope)
        process(upload.pk)
    name = rows_of(Run.objects.filter(pk=run_id))[0].name
    assert name.startswith("nginx 1 · ")
    assert html_of(client.get(page)).count(f"<bdi>{name}</bdi>") == 2


def test_uploads_are_listed_by_the_names_of_their_files(client, scene):
    nothing = make_upload(scene.own, *["no tool's output"] * 5)
    process(nothing.pk)
    for address in ("/w/own-lab/uploads?state=failed", "/w/own-lab/runs", "/w/own-lab/"):
        html = html_of(client.get(address))
        row = html[html.index(f'href="/u/{nothing.pk}"') :].split("</th>")[0]
        names = "<bdi>0.txt</bdi>, <bdi>1.txt</bdi>, <bdi>2.txt</bdi> and 2 more</span></a>"
        assert names in row, address


def test_the_uploads_are_listed_page_by_page(client, scene, monkeypatch):
    monkeypatch.setattr("backend.web.uploads.uploads.UPLOADS_PER_PAGE", 1)
    older = Upload.objects.create(
        workspace=scene.own.workspace,
        content_sha256="0" * 64,
        state=State.FAILED,
        received_at=timezone.now() - timedelta(days=1),
    )
    first = client.get("/w/own-lab/uploads").content.decode()
    assert str(older.pk) not in first
    following = first.split('<a class="button" href="')[-1].split('"')[0].replace("&amp;", "&")
    assert str(older.pk) in client.get(following).content.decode()
    assert client.get("/w/own-lab/uploads?after=x").status_code == 400


def test_a_page_ends_before_runs_of_too_many_trials(workspace, runs, monkeypatch):
    # 9 and 4 counted trials, then 2; the next page has one run at least.
    monkeypatch.setattr(listing, "PAGE_TRIALS", 13)
    first, after = names(workspace, RunOrder())
    assert first == ["many", "fast"]
    monkeypatch.setattr(listing, "PAGE_TRIALS", 1)
    assert names(workspace, RunOrder(), after=after) == (["slow"], None)


def test_a_page_of_uploads_ends_before_runs_of_too_many_trials(scene, monkeypatch):
    for end in ("", "\n"):
        process(make_upload(scene.own, WRK + end).pk)
    monkeypatch.setattr(listing, "PAGE_TRIALS", 1)
    seen, after = [], ""
    while after is not None:
        page = upload_page(scene.own.workspace.pk, after=after, limit=50)
        seen += [len(page.rows)]
        after = page.next
    assert seen == [1, 1, 1]
