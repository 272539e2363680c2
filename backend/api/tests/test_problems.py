"""Every refusal is problem+json that says what was got, what was expected and what to do."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.credentials.token_format import checksum
from backend.accounts.models import Token


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def problem(response, status):
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["type"].startswith("urn:loadsheet:problem:")
    assert body["title"]
    assert body["detail"]
    assert body["hint"]
    return body


def asked_with(header):
    return Client().get("/api/v1/runs", headers={"authorization": header})


def refused(header):
    response = asked_with(header)
    assert response["WWW-Authenticate"] == 'Bearer realm="Loadsheet"'
    return problem(response, 401)["detail"]


@pytest.mark.django_db
def test_no_token_at_all():
    response = Client().get("/api/v1/runs")
    assert "Bearer" in response["WWW-Authenticate"]
    assert "Authorization" in problem(response, 401)["hint"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer  ", "Basic abc", "Token abc", "Bearer ä", "x"]
)
def test_a_header_of_another_form(header):
    assert refused(header)


@pytest.mark.django_db
def test_a_mistyped_token_is_told_by_its_checksum():
    assert "checksum" in refused("Bearer ls_agent_nonsense")


@pytest.mark.django_db
def test_a_token_nobody_made():
    body = "ls_agent_" + "A" * 30
    assert "does not know" in refused(f"Bearer {body}{checksum(body)}")


def test_an_expired_token_says_when(scene):
    when = timezone.now() - timedelta(days=2)
    Token.objects.filter(workspace=scene.own.workspace).update(expires_at=when)
    assert f"expired on {when:%Y-%m-%d}" in refused(f"Bearer {scene.own.token}")


def test_a_revoked_token(scene):
    Token.objects.filter(workspace=scene.own.workspace).update(revoked_at=timezone.now())
    assert "revoked" in refused(f"Bearer {scene.own.token}")


def test_a_wrong_token_is_not_saved_by_a_session(scene):
    client = Client()
    client.force_login(scene.own.user)
    response = client.get("/api/v1/runs", headers={"authorization": "Bearer nonsense"})
    problem(response, 401)


def test_using_a_token_is_remembered(api, scene):
    api.get("/api/v1/runs")
    assert Token.objects.get(workspace=scene.own.workspace).used_at is not None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("metric=speed", "metric"),
        ("metrc=p99", "metrc"),
        ("run=1", "run"),
        ("at=-1", "at"),
        ("at=nan", "at"),
        ("baseline=zz", "baseline"),
        ("logx=2", "logx"),
        ("x=time", "x"),
        ("metric=p50&metric=p99", "metric"),
        ("server=a%00b", "server"),
        ("tool=" + "x" * 400, "tool"),
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/compare", "/api/v1/compare.csv"])
def test_a_bad_comparison_names_its_field(api, path, query, field):
    body = problem(api.get(f"{path}?{query}"), 400)
    assert body["field"] == field
    assert body["allowed"]


def test_a_bad_query_in_a_freeze(api):
    body = problem(
        api.post("/api/v1/result-sets", {"query": "metric=x"}, content_type="application/json"), 400
    )
    assert body["field"] == "metric"


def test_a_missing_field_is_listed(api):
    body = problem(api.post("/api/v1/result-sets", {}, content_type="application/json"), 400)
    assert [error["field"] for error in body["errors"]] == ["query"]


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff", b"null"])
def test_a_body_that_is_no_object(api, data):
    problem(api.post("/api/v1/result-sets", data, content_type="application/json"), 400)


def test_another_media_type(api):
    problem(api.post("/api/v1/result-sets", b"a=b", content_type="text/plain"), 415)


def test_another_method(api):
    response = api.delete("/api/v1/runs")
    assert "GET" in response["Allow"]
    problem(response, 405)


@pytest.mark.parametrize("path", ["/api/v1/nope", "/api/", "/api/v1/runs/1"])
def test_an_address_that_is_no_endpoint(api, path):
    problem(api.get(path), 404)


def test_a_session_needs_its_csrf_token_to_write(scene):
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.own.user)
    response = client.post("/api/v1/result-sets", {"query": ""}, content_type="application/json")
    problem(response, 403)


def test_a_token_needs_no_csrf_token(scene):
    client = Client(enforce_csrf_checks=True, headers=scene.own.headers)
    response = client.post("/api/v1/result-sets", {"query": ""}, content_type="application/json")
    assert response.status_code == 201


def test_a_failure_of_ours_is_a_problem_too(scene, monkeypatch):
    from backend.api.runs import runs

    monkeypatch.setattr(runs, "run_page", lambda *_, **__: 1 / 0)
    client = Client(raise_request_exception=False, headers=scene.own.headers)
    problem(client.get("/api/v1/runs"), 500)


@pytest.mark.django_db
def test_a_foreign_host_name():
    response = Client(headers={"host": "evil.example"}).get("/api/v1/runs")
    problem(response, 400)


@pytest.mark.parametrize(
    ("member", "value", "expected"),
    [
        ("name", 5, "a text"),
        ("run", 5, "a UUID as text"),
        ("parts", "2", "a whole number"),
        ("parts", 2.5, "a whole number"),
        ("parts", True, "a whole number"),
        ("seed", [1], "a whole number"),
    ],
)
def test_a_value_of_another_type_is_refused(client, scene, member, value, expected):
    body = {
        "name": "evening",
        "parts": 2,
        "plan_sha256": "0" * 64,
        "seed": 1,
        "run": str(scene.run.pk),
        "host_name": "client-1",
    }
    headers = {"authorization": f"Bearer {scene.own.token}"}

    def join(body):
        kind = "application/json"
        return client.post("/api/v1/sessions", body, content_type=kind, headers=headers)

    assert join({**body, "parts": 2.0}).status_code == 200
    refused = join({**body, member: value})
    assert refused.status_code == 400
    assert f"{member}: Got {str(value)!r}, expected {expected}." in refused.json()["detail"]
