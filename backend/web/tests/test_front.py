"""The front pages: which questions a workspace's data answer, and what it shows as new."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import timezone

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.pages.front_questions import ALL, list_questions
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import State, Upload
from backend.runs.models import Run, Trial
from backend.sharing.models import Visibility
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace
from backend.testing.scenes import make_result_set
from backend.testing.uploads import make_tenant
from backend.web.tests.pages import html_of

LARGE = {"name": "bench-2", "cpu_model": "EPYC"}


@pytest.fixture(autouse=True)
def _nothing_kept():
    caches["process"].clear()


def asked(workspace):
    return {one.id: one for one in list_questions(workspace.pk, workspace.slug)}


def test_an_empty_workspace_answers_nothing_and_says_so(db):
    found = asked(make_workspace())
    assert len(found) == 7
    assert all(one.query is None and one.why_not for one in found.values())


def test_one_server_at_one_load_answers_its_distribution_only(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec(server="a"))
    found = asked(workspace)
    assert {id_ for id_, one in found.items() if one.query} == {"distributions"}
    assert "Measure another one" in found["fastest"].why_not
    assert "three or more loads" in found["limits"].why_not


def test_the_questions_take_their_values_from_what_was_measured(db):
    workspace = make_workspace()
    cells = [
        CellSpec(server=name, connections=load, rates=(rate, rate + 5, rate - 5))
        for name, rate in (("slow", 500.0), ("fast", 2000.0))
        for load in (1, 8, 64)
    ]
    # A load that only one server was measured at is no load to rank at.
    run = make_run(workspace, *cells, CellSpec(server="fast", connections=256))
    Trial.objects.filter(run=run).update(resources={"server_cpu_s": 1.5})
    found = asked(workspace)
    assert found["fastest"].text == "Which server is fastest at 64 connections?"
    assert found["fastest"].query == {"workload": "hello", "at": "64"}
    assert found["limits"].query == {"workload": "hello", "view": "tradeoff"}
    assert found["distributions"].query["view"] == "nines"
    assert found["cost"].query == {"workload": "hello", "at": "64", "metric": "cpu_per_1k"}
    # The first by name, whatever was measured.
    assert "relative to fast" in found["distance"].about
    assert len(found["distance"].query["baseline"]) == 8
    assert found["versions"].query is None
    assert found["hardware"].query is None


def figures_of(workspace, question):
    asked_for = CompareQuery.parse(urlencode(question.query, doseq=True))
    return plain_figures(compare(asked_for, workspace_ids=[workspace.pk]))


def test_two_versions_are_ranked_against_each_other(db):
    workspace = make_workspace()
    for version, rate in (("1", 1000.0), ("2", 800.0)):
        rates = (rate, rate + 3, rate - 3)
        make_run(workspace, CellSpec(server="app", version=version, rates=rates))
    question = asked(workspace)["versions"]
    assert question.text == "Did app get slower?"
    assert question.query == {
        "workload": "hello",
        "server": "app",
        "version": ("1", "2"),
        "at": "64",
    }
    assert question.about == "2 against 1, the version before, at 64 connections, workload hello"
    first, second = figures_of(workspace, question)["ranking"]["rows"]
    assert (first["label"], first["ratio"]["why"]) == ("app 1", "the baseline")
    assert (second["label"], second["ratio"]["verdict"]) == ("app 2", "regressed")
    assert second["significant"] is True


def test_of_many_versions_the_newest_is_asked_about(db):
    """By the order of versions, not of runs: older versions may be measured later."""
    workspace = make_workspace()
    for number in (0, 1, 2, 11, 10, 9):
        rates = tuple((800.0 if number == 11 else 1000.0) + jitter for jitter in (0, 3, -3))
        make_run(workspace, CellSpec(server="app", version=f"1.{number}", rates=rates))
    question = asked(workspace)["versions"]
    assert question.about.startswith("1.11 against 1.10, the version before")
    finding = figures_of(workspace, question)["finding"]
    # The version before is the baseline.
    assert finding.startswith("app 1.11 serves 0.800×")
    assert "of app 1.10 at 64 connections" in finding


def test_versions_are_asked_about_where_the_newest_was_measured(db):
    workspace = make_workspace()
    for version in ("1", "2", "3"):
        make_run(workspace, CellSpec(server="app", version=version))
    for version in ("3", "4"):
        make_run(workspace, CellSpec(server="app", version=version, connections=8))
    question = asked(workspace)["versions"]
    assert (question.query["at"], question.query["version"]) == ("8", ("3", "4"))


def test_every_run_is_looked_at(db):
    workspace = make_workspace()
    for version in ("1", "2"):
        make_run(workspace, CellSpec(server="app", version=version))
    for number in range(70):
        make_run(
            workspace,
            CellSpec(server="other", version="1"),
            started_at=datetime(2026, 4, 1, tzinfo=UTC) + timedelta(hours=number),
        )
    assert asked(workspace)["versions"].query["server"] == "app"


def test_versions_are_found_beside_the_conditions_that_most_servers_share(db):
    workspace = make_workspace()
    for version in ("1", "2"):
        make_run(workspace, CellSpec(server="app", version=version))
    make_run(workspace, *(CellSpec(server=name, tool="oha") for name in ("x", "y", "z")))
    question = asked(workspace)["versions"]
    assert question.query["server"] == "app"
    assert question.query["tool"] == "wrk"
    assert len(figures_of(workspace, question)["ranking"]["rows"]) == 2


def test_an_open_loop_is_asked_by_its_rate_whatever_its_connections(db):
    workspace = make_workspace()
    for rate in (200.0, 400.0, 800.0):
        more = {"connections": 50, "rate_rps": rate, "loop": "open", "tool": "wrk2"}
        make_run(workspace, CellSpec(server="app", **more))
    limits = asked(workspace)["limits"]
    assert limits.query["x"] == "rate"
    assert "3 loads" in limits.about


def test_questions_follow_what_was_deleted(owner, scene):
    def shown():
        html = owner.get("/w/own-lab/").content.decode()
        return html[html.index("Questions") : html.index("Latest runs")]

    before = shown()
    cells = [CellSpec(server=name) for name in ("b", "c", "d", "e")]
    other = make_run(scene.own.workspace, *cells, same_host=True)
    assert "4 servers" in shown()
    owner.post(f"/r/{other.pk}/delete")
    assert shown() == before


def test_two_hosts_open_their_question_at_the_load_they_share(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec(server="app"), CellSpec(server="app", connections=256))
    make_run(workspace, CellSpec(server="app"), host=LARGE)
    found = asked(workspace)
    assert found["hardware"].query == {
        "workload": "hello",
        "server": ("app",),
        "facet": "server",
        "at": "64",
    }


def test_another_version_on_another_host_tells_of_neither(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec(server="app", version="1"))
    make_run(workspace, CellSpec(server="app", version="2"), host=LARGE)
    found = asked(workspace)
    assert found["versions"].query is None
    assert "two known hosts at the same load" in found["hardware"].why_not


def test_servers_are_asked_about_under_the_conditions_that_most_share(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec(server="a", version="22.0"), CellSpec(server="a", tool="oha"))
    make_run(workspace, *(CellSpec(server=name) for name in ("a", "b", "c")))
    make_run(workspace, *(CellSpec(server=name) for name in ("a", "b")), host=LARGE)
    found = asked(workspace)
    assert found["fastest"].query == {
        "workload": "hello",
        "at": "64",
        "host": "bench-1",
        "client": "bench-1",
        "tool": "wrk",
        "version": ("23.0",),
    }
    answer = compare(
        CompareQuery.parse(urlencode(found["fastest"].query, doseq=True)),
        workspace_ids=[workspace.pk],
    )
    assert len(answer.ranking.rows) == 3


def test_two_workloads_are_compared_as_ratios(db):
    workspace = make_workspace()
    for name in ("hello", "json"):
        work = {"name": name, "method": "GET", "path": "/"}
        make_run(workspace, *(CellSpec(server=one, workload=work) for one in ("a", "b")))
    found = asked(workspace)
    assert found["distance"].query == {"facet": "workload", "view": "ratios"}
    assert "2 workloads" in found["distance"].about


def test_an_open_loop_is_asked_by_its_rate(db):
    workspace = make_workspace()
    cells = [
        CellSpec(server=name, connections=None, rate_rps=500.0, loop="open") for name in ("a", "b")
    ]
    make_run(workspace, *cells)
    found = asked(workspace)
    assert found["fastest"].query == {"workload": "hello", "x": "rate", "at": "500"}
    assert "500 req/s offered" in found["fastest"].text


def test_reported_percentiles_alone_draw_no_distribution(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec(computed=False))
    assert "The load tool reported percentiles only" in asked(workspace)["distributions"].why_not


def test_each_question_is_one_link_in_canonical_spelling(owner, scene):
    html = owner.get("/w/own-lab/").content.decode()
    links = [part.split('"')[0] for part in html.split('<a href="/w/own-lab/compare?')[1:]]
    assert links
    for link in links:
        names = [name for name, _ in parse_qsl(urlsplit("?" + link.replace("&amp;", "&")).query)]
        assert names == sorted(names)
    assert "No server was measured in two known versions at the same load." in html


def test_questions_without_an_answer_are_one_sentence(owner, scene):
    """It names what they need, each need once; why they have none is folded away."""
    html = owner.get("/w/own-lab/").content.decode()
    unanswered = html.partition('<details class="unanswered">')[2].partition("</details>")[0]
    summary, _, reasons = unanswered.partition("</summary>")
    closed = [question for question in asked(scene.own.workspace).values() if not question.query]
    assert closed
    assert f"{len(closed)} more question" in summary
    for question in closed:
        assert summary.count(question.needs) == 1
        assert f"<dt>{question.text}</dt>" in reasons
    assert html.count('<li class="question">') == len(ALL) - len(closed)


def test_a_front_says_of_a_result_set_that_it_is_not_current(owner, scene):
    shared = {"workspace": scene.own.workspace, "visibility": Visibility.PUBLIC}
    newer = make_result_set(**shared)
    make_result_set(**shared, withdrawn_at=timezone.now(), withdrawn_reason="wrong host")
    make_result_set(**shared, superseded_by=newer)
    html = html_of(owner.get("/w/own-lab/"))
    assert re.findall(r'<span class="tag tag-[a-z]+">(withdrawn|superseded)</span>', html) == [
        "superseded",
        "withdrawn",
    ]


def test_a_front_shows_what_is_new_and_what_failed(owner, scene):
    make_result_set(scene.own.workspace, Visibility.PRIVATE)
    Upload.objects.create(
        workspace=scene.own.workspace,
        content_sha256="1" * 64,
        state=State.FAILED,
        reason="The file is <empty>.",
    )
    html = owner.get("/w/own-lab/").content.decode()
    assert f'href="/r/{scene.run.pk}"' in html
    assert "secret-title" in html
    assert "The file is &lt;empty&gt;." in html
    assert '<a href="/w/own-lab/runs">1 run</a>' in html


def test_a_front_lists_the_runs_that_failed_lately(owner, scene):
    ids = {}
    for name, age in (("failed", 9), ("interrupted", 8), ("done", 7), ("old", 24 * 5)):
        when = timezone.now() - timedelta(hours=age)
        run = make_run(scene.own.workspace, CellSpec(name), started_at=when)
        Run.objects.filter(pk=run.pk).update(interrupted=name == "interrupted", recorded_at=when)
        ids[name] = run.pk
    for name in ("failed", "interrupted", "old"):
        first = Trial.objects.filter(run=ids[name]).first()
        Trial.objects.filter(pk=first.pk).update(error="Connection refused")
    listed = owner.get("/w/own-lab/").context["failed_runs"]
    assert [row.id for row in listed] == [ids["interrupted"], ids["failed"]]


def test_a_new_run_asks_anew(owner, scene):
    assert "fastest at 64" in owner.get("/w/own-lab/").content.decode()
    make_run(
        scene.own.workspace,
        *(CellSpec(server=one, connections=512) for one in ("x", "y", "z")),
        started_at=datetime(2026, 4, 1, tzinfo=UTC),
    )
    assert "fastest at 512 connections" in owner.get("/w/own-lab/").content.decode()


def test_the_front_page_for_everyone(owner, scene, client):
    html = client.get("/").content.decode()
    assert "curl" not in html
    assert "/accounts/login/" in html
    # One workspace: it is the front page.
    assert "Which server is fastest" in owner.get("/").content.decode()


def test_members_of_several_choose_one(scene):
    from backend.accounts.models import Membership

    other = make_tenant("third-lab")
    Membership.objects.create(user=other.user, workspace=scene.own.workspace)
    client = Client()
    client.force_login(other.user)
    html = client.get("/").content.decode()
    assert 'href="/w/own-lab/"' in html
    assert 'href="/w/third-lab/"' in html
    assert "secret-server" not in html


def test_versions_of_one_run_are_put_in_their_order(db):
    workspace = make_workspace()
    versions = [CellSpec("nginx", version=f"1.{minor}") for minor in (2, 10, 9)]
    make_run(workspace, CellSpec("caddy", version="2.8"), *versions)
    assert asked(workspace)["fastest"].query["version"] == ("1.10", "2.8")


def test_the_newest_of_one_server_is_no_older_one_of_another(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec("nginx", version="1"), CellSpec("caddy", version="2"))
    cells = CellSpec("nginx", version="2"), CellSpec("caddy", version="1")
    newest = make_run(workspace, *cells, started_at=STARTED + timedelta(days=1))
    assert asked(workspace)["fastest"].query["run"] == (str(newest.pk),)


def test_a_server_that_only_crashed_is_none_of_them(db):
    workspace = make_workspace()
    make_run(workspace, CellSpec("a"), CellSpec("b"), CellSpec("crash", rates=(None, None)))
    assert asked(workspace)["fastest"].about.startswith("2 servers")
