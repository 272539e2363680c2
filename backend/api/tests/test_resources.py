"""Runs, trials, comparisons and result sets as JSON."""

import re
import uuid
from pathlib import Path
from statistics import geometric_mean

import pytest
from django.core.management import call_command
from django.test import Client

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.api.docs import openapi_document
from backend.runs.models import Run
from backend.sharing.models import ResultSet
from backend.testing.scenes import make_measured_run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def frozen(api, **body):
    return api.post("/api/v1/result-sets", {"query": "", **body}, content_type="application/json")


def test_the_list_of_runs(api, scene):
    (row,) = api.get("/api/v1/runs").json()["runs"]
    assert row["id"] == str(scene.run.pk)
    assert row["servers"] == ["other-server", "secret-server"]
    assert row["trials"] == 12
    assert row["labels"] == {"for": "test"}
    assert api.get(row["url"]).json()["id"] == row["id"]


def test_pages_give_every_run_once_while_runs_arrive(api, scene):
    moment = scene.run.recorded_at
    made = {make_measured_run(scene.own.workspace, servers=("s",)).pk for _ in range(4)}
    # Two runs of one instant must not fall between two pages.
    Run.objects.filter(pk__in=made).update(recorded_at=moment)
    seen, link = [], "/api/v1/runs?limit=2"
    while link:
        page = api.get(link).json()
        seen += [row["id"] for row in page["runs"]]
        link = page["next"]
        if len(seen) == 2:
            make_measured_run(scene.own.workspace, servers=("later",))
    assert sorted(seen) == sorted(str(pk) for pk in made | {scene.run.pk})


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "limit=²", "after=nonsense"])
def test_a_bad_page_names_its_field(api, query):
    response = api.get(f"/api/v1/runs?{query}")
    assert response.status_code == 400
    assert response.json()["field"] == query.split("=")[0]


def test_one_workspace_only(api):
    assert len(api.get("/api/v1/runs?workspace=own-lab").json()["runs"]) == 1
    assert api.get("/api/v1/runs?workspace=foreign-lab").status_code == 400


def test_a_run_has_its_trials_with_commands_and_raw_output(api, scene):
    run = api.get(f"/api/v1/runs/{scene.run.pk}").json()
    assert len(run["trials"]) == 12
    first = run["trials"][0]
    assert first["command"] == "wrk -c8 http://127.0.0.1:8080/"
    assert first["artefacts"][0]["sha256"] == scene.artefact.sha256
    assert api.get(f"/api/v1/trials/{first['id']}").json() == first


def test_the_page_and_the_api_give_the_same_figures(api, scene):
    figures = api.get(f"/api/v1/compare?run={scene.run.pk}").json()
    assert figures["x"]["values"] == [8, 64]
    assert {series["server"] for series in figures["series"]} == {"secret-server", "other-server"}
    (point, *_) = figures["series"][0]["points"]
    trials = [completed / 3.0 for completed in (18_000, 18_100, 18_200)]
    assert point["metrics"]["throughput"]["value"] == pytest.approx(geometric_mean(trials))


def test_the_csv_has_a_row_for_each_point(api, scene):
    response = api.get(f"/api/v1/compare.csv?run={scene.run.pk}", headers={"accept": "text/csv"})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    lines = response.content.decode().splitlines()
    assert len(lines) == 1 + 4
    assert lines[0].startswith("series,server,version")


def test_freezing_keeps_the_figures(api, scene):
    response = frozen(api, query=f"run={scene.run.pk}", title="T", visibility="unlisted")
    assert response.status_code == 201
    body = response.json()
    assert body["workspace"] == "own-lab"
    snapshot = Client().get(body["json_url"])
    assert snapshot["ETag"] == f'"{body["sha256"]}"'
    # Strangers may not read the runs of the workspace, so not their number either.
    told = Client().get(f"/api/v1/result-sets/{body['id']}").json()
    assert told == {**body, "newer_runs": None}
    assert Client().get(body["csv_url"]).content.count(b"\n") == 5


def test_a_session_names_the_workspace_to_freeze_in(scene):
    client = Client()
    client.force_login(scene.own.user)
    response = frozen(client)
    assert response.status_code == 400
    assert response.json()["field"] == "workspace"
    assert frozen(client, workspace="own-lab").status_code == 201
    assert frozen(client, workspace="foreign-lab").status_code == 404


def test_answers_say_how_long_they_took_here(api, scene):
    for path in (f"/api/v1/compare?run={scene.run.pk}", "/api/v1/nothing"):
        timing = api.get(path).headers["Server-Timing"]
        assert re.fullmatch(r"app;dur=\d+\.\d", timing)
    assert "Server-Timing" not in api.get("/accounts/login/").headers


def test_the_comparison_is_sent_as_it_was_computed(api, scene):
    answer = api.get("/api/v1/compare", {"run": str(scene.run.pk)})
    query = CompareQuery.parse(f"run={scene.run.pk}")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == plain_figures(compare(query, workspace_ids=[scene.own.workspace.pk]))


def test_the_document_names_every_field_of_an_answer(api, scene):
    figures = api.get(f"/api/v1/compare?run={scene.run.pk}").json()
    shapes = openapi_document()["components"]["schemas"]
    (series, *_), (check, *_) = figures["series"], figures["checks"]
    (point, *_) = series["points"]
    parts = {
        "Figures": figures,
        "Series": series,
        "Point": point,
        "FiredCheck": check,
        "Measure": point["metrics"]["p99"],
        "Outcome": figures["outcome"],
        "Axis": figures["x"],
        "Metric": figures["metrics"][0],
        "Links": figures["links"],
    }
    for name, part in parts.items():
        assert part.keys() - shapes[name]["properties"].keys() == set(), name
        assert set(shapes[name].get("required", [])) <= part.keys(), name


def test_freezing_what_is_not_ones_own_is_nothing(api, scene):
    foreign = make_measured_run(scene.foreign.workspace)
    for run in (foreign.pk, uuid.uuid4()):
        assert frozen(api, query=f"run={run}").status_code == 404
    assert not ResultSet.objects.exists()


@pytest.mark.long
def test_the_openapi_file_is_fresh(tmp_path):
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", "--file", str(made), "--validate", "--fail-on-warn")
    assert made.read_text() == (ROOT / "docs" / "openapi.yaml").read_text(), (
        "docs/openapi.yaml is old: run manage.py spectacular --file docs/openapi.yaml --validate"
    )


@pytest.mark.django_db
def test_the_document_is_openapi_3_1():
    document = Client().get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert "/api/v1/compare" in document["paths"]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


@pytest.mark.django_db
def test_the_docs_page_lists_every_endpoint():
    page = Client().get("/api/v1/docs").content.decode()
    for path in ("/api/v1/uploads", "/api/v1/compare", "/api/v1/result-sets"):
        assert path in page
    assert "<code>view=nines</code>" in page
    assert "`" not in page
