"""A body is taken only as the document describes it: no value is converted, no text is cut, and no
member is left unread."""

import pytest
from django.test import Client

from backend.sharing.models import SavedView
from backend.sharing.saved_views import MAX_NAME
from backend.testing.openapi import OPEN_BODIES, list_operations, read_document

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def errors_of(answer):
    assert answer.status_code == 400, answer.content
    return {error["field"]: error["detail"] for error in answer.json()["errors"]}


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        ({"server": 5}, "server", "Got '5', expected a text."),
        ({"labels": {"branch": 5}}, "labels.branch", "Got '5', expected a text."),
        ({"trials": [0, "1"]}, "trials.1", "Got '1', expected a whole number."),
        ({"trials": [0, True]}, "trials.1", "Got 'True', expected a whole number."),
        ({"started_at": 0}, "started_at", "Got '0', expected a time as text."),
    ],
)
def test_a_value_of_another_type_is_refused_by_its_place(api, scene, change, field, expected):
    path = f"/api/v1/runs/{scene.run.pk}"
    answer = api.patch(path, change, content_type="application/json")
    assert errors_of(answer) == {field: expected}


@pytest.mark.parametrize("value", ["true", 1, "on"])
def test_only_true_and_false_are_true_or_false(api, value):
    body = {"name": "Nightly", "query": "", "is_default": value}
    answer = api.post("/api/v1/views", body, content_type="application/json")
    assert errors_of(answer) == {"is_default": f"Got {str(value)!r}, expected true or false."}


def save_view(api, name):
    body = {"name": name, "query": ""}
    return api.post("/api/v1/views", body, content_type="application/json")


def test_a_name_is_as_long_as_it_was_sent(api):
    longest = "x" * MAX_NAME
    assert f"no more than {MAX_NAME}" in errors_of(save_view(api, f" {longest}"))["name"]
    assert save_view(api, longest).status_code == 201


def test_blanks_around_a_name_are_not_stored(api):
    assert save_view(api, "  Nightly\n").json()["name"] == "Nightly"
    assert SavedView.objects.get().name == "Nightly"


def test_a_name_of_blanks_only_is_refused(api):
    assert "blank" in errors_of(save_view(api, "  "))["name"]


def test_a_pattern_holds_for_the_blanks_too(api):
    body = {"name": "nightly ", "parts": 2, "plan_sha256": "0" * 64, "seed": 1}
    body |= {"run": "00000000-0000-0000-0000-000000000001", "host_name": "bench-1"}
    answer = api.post("/api/v1/sessions", body, content_type="application/json")
    assert list(errors_of(answer)) == ["name"]


def described_bodies():
    """By operation, the schema of its JSON body."""
    return {
        described["operationId"]: described["requestBody"]["content"]["application/json"]["schema"]
        for _, _, described in list_operations()
        if "application/json" in described.get("requestBody", {}).get("content", {})
    }


def objects_in(schema):
    """The schemas of objects with named members, in a schema and in those that it refers to."""
    if isinstance(schema, list):
        return [found for part in schema for found in objects_in(part)]
    if not isinstance(schema, dict):
        return []
    if "$ref" in schema:
        return objects_in(read_document()["components"]["schemas"][schema["$ref"].split("/")[-1]])
    own = [schema] if "properties" in schema else []
    return own + [found for part in schema.values() for found in objects_in(part)]


@pytest.mark.parametrize("operation", described_bodies())
def test_the_document_closes_every_object_of_a_body(operation):
    objects = objects_in(described_bodies()[operation])
    closed = {schema.get("additionalProperties") is False for schema in objects}
    assert closed == {operation not in OPEN_BODIES}


def test_a_newer_agent_may_say_more(api):
    agent = {"name": "loadsheet-agent", "version": "9", "hostname": "bench-1", "zone": "eu-1"}
    answer = api.post("/api/v1/heartbeat", {"agent": agent}, content_type="application/json")
    assert answer.status_code == 200


def test_a_scanner_may_report_what_it_likes(api):
    leak = {"token": "ls_api_x", "type": "loadsheet_api_token", "source": "content"}
    answer = api.post("/api/v1/leaked-tokens", [leak], content_type="application/json")
    assert answer.status_code == 204
