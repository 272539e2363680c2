"""A parameter that takes one value is given once."""

import re
from uuid import UUID

import pytest
from django.test import Client
from django.urls import resolve

from backend.testing.openapi import list_operations
from backend.testing.uploads import make_file

pytestmark = pytest.mark.django_db
FILLED = {"artefact": "0" * 64, "number": "1"}
# Each parameter of a query in the document: method, address, name, and whether it is an array.
PARAMETERS = [
    (method, path, parameter["name"], parameter["schema"]["type"] == "array")
    for method, path, operation in list_operations()
    for parameter in operation.get("parameters", ())
    if parameter["in"] == "query"
]


def address_of(path):
    return re.sub(r"\{(\w+)\}", lambda name: FILLED.get(name[1], str(UUID(int=1))), path)


def test_exactly_the_arrays_of_the_document_may_be_given_several_times():
    described = {
        address_of(path): {name for _, at, name, is_array in PARAMETERS if at == path and is_array}
        for _, path, _ in list_operations()
    }
    views = {address: resolve(address).func.cls for address in described}
    taken = {address: set(getattr(view, "arrays", ())) for address, view in views.items()}
    assert taken == described
    assert any(taken.values())


def test_every_other_parameter_is_refused_when_it_is_given_twice(scene):
    client = Client()
    client.force_login(scene.own.user)
    single = [(method, path, name) for method, path, name, is_array in PARAMETERS if not is_array]
    for method, path, name in single:
        answer = client.generic(method.upper(), f"{address_of(path)}?{name}=1&{name}=1")
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (400, "given-several-times"), (path, name)
        assert problem["field"] == name
        assert problem["detail"] == f"“{name}” was given 2 times; give it once."
    assert ("delete", "/api/v1/runs/{run_id}", "permanently") in single


def test_a_parameter_that_no_operation_has_is_refused_when_it_is_given_twice(scene):
    client = Client(headers=scene.own.headers)
    answer = client.get(f"/api/v1/trials/{scene.trial.pk}?unknown=1&unknown=2&unknown=3")
    assert "given 3 times" in answer.json()["detail"]
    assert client.get(f"/api/v1/trials/{scene.trial.pk}?unknown=1").status_code == 200


@pytest.mark.parametrize("name", ["envelope", "parts", "tool", "workspace"])
def test_a_field_of_an_upload_is_refused_when_it_is_given_twice(scene, name):
    client = Client()
    client.force_login(scene.own.user)
    form = {"workspace": scene.own.workspace.slug, "tool": "wrk"}
    twice = {**form, name: ["wrk", "wrk"]}
    answer = client.post("/api/v1/uploads", {**twice, "file": make_file()})
    assert (answer.status_code, answer.json()["code"]) == (400, "given-several-times")
    assert answer.json()["field"] == name
    assert client.post("/api/v1/uploads", {**form, "file": make_file()}).status_code == 202


def test_the_values_of_an_array_all_count(scene):
    client = Client(headers=scene.own.headers)
    both = client.get("/api/v1/compare?server=secret-server&server=other-server").json()
    assert len(both["series"]) == 2
    assert len(client.get("/api/v1/compare?server=secret-server").json()["series"]) == 1


def test_what_may_not_differ_is_refused_with_what_may(client, scene):
    client.force_login(scene.own.user)
    asked = {"candidate": "version=1", "baseline": "main", "require": "throughput > -5%"}
    answer = client.get("/api/v1/gate", {**asked, "may_differ": "workload"})
    assert answer.status_code == 400
    assert "may_differ: got “workload”, allowed is host or tool." in answer.json()["detail"]


def test_an_expected_series_is_named_by_its_server_and_workload(client, scene):
    client.force_login(scene.own.user)
    asked = {"candidate": f"run={scene.run.pk}", "baseline": "main", "require": "throughput > -5%"}
    answer = client.get("/api/v1/gate", {**asked, "expect": ["a:b", "json"]})
    assert answer.status_code == 400
    assert "expect: got “json”, allowed is SERVER:WORKLOAD" in answer.json()["detail"]
    assert client.get("/api/v1/gate", {**asked, "expect": ["a:b", "a:c"]}).status_code == 200
