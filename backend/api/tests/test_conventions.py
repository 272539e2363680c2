"""What all operations share: rates, sparse answers, pages, and a description of each."""

import re
from pathlib import Path

import pytest
from django.test import Client

from backend.accounts.tokens.token_making import MOST_USABLE
from backend.alerts.rules import MAX_RULES
from backend.api.results.point_trials import MAX_TRIALS
from backend.deliveries.channels import MAX_CHANNELS
from backend.runs.tables.names import TOKEN_HOSTS
from backend.testing.openapi import list_operations

pytestmark = pytest.mark.django_db
GUIDE = (Path(__file__).parents[3] / "docs/api.md").read_text()


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def test_every_answer_tells_the_rate(api):
    answer = api.get("/api/v1/runs")
    limit = answer["RateLimit-Policy"]
    assert limit.startswith('"requests";q=')
    assert answer["RateLimit"].startswith('"requests";r=')


def test_more_requests_than_the_rate_get_429_and_uploads_do_not_count(api, settings, scene):
    settings.REQUESTS_PER_MINUTE = 3
    statuses = [api.get("/api/v1/servers").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = api.get("/api/v1/servers")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["RateLimit"].startswith('"requests";r=0;')
    assert refused.json()["code"] == "too-many-requests"
    assert api.post("/api/v1/uploads").status_code == 400
    assert Client(headers=scene.foreign.headers).get("/api/v1/servers").status_code == 200


def test_an_entry_has_only_the_fields_that_are_asked_for(api, scene):
    (run,) = api.get("/api/v1/runs?fields=id,name").json()["runs"]
    assert set(run) == {"id", "name"}
    assert set(api.get(f"/api/v1/runs/{scene.run.pk}?fields=labels").json()) == {"labels"}
    refused = api.get("/api/v1/runs?fields=id,colour")
    assert (refused.status_code, refused.json()["field"]) == (400, "fields")


@pytest.mark.parametrize(
    ("path", "entries", "field"),
    [
        ("members?workspace=own-lab&", "members", "role"),
        ("tokens?workspace=own-lab&", "tokens", "name"),
        ("workspaces?", "workspaces", "role"),
    ],
)
def test_lists_of_a_workspace_have_only_the_fields_that_are_asked_for(owner, path, entries, field):
    listed = owner.get(f"/api/v1/{path}fields={field}").json()[entries]
    assert listed
    assert {frozenset(entry) for entry in listed} == {frozenset({field})}


def test_uploads_are_listed_with_their_reasons(api, scene):
    (upload,) = api.get("/api/v1/uploads").json()["uploads"]
    assert (upload["id"], upload["state"]) == (str(scene.upload.pk), "parsed")
    assert api.get("/api/v1/uploads?state=failed").json()["uploads"] == []
    assert api.get("/api/v1/uploads?state=lost").status_code == 400


def paths_of(is_meant):
    """The paths of the GET operations that are meant, as the guide writes them."""
    return sorted(
        re.sub(r"\{\w+\}", "<id>", path)
        for method, path, operation in list_operations()
        if method == "get" and is_meant(operation)
    )


def parameters_of(operation):
    return {each["name"] for each in operation.get("parameters", ())}


def test_the_guide_names_the_lists_that_come_whole_with_their_bounds():
    def comes_whole(operation):
        is_list = operation["operationId"].endswith("_list")
        return is_list and not {"limit", "after"} <= parameters_of(operation)

    (table,) = re.findall(r"Only these lists are not paged:\n\n(.*?)\n\n", GUIDE, re.S)
    bounds = dict(re.findall(r"^\| `(\S+)` \| (.+) \|$", table, re.M))
    assert list(bounds) == paths_of(comes_whole)
    numbers = {path: [int(n) for n in re.findall(r"\d+", bounds[path])] for path in bounds}
    assert numbers["/api/v1/agents"] == [TOKEN_HOSTS, MOST_USABLE]
    assert numbers["/api/v1/alert-rules"] == [MAX_RULES]
    assert numbers["/api/v1/channels"] == [MAX_CHANNELS]
    assert numbers["/api/v1/trials"] == [MAX_TRIALS]


def test_the_guide_names_what_takes_fields():
    (named,) = re.findall(r"These take it:\n(.*?)\.\n\n", GUIDE, re.S)
    assert re.findall(r"`(\S+)`", named) == paths_of(lambda each: "fields" in parameters_of(each))


def test_every_paged_list_takes_fields():
    def is_paged(operation):
        return {"limit", "after"} <= parameters_of(operation)

    tables = [path for path in paths_of(is_paged) if "/trials." in path]
    with_fields = paths_of(lambda each: is_paged(each) and "fields" in parameters_of(each))
    assert sorted([*with_fields, *tables]) == paths_of(is_paged)


OPERATIONS = [
    pytest.param(described, id=f"{method} {path}") for method, path, described in list_operations()
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_a_description_an_example_and_its_errors(operation):
    assert len(operation.get("description", "")) > 10
    codes = set(operation["responses"])
    assert {"429", "503"} <= codes
    assert "413" in codes or "requestBody" not in operation
    assert codes & {"400", "401", "404"} or operation["operationId"] == "limit_list"
    answers = [answer for code, answer in operation["responses"].items() if code < "300"]
    for part in (*answers, operation.get("requestBody", {})):
        for content in part.get("content", {}).values():
            assert "example" in content
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            assert parameter["description"]
