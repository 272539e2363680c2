"""Which questions a front page offers: those whose comparison is of like with like."""

from datetime import timedelta
from urllib.parse import urlencode

from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.pages import front_questions
from backend.analysis.pages.front_questions import list_questions
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace


def asked(workspace):
    return {question.id: question for question in list_questions(workspace.pk, workspace.slug)}


def figures_of(workspace, question):
    query = CompareQuery.parse(urlencode(question.query, doseq=True))
    return plain_figures(compare(query, workspace_ids=[workspace.pk]))


def test_versions_are_compared_within_one_configuration(db):
    workspace = make_workspace()
    for version, workers in (("1", 4), ("2", 4), ("2", 8)):
        make_run(workspace, CellSpec("app", version=version, configuration={"workers": workers}))
    question = asked(workspace)["versions"]
    assert question.query["configuration"] == "workers=4"
    figures = figures_of(workspace, question)
    assert [row["label"] for row in figures["ranking"]["rows"]] == ["app 1", "app 2"]
    assert figures["outcome"]["intent"] == "only the version differs"


def test_a_configuration_that_no_filter_keeps_alone_is_kept_by_its_runs(db):
    workspace = make_workspace()
    small, large = {"workers": 4}, {"workers": 4, "threads": 2}
    runs = [make_run(workspace, CellSpec("app", version=v, configuration=small)) for v in "12"]
    make_run(workspace, CellSpec("app", version="2", configuration=large))
    question = asked(workspace)["versions"]
    assert question.query["run"] == tuple(sorted(str(run.pk) for run in runs))
    assert len(figures_of(workspace, question)["ranking"]["rows"]) == 2


def test_versions_in_different_configurations_are_not_asked_about(db):
    workspace = make_workspace()
    for version, workers in (("1", 4), ("2", 8)):
        make_run(workspace, CellSpec("app", version=version, configuration={"workers": workers}))
    question = asked(workspace)["versions"]
    assert question.query is None
    assert question.why_not.startswith("app 2, the newest version, and an earlier one were not")


def test_two_configurations_of_one_version_are_no_two_versions(db):
    workspace = make_workspace()
    for workers in (4, 8):
        make_run(workspace, CellSpec("app", version="2", configuration={"workers": workers}))
    question = asked(workspace)["versions"]
    assert question.query is None
    assert question.why_not.startswith("No server was measured in two known versions")


def test_older_versions_are_no_answer_about_the_newest(db):
    workspace = make_workspace()
    for version in ("1", "2"):
        make_run(workspace, CellSpec("app", version=version))
    make_run(workspace, CellSpec("app", version="3", connections=8))
    assert "app 3, the newest version" in asked(workspace)["versions"].why_not


def test_a_version_between_two_others_is_no_version_before(db):
    workspace = make_workspace()
    for version in ("1", "3"):
        make_run(workspace, CellSpec("app", version=version))
    make_run(workspace, CellSpec("app", version="2", connections=8))
    assert asked(workspace)["versions"].about.startswith("3 against 1, an earlier version, at 64")


def of_size(name, size, **more):
    workload = {"name": "hello", "method": "GET", "path": "/", "payload_bytes": size}
    return CellSpec(name, workload=workload, **more)


def test_a_mixed_newest_run_is_left_out_of_the_question_about_versions(db):
    workspace = make_workspace()
    alike = [make_run(workspace, of_size("app", 13, version=version)) for version in "12"]
    later = STARTED + timedelta(days=1)
    make_run(workspace, of_size("app", 2048, version="2"), started_at=later)
    question = asked(workspace)["versions"]
    assert question.query["run"] == tuple(str(run.pk) for run in reversed(alike))
    assert question.about.startswith("2 against 1, the version before, at 64 connections")
    left_out = "without the run of 2026-03-03 (payload size differs: 13 B, 2,048 B)"
    assert question.about.endswith(left_out)
    assert len(figures_of(workspace, question)["ranking"]["rows"]) == 2


def test_the_newest_comparable_pair_of_versions_is_asked_about(db):
    workspace = make_workspace()
    for version in "12":
        make_run(workspace, of_size("app", 13, version=version))
    make_run(workspace, of_size("app", 2048, version="3"))
    question = asked(workspace)["versions"]
    assert question.about.startswith("2 against 1, the version before")
    assert "without the run of 2026-03-02 (payload size differs" in question.about


def test_a_question_whose_answer_would_be_no_ranking_is_closed_with_the_reason(db):
    workspace = make_workspace()
    make_run(workspace, of_size("a", 13), of_size("b", 2048))
    found = asked(workspace)
    for id_ in ("fastest", "distributions", "distance"):
        assert found[id_].query is None
        assert found[id_].why_not.startswith("Not comparable: payload size differs: 13 B, 2,048 B.")
    assert "Measure all series with the same payload size." in found["fastest"].why_not


def test_servers_that_were_not_measured_alike_still_saturate_each_by_itself(db):
    workspace = make_workspace()
    sizes = (("a", 13), ("b", 2048))
    cells = [of_size(name, size, connections=load) for name, size in sizes for load in (1, 8, 64)]
    make_run(workspace, *cells)
    limits = asked(workspace)["limits"]
    assert limits.about.endswith("each by itself, because they were not measured alike")
    assert "Each series by itself" in figures_of(workspace, limits)["finding"]


def test_a_question_over_workloads_says_which_it_cannot_show(db):
    workspace = make_workspace()
    other = {"name": "json", "method": "GET", "path": "/json"}
    make_run(workspace, *(CellSpec(name, workload=other) for name in "ab"))
    make_run(workspace, of_size("a", 13), of_size("b", 2048))
    distance = asked(workspace)["distance"]
    assert distance.about == "2 servers × 2 workloads, without hello, which was not measured alike"


def test_a_question_looks_beyond_the_workload_with_the_most_servers(db, monkeypatch):
    workspace = make_workspace()
    make_run(workspace, *(CellSpec("a", connections=load) for load in (1, 8, 64)))
    wide = {"name": "wide", "method": "GET", "path": "/wide"}
    make_run(workspace, *(CellSpec(name, workload=wide) for name in "abc"))
    limits = asked(workspace)["limits"]
    assert limits.query["workload"] == "hello"
    assert limits.about == "1 server over 3 loads, workload hello"
    monkeypatch.setattr(front_questions, "MAX_LOOKED_AT", 1)
    limits = asked(workspace)["limits"]
    assert limits.query is None
    assert " Only the 1 workloads and conditions " in limits.why_not


def test_the_cpu_time_is_looked_for_in_all_other_workloads_at_once(db):
    workspace = make_workspace()
    for number, servers in enumerate(("abc", "ab", "ab", "a")):
        workload = {"name": f"load {number}", "method": "GET", "path": "/"}
        timed = {"server_cpu_s": 1.5} if number == 2 else {}
        cells = [CellSpec(name, workload=workload, resources=timed) for name in servers]
        make_run(workspace, *cells)
    with CaptureQueriesContext(connection) as statements:
        cost = asked(workspace)["cost"]
    assert cost.query["workload"] == "load 2"
    assert sum("server_cpu_s" in statement["sql"] for statement in statements) == 2
